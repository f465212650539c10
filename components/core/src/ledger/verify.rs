//! The verdict on a chain.

use hmac::Mac as _;

use super::lines::{Event, lines};
use super::{SEED, Signer, signature_bytes, signer};
use crate::Error;
use crate::canonical::{DigestSink, Document, Edit, Form, Kind, Value};
use crate::vocabulary::ChainState;

/// roam-code's verdict on a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerdict {
    /// The state; [`ChainState::Empty`] never occurs here, roam-code calls it `ok`.
    pub state: ChainState,
    /// Events whose signature was verified, or all events of an unsigned chain.
    pub events_verified: u64,
    /// `seq` of the first bad event as it stands there, as JSON text; its position from 1 when it has none.
    pub first_tamper_at_seq: Option<String>,
    /// Whether the answer covers only a part.
    pub partial_success: bool,
    /// The last signature that matched, or none.
    pub final_signature: Option<String>,
    /// The verdict in words.
    pub details: String,
    /// Lines that are not blank but no event: not JSON, or no object. roam-code passes over them.
    pub unreadable_lines: u64,
}

/// Verify a chain as roam-code does, from the text of `events.jsonl`.
///
/// An event that cannot be verified at all, see [the module](super), is `tampered` where it stands. So is a signature
/// that is not 64 lower-case hex digits. A chain without any signature is `unsigned`, unless one of its events cannot be
/// looked into: that could be a signed one, so it is `tampered` there.
///
/// # Errors
///
/// [`Error::InvalidKey`] when the key is not 32 bytes.
pub fn verify_chain(key: &[u8], events: &[u8]) -> Result<ChainVerdict, Error> {
    let mut walk = Walk::new(signer(key)?);
    for line in lines(events) {
        match line.event() {
            Some(event) => walk.step(&event),
            None => walk.unreadable += 1,
        }
    }
    Ok(walk.verdict())
}

/// Where and how a chain breaks.
struct Break {
    /// As JSON text.
    seq: String,
    details: String,
}

struct Walk {
    signer: Signer,
    previous: String,
    events: u64,
    verified: u64,
    unreadable: u64,
    any_signature: bool,
    first_break: Option<Break>,
    first_opaque: Option<Break>,
}

impl Walk {
    fn new(signer: Signer) -> Self {
        Self {
            signer,
            previous: SEED.to_owned(),
            events: 0,
            verified: 0,
            unreadable: 0,
            any_signature: false,
            first_break: None,
            first_opaque: None,
        }
    }

    fn step(&mut self, event: &Event<'_>) {
        self.events += 1;
        let Event::Object { document, sound } = event else {
            let seq = self.events.to_string();
            let opaque =
                || Break { details: format!("event seq={seq} cannot be read: chain breaks here"), seq: seq.clone() };
            self.first_opaque.get_or_insert_with(opaque);
            self.first_break.get_or_insert_with(opaque);
            return;
        };
        let signature = event.get("signature");
        self.any_signature |= signature.is_some();
        if self.first_break.is_some() {
            return;
        }
        let (seq, shown) = self.place(event);
        let broken = match signature {
            Some(signature) if !signature.is_null() => {
                if *sound && self.matches(document, signature) {
                    self.verified += 1;
                    return;
                }
                format!("signature mismatch at seq={shown}: chain breaks here")
            }
            _ => {
                format!("event seq={shown} is missing the 'signature' field after a signed prefix")
            }
        };
        self.first_break = Some(Break { seq, details: broken });
    }

    /// Whether the signature is right; if so the chain goes on from it.
    fn matches(&mut self, document: &Document<'_>, signature: Value<'_>) -> bool {
        let Some(text) = signature.as_str() else {
            return false;
        };
        let Some(expected) = signature_bytes(&text) else {
            return false;
        };
        let mut mac = self.signer.clone();
        mac.update(self.previous.as_bytes());
        let mut sink = DigestSink::new(&mut mac);
        document.write_edited(Form::Event, Edit { leave_out: &["signature"], put_in: &[] }, &mut sink);
        sink.finish();
        // Compares in constant time.
        let right = mac.verify_slice(&expected).is_ok();
        if right {
            self.previous.clear();
            self.previous.push_str(&text);
        }
        right
    }

    /// `seq` of the event as JSON text and as it is shown; its position when it has none.
    fn place(&self, event: &Event<'_>) -> (String, String) {
        match event.get("seq") {
            Some(seq) => (json(seq), show(seq)),
            None => (self.events.to_string(), self.events.to_string()),
        }
    }

    fn verdict(self) -> ChainVerdict {
        let mut verdict = ChainVerdict {
            state: ChainState::Ok,
            events_verified: self.verified,
            first_tamper_at_seq: None,
            partial_success: false,
            final_signature: (self.verified > 0).then_some(self.previous),
            details: String::new(),
            unreadable_lines: self.unreadable,
        };
        let broken = if self.any_signature { self.first_break } else { self.first_opaque };
        if let Some(Break { seq, details }) = broken {
            verdict.state = ChainState::Tampered;
            verdict.first_tamper_at_seq = Some(seq);
            verdict.details = details;
        } else if self.events == 0 {
            "ledger is empty".clone_into(&mut verdict.details);
        } else if self.any_signature {
            verdict.details = format!("chain verified across {} event(s)", self.events);
        } else {
            verdict.state = ChainState::Unsigned;
            verdict.events_verified = self.events;
            verdict.partial_success = true;
            "no events carry signatures \u{2014} likely a pre-signing ledger".clone_into(&mut verdict.details);
        }
        verdict
    }
}

/// A value as JSON text.
pub(super) fn json(value: Value<'_>) -> String {
    let mut out = String::new();
    value.write(Form::Receipt, &mut out);
    out
}

/// A value as Python's `str` shows it, save that containers are shown as JSON.
pub(super) fn show(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Null => "None".to_owned(),
        Kind::Bool if value.as_bool() == Some(true) => "True".to_owned(),
        Kind::Bool => "False".to_owned(),
        _ => value.as_str().map_or_else(|| json(value), |text| text.into_owned()),
    }
}
