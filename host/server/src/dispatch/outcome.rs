//! What is answered.

use counterfoil_engine::types::{Hit, Judgement, RedactionReason};
use serde_json::{Map, Value, json};

/// How a call ended, as its receipt says in `extra.outcome`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// The upstream gave a result.
    Completed,
    /// The upstream answered with a protocol error, or could not be reached.
    Failed,
    /// The gate said no, or could not answer. The tool did not run.
    Denied,
    /// The client withdrew the call or went away, or the gateway stopped.
    Cancelled,
    /// The upstream took too long.
    TimedOut,
    /// The tool ran, and its result was held back because it could not be settled or carried.
    Withheld,
}

impl Disposition {
    /// The word as JSON spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Withheld => "withheld",
        }
    }
}

/// What a client is told of the receipt of its call.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptNote {
    /// Id of the call, also the name of the receipt's file.
    pub tool_call: String,
    /// SHA-256 of the receipt's canonical form.
    pub content_hash: String,
    /// The gate's answer; none when the gate never answered.
    pub judgement: Option<Judgement>,
    /// Why something is missing from the result.
    pub reasons: Vec<RedactionReason>,
    /// Secrets found, by detector.
    pub secrets: Vec<Hit>,
    /// Injection marks found, by marker.
    pub markers: Vec<Hit>,
    /// The run that the receipt is linked in.
    pub run: String,
}

impl ReceiptNote {
    /// The note as JSON: `tool_call`, `content_hash`, `decision`, `enforcement`, `redactions`, `secrets`, `markers`, `run`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let decision = self.judgement.as_ref().map_or("not_evaluated", |judged| judged.decision.as_str());
        let enforcement = self.judgement.as_ref().map_or("enforced", |judged| judged.enforcement.as_str());
        json!({
            "tool_call": self.tool_call,
            "content_hash": self.content_hash,
            "decision": decision,
            "enforcement": enforcement,
            "redactions": self.reasons.iter().map(|reason| reason.as_str()).collect::<Vec<_>>(),
            "secrets": counts(&self.secrets),
            "markers": counts(&self.markers),
            "run": self.run,
        })
    }
}

fn counts(hits: &[Hit]) -> Value {
    hits.iter().map(|hit| (hit.id.clone(), Value::from(hit.hits))).collect::<Map<_, _>>().into()
}

/// What the client gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The settled result of the tool.
    Result(Value),
    /// The settled protocol error of the upstream.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
    /// The gate said no: the blocked envelope, as JSON text.
    Blocked(String),
    /// There is no content: one sentence that says why, without any of it.
    Failed(String),
    /// There is no such tool for this client.
    UnknownTool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What the client gets.
    pub answer: Answer,
    /// Its receipt; none when the tool is unknown or the receipt could not be written.
    pub receipt: Option<ReceiptNote>,
}

impl Outcome {
    /// An outcome with nothing but a sentence.
    pub(super) fn without_receipt(sentence: &str) -> Self {
        Self { answer: Answer::Failed(sentence.to_owned()), receipt: None }
    }
}
