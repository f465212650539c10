//! The rules of Counterfoil as plain Rust.
//!
//! No I/O, no clock, no randomness, no environment: what a function needs comes in as an argument, and the same bytes in
//! give the same bytes out. The crate builds natively and for WebAssembly; `counterfoil-policy` exports it as a component.
//!
//! # Layout
//!
//! - [`vocabulary`]: the closed enums and shared records. [`error`]: why a call failed.
//! - [`canonical`]: roam-code's three spellings of JSON.
//! - [`receipt`], [`ledger`]: receipts and the HMAC chain over them.
//! - [`configuration`]: what an operator may change.
//! - [`gate`]: may this mode run this tool?
//! - [`redact`], [`markers`]: secrets and prompt-injection marks in text and JSON.
//! - [`call`]: `admit` before a tool runs, `settle` after it.
//! - [`about`]: digest of the rules, catalogue.

pub mod about;
pub mod call;
pub mod canonical;
pub mod configuration;
pub mod error;
pub mod gate;
pub mod ledger;
pub mod markers;
mod python;
pub mod receipt;
pub mod redact;
pub mod vocabulary;

pub use configuration::Configuration;
pub use error::Error;
