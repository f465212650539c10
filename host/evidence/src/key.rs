//! The ledger key: 32 raw bytes that sign every run of a state folder.

use crate::error::EvidenceError;
use crate::events;
use crate::files::{Folder, Put, read_bounded};
use crate::ids::{RunId, fill_random};
use crate::runs::read_ledger;
use crate::state::StateDir;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Name of the key's file in `runs/`.
pub(crate) const KEY_FILE: &str = ".ledger_key";
const KEY_LENGTH: usize = 32;

/// The ledger key. Its bytes appear in no message.
#[derive(Clone)]
pub struct LedgerKey {
    bytes: [u8; KEY_LENGTH],
    exposed: Option<EvidenceError>,
}

impl LedgerKey {
    /// Reads the key. Never makes one.
    ///
    /// # Errors
    /// `KeyMissing`, `KeyLength`, or `Io` when it cannot be read or is no regular file.
    pub fn load(state: &StateDir) -> Result<Self, EvidenceError> {
        let path = path_in(state);
        let missing = || EvidenceError::KeyMissing { path: path.clone() };
        let folder = state.open_if_there()?.ok_or_else(missing)?;
        let runs = folder.child_if_there("runs")?.ok_or_else(missing)?;
        read_key(&runs)?.ok_or_else(missing)
    }

    /// Reads the key for signing, making one if there is none and nothing was signed yet. Two starters at once agree on one
    /// key.
    ///
    /// # Errors
    /// As [`LedgerKey::load`] but for `KeyMissing`; `KeyLost` when there is none and a run is signed; `KeyExposed` when others
    /// than the owner can reach the file.
    pub(crate) fn load_or_create(runs: &Folder) -> Result<Self, EvidenceError> {
        let key = match read_key(runs)? {
            Some(key) => key,
            None => match (signed_run(runs)?, read_key(runs)?) {
                // Another starter made it, and signed with it, since the first look.
                (_, Some(key)) => key,
                (Some(run), None) => {
                    return Err(EvidenceError::KeyLost { path: runs.path().join(KEY_FILE), run: run.to_string() });
                }
                (None, None) => create_key(runs)?,
            },
        };
        key.require_private()
    }

    /// Checks that the file still holds this key and that only its owner can reach it.
    ///
    /// Reads it anew each time: a time stamp does not tell two writes within one tick of the clock apart.
    ///
    /// # Errors
    /// `KeyMissing`, `KeyLength`, `KeyExposed`, `KeyChanged`, or `Io` when it cannot be read or is no regular file.
    pub(crate) fn check(&self, state: &StateDir) -> Result<(), EvidenceError> {
        let now = Self::load(state)?.require_private()?;
        if now.bytes == self.bytes { Ok(()) } else { Err(EvidenceError::KeyChanged { path: path_in(state) }) }
    }

    /// This key, if only its owner can reach it.
    ///
    /// # Errors
    /// `KeyExposed` otherwise.
    pub fn require_private(self) -> Result<Self, EvidenceError> {
        match self.exposed {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// Why others can reach the key; none if only its owner can.
    #[must_use]
    pub const fn exposure(&self) -> Option<&EvidenceError> {
        self.exposed.as_ref()
    }

    /// The 32 bytes, for a [`crate::ChainAuthority`].
    #[must_use]
    pub const fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for LedgerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LedgerKey(..)")
    }
}

/// Where the key of a state folder belongs.
pub(crate) fn path_in(state: &StateDir) -> PathBuf {
    state.path().join("runs").join(KEY_FILE)
}

/// A run with a signed event, if there is one.
fn signed_run(runs: &Folder) -> Result<Option<RunId>, EvidenceError> {
    for run in runs.names()?.iter().filter_map(|name| name.parse::<RunId>().ok()) {
        let ledger = read_ledger(&runs.child(run.as_str())?)?;
        let signed = |line| events::parse(line).is_some_and(|event| events::text(&event, "signature").is_some());
        if events::lines(&ledger).any(signed) {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

fn create_key(runs: &Folder) -> Result<LedgerKey, EvidenceError> {
    let mut bytes = [0_u8; KEY_LENGTH];
    fill_random(&mut bytes)?;
    match runs.put_new(KEY_FILE, &bytes, true)? {
        Put::Created => Ok(LedgerKey { bytes, exposed: None }),
        Put::Exists => read_key(runs)?.ok_or_else(|| EvidenceError::KeyMissing { path: runs.path().join(KEY_FILE) }),
    }
}

fn read_key(runs: &Folder) -> Result<Option<LedgerKey>, EvidenceError> {
    let path = runs.path().join(KEY_FILE);
    let Some(file) = runs.read_handle(KEY_FILE)? else {
        return Ok(None);
    };
    let about = file.metadata().map_err(|error| EvidenceError::io("look at", &path, error))?;
    let content = read_bounded(file, &path, 1 << 20)?;
    let bytes = <[u8; KEY_LENGTH]>::try_from(content.as_slice())
        .map_err(|_| EvidenceError::KeyLength { path: path.clone(), length: content.len() as u64 })?;
    let mode = about.permissions().mode() & 0o777;
    let exposed = (mode & 0o077 != 0).then_some(EvidenceError::KeyExposed { path, mode });
    Ok(Some(LedgerKey { bytes, exposed }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn runs() -> (tempfile::TempDir, StateDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join(".roam"));
        let (runs, _) = state.open_or_create().unwrap().child_or_create("runs", 0o755).unwrap();
        (dir, state, runs)
    }

    #[test]
    fn many_starters_agree_on_one_private_key() {
        let (_dir, state, _) = runs();
        let start = std::sync::Barrier::new(8);
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let starters: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let runs = state.open().unwrap().child("runs").unwrap();
                        start.wait();
                        LedgerKey::load_or_create(&runs).unwrap().bytes
                    })
                })
                .collect();
            starters.into_iter().map(|starter| starter.join().unwrap()).collect()
        });
        let path = state.path().join("runs/.ledger_key");
        let stored = fs::read(&path).unwrap();
        assert!(keys.iter().all(|key| key.as_slice() == stored));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(state.path().join("runs")).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn an_unusable_key_is_refused_and_left_alone() {
        let (_dir, state, runs) = runs();
        assert!(matches!(LedgerKey::load(&state), Err(EvidenceError::KeyMissing { .. })));
        let path = state.path().join("runs/.ledger_key");
        assert!(!path.exists(), "looking makes no key");
        for length in [0_usize, 5, 31, 33, 64] {
            fs::write(&path, vec![7; length]).unwrap();
            let error = LedgerKey::load_or_create(&runs).unwrap_err();
            assert!(matches!(error, EvidenceError::KeyLength { length: l, .. } if l == length as u64));
            assert_eq!(fs::read(&path).unwrap(), vec![7; length]);
        }
        fs::write(&path, [7; 32]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = LedgerKey::load_or_create(&runs).unwrap_err();
        assert_eq!(error.code(), "key_exposed");
        assert!(error.to_string().contains("chmod 600"));
        assert!(LedgerKey::load(&state).unwrap().exposure().is_some());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(LedgerKey::load_or_create(&runs).is_ok());
        assert!(!format!("{:?}", LedgerKey::load(&state).unwrap()).contains('7'));
    }

    #[test]
    fn a_lost_key_is_made_anew_only_where_nothing_is_signed() {
        let (_dir, state, runs) = runs();
        let run = runs.create_child("run_20260101_abcdef", 0o755).unwrap();
        run.replace("events.jsonl", b"{\"action\": \"x\"}\nno event\n", 0o644).unwrap();
        let first = LedgerKey::load_or_create(&runs).unwrap();
        first.check(&state).unwrap();
        let path = state.path().join("runs/.ledger_key");
        fs::remove_file(&path).unwrap();
        assert_eq!(first.check(&state).unwrap_err().code(), "key_missing");
        run.replace("events.jsonl", b"{\"action\": \"x\"}\n{\"signature\": \"00\"}\n", 0o644).unwrap();
        let error = LedgerKey::load_or_create(&runs).unwrap_err();
        assert_eq!(error.code(), "key_lost");
        assert!(error.to_string().contains("`run_20260101_abcdef`") && error.to_string().contains("put the key back"));
        assert!(!path.exists(), "no key is made");
        runs.put_new(KEY_FILE, &first.bytes, false).unwrap();
        assert_eq!(LedgerKey::load_or_create(&runs).unwrap().bytes, first.bytes);
        first.check(&state).unwrap();
    }
}
