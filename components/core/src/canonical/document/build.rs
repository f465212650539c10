//! Tokens into a flat list.

use super::Kind;
use crate::canonical::reader::{Text, Token};

/// A part of the text: a value or a key. The parts of a container follow it, a key stands before its value.
#[derive(Debug, Clone, Copy)]
pub(in crate::canonical) struct Node {
    pub(in crate::canonical) kind: Kind,
    pub(in crate::canonical) escaped: bool,
    pub(in crate::canonical) printable: bool,
    pub(super) lone_surrogate: bool,
    // Strings: without the quotes.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the part after this one and all that is in it; while a container is open, the container around it.
    pub(in crate::canonical) next: u32,
}

impl Node {
    /// What stands for a part that is not there: a `null` that covers nothing.
    pub(super) const fn absent(index: u32) -> Self {
        Self {
            kind: Kind::Null,
            escaped: false,
            printable: true,
            lone_surrogate: false,
            start: 0,
            end: 0,
            next: index.saturating_add(1),
        }
    }
}

const NONE: u32 = u32::MAX;

/// Makes the list of parts from the tokens.
pub(super) struct Builder {
    nodes: Vec<Node>,
    open: u32,
}

impl Builder {
    pub(super) fn with_capacity(parts: usize) -> Self {
        Self { nodes: Vec::with_capacity(parts), open: NONE }
    }

    /// The parts so far.
    pub(super) fn finish(self) -> Vec<Node> {
        self.nodes
    }

    #[inline]
    pub(super) fn take(&mut self, token: Token) {
        match token {
            Token::ObjectStart(at) => self.start(Kind::Object, at),
            Token::ArrayStart(at) => self.start(Kind::Array, at),
            Token::ObjectEnd(at) | Token::ArrayEnd(at) => self.end(at),
            Token::Key(text) | Token::String(text) => self.string(text),
            Token::Integer(start, end) => self.leaf(Kind::Integer, start, end),
            Token::Float(start, end) => self.leaf(Kind::Float, start, end),
            Token::Bool(value, at) => self.leaf(Kind::Bool, at, at + if value { 4 } else { 5 }),
            Token::Null(at) => self.leaf(Kind::Null, at, at + 4),
        }
    }

    fn start(&mut self, kind: Kind, at: usize) {
        let index = self.len();
        self.leaf(kind, at, at + 1);
        if let Some(node) = self.nodes.last_mut() {
            node.next = self.open;
        }
        self.open = index;
    }

    fn end(&mut self, at: usize) {
        let next = self.len();
        if let Some(node) = self.nodes.get_mut(self.open as usize) {
            self.open = node.next;
            node.next = next;
            node.end = offset(at + 1);
        }
    }

    fn string(&mut self, text: Text) {
        self.leaf(Kind::String, text.start, text.end);
        if let Some(node) = self.nodes.last_mut() {
            node.escaped = text.escaped;
            node.printable = text.printable;
            node.lone_surrogate = text.lone_surrogate;
        }
    }

    #[inline]
    fn leaf(&mut self, kind: Kind, start: usize, end: usize) {
        let next = self.len() + 1;
        self.nodes.push(Node {
            kind,
            escaped: false,
            printable: true,
            lone_surrogate: false,
            start: offset(start),
            end: offset(end),
            next,
        });
    }

    fn len(&self) -> u32 {
        offset(self.nodes.len())
    }
}

/// Offsets and counts fit: the text is shorter than 4 GiB and has no more parts than bytes.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(NONE)
}
