//! A component that fits the contract, gives trivial answers, and misbehaves when the input says so. The engine's tests
//! see to it that each misdeed ends in a refusal and that nothing of it is left for the next call.

mod bindings;
mod misdeeds;
mod redactor;

use bindings::exports::counterfoil::policy::about::{self, Information};
use bindings::exports::counterfoil::policy::gate::{
    self, Admission, AdmitRequest, AdmitRequestBytes, Call, CommandRule, Judgement, ResolvedMode,
};
use bindings::exports::counterfoil::policy::ledger::{
    self, ChainVerdict, FullVerdict, ReceiptFile, ReceiptLink, SignedEvent, Tail,
};
use bindings::exports::counterfoil::policy::receipts::{
    self, Form, Output, Sealed, SettleRequest, SettleRequestBytes, Settlement, SettlementBytes,
};
use bindings::exports::counterfoil::policy::redaction::{self, Redacted, RedactedBytes};
use bindings::exports::counterfoil::policy::vocabulary::{
    ChainState, Decision, Enforcement, Error, Hit, Mode, PolicyDecision, ReceiptIntegrity,
};

/// 64 lower-case hex digits.
const HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A receipt and the hash that it has.
const RECEIPT: (&str, &str) = ("{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");

struct Hostile;

#[expect(unsafe_code, reason = "generated: functions at the component's boundary")]
mod boundary {
    crate::bindings::export!(Hostile with_types_in crate::bindings);
    use crate::Hostile;
}

impl gate::Guest for Hostile {
    fn decide(call: Call, _: Option<String>) -> Result<Judgement, Error> {
        misdeeds::commit(&call.tool);
        let denied = call.tool == "denied";
        Ok(Judgement {
            decision: if denied { Decision::Deny } else { Decision::Allow },
            enforcement: if call.dry_run { Enforcement::DryRun } else { Enforcement::Enforced },
            active_mode: call.mode,
            required_mode: Mode::ReadOnly,
            reason: if denied { "denied for the test".to_owned() } else { String::new() },
        })
    }

    fn admit(request: AdmitRequest) -> Result<Admission, Error> {
        let tool = request.call.tool.clone();
        if tool == "error" {
            return Err(Error::InvalidArgument("an error of the component's own".to_owned()));
        }
        let judgement = Self::decide(request.call, None)?;
        let blocked = (tool == "denied").then(|| r#"{"isError": true}"#.to_owned());
        let secrets = match tool.as_str() {
            "count-nothing" => vec![Hit { id: "none".to_owned(), hits: 0 }],
            "look" => vec![Hit { id: "left".to_owned(), hits: misdeeds::look() + 1 }],
            _ => Vec::new(),
        };
        Ok(Admission {
            judgement,
            input_hash: if tool == "hash" { HASH.to_uppercase() + "A" } else { HASH.to_owned() },
            arguments: Some(if tool == "json" { "{\"cut\": ".to_owned() } else { request.arguments }),
            secrets,
            blocked: if tool == "answered" { Some("{}".to_owned()) } else { blocked },
        })
    }

    fn admit_bytes(request: AdmitRequestBytes) -> Result<Admission, Error> {
        let arguments = text(request.arguments)?;
        Self::admit(AdmitRequest { call: request.call, arguments, configuration: request.configuration })
    }

    fn parse_mode(name: String) -> Result<Mode, Error> {
        Err(Error::UnknownMode(format!("no mode of {} letters", name.len())))
    }

    fn resolve_mode(_: Option<String>, _: Option<String>, _: Option<String>) -> Result<ResolvedMode, Error> {
        Ok(ResolvedMode { mode: Mode::SafeEdit, source: "default".to_owned() })
    }

    fn command_name(line: String) -> String {
        line.chars().rev().collect()
    }

    fn tool_command(tool: String) -> String {
        misdeeds::commit(&tool);
        tool
    }

    fn check_command(line: String, _: Mode, _: Option<String>) -> Result<CommandRule, Error> {
        Ok(CommandRule { command: line, allowed: false, reason: "not in a list".to_owned() })
    }

    fn blocked_envelope(_: String, _: Option<String>, _: Judgement) -> String {
        "{\"isError\": ".to_owned()
    }
}

impl redaction::Guest for Hostile {
    type Redactor = redactor::Held;

    fn redact_text(text: String, _: Option<String>) -> Result<Redacted, Error> {
        misdeeds::commit(&text);
        let secrets = match text.as_str() {
            "contradiction" => vec![Hit { id: "one".to_owned(), hits: 1 }],
            _ => Vec::new(),
        };
        Ok(Redacted { output: None, secrets, markers: Vec::new() })
    }

    fn redact_text_bytes(bytes: Vec<u8>, _: Option<String>) -> Result<RedactedBytes, Error> {
        text(bytes)?;
        Ok(RedactedBytes { output: None, secrets: Vec::new(), markers: Vec::new() })
    }

    fn redact_json(json: String, configuration: Option<String>) -> Result<Redacted, Error> {
        Self::redact_text(json, configuration)
    }

    fn redact_json_bytes(json: Vec<u8>, configuration: Option<String>) -> Result<RedactedBytes, Error> {
        Self::redact_text_bytes(json, configuration)
    }

    fn scan_markers(_: String) -> Vec<Hit> {
        ["b", "a"].map(|id| Hit { id: id.to_owned(), hits: 1 }).to_vec()
    }

    fn redact_pieces(pieces: Vec<String>, _: Option<String>) -> Result<Vec<String>, Error> {
        Ok(pieces)
    }
}

impl receipts::Guest for Hostile {
    fn settle(request: SettleRequest) -> Result<Settlement, Error> {
        misdeeds::commit(&request.facts.tool_name);
        let (canonical, hash) = RECEIPT;
        Ok(Settlement {
            outcome: Some(request.outcome),
            secrets: Vec::new(),
            markers: Vec::new(),
            policy_decision: PolicyDecision::Allow,
            reasons: Vec::new(),
            output: Output { output_hash: Some(HASH.to_owned()), output_ref: None },
            receipt: Sealed {
                canonical: if request.facts.tool_name == "receipt" { "{ }" } else { canonical }.to_owned(),
                content_hash: hash.to_owned(),
            },
        })
    }

    fn settle_bytes(request: SettleRequestBytes) -> Result<SettlementBytes, Error> {
        let SettleRequestBytes { facts, outcome, configuration } = request;
        let settled = Self::settle(SettleRequest { facts, outcome: text(outcome)?, configuration })?;
        Ok(SettlementBytes {
            outcome: settled.outcome.map(String::into_bytes),
            secrets: settled.secrets,
            markers: settled.markers,
            policy_decision: settled.policy_decision,
            reasons: settled.reasons,
            output: settled.output,
            receipt: settled.receipt,
        })
    }

    fn seal(fields: String) -> Result<Sealed, Error> {
        Ok(Sealed { canonical: fields, content_hash: HASH.to_owned() })
    }

    fn input_hash(_: String) -> Result<String, Error> {
        Ok("short".to_owned())
    }

    fn output_of(_: String) -> Result<Output, Error> {
        Ok(Output { output_hash: Some(HASH.to_owned()), output_ref: Some("handle:1".to_owned()) })
    }

    fn canonicalize(json: String, _: Form) -> Result<String, Error> {
        Ok(json)
    }
}

impl ledger::Guest for Hostile {
    fn read_tail(events: Vec<u8>) -> Result<Tail, Error> {
        Ok(Tail { lines: events.len() as u64, signature: Some("x".to_owned()), complete: true, sound: true })
    }

    fn sign(_: Vec<u8>, _: Tail, _: Vec<String>) -> Result<Vec<SignedEvent>, Error> {
        Ok(Vec::new())
    }

    fn verify_chain(_: Vec<u8>, _: Vec<u8>) -> Result<ChainVerdict, Error> {
        Ok(verdict())
    }

    fn receipt_links(_: Vec<u8>) -> Result<Vec<ReceiptLink>, Error> {
        Ok(Vec::new())
    }

    fn verify_with_receipts(_: Vec<u8>, _: Vec<u8>, _: Vec<ReceiptFile>) -> Result<FullVerdict, Error> {
        Ok(FullVerdict {
            chain: verdict(),
            receipt_integrity: ReceiptIntegrity::Tampered,
            first_missing_receipt_at_seq: None,
        })
    }
}

impl about::Guest for Hostile {
    fn info() -> Information {
        Information {
            version: "0.0.0".to_owned(),
            contract: "0.1.0".to_owned(),
            rules_digest: HASH.to_owned(),
            configuration_digest: misdeeds::configuration().unwrap_or_else(|| HASH.to_owned()),
        }
    }

    fn configure(configuration: String) -> Result<Information, Error> {
        misdeeds::commit(&configuration);
        if configuration == "refused" {
            return Err(Error::InvalidConfiguration("`refused` is no member".to_owned()));
        }
        misdeeds::configure(configuration);
        Ok(Self::info())
    }

    fn catalogue() -> String {
        "[]".to_owned()
    }
}

fn verdict() -> ChainVerdict {
    ChainVerdict {
        state: ChainState::Tampered,
        events_verified: 0,
        first_tamper_at_seq: None,
        partial_success: true,
        final_signature: None,
        details: "nothing was looked at".to_owned(),
        unreadable_lines: 0,
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| Error::InvalidUtf8("not UTF-8".to_owned()))
}
