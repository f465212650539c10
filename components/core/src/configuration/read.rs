//! The document into a [`Configuration`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Arguments, Configuration, Preset, ToolRule};
use crate::canonical::{Document, Kind, Value};
use crate::error::Error;
use crate::gate;
use crate::redact::{self, Mask};
use crate::vocabulary::Mode;

pub(super) fn read(json: &str) -> Result<Configuration, Error> {
    let document = Document::parse(json)?;
    let mut configuration = Configuration { digest: super::digest(json)?, ..Configuration::default() };
    let mut modes = None;
    for (name, value) in object(document.root(), "the configuration")? {
        match &*name {
            "mask" => configuration.mask = mask(value)?,
            "preset" => configuration.preset = preset(value)?,
            "modes" => modes = Some(value),
            "tools" => configuration.tools = tools(value)?,
            "arguments" => configuration.arguments = arguments(value)?,
            unknown => return Err(unknown_member("", unknown)),
        }
    }
    if let Some(value) = modes {
        configuration.commands = commands(value, configuration.preset)?;
    }
    Ok(configuration)
}

fn mask(value: Value<'_>) -> Result<Mask, Error> {
    let template = string(value, "mask")?;
    Mask::new(&template).map_err(|problem| invalid(format!("member `mask` {problem}")))
}

fn preset(value: Value<'_>) -> Result<Preset, Error> {
    match &*string(value, "preset")? {
        "none" => Ok(Preset::None),
        "roam" => Ok(Preset::Roam),
        _ => Err(invalid("member `preset` must be `none` or `roam`".to_owned())),
    }
}

fn arguments(value: Value<'_>) -> Result<Arguments, Error> {
    match &*string(value, "arguments")? {
        "record" => Ok(Arguments::Record),
        "redact" => Ok(Arguments::Redact),
        _ => Err(invalid("member `arguments` must be `record` or `redact`".to_owned())),
    }
}

/// The lists, turned round: the lowest mode of each command. An object without members declares nothing.
fn commands(value: Value<'_>, preset: Preset) -> Result<Option<BTreeMap<String, Mode>>, Error> {
    let mut declared = false;
    let mut commands = BTreeMap::new();
    for (name, list) in object(value, "member `modes`")? {
        declared = true;
        let Ok(mode) = name.parse::<Mode>() else {
            return Err(unknown_member("modes.", &name));
        };
        let path = format!("modes.{mode}");
        if list.kind() != Kind::Array {
            return Err(invalid(format!("member `{path}` must be a list of command names")));
        }
        for item in list.elements() {
            let command = string(item, &path)?;
            // roam-code puts the items of its lists through the rule for command lines.
            let command = match preset {
                Preset::Roam => gate::command_name(&command),
                Preset::None => command.into_owned(),
            };
            if command.is_empty() {
                return Err(invalid(format!("member `{path}` holds an empty command name")));
            }
            let lowest = commands.entry(command).or_insert(mode);
            *lowest = mode.min(*lowest);
        }
    }
    Ok(declared.then_some(commands))
}

fn tools(value: Value<'_>) -> Result<BTreeMap<String, ToolRule>, Error> {
    let mut tools = BTreeMap::new();
    for (name, members) in object(value, "member `tools`")? {
        let path = format!("tools.{}", shown(&name));
        let mut rule = ToolRule::default();
        for (member, value) in object(members, &format!("member `{path}`"))? {
            let place = || format!("{path}.{member}");
            match &*member {
                "read_only" => rule.read_only = Some(boolean(value, &place())?),
                "destructive" => rule.destructive = Some(boolean(value, &place())?),
                "idempotent" => rule.idempotent = Some(boolean(value, &place())?),
                "required_mode" => rule.required_mode = Some(mode(value, &place())?),
                "command" => {
                    let command = string(value, &place())?;
                    if command.is_empty() {
                        return Err(invalid(format!("member `{}` must not be empty", place())));
                    }
                    rule.command = Some(command.into_owned());
                }
                unknown => return Err(unknown_member(&format!("{path}."), unknown)),
            }
        }
        tools.insert(name.into_owned(), rule);
    }
    Ok(tools)
}

fn mode(value: Value<'_>, path: &str) -> Result<Mode, Error> {
    string(value, path)?.parse().map_err(|_| {
        invalid(format!("member `{path}` must be `read_only`, `safe_edit`, `migration` or `autonomous_pr`"))
    })
}

fn boolean(value: Value<'_>, path: &str) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| invalid(format!("member `{path}` must be true or false")))
}

fn string<'d>(value: Value<'d>, path: &str) -> Result<Cow<'d, str>, Error> {
    value.as_str().ok_or_else(|| invalid(format!("member `{path}` must hold text")))
}

fn object<'d>(
    value: Value<'d>,
    what: &str,
) -> Result<impl Iterator<Item = (Cow<'d, str>, Value<'d>)> + use<'d>, Error> {
    if value.is_object() { Ok(value.members()) } else { Err(invalid(format!("{what} must be an object"))) }
}

fn unknown_member(path: &str, name: &str) -> Error {
    invalid(format!("unknown member `{path}{}`", shown(name)))
}

/// A name as an error may repeat it: short, on one line, without secrets.
fn shown(name: &str) -> String {
    let clean = redact::scrub(name, &Configuration::default());
    let mut shown: String = clean.chars().take(80).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if clean.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

fn invalid(text: String) -> Error {
    Error::InvalidConfiguration(text)
}
