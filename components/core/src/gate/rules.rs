//! The rules for commands: lists, presets, words.

use super::{CommandRule, command_name, mode_command, roam, roam_lists};
use crate::configuration::{Configuration, Preset};
use crate::error::Error;
use crate::redact;
use crate::vocabulary::Mode;

/// What the lists say of a call.
pub(super) struct Ruling {
    /// Which rule spoke.
    pub(super) kind: Kind,
    /// The mode that effects and lists ask for.
    pub(super) required: Mode,
    /// Why the command rule denies, where it does.
    pub(super) denied: Option<String>,
}

/// Which rule spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No lists: effects alone.
    Effects,
    /// roam-code's tools without a command: effects alone, in other words.
    Native,
    /// A command that is looked up.
    Command,
}

/// Look a call up.
pub(super) fn rule(tool: &str, command: &str, active: Mode, effects: Mode, configuration: &Configuration) -> Ruling {
    let lists = Lists::of(configuration);
    if matches!(lists, Lists::Absent) {
        return Ruling { kind: Kind::Effects, required: effects, denied: None };
    }
    let roam = configuration.preset() == Preset::Roam;
    if roam && roam::is_bootstrap(command) {
        return Ruling { kind: Kind::Command, required: Mode::ReadOnly, denied: None };
    }
    let required = lists.lowest(command).map_or(effects, |listed| listed.max(effects));
    if roam && roam::is_native(tool) {
        return Ruling { kind: Kind::Native, required, denied: None };
    }
    let verdict = lists.verdict(command, active);
    let denied = (!verdict.allows()).then(|| words(verdict, command, active, configuration.preset()));
    Ruling { kind: Kind::Command, required, denied }
}

/// Why a call below its required mode is denied.
pub(super) fn below_rank(
    kind: &Kind,
    tool: &str,
    command: &str,
    active: Mode,
    required: Mode,
    preset: Preset,
) -> String {
    let run = mode_command(preset);
    match (preset, kind) {
        (Preset::Roam, Kind::Native) => {
            format!("MCP-native '{tool}' effects require {required}; run `{run} {required}` to enable it")
        }
        (Preset::Roam, _) => format!(
            "'{command}' command policy allows {active}, but MCP tool effects require {required}; run `{run} {required}` to enable it"
        ),
        (Preset::None, _) => {
            format!("'{tool}' requires {required} mode (active: {active}); run `{run} {required}` to enable it")
        }
    }
}

/// Whether the allow-lists of the configuration let a mode run a command. Under the preset `roam` a line goes through
/// [`command_name`] first; effects play no part.
///
/// # Errors
///
/// None at present.
pub fn check_command(line: &str, mode: Mode, configuration: &Configuration) -> Result<CommandRule, Error> {
    let command = command_name(line);
    let verdict = if command.is_empty() { Verdict::Empty } else { Lists::of(configuration).verdict(&command, mode) };
    let reason = words(verdict, &command, mode, configuration.preset());
    Ok(CommandRule {
        command: redact::scrub(&command, configuration).into_owned(),
        allowed: verdict.allows(),
        reason: redact::scrub(&reason, configuration).into_owned(),
    })
}

/// The allow-lists in force.
enum Lists<'c> {
    /// None: everything is allowed by this rule.
    Absent,
    /// roam-code's own.
    Roam,
    /// Those that the configuration declares.
    Declared(&'c std::collections::BTreeMap<String, Mode>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Empty,
    Unlimited,
    Listed,
    Harmless,
    Higher(Mode),
    Unlisted,
}

impl Verdict {
    const fn allows(self) -> bool {
        matches!(self, Self::Unlimited | Self::Listed | Self::Harmless)
    }
}

impl<'c> Lists<'c> {
    const fn of(configuration: &'c Configuration) -> Self {
        match (configuration.commands(), configuration.preset()) {
            (Some(declared), _) => Self::Declared(declared),
            (None, Preset::Roam) => Self::Roam,
            (None, Preset::None) => Self::Absent,
        }
    }

    /// The lowest mode whose list holds the command.
    fn lowest(&self, command: &str) -> Option<Mode> {
        match self {
            Self::Absent => None,
            Self::Roam => roam_lists::lowest(command),
            Self::Declared(commands) => commands.get(command).copied(),
        }
    }

    fn verdict(&self, command: &str, active: Mode) -> Verdict {
        let built_in = match self {
            Self::Absent => return Verdict::Unlimited,
            Self::Roam => true,
            Self::Declared(_) => false,
        };
        let lowest = self.lowest(command).or_else(|| roam::conditional_minimum(command).filter(|_| built_in));
        match lowest {
            Some(lowest) if active >= lowest => Verdict::Listed,
            Some(lowest) => Verdict::Higher(lowest),
            None if built_in && roam::is_harmless(command) => Verdict::Harmless,
            None => Verdict::Unlisted,
        }
    }
}

fn words(verdict: Verdict, command: &str, active: Mode, preset: Preset) -> String {
    match verdict {
        Verdict::Empty => "empty command name".to_owned(),
        Verdict::Unlimited => format!("'{command}' allowed: no allow-lists are configured"),
        Verdict::Listed => format!("'{command}' allowed in {active} mode"),
        Verdict::Harmless => format!("'{command}' allowed in {active} mode (declares no side effects)"),
        Verdict::Higher(lowest) => {
            format!("'{command}' not allowed in {active} mode; run `{} {lowest}` to enable it", mode_command(preset))
        }
        Verdict::Unlisted => match preset {
            Preset::Roam => format!(
                "'{command}' not in any mode's allow-list (active mode: {active}) — check the command spelling or add it to your constitution's modes block"
            ),
            Preset::None => format!(
                "'{command}' not in any mode's allow-list (active mode: {active}): check the spelling or add it to `modes` of the configuration"
            ),
        },
    }
}
