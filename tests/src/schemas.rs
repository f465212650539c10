//! The JSON Schemas of what is written at rest, generated from the vocabularies of `counterfoil-core`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use counterfoil_core::vocabulary::{Mode, PolicyDecision, RedactionReason, RunStatus};
use serde_json::{Map, Value, json};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
const BASE: &str = "https://counterfoil.dev/schema";
const SHA256_HEX: &str = "^[0-9a-f]{64}$";
const RUN_ID: &str = "^run_[0-9]{8}_[0-9a-f]{6,}$";
const TIME: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{6})?Z$";

/// Write the schemas into a folder.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    for (name, schema) in all() {
        fs::write(folder.join(name), text_of(&schema)?).with_context(|| format!("cannot write `schemas/{name}`"))?;
    }
    Ok(())
}

/// A schema as it is checked in.
pub fn text_of(schema: &Value) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(schema)?))
}

/// Every schema with the name of its file.
pub fn all() -> [(&'static str, Value); 3] {
    [("receipt.v1.json", receipt()), ("ledger-event.v1.json", ledger_event()), ("run-meta.v1.json", run_meta())]
}

/// Equal in meaning to roam-code's export `mcp-receipt/v1.json`.
fn receipt() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": format!("{BASE}/receipt/v1.json"),
        "title": "MCP decision receipt",
        "description": "What was decided about one MCP tool call and what it gave. Holds hashes, never arguments or results.",
        "type": "object",
        "additionalProperties": false,
        "required": ["tool_call", "client_id", "tool_name"],
        "properties": {
            "tool_call": text("Id of the call; also the name of the file, without `.json`.", 1),
            "client_id": text("Who asked.", 1),
            "tool_name": text("The tool.", 1),
            "actor_ref_id": nullable("On whose behalf."),
            "declared_side_effects": {
                "description": "`destructive`, `write`, `non_idempotent`; empty for a pure read.",
                "type": "array", "items": {"type": "string"}, "default": []
            },
            "required_mode": nullable("The lowest mode that may run the call."),
            "input_hash": nullable_hash("SHA-256 of the canonical arguments."),
            "policy_decision": {"$ref": "#/$defs/PolicyDecision", "default": "not_evaluated"},
            "output_ref": nullable("`handle:` and the handle of a result that was put aside."),
            "output_hash": nullable_hash("SHA-256 of the canonical result as the client may see it."),
            "run_event_id": nullable("The run that the call belongs to."),
            "redactions": {
                "description": "Why something is missing from the result, or marked in it.",
                "type": "array", "items": {"$ref": "#/$defs/RedactionReason"}, "default": []
            },
            "extra": {"description": "Further facts.", "type": "object", "additionalProperties": true, "default": {}}
        },
        "allOf": [{
            "not": {
                "type": "object",
                "required": ["output_ref", "output_hash"],
                "properties": {"output_ref": {"type": "string"}, "output_hash": {"type": "string"}}
            }
        }],
        "$defs": {
            "PolicyDecision": {
                "title": "Decision",
                "type": "string",
                "enum": sorted(PolicyDecision::ALL.iter().map(|word| word.as_str()))
            },
            "RedactionReason": {
                "title": "Reason",
                "type": "string",
                "enum": sorted(RedactionReason::ALL.iter().map(|word| word.as_str()))
            }
        }
    })
}

/// One line of `events.jsonl`.
fn ledger_event() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": format!("{BASE}/ledger-event/v1.json"),
        "title": "Ledger event",
        "description": "One line of a run's `events.jsonl`. Members that are not listed are allowed and signed like the others.",
        "type": "object",
        "required": ["seq", "ts", "action", "signature"],
        "properties": {
            "seq": {"description": "Place in the ledger, from 1.", "type": "integer", "minimum": 1},
            "ts": {"description": "When, UTC.", "type": "string", "pattern": TIME},
            "action": {"description": "What; `mcp_receipt` links a receipt.", "type": "string", "minLength": 1},
            "signature": {
                "description": "HMAC-SHA256 over the signature before and the event without this member.",
                "type": "string", "pattern": SHA256_HEX
            },
            "receipt_hash": {
                "description": "SHA-256 of the receipt's canonical form.",
                "type": "string", "pattern": SHA256_HEX
            },
            "tool_call": {"description": "Name of the receipt's file, without `.json`.", "type": "string", "minLength": 1},
            "tool_name": {"description": "The tool.", "type": "string"}
        },
        "if": {"properties": {"action": {"const": "mcp_receipt"}}, "required": ["action"]},
        "then": {"required": ["receipt_hash", "tool_call", "tool_name"]}
    })
}

/// `meta.json` of a run.
fn run_meta() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": format!("{BASE}/run-meta/v1.json"),
        "title": "Run",
        "description": "`meta.json` of a run. Members that are not listed are allowed.",
        "type": "object",
        "required": ["run_id", "agent", "started_at", "ended_at", "status"],
        "properties": {
            "run_id": {"type": "string", "pattern": RUN_ID},
            "agent": {"description": "Who acts in the run.", "type": "string"},
            "started_at": {"description": "UTC.", "type": "string"},
            "ended_at": {"description": "UTC; null while the run is open.", "type": ["string", "null"]},
            "status": {"type": "string", "enum": RunStatus::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()},
            "mode": {"type": "string", "enum": Mode::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()},
            "final_signature": {"description": "Signature of the last event.", "type": "string", "pattern": SHA256_HEX},
            "event_count": {"description": "Lines that are not blank.", "type": "integer", "minimum": 0},
            "status_source": {"type": "string", "enum": ["derived", "asserted"]},
            "partial_output_count": {"type": "integer", "minimum": 0},
            "constitution_hash": hash_or_empty("SHA-256 of `.roam/constitution.yml`."),
            "control_map_hash": hash_or_empty("SHA-256 of `.roam/control-map.yml`."),
            "rules_config_hash": hash_or_empty("SHA-256 of `.roam-rules.yml`.")
        }
    })
}

fn sorted<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words
}

fn text(description: &str, min_length: u32) -> Value {
    json!({"description": description, "type": "string", "minLength": min_length})
}

fn nullable(description: &str) -> Value {
    json!({"description": description, "type": ["string", "null"], "default": null})
}

fn nullable_hash(description: &str) -> Value {
    let mut schema: Map<String, Value> = Map::new();
    schema.insert("description".into(), description.into());
    schema.insert("type".into(), json!(["string", "null"]));
    schema.insert("pattern".into(), SHA256_HEX.into());
    schema.insert("default".into(), Value::Null);
    Value::Object(schema)
}

fn hash_or_empty(description: &str) -> Value {
    json!({"description": format!("{description} Empty when there is no such file."), "type": "string", "pattern": "^([0-9a-f]{64})?$"})
}
