//! `receipts seal|input-hash|output --jsonl`: one line.

use counterfoil_engine::Engine;
use serde_json::json;

use crate::cli::globals::complaint;
use crate::cli::lines::Complaint;

/// A receipt's fields in, the receipt in its canonical form out.
pub fn seal(engine: &Engine, line: &str) -> Result<String, Complaint> {
    let sealed = engine.seal(line).map_err(|refusal| complaint(&refusal))?;
    Ok(json!({"canonical": sealed.canonical, "content_hash": sealed.content_hash}).to_string())
}

/// A call's arguments in, their hash out.
pub fn input_hash(engine: &Engine, line: &str) -> Result<String, Complaint> {
    let hash = engine.input_hash(line).map_err(|refusal| complaint(&refusal))?;
    Ok(json!({"input_hash": hash}).to_string())
}

/// A tool's result in, what a receipt says of it out.
pub fn output(engine: &Engine, line: &str) -> Result<String, Complaint> {
    let output = engine.output_of(line).map_err(|refusal| complaint(&refusal))?;
    Ok(json!({"output_hash": output.output_hash, "output_ref": output.output_ref}).to_string())
}
