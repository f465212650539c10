//! `gate --jsonl`: one line.

use counterfoil_engine::Engine;
use counterfoil_engine::types::{Call, Effects, Mode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cli::globals::complaint;
use crate::cli::lines::{Complaint, not_an_object, starts_an_object};

/// A line in. The members stay text until they are looked at one by one, so that an error can name its member.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    tool: Option<&'a RawValue>,
    #[serde(borrow, default)]
    read_only: Option<&'a RawValue>,
    #[serde(borrow, default)]
    destructive: Option<&'a RawValue>,
    #[serde(borrow, default)]
    idempotent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    mode: Option<&'a RawValue>,
    #[serde(borrow, default)]
    dry_run: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
}

/// Answer a line. `mode` is for lines without a mode, `dry_run` for lines that do not say.
pub fn answer(engine: &Engine, mode: Option<Mode>, dry_run: bool, line: &str) -> Result<String, Complaint> {
    let request: Request<'_> = serde_json::from_str(line).map_err(|error| not_an_object(&error))?;
    if !starts_an_object(line) {
        return Err(Complaint::new("invalid_argument", "the line is not a JSON object"));
    }
    let mode = match (text("mode", request.mode)?, mode) {
        (Some(name), _) => engine.parse_mode(&name).map_err(|refusal| complaint(&refusal))?,
        (None, Some(mode)) => mode,
        (None, None) => return Err(missing("mode")),
    };
    let call = Call {
        tool: text("tool", request.tool)?.ok_or_else(|| missing("tool"))?,
        command: text("command", request.command)?,
        effects: Effects {
            read_only: flag("read_only", request.read_only)?.unwrap_or(true),
            destructive: flag("destructive", request.destructive)?.unwrap_or(false),
            idempotent: flag("idempotent", request.idempotent)?.unwrap_or(true),
        },
        mode,
        dry_run: flag("dry_run", request.dry_run)?.unwrap_or(dry_run),
    };
    let judgement = engine.decide(&call).map_err(|refusal| complaint(&refusal))?;
    Ok(super::members(&judgement).to_string())
}

fn missing(name: &str) -> Complaint {
    Complaint::new("invalid_argument", format!("the member `{name}` is missing"))
}

fn flag(name: &str, value: Option<&RawValue>) -> Result<Option<bool>, Complaint> {
    match value.map(RawValue::get) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(Complaint::new("invalid_argument", format!("the member `{name}` is neither true nor false"))),
    }
}

fn text(name: &str, value: Option<&RawValue>) -> Result<Option<String>, Complaint> {
    let Some(value) = value else { return Ok(None) };
    let text = serde_json::from_str(value.get());
    text.map(Some).map_err(|_| Complaint::new("invalid_argument", format!("the member `{name}` is not text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_a_flag_and_nothing_that_looks_like_one() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(flag("x", None), Ok(None));
        assert_eq!(flag("x", Some(&raw("true"))), Ok(Some(true)));
        for other in ["1", "\"true\"", "[]"] {
            assert!(flag("x", Some(&raw(other))).is_err(), "{other}");
        }
    }
}
