//! Asks the Counterfoil component about MCP tool calls.
//!
//! The component holds the policy: may this call pass, what of the result may the client see, what does the receipt say.
//! This crate loads it with wasmtime and gives it a typed face for any Rust gateway. There is no HTTP and no MCP in here,
//! no file and no network, and no verdict of its own: each answer is the component's.
//!
//! Each call gets an instance of its own that is thrown away afterwards, so nothing of one caller can reach another. Time,
//! memory, input and the number of instances are bounded by [`Limits`]. Whatever goes wrong comes back as a [`Refusal`], and
//! a gateway that sees one denies the call or withholds the result.
//!
//! ```no_run
//! use counterfoil_engine::types::{AdmitRequest, Call, Decision, Effects, Mode};
//! use counterfoil_engine::{Engine, Source};
//!
//! let component = std::fs::read("counterfoil.wasm")?;
//! let engine = Engine::builder(Source::Component(component)).build()?;
//!
//! let admission = engine.admit(&AdmitRequest {
//!     call: Call {
//!         tool: "delete_file".to_owned(),
//!         command: None,
//!         effects: Effects { read_only: false, destructive: true, idempotent: false },
//!         mode: Mode::SafeEdit,
//!         dry_run: false,
//!     },
//!     arguments: r#"{"path": "notes.txt"}"#.to_owned(),
//!     configuration: None,
//! })?;
//! if admission.judgement.decision == Decision::Deny {
//!     println!("{}", admission.judgement.reason);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! - [`Engine`], [`Builder`], [`Source`], [`Identity`]: load a component, change its configuration, ask it.
//! - [`Session`]: one instance for several questions, [`Redactor`]: one instance for one text that arrives bit by bit.
//! - [`types`]: the records of the contract.
//! - [`Limits`], [`Refusal`], [`LoadError`]: the bounds and what is said when they are met.
//! - [`bake()`], [`precompile`], [`prepare`]: what a build does to the component's file before it is embedded.

mod bake;
mod bindings;
mod engine;
mod error;
mod exports;
mod limits;
mod load;
mod questions;
mod redactor;
mod refusal;
mod sandbox;
mod sanity;
mod session;
mod size;
mod slots;
mod ticker;
pub mod types;
mod words;

pub use bake::{Prepared, bake, precompile, prepare};
pub use engine::{Builder, Engine, Identity};
pub use error::LoadError;
pub use limits::Limits;
pub use load::Source;
pub use redactor::Redactor;
pub use refusal::Refusal;
pub use session::Session;
