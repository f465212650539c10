//! Reading ledger lines, as far as that needs no key.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Action of an event that links a receipt.
pub const RECEIPT_ACTION: &str = "mcp_receipt";
/// Action of an event that says a broken line was passed over.
pub const RECOVERY_ACTION: &str = "counterfoil_recovery";

/// The event that links a receipt.
#[derive(Serialize)]
pub struct LinkEvent<'a> {
    action: &'static str,
    receipt_hash: &'a str,
    tool_call: &'a str,
    tool_name: &'a str,
    ts: &'a str,
}

impl<'a> LinkEvent<'a> {
    pub const fn new(tool_call: &'a str, tool_name: &'a str, receipt_hash: &'a str, ts: &'a str) -> Self {
        Self { action: RECEIPT_ACTION, receipt_hash, tool_call, tool_name, ts }
    }
}

/// The event that says a broken line was passed over, and which.
#[derive(Serialize)]
pub struct RecoveryEvent<'a> {
    action: &'static str,
    broken_bytes: usize,
    broken_sha256: &'a str,
    ts: &'a str,
}

impl<'a> RecoveryEvent<'a> {
    pub const fn new(broken_bytes: usize, broken_sha256: &'a str, ts: &'a str) -> Self {
        Self { action: RECOVERY_ACTION, broken_bytes, broken_sha256, ts }
    }
}

/// What a ledger line says about a receipt.
#[derive(Debug, Deserialize)]
pub struct Link {
    pub action: String,
    pub receipt_hash: String,
    pub tool_call: String,
}

impl Link {
    /// The link in a line; none if the line is anything else.
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok().filter(|link: &Self| link.action == RECEIPT_ACTION)
    }
}

/// The lines of a ledger that are not blank, trimmed as roam-code trims them: LF, CRLF and lone CR end a line.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| matches!(byte, b'\n' | b'\r')).map(trim).filter(|line| !line.is_empty())
}

/// A line without the white space around it that Python's `str.strip` takes away.
pub fn trim(line: &[u8]) -> &[u8] {
    match std::str::from_utf8(line) {
        Ok(text) => text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)).as_bytes(),
        Err(_) => line.trim_ascii(),
    }
}

/// The event on a line; none if it is not JSON or no object.
pub fn parse(line: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(event)) => Some(event),
        _ => None,
    }
}

/// A text member of an event.
pub fn text<'a>(event: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    event.get(name).and_then(Value::as_str)
}

/// What Python takes for true.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_roam_ends_them() {
        let found: Vec<&[u8]> = lines(b" a \r\n\r\nb\x0bc\rd\xe2\x80\xa8e\n\x1c\n\xff").collect();
        assert_eq!(found, [&b"a"[..], b"b\x0bc", b"d\xe2\x80\xa8e", b"\xff"]);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn only_link_events_are_links() {
        assert!(Link::parse(r#"{"action":"mcp_receipt","receipt_hash":"h","tool_call":"t"}"#).is_some());
        assert!(Link::parse(r#"{"action":"edit","receipt_hash":"h","tool_call":"t"}"#).is_none());
        assert!(Link::parse(r#"{"action":"mcp_receipt","receipt_hash":1,"tool_call":"t"}"#).is_none());
        assert!(Link::parse("half").is_none());
    }
}
