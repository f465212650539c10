//! Redact JSON lines `{"id", "input"}` from standard input, for scoring.

use std::io::{BufRead, Write};

use counterfoil_core::Configuration;
use counterfoil_core::redact::redact_json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let configuration = Configuration::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        let input = line.get("input").cloned().unwrap_or_default().to_string();
        let redacted = redact_json(&input, &configuration)?;
        let output: serde_json::Value = serde_json::from_str(redacted.output.as_deref().unwrap_or(&input))?;
        let details: serde_json::Map<_, _> =
            redacted.secrets.into_iter().map(|hit| (hit.id, hit.hits.into())).collect();
        writeln!(out, "{}", serde_json::json!({"id": line.get("id"), "output": output, "redaction_details": details}))?;
    }
    Ok(())
}
