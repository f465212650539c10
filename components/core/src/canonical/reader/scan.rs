//! Strings and numbers.

use std::borrow::Cow;

use super::{MAX_INTEGER_DIGITS, Reader, Token};
use crate::Error;
use crate::canonical::text::Unescaped;

/// A string in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// Offset of the first byte after the opening `"`.
    pub start: usize,
    /// Offset of the closing `"`.
    pub end: usize,
    /// Whether there is a `\` in it; if not, what stands there is the value.
    pub escaped: bool,
    /// Whether all bytes between the quotes are U+0020…U+007E.
    pub printable: bool,
    /// Whether an escaped lone surrogate is in it. The reader reports such a text at the end.
    pub lone_surrogate: bool,
}

impl Text {
    /// What stands between the quotes. `source` is the text that was read.
    #[must_use]
    pub fn raw(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }

    /// The value. `source` is the text that was read; a lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn value(self, source: &str) -> Cow<'_, str> {
        let raw = self.raw(source);
        if self.escaped { Cow::Owned(Unescaped::new(raw).collect()) } else { Cow::Borrowed(raw) }
    }
}

impl Reader<'_> {
    /// A string; the reader stands at its opening `"`.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text, Error> {
        let opening = self.at;
        self.at += 1;
        let mut text = Text { start: self.at, end: self.at, escaped: false, printable: true, lone_surrogate: false };
        loop {
            text.printable &= self.skip_plain_words();
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    text.escaped = true;
                    text.lone_surrogate |= self.escape()?;
                }
                Some(0..=0x1f) => {
                    return Err(self.invalid("a control character in a string must be escaped,"));
                }
                Some(byte) => {
                    text.printable &= *byte < 0x7f;
                    self.at += 1;
                }
                None => {
                    self.at = opening;
                    return Err(self.invalid("a string without end begins"));
                }
            }
        }
        text.end = self.at;
        self.at += 1;
        Ok(text)
    }

    /// Skip eight bytes at a time while none of them ends a run. Whether all that was skipped is printable ASCII.
    fn skip_plain_words(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut odd = 0;
        while let Some(chunk) = bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            let word = u64::from_le_bytes(*chunk);
            if below_blank(word) | equal(word, b'"') | equal(word, b'\\') != 0 {
                break;
            }
            odd |= (word & HIGH_BITS) | equal(word, 0x7f);
            self.at += 8;
        }
        odd == 0
    }

    /// An escape; the reader stands at its `\`. Whether it is a lone surrogate.
    fn escape(&mut self) -> Result<bool, Error> {
        let start = self.at;
        match self.text.as_bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                return Ok(false);
            }
            Some(b'u') => {}
            _ => return Err(self.invalid("unknown escape")),
        }
        let unit = self.unit()?;
        let lone = match unit {
            0xd800..=0xdbff if self.text.as_bytes().get(self.at..self.at + 2) == Some(b"\\u") => {
                !(0xdc00..=0xdfff).contains(&self.unit()?)
            }
            0xd800..=0xdfff => true,
            _ => false,
        };
        if lone {
            self.note("a lone surrogate", start);
        }
        Ok(lone)
    }

    /// `\uXXXX`.
    fn unit(&mut self) -> Result<u32, Error> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6).unwrap_or_default();
        let value = digits.iter().try_fold(0, |value, byte| Some(value * 16 + char::from(*byte).to_digit(16)?));
        match (digits.len(), value) {
            (4, Some(value)) => {
                self.at += 6;
                Ok(value)
            }
            _ => Err(self.invalid("expected four hex digits in the escape")),
        }
    }

    /// A number; the reader stands at its `-` or first digit.
    pub(super) fn number(&mut self) -> Result<Token, Error> {
        let start = self.at;
        if self.take(b'-') && self.text.as_bytes().get(self.at) == Some(&b'I') {
            self.word("Infinity", Token::Null(start))?;
            self.note("`-Infinity`", start);
            return Ok(Token::Float(start, self.at));
        }
        let integer = if self.take(b'0') { 1 } else { self.digits("expected a digit")? };
        let mut float = false;
        let mut exponent = false;
        if self.take(b'.') {
            float = true;
            self.digits("expected a digit after `.`")?;
        }
        if matches!(self.text.as_bytes().get(self.at), Some(b'e' | b'E')) {
            float = true;
            exponent = true;
            self.at += 1;
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits("expected a digit in the exponent")?;
        }
        if !float {
            if integer > MAX_INTEGER_DIGITS {
                self.note("an integer of more than 4300 digits", start);
            }
            return Ok(Token::Integer(start, self.at));
        }
        // Without exponent the greatest double has 309 digits before the point.
        if exponent || integer > 308 {
            let number = self.text.get(start..self.at).unwrap_or_default();
            if !number.parse::<f64>().is_ok_and(f64::is_finite) {
                self.note("a number beyond the range of a double", start);
            }
        }
        Ok(Token::Float(start, self.at))
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    /// One or more digits; how many.
    fn digits(&mut self, missing: &str) -> Result<usize, Error> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.invalid(missing));
        }
        self.at += count;
        Ok(count)
    }
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Not zero if and only if some byte of the word equals `byte`.
const fn equal(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ (LOW_BITS * byte as u64);
    zero_where_equal.wrapping_sub(LOW_BITS) & !zero_where_equal & HIGH_BITS
}

/// Not zero if and only if some byte of the word is below U+0020.
const fn below_blank(word: u64) -> u64 {
    word.wrapping_sub(LOW_BITS * 0x20) & !word & HIGH_BITS
}
