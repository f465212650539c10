//! Our own verdict: everything that roam-code passes over counts.

use super::finding::{Finding, FindingCode, Severity};
use super::links::{self, Links};
use super::{lines, promises, seq_value};
use crate::authority::{ChainAuthority, ChainState, ReceiptIntegrity};
use crate::error::EvidenceError;
use crate::events;
use crate::files::Folder;
use crate::ids::RunId;
use crate::key::LedgerKey;
use crate::meta::RunMeta;
use crate::runs::{open_run, read_ledger};
use crate::state::StateDir;
use crate::store::{EVENTS_FILE, JOURNAL_FILE, LEDGER_MAX, OWN_FOLDER, shared};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// How long a writer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of a run, strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Every event is signed, in its place and as it was written, and every receipt is what its event says.
    Ok,
    /// Something was changed, removed or added.
    Tampered,
    /// No event carries a signature, and nothing says that one ever did.
    Unsigned,
    /// There are no events, and nothing says that there were any.
    Empty,
    /// There are events and no usable key to verify them with.
    KeyMissing,
    /// No such run, or its `meta.json` cannot be read.
    UnknownRun,
}

/// Our verdict on one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verification {
    /// The run that was asked for.
    pub run_id: String,
    /// The state.
    pub state: State,
    /// The verdict on the receipts. `not_linked`: receipts that no event links, or no receipts at all.
    pub receipt_integrity: ReceiptIntegrity,
    /// Events whose signature was verified.
    pub events_verified: u64,
    /// Receipts whose content is what a verified event says.
    pub receipts_verified: u64,
    /// `seq` of the first event that something is wrong with, or null.
    pub first_tamper_at_seq: Value,
    /// The last signature that matched, or null.
    pub final_signature: Option<String>,
    /// The verdict in words.
    pub details: String,
    /// Everything that was found, gravest first and then in order.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// 0 fine, 1 not to be relied on, 2 no such run, 5 tampered or unsigned.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.state {
            State::UnknownRun => 2,
            State::Tampered | State::Unsigned => 5,
            State::KeyMissing => 1,
            State::Ok | State::Empty => u8::from(self.findings.iter().any(|found| found.severity > Severity::Note)),
        }
    }

    fn unknown(run: &str, finding: Finding) -> Self {
        Self {
            run_id: run.to_owned(),
            state: State::UnknownRun,
            receipt_integrity: ReceiptIntegrity::NotLinked,
            events_verified: 0,
            receipts_verified: 0,
            first_tamper_at_seq: Value::Null,
            final_signature: None,
            details: finding.message.clone(),
            findings: vec![finding],
        }
    }
}

/// Our verdict on a run.
pub fn strict(state: &StateDir, run: &str, authority: &dyn ChainAuthority) -> Verification {
    let Ok(id) = run.parse::<RunId>() else {
        let message = "not a run id, so there is no such run; nothing was read";
        return Verification::unknown(run, Finding::new(FindingCode::UnsafeRunId, message));
    };
    let (folder, meta) = match open_run(state, &id) {
        Ok(found) => found,
        Err(error) => {
            return Verification::unknown(run, Finding::new(FindingCode::UnknownRun, error.to_string()));
        }
    };
    Judge { state, id, folder, meta, authority, findings: Vec::new() }.judge()
}

struct Judge<'a> {
    state: &'a StateDir,
    id: RunId,
    folder: Folder,
    meta: RunMeta,
    authority: &'a dyn ChainAuthority,
    findings: Vec<Finding>,
}

/// What the chain says.
struct Chain {
    state: State,
    verified: u64,
    first_bad: Value,
    signature: Option<String>,
    details: String,
}

impl Judge<'_> {
    fn judge(mut self) -> Verification {
        // Held while reading, so that a run that is being written to is seen between two batches.
        let lock = shared(&self.folder, PATIENCE);
        if lock.is_none() && self.meta.is_open() {
            self.find(Finding::new(
                FindingCode::NotLocked,
                "the ledger's lock is missing or held; a writer may be at work",
            ));
        }
        if self.meta.run_id() != self.id.as_str() {
            self.find(Finding::new(FindingCode::MetaRunId, "meta.json names another run").on(self.path("meta.json")));
        }
        let ledger = match read_ledger(&self.folder) {
            Ok(ledger) => ledger,
            Err(error) => {
                self.find(Finding::new(FindingCode::Unreadable, error.to_string()).on(self.path(EVENTS_FILE)));
                Vec::new()
            }
        };
        let promised = self.promised().map(|journal| promises::calls(&journal));
        let chain = self.chain(&ledger);
        // Where nothing is signed, a place or a spelling says nothing more.
        if chain.state != State::Unsigned {
            lines::check(&ledger, self.authority, &mut self.findings);
        }
        promises::compare_with_meta(&self.id, &self.meta, &ledger, &mut self.findings);
        if let Some(promised) = &promised {
            promises::compare_with_journal(&self.id, promised, &ledger, &mut self.findings);
        }
        let links = links::check(self.state, &self.id, &ledger, promised.as_ref(), &mut self.findings);
        drop(lock);
        self.conclude(chain, &links)
    }

    fn chain(&mut self, ledger: &[u8]) -> Chain {
        let mut chain =
            Chain { state: State::Empty, verified: 0, first_bad: Value::Null, signature: None, details: String::new() };
        let has_lines = events::lines(ledger).next().is_some();
        let key = match LedgerKey::load(self.state) {
            Ok(key) => key,
            Err(error) => {
                let code = match error {
                    EvidenceError::KeyMissing { .. } => FindingCode::KeyMissing,
                    _ => FindingCode::KeyInvalid,
                };
                self.find(Finding::new(code, error.to_string()).on("runs/.ledger_key"));
                chain.state = if has_lines { State::KeyMissing } else { State::Empty };
                chain.details = "there is no usable key, so no signature was verified".to_owned();
                return chain;
            }
        };
        if let Some(exposure) = key.exposure() {
            self.find(Finding::new(FindingCode::KeyExposed, exposure.to_string()).on("runs/.ledger_key"));
        }
        match self.authority.verify_chain(key.bytes(), ledger) {
            Ok(verdict) => {
                chain.verified = verdict.events_verified;
                chain.first_bad = seq_value(verdict.first_tamper_at_seq.as_deref());
                chain.signature = verdict.final_signature;
                chain.details = verdict.details;
                chain.state = match verdict.state {
                    ChainState::Tampered => {
                        let finding = Finding::new(FindingCode::ChainBroken, chain.details.clone());
                        self.find(finding.at(verdict.events_verified + 1).on(self.path(EVENTS_FILE)));
                        State::Tampered
                    }
                    ChainState::Unsigned => {
                        chain.verified = 0;
                        State::Unsigned
                    }
                    ChainState::Ok | ChainState::Empty if chain.verified == 0 => State::Empty,
                    ChainState::Ok | ChainState::Empty => State::Ok,
                };
            }
            Err(error) => {
                let message = format!("the ledger cannot be judged: {error}");
                self.find(Finding::new(FindingCode::Unverifiable, message.clone()).on(self.path(EVENTS_FILE)));
                chain.state = State::Tampered;
                chain.details = message;
            }
        }
        if chain.state == State::Unsigned {
            let was_signed = self.meta.final_signature().is_some() || self.is_ours();
            let (code, message) = if was_signed {
                (FindingCode::SignaturesStripped, "no event is signed, though the run was signed when it was written")
            } else {
                (FindingCode::Unsigned, "no event is signed, so anything in this ledger can have been changed")
            };
            self.find(Finding::new(code, message).on(self.path(EVENTS_FILE)));
            if was_signed {
                chain.state = State::Tampered;
            }
        }
        chain
    }

    /// The run's journal; none if the run is not ours.
    fn promised(&mut self) -> Option<Vec<u8>> {
        let own = self.own_folder()?;
        match own.read(JOURNAL_FILE, LEDGER_MAX) {
            Ok(journal) => Some(journal.unwrap_or_default()),
            Err(error) => {
                self.find(Finding::new(FindingCode::Unreadable, error.to_string()));
                Some(Vec::new())
            }
        }
    }

    fn own_folder(&self) -> Option<Folder> {
        let own = self.state.open().ok()?.child_if_there(OWN_FOLDER).ok()??;
        own.child_if_there(self.id.as_str()).ok()?
    }

    fn is_ours(&self) -> bool {
        self.own_folder().is_some()
    }

    fn conclude(mut self, chain: Chain, links: &Links) -> Verification {
        self.findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.seq.cmp(&b.seq)));
        let tampering = || self.findings.iter().filter(|found| found.severity == Severity::Tampering);
        let gravest = tampering().find(|found| found.code != FindingCode::Unsigned);
        let state = if gravest.is_some() { State::Tampered } else { chain.state };
        let first = tampering().filter_map(|found| found.seq).min();
        let first_tamper_at_seq = match (chain.first_bad.as_u64(), first) {
            (Some(stored), Some(first)) if first < stored => Value::from(first),
            (None, Some(first)) if chain.first_bad.is_null() => Value::from(first),
            _ => chain.first_bad,
        };
        let details = match gravest {
            Some(found) if chain.state != State::Tampered => found.message.clone(),
            _ if chain.state == State::Ok => {
                format!("{} and {} receipt(s)", chain.details, links.verified)
            }
            _ => chain.details,
        };
        Verification {
            run_id: self.id.to_string(),
            state,
            receipt_integrity: links.integrity,
            events_verified: chain.verified,
            receipts_verified: links.verified,
            first_tamper_at_seq,
            final_signature: chain.signature,
            details,
            findings: self.findings,
        }
    }

    fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn path(&self, name: &str) -> String {
        format!("runs/{}/{name}", self.id)
    }
}
