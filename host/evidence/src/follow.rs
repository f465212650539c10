//! Reading a ledger while it grows.

use crate::error::EvidenceError;
use crate::events;
use crate::ids::RunId;
use crate::runs::open_runs;
use crate::state::StateDir;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes taken in one poll.
const POLL_MAX: u64 = 8 << 20;

/// A complete line of a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerLine {
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// The line without its line end.
    pub text: String,
    /// The event on it; none if it is no event.
    pub event: Option<Map<String, Value>>,
}

/// Follows the ledger of one run by polling: no line is given before it is complete, none twice.
#[derive(Debug)]
pub struct Follower {
    state: StateDir,
    run: RunId,
    offset: u64,
    identity: Option<u64>,
}

impl Follower {
    /// Follows a run's ledger from an offset in bytes: 0 for all of it, or what [`Follower::offset`] gave before.
    #[must_use]
    pub const fn new(state: StateDir, run: RunId, offset: u64) -> Self {
        Self { state, run, offset, identity: None }
    }

    /// Follows what is written to a run's ledger from now on.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn from_end(state: StateDir, run: RunId) -> Result<Self, EvidenceError> {
        let mut follower = Self::new(state, run, 0);
        // By lines and not by length: the last one may be half written.
        while !follower.poll()?.is_empty() {}
        Ok(follower)
    }

    /// Where the next line begins.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The lines that have become complete since the last poll. If the ledger was cut or another file took its place, it is
    /// followed from its start.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn poll(&mut self) -> Result<Vec<LedgerLine>, EvidenceError> {
        let Some(mut file) = self.open()? else {
            return Ok(Vec::new());
        };
        let path = self.state.events_path(&self.run);
        let failed = |error| EvidenceError::io("read", &path, error);
        let about = file.metadata().map_err(failed)?;
        if self.identity.is_some_and(|identity| identity != about.ino()) || about.len() < self.offset {
            self.offset = 0;
        }
        self.identity = Some(about.ino());
        if about.len() == self.offset {
            return Ok(Vec::new());
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(POLL_MAX).read_to_end(&mut bytes).map_err(failed)?;
        if !bytes.contains(&b'\n') && bytes.len() as u64 == POLL_MAX {
            return Err(EvidenceError::TooLarge { path, limit: POLL_MAX });
        }
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = piece.strip_suffix(b"\n") else {
                break;
            };
            let offset = self.offset;
            self.offset += piece.len() as u64;
            let line = events::trim(line);
            if !line.is_empty() {
                let text = String::from_utf8_lossy(line).into_owned();
                lines.push(LedgerLine { offset, event: events::parse(line), text });
            }
        }
        Ok(lines)
    }

    /// Like [`Follower::poll`], but waits until there is something or the time is over.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn wait(&mut self, longest: Duration) -> Result<Vec<LedgerLine>, EvidenceError> {
        let begun = Instant::now();
        loop {
            let lines = self.poll()?;
            if !lines.is_empty() || begun.elapsed() >= longest {
                return Ok(lines);
            }
            thread::sleep(Duration::from_millis(20).min(longest));
        }
    }

    fn open(&self) -> Result<Option<File>, EvidenceError> {
        let Some(runs) = open_runs(&self.state)? else {
            return Ok(None);
        };
        let Some(folder) = runs.child_if_there(self.run.as_str())? else {
            return Ok(None);
        };
        folder.read_handle("events.jsonl")
    }
}
