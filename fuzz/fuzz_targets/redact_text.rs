//! Plain text: what comes out is the text with masks in it and nothing else, in one piece as in several.

#![no_main]

use counterfoil_core::Configuration;
use counterfoil_core::redact::{redact_pieces, redact_text};
use libfuzzer_sys::fuzz_target;

const MASK: &str = "[REDACTED:";

fuzz_target!(|input: (&str, u8)| {
    let (text, cut) = input;
    if text.contains(MASK) {
        return;
    }
    let configuration = Configuration::default();
    let once = redact_text(text, &configuration).expect("every text can be redacted");
    assert_eq!(once.output.is_some(), !once.secrets.is_empty());
    assert!(is_masked(once.output.as_deref().unwrap_or(text), text));

    let at = text.char_indices().map(|(at, _)| at).nth(usize::from(cut)).unwrap_or(text.len());
    let (head, tail) = text.split_at(at);
    let pieces = redact_pieces(&[head.to_owned(), tail.to_owned()], &configuration).expect("pieces can be redacted");
    assert_eq!(pieces.len(), 3);
    assert!(is_masked(&pieces.concat(), text));
});

/// Whether the output is the text with some parts replaced by masks: what is between the masks stands in the text, in
/// the same order, the first part at its beginning and the last one at its end.
fn is_masked(output: &str, text: &str) -> bool {
    let mut parts = output.split(MASK);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = first;
    for part in parts {
        let Some((_, kept)) = part.split_once(']') else { return false };
        let Some(at) = rest.find(kept) else { return false };
        rest = &rest[at + kept.len()..];
        last = kept;
    }
    text.ends_with(last)
}
