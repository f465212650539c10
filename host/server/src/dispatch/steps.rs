//! The steps of one call: up to the upstream's reply here, from there on in [`endings`].

use std::sync::Arc;

use counterfoil_engine::types::{Admission, AdmitRequest, Call, Decision, Effects, Enforcement, RedactionReason};
use counterfoil_engine::{Engine, Refusal};
use counterfoil_evidence::{EvidenceError, tool_call_id};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Parts;
use super::call::{CallContext, ToolCall};
use super::outcome::{Answer, Disposition, Outcome};
use super::upstream::{Lookup, Reply, Unavailable, UpstreamCall};
use crate::clock::Stopwatch;
use case::Case;

mod case;
mod endings;

/// Bodies above this size are handed to the policy on a thread that may block.
const LARGE: usize = 64 * 1024;
/// A name that is longer than this names no tool.
const LONGEST_NAME: usize = 512;
/// What is answered when evidence cannot be kept.
const NO_RECEIPT: &str = "the receipt of this call could not be written, so nothing of its result goes out";

/// What the steps of one call share.
pub(super) struct Steps {
    pub(super) parts: Arc<Parts>,
    pub(super) component: Arc<str>,
    pub(super) stopping: CancellationToken,
}

impl Steps {
    /// Run the call to its end.
    pub(super) async fn run(self, context: CallContext, call: ToolCall) -> Outcome {
        let effects = match self.parts.upstream.look_up(&call.tool).await {
            Lookup::Known(effects) => effects,
            Lookup::Unknown => return unknown_tool(),
            Lookup::Unreachable(why) => return self.unreachable(&context, &call, why).await,
        };
        let case = match self.open_case(&context, &call, effects) {
            Ok(case) => case,
            Err(error) => return no_id(&error),
        };
        let text = match &call.arguments {
            Some(arguments) => Value::Object(arguments.clone()).to_string(),
            None => "{}".to_owned(),
        };
        match self.admit(&case, text).await {
            Ok(admission) => self.admitted(context, call, case, admission).await,
            Err(refusal) => {
                tracing::warn!(code = refusal.code(), "the gate did not answer: the call is denied");
                let sentence = format!("the call was denied: the policy could not judge it (`{}`)", refusal.code());
                self.refuse(case, Disposition::Denied, refusal.code(), sentence).await
            }
        }
    }

    /// The tools are not known and cannot be asked for: nothing is judged, nothing runs.
    async fn unreachable(&self, context: &CallContext, call: &ToolCall, why: Unavailable) -> Outcome {
        // Nobody has vouched for this name: it goes into a receipt only if it holds no secret.
        let clean = call.tool.len() <= LONGEST_NAME
            && !call.tool.is_empty()
            && matches!(self.parts.engine.redact_text(&call.tool), Ok(redacted) if redacted.output.is_none());
        if !clean {
            return unknown_tool();
        }
        let undeclared = Effects { read_only: false, destructive: true, idempotent: false };
        let case = match self.open_case(context, call, undeclared) {
            Ok(case) => case,
            Err(error) => return no_id(&error),
        };
        self.conclude(case, Disposition::Failed, &[RedactionReason::ProducerNotAvailable], why.to_string()).await
    }

    fn open_case(&self, context: &CallContext, call: &ToolCall, effects: Effects) -> Result<Case, EvidenceError> {
        let id = tool_call_id(&call.tool)?;
        tracing::Span::current().record("id", &id).record("tool", &call.tool);
        Ok(Case {
            id,
            tool: call.tool.clone(),
            client: clean_label(&self.parts.engine, &context.client_id),
            agent: context.agent_id.clone(),
            run: self.parts.recorder.run_id(),
            component: Arc::clone(&self.component),
            upstream: self.parts.upstream.name().to_owned(),
            effects,
            judgement: None,
            input_hash: None,
            argument_secrets: Vec::new(),
            watch: Stopwatch::start(),
        })
    }

    async fn admit(&self, case: &Case, arguments: String) -> Result<Admission, Refusal> {
        let large = arguments.len() > LARGE;
        let request = AdmitRequest {
            call: Call {
                tool: case.tool.clone(),
                command: None,
                effects: case.effects,
                mode: self.parts.mode,
                dry_run: self.parts.dry_run,
            },
            arguments,
            configuration: None,
        };
        if !large {
            return self.parts.engine.admit(&request);
        }
        let engine = self.parts.engine.clone();
        tokio::task::spawn_blocking(move || engine.admit(&request)).await.unwrap_or(Err(Refusal::Trap))
    }

    async fn admitted(&self, context: CallContext, call: ToolCall, mut case: Case, admission: Admission) -> Outcome {
        let runs =
            admission.judgement.decision == Decision::Allow || admission.judgement.enforcement == Enforcement::DryRun;
        case.judgement = Some(admission.judgement);
        case.input_hash = Some(admission.input_hash);
        case.argument_secrets = admission.secrets;
        match (runs, admission.blocked) {
            (_, Some(envelope)) => return self.blocked(case, envelope).await,
            (false, None) => {
                let sentence = "the call was denied by the mode in force".to_owned();
                return self.conclude(case, Disposition::Denied, &[], sentence).await;
            }
            (true, None) => {}
        }
        let arguments = match admission.arguments {
            None => call.arguments,
            Some(text) => match serde_json::from_str(&text) {
                Ok(masked) => Some(masked),
                Err(_) => {
                    let sentence = "the call was denied: the policy gave arguments that cannot be read".to_owned();
                    return self.refuse(case, Disposition::Denied, "nonsense", sentence).await;
                }
            },
        };
        let give_up = CancellationToken::new();
        let mut reply = self.parts.upstream.call(UpstreamCall {
            tool: call.tool,
            arguments,
            meta: call.meta,
            cancelled: give_up.clone(),
        });
        let reply = tokio::select! {
            reply = &mut reply => reply,
            () = context.cancelled.cancelled() => { give_up.cancel(); reply.await }
            () = self.stopping.cancelled() => { give_up.cancel(); reply.await }
        };
        self.replied(case, reply).await
    }

    async fn replied(&self, case: Case, reply: Reply) -> Outcome {
        match reply {
            Reply::Result(text) => self.content(case, Disposition::Completed, text).await,
            Reply::Error(text) => self.content(case, Disposition::Failed, text).await,
            Reply::Garbled => {
                let sentence = "the result was withheld: the upstream server's answer cannot be read".to_owned();
                self.refuse(case, Disposition::Withheld, "garbled", sentence).await
            }
            Reply::TooLarge(limit) => {
                let sentence = format!(
                    "the result was withheld: the upstream server's answer is larger than {limit} bytes; ask for less at a time"
                );
                self.conclude(case, Disposition::Withheld, &[RedactionReason::SizeLimit], sentence).await
            }
            Reply::TimedOut => {
                let sentence = "the tool did not answer in time".to_owned();
                self.conclude(case, Disposition::TimedOut, &[], sentence).await
            }
            Reply::Cancelled => {
                let sentence = "the call was cancelled".to_owned();
                self.conclude(case, Disposition::Cancelled, &[], sentence).await
            }
            Reply::Unavailable(why) => {
                self.conclude(case, Disposition::Failed, &[RedactionReason::ProducerNotAvailable], why.to_string())
                    .await
            }
        }
    }
}

/// Without an id there can be no receipt, and without a receipt there is no call.
fn no_id(error: &EvidenceError) -> Outcome {
    tracing::error!(%error, "the call gets no id and does not run");
    Outcome::without_receipt(NO_RECEIPT)
}

fn unknown_tool() -> Outcome {
    tracing::info!("call of an unknown tool");
    Outcome { answer: Answer::UnknownTool, receipt: None }
}

/// What a client calls itself, fit for a receipt: short, on one line, without secrets.
fn clean_label(engine: &Engine, label: &str) -> String {
    let line: String = label.chars().take(200).map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    match engine.redact_text(&line) {
        Ok(redacted) => redacted.output.unwrap_or(line),
        Err(_) => CallContext::UNKNOWN_CLIENT.to_owned(),
    }
}
