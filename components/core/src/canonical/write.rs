//! Values into text.

use std::cmp::Ordering;

use sha2::digest::Update;

use super::document::{Document, Kind, Node};
use super::text::{Unescaped, escape, respell};
use super::{Style, float};

/// Where canonical text goes.
pub trait Sink {
    /// Take the next piece.
    fn push(&mut self, piece: &str);
}

impl Sink for String {
    fn push(&mut self, piece: &str) {
        self.push_str(piece);
    }
}

/// A hash or MAC as a [`Sink`]: feeds it in blocks, so that the text never exists as a whole. Call
/// [`DigestSink::finish`] at the end.
#[derive(Debug)]
pub struct DigestSink<'h, H> {
    hash: &'h mut H,
    block: String,
    fed: u64,
}

impl<'h, H: Update> DigestSink<'h, H> {
    const BLOCK: usize = 4096;

    /// A sink into a hash or MAC.
    pub fn new(hash: &'h mut H) -> Self {
        Self { hash, block: String::with_capacity(Self::BLOCK), fed: 0 }
    }

    /// Feed the rest. How many bytes went in.
    pub fn finish(mut self) -> u64 {
        self.feed();
        self.fed
    }

    fn feed(&mut self) {
        self.hash.update(self.block.as_bytes());
        self.fed += self.block.len() as u64;
        self.block.clear();
    }
}

impl<H: Update> Sink for DigestSink<'_, H> {
    fn push(&mut self, piece: &str) {
        if self.block.len() + piece.len() > Self::BLOCK {
            self.feed();
            if piece.len() > Self::BLOCK {
                self.hash.update(piece.as_bytes());
                self.fed += piece.len() as u64;
                return;
            }
        }
        self.block.push_str(piece);
    }
}

/// Changes to the top-level members while writing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Edit<'e> {
    /// Names of members to leave out.
    pub leave_out: &'e [&'e str],
    /// Members to put in, in place of those of the same name: name in U+0020…U+007E without `"` and `\`, and text that
    /// already has the form. No name twice.
    pub put_in: &'e [(&'e str, &'e str)],
}

impl Edit<'_> {
    fn drops(&self, document: &Document<'_>, key: Node) -> bool {
        let names = || self.leave_out.iter().chain(self.put_in.iter().map(|(name, _)| name));
        if key.escaped {
            names().any(|name| Unescaped::new(document.slice(key)).eq(name.chars()))
        } else {
            names().any(|name| document.slice(key) == *name)
        }
    }
}

/// A container that is being written.
enum Frame {
    /// The next element, and the end.
    Array { at: u32, end: u32 },
    /// Members still to write are `entries[at..end]`; all of this object begin at `base`.
    Object { base: usize, at: usize, end: usize },
}

/// A member to write.
#[derive(Clone, Copy)]
enum Entry {
    /// The key with this index.
    Key(u32),
    /// The member of this index in [`Edit::put_in`].
    PutIn(usize),
}

/// Write the value with this index. The edit applies to that value only.
pub(super) fn write_value(
    document: &Document<'_>,
    index: u32,
    style: Style,
    edit: Edit<'_>,
    out: &mut impl Sink,
) {
    let mut writer = Writer { document, edit, entries: Vec::new() };
    let (comma, colon) = if style.spaced { (", ", ": ") } else { (",", ":") };
    let mut frames = Vec::new();
    let mut value = Some(index);
    loop {
        if let Some(index) = value.take() {
            let node = document.node(index);
            match node.kind {
                Kind::Array => {
                    out.push("[");
                    frames.push((true, Frame::Array { at: index + 1, end: node.next }));
                }
                Kind::Object => {
                    out.push("{");
                    let base = writer.entries.len();
                    writer.gather(index, node.next, frames.is_empty());
                    frames.push((true, Frame::Object { base, at: base, end: writer.entries.len() }));
                }
                Kind::String => string(document, node, style, out),
                Kind::Integer if document.slice(node) == "-0" => out.push("0"),
                Kind::Float => float::write(document.slice(node), out),
                Kind::Integer | Kind::Bool | Kind::Null => out.push(document.slice(node)),
            }
        }
        let Some((first, frame)) = frames.last_mut() else { break };
        let separator = if std::mem::take(first) { "" } else { comma };
        match frame {
            Frame::Array { at, end } if *at < *end => {
                out.push(separator);
                value = Some(*at);
                *at = document.node(*at).next;
            }
            Frame::Object { at, end, .. } if *at < *end => {
                out.push(separator);
                match writer.entries.get(*at) {
                    Some(Entry::Key(key)) => {
                        string(document, document.node(*key), style, out);
                        out.push(colon);
                        value = Some(*key + 1);
                    }
                    Some(Entry::PutIn(which)) => {
                        let (name, text) = edit.put_in.get(*which).copied().unwrap_or_default();
                        escape(name, style.ascii, out);
                        out.push(colon);
                        out.push(text);
                    }
                    None => {}
                }
                *at += 1;
            }
            Frame::Array { .. } => {
                out.push("]");
                frames.pop();
            }
            Frame::Object { base, .. } => {
                out.push("}");
                writer.entries.truncate(*base);
                frames.pop();
            }
        }
    }
}

fn string(document: &Document<'_>, node: Node, style: Style, out: &mut impl Sink) {
    let raw = document.slice(node);
    out.push("\"");
    if !node.escaped && (node.printable || !style.ascii) {
        out.push(raw);
    } else {
        respell(raw, style.ascii, out);
    }
    out.push("\"");
}

struct Writer<'w> {
    document: &'w Document<'w>,
    edit: Edit<'w>,
    /// Members of the open objects, innermost last.
    entries: Vec<Entry>,
}

impl Writer<'_> {
    /// Append the members of an object to `entries`, sorted, of equal keys the last one only.
    fn gather(&mut self, object: u32, end: u32, edited: bool) {
        let base = self.entries.len();
        let mut sorted = true;
        let mut at = object + 1;
        while at < end {
            let key = self.document.node(at);
            if !edited || !self.edit.drops(self.document, key) {
                let entry = Entry::Key(at);
                sorted = sorted && self.follows(base, entry);
                self.entries.push(entry);
            }
            at = self.document.node(at + 1).next;
        }
        if edited {
            for which in 0..self.edit.put_in.len() {
                let entry = Entry::PutIn(which);
                sorted = sorted && self.follows(base, entry);
                self.entries.push(entry);
            }
        }
        if sorted {
            return;
        }
        let (document, edit) = (self.document, self.edit);
        let Some(members) = self.entries.get_mut(base..) else { return };
        // Stable: of equal keys the last one in the text stays last.
        members.sort_by(|left, right| compare(document, edit, *left, *right));
        let mut kept = base;
        for index in base..self.entries.len() {
            let Some(entry) = self.entries.get(index).copied() else { break };
            let repeated = self
                .entries
                .get(index + 1)
                .is_some_and(|next| compare(document, edit, entry, *next) == Ordering::Equal);
            if !repeated {
                if let Some(slot) = self.entries.get_mut(kept) {
                    *slot = entry;
                }
                kept += 1;
            }
        }
        self.entries.truncate(kept);
    }

    /// Whether the entry comes after the last one of the object.
    fn follows(&self, base: usize, entry: Entry) -> bool {
        match self.entries.get(base..).and_then(<[Entry]>::last) {
            Some(last) => compare(self.document, self.edit, *last, entry) == Ordering::Less,
            None => true,
        }
    }
}

/// Order of two keys by code point.
fn compare(document: &Document<'_>, edit: Edit<'_>, left: Entry, right: Entry) -> Ordering {
    let resolve = |entry| match entry {
        Entry::Key(index) => {
            let node = document.node(index);
            (document.slice(node), node.escaped)
        }
        Entry::PutIn(which) => (edit.put_in.get(which).copied().unwrap_or_default().0, false),
    };
    match (resolve(left), resolve(right)) {
        // The order of UTF-8 bytes is the order of code points.
        ((left, false), (right, false)) => left.cmp(right),
        ((left, false), (right, true)) => left.chars().cmp(Unescaped::new(right)),
        ((left, true), (right, false)) => Unescaped::new(left).cmp(right.chars()),
        ((left, true), (right, true)) => Unescaped::new(left).cmp(Unescaped::new(right)),
    }
}
