//! A body before the end mark of a private key, when no line begins it.

use crate::redact::detectors::Extent;
use crate::redact::input::Input;
use crate::redact::sets::Set::Base64;

use super::{LABEL, after_label};

/// Bytes before the mark that may be its body.
const REACH: usize = 32 * 1024;

/// Signs of a full line: the first line of a body is full, and everything before it is something else.
const FULL: usize = 60;

/// Bytes between two lines, and short pieces (numbers, `\n`, `<br>`, `+`) between them. They bound the look back.
const GAP: usize = 128;
const PIECES: usize = 8;

/// A body with full lines before the end mark of a private key; the anchor is at the mark.
pub(in crate::redact::detectors) fn headless(input: &Input<'_>, at: usize) -> Option<Extent> {
    let end = after_label(input, at + "-----END ".len())?;
    Some((start(input, at, false)?, end))
}

/// From where on the end of the text may still become a body without first line; the end of the text when nothing may.
pub(in crate::redact) fn unfinished(input: &Input<'_>) -> usize {
    let end = input.bytes().len();
    let longest = "-----END ".len() + LABEL + "-----".len();
    let marks = (end.saturating_sub(longest)..end).filter(|at| begins_mark(input.slice(*at, end)));
    let starts = marks.filter_map(|at| start(input, at, false)).chain(start(input, end, true));
    starts.min().unwrap_or(end)
}

/// Whether a text is the beginning of an end mark.
fn begins_mark(text: &[u8]) -> bool {
    let mark = b"-----END ";
    let Some((head, label)) = text.split_at_checked(mark.len()) else {
        return mark.starts_with(text);
    };
    let dashes = label.iter().skip_while(|byte| byte.is_ascii_uppercase() || **byte == b' ');
    head == mark && dashes.clone().count() <= 5 && dashes.clone().all(|byte| *byte == b'-')
}

/// Where the body begins that ends at a place: full lines, at most one that is shorter behind them, and what may stand
/// between lines. When the text goes on (`open`), the signs at its end may be the beginning of any line.
///
/// Two words end the look back, so that it goes no farther than to the mark before.
fn start(input: &Input<'_>, at: usize, open: bool) -> Option<usize> {
    let floor = at.saturating_sub(REACH);
    let bytes = input.slice(floor, at);
    let mut first = None;
    let mut begun = None;
    let (mut short, mut pieces) = (false, 0);
    let mut to = bytes.len();
    loop {
        let gap = ending(bytes, to, between);
        let end = to - gap;
        let length = ending(bytes, end, |byte| Base64.contains(byte) || byte == b'=');
        let from = end - length;
        input.step(gap + length);
        if length == 0 || gap > GAP {
            break;
        }
        let escape = input.before(floor + from) == Some(b'\\');
        let run = bytes.get(from..end)?;
        // The letter of `\n` belongs to the escape.
        let line = floor + from + usize::from(escape && matches!(run, [b'n' | b'r' | b't', _, ..]));
        if open && end == bytes.len() {
            begun = Some(line);
        } else if length >= FULL {
            (first, pieces) = (Some(line), 0);
        } else if pieces < PIECES && (is_piece(run) || escape && length <= 5) {
            pieces += 1;
        } else if first.is_none() && !short {
            short = true;
        } else {
            break;
        }
        to = from;
    }
    first.or(begun)
}

/// Bytes before a place that are all like this.
fn ending(bytes: &[u8], to: usize, like: impl Fn(u8) -> bool) -> usize {
    bytes.get(..to).unwrap_or_default().iter().rev().take_while(|byte| like(**byte)).count()
}

/// What may stand before and between lines: blanks, line ends, quotes, comment signs, an arrow behind a number.
fn between(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\r'
            | b'\n'
            | b'\\'
            | b'"'
            | b'\''
            | b','
            | b'>'
            | b'<'
            | b'|'
            | b':'
            | b';'
            | b'#'
            | b'*'
            | b'&'
            | b'%'
            | b'-'
            | b'('
            | b')'
            | 0xe2
            | 0x86
            | 0x92
    )
}

/// Signs of base64 that are no word: a number of a line, what is left of an escape, signs of a comment or a sum.
fn is_piece(run: &[u8]) -> bool {
    run.len() <= 2
        || run.len() <= 7 && run.iter().all(u8::is_ascii_digit)
        || run.iter().all(|byte| matches!(byte, b'/' | b'+' | b'='))
}
