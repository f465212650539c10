//! The same questions put to the rules as they are, without a sandbox.

use counterfoil_core::call::{self, CallFacts};
use counterfoil_core::configuration::Configuration;
use counterfoil_core::gate::Call;
use counterfoil_core::redact;
use counterfoil_core::vocabulary::{Effects, Mode};
use counterfoil_engine::types::{AdmitRequest, SettleRequest};

use crate::ok;

const EFFECTS: Effects = Effects { read_only: true, destructive: false, idempotent: true };

/// The rules with their default configuration, made once as in the component.
pub(crate) struct Native(Configuration);

impl Native {
    pub(crate) fn new() -> Self {
        Self(Configuration::default())
    }

    pub(crate) fn admit(&self, request: &AdmitRequest) {
        let call = Call {
            tool: &request.call.tool,
            command: request.call.command.as_deref(),
            effects: EFFECTS,
            mode: Mode::SafeEdit,
            dry_run: false,
        };
        drop(ok(call::admit(&call::AdmitRequest { call, arguments: &request.arguments }, &self.0)));
    }

    pub(crate) fn settle(&self, request: &SettleRequest) {
        let facts = CallFacts {
            tool_call: &request.facts.tool_call,
            tool_name: &request.facts.tool_name,
            client_id: &request.facts.client_id,
            actor_ref_id: None,
            run_id: request.facts.run_id.as_deref(),
            effects: EFFECTS,
            judgement: None,
            input_hash: None,
            argument_secrets: &[],
            extra: None,
            reasons: &[],
        };
        drop(ok(call::settle(&call::SettleRequest { facts, outcome: &request.outcome }, &self.0)));
    }

    pub(crate) fn redact(&self, text: &str) {
        drop(ok(redact::redact_text(text, &self.0)));
    }
}
