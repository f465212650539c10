//! A secret that was found once is masked wherever it stands.

use aho_corasick::{AhoCorasick, MatchKind};

use super::engine::Find;

/// Bytes that a value needs to be looked for elsewhere: a shorter one is also a word or a number of its own.
const LEAST: usize = 8;

/// Bytes of a value that are looked for; what goes on like the value behind them is masked too.
const HEAD: usize = 64;

/// Secrets that were found, to be found again.
pub(super) struct Values {
    search: AhoCorasick,
    values: Vec<(String, Find)>,
}

impl Values {
    /// From the texts of finds; none when there is nothing to look for.
    pub(super) fn new<'t>(found: impl Iterator<Item = (&'t str, Find)>) -> Option<Self> {
        let mut values: Vec<(String, Find)> = found
            // Blocks are recognised wherever they stand, and their first line is no secret.
            .filter(|(text, find)| text.len() >= LEAST && !matches!(find.id, "pem_private_key" | "pgp_private_key"))
            .map(|(text, find)| (text.to_owned(), find))
            .collect();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        values.dedup_by(|a, b| a.0 == b.0);
        if values.is_empty() {
            return None;
        }
        let heads = values.iter().map(|(text, _)| head(text));
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(heads).ok()?;
        Some(Self { search, values })
    }

    /// Add the places where one of the values stands.
    pub(super) fn find_in(&self, text: &str, finds: &mut Vec<Find>) {
        let bytes = text.as_bytes();
        let mut from = 0;
        for hit in self.search.find_iter(bytes) {
            let Some((value, find)) = self.values.get(hit.pattern().as_usize()) else { continue };
            if hit.start() < from || (value.len() < 16 && !alone(bytes, hit.start(), hit.end())) {
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
