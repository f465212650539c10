//! Strings: out of JSON's escapes and into them.

use super::Sink;

/// The characters of a string's raw content, escapes resolved.
///
/// Takes only what [`super::reader::Reader`] gave as a string. An escaped lone surrogate comes out as U+FFFD.
#[derive(Debug, Clone)]
pub struct Unescaped<'a> {
    rest: std::str::Chars<'a>,
}

impl<'a> Unescaped<'a> {
    /// The characters of `raw`, the text between the quotes.
    #[must_use]
    pub fn new(raw: &'a str) -> Self {
        Self { rest: raw.chars() }
    }

    /// What is left to read, as it stands in the text.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        self.rest.as_str()
    }

    fn unit(&mut self) -> u32 {
        (0..4)
            .fold(0, |value, _| value * 16 + self.rest.next().and_then(|digit| digit.to_digit(16)).unwrap_or_default())
    }

    fn escaped_unit(&mut self) -> char {
        let first = self.unit();
        if let 0xd800..=0xdbff = first {
            let mut ahead = self.clone();
            if ahead.rest.next() == Some('\\') && ahead.rest.next() == Some('u') {
                let second = ahead.unit();
                if let 0xdc00..=0xdfff = second {
                    *self = ahead;
                    let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    return char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Iterator for Unescaped<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        if next != '\\' {
            return Some(next);
        }
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.escaped_unit(),
            same => same,
        })
    }
}

/// Write a text as a JSON string with its quotes. With `ascii`, everything outside U+0020…U+007E is escaped.
pub fn escape(text: &str, ascii: bool, out: &mut impl Sink) {
    out.push("\"");
    let mut rest = text;
    while let Some((run, special)) = next_special(rest, |byte| needs_escape(byte, ascii)) {
        out.push(run);
        let mut chars = special.chars();
        if let Some(character) = chars.next() {
            escape_char(character, ascii, out);
        }
        rest = chars.as_str();
    }
    out.push(rest);
    out.push("\"");
}

/// Write a string anew whose raw content is given.
pub(super) fn respell(raw: &str, ascii: bool, out: &mut impl Sink) {
    let mut rest = raw;
    while let Some((run, special)) = next_special(rest, |byte| byte == b'\\' || (ascii && byte >= 0x7f)) {
        out.push(run);
        let mut chars = Unescaped::new(special);
        if let Some(character) = chars.next() {
            escape_char(character, ascii, out);
        }
        rest = chars.rest();
    }
    out.push(rest);
}

/// The text before the first byte that is special, and the text from it on.
fn next_special(text: &str, special: impl Fn(u8) -> bool) -> Option<(&str, &str)> {
    // A byte below U+0080 and the first byte of a character both begin a character, so the split is at a boundary.
    text.split_at_checked(text.bytes().position(special)?)
}

const fn needs_escape(byte: u8, ascii: bool) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || (ascii && byte >= 0x7f)
}

fn escape_char(character: char, ascii: bool, out: &mut impl Sink) {
    match character {
        '"' => out.push("\\\""),
        '\\' => out.push("\\\\"),
        '\n' => out.push("\\n"),
        '\r' => out.push("\\r"),
        '\t' => out.push("\\t"),
        '\u{8}' => out.push("\\b"),
        '\u{c}' => out.push("\\f"),
        '\0'..='\u{1f}' => unit(character as u32, out),
        ' '..='~' => out.push(character.encode_utf8(&mut [0; 4])),
        _ if ascii => {
            for code in character.encode_utf16(&mut [0; 2]) {
                unit(u32::from(*code), out);
            }
        }
        _ => out.push(character.encode_utf8(&mut [0; 4])),
    }
}

fn unit(code: u32, out: &mut impl Sink) {
    out.push("\\u");
    for shift in [12, 8, 4, 0] {
        let digit = char::from_digit((code >> shift) & 15, 16).unwrap_or('0');
        out.push(digit.encode_utf8(&mut [0; 4]));
    }
}
