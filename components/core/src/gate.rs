//! May this mode run this tool?
//!
//! The modes form a ladder: each allows what the ones below it allow. A call needs the highest of
//!
//! - the mode of its effects: `migration` when it destroys, `safe_edit` when it writes or a second call has another
//!   effect, else `read_only`;
//! - the mode that the configuration requires of the tool;
//! - the lowest mode whose list holds its command.
//!
//! Where there are lists, a command that none of them holds is denied. Under the preset `roam` all rules and words are
//! roam-code's; under the preset `none` there are no lists unless the configuration declares them.

mod blocked;
mod names;
mod roam;
mod roam_lists;
mod rules;

use crate::configuration::{Configuration, Preset, ToolRule};
use crate::error::Error;
use crate::redact;
use crate::vocabulary::{Decision, Effects, Enforcement, Mode};

pub use blocked::blocked_envelope;
pub use names::{command_name, tool_command};
pub use rules::check_command;

pub(crate) use roam_lists::digest_text as roam_lists_text;

/// One call to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Name of the tool as the operator knows it. Not empty.
    pub tool: &'a str,
    /// Name for the allow-lists, where the host knows better than the name of the tool.
    pub command: Option<&'a str>,
    /// What the tool does.
    pub effects: Effects,
    /// The active mode.
    pub mode: Mode,
    /// Whether denials are only recorded.
    pub dry_run: bool,
}

/// The gate's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What was judged.
    pub decision: Decision,
    /// What is to be done with it.
    pub enforcement: Enforcement,
    /// The mode that was judged by.
    pub active_mode: Mode,
    /// The lowest mode that may run the call.
    pub required_mode: Mode,
    /// Why the call is denied; empty when it is allowed. Secrets in names are masked.
    pub reason: String,
}

/// Which mode is in force and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedMode {
    /// The mode.
    pub mode: Mode,
    /// `explicit`, `env`, `file` or `default`.
    pub source: String,
}

/// Whether a command is in the allow-lists of a mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRule {
    /// The bare name that was looked up.
    pub command: String,
    /// Whether the mode's list, or a lower one, holds it.
    pub allowed: bool,
    /// Why, in words.
    pub reason: String,
}

/// Judge a call.
///
/// # Errors
///
/// [`Error::InvalidArgument`] when the tool has no name.
pub fn decide(call: &Call<'_>, configuration: &Configuration) -> Result<Judgement, Error> {
    if call.tool.is_empty() {
        return Err(Error::InvalidArgument("a call needs the name of a tool".to_owned()));
    }
    let tool = configuration.tool(call.tool);
    let effects = effective(call.effects, tool);
    let command = names::listed_name(call, tool, configuration.preset());
    let floor = tool.and_then(|rule| rule.required_mode).unwrap_or(Mode::ReadOnly);
    let ruling = rules::rule(call.tool, &command, call.mode, effects_mode(effects), configuration);
    let required_mode = ruling.required.max(floor);
    let reason = if let Some(reason) = ruling.denied.filter(|_| call.mode >= required_mode) {
        reason
    } else if call.mode >= required_mode {
        String::new()
    } else {
        rules::below_rank(&ruling.kind, call.tool, &command, call.mode, required_mode, configuration.preset())
    };
    Ok(Judgement {
        decision: if reason.is_empty() { Decision::Allow } else { Decision::Deny },
        enforcement: if call.dry_run { Enforcement::DryRun } else { Enforcement::Enforced },
        active_mode: call.mode,
        required_mode,
        // The names come from the client; a secret in one must not travel on in the reason.
        reason: redact::scrub(&reason, configuration).into_owned(),
    })
}

/// The effects of a call: what the configuration says of the tool wins over what came with the call.
#[must_use]
pub(crate) fn effective(effects: Effects, tool: Option<&ToolRule>) -> Effects {
    let Some(rule) = tool else { return effects };
    Effects {
        read_only: rule.read_only.unwrap_or(effects.read_only),
        destructive: rule.destructive.unwrap_or(effects.destructive),
        idempotent: rule.idempotent.unwrap_or(effects.idempotent),
    }
}

pub(crate) const fn effects_mode(effects: Effects) -> Mode {
    if effects.destructive {
        Mode::Migration
    } else if !effects.read_only || !effects.idempotent {
        Mode::SafeEdit
    } else {
        Mode::ReadOnly
    }
}

/// The mode with this name, spelled exactly.
///
/// # Errors
///
/// [`Error::UnknownMode`] for any other spelling.
pub fn parse_mode(name: &str) -> Result<Mode, Error> {
    name.parse().map_err(|_| unknown_mode("the mode"))
}

/// The first of the three that is there, else `safe_edit`. `environment` and `file` are trimmed and count as absent when
/// blank.
///
/// # Errors
///
/// [`Error::UnknownMode`] when the first that is there is no mode: a misspelt mode must not fall through to a wider one.
pub fn resolve_mode(
    explicit: Option<&str>,
    environment: Option<&str>,
    file: Option<&str>,
) -> Result<ResolvedMode, Error> {
    let set = |text: Option<&'_ str>| text.map(names::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let found = |text: &str, source: &str, what: &str| match text.parse() {
        Ok(mode) => Ok(ResolvedMode { mode, source: source.to_owned() }),
        Err(_) => Err(unknown_mode(what)),
    };
    if let Some(text) = explicit {
        found(text, "explicit", "the explicit mode")
    } else if let Some(text) = set(environment) {
        found(&text, "env", "the mode of the environment")
    } else if let Some(text) = set(file) {
        found(&text, "file", "the mode of the file")
    } else {
        Ok(ResolvedMode { mode: Mode::SafeEdit, source: "default".to_owned() })
    }
}

fn unknown_mode(what: &str) -> Error {
    Error::UnknownMode(format!("{what} must be `read_only`, `safe_edit`, `migration` or `autonomous_pr`"))
}

/// How a preset names itself to people.
pub(crate) const fn mode_command(preset: Preset) -> &'static str {
    match preset {
        Preset::None => "counterfoil mode set",
        Preset::Roam => "roam mode",
    }
}
