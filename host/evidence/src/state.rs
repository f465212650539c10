//! The state folder and where it is.

use crate::error::EvidenceError;
use crate::files::{Folder, is_missing};
use crate::ids::RunId;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of the state folder below the project root.
pub const STATE_FOLDER: &str = ".roam";
/// Longest policy file whose digest a run records.
const POLICY_FILE_MAX: u64 = 16 << 20;

/// The folder that holds `mcp_receipts/`, `runs/`, `active_mode` and `constitution.yml`.
///
/// Naming one touches nothing; the folder is made when the first run is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// The state folder of the project that `start` lies in: `.roam` below the nearest ancestor (`start` included) with a
    /// genuine `.git`, or below `start` itself.
    ///
    /// # Errors
    /// When `start` does not exist or cannot be resolved.
    pub fn locate(start: &Path) -> io::Result<Self> {
        let start = fs::canonicalize(start)?;
        let root = start.ancestors().find(|folder| is_genuine_git(&folder.join(".git"))).unwrap_or(&start);
        Ok(Self { path: root.join(STATE_FOLDER) })
    }

    /// The state folder at a path of its own.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The project root: the folder that holds the state folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Where a run's `meta.json` and `events.jsonl` are.
    #[must_use]
    pub fn run_path(&self, run: &RunId) -> PathBuf {
        self.path.join("runs").join(run.as_str())
    }

    /// Where a run's ledger is.
    #[must_use]
    pub fn events_path(&self, run: &RunId) -> PathBuf {
        self.run_path(run).join("events.jsonl")
    }

    /// Where a run's receipts are.
    #[must_use]
    pub fn receipts_path(&self, run: &RunId) -> PathBuf {
        self.path.join("mcp_receipts").join(run.as_str())
    }

    /// The text of `active_mode`, trimmed; none if the file is not there.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn active_mode(&self) -> Result<Option<String>, EvidenceError> {
        let Some(folder) = self.open_if_there()? else {
            return Ok(None);
        };
        let bytes = folder.read("active_mode", 4096)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    /// Writes `active_mode`: the name and a newline, mode 0600, atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_active_mode(&self, mode: &str) -> Result<(), EvidenceError> {
        self.open_or_create()?.replace("active_mode", format!("{mode}\n").as_bytes(), 0o600)
    }

    /// Opens the folder.
    pub(crate) fn open(&self) -> Result<Folder, EvidenceError> {
        Folder::open(&self.path)
    }

    /// Opens the folder if it is there.
    pub(crate) fn open_if_there(&self) -> Result<Option<Folder>, EvidenceError> {
        match self.open() {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder, making it first if it is not there.
    ///
    /// A folder without a key gets a `.gitignore`: roam-code writes one on `roam init` only, and then `git add` of a whole
    /// project would take the key along.
    pub(crate) fn open_or_create(&self) -> Result<Folder, EvidenceError> {
        let folder = match self.open_if_there()? {
            Some(folder) => folder,
            None => {
                fs::create_dir_all(&self.path).map_err(|error| EvidenceError::io("create", &self.path, error))?;
                Folder::open(self.root())?.sync()?;
                self.open()?
            }
        };
        let has_key = match folder.child_if_there("runs")? {
            Some(runs) => runs.holds(".ledger_key")?,
            None => false,
        };
        if !has_key && !folder.holds(".gitignore")? {
            folder.put_new(".gitignore", b"*", true)?;
        }
        Ok(folder)
    }

    /// Digests of the policy files that apply now, as a run's `meta.json` carries them: member name, then SHA-256 in hex or
    /// empty text if there is no such file.
    pub(crate) fn policy_digests(&self) -> [(&'static str, String); 3] {
        [
            ("constitution_hash", digest_of(&self.path.join("constitution.yml"))),
            ("control_map_hash", digest_of(&self.path.join("control-map.yml"))),
            ("rules_config_hash", digest_of(&self.root().join(".roam-rules.yml"))),
        ]
    }
}

fn digest_of(path: &Path) -> String {
    let mut bytes = Vec::new();
    match fs::File::open(path).and_then(|file| file.take(POLICY_FILE_MAX).read_to_end(&mut bytes)) {
        Ok(_) => hex::encode(Sha256::digest(&bytes)),
        Err(_) => String::new(),
    }
}

/// Whether this is the `.git` of a work tree: a folder with `HEAD`, `objects/` and `refs/`, or a file that points to one.
fn is_genuine_git(path: &Path) -> bool {
    if path.is_dir() {
        return path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir();
    }
    if !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    // The first 64 characters may take up to 256 bytes.
    read.is_ok()
        && String::from_utf8_lossy(&start).chars().take(64).collect::<String>().trim_start().starts_with("gitdir:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_nearest_genuine_git() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let deep = top.join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(top.join(".git/objects")).unwrap();
        fs::create_dir_all(top.join(".git/refs")).unwrap();
        // Without `HEAD` it is not genuine.
        fs::create_dir_all(top.join("a/b/.git/objects")).unwrap();
        assert_eq!(StateDir::locate(&deep).unwrap().path(), deep.join(".roam"));
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(StateDir::locate(&deep).unwrap().path(), top.join(".roam"));
        fs::write(top.join("a/.git"), " \n gitdir: ../x\n").unwrap();
        let state = StateDir::locate(&deep).unwrap();
        assert_eq!(state.path(), top.join("a/.roam"));
        assert_eq!(state.root(), top.join("a"));
        assert!(!state.path().exists());
        assert!(StateDir::locate(&top.join("none")).is_err());
    }

    #[test]
    fn the_key_is_never_addable_by_git() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("x/.roam"));
        state.open_or_create().unwrap();
        assert_eq!(fs::read(dir.path().join("x/.roam/.gitignore")).unwrap(), b"*");
        // A folder that already has a key is taken up as it is.
        let old = StateDir::at(dir.path().join("old"));
        fs::create_dir_all(dir.path().join("old/runs")).unwrap();
        fs::write(dir.path().join("old/runs/.ledger_key"), [0; 32]).unwrap();
        old.open_or_create().unwrap();
        assert!(!dir.path().join("old/.gitignore").exists());
    }
}
