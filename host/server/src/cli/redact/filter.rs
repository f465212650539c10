//! `redact --jsonl`: one line.

use counterfoil_engine::Engine;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::account::{object, reasons};
use crate::cli::globals::complaint;
use crate::cli::lines::{Complaint, not_an_object, starts_an_object};

/// A line in. Values stay text: numbers keep their spelling, objects their order and their duplicate keys.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

/// Answer a line.
pub fn answer(engine: &Engine, line: &str) -> Result<String, Complaint> {
    let request: Request<'_> = serde_json::from_str(line).map_err(|error| not_an_object(&error))?;
    if !starts_an_object(line) {
        return Err(Complaint::new("invalid_argument", "the line is not a JSON object"));
    }
    let id = request.id;
    // A member that is null reads as absent, and null is a value like any other: only a line without the word lacks it.
    let input = match request.input {
        Some(input) => input.get(),
        None if has_member(line, "input") => "null",
        None => {
            return Err(Complaint::new("invalid_argument", "the member `input` is missing").for_id(id));
        }
    };
    redact(engine, id, input).map_err(|complaint| complaint.for_id(id))
}

fn redact(engine: &Engine, id: Option<&RawValue>, input: &str) -> Result<String, Complaint> {
    let found = if input.starts_with('"') {
        redact_string(engine, input)?
    } else {
        engine.redact_json(input).map_err(|refusal| complaint(&refusal))?
    };
    let output = found.output.as_deref().unwrap_or(input);
    Ok(format!(
        "{{\"id\":{},\"output\":{output},\"redactions\":{},\"redaction_details\":{},\"injection_markers\":{}}}",
        id.map_or("null", RawValue::get),
        serde_json::json!(reasons(!found.secrets.is_empty(), !found.markers.is_empty())),
        serde_json::Value::Object(object(&found.secrets)),
        serde_json::Value::Object(object(&found.markers)),
    ))
}

/// Redact a JSON string as the plain text that it stands for.
fn redact_string(engine: &Engine, input: &str) -> Result<counterfoil_engine::types::Redacted, Complaint> {
    // Its syntax was checked already: what cannot be decoded now is half of a surrogate pair.
    let text: String = serde_json::from_str(input)
        .map_err(|_| Complaint::new("unsupported_value", "the string holds half of a surrogate pair"))?;
    let mut found = engine.redact_text(&text).map_err(|refusal| complaint(&refusal))?;
    let Some(clean) = &found.output else {
        return Ok(found);
    };
    // Searched as JSON the string keeps its spelling outside the masks. Both ways have the same answer, unless the
    // text holds what only one of them looks into; then the answer for plain text counts.
    let spelled = engine.redact_json(input).map_err(|refusal| complaint(&refusal))?.output;
    let same = spelled.filter(|spelled| serde_json::from_str::<String>(spelled).is_ok_and(|decoded| decoded == *clean));
    found.output = Some(match same {
        Some(spelled) => spelled,
        None => serde_json::Value::String(clean.clone()).to_string(),
    });
    Ok(found)
}

/// Whether the object in `line`, already known to be JSON, has this member.
fn has_member(line: &str, name: &str) -> bool {
    serde_json::from_str::<std::collections::BTreeMap<String, serde::de::IgnoredAny>>(line)
        .is_ok_and(|members| members.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_told_from_absent() {
        assert!(has_member(r#"{"input": null}"#, "input"));
        assert!(!has_member(r#"{"other": "input"}"#, "input"));
    }
}
