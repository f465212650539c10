//! A JSON text as a flat list of its parts.

mod build;
mod strings;

use std::borrow::Cow;
use std::ops::Range;

use super::reader::{Reader, Token, Unsupported};
use super::write::{Edit, Sink, write_value};
use super::{Form, Style};
use crate::Error;
use build::Builder;
pub(super) use build::Node;
pub(crate) use strings::Placed;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number without fraction and exponent, of any size.
    Integer,
    /// A number with fraction or exponent.
    Float,
    /// A text.
    String,
    /// A list.
    Array,
    /// Members by name.
    Object,
}

/// A JSON text, read once.
///
/// Holds one small record for each value and key, pointing into the text. No recursion anywhere; time linear in the text.
///
/// ```
/// use counterfoil_core::canonical::{Document, Form};
///
/// let document = Document::parse(r#"{"b": [1, 2.50], "a": "\u00e9", "a": null}"#)?;
/// assert!(document.root().get("a").is_some_and(|value| value.is_null()));
/// assert_eq!(document.canonical(Form::Receipt), r#"{"a":null,"b":[1,2.5]}"#);
/// # Ok::<(), counterfoil_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Document<'a> {
    /// Read a text.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidJson`] when the text is not JSON, [`Error::UnsupportedValue`] when the canonical forms cannot
    /// carry it.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        Self::parse_with(text, |_| {})
    }

    /// Read a text that may hold values the canonical forms cannot carry, with the first of them. Such a document may be
    /// looked into, but its canonical forms mean nothing.
    pub(crate) fn survey(text: &'a str) -> Result<(Self, Option<Unsupported>), Error> {
        Self::survey_with(text, |_| {})
    }

    /// [`Document::parse`] that also gives every token to `each`, in order. After an error what was made of them is to be
    /// thrown away.
    pub(crate) fn parse_with(text: &'a str, each: impl FnMut(Token)) -> Result<Self, Error> {
        match Self::survey_with(text, each)? {
            (document, None) => Ok(document),
            (_, Some(unsupported)) => Err(unsupported.error()),
        }
    }

    fn survey_with(text: &'a str, mut each: impl FnMut(Token)) -> Result<(Self, Option<Unsupported>), Error> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::UnsupportedValue("a text of 4 GiB or more".to_owned()));
        }
        // Dense JSON has a part every eight bytes or so; a guess that is too low costs one more copy.
        let mut builder = Builder::with_capacity(text.len() / 12 + 4);
        let mut reader = Reader::new(text);
        while let Some(token) = reader.advance()? {
            builder.take(token);
            each(token);
        }
        Ok((Self { text, nodes: builder.finish() }, reader.unsupported()))
    }

    /// The text that was read.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// The value that the text is.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value { document: self, index: 0 }
    }

    /// The text in a canonical form.
    #[must_use]
    pub fn canonical(&self, form: Form) -> String {
        let mut out = String::with_capacity(self.text.len() + 16);
        self.root().write(form, &mut out);
        out
    }

    /// Write the text, with top-level members left out or put in. An edit of a value that is no object does nothing.
    pub fn write_edited(&self, style: impl Into<Style>, edit: Edit<'_>, out: &mut impl Sink) {
        write_value(self, 0, style.into(), edit, out);
    }

    pub(super) fn node(&self, index: u32) -> Node {
        // Indices come from the nodes themselves; a `null` that covers nothing stands for one that does not.
        self.nodes.get(index as usize).copied().unwrap_or(Node::absent(index))
    }

    /// A string with its quotes.
    pub(super) fn quoted(&self, node: Node) -> &'a str {
        self.text.get((node.start as usize).saturating_sub(1)..node.end as usize + 1).unwrap_or_default()
    }

    pub(super) fn slice(&self, node: Node) -> &'a str {
        self.text.get(node.start as usize..node.end as usize).unwrap_or_default()
    }
}

/// A value in a [`Document`].
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    index: u32,
}

impl<'d> Value<'d> {
    /// What it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Where it stands in the text, with its quotes or brackets.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        let quote = usize::from(node.kind == Kind::String);
        node.start as usize - quote..node.end as usize + quote
    }

    /// The value as it stands in the text, with its quotes or brackets.
    #[must_use]
    pub fn raw(self) -> &'d str {
        self.document.text.get(self.span()).unwrap_or_default()
    }

    /// The text of a string; none for any other kind.
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        let node = self.node();
        (node.kind == Kind::String && !node.lone_surrogate).then(|| node_text(self.document, node))
    }

    /// The truth value; none for any other kind.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// Python's truth of a value: `null`, `false`, zeros and what is empty are false.
    #[must_use]
    pub fn is_truthy(self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Bool => self.raw() == "true",
            Kind::Integer | Kind::Float => self.raw().parse::<f64>().is_ok_and(|number| number != 0.0),
            Kind::String => self.raw().len() > 2,
            Kind::Array | Kind::Object => self.node().next > self.index + 1,
        }
    }

    /// The member of that name, the last one if there are more; none if there is none or this is no object.
    /// Takes time linear in the number of members.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Self> {
        self.members().filter(|(key, _)| key == name).map(|(_, value)| value).last()
    }

    /// The members as they stand in the text, repeated ones too; nothing when this is no object.
    #[must_use]
    pub fn members(self) -> Members<'d> {
        let node = self.node();
        let end = if node.kind == Kind::Object { node.next } else { 0 };
        Members { document: self.document, at: self.index + 1, end }
    }

    /// The elements of an array; nothing when this is none.
    #[must_use]
    pub fn elements(self) -> Elements<'d> {
        let node = self.node();
        let end = if node.kind == Kind::Array { node.next } else { 0 };
        Elements { document: self.document, at: self.index + 1, end }
    }

    /// Write it in a canonical form.
    pub fn write(self, style: impl Into<Style>, out: &mut impl Sink) {
        write_value(self.document, self.index, style.into(), Edit::default(), out);
    }

    fn node(self) -> Node {
        self.document.node(self.index)
    }
}

/// The text of a string or key.
fn node_text<'d>(document: &'d Document<'d>, node: Node) -> Cow<'d, str> {
    let raw = document.slice(node);
    if node.escaped { Cow::Owned(super::Unescaped::new(raw).collect()) } else { Cow::Borrowed(raw) }
}

/// The members of an object, see [`Value::members`].
#[derive(Debug, Clone)]
pub struct Members<'d> {
    document: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Members<'d> {
    type Item = (Cow<'d, str>, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let key = node_text(self.document, self.document.node(self.at));
        let value = Value { document: self.document, index: self.at + 1 };
        self.at = self.document.node(value.index).next;
        Some((key, value))
    }
}

/// The elements of an array, see [`Value::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'d> {
    document: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        if self.at >= self.end {
            return None;
        }
        let value = Value { document: self.document, index: self.at };
        self.at = self.document.node(self.at).next;
        Some(value)
    }
}
