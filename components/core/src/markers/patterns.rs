//! The matchers, one function a pattern.
//!
//! A pattern's matches do not overlap, as in Python's `finditer`: each matcher has the place where its last match ended.
//! A candidate walks at most five runs of white space, and no run is walked by more than the few candidates right before
//! it, so the whole is linear.

use super::Marker;
use crate::python::{is_blank, is_word, same_letter};

/// The first three bytes of a match, one of each, but for the match at the start of the text. `\xc4` begins `İ` and `ı`,
/// which stand for `i`; `\xc5` begins `ſ`, which stands for `s`.
pub(crate) const BEGINNINGS: [[&[u8]; 3]; 16] = [
    [b"<", b"<", b"/sS\xc5"],
    [b"<", b"|", b"iI\xc4eEsS\xc5uUaA"],
    [b"<", b"/", b"tTfF"],
    [b"<", b"tT", b"oO"],
    [b"<", b"fF", b"uU"],
    [b"[", b"/", b"iI\xc4"],
    [b"[", b"iI", b"nN"],
    [b"[", b"\xc4", b"\xb0\xb1"],
    [b"\n", b" \t", b" \tsS\xc5aA"],
    [b"\n", b"sS", b"yY"],
    [b"\n", b"\xc5", b"\xbf"],
    [b"\n", b"aA", b"sS\xc5"],
    [b"iI", b"gG", b"nN"],
    [b"\xc4", b"\xb0\xb1", b"gG"],
    [b"dD", b"iI\xc4", b"sS\xc5\xb0\xb1"],
    [b"fF", b"oO", b"rR"],
];

/// Whether a match may begin with these three bytes.
pub(super) fn may_begin(window: &[u8]) -> bool {
    window.first().is_some_and(|first| b"<[\niI\xc4dDfF".contains(first))
        && BEGINNINGS.iter().any(|row| row.iter().zip(window).all(|(bytes, byte)| bytes.contains(byte)))
}

/// A text on its way through the matchers.
#[derive(Debug)]
pub(super) struct Scan<'t> {
    text: &'t str,
    /// Where the last phrase ended; the next one may not begin before.
    phrase_end: usize,
}

impl<'t> Scan<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, phrase_end: 0 }
    }

    /// The mark that begins at a place.
    pub(super) fn mark_at(&mut self, start: usize) -> Option<Marker> {
        // A byte inside a character (the second of `İ`) is no place to begin.
        let here = self.text.get(start..)?;
        match here.as_bytes().first()? {
            b'\n' => turn_header(here.get(1..)?).then_some(Marker::SpoofedTurnHeader),
            b'<' if control_token(here) => Some(Marker::ChatTemplateControlToken),
            b'<' => tool_tag(here).then_some(Marker::ToolResultSpoof),
            b'[' => bracket_token(here).then_some(Marker::ChatTemplateControlToken),
            b'i' | b'I' | b'd' | b'D' | b'f' | b'F' | 0xc4
                if start >= self.phrase_end && begins_word(self.text, start) =>
            {
                self.phrase_end = self.text.len() - override_phrase(here)?.len();
                Some(Marker::IgnorePreviousInstructions)
            }
            _ => None,
        }
    }
}

/// `(ignore|disregard|forget) [all] [the] (previous|…) (instructions|…)`. What is left behind it.
fn override_phrase(text: &str) -> Option<&str> {
    let rest = any_word(text, &["ignore", "disregard", "forget"])?;
    let mut rest = blanks(rest)?;
    for filler in ["all", "the"] {
        if let Some(after) = word(rest, filler).and_then(blanks) {
            rest = after;
        }
    }
    let rest = blanks(any_word(rest, &["previous", "prior", "above", "earlier"])?)?;
    for (object, plural) in [("instruction", true), ("prompt", true), ("message", true), ("context", false)] {
        if let Some(after) = word(rest, object) {
            let after = if plural { word(after, "s").unwrap_or(after) } else { after };
            return (!after.chars().next().is_some_and(is_word)).then_some(after);
        }
    }
    None
}

/// `<|im_start|>` and its kin, `<<SYS>>`, `<</SYS>>`.
fn control_token(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix("<|") {
        let names = ["im_start", "im_end", "endoftext", "system", "user", "assistant"];
        return any_word(rest, &names).is_some_and(|rest| rest.starts_with("|>"));
    }
    let Some(rest) = text.strip_prefix("<<") else { return false };
    word(rest.strip_prefix('/').unwrap_or(rest), "sys").is_some_and(|rest| rest.starts_with(">>"))
}

/// `[INST]`, `[/INST]`.
fn bracket_token(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    word(rest.strip_prefix('/').unwrap_or(rest), "inst").is_some_and(|rest| rest.starts_with(']'))
}

/// `<tool_result>`, `</function_calls>` and their kin.
fn tool_tag(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('<') else { return false };
    let names = ["tool_result", "function_results", "function_calls"];
    any_word(rest.strip_prefix('/').unwrap_or(rest), &names).is_some_and(|rest| rest.starts_with('>'))
}

/// At the start of a line: `system:` or `assistant:` and something on the same line.
pub(super) fn turn_header(line: &str) -> bool {
    let inline = |text: &'_ str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let Some(rest) = line.get(inline(line)..) else { return false };
    let Some(rest) = any_word(rest, &["system", "assistant"]) else { return false };
    let Some(rest) = rest.get(inline(rest)..).and_then(|rest| rest.strip_prefix(':')) else { return false };
    rest.trim_start_matches([' ', '\t']).chars().next().is_some_and(|character| !is_blank(character))
}

/// Whether a word may begin here: no sign of a word stands before.
fn begins_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    !before.is_some_and(is_word)
}

/// What is left behind one of these words.
fn any_word<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().find_map(|candidate| word(text, candidate))
}

/// What is left behind this word, case ignored. `expected` is in lower case.
fn word<'t>(text: &'t str, expected: &str) -> Option<&'t str> {
    let mut characters = text.chars();
    for letter in expected.chars() {
        if !same_letter(characters.next()?, letter) {
            return None;
        }
    }
    Some(characters.as_str())
}

/// What is left behind one or more blanks.
fn blanks(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_blank);
    (rest.len() < text.len()).then_some(rest)
}
