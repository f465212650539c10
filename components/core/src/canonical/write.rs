//! Values into text.

use std::cmp::Ordering;
use std::ops::Range;

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
    #[inline]
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
    #[inline]
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
    fn drops(&self, key: &Member<'_>) -> bool {
        let mut names = self.leave_out.iter().chain(self.put_in.iter().map(|(name, _)| name));
        names.any(|name| key.compare(&Member { raw: name, escaped: false, content: Content::PutIn("") }).is_eq())
    }
}

/// A container that is being written.
enum Frame {
    /// The next element, and the end.
    Array { at: u32, end: u32 },
    /// Members still to write are `members[at..end]`; all of this object begin at `base`.
    Object { base: usize, at: usize, end: usize },
}

/// A member of an object that is being written.
#[derive(Clone, Copy)]
struct Member<'w> {
    /// The key, between its quotes.
    raw: &'w str,
    escaped: bool,
    content: Content<'w>,
}

#[derive(Clone, Copy)]
enum Content<'w> {
    /// The value after the key with this index.
    After(u32),
    /// A text of [`Edit::put_in`].
    PutIn(&'w str),
}

impl Member<'_> {
    /// Order of the keys by code point.
    fn compare(&self, other: &Member<'_>) -> Ordering {
        match (self.escaped, other.escaped) {
            // The order of UTF-8 bytes is the order of code points.
            (false, false) => self.raw.cmp(other.raw),
            (false, true) => self.raw.chars().cmp(Unescaped::new(other.raw)),
            (true, false) => Unescaped::new(self.raw).cmp(other.raw.chars()),
            (true, true) => Unescaped::new(self.raw).cmp(Unescaped::new(other.raw)),
        }
    }
}

/// Write the value with this index. The edit applies to that value only.
pub(super) fn write_value(document: &Document<'_>, index: u32, style: Style, edit: Edit<'_>, out: &mut impl Sink) {
    // Members of the open objects, innermost last.
    let mut members: Vec<Member<'_>> = Vec::with_capacity(16);
    let mut frames = Vec::with_capacity(8);
    let (comma, colon) = if style.spaced { (", ", ": ") } else { (",", ":") };
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
                    let base = members.len();
                    let edit = if frames.is_empty() { edit } else { Edit::default() };
                    gather(document, index + 1..node.next, edit, &mut members);
                    frames.push((true, Frame::Object { base, at: base, end: members.len() }));
                }
                Kind::String => string(document, node, style, out),
                Kind::Integer if document.slice(node) == "-0" => out.push("0"),
                Kind::Float => float::write(document.slice(node), out),
                Kind::Integer | Kind::Bool | Kind::Null => out.push(document.slice(node)),
            }
        }
        let Some((first, frame)) = frames.last_mut() else {
            break;
        };
        let separator = if std::mem::take(first) { "" } else { comma };
        match frame {
            Frame::Array { at, end } if *at < *end => {
                out.push(separator);
                value = Some(*at);
                *at = document.node(*at).next;
            }
            Frame::Object { at, end, .. } if *at < *end => {
                out.push(separator);
                match members.get(*at) {
                    Some(Member { content: Content::After(key), .. }) => {
                        string(document, document.node(*key), style, out);
                        out.push(colon);
                        value = Some(*key + 1);
                    }
                    Some(Member { raw, content: Content::PutIn(text), .. }) => {
                        escape(raw, style.ascii, out);
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
                members.truncate(*base);
                frames.pop();
            }
        }
    }
}

fn string(document: &Document<'_>, node: Node, style: Style, out: &mut impl Sink) {
    if !node.escaped && (node.printable || !style.ascii) {
        out.push(document.quoted(node));
    } else {
        out.push("\"");
        respell(document.slice(node), style.ascii, out);
        out.push("\"");
    }
}

/// Append the members of an object, whose parts are given, sorted, of equal keys the last one only.
fn gather<'w>(document: &Document<'w>, parts: Range<u32>, edit: Edit<'w>, members: &mut Vec<Member<'w>>) {
    let base = members.len();
    let mut sorted = true;
    let mut push = |member: Member<'w>| {
        let last = members.get(base..).and_then(<[Member<'_>]>::last);
        sorted = sorted && last.is_none_or(|last| last.compare(&member).is_lt());
        members.push(member);
    };
    let mut at = parts.start;
    while at < parts.end {
        let key = document.node(at);
        let member = Member { raw: document.slice(key), escaped: key.escaped, content: Content::After(at) };
        if !edit.drops(&member) {
            push(member);
        }
        at = document.node(at + 1).next;
    }
    for (name, text) in edit.put_in {
        push(Member { raw: name, escaped: false, content: Content::PutIn(text) });
    }
    if sorted {
        return;
    }
    // Stable: of equal keys the last one in the text stays last.
    members.get_mut(base..).unwrap_or_default().sort_by(Member::compare);
    let mut kept = base;
    for index in base..members.len() {
        let Some(member) = members.get(index).copied() else {
            break;
        };
        if members.get(index + 1).is_some_and(|next| member.compare(next).is_eq()) {
            continue;
        }
        if let Some(slot) = members.get_mut(kept) {
            *slot = member;
        }
        kept += 1;
    }
    members.truncate(kept);
}
