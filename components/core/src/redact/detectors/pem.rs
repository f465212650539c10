//! Blocks between `-----BEGIN` and `-----END`.

use super::Extent;
use crate::redact::input::Input;
use crate::redact::sets::Set::{Base64, Pad};

/// Signs that the label of a block may have.
const LABEL: usize = 64;

/// A private key with its body, or the bare line that begins one and names its kind.
pub(super) fn private_key(input: &Input<'_>, at: usize) -> Option<Extent> {
    let label = at + "-----BEGIN ".len();
    let begin = after_label(input, label)?;
    if let Some(end) = body(input, begin) {
        return Some((at, end));
    }
    // Without a body it is no key, but the baseline masks the line when it names a kind. A constant of a program that
    // looks for keys stays.
    let named = begin - label > "PRIVATE KEY-----".len();
    let quote = input.before(at).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let constant = quote.is_some() && input.at(begin) == quote;
    (named && !constant).then_some((at, begin))
}

/// A body in lines of one length before the end mark of a private key, when no line begins it; the anchor is at the
/// mark. Looks back without bound, so only in whole texts.
pub(super) fn headless(input: &Input<'_>, at: usize) -> Option<Extent> {
    if !input.is_whole() {
        return None;
    }
    let end = after_label(input, at + "-----END ".len())?;
    let bytes = input.slice(0, at);
    let inside = |byte: &u8| {
        Base64.contains(*byte)
            || matches!(byte, b'=' | b'\r' | b'\n' | b' ' | b'\t' | b'\\' | b'"' | b'\'' | b',' | b'>')
    };
    let start = at - bytes.iter().rev().take_while(|byte| inside(byte)).count();
    // The first line of a body is full: everything before it on its line and above is something else.
    let mut line = start;
    for part in bytes.get(start..)?.split_inclusive(|byte| !Base64.contains(*byte)) {
        let length = part.iter().take_while(|byte| Base64.contains(**byte)).count();
        if length >= 60 {
            return Some((line, end));
        }
        line += part.len();
    }
    None
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
    let begin = at + "-----BEGIN PGP PRIVATE KEY BLOCK-----".len();
    body(input, begin).map(|end| (at, end))
}

/// Where the body ends that begins at `from`, its end mark included; none when there is no body.
///
/// The body is base64 in lines. Line ends may be real, `\n` or `\\n` as text, quotes and commas of a list, a `>` of a
/// mail; lines of headers may come first. A body without end mark reaches to the end of its base64.
fn body(input: &Input<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    let mut end = None;
    let mut signs = 0;
    let mut last = false;
    loop {
        at = separators(input, at);
        let line = base64_end(input, at);
        let length = line - at;
        if length == 0 {
            break;
        }
        if input.at(line) == Some(b':') || (input.at(line) == Some(b'-') && signs == 0) {
            // `Proc-Type: 4,ENCRYPTED`
            let Some(after) = header_end(input, line) else { break };
            at = after;
            continue;
        }
        // A word of prose is no line of a key: those are long, but for the last one.
        if length < 16 {
            // Behind the last line OpenPGP has a checksum.
            if signs == 0 || last && input.at(at) != Some(b'=') || !ends_line(input, line) {
                break;
            }
            last = true;
        }
        signs += length;
        end = Some(line);
        at = line;
    }
    if signs < 16 {
        return None;
    }
    let mark = separators(input, at);
    end_mark(input, mark).or(end)
}

/// Skip blanks, line ends real and spelled, quotes and commas between lines.
fn separators(input: &Input<'_>, from: usize) -> usize {
    let mut at = from;
    loop {
        at += match input.at(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b',' | b'>' | b'|' | b';') => 1,
            Some(b'\\') => match escape(input, at) {
                Some(length) => length,
                None => return at,
            },
            _ => return at,
        };
    }
}

/// A line end that is spelled out: one or more `\` and then `n`, `r`, `t`, a quote, or the end of the line.
fn escape(input: &Input<'_>, at: usize) -> Option<usize> {
    let strokes = (0..8).take_while(|offset| input.at(at + offset) == Some(b'\\')).count();
    match input.at(at + strokes) {
        Some(b'n' | b'r' | b't' | b'"' | b'\'') => Some(strokes + 1),
        Some(b'\n' | b'\r') => Some(strokes),
        Some(b'u') if input.has(at + strokes, b"u000a") || input.has(at + strokes, b"u000d") => Some(strokes + 5),
        _ => None,
    }
}

/// The end of a run of base64 with its padding.
fn base64_end(input: &Input<'_>, from: usize) -> usize {
    // OpenPGP's checksum has a line of its own that begins with `=`.
    let from = input.run(Pad, from).max(from);
    input.run(Pad, input.run(Base64, from))
}

fn ends_line(input: &Input<'_>, at: usize) -> bool {
    match input.at(at) {
        None | Some(b'\r' | b'\n' | b'"' | b'\'' | b'\\' | b',' | b'`' | b'<') => true,
        Some(b' ') => matches!(input.at(at + 1), Some(b'-' | b'\r' | b'\n')),
        Some(_) => false,
    }
}

/// The end of a line `name: value`, real or spelled.
fn header_end(input: &Input<'_>, from: usize) -> Option<usize> {
    let mut colon = false;
    for at in from..from + 256 {
        match input.at(at)? {
            b'\n' | b'\r' => return colon.then_some(at),
            b'\\' => return (colon && escape(input, at).is_some()).then_some(at),
            b'"' if colon => return Some(at),
            b'-' if input.at(at + 1) == Some(b'-') => return None,
            b':' => colon = true,
            _ => {}
        }
    }
    None
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
