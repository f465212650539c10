//! Checks of answers that cost next to nothing: an answer that contradicts itself or the question is not acted on.

use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use crate::types::{
    Admission, Call, Decision, Enforcement, Hit, Information, Judgement, Output, Redacted, RedactedBytes,
    RedactionReason, Sealed, Settlement, SettlementBytes, SignedEvent, Tail,
};

/// What an answer is worth: nothing wrong, or what is.
pub(crate) type Verdict = Result<(), &'static str>;

pub(crate) fn admission(call: &Call, answer: &Admission) -> Verdict {
    judgement(call, &answer.judgement)?;
    hash(&answer.input_hash)?;
    hits(&answer.secrets)?;
    let blocks = answer.judgement.decision == Decision::Deny && answer.judgement.enforcement == Enforcement::Enforced;
    match &answer.blocked {
        Some(_) if !blocks => return Err("a call that may run has a result already"),
        None if blocks => return Err("a call that may not run has no result to send instead"),
        Some(blocked) => json(blocked.as_bytes())?,
        None => {}
    }
    match &answer.arguments {
        Some(arguments) => json(arguments.as_bytes()),
        None => Ok(()),
    }
}

pub(crate) fn judgement(call: &Call, answer: &Judgement) -> Verdict {
    if answer.active_mode != call.mode {
        return Err("the call was judged in another mode");
    }
    if (answer.enforcement == Enforcement::DryRun) != call.dry_run {
        return Err("the call was judged as a dry run, or not, against what was asked");
    }
    if answer.decision == Decision::Allow && answer.required_mode as u8 > answer.active_mode as u8 {
        return Err("a call was allowed below the mode that it requires");
    }
    match answer.decision {
        Decision::Allow if !answer.reason.is_empty() => Err("an allowed call has a reason for denial"),
        Decision::Deny if answer.reason.is_empty() => Err("a denied call has no reason"),
        Decision::Allow | Decision::Deny => Ok(()),
    }
}

pub(crate) fn settlement(answer: &Settlement) -> Verdict {
    settled(
        answer.outcome.as_deref().map(str::as_bytes),
        &answer.secrets,
        &answer.markers,
        &answer.reasons,
        &answer.output,
        &answer.receipt,
    )
}

pub(crate) fn settlement_bytes(answer: &SettlementBytes) -> Verdict {
    settled(
        answer.outcome.as_deref(),
        &answer.secrets,
        &answer.markers,
        &answer.reasons,
        &answer.output,
        &answer.receipt,
    )
}

fn settled(
    outcome: Option<&[u8]>,
    secrets: &[Hit],
    markers: &[Hit],
    reasons: &[RedactionReason],
    result: &Output,
    receipt: &Sealed,
) -> Verdict {
    found(secrets, markers, outcome.is_some())?;
    if !secrets.is_empty() && !reasons.contains(&RedactionReason::Secret) {
        return Err("secrets were found, but the receipt does not say so");
    }
    if let Some(outcome) = outcome {
        json(outcome)?;
    }
    output(result)?;
    sealed(receipt)
}

pub(crate) fn redacted(answer: &Redacted) -> Verdict {
    found(&answer.secrets, &answer.markers, answer.output.is_some())
}

pub(crate) fn redacted_bytes(answer: &RedactedBytes) -> Verdict {
    found(&answer.secrets, &answer.markers, answer.output.is_some())
}

fn found(secrets: &[Hit], markers: &[Hit], changed: bool) -> Verdict {
    hits(secrets)?;
    hits(markers)?;
    if !secrets.is_empty() && !changed { Err("secrets were found, but the text stands as it came") } else { Ok(()) }
}

pub(crate) fn hits(answer: &[Hit]) -> Verdict {
    if answer.iter().any(|hit| hit.hits == 0 || hit.id.is_empty()) {
        return Err("something was found no times");
    }
    if answer.is_sorted_by(|first, second| first.id < second.id) { Ok(()) } else { Err("finds are not in order") }
}

pub(crate) fn sealed(answer: &Sealed) -> Verdict {
    // The receipt is what is kept, so its hash is computed again: about 1 µs.
    if hex::encode(Sha256::digest(answer.canonical.as_bytes())) == answer.content_hash {
        json(answer.canonical.as_bytes())
    } else {
        Err("the receipt does not have the hash that it is said to have")
    }
}

pub(crate) fn output(answer: &Output) -> Verdict {
    match (&answer.output_hash, &answer.output_ref) {
        (Some(_), Some(_)) => Err("the output has both a hash and a handle"),
        (Some(digest), None) => hash(digest),
        (None, _) => Ok(()),
    }
}

pub(crate) fn tail(answer: &Tail) -> Verdict {
    match &answer.signature {
        Some(signature) => hash(signature),
        None => Ok(()),
    }
}

pub(crate) fn signed(asked: usize, answer: &[SignedEvent]) -> Verdict {
    if answer.len() != asked {
        return Err("there are more or fewer signed events than events");
    }
    for event in answer {
        hash(&event.signature)?;
        if event.line.contains(['\n', '\r']) {
            return Err("a ledger line is broken");
        }
    }
    Ok(())
}

pub(crate) fn pieces(asked: usize, answer: &[String]) -> Verdict {
    if answer.len() == asked.saturating_add(1) { Ok(()) } else { Err("pieces are missing") }
}

pub(crate) fn information(answer: &Information) -> Verdict {
    hash(&answer.rules_digest)?;
    hash(&answer.configuration_digest)
}

/// 64 lower-case hex digits.
pub(crate) fn hash(text: &str) -> Verdict {
    if text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(())
    } else {
        Err("a hash is not 64 lower-case hex digits")
    }
}

/// Something that can be handed on as JSON.
pub(crate) fn json(text: &[u8]) -> Verdict {
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(_) => Err("a text is not JSON"),
    }
}
