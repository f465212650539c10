//! The journal: what has been promised and may not have been carried out.
//!
//! One line an entry, JSON. A line that a crash cut is no JSON and counts for nothing: it was never promised. Entries need
//! no checksum of their own: the ledger line is signed and holds the receipt's hash, so nobody without the key can have
//! the host carry out an entry that it did not write.

use crate::authority::{AuthorityError, ChainAuthority, Tail};
use crate::events::Link;
use crate::ids::check_tool_call;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The ledger line, without its line end.
    pub line: String,
    /// Signature that the line was signed after; none for the first of a ledger.
    pub previous: Option<String>,
    /// The receipt's canonical text, without the newline that its file ends with.
    pub receipt: String,
    /// Place of the line, from 1.
    pub seq: u64,
    /// Id of the call; the receipt's file name without `.json`.
    pub tool_call: String,
}

impl JournalEntry {
    /// The bytes of the receipt's file.
    pub fn receipt_file(&self) -> Vec<u8> {
        receipt_file(&self.receipt)
    }

    /// Whether the host wrote this entry: its line carries the signature that the key gives, and the receipt its hash.
    pub fn is_authentic(&self, authority: &dyn ChainAuthority, key: &[u8]) -> Result<bool, AuthorityError> {
        let Some(link) = Link::parse(&self.line) else {
            return Ok(false);
        };
        let consistent = check_tool_call(&self.tool_call).is_ok()
            && link.tool_call == self.tool_call
            && link.receipt_hash == hex::encode(Sha256::digest(&self.receipt));
        if !consistent {
            return Ok(false);
        }
        let after =
            Tail { lines: self.seq.saturating_sub(1), signature: self.previous.clone(), complete: true, sound: true };
        let signed = authority.sign(key, &after, std::slice::from_ref(&self.line))?;
        Ok(signed.first().is_some_and(|event| event.line == self.line))
    }
}

/// The bytes of a receipt's file: the canonical text and one newline.
pub fn receipt_file(canonical: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(canonical.len() + 1);
    bytes.extend_from_slice(canonical.as_bytes());
    bytes.push(b'\n');
    bytes
}

/// The journal's lines for entries.
pub fn spell(entries: &[JournalEntry]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut bytes, entry)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The entries in a journal, and how many lines are none.
pub fn parse(bytes: &[u8]) -> (Vec<JournalEntry>, usize) {
    let mut entries = Vec::new();
    let mut broken = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(entry) => entries.push(entry),
            Err(_) => broken += 1,
        }
    }
    (entries, broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(n: u64) -> JournalEntry {
        JournalEntry {
            line: format!("{{\"seq\": {n}}}"),
            previous: (n > 1).then(|| "0".repeat(64)),
            receipt: "{\"extra\":{\"é\":1}}".to_owned(),
            seq: n,
            tool_call: format!("t_{n}"),
        }
    }

    proptest! {
        #[test]
        fn a_journal_cut_anywhere_gives_its_whole_lines(cut in 0_usize..2000) {
            let entries: Vec<_> = (1..=5).map(entry).collect();
            let bytes = spell(&entries).unwrap();
            let cut = cut.min(bytes.len());
            let whole = bytes[..cut].iter().filter(|byte| **byte == b'\n').count();
            let (found, _) = parse(&bytes[..cut]);
            // A cut right before a line end leaves a whole entry without it.
            prop_assert!(found.len() == whole || found.len() == whole + 1);
            prop_assert_eq!(&found[..], &entries[..found.len()]);
        }

        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }
    }
}
