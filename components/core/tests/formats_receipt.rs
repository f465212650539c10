//! Receipts where the vectors say nothing: types of members, the typed builder, answers where roam-code has none.

use counterfoil_core::Error;
use counterfoil_core::receipt::{Output, Receipt, input_hash, output_of, seal};
use counterfoil_core::vocabulary::{PolicyDecision, RedactionReason, SideEffect};

#[test]
fn a_typed_receipt_is_the_one_sealed_from_json() -> Result<(), Error> {
    let output = Output { output_hash: None, output_ref: Some("handle:\u{7f}é".to_owned()) };
    let receipt = Receipt {
        tool_call: "t\"1",
        client_id: "c",
        tool_name: "n",
        actor_ref_id: None,
        declared_side_effects: &[SideEffect::Write, SideEffect::NonIdempotent],
        required_mode: Some("safe_edit"),
        input_hash: Some("00"),
        policy_decision: PolicyDecision::WouldDenyDryRun,
        output: &output,
        run_event_id: Some("run"),
        redactions: &[RedactionReason::Secret],
        extra: r#"{"shadow_mode":true}"#,
    };
    let fields = r#"{"extra": {"shadow_mode": true}, "redactions": ["secret"], "run_event_id": "run", "tool_call": "t\"1",
        "client_id": "c", "tool_name": "n", "declared_side_effects": ["write", "non_idempotent"], "required_mode": "safe_edit",
        "input_hash": "00", "policy_decision": "would_deny_dry_run", "output_ref": "handle:\u007f\u00e9"}"#;
    assert_eq!(receipt.seal()?, seal(fields)?);
    let bare = Receipt { declared_side_effects: &[], redactions: &[], output: &Output::default(), ..receipt };
    assert!(bare.seal()?.canonical.contains(r#""redactions":[],"#));
    let both = Output { output_hash: Some(String::new()), output_ref: Some(String::new()) };
    assert!(matches!(Receipt { output: &both, ..receipt }.seal(), Err(Error::InvalidReceipt(_))));
    Ok(())
}

#[test]
fn a_receipt_with_wrong_members_is_refused_and_what_is_no_word_is_not_repeated() {
    let with = |more: &str| {
        let fields = format!(r#"{{"tool_call": "t", "client_id": "c", "tool_name": "n", {more}}}"#);
        seal(&fields).map_err(|error| error.message().to_owned()).map(|_| ())
    };
    let refused = [
        (r#""tool_name": 1"#, "`tool_name` must be a string"),
        (r#""actor_ref_id": 1"#, "`actor_ref_id` must be a string or null"),
        (r#""declared_side_effects": ["a", 1]"#, "`declared_side_effects` must be an array of strings"),
        (r#""redactions": """#, "`redactions` must be an array of strings"),
        (r#""when": 1"#, "a receipt has no member 'when'"),
        (
            r#""policy_decision": "sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""#,
            "unknown policy_decision: a text of 40 characters; expected one of ['allow', 'deny', 'escalate', 'not_evaluated', 'redact', 'would_deny_dry_run']",
        ),
        (
            r#""redactions": ["it's é\n"]"#,
            "unknown redaction reason: a text of 7 characters; must be one of REDACTION_REASONS",
        ),
        (
            r#""redactions": ["AKIA0123456789ABCDEF"]"#,
            "unknown redaction reason: a text of 20 characters; must be one of REDACTION_REASONS",
        ),
        (
            r#""redactions": [4111111111111111]"#,
            "unknown redaction reason: a long number; must be one of REDACTION_REASONS",
        ),
        (r#""redactions": [true]"#, "unknown redaction reason: True; must be one of REDACTION_REASONS"),
    ];
    for (more, message) in refused {
        assert_eq!(with(more), Err(message.to_owned()), "{more}");
    }
    assert_eq!(seal("[]"), Err(Error::InvalidReceipt("a receipt must be a JSON object".to_owned())));
    let missing = Error::InvalidReceipt("a receipt must have the member `client_id`, `tool_name`".to_owned());
    assert_eq!(seal(r#"{"tool_call": "t"}"#), Err(missing));
}

#[test]
fn arguments_must_be_an_object() {
    let error = Error::InvalidArgument("the arguments must be a JSON object".to_owned());
    assert_eq!(input_hash("[]"), Err(error));
    assert_eq!(input_hash(r#"{"\u0063tx": 1, "ctx": 2}"#), input_hash("{}"));
}

#[test]
fn a_large_result_with_a_summary_that_is_no_object_is_hashed() {
    for summary in ["null", "[]", "\"x\"", "{}", "{\"handle\": null}"] {
        let outcome = format!(r#"{{"is_handle": true, "summary": {summary}, "pad": "{}"}}"#, "x".repeat(9000));
        let output = output_of(&outcome).unwrap_or_default();
        assert!(output.output_hash.is_some() && output.output_ref.is_none(), "{summary}");
    }
}
