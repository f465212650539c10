//! The receipts that a ledger links, and the verdict on them.

use std::collections::BTreeMap;

use super::lines::{Event, lines};
use super::verify::{ChainVerdict, json, show, verify_chain};
use crate::Error;
use crate::canonical::{Kind, sha256_hex};
use crate::vocabulary::{ChainState, ReceiptIntegrity};

/// A link to a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptLink {
    /// Position among the events, from 1.
    pub position: u64,
    /// `tool_call` of the event; none when it is no text.
    pub tool_call: Option<String>,
    /// `receipt_hash` of the event.
    pub receipt_hash: String,
}

/// A receipt's file as the host found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptFile<'a> {
    /// The `tool_call` that the ledger names.
    pub tool_call: &'a str,
    /// Its bytes; none when it is not there or cannot be read.
    pub content: Option<&'a [u8]>,
}

/// roam-code's verdict on a chain and the receipts it links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullVerdict {
    /// The verdict on the chain, changed where a receipt was tampered with.
    pub chain: ChainVerdict,
    /// The verdict on the receipts.
    pub receipt_integrity: ReceiptIntegrity,
    /// `seq` of the first event whose receipt is missing, as JSON text.
    pub first_missing_receipt_at_seq: Option<String>,
}

/// The receipts that a ledger links, in order: of each event whose `action` is `mcp_receipt` and whose `receipt_hash` is
/// a text that is not empty.
///
/// # Errors
///
/// None today; lines that cannot be read link nothing.
pub fn receipt_links(events: &[u8]) -> Result<Vec<ReceiptLink>, Error> {
    Ok(links(events).map(|(link, _)| link).collect())
}

/// `seq` of an event.
struct Seq {
    /// As JSON text; none when it is absent.
    json: Option<String>,
    shown: String,
    /// Whether it is a whole number, by Python's reckoning: `true` is one, `3.0` is none.
    whole: bool,
}

fn links(events: &[u8]) -> impl Iterator<Item = (ReceiptLink, Seq)> {
    lines(events).filter_map(|line| line.event()).zip(1..).filter_map(|(event, position)| link(&event, position))
}

fn link(event: &Event<'_>, position: u64) -> Option<(ReceiptLink, Seq)> {
    if event.text("action")? != "mcp_receipt" {
        return None;
    }
    let receipt_hash = event.text("receipt_hash")?.into_owned();
    let tool_call = event.text("tool_call").map(|text| text.into_owned());
    let seq = event.get("seq");
    let seq = Seq {
        json: seq.map(json),
        shown: seq.map_or_else(|| "None".to_owned(), show),
        whole: seq.is_some_and(|seq| matches!(seq.kind(), Kind::Integer | Kind::Bool)),
    };
    (!receipt_hash.is_empty()).then_some((ReceiptLink { position, tool_call, receipt_hash }, seq))
}

/// Verify a chain and the receipts that it links as roam-code's library does.
///
/// A link whose `tool_call` is not among `files` counts as one whose file is not there. A file is right when the SHA-256
/// of its bytes without the line feeds at its end is the one that the event names.
///
/// # Errors
///
/// [`Error::InvalidKey`] when the key is not 32 bytes.
pub fn verify_with_receipts(key: &[u8], events: &[u8], files: &[ReceiptFile<'_>]) -> Result<FullVerdict, Error> {
    let mut verdict = FullVerdict {
        chain: verify_chain(key, events)?,
        receipt_integrity: ReceiptIntegrity::NotLinked,
        first_missing_receipt_at_seq: None,
    };
    if verdict.chain.state == ChainState::Tampered {
        return Ok(verdict);
    }
    let hashes: BTreeMap<&str, String> =
        files.iter().filter_map(|file| Some((file.tool_call, content_hash(file.content?)))).collect();
    for (link, seq) in links(events) {
        if verdict.receipt_integrity == ReceiptIntegrity::NotLinked {
            verdict.receipt_integrity = ReceiptIntegrity::Ok;
        }
        let Some(tool_call) = &link.tool_call else {
            continue;
        };
        match hashes.get(tool_call.as_str()) {
            Some(hash) if *hash == link.receipt_hash => {}
            Some(_) => {
                verdict.tampered(tool_call, seq);
                return Ok(verdict);
            }
            None if seq.whole && verdict.first_missing_receipt_at_seq.is_none() => {
                verdict.receipt_integrity = ReceiptIntegrity::Missing;
                verdict.first_missing_receipt_at_seq = seq.json;
            }
            None => {}
        }
    }
    if verdict.receipt_integrity == ReceiptIntegrity::Missing {
        verdict.chain.partial_success = true;
    }
    Ok(verdict)
}

impl FullVerdict {
    /// A receipt that differs outweighs any that is missing.
    fn tampered(&mut self, tool_call: &str, seq: Seq) {
        self.receipt_integrity = ReceiptIntegrity::Tampered;
        self.first_missing_receipt_at_seq = None;
        self.chain.state = ChainState::Tampered;
        self.chain.partial_success = false;
        self.chain.details = format!(
            "mcp_receipt sha256 mismatch at seq={}: on-disk receipt for tool_call={tool_call} was modified after signing",
            seq.shown
        );
        if seq.whole {
            self.chain.first_tamper_at_seq = seq.json;
        }
    }
}

/// SHA-256 of a receipt file's canonical text: without the line feeds at its end.
fn content_hash(content: &[u8]) -> String {
    let end = content.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    sha256_hex(content.get(..end).unwrap_or_default())
}
