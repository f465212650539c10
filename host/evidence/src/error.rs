//! Why something about the evidence failed.

use crate::authority::AuthorityError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Why something about the evidence failed. Cheap to clone: one failed flush answers many callers.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The file system refused. [`EvidenceError::code`] tells full, read-only and deleted apart.
    #[error("cannot {doing} `{}`: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// There is no ledger key. Only starting a first run makes one.
    #[error("there is no ledger key at `{}`; put back the key the ledgers were signed with, or start a first run to make one", path.display())]
    KeyMissing {
        /// Where the key belongs.
        path: PathBuf,
    },
    /// There is no ledger key, but there are ledgers that one has signed. A new key would make all of them look tampered with.
    #[error("there is no ledger key at `{}`, but run `{run}` is signed with one; put the key back, or move the runs away", path.display())]
    KeyLost {
        /// Where the key belongs.
        path: PathBuf,
        /// A run with signed events.
        run: String,
    },
    /// The ledger key is not the one that the open run is signed with.
    #[error("the ledger key at `{}` is not the one that the open run is signed with; put that key back", path.display())]
    KeyChanged {
        /// Where the key is.
        path: PathBuf,
    },
    /// The ledger key has a wrong length. It is never made anew over an existing file.
    #[error("the ledger key at `{}` has {length} bytes instead of 32; put back the right key, or move this one away", path.display())]
    KeyLength {
        /// Where the key is.
        path: PathBuf,
        /// Its length in bytes.
        length: u64,
    },
    /// Others than its owner can read or write the ledger key.
    #[error("others can reach the ledger key at `{}` (mode {mode:o}); run `chmod 600` on it, and take a new key if it may be known", path.display())]
    KeyExposed {
        /// Where the key is.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another writer held the ledger's lock for too long.
    #[error("another process has held the lock `{}` for {seconds} seconds; end it or try again", path.display())]
    LockTimeout {
        /// The lock file.
        path: PathBuf,
        /// How long this one waited.
        seconds: u64,
    },
    /// There is a receipt of that name already.
    #[error("a receipt named `{tool_call}` exists already; every call needs an id of its own")]
    NameTaken {
        /// The id.
        tool_call: String,
    },
    /// Something that is no safe name was about to become a path.
    #[error("not a valid {what}; {rule}")]
    UnsafeId {
        /// `run id` or `tool call id`.
        what: &'static str,
        /// What it has to look like.
        rule: &'static str,
    },
    /// There is no such run, or its `meta.json` cannot be read.
    #[error("run `{run}` does not exist or its meta.json cannot be read")]
    UnknownRun {
        /// The run's id.
        run: String,
    },
    /// There is no such receipt.
    #[error("there is no receipt `{tool_call}`")]
    UnknownReceipt {
        /// The id that was asked for.
        tool_call: String,
    },
    /// Not the name of a run's state.
    #[error("not a run status; use `completed`, `failed` or `abandoned`")]
    UnknownStatus,
    /// The run cannot end with that status.
    #[error("run `{run}` holds an event that failed in part; it can only end as `failed` or `abandoned`")]
    StatusRefused {
        /// The run's id.
        run: String,
    },
    /// An entry that does not agree with itself.
    #[error("the entry cannot be recorded: {reason}")]
    InvalidEntry {
        /// What is wrong.
        reason: &'static str,
    },
    /// Another writer broke the chain of this run; nothing more is written to it.
    #[error("another writer forked or broke the ledger of run `{run}`; nothing more is written to it, start a new run")]
    Forked {
        /// The run's id.
        run: String,
    },
    /// The run has ended.
    #[error("run `{run}` has ended; start a new one")]
    Ended {
        /// The run's id.
        run: String,
    },
    /// The writer has stopped before it got to this entry.
    #[error("the ledger's writer has stopped")]
    Stopped,
    /// More entries are waiting than the writer takes on.
    #[error("too many receipts are waiting to be written; try again")]
    Busy,
    /// A file is larger than anything this crate would read.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The authority gave no answer.
    #[error("the ledger could not be computed: {0}")]
    Authority(#[from] AuthorityError),
}

impl EvidenceError {
    /// Wraps what the system said about a path.
    #[must_use]
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source: Arc::new(source) }
    }

    /// The case as a word, for logs and machine-readable answers.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "storage_full",
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => "read_only",
                io::ErrorKind::NotFound => "folder_missing",
                _ => "io",
            },
            Self::KeyMissing { .. } => "key_missing",
            Self::KeyLost { .. } => "key_lost",
            Self::KeyChanged { .. } => "key_changed",
            Self::KeyLength { .. } => "key_invalid",
            Self::KeyExposed { .. } => "key_exposed",
            Self::LockTimeout { .. } => "lock_timeout",
            Self::NameTaken { .. } => "name_taken",
            Self::UnsafeId { .. } => "unsafe_id",
            Self::UnknownRun { .. } => "unknown_run",
            Self::UnknownReceipt { .. } => "unknown_receipt",
            Self::UnknownStatus => "unknown_status",
            Self::StatusRefused { .. } => "status_refused",
            Self::InvalidEntry { .. } => "invalid_entry",
            Self::Forked { .. } => "forked",
            Self::Ended { .. } => "ended",
            Self::Stopped => "stopped",
            Self::Busy => "busy",
            Self::TooLarge { .. } => "too_large",
            Self::Authority(_) => "authority",
        }
    }

    /// Whether the same entry may be recorded later, once what is in the way is gone.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Io { .. }
                | Self::KeyMissing { .. }
                | Self::KeyChanged { .. }
                | Self::KeyLength { .. }
                | Self::KeyExposed { .. }
                | Self::LockTimeout { .. }
                | Self::Busy
                | Self::Authority(_)
        )
    }
}

/// What to do about it, where the system's own words leave that open.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space",
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => "; make the state folder writable",
        io::ErrorKind::NotADirectory => "; something that is no folder stands in its place",
        _ => "",
    }
}
