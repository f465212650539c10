//! The interfaces `gate` and `redaction`, and `settle`.

use counterfoil_engine::types::{self, AdmitRequest, CallFacts, Effects, Hit, Mode, SettleRequest};
use counterfoil_tests::vectors::formats::Refused;
use counterfoil_tests::vectors::policy::{Call, Judgement, Policy, Redacted, Settled};

use super::{Component, refused};

fn mode_of(word: &str) -> Mode {
    let mode = Mode::ALL.iter().find(|mode| mode.as_str() == word);
    *mode.unwrap_or_else(|| panic!("a vector has the mode `{word}`"))
}

fn call_of(call: &Call<'_>) -> types::Call {
    let Call { tool, read_only, destructive, idempotent, mode, dry_run } = *call;
    let effects = Effects { read_only, destructive, idempotent };
    types::Call { tool: tool.to_owned(), command: None, effects, mode: mode_of(mode), dry_run }
}

fn found(input: &str, redacted: types::Redacted) -> Redacted {
    let pair = |hit: Hit| (hit.id, hit.hits);
    Redacted {
        output: redacted.output.unwrap_or_else(|| input.to_owned()),
        secrets: redacted.secrets.into_iter().map(|hit| hit.id).collect(),
        markers: redacted.markers.into_iter().map(pair).collect(),
    }
}

impl Policy for Component {
    fn decide(&self, call: &Call<'_>) -> Result<Judgement, Refused> {
        let judged = self.0.decide(&call_of(call)).map_err(refused)?;
        Ok(Judgement {
            decision: judged.decision.to_string(),
            enforcement: judged.enforcement.to_string(),
            required_mode: judged.required_mode.to_string(),
            reason: judged.reason,
        })
    }

    fn admit(&self, call: &Call<'_>) -> Result<Option<String>, Refused> {
        let request = AdmitRequest { call: call_of(call), arguments: "{}".to_owned(), configuration: None };
        self.0.admit(&request).map(|admission| admission.blocked).map_err(refused)
    }

    fn settle(&self, call: &Call<'_>, outcome: &str) -> Result<Settled, Refused> {
        let call = call_of(call);
        let judgement = self.0.decide(&call).map_err(refused)?;
        let facts = CallFacts {
            tool_call: format!("{}_0123456789ab", call.tool),
            tool_name: call.tool,
            client_id: "client".to_owned(),
            actor_ref_id: None,
            run_id: None,
            effects: call.effects,
            judgement: Some(judgement),
            input_hash: None,
            argument_secrets: Vec::new(),
            extra: None,
            reasons: Vec::new(),
        };
        let request = SettleRequest { facts, outcome: outcome.to_owned(), configuration: None };
        let settled = self.0.settle(&request).map_err(refused)?;
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
        let resolved = self.0.resolve_mode(explicit, environment, file).map_err(refused)?;
        Ok((resolved.mode.to_string(), resolved.source))
    }

    fn command_name(&self, line: &str) -> String {
        self.0.command_name(line).expect("every line has an answer")
    }

    fn tool_command(&self, tool: &str) -> String {
        self.0.tool_command(tool).expect("every tool has an answer")
    }

    fn check_command(&self, line: &str, mode: &str) -> Result<(String, bool, String), Refused> {
        let rule = self.0.check_command(line, mode_of(mode)).map_err(refused)?;
        Ok((rule.command, rule.allowed, rule.reason))
    }

    fn redact_text(&self, text: &str) -> Result<Redacted, Refused> {
        self.0.redact_text(text).map(|redacted| found(text, redacted)).map_err(refused)
    }

    fn redact_json(&self, json: &str) -> Result<Redacted, Refused> {
        self.0.redact_json(json).map(|redacted| found(json, redacted)).map_err(refused)
    }
}
