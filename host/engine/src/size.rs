//! How large the input of a question is: what deadline, memory and the input limit go by.

use crate::types::{AdmitRequest, AdmitRequestBytes, Call, CallFacts, ReceiptFile, SettleRequest, SettleRequestBytes};

pub(crate) fn admit(request: &AdmitRequest) -> usize {
    call(&request.call) + request.arguments.len() + text(request.configuration.as_deref())
}

pub(crate) fn admit_bytes(request: &AdmitRequestBytes) -> usize {
    call(&request.call) + request.arguments.len() + text(request.configuration.as_deref())
}

pub(crate) fn settle(request: &SettleRequest) -> usize {
    facts(&request.facts) + request.outcome.len() + text(request.configuration.as_deref())
}

pub(crate) fn settle_bytes(request: &SettleRequestBytes) -> usize {
    facts(&request.facts) + request.outcome.len() + text(request.configuration.as_deref())
}

pub(crate) fn call(call: &Call) -> usize {
    call.tool.len() + text(call.command.as_deref())
}

fn facts(facts: &CallFacts) -> usize {
    facts.tool_call.len()
        + facts.tool_name.len()
        + facts.client_id.len()
        + text(facts.actor_ref_id.as_deref())
        + text(facts.run_id.as_deref())
        + text(facts.extra.as_deref())
        + facts.judgement.as_ref().map_or(0, |judgement| judgement.reason.len())
        + facts.argument_secrets.iter().map(|hit| hit.id.len()).sum::<usize>()
}

/// A text that may not be there.
pub(crate) fn text(text: Option<&str>) -> usize {
    text.map_or(0, str::len)
}

pub(crate) fn texts(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
}

pub(crate) fn files(files: &[ReceiptFile]) -> usize {
    files.iter().map(|file| file.tool_call.len() + file.content.as_ref().map_or(0, Vec::len)).sum()
}
