//! The member `extra` of a receipt.

use super::CallFacts;
use crate::about;
use crate::canonical::{Document, Edit, Form, escape};
use crate::configuration::Configuration;
use crate::error::Error;
use crate::redact;
use crate::vocabulary::{Decision, Enforcement, Hit};

/// What was found in a result.
pub(super) struct Found<'f> {
    pub(super) secrets: &'f [Hit],
    pub(super) markers: &'f [Hit],
}

/// The members that apply, in receipt form. Our own win over those that the host gives under the same name.
pub(super) fn text(facts: &CallFacts<'_>, found: &Found<'_>, configuration: &Configuration) -> Result<String, Error> {
    let mut members: Vec<(&str, String)> = Vec::with_capacity(6);
    for (name, hits) in [
        ("argument_redaction_details", facts.argument_secrets),
        ("injection_markers", found.markers),
        ("redaction_details", found.secrets),
    ] {
        if !hits.is_empty() {
            members.push((name, counts(hits)));
        }
    }
    members.push(("policy", policy(configuration)));
    if let Some(judgement) = facts.judgement
        && judgement.decision == Decision::Deny
        && judgement.enforcement == Enforcement::DryRun
    {
        members.push(("shadow_mode", "true".to_owned()));
        members.push(("would_deny_reason", quoted(&redact::scrub(&judgement.reason, configuration))));
    }
    let put_in: Vec<_> = members.iter().map(|(name, text)| (*name, text.as_str())).collect();

    let given = facts.extra.unwrap_or("{}");
    let (redacted, given) = redact::read_json(given, configuration)?;
    let given = match &redacted.output {
        Some(redacted) => Document::parse(redacted)?,
        None => given,
    };
    if !given.root().is_object() {
        return Err(Error::InvalidArgument("`extra` must be a JSON object".to_owned()));
    }
    let mut out = String::with_capacity(512);
    given.write_edited(Form::Receipt, Edit { leave_out: &[], put_in: &put_in }, &mut out);
    Ok(out)
}

/// The digests of what was in force.
fn policy(configuration: &Configuration) -> String {
    format!("{{\"configuration\":\"{}\",\"rules\":\"{}\"}}", configuration.digest(), about::rules_digest())
}

/// `{id: hits}`, sorted by id: a receipt has one spelling.
fn counts(hits: &[Hit]) -> String {
    let mut sorted: Vec<_> = hits.iter().collect();
    sorted.sort_by(|one, other| one.id.cmp(&other.id));
    let mut out = String::from("{");
    for (at, hit) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        escape(&hit.id, true, &mut out);
        out.push_str(&format!(":{}", hit.hits));
    }
    out.push('}');
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    escape(text, true, &mut out);
    out
}
