//! The text under search, as the checks of the detectors see it.

use std::cell::Cell;

use super::sets::{SETS, Set};

/// Bytes before a find's anchor that a check may look at.
pub(super) const LOOK_BACK: usize = 96;

/// Signs of one value that are looked at one by one, so that the work for a candidate is bounded.
pub(super) const LOOK_AT: usize = 256;

#[derive(Debug, Clone, Copy)]
struct KnownChain {
    first: usize,
    ends: Option<(usize, Option<usize>)>,
    beyond: bool,
}

/// A text, or as much of it as is there yet.
///
/// A check reads through these functions only. When the text may go on (`more`), a look beyond its end is noted, and the
/// candidate stays open until more is there.
#[derive(Debug)]
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    more: bool,
    beyond: Cell<bool>,
    // For each set the last run that was walked, from … to. Candidates within one run share its end, so a run is walked
    // once however many candidates are in it.
    runs: [Cell<(usize, usize)>; SETS],
    chain: Cell<Option<KnownChain>>,
    #[cfg(test)]
    pub(super) steps: Cell<usize>,
}

impl<'a> Input<'a> {
    /// A whole text.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self::with(bytes, false)
    }

    /// A piece of a text that arrives bit by bit, and whether more is to come.
    pub(super) fn piece(bytes: &'a [u8], more: bool) -> Self {
        Self::with(bytes, more)
    }

    fn with(bytes: &'a [u8], more: bool) -> Self {
        Self {
            bytes,
            more,
            beyond: Cell::new(false),
            runs: [const { Cell::new((0, 0)) }; SETS],
            chain: Cell::new(None),
            #[cfg(test)]
            steps: Cell::new(0),
        }
    }

    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Note that so many bytes were looked at.
    pub(super) fn step(&self, _count: usize) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + _count);
    }

    /// Whether a look went beyond the end of a text that may go on, since the last call.
    pub(super) fn take_beyond(&self) -> bool {
        self.beyond.replace(false)
    }

    fn end(&self) {
        if self.more {
            self.beyond.set(true);
        }
    }

    /// The byte at a place.
    pub(super) fn at(&self, at: usize) -> Option<u8> {
        self.step(1);
        let byte = self.bytes.get(at).copied();
        if byte.is_none() {
            self.end();
        }
        byte
    }

    /// The byte before a place.
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied()
    }

    /// The bytes from … to, as far as they are there.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        let to = to.min(self.bytes.len());
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// At most [`LOOK_AT`] bytes from … to.
    pub(super) fn sample(&self, from: usize, to: usize) -> &'a [u8] {
        let sample = self.slice(from, to.min(from.saturating_add(LOOK_AT)));
        self.step(sample.len());
        sample
    }

    /// Whether `text` stands at a place.
    pub(super) fn has(&self, at: usize, text: &[u8]) -> bool {
        self.compare(at, text, |a, b| a == b)
    }

    /// Whether `text` stands at a place, in any case. `text` is in lower case.
    pub(super) fn has_any_case(&self, at: usize, text: &[u8]) -> bool {
        self.compare(at, text, |a, b| a.to_ascii_lowercase() == b)
    }

    fn compare(&self, at: usize, text: &[u8], same: impl Fn(u8, u8) -> bool) -> bool {
        let there = self.slice(at, at.saturating_add(text.len()));
        self.step(there.len());
        let equal = there.iter().zip(text).all(|(a, b)| same(*a, *b));
        if equal && there.len() < text.len() {
            self.end();
            return false;
        }
        equal
    }

    /// Where the run of signs of a set that begins at `from` ends.
    pub(super) fn run(&self, set: Set, from: usize) -> usize {
        let known = self.runs.get(set as usize);
        if let Some((start, end)) = known.map(Cell::get)
            && (start..end).contains(&from)
        {
            if end == self.bytes.len() {
                self.end();
            }
            return end;
        }
        let end = self.walk(set, from);
        if let Some(known) = known {
            known.set((from, end));
        }
        end
    }

    /// `run` without memory.
    fn walk(&self, set: Set, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| set.contains(**byte)).count();
        self.step(length + 1);
        let end = from + length;
        if end >= self.bytes.len() {
            self.end();
        }
        end
    }

    /// The parts with dots that follow a first part which ends at `first`; none when no second part follows.
    ///
    /// Gives the end of the second part with the dot behind it, and, when there are three or five parts, the end of the
    /// last one.
    pub(super) fn chain(&self, first: usize) -> Option<(usize, Option<usize>)> {
        if let Some(known) = self.chain.get().filter(|known| known.first == first) {
            if known.beyond {
                self.end();
            }
            return known.ends;
        }
        let before = self.take_beyond();
        let ends = self.walk_chain(first);
        let beyond = self.take_beyond();
        self.beyond.set(before || beyond);
        self.chain.set(Some(KnownChain { first, ends, beyond }));
        ends
    }

    fn walk_chain(&self, first: usize) -> Option<(usize, Option<usize>)> {
        let part = |at: usize| match self.at(at) {
            Some(b'.') => Some(self.walk(Set::Word, at + 1)),
            _ => None,
        };
        let second = part(first)?;
        let Some(third) = part(second) else {
            return (second > first + 1).then_some((second, None));
        };
        let last = part(third).and_then(|fourth| part(fourth).filter(|fifth| *fifth > fourth + 1));
        if second == first + 1 {
            // Encrypted directly: no second part, but all five places.
            return last.map(|last| (last, Some(last)));
        }
        if third == second + 1 {
            return Some((third, last));
        }
        Some((third, Some(last.unwrap_or(third))))
    }

    /// Whether a token may begin at a place: the sign before it is not one of a word, or it belongs to an escape
    /// (`\n`, `\u0022`, `%3D`, a colour of the terminal), which stands for another sign.
    pub(super) fn begins(&self, at: usize) -> bool {
        match self.before(at) {
            Some(byte) if byte.is_ascii_alphanumeric() => self.ends_escape(at),
            _ => true,
        }
    }

    /// Where a token may begin at the earliest whose signs stand from … to: behind the escape `\uXXXX` or `\xXX` whose digits
    /// are the first of them.
    pub(super) fn behind_escape(&self, from: usize, to: usize) -> usize {
        let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
        let ends = |end: &usize| match self.slice(end.saturating_sub(6), *end) {
            [b'\\', b'u' | b'U', a, b, c, d] => hex(&[*a, *b, *c, *d]),
            [.., b'\\', b'x', a, b] => hex(&[*a, *b]),
            _ => false,
        };
        (from + 1..to.min(from + 5)).find(ends).unwrap_or(from)
    }

    fn ends_escape(&self, at: usize) -> bool {
        let tail = self.slice(at.saturating_sub(16), at);
        self.step(tail.len());
        let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
        match tail {
            [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0' | b'a' | b'e'] => true,
            [.., b'\\', b'x', high, low] | [.., b'%', high, low] => hex(&[*high, *low]),
            [.., b'\\', b'u' | b'U', a, b, c, d] => hex(&[*a, *b, *c, *d]),
            [.., b'm'] => ends_colour(tail),
            _ => false,
        }
    }
}

/// Whether the text ends in a colour of the terminal: ESC, `[`, digits and `;`, `m`. ESC may be spelled as an escape.
fn ends_colour(tail: &[u8]) -> bool {
    let Some(bracket) = tail.iter().rposition(|byte| *byte == b'[') else {
        return false;
    };
    let (before, code) = tail.split_at_checked(bracket).unwrap_or_default();
    let plain = code.iter().skip(1).all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b'm'));
    let escapes: [&[u8]; 5] = [b"\x1b", b"\\x1b", b"\\u001b", b"\\033", b"\\e"];
    plain && escapes.iter().any(|escape| before.to_ascii_lowercase().ends_with(escape))
}

impl Input<'_> {
    /// The end without the full stops that belong to the sentence around.
    pub(super) fn without_full_stop(&self, from: usize, end: usize) -> usize {
        let stops = self.slice(from, end).iter().rev().take(8).take_while(|byte| **byte == b'.').count();
        end - stops
    }
}
