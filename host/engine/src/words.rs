//! The words of the contract's vocabularies, as JSON spells them.
//!
//! A test of the whole workspace holds them against the contract and the core.

use std::fmt;

use crate::types::{
    ChainState, Decision, Enforcement, Mode, PolicyDecision, ReceiptIntegrity, RedactionReason, RunStatus, SideEffect,
};

macro_rules! words {
    ($($name:ident: $($case:ident $word:literal)+;)+) => {$(
        impl $name {
            /// Every member, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$case,)+];

            /// The word as JSON spells it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}

words! {
    Mode: ReadOnly "read_only" SafeEdit "safe_edit" Migration "migration" AutonomousPr "autonomous_pr";
    Decision: Allow "allow" Deny "deny";
    Enforcement: Enforced "enforced" DryRun "dry_run";
    PolicyDecision: Allow "allow" Deny "deny" Escalate "escalate" Redact "redact" NotEvaluated "not_evaluated"
        WouldDenyDryRun "would_deny_dry_run";
    RedactionReason: Secret "secret" Pii "pii" SensitiveContent "sensitive_content" SizeLimit "size_limit"
        Policy "policy" UserOptInRequired "user_opt_in_required" MachineLocalPath "machine_local_path"
        SchemaStrict "schema_strict" ProducerNotAvailable "producer_not_available"
        PromptInjectionMarker "prompt_injection_marker";
    SideEffect: Destructive "destructive" Write "write" NonIdempotent "non_idempotent";
    ReceiptIntegrity: Ok "ok" Missing "missing" Tampered "tampered" NotLinked "not_linked";
    ChainState: Ok "ok" Tampered "tampered" Unsigned "unsigned" Empty "empty";
    RunStatus: InProgress "in_progress" Completed "completed" Failed "failed" Abandoned "abandoned";
}
