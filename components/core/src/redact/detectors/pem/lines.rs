//! The lines of a body, by what stands between them.

use super::end_mark;
use crate::redact::input::Input;
use crate::redact::sets::Set::{Base64, Pad};

/// Bytes before a first line that may stand before the lines of its body too.
const PREFIX: usize = 64;

/// Blanks and digits in a row that such a prefix may have.
const LOOSE: usize = 24;

/// What stands before a place on its line, when that is not more than [`PREFIX`] bytes.
pub(super) fn prefix<'t>(input: &Input<'t>, at: usize) -> &'t [u8] {
    let from = at.saturating_sub(PREFIX);
    let bytes = input.slice(from, at);
    let real = bytes.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map(|at| at + 1);
    let spelled = bytes.windows(2).rposition(|pair| pair == b"\\n").map(|at| at + 2);
    match real.max(spelled) {
        Some(line) => bytes.get(line..).unwrap_or_default(),
        None if from == 0 => bytes,
        None => &[],
    }
}

/// Where the body ends that begins at `from`, its end mark included; none when there is no body.
///
/// The body is base64 in lines. Line ends may be real, `\n` or `\\n` as text, `<br>` or percent-encoded, quotes and
/// commas of a list, the `+` of a sum; each line may begin with the prefix, in which digits may differ. Lines of headers
/// may come first. A body without end mark reaches to the end of its base64.
pub(super) fn end(input: &Input<'_>, from: usize, prefix: &[u8]) -> Option<usize> {
    let mut at = from;
    let mut end = None;
    let mut signs = 0;
    let mut last = false;
    loop {
        at = separators(input, at, prefix);
        let line = base64_end(input, at);
        let length = line - at;
        if length == 0 {
            break;
        }
        let dash = input.at(line) == Some(b'-') && input.at(line + 1) != Some(b'-');
        if input.at(line) == Some(b':') || dash && signs == 0 {
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
    let mark = separators(input, at, prefix);
    end_mark(input, mark).or(end)
}

/// Skip blanks, line ends real and spelled, quotes and commas between lines, and the prefix of a line.
fn separators(input: &Input<'_>, from: usize, prefix: &[u8]) -> usize {
    let mut at = from;
    loop {
        let Some(byte) = input.at(at) else { return at };
        let line = match byte {
            b'\n' | b'\r' => 1,
            b'\\' => match escape(input, at) {
                Some(length) => length,
                None => return at,
            },
            b'<' | b'%' | b'&' => match encoded(input, at) {
                Some(length) => length,
                None => return at,
            },
            b' ' | b'\t' | b'"' | b'\'' | b',' | b'>' | b'|' | b';' => 0,
            b'+' | b'.' if joins(input, at) => 0,
            _ => return at,
        };
        at += line.max(1);
        if line > 0 && !prefix.is_empty() {
            at = past(input, prefix, at).unwrap_or(at);
        }
    }
}

/// Where the prefix ends that stands at a place. Digits and blanks in it may be others, and more or fewer.
fn past(input: &Input<'_>, prefix: &[u8], from: usize) -> Option<usize> {
    let loose = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'\t');
    let mut at = from;
    let mut rest = prefix.iter().copied().peekable();
    while let Some(sign) = rest.next() {
        if !loose(sign) {
            if input.at(at)? != sign {
                return None;
            }
            at += 1;
            continue;
        }
        while rest.next_if(|sign| loose(*sign)).is_some() {}
        let run = (0..LOOSE).take_while(|offset| input.at(at + offset).is_some_and(loose)).count();
        if run == 0 {
            return None;
        }
        at += run;
    }
    Some(at)
}

/// The sign of a sum of strings, alone between blanks or quotes.
fn joins(input: &Input<'_>, at: usize) -> bool {
    let apart = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\r' | b'\n');
    input.before(at).is_some_and(apart) && input.at(at + 1).is_some_and(apart)
}

/// The length of a line end in a markup or a URL.
fn encoded(input: &Input<'_>, at: usize) -> Option<usize> {
    let forms: [&[u8]; 10] =
        [b"<br>", b"<br/>", b"<br />", b"%0a", b"%0d", b"%20", b"&#10;", b"&#13;", b"&#xa;", b"&#xd;"];
    forms.iter().find(|form| input.has_any_case(at, form)).map(|form| form.len())
}

/// A line end that is spelled out: one or more `\` and then `n`, `r`, `t`, a quote, or the end of the line.
fn escape(input: &Input<'_>, at: usize) -> Option<usize> {
    let strokes = (0..8).take_while(|offset| input.at(at + offset) == Some(b'\\')).count();
    match input.at(at + strokes) {
        Some(b'n' | b'r' | b't' | b'"' | b'\'') => Some(strokes + 1),
        Some(b'\n' | b'\r') => Some(strokes),
        Some(b'u') if input.has_any_case(at + strokes, b"u000a") || input.has_any_case(at + strokes, b"u000d") => {
            Some(strokes + 5)
        }
        _ => None,
    }
}

/// The end of a run of base64 with its padding. `+`, `/` and `=` may be percent-encoded.
pub(super) fn base64_end(input: &Input<'_>, from: usize) -> usize {
    // OpenPGP's checksum has a line of its own that begins with `=`.
    let mut at = input.run(Pad, from).max(from);
    loop {
        at = input.run(Pad, input.run(Base64, at));
        let signs: [&[u8]; 3] = [b"%2b", b"%2f", b"%3d"];
        if input.at(at) != Some(b'%') || !signs.iter().any(|sign| input.has_any_case(at, sign)) {
            return at;
        }
        at += 3;
    }
}

fn ends_line(input: &Input<'_>, at: usize) -> bool {
    match input.at(at) {
        None | Some(b'\r' | b'\n' | b'"' | b'\'' | b'\\' | b',' | b'`' | b'<' | b'%' | b'&') => true,
        Some(b' ') => matches!(input.at(at + 1), Some(b'-' | b'\r' | b'\n')),
        Some(b'-') => input.has(at, b"-----END "),
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
