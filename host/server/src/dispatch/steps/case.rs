//! What is known of a call so far.

use std::sync::Arc;

use counterfoil_engine::types::{CallFacts, Effects, Hit, Judgement, RedactionReason};
use serde_json::json;

use crate::clock::Stopwatch;
use crate::dispatch::outcome::Disposition;

/// What is known of a call so far.
pub(super) struct Case {
    /// Id of the call.
    pub(super) id: String,
    /// Name of the tool.
    pub(super) tool: String,
    /// What the client says it is.
    pub(super) client: String,
    /// On whose behalf.
    pub(super) agent: Option<String>,
    /// The run that was open when the call began.
    pub(super) run: String,
    /// SHA-256 of the component.
    pub(super) component: Arc<str>,
    /// Name of the upstream.
    pub(super) upstream: String,
    /// What the tool declares to do.
    pub(super) effects: Effects,
    /// The gate's answer.
    pub(super) judgement: Option<Judgement>,
    /// Hash of the arguments.
    pub(super) input_hash: Option<String>,
    /// Secrets found in the arguments.
    pub(super) argument_secrets: Vec<Hit>,
    /// Runs since the call came.
    pub(super) watch: Stopwatch,
}

impl Case {
    /// The facts for a receipt.
    pub(super) fn facts(&self, disposition: Disposition, reasons: &[RedactionReason]) -> CallFacts {
        let extra = json!({
            "component": self.component.as_ref(),
            "outcome": disposition.as_str(),
            "upstream": self.upstream,
        });
        CallFacts {
            tool_call: self.id.clone(),
            tool_name: self.tool.clone(),
            client_id: self.client.clone(),
            actor_ref_id: self.agent.clone(),
            run_id: Some(self.run.clone()),
            effects: self.effects,
            judgement: self.judgement.clone(),
            input_hash: self.input_hash.clone(),
            argument_secrets: self.argument_secrets.clone(),
            extra: Some(extra.to_string()),
            reasons: reasons.to_vec(),
        }
    }
}
