//! What the whole-system tests stand on: scratch projects, the built binary, upstreams, clients, planted secrets.
//!
//! Everything listens on 127.0.0.1 with a port that the system chose, and every process is ended by its own id.

pub mod client;
pub mod everything;
pub mod foreign;
pub mod host;
pub mod process;
pub mod project;
pub mod secrets;
pub mod upstream;
