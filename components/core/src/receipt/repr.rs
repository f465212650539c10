//! Values as Python shows them: roam-code puts them into its messages.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::canonical::{Form, Kind, Value};

/// Longest text that is shown. Longer than any word of the vocabularies, too short for most credentials.
const SHOWN: usize = 32;

/// A value as Python's `repr` shows it. Texts of more than 32 characters are named by their length only, containers by
/// their kind.
pub(super) fn repr(value: Value<'_>) -> String {
    match value.as_str() {
        Some(text) => repr_text(&text),
        None => plain(value),
    }
}

/// A text as Python's `repr` shows it, if it is short enough to be shown.
pub(super) fn repr_text(text: &str) -> String {
    let characters = text.chars().count();
    if characters > SHOWN {
        format!("a text of {characters} characters")
    } else {
        quoted(text)
    }
}

/// Anything but a text.
fn plain(value: Value<'_>) -> String {
    let shown: Cow<'_, str> = match value.kind() {
        Kind::Null => "None".into(),
        Kind::Bool if value.as_bool() == Some(true) => "True".into(),
        Kind::Bool => "False".into(),
        Kind::Integer | Kind::Float => {
            let mut number = String::new();
            value.write(Form::Receipt, &mut number);
            number.into()
        }
        Kind::String => "a text".into(),
        Kind::Array => "a list".into(),
        Kind::Object => "an object".into(),
    };
    if shown.len() > SHOWN {
        "a long number".to_owned()
    } else {
        shown.into_owned()
    }
}

/// Quoted as Python does: in `'`, or in `"` if there is a `'` and no `"` in it. Python leaves printable characters
/// outside ASCII as they are; here all are escaped, which needs no table of what is printable.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for character in text.chars() {
        // Writing to a string does not fail.
        let _ = match (character, character as u32) {
            ('\n', _) => out.write_str("\\n"),
            ('\r', _) => out.write_str("\\r"),
            ('\t', _) => out.write_str("\\t"),
            ('\\', _) => out.write_str("\\\\"),
            (_, 0x20..0x7f) if character == quote => write!(out, "\\{character}"),
            (_, 0x20..0x7f) => out.write_char(character),
            (_, code @ ..=0xff) => write!(out, "\\x{code:02x}"),
            (_, code @ ..=0xffff) => write!(out, "\\u{code:04x}"),
            (_, code) => write!(out, "\\U{code:08x}"),
        };
    }
    out.push(quote);
    out
}
