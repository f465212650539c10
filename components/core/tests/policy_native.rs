//! The vectors of the policy put to the plain functions of the core.

// The runners stand with the whole-system tests, which put them to the component too.
#[path = "../../../tests/src/vectors/formats.rs"]
#[expect(
    dead_code,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a runner for tests, of which only the report is used here"
)]
mod formats;
#[path = "../../../tests/src/vectors/policy.rs"]
#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a runner for tests: a vector that cannot be read ends the test"
)]
mod policy;

use std::collections::BTreeMap;
use std::path::Path;

use counterfoil_core::call::{AdmitRequest, CallFacts, SettleRequest, admit, settle};
use counterfoil_core::vocabulary::{Effects, Hit};
use counterfoil_core::{Configuration, Error, gate, redact};
use formats::Refused;
use policy::{Call, Judgement, Policy, Redacted, Settled};

struct Native(Configuration);

fn refused(error: Error) -> Refused {
    (error.code().to_owned(), error.message().to_owned())
}

fn effects(call: &Call<'_>) -> Effects {
    Effects { read_only: call.read_only, destructive: call.destructive, idempotent: call.idempotent }
}

fn gate_call<'a>(call: &Call<'a>) -> Result<gate::Call<'a>, Refused> {
    Ok(gate::Call {
        tool: call.tool,
        command: None,
        effects: effects(call),
        mode: gate::parse_mode(call.mode).map_err(refused)?,
        dry_run: call.dry_run,
    })
}

fn hits(hits: Vec<Hit>) -> BTreeMap<String, u32> {
    hits.into_iter().map(|hit| (hit.id, hit.hits)).collect()
}

fn redacted(found: redact::Redacted, input: &str) -> Redacted {
    Redacted {
        output: found.output.unwrap_or_else(|| input.to_owned()),
        secrets: hits(found.secrets).into_keys().collect(),
        markers: hits(found.markers).into_iter().collect(),
    }
}

impl Policy for Native {
    fn decide(&self, call: &Call<'_>) -> Result<Judgement, Refused> {
        let judged = gate::decide(&gate_call(call)?, &self.0).map_err(refused)?;
        Ok(Judgement {
            decision: judged.decision.to_string(),
            enforcement: judged.enforcement.to_string(),
            required_mode: judged.required_mode.to_string(),
            reason: judged.reason,
        })
    }

    fn admit(&self, call: &Call<'_>) -> Result<Option<String>, Refused> {
        let request = AdmitRequest { call: gate_call(call)?, arguments: "{}" };
        admit(&request, &self.0).map(|admission| admission.blocked).map_err(refused)
    }

    fn settle(&self, call: &Call<'_>, outcome: &str) -> Result<Settled, Refused> {
        let judgement = gate::decide(&gate_call(call)?, &self.0).map_err(refused)?;
        let facts = CallFacts {
            tool_call: "t_0",
            tool_name: call.tool,
            client_id: "c",
            actor_ref_id: None,
            run_id: None,
            effects: effects(call),
            judgement: Some(&judgement),
            input_hash: None,
            argument_secrets: &[],
            extra: None,
            reasons: &[],
        };
        let settled = settle(&SettleRequest { facts, outcome }, &self.0).map_err(refused)?;
        Ok(Settled {
            outcome: settled.outcome.unwrap_or_else(|| outcome.to_owned()),
            receipt: settled.receipt.canonical,
        })
    }

    fn resolve_mode(
        &self,
        explicit: Option<&str>,
        environment: Option<&str>,
        file: Option<&str>,
    ) -> Result<(String, String), Refused> {
        let resolved = gate::resolve_mode(explicit, environment, file).map_err(refused)?;
        Ok((resolved.mode.to_string(), resolved.source))
    }

    fn command_name(&self, line: &str) -> String {
        gate::command_name(line)
    }

    fn tool_command(&self, tool: &str) -> String {
        gate::tool_command(tool)
    }

    fn check_command(&self, line: &str, mode: &str) -> Result<(String, bool, String), Refused> {
        let mode = gate::parse_mode(mode).map_err(refused)?;
        let rule = gate::check_command(line, mode, &self.0).map_err(refused)?;
        Ok((rule.command, rule.allowed, rule.reason))
    }

    fn redact_text(&self, text: &str) -> Result<Redacted, Refused> {
        redact::redact_text(text, &self.0).map(|found| redacted(found, text)).map_err(refused)
    }

    fn redact_json(&self, json: &str) -> Result<Redacted, Refused> {
        redact::redact_json(json, &self.0).map(|found| redacted(found, json)).map_err(refused)
    }
}

#[test]
fn the_plain_functions_pass_the_vectors_of_the_policy() {
    let native = Native(Configuration::parse(r#"{"preset": "roam"}"#).expect("the preset exists"));
    let (agreed, failures) = policy::run(&native, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests"));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(agreed > 2000, "only {agreed} cases");
}
