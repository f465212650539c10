//! The side that keeps receipts.

use counterfoil_evidence::{Entry, EvidenceError, Recorded};

/// Told once, when an entry is durable or has failed.
pub type Saved = Box<dyn FnOnce(Result<Recorded, EvidenceError>) + Send>;

/// Keeps receipts.
pub trait Recorder: Send + Sync + 'static {
    /// The run that receipts are linked in now.
    fn run_id(&self) -> String;
    /// Make a receipt durable and link it in the run that it names, and say so. Fails when that run is not open any more.
    fn submit(&self, run: &str, entry: Entry, saved: Saved);
}
