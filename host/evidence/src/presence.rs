//! The sign that a run's writer lives: a lock on a file beside the journal, held from before the run can be seen until the
//! writer stops. The system lets it go with the process, however that ends.
//!
//! A writer that stops in order takes the file away, so that the file without its lock means a writer that was killed, or one
//! that could not end its run. A run that is left open on purpose, for other programs to write to, has no sign.

use crate::error::EvidenceError;
use crate::files::Folder;
use crate::ids::RunId;
use crate::state::StateDir;
use crate::store::{LOCK_PATIENCE, OWN_FOLDER};
use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

const PRESENCE_FILE: &str = "writer.lock";
const PAUSE: Duration = Duration::from_millis(5);

/// Held by each writer of a run. Several may be there at once.
#[derive(Debug)]
pub struct Presence {
    own: Folder,
    /// Closing it lets the lock go.
    lock: File,
}

impl Presence {
    /// Says that this process writes to a run.
    ///
    /// # Errors
    /// `Io`, or `LockTimeout` when somebody who takes the run for abandoned does not get done with it.
    pub fn claim(state: &StateDir, run: &RunId) -> Result<Self, EvidenceError> {
        let own = state.open()?.child_or_create(OWN_FOLDER, 0o700)?.0.child_or_create(run.as_str(), 0o700)?.0;
        let (file, _) = own.append_or_create(PRESENCE_FILE, 0o600)?;
        let path = own.path().join(PRESENCE_FILE);
        let begun = Instant::now();
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Ok(Self { own, lock: file }),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_PATIENCE => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(EvidenceError::LockTimeout { path, seconds: LOCK_PATIENCE.as_secs() });
                }
                Err(TryLockError::Error(error)) => return Err(EvidenceError::io("lock", &path, error)),
            }
        }
    }

    /// Takes the sign away, unless another writer lives that needs it.
    pub fn take_down(self) {
        if self.lock.try_lock().is_ok() {
            self.own.remove(PRESENCE_FILE);
        }
    }
}

/// No writer of a run lives, its last one went out of order, and none comes back while this is held.
#[derive(Debug)]
pub struct Absence {
    own: Folder,
    /// Closing it lets the lock go.
    _lock: File,
}

impl Absence {
    /// Makes sure that no writer lives; none when one does, or when the run has no sign of one: then it was left in order, or
    /// nobody can tell.
    pub fn prove(own: &Folder, run: &RunId) -> Result<Option<Self>, EvidenceError> {
        let Some(folder) = own.child_if_there(run.as_str())? else {
            return Ok(None);
        };
        let Some(file) = folder.append_handle(PRESENCE_FILE)? else {
            return Ok(None);
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { own: folder, _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(EvidenceError::io("lock", &folder.path().join(PRESENCE_FILE), error))
            }
        }
    }
    /// Takes the sign away: the run has ended.
    pub fn settle(self) {
        self.own.remove(PRESENCE_FILE);
    }
}
