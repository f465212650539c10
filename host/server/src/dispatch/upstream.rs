//! The side that runs tools.

use std::future::Future;
use std::pin::Pin;

use counterfoil_engine::types::Effects;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// A future that a trait object gives.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What is known about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// A tool that does this.
    Known(Effects),
    /// No tool of this name.
    Unknown,
    /// The upstream has not told its tools yet and cannot be reached.
    Unreachable(Unavailable),
}

/// Why an upstream cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Nothing answers at its address.
    #[error("the upstream server cannot be reached")]
    Unreachable,
    /// It wants a credential, or another one.
    #[error("the upstream server refuses our credential (HTTP 401)")]
    Unauthorized,
    /// The credential does not suffice.
    #[error("the upstream server does not let us in (HTTP 403)")]
    Forbidden,
    /// It answers with another HTTP status.
    #[error("the upstream server answers with HTTP {0}")]
    Status(u16),
    /// What it says is not MCP over streamable HTTP.
    #[error("the upstream server does not speak the protocol")]
    Protocol,
    /// What it says is larger than this many bytes.
    #[error("the upstream server's answer is larger than {0} bytes")]
    TooLarge(usize),
    /// It does not answer in time.
    #[error("the upstream server does not answer in time")]
    Slow,
}

/// A call as it goes to the upstream.
#[derive(Debug)]
pub struct UpstreamCall {
    /// Name of the tool.
    pub tool: String,
    /// The arguments as they may go on.
    pub arguments: Option<Map<String, Value>>,
    /// Metadata.
    pub meta: Map<String, Value>,
    /// Set when the call is to be given up.
    pub cancelled: CancellationToken,
}

/// What an upstream gave. Texts are the very characters that it sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A result, as JSON text.
    Result(String),
    /// A protocol error, as JSON text.
    Error(String),
    /// Something that is no JSON-RPC response.
    Garbled,
    /// More than this many bytes.
    TooLarge(usize),
    /// No answer in time.
    TimedOut,
    /// The call was given up.
    Cancelled,
    /// The upstream cannot be used.
    Unavailable(Unavailable),
}

/// A server that runs tools.
pub trait Upstream: Send + Sync + 'static {
    /// Its name, for logs and receipts.
    fn name(&self) -> &str;
    /// What is known about a tool.
    fn look_up<'a>(&'a self, tool: &'a str) -> Pending<'a, Lookup>;
    /// Run a tool. Ends soon after the call is cancelled.
    fn call(&self, call: UpstreamCall) -> Pending<'_, Reply>;
}
