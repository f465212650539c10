//! A block that is told by its marks and by what it is made of, whatever stands before and between its lines.

use super::end_mark;
use super::lines::base64_end;
use crate::redact::input::Input;
use crate::redact::sets::Set::Base64;

/// Bytes that may stand between the marks.
const REACH: usize = 16 * 1024;

/// Signs in a row that count as a part of a body.
const RUN: usize = 10;

/// Bytes without such a run that end the look for the end mark.
const GAP: usize = 256;

/// Bytes between two lines of a body that has no end mark.
const BETWEEN: usize = 32;

/// Signs that make a body, whatever else is there.
const LEAST: usize = 40;

/// What the runs before the end mark have.
#[derive(Default)]
struct Body {
    signs: usize,
    capitals: usize,
    small: usize,
    digits: usize,
}

/// Where the block ends whose first line ends at `begin`: at the end mark with this label, when what stands between is
/// base64 for the most part; without one, where the base64 ends that follows at once and is nearly all there is.
///
/// The look ends at the next first line, so that a byte is looked at for one block only.
pub(super) fn end(input: &Input<'_>, begin: usize, label: &[u8]) -> Option<usize> {
    let mut body = Body::default();
    let mut last = begin;
    let mut at = begin;
    // The end of the lines up to here, as long as nothing else came.
    let mut lines = None;
    let mut follows = true;
    while at < begin + REACH && at - last <= GAP {
        match input.at(at) {
            Some(b'-') if input.has(at, b"-----END ") => {
                let Some(end) = end_mark(input, at) else { break };
                let same = input.slice(at + "-----END ".len(), end - "-----".len()) == label;
                if same && body.is_most_of(at - begin, (2, 5)) {
                    return Some(end);
                }
                break;
            }
            Some(b'-') if input.has(at, b"-----BEGIN ") => break,
            Some(byte) if Base64.contains(byte) => {
                let to = base64_end(input, at);
                if to - at >= RUN {
                    follows &= ends_line(input.slice(last, at)) && !is_word(input.sample(at, to));
                    body.add(input, at, to);
                    last = to;
                    if follows && body.is_most_of(to - begin, (3, 4)) {
                        lines = Some(to);
                    }
                } else if lines == Some(last) && at - last <= BETWEEN && input.before(to) == Some(b'=') {
                    // A last line, told by its padding.
                    lines = Some(to);
                }
                at = to;
            }
            Some(_) => at += 1,
            None => break,
        }
    }
    lines
}

/// Whether a line ends in what stands between two runs, really or spelled, and not much else does.
fn ends_line(between: &[u8]) -> bool {
    between.len() <= BETWEEN && between.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'<' | b'%' | b'&'))
}

/// Whether signs are a word: letters that are all small but for the first, or all capitals.
fn is_word(run: &[u8]) -> bool {
    let rest = run.get(1..).unwrap_or_default();
    rest.iter().all(u8::is_ascii_lowercase) || run.iter().all(u8::is_ascii_uppercase)
}

impl Body {
    fn add(&mut self, input: &Input<'_>, from: usize, to: usize) {
        self.signs += to - from;
        for byte in input.sample(from, to) {
            self.capitals += usize::from(byte.is_ascii_uppercase());
            self.small += usize::from(byte.is_ascii_lowercase());
            self.digits += usize::from(byte.is_ascii_digit());
        }
    }

    /// Whether it is a body, and at least such a part of so many bytes.
    fn is_most_of(&self, bytes: usize, (part, of): (usize, usize)) -> bool {
        let mixed = self.capitals >= 4 && self.small >= 4 && self.digits >= 2;
        mixed && self.signs >= LEAST && self.signs * of >= bytes * part
    }
}
