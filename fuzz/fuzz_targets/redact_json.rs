//! JSON: what comes out is JSON of the same shape.

#![no_main]

use counterfoil_core::Configuration;
use counterfoil_core::redact::redact_json;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|json: &str| {
    let configuration = Configuration::default();
    let Ok(once) = redact_json(json, &configuration) else { return };
    assert_eq!(once.output.is_some(), !once.secrets.is_empty());
    let Some(masked) = once.output else { return };
    redact_json(&masked, &configuration).expect("what was JSON stays JSON");
    // serde_json has a depth of its own.
    if let Ok(before) = serde_json::from_str::<Value>(json) {
        let after: Value = serde_json::from_str(&masked).expect("what was JSON stays JSON");
        assert_eq!(shape(&after), shape(&before));
    }
});

/// The value without its texts.
fn shape(value: &Value) -> Value {
    match value {
        Value::String(_) => Value::from(""),
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(members) => members.values().map(shape).collect(),
        other => other.clone(),
    }
}
