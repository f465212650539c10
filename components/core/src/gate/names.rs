//! Names of commands and tools.

use std::borrow::Cow;

use super::{Call, roam};
use crate::configuration::{Preset, ToolRule};
use crate::python::is_blank;

/// The bare command of a command line: trimmed, without a leading `roam `, the first word that is no option. A line of
/// options only stands for itself.
#[must_use]
pub fn command_name(line: &str) -> String {
    let line = trim(line);
    let rest = line.strip_prefix("roam ").unwrap_or(line);
    words(rest).find(|word| !word.starts_with('-')).unwrap_or(trim(rest)).to_owned()
}

/// The command that stands for a tool under the preset `roam`.
#[must_use]
pub fn tool_command(tool: &str) -> String {
    if let Some(command) = roam::renamed(tool) {
        return command.to_owned();
    }
    tool.strip_prefix("roam_").unwrap_or(tool).replace('_', "-")
}

/// The name that is looked up for a call: what the configuration says, then what the call says, then the tool's own.
pub(super) fn listed_name<'c>(call: &Call<'c>, tool: Option<&'c ToolRule>, preset: Preset) -> Cow<'c, str> {
    if let Some(command) = tool.and_then(|rule| rule.command.as_deref()).or(call.command) {
        return match preset {
            Preset::None => Cow::Borrowed(command),
            Preset::Roam => Cow::Owned(command_name(command)),
        };
    }
    match preset {
        Preset::None => Cow::Borrowed(call.tool),
        Preset::Roam => Cow::Owned(tool_command(call.tool)),
    }
}

/// Without white space at both ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_blank).filter(|word| !word.is_empty())
}
