//! A state folder to work on, and the native core as its authority.

use counterfoil_core::canonical::{Form, canonicalize};
use counterfoil_core::ledger;
use counterfoil_evidence::{
    AuthorityError, ChainAuthority, ChainState, ChainVerdict, Entry, FullVerdict, ReceiptFile, ReceiptIntegrity,
    ReceiptLink, Run, RunId, RunOptions, SignedEvent, StateDir, Tail, Verification, runs, tool_call_id,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// The native core.
pub struct Native;

fn wrong(error: counterfoil_core::Error) -> AuthorityError {
    AuthorityError { code: error.code().to_owned(), message: error.message().to_owned() }
}

fn core_tail(tail: &Tail) -> ledger::Tail {
    ledger::Tail { lines: tail.lines, signature: tail.signature.clone(), complete: tail.complete, sound: tail.sound }
}

fn chain_verdict(verdict: ledger::ChainVerdict) -> ChainVerdict {
    ChainVerdict {
        state: match verdict.state.as_str() {
            "ok" => ChainState::Ok,
            "tampered" => ChainState::Tampered,
            "unsigned" => ChainState::Unsigned,
            "empty" => ChainState::Empty,
            other => panic!("{other}"),
        },
        events_verified: verdict.events_verified,
        first_tamper_at_seq: verdict.first_tamper_at_seq,
        partial_success: verdict.partial_success,
        final_signature: verdict.final_signature,
        details: verdict.details,
        unreadable_lines: verdict.unreadable_lines,
    }
}

impl ChainAuthority for Native {
    fn read_tail(&self, events: &[u8]) -> Result<Tail, AuthorityError> {
        let tail = ledger::read_tail(events).map_err(wrong)?;
        Ok(Tail { lines: tail.lines, signature: tail.signature, complete: tail.complete, sound: tail.sound })
    }

    fn sign(&self, key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<SignedEvent>, AuthorityError> {
        let signed = ledger::sign(key, &core_tail(after), events).map_err(wrong)?;
        Ok(signed
            .into_iter()
            .map(|event| SignedEvent { seq: event.seq, signature: event.signature, line: event.line })
            .collect())
    }

    fn verify_chain(&self, key: &[u8], events: &[u8]) -> Result<ChainVerdict, AuthorityError> {
        ledger::verify_chain(key, events).map(chain_verdict).map_err(wrong)
    }

    fn receipt_links(&self, events: &[u8]) -> Result<Vec<ReceiptLink>, AuthorityError> {
        let links = ledger::receipt_links(events).map_err(wrong)?;
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
        let files: Vec<ledger::ReceiptFile> = files
            .iter()
            .map(|file| ledger::ReceiptFile { tool_call: &file.tool_call, content: file.content.as_deref() })
            .collect();
        let verdict = ledger::verify_with_receipts(key, events, &files).map_err(wrong)?;
        Ok(FullVerdict {
            chain: chain_verdict(verdict.chain),
            receipt_integrity: match verdict.receipt_integrity.as_str() {
                "ok" => ReceiptIntegrity::Ok,
                "missing" => ReceiptIntegrity::Missing,
                "tampered" => ReceiptIntegrity::Tampered,
                "not_linked" => ReceiptIntegrity::NotLinked,
                other => panic!("{other}"),
            },
            first_missing_receipt_at_seq: verdict.first_missing_receipt_at_seq,
        })
    }

    fn canonicalize_line(&self, json: &str) -> Result<String, AuthorityError> {
        canonicalize(json, Form::Line).map_err(wrong)
    }
}

/// A temporary state folder.
pub struct Bench {
    pub dir: tempfile::TempDir,
    pub state: StateDir,
    pub authority: Arc<dyn ChainAuthority>,
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join(".roam"));
        Self { dir, state, authority: Arc::new(Native) }
    }

    pub fn start(&self) -> Run {
        let options = RunOptions { agent: "bench".to_owned(), mode: Some("safe_edit".to_owned()), extra: Map::new() };
        Run::start(&self.state, options, Arc::clone(&self.authority)).unwrap()
    }

    pub fn attach(&self, run: &RunId) -> Run {
        Run::attach(&self.state, run, Arc::clone(&self.authority)).unwrap()
    }

    pub fn strict(&self, run: &RunId) -> Verification {
        runs::verify(&self.state, run.as_str(), &self.authority)
    }

    pub fn key(&self) -> Vec<u8> {
        fs::read(self.state.path().join("runs/.ledger_key")).unwrap()
    }

    pub fn events(&self, run: &RunId) -> PathBuf {
        self.state.events_path(run)
    }

    pub fn ledger(&self, run: &RunId) -> Vec<u8> {
        fs::read(self.events(run)).unwrap()
    }

    pub fn journal(&self, run: &RunId) -> PathBuf {
        self.state.path().join("counterfoil").join(run.as_str()).join("journal.jsonl")
    }

    pub fn receipt(&self, run: &RunId, tool_call: &str) -> PathBuf {
        self.state.receipts_path(run).join(format!("{tool_call}.json"))
    }

    /// A line as another careful writer would sign it after the ledger given.
    pub fn foreign_line(&self, after: &[u8], event: &Value) -> Vec<u8> {
        let tail = self.authority.read_tail(after).unwrap();
        let signed = self.authority.sign(&self.key(), &tail, &[event.to_string()]).unwrap();
        format!("{}\n", signed[0].line).into_bytes()
    }

    /// Appends bytes to a ledger without asking anybody.
    pub fn append(&self, run: &RunId, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().append(true).open(self.events(run)).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Asserts that nothing is wrong with a run, in both verdicts.
    pub fn assert_sound(&self, run: &RunId, events: u64) {
        let strict = self.strict(run);
        assert_eq!(strict.exit_code(), 0, "{strict:#?}");
        assert_eq!(strict.events_verified, events, "{strict:#?}");
        let roam = runs::verify_as_roam(&self.state, run.as_str(), &self.authority);
        assert_eq!(roam.exit_code(), 0, "{roam:#?}");
        assert_eq!(roam.events_verified, events);
    }
}

/// A receipt of a call of a tool in a run.
pub fn entry_of(run: &RunId, tool_name: &str, tool_call: &str) -> Entry {
    let receipt = json!({
        "actor_ref_id": null, "client_id": "client", "declared_side_effects": [], "extra": {}, "input_hash": null,
        "output_hash": null, "output_ref": null, "policy_decision": "allow", "redactions": [],
        "required_mode": "read_only", "run_event_id": run.as_str(), "tool_call": tool_call, "tool_name": tool_name,
    });
    let canonical = canonicalize(&receipt.to_string(), Form::Receipt).unwrap();
    Entry {
        tool_call: tool_call.to_owned(),
        tool_name: tool_name.to_owned(),
        content_hash: hex::encode(Sha256::digest(&canonical)),
        receipt: canonical,
    }
}

/// A receipt with a fresh id.
pub fn entry(run: &RunId) -> Entry {
    entry_of(run, "get-env", &tool_call_id("get-env").unwrap())
}
