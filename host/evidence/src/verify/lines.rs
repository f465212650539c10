//! Line by line: is each an event, in its place, spelled as its writer spells it?

use super::finding::{Finding, FindingCode};
use crate::authority::ChainAuthority;
use crate::events::{self, RECOVERY_ACTION};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Checks the lines of a ledger.
pub fn check(ledger: &[u8], authority: &dyn ChainAuthority, findings: &mut Vec<Finding>) {
    let mut lines = events::lines(ledger).map(|line| (line, events::parse(line))).zip(1_u64..).peekable();
    while let Some(((line, event), place)) = lines.next() {
        match &event {
            Some(event) => check_event(line, event, place, authority, findings),
            None => {
                let next = lines.peek();
                let last = next.is_none();
                let (code, message) =
                    if next.and_then(|((_, next), _)| next.as_ref()).is_some_and(|next| accounts_for(next, line)) {
                        (FindingCode::RecoveredLine, "a line was cut by a crash, as the event after it says")
                    } else if last && !ledger.ends_with(b"\n") {
                        (
                            FindingCode::LineCut,
                            "the last line is cut: a crash that was not yet recovered, or somebody cut it",
                        )
                    } else {
                        (FindingCode::UnreadableLine, "the line is no event")
                    };
                findings.push(Finding::new(code, message).at(place));
            }
        }
    }
}

fn check_event(
    line: &[u8],
    event: &Map<String, Value>,
    place: u64,
    authority: &dyn ChainAuthority,
    findings: &mut Vec<Finding>,
) {
    // `1.0` and `true` are no places, whatever a reader makes of them.
    if event.get("seq").and_then(Value::as_u64) != Some(place) {
        findings.push(Finding::new(FindingCode::SeqWrong, "`seq` is not the event's place").at(place));
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return;
    };
    match authority.canonicalize_line(text) {
        Ok(canonical) if escaped(&canonical) == escaped(text) => {}
        Ok(_) => {
            let message = "the line is not spelled as its writer spells it: it was rewritten, or holds a member twice";
            findings.push(Finding::new(FindingCode::RewrittenLine, message).at(place));
        }
        Err(error) => {
            findings
                .push(Finding::new(FindingCode::UnreadableLine, format!("the line is no event: {error}")).at(place));
        }
    }
}

/// Whether an event says that this line was passed over.
fn accounts_for(event: &Map<String, Value>, line: &[u8]) -> bool {
    events::text(event, "action") == Some(RECOVERY_ACTION)
        && events::text(event, "broken_sha256") == Some(hex::encode(Sha256::digest(line)).as_str())
}

/// A line with everything outside printable ASCII escaped. roam-code leaves that raw, we do not, and both mean the same.
fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut units = [0_u16; 2];
    for c in line.chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_and_escaped_spellings_are_one() {
        assert_eq!(escaped("{\"a\": \"é\u{7f}\u{1f600}\"}"), "{\"a\": \"\\u00e9\\u007f\\ud83d\\ude00\"}");
        assert_eq!(escaped("\\u00e9"), escaped("é"));
    }
}
