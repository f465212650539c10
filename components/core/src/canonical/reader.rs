//! A strict JSON tokeniser over borrowed text.
//!
//! [`Reader`] checks the whole grammar and gives one [`Token`] at a time with its place in the text, so a caller can copy
//! the text through and change only the strings it wants to change. It allocates nothing and takes time linear in the
//! text.
//!
//! Values that are grammatical for Python but that the canonical forms cannot carry (`NaN`, lone surrogates, …) do not
//! stop the reader at once: it reads on and reports the first of them at the end, so that a text with both faults is
//! reported as no JSON. Whatever was made of the tokens before is to be thrown away then.

mod scan;

use crate::Error;

pub use scan::Text;

/// Objects and arrays that may be open at the same time.
pub const MAX_DEPTH: usize = 512;

/// Digits an integer may have, as in Python.
pub const MAX_INTEGER_DIGITS: usize = 4300;

/// One token. Offsets count bytes from the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `{` at this offset.
    ObjectStart(usize),
    /// `}` at this offset.
    ObjectEnd(usize),
    /// `[` at this offset.
    ArrayStart(usize),
    /// `]` at this offset.
    ArrayEnd(usize),
    /// The key of a member; its `:` is read too. The next tokens are its value.
    Key(Text),
    /// A string that is a value.
    String(Text),
    /// A number without fraction and exponent, from … to (exclusive).
    Integer(usize, usize),
    /// A number with fraction or exponent, from … to (exclusive).
    Float(usize, usize),
    /// `true` or `false` at this offset.
    Bool(bool, usize),
    /// `null` at this offset.
    Null(usize),
}

/// A value that JSON text can spell but the canonical forms cannot carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsupported {
    what: &'static str,
    at: usize,
}

impl Unsupported {
    pub(crate) fn error(self) -> Error {
        Error::UnsupportedValue(format!("{} at byte {}", self.what, self.at))
    }
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrArrayEnd,
    Key,
    KeyOrObjectEnd,
    CommaOrEnd,
    End,
}

/// The tokeniser.
///
/// ```
/// use counterfoil_core::canonical::reader::{Reader, Token};
///
/// let json = r#"{"a": ["b\n"]}"#;
/// let mut reader = Reader::new(json);
/// let mut strings = Vec::new();
/// while let Some(token) = reader.next_token()? {
///     if let Token::Key(text) | Token::String(text) = token {
///         strings.push(text.raw(json));
///     }
/// }
/// assert_eq!(strings, ["a", r"b\n"]);
/// # Ok::<(), counterfoil_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    expect: Expect,
    depth: usize,
    // One bit a level: set for an object.
    objects: [u64; MAX_DEPTH / 64],
    unsupported: Option<Unsupported>,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0, expect: Expect::Value, depth: 0, objects: [0; MAX_DEPTH / 64], unsupported: None }
    }

    /// The text that is read.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// Objects and arrays that are open after the last token.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The next token; none after the one value that a JSON text is.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidJson`] where the text leaves the grammar, [`Error::UnsupportedValue`] at once for too deep nesting
    /// and at the end for any other value that the canonical forms cannot carry. After an error the reader is of no use.
    pub fn next_token(&mut self) -> Result<Option<Token>, Error> {
        match self.advance()? {
            None => match self.unsupported {
                Some(unsupported) => Err(unsupported.error()),
                None => Ok(None),
            },
            token => Ok(token),
        }
    }

    /// The first value that the canonical forms cannot carry, so far.
    pub(crate) const fn unsupported(&self) -> Option<Unsupported> {
        self.unsupported
    }

    /// `next_token` without the report at the end.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<Option<Token>, Error> {
        let mut byte = self.skip_blanks();
        if self.expect == Expect::CommaOrEnd {
            match (byte, self.in_object()) {
                (Some(b','), in_object) => {
                    self.at += 1;
                    self.expect = if in_object { Expect::Key } else { Expect::Value };
                    byte = self.skip_blanks();
                }
                (Some(b'}'), true) => return Ok(Some(self.close(Token::ObjectEnd))),
                (Some(b']'), false) => return Ok(Some(self.close(Token::ArrayEnd))),
                (_, true) => return Err(self.invalid("expected `,` or `}`")),
                (_, false) => return Err(self.invalid("expected `,` or `]`")),
            }
        }
        match (self.expect, byte) {
            (Expect::End, None) => Ok(None),
            (Expect::End, Some(_)) => Err(self.invalid("expected the end of the text")),
            (Expect::KeyOrObjectEnd, Some(b'}')) => Ok(Some(self.close(Token::ObjectEnd))),
            (Expect::ValueOrArrayEnd, Some(b']')) => Ok(Some(self.close(Token::ArrayEnd))),
            (Expect::Key | Expect::KeyOrObjectEnd, Some(b'"')) => self.key().map(Some),
            (Expect::Key | Expect::KeyOrObjectEnd, _) => Err(self.invalid("expected a key in `\"`")),
            (_, Some(byte)) => self.value(byte).map(Some),
            (_, None) => Err(self.invalid("expected a value")),
        }
    }

    #[inline]
    fn key(&mut self) -> Result<Token, Error> {
        let text = self.string()?;
        if self.skip_blanks() != Some(b':') {
            return Err(self.invalid("expected `:`"));
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Token::Key(text))
    }

    #[inline]
    fn value(&mut self, byte: u8) -> Result<Token, Error> {
        let start = self.at;
        let token = match byte {
            b'"' => Token::String(self.string()?),
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word("true", Token::Bool(true, start))?,
            b'f' => self.word("false", Token::Bool(false, start))?,
            b'n' => self.word("null", Token::Null(start))?,
            b'N' => self.python_word("NaN", "`NaN`")?,
            b'I' => self.python_word("Infinity", "`Infinity`")?,
            _ => return Err(self.invalid("expected a value")),
        };
        self.after_value();
        Ok(token)
    }

    fn after_value(&mut self) {
        self.expect = if self.depth == 0 { Expect::End } else { Expect::CommaOrEnd };
    }

    fn open(&mut self, object: bool) -> Result<Token, Error> {
        let start = self.at;
        let bit = 1_u64 << (self.depth % 64);
        let Some(level) = self.objects.get_mut(self.depth / 64) else {
            return Err(Unsupported { what: "more than 512 levels of nesting", at: start }.error());
        };
        if object {
            *level |= bit;
        } else {
            *level &= !bit;
        }
        self.depth += 1;
        self.at += 1;
        self.expect = if object { Expect::KeyOrObjectEnd } else { Expect::ValueOrArrayEnd };
        Ok(if object { Token::ObjectStart(start) } else { Token::ArrayStart(start) })
    }

    fn close(&mut self, token: fn(usize) -> Token) -> Token {
        let at = self.at;
        self.at += 1;
        self.depth = self.depth.saturating_sub(1);
        self.after_value();
        token(at)
    }

    fn in_object(&self) -> bool {
        let level = self.depth.saturating_sub(1);
        self.objects.get(level / 64).is_some_and(|bits| bits & (1 << (level % 64)) != 0)
    }

    fn word(&mut self, word: &str, token: Token) -> Result<Token, Error> {
        let end = self.at + word.len();
        if self.text.as_bytes().get(self.at..end) != Some(word.as_bytes()) {
            return Err(self.invalid("expected a value"));
        }
        self.at = end;
        Ok(token)
    }

    /// `NaN` and `Infinity`, which Python reads as floats.
    fn python_word(&mut self, word: &str, what: &'static str) -> Result<Token, Error> {
        let start = self.at;
        let token = self.word(word, Token::Float(start, start + word.len()))?;
        self.note(what, start);
        Ok(token)
    }

    fn note(&mut self, what: &'static str, at: usize) {
        self.unsupported.get_or_insert(Unsupported { what, at });
    }

    #[inline]
    fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    fn invalid(&self, what: &str) -> Error {
        Error::InvalidJson(format!("not JSON: {what} at byte {}", self.at))
    }
}
