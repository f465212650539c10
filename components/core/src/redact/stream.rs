//! A text that arrives bit by bit.

use std::borrow::Cow;

use super::detectors::pem;
use super::engine::{self, Find, Seen};
use super::input::{Input, LOOK_BACK};
use super::mask::Mask;
use super::sets::Set;
use super::text::{self, Counts};
use super::values::{Value, Values};
use crate::Error;
use crate::configuration::Configuration;
use crate::vocabulary::Hit;

/// Bytes that are held back at most.
const HOLD: usize = 64 * 1024;

/// Values that are looked for again, and the bytes that such a one may have.
const KNOWN: usize = 64;
const LONGEST: usize = 1024;

/// Bytes before a place that are kept when it is out: checks look back so far.
const KEPT: usize = LOOK_BACK + 32;

/// Bytes that are out and are kept a while longer, so that not every piece moves the rest.
const SPARE: usize = 4 * 1024;

/// Bytes that may be held back and still be searched again with every piece that may end what is open.
const PROMPT: usize = 1024;

/// A text that arrives bit by bit.
///
/// What may still become a secret is held back, from its first byte to the end; everything else goes out at once, so a
/// line that is complete goes out with its line end. The last word is held back as long as it may become part of a
/// token, and long lines of base64 as long as the end mark of a private key may follow them: those of the last 32 KiB,
/// as in a whole text. What follows a first line of a private key is held back, up to 16 KiB, while its end mark may
/// come.
///
/// The pieces together are what the whole text would have given, in whatever way it was split. Two things differ. A
/// value that was found is not looked for in what is out already, nor is one longer than 1 KiB, nor more than 64 of
/// them. And a candidate that is still open after 64 KiB is masked, with everything that could belong to it.
#[derive(Debug, Clone)]
pub struct Redactor {
    mask: Mask,
    counts: Counts,
    /// What has come and is not out, behind the last bytes that are.
    buffer: String,
    /// Bytes of the buffer that are out.
    out: usize,
    /// Bytes that the buffer has to have before it is searched again.
    next: usize,
    /// The first bytes of a sign whose others have not come.
    cut: Vec<u8>,
    swallow: Option<Swallow>,
    /// Values that were masked, to be masked again.
    known: Vec<Value>,
    values: Option<Values>,
    finished: bool,
    #[cfg(test)]
    pub(super) searched: usize,
}

/// A secret that is masked already and whose end has not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Swallow {
    Token,
    Block,
}

impl Redactor {
    /// Start a text.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn open(configuration: &Configuration) -> Result<Self, Error> {
        Ok(Self {
            mask: configuration.mask().clone(),
            counts: Counts::default(),
            buffer: String::new(),
            out: 0,
            next: 0,
            cut: Vec::new(),
            swallow: None,
            known: Vec::new(),
            values: None,
            finished: false,
            #[cfg(test)]
            searched: 0,
        })
    }

    /// Take a piece, in any split, and give back what may go out. UTF-8 signs may be cut by a piece's end.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUtf8`] when the bytes cannot be UTF-8 however the text goes on, [`Error::InvalidArgument`] after
    /// the end. What was held back stays held back then.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Error> {
        self.check_open()?;
        if self.cut.is_empty()
            && let Ok(text) = std::str::from_utf8(piece)
        {
            return Ok(self.push_text(text).into_bytes());
        }
        let mut bytes = std::mem::take(&mut self.cut);
        bytes.extend_from_slice(piece);
        let valid = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => {
                self.finished = true;
                return Err(Error::InvalidUtf8("a piece of the text is not UTF-8".to_owned()));
            }
        };
        self.cut = bytes.split_off(valid);
        let text = String::from_utf8(bytes).unwrap_or_default();
        Ok(self.push_text(&text).into_bytes())
    }

    /// End the text and give back the rest. Afterwards `push` is an error.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUtf8`] when the last sign is not complete, [`Error::InvalidArgument`] after the end.
    pub fn finish(&mut self) -> Result<Vec<u8>, Error> {
        self.check_open()?;
        if !self.cut.is_empty() {
            self.finished = true;
            return Err(Error::InvalidUtf8("the text ends inside a sign".to_owned()));
        }
        Ok(self.finish_text().into_bytes())
    }

    /// Secrets masked up to now, by detector, sorted by id.
    #[must_use]
    pub fn secrets(&self) -> Vec<Hit> {
        self.counts.hits()
    }

    fn check_open(&self) -> Result<(), Error> {
        if self.finished {
            return Err(Error::InvalidArgument("the text has ended, open a new redactor for the next".to_owned()));
        }
        Ok(())
    }

    pub(super) fn push_text(&mut self, piece: &str) -> String {
        let mut piece = piece;
        if let Some(swallow) = self.swallow {
            let Some(at) = piece.bytes().position(|byte| !swallow.takes(byte)) else {
                return String::new();
            };
            self.swallow = None;
            // A byte that no token has and that begins a sign, or the first of a longer sign.
            piece = piece.get(at..).unwrap_or_default();
        }
        self.buffer.push_str(piece);
        // A byte that no token has may end what is open. A byte that goes on with it hardly does, and is not looked at
        // each by each.
        let ends = self.buffer.len() - self.out <= PROMPT && piece.bytes().any(|byte| !Swallow::Token.takes(byte));
        if ends || self.buffer.len() >= self.next { self.give(true) } else { String::new() }
    }

    pub(super) fn finish_text(&mut self) -> String {
        self.finished = true;
        self.give(false)
    }

    /// Search what is there and give out what is settled; everything when there is no more to come.
    fn give(&mut self, more: bool) -> String {
        #[cfg(test)]
        {
            self.searched += self.buffer.len() - self.out;
        }
        let bytes = self.buffer.as_bytes();
        let input = Input::piece(bytes, more);
        let mut finds = Vec::new();
        let mut open: Option<(usize, &'static str)> = None;
        engine::search(&input, self.out, |seen| match seen {
            // Of a find that began in what is out, which none should, the rest goes.
            Seen::Find(find) => finds.push(find.clipped(self.out)),
            Seen::Open { start, id } => {
                if open.is_none_or(|(least, _)| start < least) {
                    open = Some((start, id));
                }
            }
        });
        engine::resolve(bytes, &self.mask, &mut finds);
        let mut settled = bytes.len();
        if more {
            settled = open.map_or(settled, |(start, _)| start).min(engine::unfinished(&input));
            settled = settled.min(pem::unfinished(&input));
            settled = self.between(&finds, settled);
        }
        let fresh = self.fresh(&finds, settled);
        if let Some(values) = self.values_with(&fresh) {
            let before = finds.len();
            values.find_in(&self.buffer, self.out, &mut finds);
            if more {
                // One at the end may go on like its value, or like a longer one.
                let last = finds.get(before..).unwrap_or_default().last().filter(|find| find.end == bytes.len());
                let last = last.map_or(bytes.len(), |find| find.start);
                settled = settled.min(last).min(values.unfinished(&self.buffer, self.out));
            }
            engine::resolve(bytes, &self.mask, &mut finds);
            if more {
                settled = self.between(&finds, settled);
            }
        }
        let stuck = open.or_else(|| finds.iter().find(|find| find.end > settled).map(|find| (find.start, find.id)));
        if let Some((start, id)) = stuck
            && bytes.len() - settled > HOLD
        {
            return self.give_up(start.max(self.out), id);
        }
        finds.retain(|find| find.end <= settled);
        self.learn(fresh.into_iter().filter(|(_, end)| *end <= settled).map(|(value, _)| value));
        self.write(&finds, settled)
    }

    /// The last place up to `settled` that is not inside a find, nor between a find and its anchor.
    fn between(&self, finds: &[Find], settled: usize) -> usize {
        let mut settled = settled;
        for find in finds.iter().rev() {
            if find.from < settled && settled < find.end {
                settled = find.from;
            }
        }
        settled = settled.max(self.out);
        while !self.buffer.is_char_boundary(settled) {
            settled -= 1;
        }
        settled
    }

    /// Values that were not found before, and where they end. Each is looked for behind itself, so that it makes no
    /// difference how much of the text came at once.
    fn fresh(&self, finds: &[Find], settled: usize) -> Vec<(Value, usize)> {
        let room = KNOWN - self.known.len();
        let values = finds.iter().filter(|find| find.end <= settled && find.end - find.start <= LONGEST);
        let values = values
            .filter_map(|find| Some((Value::new(self.buffer.get(find.start..find.end)?, *find, find.end)?, find.end)));
        let mut fresh: Vec<(Value, usize)> = Vec::new();
        for (value, end) in values {
            let same = |other: &Value| other.head() == value.head();
            if fresh.len() < room && !self.known.iter().any(same) && !fresh.iter().any(|(other, _)| same(other)) {
                fresh.push((value, end));
            }
        }
        fresh
    }

    /// The search for the values that are known and these.
    fn values_with(&self, fresh: &[(Value, usize)]) -> Option<Cow<'_, Values>> {
        if fresh.is_empty() {
            return self.values.as_ref().map(Cow::Borrowed);
        }
        let values = self.known.iter().chain(fresh.iter().map(|(value, _)| value));
        Values::new(values.cloned().collect()).map(Cow::Owned)
    }

    fn learn(&mut self, values: impl Iterator<Item = Value>) {
        let before = self.known.len();
        self.known.extend(values.map(Value::everywhere));
        if self.known.len() > before {
            self.values = Values::new(self.known.clone());
        }
    }

    /// Copy out up to a place and keep what the next search needs.
    fn write(&mut self, finds: &[Find], settled: usize) -> String {
        let shifted: Vec<_> = finds.iter().map(|find| find.moved(find.start - self.out, find.end - self.out)).collect();
        let mut out = String::new();
        text::write(self.buffer.get(self.out..settled).unwrap_or_default(), &shifted, &self.mask, &mut out);
        finds.iter().for_each(|find| self.counts.add(find.id));
        self.out = settled;
        if settled >= KEPT + SPARE {
            let mut keep = settled - KEPT;
            while !self.buffer.is_char_boundary(keep) {
                keep -= 1;
            }
            self.buffer.drain(..keep);
            self.out = settled - keep;
        }
        // Not after every byte, or a long candidate in small pieces would be walked again and again.
        self.next = self.buffer.len() + (self.buffer.len() - self.out) / 8;
        out
    }

    /// Mask a candidate that grew too long, and all that follows as far as it may belong to it.
    fn give_up(&mut self, start: usize, id: &'static str) -> String {
        let input = Input::piece(self.buffer.as_bytes(), false);
        let mut finds = Vec::new();
        engine::search(&input, self.out, |seen| {
            if let Seen::Find(find) = seen
                && find.start < start
            {
                finds.push(find);
            }
        });
        engine::resolve(self.buffer.as_bytes(), &self.mask, &mut finds);
        let over = finds.last().filter(|find| find.end > start);
        let settled = over.map_or(start, |find| find.start);
        finds.retain(|find| find.end <= settled);
        let mut out = self.write(&finds, settled);
        self.mask.write(id, 1, &mut out);
        self.counts.add(id);
        let swallow = if matches!(id, "pem_private_key" | "pgp_private_key") { Swallow::Block } else { Swallow::Token };
        let rest = self.buffer.split_off(self.out.min(self.buffer.len()));
        self.buffer.clear();
        (self.out, self.next) = (0, 0);
        // What stands before the end of the candidate and is not part of it goes the usual way.
        self.swallow = Some(swallow);
        let head = rest.bytes().position(|byte| !swallow.takes(byte)).unwrap_or(rest.len());
        if head < rest.len() {
            out.push_str(&self.push_text(rest.get(head..).unwrap_or_default()));
        }
        out
    }
}

impl Swallow {
    /// Whether a byte may belong to the secret.
    fn takes(self, byte: u8) -> bool {
        let token = Set::Bearer.contains(byte) || matches!(byte, b'=' | b'%');
        match self {
            Self::Token => token,
            Self::Block => {
                token
                    || matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'"' | b'\'' | b',' | b':' | b';')
                    || matches!(byte, b'<' | b'>' | b'|' | b'#' | b'&' | b'*')
            }
        }
    }
}
