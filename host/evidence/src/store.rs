//! Where a run's evidence is put, behind one trait.
//!
//! The writer says what has to be kept and in which order; a [`Store`] says how. [`DiskStore`] keeps it in roam-code's
//! layout. Another one may serve several hosts from a shared database.

mod disk;

pub use crate::files::Put;
pub use disk::DiskStore;
pub(crate) use disk::{
    EVENTS_FILE, JOURNAL_FILE, LEDGER_MAX, LOCK_PATIENCE, OWN_FOLDER, RECEIPT_MAX, RECEIPTS_FOLDER, exclusive, shared,
};

use crate::error::EvidenceError;
use crate::meta::RunMeta;

/// Where a ledger ends and whether it is the one that was seen before. Two equal positions mean that nothing was written
/// in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Which file it is: changes when another file takes its place.
    pub identity: u64,
    /// Length in bytes.
    pub length: u64,
    /// When it was last written, in a unit of the store's own.
    pub stamp: i128,
}

/// Keeps the evidence of one run.
pub trait Store: Send + Sync + 'static {
    /// Waits, bounded, for the exclusive turn on the run. Everything is opened anew, so that a folder that was deleted,
    /// put back or remounted is seen as it is now. The turn ends when the value is dropped.
    ///
    /// # Errors
    /// `LockTimeout` when another writer does not let go, `Io` when the run cannot be reached.
    fn turn(&self) -> Result<Box<dyn Turn + '_>, EvidenceError>;
}

/// The exclusive turn on a run.
pub trait Turn {
    /// Where the ledger ends now.
    ///
    /// # Errors
    /// `Io`.
    fn position(&mut self) -> Result<Position, EvidenceError>;

    /// The ledger's bytes from an offset on.
    ///
    /// # Errors
    /// `Io`, `TooLarge`.
    fn read_ledger(&mut self, from: u64) -> Result<Vec<u8>, EvidenceError>;

    /// Appends to the ledger in one write. It need not be durable before [`Turn::settle`]. After an error a part may have
    /// been appended.
    ///
    /// # Errors
    /// `Io`.
    fn append_ledger(&mut self, bytes: &[u8]) -> Result<(), EvidenceError>;

    /// Length of the journal in bytes.
    ///
    /// # Errors
    /// `Io`.
    fn journal_length(&mut self) -> Result<u64, EvidenceError>;

    /// The journal's bytes from an offset on.
    ///
    /// # Errors
    /// `Io`, `TooLarge`.
    fn read_journal(&mut self, from: u64) -> Result<Vec<u8>, EvidenceError>;

    /// Appends to the journal; durable when this returns. After an error the journal is as before as far as possible.
    ///
    /// # Errors
    /// `Io`.
    fn append_journal(&mut self, bytes: &[u8]) -> Result<(), EvidenceError>;

    /// Whether there is a receipt of that name.
    ///
    /// # Errors
    /// `Io`.
    fn has_receipt(&mut self, tool_call: &str) -> Result<bool, EvidenceError>;

    /// Puts a receipt where none of that name is. It need not be durable before [`Turn::settle`].
    ///
    /// # Errors
    /// `Io`.
    fn put_receipt(&mut self, tool_call: &str, bytes: &[u8]) -> Result<Put, EvidenceError>;

    /// A receipt's bytes; none if it is not there.
    ///
    /// # Errors
    /// `Io`, `TooLarge`.
    fn read_receipt(&mut self, tool_call: &str) -> Result<Option<Vec<u8>>, EvidenceError>;

    /// Replaces a receipt that a crash left incomplete.
    ///
    /// # Errors
    /// `Io`.
    fn replace_receipt(&mut self, tool_call: &str, bytes: &[u8]) -> Result<(), EvidenceError>;

    /// Makes ledger and receipts durable on their own and empties the journal.
    ///
    /// # Errors
    /// `Io`; the journal is then kept.
    fn settle(&mut self) -> Result<(), EvidenceError>;

    /// What the run says of itself; none if that cannot be read.
    fn read_meta(&mut self) -> Option<RunMeta>;

    /// Replaces what the run says of itself, durably.
    ///
    /// # Errors
    /// `Io`.
    fn write_meta(&mut self, meta: &RunMeta) -> Result<(), EvidenceError>;
}
