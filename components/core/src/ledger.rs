//! The HMAC-chained ledger of a run, signed and judged as roam-code does.
//!
//! A ledger is a text of one JSON object a line. Each signature covers the signature before it and the event, so a line
//! cannot be changed, moved or taken out of the middle without breaking the chain from there on.
//!
//! # Where the answer is clearer than roam-code's
//!
//! roam-code ends with an exception, or signs and accepts, where an event holds what JSON or UTF-8 cannot carry: invalid
//! UTF-8, lone surrogates, `NaN` and `Infinity`, integers of more than 4300 digits, very deep nesting, a signature that
//! is no ASCII text. Such an event cannot be verified here. It is not passed over either: in a chain with signatures it
//! is `tampered` at that event.

mod lines;
mod links;
mod sign;
mod verify;

use hmac::{Hmac, KeyInit as _};
use sha2::Sha256;

use crate::Error;

pub use links::{FullVerdict, ReceiptFile, ReceiptLink, receipt_links, verify_with_receipts};
pub use sign::{SignedEvent, Tail, read_tail, sign};
pub use verify::{ChainVerdict, verify_chain};

/// Bytes of the key.
pub const KEY_LENGTH: usize = 32;

/// What stands for the signature before the first event: 64 zeros.
const SEED: &str = "0000000000000000000000000000000000000000000000000000000000000000";

type Signer = Hmac<Sha256>;

/// The MAC under this key, before any input.
fn signer(key: &[u8]) -> Result<Signer, Error> {
    match Signer::new_from_slice(key) {
        Ok(signer) if key.len() == KEY_LENGTH => Ok(signer),
        _ => Err(Error::InvalidKey(format!("the ledger key must be {KEY_LENGTH} bytes, not {}", key.len()))),
    }
}

/// The 32 bytes of a signature; none unless the text is 64 lower-case hex digits.
fn signature_bytes(text: &str) -> Option<[u8; 32]> {
    let lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut bytes = [0; 32];
    (lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}
