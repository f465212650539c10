//! roam-code's three spellings of a JSON value.
//!
//! Receipts, hashes and signatures are taken over text, so a value needs one spelling. [`canonicalize`] gives it;
//! [`Document`] is the same in two steps for callers that also look into the value; [`reader`] is the tokeniser below
//! both, for callers that change text in place.
//!
//! Common to the three forms: keys sorted by code point at every depth, of equal keys the last one wins, no member left
//! out, integers of any size exact, floats with the shortest digits that read back to the same double. The forms differ
//! in blanks and in what is escaped, see [`Form`].
//!
//! # What is refused
//!
//! Python reads and writes more than JSON. A value that Rust text or JSON cannot carry is refused rather than changed,
//! as [`Error::UnsupportedValue`]: `NaN`, `Infinity`, numbers beyond the range of a double, escaped lone surrogates,
//! integers of more than 4300 digits, more than [`MAX_DEPTH`] levels.
//!
//! Errors say where in bytes from the start and never repeat the input.

mod document;
mod float;
pub mod reader;
mod style;
mod text;
mod write;

use sha2::{Digest, Sha256};

use crate::Error;

pub(crate) use document::Placed;
pub use document::{Document, Elements, Kind, Members, Value};
pub use reader::MAX_DEPTH;
pub use style::{Form, Style};
pub use text::{Unescaped, escape};
pub use write::{DigestSink, Edit, Sink};

/// The canonical spelling of a JSON text.
///
/// # Errors
///
/// [`Error::InvalidJson`] when the text is not JSON, [`Error::UnsupportedValue`] when the forms cannot carry it.
pub fn canonicalize(json: &str, form: Form) -> Result<String, Error> {
    Ok(Document::parse(json)?.canonical(form))
}

/// SHA-256 of a text, lower-case hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
