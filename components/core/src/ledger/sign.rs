//! Going on with a chain.

use hmac::Mac as _;

use super::lines::{Line, lines};
use super::{SEED, signature_bytes, signer};
use crate::Error;
use crate::canonical::{DigestSink, Document, Edit, Form, Style};

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Lines that are not blank, whether or not they can be read.
    pub lines: u64,
    /// Signature of the last event that has one, 64 lower-case hex digits; none for a chain that has not begun.
    pub signature: Option<String>,
    /// Whether the last line is complete: the text is empty or ends with a line end.
    pub complete: bool,
    /// Whether the last line that is not blank can be read and is signed, or there is none. Otherwise another writer of
    /// roam-code's kind would start the chain anew.
    pub sound: bool,
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

/// Where the chain of a ledger ends, from the text of `events.jsonl`.
///
/// A signature counts when it is a text of 64 lower-case hex digits; it is not verified.
///
/// # Errors
///
/// None today; a ledger that cannot be read is reported in the answer.
pub fn read_tail(events: &[u8]) -> Result<Tail, Error> {
    let mut from_the_end = lines(events).rev().map(signature);
    let last = from_the_end.next();
    let sound = !matches!(last, Some(None));
    let signature = last.flatten().or_else(|| from_the_end.flatten().next());
    Ok(Tail {
        lines: lines(events).count() as u64,
        signature,
        complete: matches!(events.last(), None | Some(b'\n' | b'\r')),
        sound,
    })
}

/// The signature of a line, if it has one that a chain can go on from.
fn signature(line: Line<'_>) -> Option<String> {
    let event = line.event()?;
    let signature = event.text("signature")?;
    signature_bytes(&signature).map(|_| signature.into_owned())
}

/// Sign events one after the other, given as texts of JSON objects. `seq` and `signature` are set here, whatever stands
/// there; `seq` counts on from `after.lines`. The chain goes on from `after.signature` also where the tail is not sound.
///
/// # Errors
///
/// [`Error::InvalidKey`] when the key is not 32 bytes, [`Error::InvalidArgument`] when the tail's signature is not 64
/// lower-case hex digits, [`Error::InvalidEvent`] when an event is no object, besides the errors of
/// [`canonicalize`](crate::canonical::canonicalize). Nothing is signed then.
pub fn sign(key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<SignedEvent>, Error> {
    let signer = signer(key)?;
    let mut previous = after.signature.clone().unwrap_or_else(|| SEED.to_owned());
    if signature_bytes(&previous).is_none() {
        let message = "the signature of the tail must be 64 lower-case hex digits";
        return Err(Error::InvalidArgument(message.to_owned()));
    }
    let mut signed = Vec::with_capacity(events.len());
    for (event, place) in events.iter().zip(1..) {
        let Some(seq) = after.lines.checked_add(place) else {
            let message = "the tail names more lines than can be counted";
            return Err(Error::InvalidArgument(message.to_owned()));
        };
        let document = Document::parse(event)?;
        if !document.root().is_object() {
            return Err(Error::InvalidEvent("an event must be a JSON object".to_owned()));
        }
        let number = seq.to_string();
        let mut mac = signer.clone();
        mac.update(previous.as_bytes());
        let mut sink = DigestSink::new(&mut mac);
        let edit = Edit { leave_out: &["signature"], put_in: &[("seq", &number)] };
        document.write_edited(Form::Event, edit, &mut sink);
        sink.finish();
        let signature = hex::encode(mac.finalize().into_bytes());

        let mut line = String::with_capacity(event.len() + 128);
        let quoted = format!("\"{signature}\"");
        let edit = Edit { leave_out: &[], put_in: &[("seq", &number), ("signature", &quoted)] };
        document.write_edited(Style::ASCII_LINE, edit, &mut line);
        previous.clone_from(&signature);
        signed.push(SignedEvent { seq, signature, line });
    }
    Ok(signed)
}
