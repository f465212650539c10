//! Secrets out of text and JSON.
//!
//! What counts as a secret is a table ([`detectors`](self)): closed ids, each with the shapes its tokens have. A secret is
//! replaced by a mask that names the detector; everything else stays byte for byte. Three rules hold for every detector:
//!
//! - Finds that overlap are masked as one, so that no tail is left.
//! - A value of 8 bytes or more that was found once is masked wherever it stands in the same text.
//! - A mask is no secret: it is not masked again. In rare texts what stands around a masked value reads as another secret
//!   afterwards, and a second pass masks more.
//!
//! The work is linear in the size of the text.

mod check;
mod decoded;
mod detectors;
mod engine;
mod input;
mod json;
mod mask;
mod sets;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod values;

use std::borrow::Cow;

use crate::Error;
use crate::canonical::Document;
use crate::configuration::Configuration;
use crate::markers;
use crate::vocabulary::Hit;

pub use mask::Mask;
pub use stream::Redactor;

pub(crate) use detectors::all;

/// What came of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text with secrets masked; none when nothing was found and the text stands as it came.
    pub output: Option<String>,
    /// Secrets found, by detector, sorted by id.
    pub secrets: Vec<Hit>,
    /// Injection marks found, by marker, sorted by id. Marks never change the text.
    pub markers: Vec<Hit>,
}

/// Build the tables of the search now rather than with the first text, so that a snapshot of the program holds them.
pub fn prepare() {
    engine::prepare();
}

/// Mask secrets in plain text and count the injection marks in it.
///
/// # Errors
///
/// None today.
pub fn redact_text(text: &str, configuration: &Configuration) -> Result<Redacted, Error> {
    let mut secrets = text::Counts::default();
    let mut marks = markers::Counts::default();
    let output =
        text::redact(text, configuration.mask(), &mut secrets, Some(&mut markers::Watch::new(text, &mut marks)));
    Ok(Redacted { output, secrets: secrets.into_hits(), markers: marks.into_hits() })
}

/// Mask secrets in plain text; nothing is counted. The text itself when there are none.
#[must_use]
pub fn scrub<'t>(text: &'t str, configuration: &Configuration) -> Cow<'t, str> {
    match text::redact(text, configuration.mask(), &mut text::Counts::default(), None) {
        Some(output) => Cow::Owned(output),
        None => Cow::Borrowed(text),
    }
}

/// Mask secrets in JSON text: strings and keys at every depth, decoded for the search. Every byte outside the masked
/// spans stays as it was. Two keys of one object that become the same are kept apart by a counter in the mask.
///
/// # Errors
///
/// Those of [`Reader`](crate::canonical::reader::Reader): the text is not JSON, or the canonical forms cannot carry it.
pub fn redact_json(json: &str, configuration: &Configuration) -> Result<Redacted, Error> {
    Ok(json::read(json, configuration)?.0)
}

/// [`redact_json`] with the text as a document, as it came: the text is read once for both.
///
/// # Errors
///
/// Those of [`redact_json`].
pub(crate) fn read_json<'j>(json: &'j str, configuration: &Configuration) -> Result<(Redacted, Document<'j>), Error> {
    json::read(json, configuration)
}

/// The pieces of a text that arrives bit by bit: what may go out after each piece and, last, after the end. One item
/// more than `pieces`.
///
/// # Errors
///
/// None today.
pub fn redact_pieces(pieces: &[String], configuration: &Configuration) -> Result<Vec<String>, Error> {
    let mut redactor = Redactor::open(configuration)?;
    let mut out = Vec::with_capacity(pieces.len() + 1);
    for piece in pieces {
        out.push(redactor.push_text(piece));
    }
    out.push(redactor.finish_text());
    Ok(out)
}
