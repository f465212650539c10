//! A secret that was found once is masked wherever it stands.

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::engine::Find;

/// Bytes that a value needs to be looked for elsewhere: a shorter one is also a word or a number of its own.
const LEAST: usize = 8;

/// Bytes of a value that are looked for; what goes on like the value behind them is masked too.
const HEAD: usize = 64;

/// A secret that was found, to be found again.
#[derive(Debug, Clone)]
pub(super) struct Value {
    text: String,
    find: Find,
    /// Where in the text that is searched it may be found again.
    since: usize,
}

impl Value {
    /// The text of a find; none when it is not to be looked for. It is looked for from `since` on.
    pub(super) fn new(text: &str, find: Find, since: usize) -> Option<Self> {
        // Blocks are recognised wherever they stand, and their first line is no secret.
        let block = matches!(find.id, "pem_private_key" | "pgp_private_key");
        (text.len() >= LEAST && !block).then(|| Self { text: text.to_owned(), find, since })
    }

    /// The same, to be looked for everywhere.
    pub(super) fn everywhere(self) -> Self {
        Self { since: 0, ..self }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Secrets that were found, and a search for all of them.
#[derive(Debug, Clone)]
pub(super) struct Values {
    search: AhoCorasick,
    values: Vec<Value>,
}

impl Values {
    /// None when there is nothing to look for.
    pub(super) fn new(mut values: Vec<Value>) -> Option<Self> {
        values.sort_by(|a, b| (&a.text, a.since).cmp(&(&b.text, b.since)));
        values.dedup_by(|a, b| a.text == b.text);
        if values.is_empty() {
            return None;
        }
        let heads = values.iter().map(|value| head(&value.text));
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(heads).ok()?;
        Some(Self { search, values })
    }

    /// Add the places, from `from` on, where one of the values stands.
    pub(super) fn find_in(&self, text: &str, from: usize, finds: &mut Vec<Find>) {
        let bytes = text.as_bytes();
        let mut from = from;
        for hit in self.search.find_iter(Input::new(bytes).span(from..bytes.len())) {
            let Some(Value { text: value, find, since }) = self.values.get(hit.pattern().as_usize()) else { continue };
            if hit.start() < from.max(*since) || (value.len() < 16 && !alone(bytes, hit.start(), hit.end())) {
                continue;
            }
            let value = value.as_bytes().get(hit.len()..).unwrap_or_default();
            let rest = bytes.get(hit.end()..).unwrap_or_default();
            let same = value.iter().zip(rest).take_while(|(a, b)| a == b).count();
            // Nothing of the word it ends in is left behind it, so that no new token begins there.
            let mut end = hit.end() + same;
            let word = |byte: &u8| byte.is_ascii_alphanumeric();
            if end.checked_sub(1).and_then(|last| bytes.get(last)).is_some_and(word) {
                end += bytes.get(end..).unwrap_or_default().iter().take_while(|byte| word(byte)).count();
            }
            while !text.is_char_boundary(end) {
                end += 1;
            }
            finds.push(find.moved(hit.start(), end));
            from = end;
        }
    }
}

fn head(text: &str) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.get(..HEAD).unwrap_or(bytes)
}

fn alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !word(start.checked_sub(1).and_then(|at| bytes.get(at))) && !word(bytes.get(end))
}
