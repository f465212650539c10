//! Blocks between `-----BEGIN` and `-----END`.

use super::Extent;
use crate::redact::input::Input;

/// Signs that the label of a block may have.
const LABEL: usize = 64;

/// A private key with its body, or the bare line that begins one and names its kind.
pub(super) fn private_key(input: &Input<'_>, at: usize) -> Option<Extent> {
    let label = at + "-----BEGIN ".len();
    let length = (0..LABEL).take_while(|offset| matches!(input.at(label + offset), Some(b'A'..=b'Z' | b' '))).count();
    let dashes = label + length;
    if !input.has(dashes, b"-----") || !input.slice(label, dashes).ends_with(b"PRIVATE KEY") {
        return None;
    }
    let begin = dashes + 5;
    match body(input, begin) {
        Some(end) => Some((at, end)),
        // Without a body it is no key, but the baseline masks the line when it names a kind.
        None => (length > "PRIVATE KEY".len()).then_some((at, begin)),
    }
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
        if length < 16 && (signs == 0 || !ends_line(input, line)) {
            break;
        }
        signs += length;
        end = Some(line);
        at = line;
    }
    if signs < 16 {
        return None;
    }
    let mark = separators(input, at);
    Some(end_mark(input, mark).or(end)?)
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
    use crate::redact::sets::Set::{Base64, Pad};
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
