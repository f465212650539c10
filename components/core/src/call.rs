//! One call: [`admit`] before the tool runs, [`settle`] after it.
//!
//! The two functions put the rules together so that a host needs no more than two crossings of the component's boundary
//! for a call.

mod extra;

use crate::configuration::{Arguments, Configuration};
use crate::error::Error;
use crate::gate::{self, Call, Judgement};
use crate::receipt::{self, Output, Receipt, Sealed};
use crate::redact;
use crate::vocabulary::{Decision, Effects, Enforcement, Hit, Mode, PolicyDecision, RedactionReason, SideEffect};

/// What a host hands over before a tool runs.
#[derive(Debug, Clone, Copy)]
pub struct AdmitRequest<'a> {
    /// The call.
    pub call: Call<'a>,
    /// The arguments as JSON text. Absent arguments are `{}`.
    pub arguments: &'a str,
}

/// What a host needs before a tool runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The gate's answer.
    pub judgement: Judgement,
    /// SHA-256 of the canonical arguments as they came, lower-case hex.
    pub input_hash: String,
    /// The arguments as they may go on; none when they go on as they came.
    pub arguments: Option<String>,
    /// Secrets found in the arguments, by detector, sorted by id.
    pub secrets: Vec<Hit>,
    /// The result to send instead, as JSON text, when the call is denied and enforcement is on.
    pub blocked: Option<String>,
}

/// The facts of a call that only the host knows.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// Id of the call; also the name of the receipt's file. Not empty.
    pub tool_call: &'a str,
    /// Name of the tool. Not empty.
    pub tool_name: &'a str,
    /// Who asked. Not empty.
    pub client_id: &'a str,
    /// On whose behalf.
    pub actor_ref_id: Option<&'a str>,
    /// The run the call belongs to.
    pub run_id: Option<&'a str>,
    /// What the tool does.
    pub effects: Effects,
    /// The gate's answer; none when the gate never ran.
    pub judgement: Option<&'a Judgement>,
    /// The hash that [`admit`] gave.
    pub input_hash: Option<&'a str>,
    /// Secrets that [`admit`] found in the arguments.
    pub argument_secrets: &'a [Hit],
    /// More members for `extra`, as a JSON object's text. Secrets in it are masked.
    pub extra: Option<&'a str>,
    /// Reasons of the host's own.
    pub reasons: &'a [RedactionReason],
}

/// What a host hands over after a tool ran.
#[derive(Debug, Clone, Copy)]
pub struct SettleRequest<'a> {
    /// The facts of the call.
    pub facts: CallFacts<'a>,
    /// The result as JSON text; `null` when there is none.
    pub outcome: &'a str,
}

/// What a host needs after a tool ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The result as the client may see it; none when it may go out as it came.
    pub outcome: Option<String>,
    /// Secrets found in the result, by detector, sorted by id.
    pub secrets: Vec<Hit>,
    /// Injection marks found in the result, by marker, sorted by id.
    pub markers: Vec<Hit>,
    /// The decision that the receipt records.
    pub policy_decision: PolicyDecision,
    /// The reasons that the receipt records.
    pub reasons: Vec<RedactionReason>,
    /// What the receipt says of the output.
    pub output: Output,
    /// The receipt.
    pub receipt: Sealed,
}

/// Judge a call and prepare it.
///
/// # Errors
///
/// [`Error::InvalidArgument`] when the tool has no name or the arguments are no object, and the errors of reading JSON.
pub fn admit(request: &AdmitRequest<'_>, configuration: &Configuration) -> Result<Admission, Error> {
    let judgement = gate::decide(&request.call, configuration)?;
    let (redacted, arguments) = redact::read_json(request.arguments, configuration)?;
    let input_hash = receipt::input_hash_of(&arguments)?;
    let denied = judgement.decision == Decision::Deny && judgement.enforcement == Enforcement::Enforced;
    let blocked =
        denied.then(|| gate::blocked_envelope(request.call.tool, request.call.command, &judgement, configuration));
    let arguments = match configuration.arguments() {
        Arguments::Record => None,
        Arguments::Redact => redacted.output,
    };
    Ok(Admission { judgement, input_hash, arguments, secrets: redacted.secrets, blocked })
}

/// Clean a result and write its receipt.
///
/// # Errors
///
/// [`Error::InvalidArgument`] when an identity is empty or `extra` is no object, and the errors of reading JSON.
pub fn settle(request: &SettleRequest<'_>, configuration: &Configuration) -> Result<Settlement, Error> {
    let facts = &request.facts;
    for (name, text) in [("tool_call", facts.tool_call), ("tool_name", facts.tool_name), ("client_id", facts.client_id)]
    {
        if text.is_empty() {
            return Err(Error::InvalidArgument(format!("`{name}` must not be empty")));
        }
    }
    let (redacted, outcome) = redact::read_json(request.outcome, configuration)?;
    let output = match &redacted.output {
        Some(redacted) => receipt::output_of(redacted)?,
        None => receipt::output_fields(&outcome),
    };
    let found = extra::Found { secrets: &redacted.secrets, markers: &redacted.markers };
    let reasons = reasons(&found, facts.reasons);
    let policy_decision = policy_decision(facts.judgement);
    let effects = gate::effective(facts.effects, configuration.tool(facts.tool_name));
    let required_mode =
        facts.judgement.map_or_else(|| gate::effects_mode(effects), |judgement| judgement.required_mode);
    let extra = extra::text(facts, &found, configuration)?;
    let scrub = |text| redact::scrub(text, configuration);
    let receipt = Receipt {
        tool_call: &scrub(facts.tool_call),
        client_id: &scrub(facts.client_id),
        tool_name: &scrub(facts.tool_name),
        actor_ref_id: facts.actor_ref_id.map(scrub).as_deref(),
        declared_side_effects: side_effects(effects),
        required_mode: Some(Mode::as_str(required_mode)),
        input_hash: facts.input_hash,
        policy_decision,
        output: &output,
        run_event_id: facts.run_id.map(scrub).as_deref(),
        redactions: &reasons,
        extra: &extra,
    }
    .seal()?;
    Ok(Settlement {
        outcome: redacted.output,
        secrets: redacted.secrets,
        markers: redacted.markers,
        policy_decision,
        reasons,
        output,
        receipt,
    })
}

/// The decision as a receipt records it. A denial that dry run let pass stays a denial.
const fn policy_decision(judgement: Option<&Judgement>) -> PolicyDecision {
    match judgement {
        None => PolicyDecision::NotEvaluated,
        Some(judgement) => match (judgement.decision, judgement.enforcement) {
            (Decision::Allow, _) => PolicyDecision::Allow,
            (Decision::Deny, Enforcement::Enforced) => PolicyDecision::Deny,
            (Decision::Deny, Enforcement::DryRun) => PolicyDecision::WouldDenyDryRun,
        },
    }
}

/// What was found first, then the host's own reasons, each once.
fn reasons(found: &extra::Found<'_>, own: &[RedactionReason]) -> Vec<RedactionReason> {
    let mut reasons = Vec::with_capacity(2 + own.len());
    if !found.secrets.is_empty() {
        reasons.push(RedactionReason::Secret);
    }
    if !found.markers.is_empty() {
        reasons.push(RedactionReason::PromptInjectionMarker);
    }
    for reason in own {
        if !reasons.contains(reason) {
            reasons.push(*reason);
        }
    }
    reasons
}

/// What a receipt declares of these effects.
const fn side_effects(effects: Effects) -> &'static [SideEffect] {
    match (effects.destructive, effects.read_only, effects.idempotent) {
        (true, _, true) => &[SideEffect::Destructive],
        (true, _, false) => &[SideEffect::Destructive, SideEffect::NonIdempotent],
        (false, false, true) => &[SideEffect::Write],
        (false, false, false) => &[SideEffect::Write, SideEffect::NonIdempotent],
        (false, true, true) => &[],
        (false, true, false) => &[SideEffect::NonIdempotent],
    }
}
