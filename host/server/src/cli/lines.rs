//! JSON lines in, JSON lines out.

use std::io::{self, BufRead, Write};

use anyhow::Context;
use serde_json::value::RawValue;

use super::status::of_output;

/// Longest line that a filter takes unless told otherwise, in bytes without the line end.
pub const DEFAULT_LINE_LIMIT: usize = 32 * 1024 * 1024;

/// Why a line gets an error instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What kind of error, for machines.
    pub code: String,
    /// The error in words, without a piece of the input.
    pub message: String,
    /// The JSON text of the line's `id`, where one was read.
    pub id: Option<String>,
}

impl Complaint {
    /// A complaint about a line whose `id` is not known.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), id: None }
    }

    /// The same complaint for the line with this `id`, given as JSON text.
    pub fn for_id(mut self, id: Option<&RawValue>) -> Self {
        self.id = id.map(|id| id.get().to_owned());
        self
    }

    /// The line that is written.
    fn line(&self) -> String {
        let error = serde_json::json!({"code": self.code, "message": self.message});
        match &self.id {
            Some(id) => format!("{{\"id\":{id},\"error\":{error}}}"),
            None => format!("{{\"error\":{error}}}"),
        }
    }
}

/// Complain about text that is not the JSON object a filter takes. Says where, never what stands there.
pub fn not_an_object(error: &serde_json::Error) -> Complaint {
    // The words of a data error can hold pieces of the input, those of the other categories are fixed.
    if error.is_data() {
        return Complaint::new("invalid_argument", "the line is not a JSON object with each member once");
    }
    let what = if error.is_eof() { "ends too early" } else { "is not JSON" };
    Complaint::new("invalid_json", format!("the line {what} at byte {}", error.column()))
}

/// Whether the first sign of a JSON text that is not blank starts an object.
pub fn starts_an_object(line: &str) -> bool {
    line.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{')
}

/// Answer each line of standard input with one line on standard output, flushed at once, until the input ends.
///
/// `answer` gets the line without its line end and gives back one line of JSON without a line end.
pub fn filter(limit: usize, answer: impl FnMut(&str) -> Result<String, Complaint>) -> anyhow::Result<()> {
    let input = io::BufReader::with_capacity(64 * 1024, io::stdin().lock());
    pump(input, io::stdout().lock(), limit, answer)
}

fn pump(
    mut input: impl BufRead,
    mut output: impl Write,
    limit: usize,
    mut answer: impl FnMut(&str) -> Result<String, Complaint>,
) -> anyhow::Result<()> {
    let mut line = Vec::new();
    loop {
        let read = read_line(&mut input, limit, &mut line).context("cannot read standard input")?;
        let result = match read {
            Read::End => return Ok(()),
            Read::TooLong => Err(Complaint::new(
                "line_too_long",
                format!("the line is longer than {limit} bytes; `--max-line` sets the limit"),
            )),
            Read::Line => match std::str::from_utf8(&line) {
                Ok(text) => answer(text),
                Err(error) => Err(Complaint::new(
                    "invalid_utf8",
                    format!("the line is not UTF-8 at byte {}", error.valid_up_to()),
                )),
            },
        };
        let mut text = result.unwrap_or_else(|complaint| complaint.line());
        text.push('\n');
        output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(of_output)?;
        if line.capacity() > 1024 * 1024 {
            line = Vec::new();
        }
    }
}

/// What came of reading a line.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    /// The input has ended.
    End,
    /// A line.
    Line,
    /// A line over the limit; it was passed over up to its end.
    TooLong,
}

/// Read a line without its line end into `line`, holding `limit` bytes at most.
fn read_line(input: &mut impl BufRead, limit: usize, line: &mut Vec<u8>) -> io::Result<Read> {
    line.clear();
    let mut begun = false;
    let mut too_long = false;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            return Ok(match (begun, too_long) {
                (false, _) => Read::End,
                (true, false) => Read::Line,
                (true, true) => Read::TooLong,
            });
        }
        begun = true;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let body = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        if body.len() > limit.saturating_sub(line.len()) {
            too_long = true;
            line.clear();
            line.shrink_to_fit();
        }
        if !too_long {
            line.extend_from_slice(body);
        }
        let used = end.map_or(piece.len(), |end| end.saturating_add(1));
        input.consume(used);
        if end.is_some() {
            return Ok(if too_long { Read::TooLong } else { Read::Line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn echo(input: &[u8], limit: usize, block: usize) -> Vec<String> {
        let mut output = Vec::new();
        let reader = io::BufReader::with_capacity(block, input);
        pump(reader, &mut output, limit, |line| Ok(format!("<{line}>"))).unwrap();
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_last_line_needs_no_line_end_and_a_blank_line_is_a_line() {
        assert_eq!(echo(b"a\n\nb", 10, 3), ["<a>", "<>", "<b>"]);
        assert!(echo(b"", 10, 3).is_empty());
    }

    #[test]
    fn a_line_over_the_limit_is_answered_and_passed_over() {
        let lines = echo(b"12345\n123456\nx\n", 5, 2);
        assert_eq!(lines[0], "<12345>");
        assert!(lines[1].contains("line_too_long"), "{}", lines[1]);
        assert_eq!(lines[2], "<x>");
    }

    #[test]
    fn a_line_that_is_not_utf8_is_answered_and_passed_over() {
        let lines = echo(b"a\xff\nb\n", 5, 2);
        assert!(lines[0].contains("invalid_utf8") && lines[0].contains("byte 1"), "{}", lines[0]);
        assert_eq!(lines[1], "<b>");
    }

    #[test]
    fn a_complaint_never_repeats_the_input() {
        let error = serde_json::from_str::<u8>("\"planted\"").unwrap_err();
        assert!(!not_an_object(&error).message.contains("planted"));
    }

    proptest! {
        #[test]
        fn there_are_as_many_lines_out_as_in(lines in prop::collection::vec("[a-z]{0,12}", 0..20), limit in 1usize..12, block in 1usize..9) {
            let mut input = lines.join("\n");
            if !lines.is_empty() { input.push('\n'); }
            let out = echo(input.as_bytes(), limit, block);
            prop_assert_eq!(out.len(), lines.len());
            for (line, answer) in lines.iter().zip(&out) {
                if line.len() <= limit { prop_assert_eq!(answer, &format!("<{line}>")); } else { prop_assert!(answer.contains("line_too_long")); }
            }
        }
    }
}
