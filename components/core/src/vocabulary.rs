//! The closed vocabularies, written once.
//!
//! A word is spelled with `_` in JSON ([`Mode::as_str`]) and with `-` in WIT. Tests hold the WIT package and the JSON
//! Schemas against the lists here.

use std::fmt;
use std::str::FromStr;

/// The text is not a member of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAMember {
    vocabulary: &'static str,
}

impl fmt::Display for NotAMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a member of the vocabulary `{}`", self.vocabulary)
    }
}

impl std::error::Error for NotAMember {}

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $label:literal { $($(#[$item_doc:meta])* $item:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$item_doc])* $item,)+
        }

        impl $name {
            /// Name of the vocabulary, as the WIT package spells it.
            pub const LABEL: &'static str = $label;
            /// Every member, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$item,)+];

            /// The word as JSON spells it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$item => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = NotAMember;

            fn from_str(text: &str) -> Result<Self, NotAMember> {
                match text {
                    $($word => Ok(Self::$item),)+
                    _ => Err(NotAMember { vocabulary: $label }),
                }
            }
        }
    };
}

vocabulary! {
    /// How far an agent may go. Cumulative and ascending: `Ord` is the ladder.
    Mode, "mode" {
        /// Look, change nothing.
        ReadOnly => "read_only",
        /// Edits that are easy to take back.
        SafeEdit => "safe_edit",
        /// Changes that destroy or move things.
        Migration => "migration",
        /// Everything up to opening a pull request without a person.
        AutonomousPr => "autonomous_pr",
    }
}

vocabulary! {
    /// What the gate judged.
    Decision, "decision" {
        /// The mode may run this tool.
        Allow => "allow",
        /// The mode may not run this tool.
        Deny => "deny",
    }
}

vocabulary! {
    /// What is to be done with a judgement.
    Enforcement, "enforcement" {
        /// A denied call does not run.
        Enforced => "enforced",
        /// A denied call runs all the same and is recorded as a denial.
        DryRun => "dry_run",
    }
}

vocabulary! {
    /// The decision as a receipt records it.
    PolicyDecision, "policy-decision" {
        /// Allowed.
        Allow => "allow",
        /// Denied and not run.
        Deny => "deny",
        /// Handed to a person.
        Escalate => "escalate",
        /// Passed with changes.
        Redact => "redact",
        /// The gate never ran.
        NotEvaluated => "not_evaluated",
        /// Denied, but run because enforcement was switched off.
        WouldDenyDryRun => "would_deny_dry_run",
    }
}

vocabulary! {
    /// Why something is missing from a result.
    RedactionReason, "redaction-reason" {
        /// A credential was masked.
        Secret => "secret",
        /// Personal data.
        Pii => "pii",
        /// Sensitive content of another kind.
        SensitiveContent => "sensitive_content",
        /// The result was over a size limit.
        SizeLimit => "size_limit",
        /// Policy withheld the result.
        Policy => "policy",
        /// The user has to opt in first.
        UserOptInRequired => "user_opt_in_required",
        /// A path of the machine.
        MachineLocalPath => "machine_local_path",
        /// A schema forbids the member.
        SchemaStrict => "schema_strict",
        /// The producer could not be reached.
        ProducerNotAvailable => "producer_not_available",
        /// The result holds a prompt-injection mark.
        PromptInjectionMarker => "prompt_injection_marker",
    }
}

vocabulary! {
    /// What a tool declares to do beyond reading.
    SideEffect, "side-effect" {
        /// Destroys or overwrites.
        Destructive => "destructive",
        /// Writes without destroying.
        Write => "write",
        /// A second identical call has another effect.
        NonIdempotent => "non_idempotent",
    }
}

vocabulary! {
    /// Verdict on the receipts that a ledger links.
    ReceiptIntegrity, "receipt-integrity" {
        /// Every linked receipt is there and unchanged.
        Ok => "ok",
        /// A linked receipt is not there.
        Missing => "missing",
        /// A linked receipt was changed.
        Tampered => "tampered",
        /// Nothing to check.
        NotLinked => "not_linked",
    }
}

vocabulary! {
    /// Verdict on the chain of a ledger.
    ChainState, "chain-state" {
        /// Every signature matches.
        Ok => "ok",
        /// A signature is missing, malformed or wrong.
        Tampered => "tampered",
        /// No event carries a signature.
        Unsigned => "unsigned",
        /// There are no events.
        Empty => "empty",
    }
}

vocabulary! {
    /// State of a run.
    RunStatus, "run-status" {
        /// Open.
        InProgress => "in_progress",
        /// Ended well.
        Completed => "completed",
        /// Ended badly.
        Failed => "failed",
        /// Left behind.
        Abandoned => "abandoned",
    }
}

/// What a tool does, as its operator or its server declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects {
    /// Only reads.
    pub read_only: bool,
    /// May destroy or overwrite.
    pub destructive: bool,
    /// A second identical call changes nothing more.
    pub idempotent: bool,
}

/// How often a detector or marker was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Id of the detector or marker.
    pub id: String,
    /// Number of finds, 1 or more.
    pub hits: u32,
}
