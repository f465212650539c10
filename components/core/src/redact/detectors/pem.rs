//! Blocks between `-----BEGIN` and `-----END`.

mod block;
mod headless;
mod lines;

use super::Extent;
use crate::redact::input::Input;
use crate::redact::sets::Set::Base64;

pub(super) use headless::headless;
pub(in crate::redact) use headless::unfinished;

/// Signs that the label of a block may have.
const LABEL: usize = 64;

/// A private key with its body, or the bare line that begins one and names its kind.
pub(super) fn private_key(input: &Input<'_>, at: usize) -> Option<Extent> {
    let label = at + "-----BEGIN ".len();
    let begin = after_label(input, label)?;
    if let Some(end) = end(input, at, (label, begin)) {
        return Some((at, end));
    }
    // Without a body it is no key, but the baseline masks the line when it names a kind. A constant of a program that
    // looks for keys stays.
    let named = begin - label > "PRIVATE KEY-----".len();
    let quote = input.before(at).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let constant = quote.is_some() && input.at(begin) == quote;
    (named && !constant).then_some((at, begin))
}

/// Where the key ends whose first line begins at `at`, with a label from … to: where it ends as a block of base64 between
/// marks, or where the lines of a body end, whichever is more.
fn end(input: &Input<'_>, at: usize, (label, begin): Extent) -> Option<usize> {
    let label = input.slice(label, begin - "-----".len());
    block::end(input, begin, label).max(lines::end(input, begin, lines::prefix(input, at)))
}

/// Where the line ends whose label begins at `label`, if it is one of a private key.
fn after_label(input: &Input<'_>, label: usize) -> Option<usize> {
    let length = (0..LABEL).take_while(|offset| matches!(input.at(label + offset), Some(b'A'..=b'Z' | b' '))).count();
    let dashes = label + length;
    (input.has(dashes, b"-----") && input.slice(label, dashes).ends_with(b"PRIVATE KEY")).then_some(dashes + 5)
}

/// Whether the text ends in a line that begins a private key, with nothing behind it.
pub(in crate::redact) fn opens_block(text: &str) -> bool {
    let line = text.trim_end().lines().next_back().unwrap_or_default();
    line.len() < 120 && line.contains("-----BEGIN ") && line.ends_with("PRIVATE KEY-----")
}

/// Whether a text is one line of a body and nothing else. The first line is long.
pub(in crate::redact) fn is_body_line(text: &str, first: bool) -> bool {
    let line = text.trim();
    let inside = line.bytes().all(|byte| Base64.contains(byte) || byte == b'=');
    inside && line.len() >= if first { 32 } else { 1 }
}

/// The same for OpenPGP.
pub(super) fn pgp(input: &Input<'_>, at: usize) -> Option<Extent> {
    let label = at + "-----BEGIN ".len();
    let begin = label + "PGP PRIVATE KEY BLOCK-----".len();
    end(input, at, (label, begin)).map(|end| (at, end))
}

/// The end of `-----END … -----` that begins at `from`.
fn end_mark(input: &Input<'_>, from: usize) -> Option<usize> {
    if !input.has(from, b"-----END ") {
        return None;
    }
    let label = from + "-----END ".len();
    let length = (0..LABEL).take_while(|offset| matches!(input.at(label + offset), Some(b'A'..=b'Z' | b' '))).count();
    input.has(label + length, b"-----").then_some(label + length + 5)
}
