//! The contract's words as JSON spells them.

use counterfoil_engine::types::{Decision, Enforcement, Mode};

/// A mode.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::ReadOnly => "read_only",
        Mode::SafeEdit => "safe_edit",
        Mode::Migration => "migration",
        Mode::AutonomousPr => "autonomous_pr",
    }
}

/// A decision.
pub fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Deny => "deny",
    }
}

/// What is done with a decision.
pub fn enforcement(enforcement: Enforcement) -> &'static str {
    match enforcement {
        Enforcement::Enforced => "enforced",
        Enforcement::DryRun => "dry_run",
    }
}
