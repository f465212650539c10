//! What is asked, and by whom.

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Who a call is judged as. There is one for now: whoever reaches the loopback listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Stable id.
    pub id: String,
}

impl Principal {
    /// Whoever reaches a listener without authentication.
    #[must_use]
    pub fn anonymous() -> Self {
        Self { id: "anonymous".to_owned() }
    }
}

/// The circumstances of one call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Who a call is judged as.
    pub principal: Principal,
    /// What the client says it is; `<unknown>` when it does not say. Never a ground for a decision.
    pub client_id: String,
    /// On whose behalf the call is made, if that is known.
    pub agent_id: Option<String>,
    /// Set when the client withdraws the call or goes away.
    pub cancelled: CancellationToken,
}

impl CallContext {
    /// The word for a client that does not say what it is, as roam-code spells it.
    pub const UNKNOWN_CLIENT: &'static str = "<unknown>";
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Name of the tool as the client spelled it.
    pub tool: String,
    /// The arguments; none and `{}` go on as they came, and are one thing to the receipt.
    pub arguments: Option<Map<String, Value>>,
    /// Metadata for the upstream, without anything that is meant for us.
    pub meta: Map<String, Value>,
}
