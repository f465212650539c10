//! The host between real clients and real servers, on loopback ports.
//!
//! - [`host`]: a host with a state folder of its own. [`sample`]: an upstream over rmcp. [`wire`]: an upstream whose every
//!   byte is chosen here.
//! - [`calls`], [`listing`], [`troubles`], [`withheld`], [`ends`]: what is expected.

mod calls;
mod ends;
mod host;
mod listing;
mod sample;
mod troubles;
mod wire;
mod withheld;

pub use host::{Era, Host, result, token};
pub use sample::Sample;
