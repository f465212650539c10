//! `redact`: text and JSON of any length.

use std::io::{self, Read, Write};

use anyhow::Context;
use counterfoil_engine::{Engine, Redactor, Refusal};
use serde::de::IgnoredAny;

use super::Format;
use super::account::Account;
use crate::cli::status::of_output;

/// Bytes read at once.
const BLOCK: usize = 64 * 1024;

/// Most bytes that are held while they may still become a JSON document. Endless input that only looks like one is
/// cleaned as text from then on.
const DOCUMENT_LIMIT: usize = 64 * 1024 * 1024;

/// Clean `input` into `output`. What arrived is written before more is waited for, but for what may still become a secret.
pub fn run(engine: &Engine, format: Format, mut input: impl Read, output: impl Write) -> anyhow::Result<Account> {
    let mut cleaner = Cleaner {
        engine,
        output,
        account: Account::default(),
        state: State::Text(None),
        pending: Vec::new(),
        cut: Vec::new(),
        spare: None,
        depth: Depth::default(),
    };
    cleaner.state = match format {
        Format::Text => State::Text(None),
        Format::Json => State::Whole,
        Format::Auto => State::Open { checked: 0 },
    };
    let mut block = vec![0; BLOCK];
    loop {
        let read = match input.read(&mut block) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context("cannot read the input"),
        };
        if read == 0 {
            cleaner.finish()?;
            return Ok(cleaner.account);
        }
        cleaner.take(block.get(..read).unwrap_or_default(), read < BLOCK)?;
    }
}

/// What the input was found to be.
enum State {
    /// Text, once begun with its redactor.
    Text(Option<Redactor>),
    /// A JSON document, by the user's word.
    Whole,
    /// Not decided: JSON as long as it reads as JSON. `checked` bytes were found to be the beginning of a value.
    Open { checked: usize },
}

/// What the bytes at hand are.
enum Shape {
    /// A JSON value of this length; another may follow.
    Value(usize),
    /// The beginning of a JSON value, or nothing but blanks.
    Beginning,
    /// Something else.
    NotJson,
}

struct Cleaner<'a, W> {
    engine: &'a Engine,
    output: W,
    account: Account,
    state: State,
    pending: Vec<u8>,
    /// The first bytes of a sign whose others have not arrived; three at most.
    cut: Vec<u8>,
    /// A redactor that has ended its text and can begin another.
    spare: Option<Redactor>,
    depth: Depth,
}

impl<W: Write> Cleaner<'_, W> {
    /// Take a piece. `paused` says that no more is at hand for now.
    fn take(&mut self, piece: &[u8], paused: bool) -> anyhow::Result<()> {
        match &mut self.state {
            State::Text(_) => self.text(piece)?,
            State::Whole => {
                self.pending.extend_from_slice(piece);
                anyhow::ensure!(
                    self.pending.len() <= DOCUMENT_LIMIT,
                    "the document is longer than {DOCUMENT_LIMIT} bytes; `--format text` takes input of any length"
                );
            }
            State::Open { checked } => {
                // Each look reads from the start. Looking when twice as much is at hand, or where a value may have ended,
                // keeps it linear; a pause of short input may be somebody who waits for it.
                let due = self.pending.len().saturating_add(piece.len()) >= checked.saturating_mul(2).max(1);
                let closed = self.depth.advance(piece);
                self.pending.extend_from_slice(piece);
                if due || closed || (paused && self.pending.len() <= BLOCK) {
                    self.look(false)?;
                }
            }
        }
        self.output.flush().map_err(of_output)
    }

    /// Clean what is at hand as far as its shape is known.
    fn look(&mut self, ended: bool) -> anyhow::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        loop {
            match shape(rest, ended) {
                Shape::Value(length) => {
                    let (value, next) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                    match self.json(value) {
                        Ok(()) => rest = next,
                        // What policy does not take as JSON, such as half a surrogate pair, is cleaned as text.
                        Err(error) if error.downcast_ref::<Refusal>().is_some() => return self.turn_to_text(rest),
                        Err(error) => return Err(error),
                    }
                }
                Shape::Beginning if !ended && rest.len() <= DOCUMENT_LIMIT => {
                    self.state = State::Open { checked: rest.len() };
                    if rest.len() < pending.len() {
                        self.depth = Depth::default();
                        self.depth.advance(rest);
                    }
                    self.pending = if rest.len() < pending.len() { rest.to_vec() } else { pending };
                    return Ok(());
                }
                Shape::Beginning | Shape::NotJson => return self.turn_to_text(rest),
            }
        }
    }

    /// From here on the input is text.
    fn turn_to_text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        self.state = State::Text(None);
        text.chunks(BLOCK).try_for_each(|piece| self.text(piece))
    }

    /// Clean a piece of text. Bytes that are no UTF-8 are no text: they part what is before from what is after, and go
    /// through as they are, for a filter must lose nothing.
    fn text(&mut self, piece: &[u8]) -> anyhow::Result<()> {
        let joined;
        let mut rest = piece;
        if !self.cut.is_empty() {
            joined = [std::mem::take(&mut self.cut).as_slice(), piece].concat();
            rest = &joined;
        }
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(text) => return self.clean(text),
                Err(error) => error,
            };
            let (text, after) = rest.split_at_checked(error.valid_up_to()).unwrap_or((rest, &[]));
            // Cannot fail: that much was found to be text.
            self.clean(std::str::from_utf8(text)?)?;
            let Some(length) = error.error_len() else {
                self.cut = after.to_vec();
                return Ok(());
            };
            let (other, next) = after.split_at_checked(length).unwrap_or((after, &[]));
            self.pass(other)?;
            rest = next;
        }
    }

    /// End the text before bytes that are no text, and let them through.
    fn pass(&mut self, other: &[u8]) -> anyhow::Result<()> {
        self.end_text()?;
        self.account.add_not_utf8(other.len());
        self.output.write_all(other).map_err(of_output)
    }

    fn clean(&mut self, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let redactor = match &mut self.state {
            State::Text(Some(redactor)) => redactor,
            state => {
                let redactor = match self.spare.take() {
                    Some(redactor) => redactor,
                    None => self.engine.redactor()?,
                };
                *state = State::Text(Some(redactor));
                match state {
                    State::Text(Some(redactor)) => redactor,
                    _ => anyhow::bail!("the input is not text"),
                }
            }
        };
        let out = redactor.push(text.as_bytes()).context("cannot clean the text")?;
        self.output.write_all(&out).map_err(of_output)
    }

    fn json(&mut self, value: &[u8]) -> anyhow::Result<()> {
        let found = self.engine.redact_json_bytes(value).context("cannot clean the document")?;
        self.account.add_secrets(&found.secrets);
        self.account.add_markers(&found.markers);
        self.output.write_all(found.output.as_deref().unwrap_or(value)).map_err(of_output)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        match self.state {
            State::Whole => {
                let value = std::mem::take(&mut self.pending);
                self.json(&value)?;
            }
            State::Open { .. } => self.look(true)?,
            State::Text(_) => {}
        }
        self.end_text()?;
        let cut = std::mem::take(&mut self.cut);
        if !cut.is_empty() {
            self.pass(&cut)?;
        }
        self.output.flush().map_err(of_output)
    }

    /// Let out what the redactor holds back, and let it go.
    fn end_text(&mut self) -> anyhow::Result<()> {
        if let State::Text(Some(mut redactor)) = std::mem::replace(&mut self.state, State::Text(None)) {
            let out = redactor.finish().context("cannot clean the text")?;
            self.account.add_secrets(&redactor.secrets().context("cannot count what was masked")?);
            self.output.write_all(&out).map_err(of_output)?;
            // Input that is not text at all ends one every few bytes: beginning anew is cheaper than another instance.
            redactor.restart().context("cannot clean the text")?;
            self.spare = Some(redactor);
        }
        Ok(())
    }
}

/// How deep the end of the bytes at hand lies in brackets, if they are JSON.
#[derive(Default)]
struct Depth {
    open: usize,
    in_string: bool,
    escaped: bool,
}

impl Depth {
    /// Go over the next bytes. Says whether a value may have ended in them.
    fn advance(&mut self, piece: &[u8]) -> bool {
        let mut closed = self.open == 0;
        for byte in piece {
            if self.in_string {
                self.in_string = self.escaped || *byte != b'"';
                self.escaped = !self.escaped && *byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.open = self.open.saturating_add(1),
                b'}' | b']' => {
                    self.open = self.open.saturating_sub(1);
                    closed |= self.open == 0;
                }
                _ => {}
            }
        }
        closed
    }
}

/// What the bytes are. A value is followed by a line end, or by the end of the input: `1` may still become `12`, and
/// `[1]: note` is text. The value's length takes in the blanks before it and the line end.
fn shape(bytes: &[u8], ended: bool) -> Shape {
    let start = blanks(bytes);
    match bytes.get(start) {
        None if ended || start > BLOCK => return Shape::NotJson,
        None => return Shape::Beginning,
        Some(b'{' | b'[') => {}
        // A bare word or number is as well a word of a text, and its cleaning is the same.
        Some(_) => return Shape::NotJson,
    }
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {
            let end = values.byte_offset();
            let rest = bytes.get(end..).unwrap_or_default();
            let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
            match rest.get(blanks) {
                Some(b'\n') => Shape::Value(end.saturating_add(blanks).saturating_add(1)),
                None if ended => Shape::Value(bytes.len()),
                None if blanks <= BLOCK => Shape::Beginning,
                _ => Shape::NotJson,
            }
        }
        Some(Err(error)) if error.is_eof() => Shape::Beginning,
        _ => Shape::NotJson,
    }
}

/// How many bytes at the start are blanks of JSON.
fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        let mut depth = Depth::default();
        assert!(depth.advance(b"{"));
        assert!(!depth.advance(br#""a}\"}]": [1"#));
        assert!(!depth.advance(b"]"));
        assert!(depth.advance(b"}"));
    }

    fn name(bytes: &[u8], ended: bool) -> String {
        match shape(bytes, ended) {
            Shape::Value(length) => format!("value {length}"),
            Shape::Beginning => "beginning".to_owned(),
            Shape::NotJson => "not json".to_owned(),
        }
    }

    #[test]
    fn a_value_ends_with_its_line_or_with_the_input() {
        assert_eq!(name(b"{\"a\": 1}\n{", false), "value 9");
        assert_eq!(name(b"{\"a\":\n 1}", false), "beginning");
        assert_eq!(name(b"{\"a\": 1}", false), "beginning");
        assert_eq!(name(b"{\"a\": 1}", true), "value 8");
    }

    #[test]
    fn log_lines_that_start_like_json_are_text() {
        assert_eq!(name(b"[INFO] started", false), "not json");
        assert_eq!(name(b"[2026-01-01] started", false), "not json");
        assert_eq!(name(b"{} is empty\n", false), "not json");
        assert_eq!(name(b"words", false), "not json");
        assert_eq!(name(b"\n\n", false), "beginning");
        // Half a value is one that may still be completed; at the input's end it is taken as text.
        assert_eq!(name(b"{\"a\": ", true), "beginning");
    }
}
