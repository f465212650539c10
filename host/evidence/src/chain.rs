//! The chain of one run as its writer knows it.
//!
//! A turn is always the same: take the lock, see what others did ([`ground`]), sign, promise in the journal with one flush,
//! carry out (receipts, then ledger lines), let go. What could not be carried out is made good by the next turn
//! ([`restore`]), whoever takes it.

mod ground;
mod restore;

use crate::authority::{ChainAuthority, ChainState, SignedEvent, Tail};
use crate::clock;
use crate::error::EvidenceError;
use crate::events::{LinkEvent, RecoveryEvent};
use crate::ids::RunId;
use crate::journal::{self, JournalEntry};
use crate::key::LedgerKey;
use crate::meta::{RunMeta, RunStatus};
use crate::run::{Entry, Recorded};
use crate::runs::close;
use crate::state::StateDir;
use crate::store::{Position, Put, Store, Turn};
use ground::Ground;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// Length of the journal from which on it is emptied.
const JOURNAL_FULL: u64 = 4 << 20;

/// What the writer left behind when it last let go.
struct Memory {
    position: Position,
    tail: Tail,
    /// Our last line with its line end; empty while there is none.
    last_line: Vec<u8>,
}

/// Where the journal stood when everything in it had been carried out.
#[derive(Default)]
struct JournalMark {
    length: u64,
    /// The bytes right before that place.
    last_line: Vec<u8>,
}

/// How often what was done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Flushes of the journal.
    pub flushes: u64,
    /// Times the journal was emptied.
    pub settlings: u64,
}

/// The chain of one run.
pub struct Chain {
    run: RunId,
    state: StateDir,
    key: LedgerKey,
    store: Arc<dyn Store>,
    authority: Arc<dyn ChainAuthority>,
    memory: Option<Memory>,
    mark: JournalMark,
    counts: Counts,
    forked: bool,
    end_tried: bool,
    ended: bool,
}

impl Chain {
    pub fn new(
        run: RunId,
        state: StateDir,
        key: LedgerKey,
        store: Arc<dyn Store>,
        authority: Arc<dyn ChainAuthority>,
    ) -> Self {
        Self {
            run,
            state,
            key,
            store,
            authority,
            memory: None,
            mark: JournalMark::default(),
            counts: Counts::default(),
            forked: false,
            end_tried: false,
            ended: false,
        }
    }

    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether the run was to be ended and could not be.
    pub const fn failed_to_end(&self) -> bool {
        self.end_tried && !self.ended
    }

    /// Records entries with one flush. The outer error is everybody's, an inner one the entry's own.
    pub fn commit(&mut self, entries: &[Entry]) -> Result<Vec<Result<Recorded, EvidenceError>>, EvidenceError> {
        if self.ended {
            return Err(EvidenceError::Ended { run: self.run.to_string() });
        }
        if self.forked {
            return Err(self.fork());
        }
        let store = Arc::clone(&self.store);
        let mut turn = store.turn()?;
        self.key.check(&self.state)?;
        let (ground, _) = self.catch_up(turn.as_mut())?;
        let free = free_names(entries, turn.as_mut())?;
        let fresh: Vec<&Entry> = entries.iter().zip(&free).filter(|(_, free)| **free).map(|(entry, _)| entry).collect();
        let mut signed = self.write(&ground, &fresh, turn.as_mut())?.into_iter();
        if turn.journal_length()? >= JOURNAL_FULL {
            self.settle(turn.as_mut());
        }
        Ok(entries
            .iter()
            .zip(free)
            .map(|(entry, free)| match free.then(|| signed.next()).flatten() {
                Some(event) => event.map(|event| self.recorded(entry, event)),
                None => Err(EvidenceError::NameTaken { tool_call: entry.tool_call.clone() }),
            })
            .collect())
    }

    /// Signs, promises and carries out. One result an entry.
    fn write(
        &mut self,
        ground: &Ground,
        entries: &[&Entry],
        turn: &mut dyn Turn,
    ) -> Result<Vec<Result<SignedEvent, EvidenceError>>, EvidenceError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let now = clock::now();
        let mut events: Vec<String> = ground.broken.iter().map(|line| recovery_event(line, &now)).collect();
        let links = events.len();
        for entry in entries {
            events.push(event_text(&LinkEvent::new(&entry.tool_call, &entry.tool_name, &entry.content_hash, &now))?);
        }
        let mut signed = self.sign(&ground.tail, &events)?;
        let mut lines = ground.line_end();
        for event in &signed {
            push_line(&mut lines, &event.line);
        }
        let after = tail_after(&ground.tail, &signed);
        let mut previous = ground.tail.signature.clone();
        for event in signed.drain(..links) {
            previous = Some(event.signature);
        }
        let promises = promise(entries, &signed, previous);
        let promised = journal::spell(&promises).map_err(|error| {
            EvidenceError::io("spell", std::path::Path::new("the journal"), std::io::Error::other(error))
        })?;
        let journal_before = turn.journal_length()?;
        turn.append_journal(&promised)?;
        self.counts.flushes += 1;

        let mut results: Vec<Result<SignedEvent, EvidenceError>> = Vec::with_capacity(entries.len());
        for (promise, event) in promises.iter().zip(signed) {
            results.push(match turn.put_receipt(&promise.tool_call, &promise.receipt_file())? {
                Put::Created => Ok(event),
                Put::Exists => Err(EvidenceError::NameTaken { tool_call: promise.tool_call.clone() }),
            });
        }
        if turn.position()? == ground.position {
            turn.append_ledger(&lines)?;
            let end = turn.position()?;
            if end.identity != ground.position.identity || end.length != ground.position.length + lines.len() as u64 {
                return Err(self.fork());
            }
            let mark = last_line(&promised);
            self.remember(end, after, last_line(&lines));
            self.mark = JournalMark { length: journal_before + promised.len() as u64, last_line: mark };
            return Ok(results);
        }
        // A writer that does not take the lock was faster. What was promised is signed anew behind its lines.
        let (_, restored) = self.catch_up(turn)?;
        for event in results.iter_mut().flatten() {
            if let Some((_, _, again)) = restored.lines.iter().find(|(_, promised, _)| *promised == event.signature) {
                event.clone_from(again);
            }
        }
        Ok(results)
    }

    fn recorded(&self, entry: &Entry, event: SignedEvent) -> Recorded {
        Recorded {
            run: self.run.clone(),
            tool_call: entry.tool_call.clone(),
            content_hash: entry.content_hash.clone(),
            path: self.state.receipts_path(&self.run).join(format!("{}.json", entry.tool_call)),
            seq: event.seq,
            signature: event.signature,
        }
    }

    /// Ends the run.
    pub fn end(&mut self, status: RunStatus) -> Result<RunMeta, EvidenceError> {
        if status == RunStatus::InProgress {
            return Err(EvidenceError::UnknownStatus);
        }
        self.end_tried = true;
        let store = Arc::clone(&self.store);
        let mut turn = store.turn()?;
        self.finish(turn.as_mut())?;
        turn.settle()?;
        self.mark = JournalMark::default();
        self.counts.settlings += 1;
        let meta = turn.read_meta().ok_or_else(|| EvidenceError::UnknownRun { run: self.run.to_string() })?;
        let ledger = turn.read_ledger(0)?;
        let meta = close(meta, &ledger, status, &clock::now())?;
        turn.write_meta(&meta)?;
        self.ended = true;
        Ok(meta)
    }

    /// Brings everything into line when the last handle is gone. The run stays open.
    pub fn stop(&mut self) {
        if self.ended || self.mark.length == 0 {
            return;
        }
        let store = Arc::clone(&self.store);
        match store.turn() {
            Ok(mut turn) => match self.finish(turn.as_mut()) {
                Ok(()) => self.settle(turn.as_mut()),
                Err(error) => tracing::warn!(run = %self.run, "the journal is kept for the next start: {error}"),
            },
            Err(error) => {
                tracing::warn!(run = %self.run, "the journal is kept for the next start: {error}")
            }
        }
    }

    /// Carries out what is still promised, also where another writer forked the ledger: what was recorded is linked behind
    /// the fork.
    fn finish(&mut self, turn: &mut dyn Turn) -> Result<(), EvidenceError> {
        self.key.check(&self.state)?;
        if !self.forked {
            match self.catch_up(turn) {
                Err(EvidenceError::Forked { .. }) => {}
                other => return other.map(|_| ()),
            }
        }
        self.memory = None;
        self.mark = JournalMark::default();
        self.catch_up(turn).map(|_| ())
    }

    fn settle(&mut self, turn: &mut dyn Turn) {
        match turn.settle() {
            Ok(()) => {
                self.mark = JournalMark::default();
                self.counts.settlings += 1;
            }
            // Nothing is lost: everything is in the journal, which only gets longer.
            Err(error) => {
                tracing::warn!(run = %self.run, "the journal could not be emptied: {error}")
            }
        }
    }

    fn sign(&self, after: &Tail, events: &[String]) -> Result<Vec<SignedEvent>, EvidenceError> {
        let signed = self.authority.sign(self.key.bytes(), after, events)?;
        if signed.len() == events.len() {
            Ok(signed)
        } else {
            Err(EvidenceError::Authority(crate::AuthorityError {
                code: "nonsense".to_owned(),
                message: "signed another number of events than were given".to_owned(),
            }))
        }
    }

    fn remember(&mut self, position: Position, tail: Tail, last_line: Vec<u8>) {
        self.memory = Some(Memory { position, tail, last_line });
    }

    fn fork(&mut self) -> EvidenceError {
        self.forked = true;
        tracing::error!(run = %self.run, "another writer forked the ledger; nothing more is written to this run");
        EvidenceError::Forked { run: self.run.to_string() }
    }
}

/// Which entries have a name that neither a receipt on disk nor an earlier entry has.
fn free_names(entries: &[Entry], turn: &mut dyn Turn) -> Result<Vec<bool>, EvidenceError> {
    let mut seen = HashSet::new();
    entries
        .iter()
        .map(|entry| Ok(seen.insert(entry.tool_call.as_str()) && !turn.has_receipt(&entry.tool_call)?))
        .collect()
}

fn promise(entries: &[&Entry], signed: &[SignedEvent], mut previous: Option<String>) -> Vec<JournalEntry> {
    entries
        .iter()
        .zip(signed)
        .map(|(entry, event)| JournalEntry {
            line: event.line.clone(),
            previous: previous.replace(event.signature.clone()),
            receipt: entry.receipt.clone(),
            seq: event.seq,
            tool_call: entry.tool_call.clone(),
        })
        .collect()
}

fn recovery_event(broken: &[u8], now: &str) -> String {
    let digest = hex::encode(Sha256::digest(broken));
    // A record of plain text and numbers always has a spelling.
    event_text(&RecoveryEvent::new(broken.len(), &digest, now)).unwrap_or_default()
}

fn event_text<T: Serialize>(event: &T) -> Result<String, EvidenceError> {
    serde_json::to_string(event).map_err(|_| EvidenceError::InvalidEntry { reason: "it has no spelling as JSON" })
}

fn tail_after(before: &Tail, signed: &[SignedEvent]) -> Tail {
    match signed.last() {
        Some(event) => Tail { lines: event.seq, signature: Some(event.signature.clone()), complete: true, sound: true },
        None => before.clone(),
    }
}

fn push_line(lines: &mut Vec<u8>, line: &str) {
    lines.extend_from_slice(line.as_bytes());
    lines.push(b'\n');
}

/// The last line of a text that ends with a line end, with that line end.
fn last_line(text: &[u8]) -> Vec<u8> {
    text.split_inclusive(|byte| *byte == b'\n').next_back().unwrap_or_default().to_vec()
}

fn is_whole(state: ChainState) -> bool {
    matches!(state, ChainState::Ok | ChainState::Empty)
}
