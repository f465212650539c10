//! The sign that a run's writer lives: a lock on a file beside the journal, held from before the run can be seen until the
//! writer stops. The system lets it go with the process, however that ends.

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
    /// Closing it lets the lock go.
    _lock: File,
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
                Ok(()) => return Ok(Self { _lock: file }),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_PATIENCE => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(EvidenceError::LockTimeout { path, seconds: LOCK_PATIENCE.as_secs() });
                }
                Err(TryLockError::Error(error)) => return Err(EvidenceError::io("lock", &path, error)),
            }
        }
    }
}

/// No writer of a run lives, and none comes back while this is held.
#[derive(Debug)]
pub struct Absence {
    /// Closing it lets the lock go.
    _lock: File,
}

impl Absence {
    /// Makes sure that no writer lives; none when one does, or when the run has no sign of one: then nobody can tell.
    pub fn prove(own: &Folder, run: &RunId) -> Result<Option<Self>, EvidenceError> {
        let Some(folder) = own.child_if_there(run.as_str())? else {
            return Ok(None);
        };
        let Some(file) = folder.append_handle(PRESENCE_FILE)? else {
            return Ok(None);
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(EvidenceError::io("lock", &folder.path().join(PRESENCE_FILE), error))
            }
        }
    }
}
