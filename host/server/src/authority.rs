//! The component as the authority over ledgers.
//!
//! `counterfoil-evidence` keeps files and knows no policy; `counterfoil-engine` asks the component and knows no files. Here
//! the two meet: every tail, signature and verdict that evidence uses comes out of the component.

use counterfoil_engine::types::{self, Form};
use counterfoil_engine::{Engine, Refusal};
use counterfoil_evidence::{
    AuthorityError, ChainAuthority, ChainState, ChainVerdict, FullVerdict, ReceiptFile, ReceiptIntegrity, ReceiptLink,
    SignedEvent, Tail,
};

/// Asks the component about ledgers.
#[derive(Clone)]
pub struct ComponentAuthority {
    engine: Engine,
}

impl ComponentAuthority {
    /// An authority over this engine.
    #[must_use]
    pub const fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

impl ChainAuthority for ComponentAuthority {
    fn read_tail(&self, events: &[u8]) -> Result<Tail, AuthorityError> {
        let tail = self.engine.read_tail(events).map_err(refused)?;
        Ok(Tail { lines: tail.lines, signature: tail.signature, complete: tail.complete, sound: tail.sound })
    }

    fn sign(&self, key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<SignedEvent>, AuthorityError> {
        let after = types::Tail {
            lines: after.lines,
            signature: after.signature.clone(),
            complete: after.complete,
            sound: after.sound,
        };
        let signed = self.engine.sign(key, &after, events).map_err(refused)?;
        Ok(signed
            .into_iter()
            .map(|event| SignedEvent { seq: event.seq, signature: event.signature, line: event.line })
            .collect())
    }

    fn verify_chain(&self, key: &[u8], events: &[u8]) -> Result<ChainVerdict, AuthorityError> {
        self.engine.verify_chain(key, events).map(chain_verdict).map_err(refused)
    }

    fn receipt_links(&self, events: &[u8]) -> Result<Vec<ReceiptLink>, AuthorityError> {
        let links = self.engine.receipt_links(events).map_err(refused)?;
        Ok(links
            .into_iter()
            .map(|link| ReceiptLink {
                position: link.position,
                tool_call: link.tool_call,
                receipt_hash: link.receipt_hash,
            })
            .collect())
    }

    fn verify_with_receipts(
        &self,
        key: &[u8],
        events: &[u8],
        files: &[ReceiptFile],
    ) -> Result<FullVerdict, AuthorityError> {
        let files: Vec<types::ReceiptFile> = files
            .iter()
            .map(|file| types::ReceiptFile { tool_call: file.tool_call.clone(), content: file.content.clone() })
            .collect();
        let verdict = self.engine.verify_with_receipts(key, events, &files).map_err(refused)?;
        Ok(FullVerdict {
            chain: chain_verdict(verdict.chain),
            receipt_integrity: match verdict.receipt_integrity {
                types::ReceiptIntegrity::Ok => ReceiptIntegrity::Ok,
                types::ReceiptIntegrity::Missing => ReceiptIntegrity::Missing,
                types::ReceiptIntegrity::Tampered => ReceiptIntegrity::Tampered,
                types::ReceiptIntegrity::NotLinked => ReceiptIntegrity::NotLinked,
            },
            first_missing_receipt_at_seq: verdict.first_missing_receipt_at_seq,
        })
    }

    fn canonicalize_line(&self, json: &str) -> Result<String, AuthorityError> {
        self.engine.canonicalize(json, Form::Line).map_err(refused)
    }
}

fn chain_verdict(verdict: types::ChainVerdict) -> ChainVerdict {
    ChainVerdict {
        state: match verdict.state {
            types::ChainState::Ok => ChainState::Ok,
            types::ChainState::Tampered => ChainState::Tampered,
            types::ChainState::Unsigned => ChainState::Unsigned,
            types::ChainState::Empty => ChainState::Empty,
        },
        events_verified: verdict.events_verified,
        first_tamper_at_seq: verdict.first_tamper_at_seq,
        partial_success: verdict.partial_success,
        final_signature: verdict.final_signature,
        details: verdict.details,
        unreadable_lines: verdict.unreadable_lines,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn refused(refusal: Refusal) -> AuthorityError {
    AuthorityError { code: refusal.code().to_owned(), message: refusal.to_string() }
}
