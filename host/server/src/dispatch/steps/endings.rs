//! How calls end: what came back is settled, the receipt is made durable, and only then is there an answer.

use counterfoil_engine::Refusal;
use counterfoil_engine::types::{RedactionReason, SettleRequest, Settlement};
use counterfoil_evidence::Entry;
use serde_json::{Value, json};

use super::case::Case;
use super::{LARGE, NO_RECEIPT, Steps};
use crate::dispatch::outcome::{Answer, Disposition, Outcome, ReceiptNote};

impl Steps {
    /// The upstream sent something: clean it, write its receipt, and only then let it out.
    ///
    /// What the protocol has no place for is left out, and the receipt says so. It is of the result as it goes out, so
    /// such a result is settled a second time, from what was sent.
    pub(super) async fn content(&self, case: Case, disposition: Disposition, text: String) -> Outcome {
        let (sent, settled) = self.settle(&case, disposition, &[], text).await;
        match self.shaped(disposition, &sent, &settled) {
            None => self.cleaned(case, disposition, sent, settled).await,
            Some(part) => {
                tracing::warn!("the protocol has no place for members of the result: they are left out");
                let (sent, settled) = self.settle(&case, disposition, &[RedactionReason::SchemaStrict], part).await;
                self.cleaned(case, disposition, sent, settled).await
            }
        }
    }

    /// The part of a result that the protocol carries; none when that is all of it, or when there is none to be sent.
    fn shaped(&self, disposition: Disposition, sent: &str, settled: &Result<Settlement, Refusal>) -> Option<String> {
        let settlement = settled.as_ref().ok()?;
        if disposition == Disposition::Failed {
            return None;
        }
        let clean: Value = serde_json::from_str(settlement.outcome.as_deref().unwrap_or(sent)).ok()?;
        (self.parts.shape)(&clean).ok()??;
        let raw: Value = serde_json::from_str(sent).ok()?;
        Some((self.parts.shape)(&raw).ok()??.to_string())
    }

    async fn cleaned(
        &self,
        case: Case,
        disposition: Disposition,
        sent: String,
        settled: Result<Settlement, Refusal>,
    ) -> Outcome {
        let settlement = match settled {
            Ok(settlement) => settlement,
            Err(refusal) => {
                tracing::warn!(code = refusal.code(), "the result cannot be settled: it is withheld");
                let sentence = format!("the result was withheld: it could not be checked (`{}`)", refusal.code());
                return self.refuse(case, Disposition::Withheld, refusal.code(), sentence).await;
            }
        };
        let clean = settlement.outcome.as_deref().unwrap_or(&sent);
        let answer = match serde_json::from_str::<Value>(clean) {
            Err(_) => Err("its JSON cannot be read".to_owned()),
            Ok(value) if disposition == Disposition::Failed => protocol_error(value),
            Ok(value) => match (self.parts.shape)(&value) {
                Ok(None) => Ok(Answer::Result(value)),
                Ok(Some(_)) => Err("the protocol does not carry all of it".to_owned()),
                Err(what) => Err(what),
            },
        };
        match answer {
            Ok(answer) => self.record(case, disposition, &settlement, answer).await,
            Err(what) => {
                let sentence = format!("the result was withheld: {what}");
                self.refuse(case, Disposition::Withheld, "unsupported_result", sentence).await
            }
        }
    }

    pub(super) async fn blocked(&self, case: Case, envelope: String) -> Outcome {
        let (sent, settled) = self.settle(&case, Disposition::Denied, &[], envelope).await;
        match settled {
            Ok(settlement) => {
                let answer = Answer::Blocked(settlement.outcome.clone().unwrap_or(sent));
                self.record(case, Disposition::Denied, &settlement, answer).await
            }
            Err(refusal) => {
                let sentence = "the call was denied by the mode in force".to_owned();
                self.refuse(case, Disposition::Denied, refusal.code(), sentence).await
            }
        }
    }

    /// End a call whose content, if there is any, is not let out. The receipt names the refusal.
    pub(super) async fn refuse(&self, case: Case, disposition: Disposition, code: &str, sentence: String) -> Outcome {
        let refusal = json!({"error": {"code": disposition.as_str(), "reason": code}}).to_string();
        let (_, settled) = self.settle(&case, disposition, &[RedactionReason::Policy], refusal).await;
        self.end(case, disposition, settled, sentence).await
    }

    /// End a call that has no content.
    pub(super) async fn conclude(
        &self,
        case: Case,
        disposition: Disposition,
        reasons: &[RedactionReason],
        sentence: String,
    ) -> Outcome {
        let (_, settled) = self.settle(&case, disposition, reasons, "null".to_owned()).await;
        self.end(case, disposition, settled, sentence).await
    }

    async fn end(
        &self,
        case: Case,
        disposition: Disposition,
        settled: Result<Settlement, Refusal>,
        sentence: String,
    ) -> Outcome {
        match settled {
            Ok(settlement) => self.record(case, disposition, &settlement, Answer::Failed(sentence)).await,
            Err(refusal) => {
                tracing::error!(code = refusal.code(), "no receipt can be made for this call");
                Outcome::without_receipt(NO_RECEIPT)
            }
        }
    }

    /// Settle a text. Gives the text back, since a settlement without one means that it may go out as it is.
    async fn settle(
        &self,
        case: &Case,
        disposition: Disposition,
        reasons: &[RedactionReason],
        outcome: String,
    ) -> (String, Result<Settlement, Refusal>) {
        let large = outcome.len() > LARGE;
        let request = SettleRequest { facts: case.facts(disposition, reasons), outcome, configuration: None };
        if !large {
            let settled = self.parts.engine.settle(&request);
            return (request.outcome, settled);
        }
        let engine = self.parts.engine.clone();
        tokio::task::spawn_blocking(move || {
            let settled = engine.settle(&request);
            (request.outcome, settled)
        })
        .await
        .unwrap_or((String::new(), Err(Refusal::Trap)))
    }

    /// The receipt of a call could not be written. When another run is open by now, the call is noted there at least:
    /// its receipt names the run, so the one that was made cannot be used again.
    async fn unrecorded(&self, mut case: Case) -> Outcome {
        let run = self.parts.recorder.run_id();
        if case.run == run {
            return Outcome::without_receipt(NO_RECEIPT);
        }
        case.run = run;
        let sentence = "the result was withheld: the ledger was changed by somebody else while the call ran".to_owned();
        Box::pin(self.refuse(case, Disposition::Withheld, "ledger_forked", sentence)).await
    }

    /// Make the receipt durable; without it nothing goes out.
    async fn record(&self, case: Case, disposition: Disposition, settled: &Settlement, answer: Answer) -> Outcome {
        let (done, saved) = tokio::sync::oneshot::channel();
        let entry = Entry {
            tool_call: case.id.clone(),
            tool_name: case.tool.clone(),
            receipt: settled.receipt.canonical.clone(),
            content_hash: settled.receipt.content_hash.clone(),
        };
        self.parts.recorder.submit(
            &case.run,
            entry,
            Box::new(move |result| {
                // Nobody listens any more only when the process is ending.
                done.send(result).ok();
            }),
        );
        match saved.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::error!(code = error.code(), %error, "the receipt could not be written: the result is withheld");
                return self.unrecorded(case).await;
            }
            Err(_) => {
                tracing::error!("the receipt's writer is gone: the result is withheld");
                return Outcome::without_receipt(NO_RECEIPT);
            }
        }
        let note = ReceiptNote {
            tool_call: case.id,
            content_hash: settled.receipt.content_hash.clone(),
            judgement: case.judgement,
            reasons: settled.reasons.clone(),
            secrets: settled.secrets.clone(),
            markers: settled.markers.clone(),
            run: case.run,
        };
        tracing::info!(
            outcome = disposition.as_str(),
            redactions = ?note.reasons.iter().map(|reason| reason.as_str()).collect::<Vec<_>>(),
            ms = case.watch.millis(),
            "call ended"
        );
        Outcome { answer, receipt: Some(note) }
    }
}

/// The settled error object of a JSON-RPC response.
fn protocol_error(value: Value) -> Result<Answer, String> {
    let Value::Object(mut error) = value else {
        return Err("its error is no object".to_owned());
    };
    let code = error.get("code").and_then(Value::as_i64);
    let message = error.get("message").and_then(Value::as_str).map(str::to_owned);
    match (code, message) {
        (Some(code), Some(message)) => Ok(Answer::Error { code, message, data: error.remove("data") }),
        _ => Err("its error lacks a code or a message".to_owned()),
    }
}
