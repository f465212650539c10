//! A ledger's text into events.

use std::borrow::Cow;

use crate::canonical::{Document, Value};
use crate::python::is_blank;

/// The lines that are not blank, from either end. LF, CR LF and CR end a line.
pub(super) fn lines(events: &[u8]) -> impl DoubleEndedIterator<Item = Line<'_>> {
    // Between CR and LF lies a blank line, which is passed over.
    events.split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(Line::new)
}

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line<'a> {
    /// Trimmed.
    Text(&'a str),
    /// Not UTF-8.
    Bytes,
}

impl<'a> Line<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Some(Self::Bytes);
        };
        let text = text.trim_matches(is_blank);
        (!text.is_empty()).then_some(Self::Text(text))
    }

    /// The line as an event; none when it is none.
    pub(super) fn event(self) -> Option<Event<'a>> {
        let Self::Text(text) = self else {
            return Some(Event::Opaque);
        };
        match Document::survey(text) {
            Ok((document, problem)) if document.root().is_object() => {
                Some(Event::Object { document, sound: problem.is_none() })
            }
            // Too deep to be read at all, but an object: as far as anybody knows it is one of the chain.
            Err(crate::Error::UnsupportedValue(_)) if text.starts_with('{') => Some(Event::Opaque),
            _ => None,
        }
    }
}

/// An event of a ledger.
pub(super) enum Event<'a> {
    /// An object. Not sound when it holds a value that cannot be signed.
    Object {
        /// The object.
        document: Document<'a>,
        /// Whether it can be signed.
        sound: bool,
    },
    /// Cannot be looked into.
    Opaque,
}

impl Event<'_> {
    /// A member; none when it is absent.
    pub(super) fn get(&self, name: &str) -> Option<Value<'_>> {
        match self {
            Self::Object { document, .. } => document.root().get(name),
            Self::Opaque => None,
        }
    }

    /// A member that is a text.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name)?.as_str()
    }
}
