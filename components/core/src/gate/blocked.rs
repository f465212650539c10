//! The result that is sent for a denied call.

use super::{Judgement, mode_command, names, tool_command};
use crate::canonical::escape;
use crate::configuration::{Configuration, Preset};
use crate::redact;

/// The result that is sent for a denied call, as JSON text in roam-code's member order. Secrets in the names and in the
/// reason are masked. Under the preset `none` the hints name Counterfoil's command.
#[must_use]
pub fn blocked_envelope(
    tool: &str,
    command: Option<&str>,
    judgement: &Judgement,
    configuration: &Configuration,
) -> String {
    let preset = configuration.preset();
    let command = match (command, preset) {
        (Some(command), Preset::Roam) => names::command_name(command),
        (Some(command), Preset::None) => command.to_owned(),
        (None, Preset::Roam) => tool_command(tool),
        (None, Preset::None) => tool.to_owned(),
    };
    let tool = redact::scrub(tool, configuration);
    let command = redact::scrub(&command, configuration);
    let reason = redact::scrub(&judgement.reason, configuration);
    let (active, required) = (judgement.active_mode, judgement.required_mode);
    let run = format!("{} {required}", mode_command(preset));
    let hint = match preset {
        Preset::Roam => format!("Run `{run}` to switch into a mode that allows this tool."),
        // Unlike roam-code's server, ours reads the mode when it starts.
        Preset::None => format!("The operator can allow this tool with `{run}` and a restart of the host."),
    };

    let mut out = Envelope(String::with_capacity(1024));
    out.raw("{\"command\":").text(&tool);
    out.raw(",\"status\":\"hard_failure\",\"isError\":true,\"summary\":{\"verdict\":");
    out.text(&format!("BLOCKED: '{command}' requires {required} mode (active: {active})"));
    out.raw(",\"level\":\"blocker\",\"partial_success\":false,\"state\":\"mode_blocked\"},\"error_code\":\"MODE_BLOCKED\",\"error\":");
    out.text(&reason).raw(",\"hint\":").text(&hint);
    out.raw(",\"next_command\":").text(&run);
    out.raw(",\"agent_contract\":{\"facts\":[").text(&format!("active mode: {active}"));
    out.raw(",").text(&format!("required mode: {required}"));
    out.raw(",").text(&format!("blocked tool: {tool}"));
    out.raw("],\"next_commands\":[").text(&run);
    out.raw(",").text(&format!("# then re-run {tool}"));
    out.raw("]},\"_meta\":{\"policy_decision\":\"deny\",\"policy_active_mode\":").text(active.as_str());
    out.raw(",\"policy_required_mode\":").text(required.as_str());
    out.raw("},\"retryable\":false,\"suggested_action\":").text(&hint);
    out.raw(",\"doc_link\":").text(match preset {
        Preset::Roam => "https://roam-code.com/docs/troubleshooting",
        Preset::None => "counterfoil mode --help",
    });
    out.raw(",\"severity\":\"error\"}");
    out.0
}

struct Envelope(String);

impl Envelope {
    fn raw(&mut self, json: &str) -> &mut Self {
        self.0.push_str(json);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        escape(text, false, &mut self.0);
        self
    }
}
