//! Receipts and ledgers at rest.
//!
//! Counterfoil keeps its evidence in roam-code's layout, byte for byte, below one state folder (`.roam`). This crate writes
//! that folder so that a receipt is on disk before its call is answered, recovers it after a crash, and judges it: as
//! roam-code does, and strictly. It computes no signature and no verdict on a chain itself: a [`ChainAuthority`] does, so
//! that what stands in a ledger always came out of the component.
//!
//! # One call
//!
//! ```no_run
//! use counterfoil_evidence::{
//!     ChainAuthority, Entry, EvidenceError, Run, RunOptions, RunStatus, StateDir, recover, runs, tool_call_id,
//! };
//! use std::path::PathBuf;
//! use std::sync::Arc;
//!
//! fn serve(authority: Arc<dyn ChainAuthority>, seal: impl Fn(&str) -> (String, String)) -> Result<(), EvidenceError> {
//!     let state = StateDir::at(PathBuf::from(".roam"));
//!     recover(&state, &authority)?;
//!     let run = Run::start(&state, RunOptions::default(), Arc::clone(&authority))?;
//!
//!     let tool_call = tool_call_id("get-env")?;
//!     let (receipt, content_hash) = seal(&tool_call);
//!     // Durable when this returns; only then may the call be answered.
//!     run.record(Entry { tool_call, tool_name: "get-env".to_owned(), receipt, content_hash })?;
//!
//!     run.end(RunStatus::Completed)?;
//!     assert_eq!(runs::verify(&state, run.id().as_str(), &authority).exit_code(), 0);
//!     Ok(())
//! }
//! ```
//!
//! # Layout
//!
//! - [`state`]: the state folder and where it is. [`key`]: the ledger key. [`ids`]: names that may become paths.
//! - [`authority`]: who signs and verifies. [`error`]: why something failed.
//! - [`run`]: an open run and its one writer. [`store`]: where the writer puts things, behind one trait.
//! - [`recovery`]: after a crash; `presence`: whether a run's writer lives. [`meta`], [`runs`]: what a run says of itself; listing and ending runs.
//! - [`verify`]: both verdicts. [`receipts`]: looking at receipts. [`follow`]: reading a ledger while it grows.

pub mod authority;
mod chain;
mod clock;
pub mod error;
mod events;
mod files;
pub mod follow;
pub mod ids;
mod journal;
pub mod key;
pub mod meta;
mod presence;
pub mod receipts;
pub mod recovery;
pub mod run;
pub mod runs;
pub mod state;
pub mod store;
pub mod verify;
mod writer;

pub use authority::{
    AuthorityError, ChainAuthority, ChainState, ChainVerdict, FullVerdict, ReceiptFile, ReceiptIntegrity, ReceiptLink,
    SignedEvent, Tail,
};
pub use error::EvidenceError;
pub use follow::{Follower, LedgerLine};
pub use ids::{RunId, tool_call_id};
pub use meta::{RunMeta, RunStatus};
pub use recovery::{Recovered, RunRecovery, end_abandoned, recover};
pub use run::{Entry, Recorded, Run, RunOptions, Stats};
pub use state::StateDir;
pub use verify::{Finding, FindingCode, RoamSummary, RoamVerification, Severity, Verification};
