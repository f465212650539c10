//! An open run.

use crate::authority::ChainAuthority;
use crate::chain::Chain;
use crate::clock;
use crate::error::EvidenceError;
use crate::files::Folder;
use crate::ids::{RunId, check_tool_call};
use crate::key::LedgerKey;
use crate::meta::{RunMeta, RunStatus};
use crate::presence::Presence;
use crate::state::StateDir;
use crate::store::{DiskStore, Store};
use crate::writer::Writer;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Tries to find a run id that is not taken.
const ID_TRIES: u32 = 16;

/// What a run says of itself from the start.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Who runs it; `meta.json` carries it as `agent`.
    pub agent: String,
    /// The mode it starts in, if one is set.
    pub mode: Option<String>,
    /// Further members of `meta.json`; the known names win.
    pub extra: Map<String, Value>,
}

/// A receipt to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Id of the call, from [`crate::tool_call_id`].
    pub tool_call: String,
    /// Name of the tool.
    pub tool_name: String,
    /// The receipt's canonical text, one line without a line end.
    pub receipt: String,
    /// SHA-256 of that text, lower-case hex.
    pub content_hash: String,
}

/// A receipt that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The run.
    pub run: RunId,
    /// Id of the call.
    pub tool_call: String,
    /// SHA-256 of the receipt's canonical text.
    pub content_hash: String,
    /// Where the receipt is.
    pub path: PathBuf,
    /// Place of its event in the ledger, from 1.
    pub seq: u64,
    /// Signature of that event.
    pub signature: String,
}

/// What a run's writer has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Receipts recorded.
    pub entries: u64,
    /// Flushes of the journal; many entries share one.
    pub flushes: u64,
    /// Entries that failed.
    pub failures: u64,
    /// Times that journal, ledger and receipts were brought into line and the journal emptied.
    pub settlings: u64,
}

/// An open run. A clone is another handle on the same one; the writer stops when the last handle is dropped, and the run
/// stays open until [`Run::end`].
#[derive(Debug, Clone)]
pub struct Run {
    id: RunId,
    writer: Arc<Writer>,
}

impl Run {
    /// Starts a run: makes the state folder and the key if need be, and a folder for the run.
    ///
    /// # Errors
    /// When the folder cannot be written or the key cannot be used.
    pub fn start(
        state: &StateDir,
        options: RunOptions,
        authority: Arc<dyn ChainAuthority>,
    ) -> Result<Self, EvidenceError> {
        let (runs, _) = state.open_or_create()?.child_or_create("runs", 0o755)?;
        let key = LedgerKey::load_or_create(&runs)?;
        let (id, folder) = claim(&runs)?;
        let presence = Presence::claim(state, &id)?;
        folder.append_or_create("events.jsonl", 0o644)?;
        let mut extra = options.extra;
        for (name, digest) in state.policy_digests() {
            extra.insert(name.to_owned(), Value::from(digest));
        }
        let mut meta = RunMeta::open(id.as_str(), &options.agent, &clock::now(), extra);
        if let Some(mode) = options.mode {
            meta.set("mode", mode);
        }
        let store = Arc::new(DiskStore::new(state.clone(), id.clone()));
        // Where nothing can be recorded no run is started: it would only be noticed at the first call.
        drop(store.turn()?);
        // Last, since a folder with it is a run.
        meta.write(&folder)?;
        Self::write(state, id, key, presence, store, authority)
    }

    /// Goes on writing to a run that is open, whoever started it. What a crash left undone is done first.
    ///
    /// # Errors
    /// `UnknownRun`, `Ended`, or when the folder or the key cannot be used.
    pub fn attach(state: &StateDir, run: &RunId, authority: Arc<dyn ChainAuthority>) -> Result<Self, EvidenceError> {
        Self::attach_with(state, run, authority, Arc::new(DiskStore::new(state.clone(), run.clone())))
    }

    /// Like [`Run::attach`], with another store for the evidence than the state folder.
    ///
    /// # Errors
    /// As [`Run::attach`].
    pub fn attach_with(
        state: &StateDir,
        run: &RunId,
        authority: Arc<dyn ChainAuthority>,
        store: Arc<dyn Store>,
    ) -> Result<Self, EvidenceError> {
        let key = LedgerKey::load(state)?.require_private()?;
        let meta = store.turn()?.read_meta().ok_or_else(|| EvidenceError::UnknownRun { run: run.to_string() })?;
        let ended = || EvidenceError::Ended { run: run.to_string() };
        if !meta.is_open() {
            return Err(ended());
        }
        let presence = Presence::claim(state, run)?;
        // Read again: until the sign is up, somebody may end the run as abandoned.
        if !store.turn()?.read_meta().unwrap_or(meta).is_open() {
            presence.take_down();
            return Err(ended());
        }
        Self::write(state, run.clone(), key, presence, store, authority)
    }

    fn write(
        state: &StateDir,
        id: RunId,
        key: LedgerKey,
        presence: Presence,
        store: Arc<dyn Store>,
        authority: Arc<dyn ChainAuthority>,
    ) -> Result<Self, EvidenceError> {
        let chain = Chain::new(id.clone(), state.clone(), key, store, authority);
        Ok(Self { writer: Arc::new(Writer::spawn(chain, presence)?), id })
    }

    /// The run's id.
    #[must_use]
    pub const fn id(&self) -> &RunId {
        &self.id
    }

    /// Records a receipt and links it in the ledger. Blocks until both are durable.
    ///
    /// # Errors
    /// Nothing may be answered then: the receipt is not there, or cannot be relied on to be.
    pub fn record(&self, entry: Entry) -> Result<Recorded, EvidenceError> {
        check(&entry)?;
        self.writer.record(entry)
    }

    /// Like [`Run::record`], but returns at once and calls `done` exactly once: on the writer's thread, or on this one when
    /// the entry is refused right away. `done` must not block.
    pub fn submit(&self, entry: Entry, done: Box<dyn FnOnce(Result<Recorded, EvidenceError>) + Send>) {
        match check(&entry) {
            Ok(()) => self.writer.submit(entry, done),
            Err(error) => done(Err(error)),
        }
    }

    /// Ends the run: writes what is waiting, empties the journal, and closes `meta.json` with the number of events and the
    /// last signature. Blocks.
    ///
    /// # Errors
    /// `StatusRefused` when another writer's event failed in part and the status says otherwise; the run is still open then.
    pub fn end(&self, status: RunStatus) -> Result<RunMeta, EvidenceError> {
        self.writer.end(status)
    }

    /// What the writer has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.writer.stats()
    }
}

/// Makes a folder for a new run that nobody else has.
fn claim(runs: &Folder) -> Result<(RunId, Folder), EvidenceError> {
    let mut tries = 0;
    loop {
        let id = RunId::fresh(&clock::date())?;
        match runs.create_child(id.as_str(), 0o755) {
            Ok(folder) => return Ok((id, folder)),
            Err(EvidenceError::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists && tries < ID_TRIES =>
            {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn check(entry: &Entry) -> Result<(), EvidenceError> {
    check_tool_call(&entry.tool_call)?;
    if entry.receipt.bytes().any(|byte| byte == b'\n' || byte == b'\r') {
        return Err(EvidenceError::InvalidEntry { reason: "the receipt is not one line" });
    }
    if hex::encode(Sha256::digest(&entry.receipt)) != entry.content_hash {
        return Err(EvidenceError::InvalidEntry { reason: "the content hash is not the receipt's" });
    }
    Ok(())
}
