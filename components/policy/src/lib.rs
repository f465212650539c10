//! The component: the exports of `counterfoil:policy` over `counterfoil-core`.
//!
//! Nothing is decided here. A value is taken across the boundary, the core is asked, the answer is taken back. The one
//! thing kept between calls is the configuration of the instance, so that a host can put it in force once, take a
//! snapshot, and start every later instance from there. A panic in the core is a trap: the call has no answer.

mod bindings;
mod cross;

use std::cell::RefCell;
use std::rc::Rc;

use bindings::exports::counterfoil::policy as wit;
use counterfoil_core::{self as core, Configuration, call, gate, ledger, receipt, redact};
use cross::Out;

/// The contract's version, as the package in `wit/` has it.
const CONTRACT: &str = "0.1.0";

/// What a function that can fail gives back.
type Answer<T> = Result<T, wit::vocabulary::Error>;

thread_local! {
    /// The configuration in force: what `configure` was given last, or the default.
    static IN_FORCE: RefCell<Rc<Configuration>> = RefCell::new(Rc::new(Configuration::default()));
}

/// The configuration in force.
fn in_force() -> Rc<Configuration> {
    IN_FORCE.with_borrow(Rc::clone)
}

/// Ask the core under the configuration that the call brings, or else the one in force.
fn under<T: Out>(given: Option<String>, ask: impl FnOnce(&Configuration) -> Result<T, core::Error>) -> Answer<T::To> {
    let answer = match given {
        Some(document) => Configuration::parse(&document).and_then(|parsed| ask(&parsed)),
        None => ask(&in_force()),
    };
    answer.out()
}

/// The text in the bytes.
fn text(bytes: &[u8]) -> Answer<&str> {
    let refuse = |error: std::str::Utf8Error| format!("not UTF-8 at byte {}", error.valid_up_to());
    std::str::from_utf8(bytes).map_err(|error| wit::vocabulary::Error::InvalidUtf8(refuse(error)))
}

/// The component.
struct Policy;

impl wit::about::Guest for Policy {
    fn info() -> wit::about::Information {
        wit::about::Information {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            contract: CONTRACT.to_owned(),
            rules_digest: core::about::rules_digest().to_owned(),
            configuration_digest: in_force().digest().to_owned(),
        }
    }

    fn configure(configuration: String) -> Answer<wit::about::Information> {
        let parsed = Configuration::parse(&configuration).map_err(Out::out)?;
        IN_FORCE.set(Rc::new(parsed));
        // Builds what is built once, the digest of the rules too, so that a snapshot holds it.
        redact::prepare();
        Ok(Self::info())
    }

    fn catalogue() -> String {
        core::about::catalogue().to_owned()
    }
}

impl wit::gate::Guest for Policy {
    fn decide(call: wit::gate::Call, configuration: Option<String>) -> Answer<wit::gate::Judgement> {
        under(configuration, |configuration| gate::decide(&call_of(&call), configuration))
    }

    fn admit(request: wit::gate::AdmitRequest) -> Answer<wit::gate::Admission> {
        admit(&request.call, &request.arguments, request.configuration)
    }

    fn admit_bytes(request: wit::gate::AdmitRequestBytes) -> Answer<wit::gate::Admission> {
        admit(&request.call, text(&request.arguments)?, request.configuration)
    }

    fn parse_mode(name: String) -> Answer<wit::vocabulary::Mode> {
        gate::parse_mode(&name).out()
    }

    fn resolve_mode(
        explicit: Option<String>,
        environment: Option<String>,
        file: Option<String>,
    ) -> Answer<wit::gate::ResolvedMode> {
        gate::resolve_mode(explicit.as_deref(), environment.as_deref(), file.as_deref()).out()
    }

    fn command_name(line: String) -> String {
        gate::command_name(&line)
    }

    fn tool_command(tool: String) -> String {
        gate::tool_command(&tool)
    }

    fn check_command(
        line: String,
        mode: wit::vocabulary::Mode,
        configuration: Option<String>,
    ) -> Answer<wit::gate::CommandRule> {
        under(configuration, |configuration| gate::check_command(&line, mode.into(), configuration))
    }

    fn blocked_envelope(tool: String, command: Option<String>, judgement: wit::gate::Judgement) -> String {
        gate::blocked_envelope(&tool, command.as_deref(), &judgement.into(), &in_force())
    }
}

/// The call as the core has it.
fn call_of(call: &wit::gate::Call) -> gate::Call<'_> {
    gate::Call {
        tool: &call.tool,
        command: call.command.as_deref(),
        effects: call.effects.into(),
        mode: call.mode.into(),
        dry_run: call.dry_run,
    }
}

/// `admit` on arguments that are known to be text.
fn admit(call: &wit::gate::Call, arguments: &str, given: Option<String>) -> Answer<wit::gate::Admission> {
    let request = call::AdmitRequest { call: call_of(call), arguments };
    under(given, |configuration| call::admit(&request, configuration))
}

impl wit::redaction::Guest for Policy {
    type Redactor = Redactor;

    fn redact_text(text: String, configuration: Option<String>) -> Answer<wit::redaction::Redacted> {
        under(configuration, |configuration| redact::redact_text(&text, configuration))
    }

    fn redact_text_bytes(bytes: Vec<u8>, configuration: Option<String>) -> Answer<wit::redaction::RedactedBytes> {
        let text = text(&bytes)?;
        under(configuration, |configuration| redact::redact_text(text, configuration)).map(Into::into)
    }

    fn redact_json(json: String, configuration: Option<String>) -> Answer<wit::redaction::Redacted> {
        under(configuration, |configuration| redact::redact_json(&json, configuration))
    }

    fn redact_json_bytes(bytes: Vec<u8>, configuration: Option<String>) -> Answer<wit::redaction::RedactedBytes> {
        let json = text(&bytes)?;
        under(configuration, |configuration| redact::redact_json(json, configuration)).map(Into::into)
    }

    fn scan_markers(text: String) -> Vec<wit::vocabulary::Hit> {
        core::markers::scan_markers(&text).out()
    }

    fn redact_pieces(pieces: Vec<String>, configuration: Option<String>) -> Answer<Vec<String>> {
        under(configuration, |configuration| redact::redact_pieces(&pieces, configuration))
    }
}

/// A text that arrives bit by bit.
struct Redactor(RefCell<redact::Redactor>);

impl Out for redact::Redactor {
    type To = wit::redaction::Redactor;

    fn out(self) -> Self::To {
        Self::To::new(Redactor(RefCell::new(self)))
    }
}

impl wit::redaction::GuestRedactor for Redactor {
    fn open(configuration: Option<String>) -> Answer<wit::redaction::Redactor> {
        under(configuration, redact::Redactor::open)
    }

    fn push(&self, piece: Vec<u8>) -> Answer<Vec<u8>> {
        self.0.borrow_mut().push(&piece).map_err(Out::out)
    }

    fn finish(&self) -> Answer<Vec<u8>> {
        self.0.borrow_mut().finish().map_err(Out::out)
    }

    fn secrets(&self) -> Vec<wit::vocabulary::Hit> {
        self.0.borrow().secrets().out()
    }
}

impl wit::receipts::Guest for Policy {
    fn settle(request: wit::receipts::SettleRequest) -> Answer<wit::receipts::Settlement> {
        settle(request.facts, &request.outcome, request.configuration)
    }

    fn settle_bytes(request: wit::receipts::SettleRequestBytes) -> Answer<wit::receipts::SettlementBytes> {
        settle(request.facts, text(&request.outcome)?, request.configuration).map(Into::into)
    }

    fn seal(fields: String) -> Answer<wit::receipts::Sealed> {
        receipt::seal(&fields).out()
    }

    fn input_hash(arguments: String) -> Answer<String> {
        receipt::input_hash(&arguments).out()
    }

    fn output_of(outcome: String) -> Answer<wit::receipts::Output> {
        receipt::output_of(&outcome).out()
    }

    fn canonicalize(json: String, form: wit::receipts::Form) -> Answer<String> {
        core::canonical::canonicalize(&json, form.into()).out()
    }
}

/// `settle` on a result that is known to be text.
fn settle(facts: wit::receipts::CallFacts, outcome: &str, given: Option<String>) -> Answer<wit::receipts::Settlement> {
    let judgement = facts.judgement.map(Into::into);
    let secrets: Vec<_> = facts.argument_secrets.into_iter().map(Into::into).collect();
    let reasons: Vec<_> = facts.reasons.into_iter().map(Into::into).collect();
    let facts = call::CallFacts {
        tool_call: &facts.tool_call,
        tool_name: &facts.tool_name,
        client_id: &facts.client_id,
        actor_ref_id: facts.actor_ref_id.as_deref(),
        run_id: facts.run_id.as_deref(),
        effects: facts.effects.into(),
        judgement: judgement.as_ref(),
        input_hash: facts.input_hash.as_deref(),
        argument_secrets: &secrets,
        extra: facts.extra.as_deref(),
        reasons: &reasons,
    };
    let request = call::SettleRequest { facts, outcome };
    under(given, |configuration| call::settle(&request, configuration))
}

impl wit::ledger::Guest for Policy {
    fn read_tail(events: Vec<u8>) -> Answer<wit::ledger::Tail> {
        ledger::read_tail(&events).out()
    }

    fn sign(key: Vec<u8>, after: wit::ledger::Tail, events: Vec<String>) -> Answer<Vec<wit::ledger::SignedEvent>> {
        ledger::sign(&key, &after.into(), &events).out()
    }

    fn verify_chain(key: Vec<u8>, events: Vec<u8>) -> Answer<wit::ledger::ChainVerdict> {
        ledger::verify_chain(&key, &events).out()
    }

    fn receipt_links(events: Vec<u8>) -> Answer<Vec<wit::ledger::ReceiptLink>> {
        ledger::receipt_links(&events).out()
    }

    fn verify_with_receipts(
        key: Vec<u8>,
        events: Vec<u8>,
        files: Vec<wit::ledger::ReceiptFile>,
    ) -> Answer<wit::ledger::FullVerdict> {
        let files: Vec<_> = files
            .iter()
            .map(|file| ledger::ReceiptFile { tool_call: &file.tool_call, content: file.content.as_deref() })
            .collect();
        ledger::verify_with_receipts(&key, &events, &files).out()
    }
}

#[expect(unsafe_code, reason = "the exported symbols are the component's boundary, and the macro writes them")]
mod exports {
    use crate::{Policy, bindings};

    bindings::export!(Policy with_types_in bindings);
}
