//! Who computes tails, signatures and verdicts.
//!
//! The records mirror the interface `ledger` of the WIT package. The host gives an implementation over the engine.

use serde::Serialize;
use std::fmt;

/// Why the authority gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityError {
    /// The case, as a word: `invalid_key`, `invalid_event`, `deadline`, …
    pub code: String,
    /// The text for people: lower case, never with a piece of the input.
    pub message: String,
}

impl fmt::Display for AuthorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AuthorityError {}

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Lines that are not blank, whether or not they can be read.
    pub lines: u64,
    /// Signature of the last event that has one, 64 lower-case hex digits; none for a chain that has not begun.
    pub signature: Option<String>,
    /// Whether the last line is complete: the text is empty or ends with a line end.
    pub complete: bool,
    /// Whether the last line that is not blank can be read and is signed, or there is none.
    pub sound: bool,
}

impl Tail {
    /// The tail of a ledger without events.
    #[must_use]
    pub const fn start() -> Self {
        Self { lines: 0, signature: None, complete: true, sound: true }
    }
}

/// An event that was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedEvent {
    /// Its place, from 1.
    pub seq: u64,
    /// Its signature, 64 lower-case hex digits.
    pub signature: String,
    /// The line for `events.jsonl`, without a line end, everything outside ASCII escaped.
    pub line: String,
}

/// Verdict on the chain of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainState {
    /// Every signature matches.
    Ok,
    /// A signature is missing, malformed or wrong.
    Tampered,
    /// No event carries a signature.
    Unsigned,
    /// There are no events. roam-code's verdict says `ok` instead.
    Empty,
}

/// Verdict on the receipts that a ledger links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptIntegrity {
    /// Every linked receipt is there and unchanged.
    Ok,
    /// A linked receipt is not there.
    Missing,
    /// A linked receipt was changed.
    Tampered,
    /// Nothing to check, or (strict verdict) receipts that no event links.
    NotLinked,
}

/// roam-code's verdict on a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerdict {
    /// The state; `Empty` never occurs here, roam-code calls it `Ok`.
    pub state: ChainState,
    /// Events whose signature was verified, or all events of an unsigned chain.
    pub events_verified: u64,
    /// `seq` of the first bad event as it stands there, as JSON text.
    pub first_tamper_at_seq: Option<String>,
    /// Whether the answer covers only a part.
    pub partial_success: bool,
    /// The last signature that matched, or none.
    pub final_signature: Option<String>,
    /// The verdict in words.
    pub details: String,
    /// Lines that are not blank but no event.
    pub unreadable_lines: u64,
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

/// A receipt's file as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptFile {
    /// The `tool_call` that the ledger names.
    pub tool_call: String,
    /// Its bytes; none when it is not there or cannot be read.
    pub content: Option<Vec<u8>>,
}

/// Computes what stands in a ledger and judges what was found in one.
///
/// All arguments named `events` are the bytes of an `events.jsonl`; `key` is the 32 raw bytes of the ledger key.
pub trait ChainAuthority: Send + Sync + 'static {
    /// Where the chain of a ledger ends.
    ///
    /// # Errors
    /// When the text cannot be judged at all.
    fn read_tail(&self, events: &[u8]) -> Result<Tail, AuthorityError>;

    /// Sign events one after the other, given as texts of JSON objects. `seq` and `signature` are set here, whatever
    /// stands there; the same events after the same tail give the same lines.
    ///
    /// # Errors
    /// When an event is no JSON object or cannot be signed.
    fn sign(&self, key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<SignedEvent>, AuthorityError>;

    /// Verify a chain as roam-code does.
    ///
    /// # Errors
    /// When the text cannot be judged at all.
    fn verify_chain(&self, key: &[u8], events: &[u8]) -> Result<ChainVerdict, AuthorityError>;

    /// The receipts that a ledger links, in order.
    ///
    /// # Errors
    /// When the text cannot be judged at all.
    fn receipt_links(&self, events: &[u8]) -> Result<Vec<ReceiptLink>, AuthorityError>;

    /// Verify a chain and the receipts that it links as roam-code's library does.
    ///
    /// # Errors
    /// When the text cannot be judged at all.
    fn verify_with_receipts(
        &self,
        key: &[u8],
        events: &[u8],
        files: &[ReceiptFile],
    ) -> Result<FullVerdict, AuthorityError>;

    /// The line of a ledger (spelling L, without a line end) of a JSON text.
    ///
    /// # Errors
    /// When the text is no JSON that the canonical forms can carry.
    fn canonicalize_line(&self, json: &str) -> Result<String, AuthorityError>;
}
