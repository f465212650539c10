//! Values as Python shows them: roam-code puts them into its messages.

use crate::canonical::{Form, Kind, Value};

/// Longest text that is shown, in characters: the longest word of the vocabularies has 23.
const SHOWN: usize = 24;

/// A value as Python's `repr` shows it, save that only what could be a word or a small number is repeated. A message may
/// not carry a secret that stands where a word belongs.
pub(super) fn repr(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "None".to_owned(),
        Kind::Bool if value.as_bool() == Some(true) => "True".to_owned(),
        Kind::Bool => "False".to_owned(),
        Kind::Integer | Kind::Float => {
            let mut number = String::new();
            value.write(Form::Receipt, &mut number);
            if number.len() > 8 { "a long number".to_owned() } else { number }
        }
        Kind::String => repr_text(&value.as_str().unwrap_or_default()),
        Kind::Array => "a list".to_owned(),
        Kind::Object => "an object".to_owned(),
    }
}

/// A text in quotes if it could be a word; else only how long it is.
pub(super) fn repr_text(text: &str) -> String {
    let word = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b' ');
    if text.len() <= SHOWN && text.bytes().all(word) {
        format!("'{text}'")
    } else {
        format!("a text of {} characters", text.chars().count())
    }
}
