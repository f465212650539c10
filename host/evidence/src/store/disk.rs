//! A run's evidence in roam-code's layout, the journal in `counterfoil/<run>/` beside it.

use super::{Position, Put, Store, Turn};
use crate::error::EvidenceError;
use crate::files::{Folder, read_bounded};
use crate::ids::RunId;
use crate::meta::RunMeta;
use crate::state::StateDir;
use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const EVENTS_FILE: &str = "events.jsonl";
const LOCK_FILE: &str = "events.jsonl.lock";
pub(crate) const RECEIPTS_FOLDER: &str = "mcp_receipts";
const RUNS_FOLDER: &str = "runs";
pub(crate) const OWN_FOLDER: &str = "counterfoil";
pub(crate) const JOURNAL_FILE: &str = "journal.jsonl";
/// Longest ledger that is read.
pub(crate) const LEDGER_MAX: u64 = 1 << 30;
/// Longest receipt that is read.
pub(crate) const RECEIPT_MAX: u64 = 16 << 20;
/// How long roam-code waits for the ledger's lock, and so do we.
pub(crate) const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// Longest pause between two tries to get the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Keeps one run's evidence in a state folder.
#[derive(Debug, Clone)]
pub struct DiskStore {
    state: StateDir,
    run: RunId,
    patience: Duration,
}

impl DiskStore {
    /// The store of a run. Nothing is touched before the first turn.
    #[must_use]
    pub const fn new(state: StateDir, run: RunId) -> Self {
        Self { state, run, patience: LOCK_PATIENCE }
    }

    /// The same store with another patience for the lock than ten seconds.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Store for DiskStore {
    fn turn(&self) -> Result<Box<dyn Turn + '_>, EvidenceError> {
        let state = self.state.open()?;
        let run = state.child(RUNS_FOLDER)?.child(self.run.as_str())?;
        let lock = exclusive(&run, self.patience)?;
        let ledger_path = run.path().join(EVENTS_FILE);
        let ledger = run
            .append_handle(EVENTS_FILE)?
            .ok_or_else(|| EvidenceError::io("open", &ledger_path, io::ErrorKind::NotFound.into()))?;
        let receipts = state.child_or_create(RECEIPTS_FOLDER, 0o700)?.0.child_or_create(self.run.as_str(), 0o700)?.0;
        let own = state.child_or_create(OWN_FOLDER, 0o700)?.0.child_or_create(self.run.as_str(), 0o700)?.0;
        let journal_path = own.path().join(JOURNAL_FILE);
        let (journal, made) = own.append_or_create(JOURNAL_FILE, 0o600)?;
        if made {
            own.sync()?;
        }
        Ok(Box::new(DiskTurn { run, receipts, ledger, ledger_path, journal, journal_path, _lock: lock }))
    }
}

struct DiskTurn {
    run: Folder,
    receipts: Folder,
    ledger: File,
    ledger_path: PathBuf,
    journal: File,
    journal_path: PathBuf,
    /// Closing it lets the lock go.
    _lock: File,
}

impl Turn for DiskTurn {
    fn position(&mut self) -> Result<Position, EvidenceError> {
        position_of(&self.ledger, &self.ledger_path)
    }

    fn read_ledger(&mut self, from: u64) -> Result<Vec<u8>, EvidenceError> {
        read_from(&self.ledger, &self.ledger_path, from)
    }

    fn append_ledger(&mut self, bytes: &[u8]) -> Result<(), EvidenceError> {
        append(&mut self.ledger, &self.ledger_path, bytes, false)
    }

    fn journal_length(&mut self) -> Result<u64, EvidenceError> {
        length(&self.journal, &self.journal_path)
    }

    fn read_journal(&mut self, from: u64) -> Result<Vec<u8>, EvidenceError> {
        read_from(&self.journal, &self.journal_path, from)
    }

    fn append_journal(&mut self, bytes: &[u8]) -> Result<(), EvidenceError> {
        append(&mut self.journal, &self.journal_path, bytes, true)
    }

    fn has_receipt(&mut self, tool_call: &str) -> Result<bool, EvidenceError> {
        self.receipts.holds(&receipt_name(tool_call))
    }

    fn put_receipt(&mut self, tool_call: &str, bytes: &[u8]) -> Result<Put, EvidenceError> {
        self.receipts.put_new(&receipt_name(tool_call), bytes, false)
    }

    fn read_receipt(&mut self, tool_call: &str) -> Result<Option<Vec<u8>>, EvidenceError> {
        self.receipts.read(&receipt_name(tool_call), RECEIPT_MAX)
    }

    fn replace_receipt(&mut self, tool_call: &str, bytes: &[u8]) -> Result<(), EvidenceError> {
        self.receipts.replace(&receipt_name(tool_call), bytes, 0o600)
    }

    fn settle(&mut self) -> Result<(), EvidenceError> {
        // One flush for thousands of receipts, which have none of their own.
        self.receipts.sync_file_system()?;
        let flushed = self.ledger.sync_all();
        flushed.map_err(|error| EvidenceError::io("flush", &self.ledger_path, error))?;
        // Not flushed: a journal that comes back after a crash is found to be carried out.
        self.journal.set_len(0).map_err(|error| EvidenceError::io("empty", &self.journal_path, error))
    }

    fn read_meta(&mut self) -> Option<RunMeta> {
        RunMeta::read(&self.run)
    }

    fn write_meta(&mut self, meta: &RunMeta) -> Result<(), EvidenceError> {
        meta.write(&self.run)
    }
}

/// Takes roam-code's lock on a run's ledger, making the lock file if it is not there.
pub(crate) fn exclusive(run: &Folder, patience: Duration) -> Result<File, EvidenceError> {
    let path = run.path().join(LOCK_FILE);
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        let (mut file, made) = run.append_or_create(LOCK_FILE, 0o644)?;
        if made {
            file.write_all(&[0]).map_err(|error| EvidenceError::io("write", &path, error))?;
        }
        match file.try_lock() {
            // Whoever deleted the file in between locks another one.
            Ok(()) if is_still(run, &file)? => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(EvidenceError::io("lock", &path, error)),
        }
        if begun.elapsed() >= patience {
            return Err(EvidenceError::LockTimeout { path, seconds: patience.as_secs() });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LOCK_PAUSE);
    }
}

/// Takes a shared lock on a run's ledger for reading, if the lock file is there and nobody writes for long. Writes nothing.
pub(crate) fn shared(run: &Folder, patience: Duration) -> Option<File> {
    let file = run.read_handle(LOCK_FILE).ok()??;
    let begun = Instant::now();
    while file.try_lock_shared().is_err() {
        if begun.elapsed() >= patience {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
    Some(file)
}

fn is_still(run: &Folder, file: &File) -> Result<bool, EvidenceError> {
    let path = run.path().join(LOCK_FILE);
    let identity = |file: &File| file.metadata().map(|about| (about.dev(), about.ino()));
    let mine = identity(file).map_err(|error| EvidenceError::io("look at", &path, error))?;
    Ok(run.read_handle(LOCK_FILE)?.is_some_and(|now| identity(&now).is_ok_and(|there| there == mine)))
}

fn receipt_name(tool_call: &str) -> String {
    format!("{tool_call}.json")
}

fn position_of(file: &File, path: &Path) -> Result<Position, EvidenceError> {
    let about = file.metadata().map_err(|error| EvidenceError::io("look at", path, error))?;
    let stamp = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
    Ok(Position { identity: about.ino(), length: about.len(), stamp })
}

fn length(file: &File, path: &Path) -> Result<u64, EvidenceError> {
    file.metadata().map(|about| about.len()).map_err(|error| EvidenceError::io("look at", path, error))
}

fn read_from(file: &File, path: &Path, from: u64) -> Result<Vec<u8>, EvidenceError> {
    let failed = |error| EvidenceError::io("read", path, error);
    let mut file = file.try_clone().map_err(failed)?;
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    read_bounded(file, path, LEDGER_MAX)
}

/// Appends, and takes back what was appended if not all of it could be.
fn append(file: &mut File, path: &Path, bytes: &[u8], durable: bool) -> Result<(), EvidenceError> {
    let before = length(file, path)?;
    let appended = file.write_all(bytes).and_then(|()| if durable { file.sync_data() } else { Ok(()) });
    appended.map_err(|error| {
        let after = length(file, path).unwrap_or(u64::MAX);
        // More than that means that a writer without the lock has appended too.
        if after <= before.saturating_add(bytes.len() as u64) {
            let _ = file.set_len(before);
        }
        EvidenceError::io("write", path, error)
    })
}
