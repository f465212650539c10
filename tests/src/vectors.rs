//! The vectors of roam-code, each run against an implementation that the caller names.

pub mod formats;
pub mod policy;
