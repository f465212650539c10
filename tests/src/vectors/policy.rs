//! The vectors of the policy: modes, gate, redaction, marks.
//!
//! [`run`] puts every case to an implementation of [`Policy`]. For redaction the rule is one-sided: what roam-code masks
//! must be masked, more may be. Cases where Counterfoil answers otherwise stand in `tests/exceptions/policy.json` with the
//! answer that is expected instead and the reason; the list cannot go stale.

use std::path::Path;

use serde_json::{Value, json};

use super::formats::{Refused, Report, cases, read_json, text};

/// A call to judge. Words are spelled as in JSON.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Only reads.
    pub read_only: bool,
    /// Destroys.
    pub destructive: bool,
    /// Repeating changes nothing more.
    pub idempotent: bool,
    /// The active mode.
    pub mode: &'a str,
    /// Denials are only recorded.
    pub dry_run: bool,
}

/// A judgement. Words are spelled as in JSON.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// `allow` or `deny`.
    pub decision: String,
    /// `enforced` or `dry_run`.
    pub enforcement: String,
    /// The lowest mode that may.
    pub required_mode: String,
    /// Why it is denied.
    pub reason: String,
}

/// What came of a text: the text as it goes out, ids of secrets, and marks with their counts.
#[derive(Debug, Clone)]
pub struct Redacted {
    /// The text as it goes out.
    pub output: String,
    /// Detectors that found something.
    pub secrets: Vec<String>,
    /// Marks and how often.
    pub markers: Vec<(String, u32)>,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The result as it goes out.
    pub outcome: String,
    /// The receipt's canonical text.
    pub receipt: String,
}

/// What is tested: the functions of the interfaces `gate` and `redaction`, and `settle`. All under the preset `roam`.
pub trait Policy {
    /// `decide`.
    fn decide(&self, call: &Call<'_>) -> Result<Judgement, Refused>;
    /// `admit` with empty arguments: the blocked result, if any.
    fn admit(&self, call: &Call<'_>) -> Result<Option<String>, Refused>;
    /// `settle` after `decide`.
    fn settle(&self, call: &Call<'_>, outcome: &str) -> Result<Settled, Refused>;
    /// `resolve-mode`: mode and source.
    fn resolve_mode(
        &self,
        explicit: Option<&str>,
        environment: Option<&str>,
        file: Option<&str>,
    ) -> Result<(String, String), Refused>;
    /// `command-name`.
    fn command_name(&self, line: &str) -> String;
    /// `tool-command`.
    fn tool_command(&self, tool: &str) -> String;
    /// `check-command`: command, whether allowed, reason.
    fn check_command(&self, line: &str, mode: &str) -> Result<(String, bool, String), Refused>;
    /// `redact-text`.
    fn redact_text(&self, text: &str) -> Result<Redacted, Refused>;
    /// `redact-json`.
    fn redact_json(&self, json: &str) -> Result<Redacted, Refused>;
}

/// Put every case to an implementation. `tests` is the folder of this package. Gives the number of cases that agreed and
/// what went wrong.
pub fn run(policy: &impl Policy, tests: &Path) -> (usize, Vec<String>) {
    let read = |path: &str| read_json(&tests.join(path));
    let vectors = |path: &str| read(&format!("vectors/roam/{path}"));
    let mut report = Report::new(&read("exceptions/policy.json"));
    gate_matrix(policy, &vectors("modes/gate_matrix.json"), &mut report);
    roam_tools(policy, &vectors("modes/roam_tools.json"), &mut report);
    calls(policy, &vectors("modes/calls.json"), &mut report);
    resolution(policy, &vectors("modes/resolution.json"), &mut report);
    names(policy, &vectors("modes/command_names.json"), &vectors("modes/tool_to_command.json"), &mut report);
    markers(policy, &vectors("redaction/markers.json"), &mut report);
    strings(policy, &vectors("redaction/strings.json"), &mut report);
    values(policy, &vectors("redaction/values.json"), &mut report);
    egress(policy, &vectors("redaction/egress.json"), &mut report);
    report.finish()
}

fn flag(value: &Value, name: &str) -> bool {
    value[name].as_bool().unwrap_or_else(|| panic!("`{name}` is no truth value in {value}"))
}

fn call<'v>(tool: &'v str, flags: &Value, mode: &'v str, dry_run: bool) -> Call<'v> {
    Call {
        tool,
        // A tool that declares nothing counts as a pure read, as in roam-code.
        read_only: flags["read_only"].as_bool().unwrap_or(true),
        destructive: flags["destructive"].as_bool().unwrap_or(false),
        idempotent: flags["idempotent"].as_bool().unwrap_or(true),
        mode,
        dry_run,
    }
}

fn refusal(refused: &Refused) -> String {
    refused.0.clone()
}

fn gate_matrix(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let call = call(text(case, "tool"), case, text(case, "mode"), false);
        let ours = policy.decide(&call).map_or_else(
            |error| refusal(&error),
            |judged| format!("{} {} {} {}", judged.decision, judged.enforcement, judged.required_mode, judged.reason),
        );
        let reason = case["reason"].as_str().unwrap_or_default();
        let theirs = format!("{} enforced {} {reason}", text(case, "decision"), text(case, "required_mode"));
        report.compare("gate matrix", &format!("{call:?}"), &ours, &theirs);
    }
}

fn roam_tools(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    let modes: Vec<_> = vectors["allowed_order"].as_array().expect("modes").iter().filter_map(Value::as_str).collect();
    for tool in vectors["tools"].as_array().expect("tools") {
        let name = text(tool, "tool");
        report.compare("command of a tool", name, &policy.tool_command(name), text(tool, "command"));
        for (mode, allowed) in modes.iter().zip(tool["allowed"].as_array().expect("answers")) {
            let judged = policy.decide(&call(name, tool, mode, false));
            let ours =
                judged.map_or_else(|error| refusal(&error), |it| format!("{} {}", it.decision, it.required_mode));
            let decision = if allowed.as_bool() == Some(true) { "allow" } else { "deny" };
            let theirs = format!("{decision} {}", text(tool, "required_mode"));
            report.compare("tool in a mode", &format!("{name} {mode}"), &ours, &theirs);
        }
    }
}

/// Whole calls: whether the tool ran, the envelope if not, what the receipt records if there is one. A tool runs when it
/// is allowed or when enforcement is off; both of roam-code's switches for that are dry run here.
fn calls(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let off = case["enforcement"].as_str() == Some("0");
        let dry_run = off || case["dry_run"].as_str() == Some("1");
        let call = call(text(case, "tool"), &case["flags"], text(case, "mode"), dry_run);
        let name = format!("{call:?} enforcement off: {off}");
        let blocked = policy.admit(&call);
        let ran = matches!(blocked, Ok(None));
        report.compare("call runs", &name, &ran.to_string(), &flag(case, "tool_ran").to_string());
        if let Some(theirs) = case.get("envelope") {
            let ours: Value = serde_json::from_str(&blocked.ok().flatten().unwrap_or_default()).unwrap_or_default();
            // Equal texts: the order of the members is part of the format.
            report.compare("blocked envelope", &name, &ours.to_string(), &theirs.to_string());
        }
        if let Some(theirs) = case.get("receipt") {
            let outcome = case.get("envelope").map_or_else(|| "{\"ok\": true}".to_owned(), Value::to_string);
            let settled = policy.settle(&call, &outcome).expect("a plain result can be settled");
            let receipt: Value = serde_json::from_str(&settled.receipt).expect("a receipt is JSON");
            for member in ["policy_decision", "required_mode", "declared_side_effects", "output_hash"] {
                report.compare(member, &name, &receipt[member].to_string(), &theirs[member].to_string());
            }
            let shadow = &receipt["extra"]["shadow_mode"];
            report.compare("shadow mode", &name, &shadow.to_string(), &theirs["extra"]["shadow_mode"].to_string());
            // roam-code says by which switch enforcement was off.
            let theirs = theirs["extra"]["would_deny_reason"].as_str().unwrap_or_default();
            let theirs = theirs.trim_start_matches("ROAM_MODE_ENFORCEMENT=0 emergency override: ");
            let ours = receipt["extra"]["would_deny_reason"].as_str().unwrap_or_default();
            report.compare("would-be reason", &name, ours, theirs);
        }
    }
}

fn resolution(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let Some(theirs) = case["mode"].as_str() else { continue };
        let part = |name: &str| case[name].as_str();
        let ours = policy.resolve_mode(part("explicit"), part("env"), part("file"));
        let ours = ours.map_or_else(|error| refusal(&error), |(mode, source)| format!("{mode} {source}"));
        let name = json!([case["explicit"], case["env"], case["file"]]).to_string();
        report.compare("active mode", &name, &ours, &format!("{theirs} {}", text(case, "source")));
    }
}

fn names(policy: &impl Policy, commands: &Value, tools: &Value, report: &mut Report) {
    for case in cases(commands) {
        let line = text(case, "command");
        report.compare("bare command", line, &policy.command_name(line), text(case, "bare"));
        let ours = policy.check_command(line, "safe_edit");
        let ours = ours.map_or_else(|error| refusal(&error), |(_, allowed, reason)| format!("{allowed} {reason}"));
        let theirs = format!("{} {}", case["allowed_in_safe_edit"], text(case, "reason"));
        report.compare("command in safe_edit", line, &ours, &theirs);
    }
    for case in cases(tools) {
        let tool = text(case, "tool");
        report.compare("command of a tool", tool, &policy.tool_command(tool), text(case, "command"));
    }
}

fn markers(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let ours = policy.redact_text(text(case, "in")).map_or_else(
            |error| refusal(&error),
            |found| Value::from_iter(found.markers.into_iter().map(|(id, hits)| (id, Value::from(hits)))).to_string(),
        );
        report.compare("marks", text(case, "name"), &sorted(&ours), &sorted(&case["counts"].to_string()));
    }
}

/// An object's text with sorted members.
fn sorted(object: &str) -> String {
    let value: Value = serde_json::from_str(object).unwrap_or_default();
    let mut members: Vec<_> =
        value.as_object().into_iter().flatten().map(|(name, it)| format!("{name}={it}")).collect();
    members.sort();
    members.join(" ")
}

fn strings(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let (input, theirs) = (text(case, "in"), text(case, "out"));
        let found = policy.redact_text(input);
        report.compare("masked text", text(case, "name"), &masked(found, &case["counts"], input, theirs), "masked");
    }
}

fn values(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let input = text(case, "value_json");
        let found = policy.redact_json(input);
        let name = text(case, "name");
        match case["out_canonical"].as_str() {
            Some(theirs) => {
                report.compare("masked value", name, &masked(found, &case["counts"], input, theirs), "masked")
            }
            // roam-code gives up where two masked keys are equal. Ours must keep both members.
            None => {
                let members = |json: &str| json.matches("\":").count();
                let kept = found.is_ok_and(|it| {
                    !it.secrets.is_empty()
                        && members(&it.output) == members(input)
                        && serde_json::from_str::<Value>(&it.output)
                            .is_ok_and(|value| leaves(&value) == leaves_of(input))
                });
                report.compare("keys kept apart", name, &kept.to_string(), "true");
            }
        }
    }
}

fn leaves_of(json: &str) -> usize {
    leaves(&serde_json::from_str(json).expect("a vector is JSON"))
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(leaves).sum(),
        Value::Object(members) => members.values().map(|value| 1 + leaves(value)).sum(),
        _ => 1,
    }
}

fn egress(policy: &impl Policy, vectors: &Value, report: &mut Report) {
    let plain = Call {
        tool: "vec_tool",
        read_only: true,
        destructive: false,
        idempotent: true,
        mode: "read_only",
        dry_run: false,
    };
    for case in cases(vectors) {
        let (name, input) = (text(case, "name"), text(case, "result_json"));
        let settled = policy.settle(&plain, input).expect("a plain result can be settled");
        let receipt: Value = serde_json::from_str(&settled.receipt).expect("a receipt is JSON");
        report.compare("egress redactions", name, &receipt["redactions"].to_string(), &case["redactions"].to_string());
        let marks = |extra: &Value| sorted(&extra["injection_markers"].to_string());
        report.compare("egress marks", name, &marks(&receipt["extra"]), &marks(&case["extra"]));
        let details = receipt["extra"]["redaction_details"].as_object();
        let secrets = details.into_iter().flatten().map(|(id, _)| id.clone()).collect();
        let found = Redacted { output: settled.outcome, secrets, markers: Vec::new() };
        let theirs = text(case, "out_canonical");
        let ours = masked(Ok(found), &case["extra"]["redaction_details"], input, theirs);
        report.compare("egress text", name, &ours, "masked");
    }
}

/// `masked` when no word that roam-code took out is left whole in our output, and what it counted we counted too.
/// Otherwise says what is wrong.
fn masked(found: Result<Redacted, Refused>, counts: &Value, input: &str, theirs: &str) -> String {
    let found = match found {
        Ok(found) => found,
        Err(error) => return refusal(&error),
    };
    let counted = counts.as_object().is_some_and(|counts| !counts.is_empty());
    if counted && found.secrets.is_empty() {
        return "nothing found".to_owned();
    }
    let left: Vec<_> = words(input).filter(|word| !theirs.contains(word) && found.output.contains(word)).collect();
    if left.is_empty() { "masked".to_owned() } else { format!("{} words left", left.len()) }
}

/// Runs of signs that a token may be made of, long enough to be one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |sign: char| sign.is_ascii_alphanumeric() || "_-.~+/=".contains(sign);
    text.split(move |sign| !part(sign)).filter(|word| word.len() >= 16)
}
