//! Plain text: redacting twice changes nothing, and a text in pieces stays free of what is masked in one.

#![no_main]

use counterfoil_core::Configuration;
use counterfoil_core::redact::{redact_pieces, redact_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, u8)| {
    let (text, cut) = input;
    let configuration = Configuration::default();
    let once = redact_text(text, &configuration).expect("every text can be redacted");
    assert_eq!(once.output.is_some(), !once.secrets.is_empty());
    let masked = once.output.as_deref().unwrap_or(text);
    let twice = redact_text(masked, &configuration).expect("every text can be redacted");
    assert_eq!(twice.output, None);

    let at = text.char_indices().map(|(at, _)| at).nth(usize::from(cut)).unwrap_or(text.len());
    let (head, tail) = text.split_at(at);
    let pieces = redact_pieces(&[head.to_owned(), tail.to_owned()], &configuration).expect("pieces can be redacted");
    assert_eq!(pieces.len(), 3);
    let again = redact_text(&pieces.concat(), &configuration).expect("every text can be redacted");
    assert_eq!(again.output, None);
});
