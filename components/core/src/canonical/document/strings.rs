//! The strings and keys of a document in the order of the text.

use super::build::Node;
use super::{Document, Kind};
use crate::canonical::reader::Text;

/// A string or key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    /// What stands there.
    pub(crate) text: Text,
    /// Of a key, the object that it belongs to.
    pub(crate) object: Option<u32>,
}

/// The strings and keys of a document, see [`Document::strings`].
#[derive(Debug, Clone)]
pub(crate) struct Strings<'d> {
    document: &'d Document<'d>,
    at: u32,
    /// The containers around the place, innermost last.
    open: Vec<Open>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    index: u32,
    /// The first part behind it.
    end: u32,
    object: bool,
    /// Whether a key comes next.
    key: bool,
}

impl Document<'_> {
    /// The strings and keys in the order of the text.
    pub(crate) fn strings(&self) -> Strings<'_> {
        Strings { document: self, at: 0, open: Vec::new() }
    }

    /// The keys of an object, repeated ones too.
    pub(crate) fn keys(&self, object: u32) -> impl Iterator<Item = Text> {
        let node = self.node(object);
        let end = if node.kind == Kind::Object { node.next } else { 0 };
        let mut at = object + 1;
        std::iter::from_fn(move || {
            let key = (at < end).then(|| self.node(at))?;
            at = self.node(at + 1).next;
            Some(key.string())
        })
    }
}

impl Node {
    fn string(self) -> Text {
        Text {
            start: self.start as usize,
            end: self.end as usize,
            escaped: self.escaped,
            printable: self.printable,
            lone_surrogate: self.lone_surrogate,
        }
    }
}

impl Iterator for Strings<'_> {
    type Item = Placed;

    fn next(&mut self) -> Option<Placed> {
        loop {
            let node = self.document.nodes.get(self.at as usize)?;
            let index = self.at;
            self.at += 1;
            while self.open.last().is_some_and(|open| index >= open.end) {
                self.open.pop();
            }
            let object = match self.open.last_mut() {
                Some(open) if open.object => {
                    let key = open.key;
                    open.key = !key;
                    key.then_some(open.index)
                }
                _ => None,
            };
            match node.kind {
                Kind::String => return Some(Placed { text: node.string(), object }),
                Kind::Object | Kind::Array => {
                    self.open.push(Open { index, end: node.next, object: node.kind == Kind::Object, key: true });
                }
                Kind::Null | Kind::Bool | Kind::Integer | Kind::Float => {}
            }
        }
    }
}
