//! Spellings of the contract's enums, as JSON has them.

use counterfoil_engine::types::{Mode, RedactionReason};

/// The word for a mode.
#[must_use]
pub const fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::ReadOnly => "read_only",
        Mode::SafeEdit => "safe_edit",
        Mode::Migration => "migration",
        Mode::AutonomousPr => "autonomous_pr",
    }
}

/// The word for a reason.
#[must_use]
pub const fn reason_word(reason: RedactionReason) -> &'static str {
    match reason {
        RedactionReason::Secret => "secret",
        RedactionReason::Pii => "pii",
        RedactionReason::SensitiveContent => "sensitive_content",
        RedactionReason::SizeLimit => "size_limit",
        RedactionReason::Policy => "policy",
        RedactionReason::UserOptInRequired => "user_opt_in_required",
        RedactionReason::MachineLocalPath => "machine_local_path",
        RedactionReason::SchemaStrict => "schema_strict",
        RedactionReason::ProducerNotAvailable => "producer_not_available",
        RedactionReason::PromptInjectionMarker => "prompt_injection_marker",
    }
}
