//! Masks into JSON text, in place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Redacted;
use super::decoded::{self, Places};
use super::detectors;
use super::engine::{self, Find};
use super::mask::Mask;
use super::text::Counts;
use super::values::Values;
use crate::Error;
use crate::canonical::escape;
use crate::canonical::reader::{Reader, Text, Token};
use crate::configuration::Configuration;
use crate::markers;

/// A search over JSON text that a caller reads token by token anyway: give it every token, then ask for what came of it.
pub(crate) struct Pass<'j> {
    json: &'j str,
    mask: &'j Mask,
    markers: markers::Counts,
    /// Strings seen so far.
    strings: usize,
    /// The strings with secrets, by number.
    found: Vec<(usize, Text, Vec<Find>)>,
    block: Block,
}

/// A private key whose lines are strings of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Closed,
    /// The last string began one.
    Begun,
    /// The last string was a line of one.
    Inside,
}

impl<'j> Pass<'j> {
    /// A pass over a text. The tokens are those of a [`Reader`] over the same text.
    pub(crate) fn new(json: &'j str, configuration: &'j Configuration) -> Self {
        Self {
            json,
            mask: configuration.mask(),
            markers: markers::Counts::default(),
            strings: 0,
            found: Vec::new(),
            block: Block::Closed,
        }
    }

    /// Take the next token.
    pub(crate) fn token(&mut self, token: Token) {
        if let Token::Key(text) | Token::String(text) = token {
            let value = decoded::value(text, self.json);
            self.markers.scan(&value);
            let mut finds = engine::finds(value.as_bytes(), self.mask);
            if self.block != Block::Closed && detectors::pem::is_body_line(&value, self.block == Block::Begun) {
                self.block = Block::Inside;
                finds = engine::whole(&value, "pem_private_key");
            } else if matches!(token, Token::String(_)) && detectors::pem::opens_block(&value) {
                self.block = Block::Begun;
            } else {
                self.block = Block::Closed;
            }
            if !finds.is_empty() {
                self.found.push((self.strings, text, finds));
            }
            self.strings += 1;
        } else {
            self.block = Block::Closed;
        }
    }

    /// The outcome, after the last token. Reads the text a second time only when something was found.
    ///
    /// # Errors
    ///
    /// Those of the [`Reader`]; none when it has read this text before.
    pub(crate) fn finish(self) -> Result<Redacted, Error> {
        let markers = self.markers.into_hits();
        if self.found.is_empty() {
            return Ok(Redacted { output: None, secrets: Vec::new(), markers });
        }
        let mut counts = Counts::default();
        let edits = Edits::collect(self.json, self.mask, self.found)?;
        let output = edits.apply(self.json, self.mask, &mut counts);
        Ok(Redacted { output: Some(output), secrets: counts.into_hits(), markers })
    }
}

/// Mask secrets in JSON text.
pub(super) fn redact(json: &str, configuration: &Configuration) -> Result<Redacted, Error> {
    let mut pass = Pass::new(json, configuration);
    let mut reader = Reader::new(json);
    while let Some(token) = reader.next_token()? {
        pass.token(token);
    }
    pass.finish()
}

/// A mask in place of the bytes from … to of the JSON text.
struct Edit {
    from: usize,
    to: usize,
    id: &'static str,
    /// The number in the mask; 1 is not written.
    count: usize,
}

/// All masks of a text, in order.
struct Edits(Vec<Edit>);

/// An open object or array: what its keys become.
#[derive(Default)]
struct Level<'j> {
    plain: Vec<Cow<'j, str>>,
    masked: Vec<MaskedKey>,
}

struct MaskedKey {
    /// What stands before the last mask, and behind it.
    before: String,
    after: String,
    /// Place of that mask among the edits.
    edit: usize,
}

impl Edits {
    fn collect(json: &str, mask: &Mask, found: Vec<(usize, Text, Vec<Find>)>) -> Result<Self, Error> {
        let values = found.iter().flat_map(|(_, text, finds)| {
            let value = decoded::value(*text, json);
            super::text::values(&value, finds).collect::<Vec<_>>()
        });
        let values = Values::new(values.collect());
        let mut edits = Self(Vec::new());
        let mut levels: Vec<Level<'_>> = Vec::new();
        let mut found = found.into_iter().peekable();
        let mut strings = 0;
        let mut reader = Reader::new(json);
        while let Some(token) = reader.next_token()? {
            let (text, key) = match token {
                Token::Key(text) => (text, true),
                Token::String(text) => (text, false),
                Token::ObjectStart(_) => {
                    levels.push(Level::default());
                    continue;
                }
                Token::ObjectEnd(_) => {
                    if let Some(level) = levels.pop() {
                        edits.keep_apart(level, mask);
                    }
                    continue;
                }
                _ => continue,
            };
            let value = decoded::value(text, json);
            let mut finds = match found.next_if(|(number, ..)| *number == strings) {
                Some((.., finds)) => finds,
                None => Vec::new(),
            };
            strings += 1;
            if let Some(values) = &values {
                values.find_in(&value, 0, &mut finds);
                engine::resolve(value.as_bytes(), mask, &mut finds);
            }
            let level = levels.last_mut().filter(|_| key);
            if finds.is_empty() {
                if let Some(level) = level {
                    level.plain.push(value);
                }
                continue;
            }
            edits.mask(json, text, &finds);
            if let Some(level) = level {
                level.masked.push(masked_key(&value, &finds, mask, edits.0.len() - 1));
            }
        }
        Ok(edits)
    }

    /// Masks for the finds in one string.
    fn mask(&mut self, json: &str, text: Text, finds: &[Find]) {
        if !text.escaped {
            self.0.extend(finds.iter().map(|find| Edit {
                from: text.start + find.start,
                to: text.start + find.end,
                id: find.id,
                count: 1,
            }));
            return;
        }
        let mut places = Places::new(text, json);
        for find in finds {
            let (from, to) = (places.of(find.start), places.of(find.end));
            self.0.push(Edit { from, to, id: find.id, count: 1 });
        }
    }

    /// Number the masks of keys that became the same.
    fn keep_apart(&mut self, level: Level<'_>, mask: &Mask) {
        if level.masked.is_empty() {
            return;
        }
        let mut used: BTreeSet<Cow<'_, str>> = level.plain.into_iter().collect();
        let mut next: BTreeMap<String, usize> = BTreeMap::new();
        for key in level.masked {
            let Some(edit) = self.0.get_mut(key.edit) else { continue };
            let name = |count| {
                let mut name = key.before.clone();
                mask.write(edit.id, count, &mut name);
                name.push_str(&key.after);
                name
            };
            let count = next.entry(name(1)).or_insert(1);
            while !used.insert(Cow::Owned(name(*count))) {
                *count += 1;
            }
            edit.count = *count;
        }
    }

    /// The text with the masks in place.
    fn apply(self, json: &str, mask: &Mask, counts: &mut Counts) -> String {
        let mut out = String::with_capacity(json.len());
        let mut done = 0;
        let mut written = String::new();
        let mut quoted = String::new();
        for edit in self.0 {
            out.push_str(json.get(done..edit.from).unwrap_or_default());
            written.clear();
            quoted.clear();
            mask.write(edit.id, edit.count, &mut written);
            escape(&written, false, &mut quoted);
            out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
            counts.add(edit.id);
            done = edit.to;
        }
        out.push_str(json.get(done..).unwrap_or_default());
        out
    }
}

fn masked_key(value: &str, finds: &[Find], mask: &Mask, edit: usize) -> MaskedKey {
    let mut before = String::new();
    let Some((last, others)) = finds.split_last() else {
        return MaskedKey { before, after: value.to_owned(), edit };
    };
    super::text::write(value.get(..last.start).unwrap_or_default(), others, mask, &mut before);
    MaskedKey { before, after: value.get(last.end..).unwrap_or_default().to_owned(), edit }
}
