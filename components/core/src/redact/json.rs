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
use crate::canonical::reader::{Text, Token};
use crate::canonical::{Document, Placed, escape};
use crate::configuration::Configuration;
use crate::markers;

/// Mask secrets in JSON text and read it as a document, in one go. A second look at its strings is taken only when
/// something was found.
pub(super) fn read<'j>(json: &'j str, configuration: &Configuration) -> Result<(Redacted, Document<'j>), Error> {
    let mask = configuration.mask();
    let mut pass =
        Pass { json, mask, markers: markers::Counts::default(), strings: 0, found: Vec::new(), block: Block::Closed };
    let document = Document::parse_with(json, |token| pass.token(token))?;
    let markers = pass.markers.into_hits();
    if pass.found.is_empty() {
        return Ok((Redacted { output: None, secrets: Vec::new(), markers }, document));
    }
    let mut counts = Counts::default();
    let output = Edits::collect(&document, mask, pass.found).apply(json, mask, &mut counts);
    Ok((Redacted { output: Some(output), secrets: counts.into_hits(), markers }, document))
}

/// The search over the strings of a JSON text while it is read.
struct Pass<'j, 'm> {
    json: &'j str,
    mask: &'m Mask,
    markers: markers::Counts,
    /// Strings seen so far.
    strings: usize,
    found: Vec<Found<'j>>,
    block: Block,
}

/// A string with secrets.
struct Found<'j> {
    /// How many strings stand before it.
    number: usize,
    value: Cow<'j, str>,
    finds: Vec<Find>,
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

impl Pass<'_, '_> {
    /// Take the next token.
    fn token(&mut self, token: Token) {
        let (Token::Key(text) | Token::String(text)) = token else {
            self.block = Block::Closed;
            return;
        };
        let value = decoded::value(text, self.json);
        let mut watch = markers::Watch::new(&value, &mut self.markers);
        let mut finds = engine::finds(value.as_bytes(), self.mask, |at| watch.place(at));
        if self.block != Block::Closed && detectors::pem::is_body_line(&value, self.block == Block::Begun) {
            self.block = Block::Inside;
            finds = engine::whole(&value, "pem_private_key");
        } else if matches!(token, Token::String(_)) && detectors::pem::opens_block(&value) {
            self.block = Block::Begun;
        } else {
            self.block = Block::Closed;
        }
        if !finds.is_empty() {
            self.found.push(Found { number: self.strings, value, finds });
        }
        self.strings += 1;
    }
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

/// The masked keys of an object.
type MaskedKeys = Vec<(Text, MaskedKey)>;

struct MaskedKey {
    /// What stands before the last mask, and behind it.
    before: String,
    after: String,
    /// Place of that mask among the edits.
    edit: usize,
}

impl Edits {
    fn collect(document: &Document<'_>, mask: &Mask, found: Vec<Found<'_>>) -> Self {
        let json = document.text();
        let values = found.iter().flat_map(|found| super::text::values(&found.value, &found.finds));
        let values = Values::new(values.collect());
        let mut edits = Self(Vec::new());
        let mut masked: BTreeMap<u32, MaskedKeys> = BTreeMap::new();
        let mut found = found.into_iter().peekable();
        for (number, Placed { text, object }) in document.strings().enumerate() {
            let (value, mut finds) = match (found.next_if(|found| found.number == number), &values) {
                (Some(Found { value, finds, .. }), _) => (value, finds),
                (None, Some(values)) if text.end - text.start >= values.least() => {
                    (decoded::value(text, json), Vec::new())
                }
                // Too short for any of the values.
                (None, _) => continue,
            };
            if let Some(values) = &values {
                let before = finds.len();
                values.find_in(&value, 0, &mut finds);
                if finds.len() > before {
                    engine::resolve(value.as_bytes(), mask, &mut finds);
                }
            }
            if finds.is_empty() {
                continue;
            }
            edits.mask(json, text, &finds);
            if let Some(object) = object {
                let key = masked_key(&value, &finds, mask, edits.0.len() - 1);
                masked.entry(object).or_default().push((text, key));
            }
        }
        for (object, masked) in masked {
            edits.keep_apart(document, object, masked, mask);
        }
        edits
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

    /// Number the masks of keys of an object that became the same.
    fn keep_apart(&mut self, document: &Document<'_>, object: u32, masked: MaskedKeys, mask: &Mask) {
        let mut others = masked.iter().map(|(text, _)| text.start).peekable();
        let plain = document.keys(object).filter(|key| others.next_if_eq(&key.start).is_none());
        let mut used: BTreeSet<Cow<'_, str>> = plain.map(|key| decoded::value(key, document.text())).collect();
        let mut next: BTreeMap<String, usize> = BTreeMap::new();
        for (_, key) in masked {
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
