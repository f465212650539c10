//! One tool call from gate to answer, whatever protocol it came by.
//!
//! Look the tool up, ask the gate, call the upstream, settle what comes back, make the receipt durable, and only then
//! answer. Everything that ends a call ends it with a receipt: refused, failed, cancelled and timed-out calls as well. A call
//! runs in a task of its own, so that a client that goes away cannot keep its receipt from being written.
//!
//! - [`call`]: what is asked and by whom. [`outcome`]: what is answered.
//! - [`upstream`]: the side that runs tools. [`recorder`]: the side that keeps receipts.
//! - [`steps`]: the steps of one call.

mod call;
mod outcome;
mod recorder;
mod steps;
mod upstream;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use counterfoil_engine::Engine;
use counterfoil_engine::types::{self, Decision, Effects, Enforcement, Mode};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

pub use call::{CallContext, Principal, ToolCall};
pub use outcome::{Answer, Outcome, ReceiptNote};
pub use recorder::{Recorder, Saved};
pub use upstream::{Lookup, Pending, Reply, Unavailable, Upstream, UpstreamCall};

/// What the protocol carries of a result: none when it carries all of it, else the result without the members that it
/// has no place for. An error when it cannot carry such a result at all, in words without content.
pub type Shape = fn(&Value) -> Result<Option<Value>, String>;

/// Everything that stays the same from call to call.
pub struct Parts {
    /// The policy.
    pub engine: Engine,
    /// Where receipts go.
    pub recorder: Arc<dyn Recorder>,
    /// Who runs the tools.
    pub upstream: Arc<dyn Upstream>,
    /// The mode in force.
    pub mode: Mode,
    /// Whether denied calls run and are only recorded.
    pub dry_run: bool,
    /// What the protocol carries of a result.
    pub shape: Shape,
}

/// The spine that every projection shares.
#[derive(Clone)]
pub struct Dispatcher {
    parts: Arc<Parts>,
    /// SHA-256 of the component, for receipts.
    component: Arc<str>,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Dispatcher {
    /// A dispatcher over these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let component = parts.engine.identity().component_sha256.as_str().into();
        Self { parts: Arc::new(parts), component, tasks: TaskTracker::new(), stopping: CancellationToken::new() }
    }

    /// Run one call to its end. When the future is dropped the call counts as cancelled by its client; its receipt is
    /// written all the same.
    pub async fn call(&self, context: CallContext, call: ToolCall) -> Outcome {
        let span = tracing::info_span!(
            "call",
            id = tracing::field::Empty,
            tool = tracing::field::Empty,
            principal = context.principal.id
        );
        if self.tasks.is_closed() {
            return Outcome::without_receipt("the gateway is stopping");
        }
        let gone = context.cancelled.clone().drop_guard();
        let steps = steps::Steps {
            parts: Arc::clone(&self.parts),
            component: Arc::clone(&self.component),
            stopping: self.stopping.clone(),
        };
        let task = self.tasks.spawn(steps.run(context, call).instrument(span));
        let outcome = task.await;
        gone.disarm();
        outcome.unwrap_or_else(|_| Outcome::without_receipt("the call failed inside the gateway"))
    }

    /// Whether the mode in force lets a tool run, be it only under dry run. A policy that cannot answer says no.
    #[must_use]
    pub fn may_run(&self, tool: &str, effects: Effects) -> bool {
        let call = types::Call {
            tool: tool.to_owned(),
            command: None,
            effects,
            mode: self.parts.mode,
            dry_run: self.parts.dry_run,
        };
        match self.parts.engine.decide(&call) {
            Ok(judgement) => judgement.decision == Decision::Allow || judgement.enforcement == Enforcement::DryRun,
            Err(refusal) => {
                tracing::warn!(code = refusal.code(), "the gate did not answer: a tool is not listed");
                false
            }
        }
    }

    /// The policy.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.parts.engine
    }

    /// Wait for the calls in flight; after `grace` cancel those that still run, and wait until their receipts are written.
    pub async fn finish(&self, grace: Duration) {
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            tracing::warn!(calls = self.tasks.len(), "cancelling the calls that are still running");
            self.stopping.cancel();
            self.tasks.wait().await;
        }
    }
}
