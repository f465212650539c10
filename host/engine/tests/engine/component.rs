//! The project's own component, through the engine.

use std::sync::OnceLock;

use counterfoil_engine::types::{Decision, Effects, Enforcement, Form, Hit, Mode, PolicyDecision, RedactionReason};
use counterfoil_engine::{Engine, LoadError, Source, bake};

use crate::support::{admit, component, precompiled, settle};

/// A synthetic credential, put together here so that no scanner of this repository takes it for a real one.
fn token() -> String {
    format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a")
}

/// An engine with the component as it was built. Compiled once for all tests.
fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let load = || Engine::builder(Source::Component(component())).build().expect("the component loads");
    ENGINE.get_or_init(load).clone()
}

fn configured(configuration: &str) -> Result<Engine, LoadError> {
    Engine::builder(Source::Component(component())).configuration(Some(configuration.to_owned())).build()
}

fn one(hits: &[Hit]) -> &str {
    match hits {
        [hit] if hit.hits == 1 => &hit.id,
        _ => panic!("one find, not {hits:?}"),
    }
}

#[test]
fn it_imports_nothing_and_says_what_it_is() {
    let identity = engine().identity();
    assert_eq!(identity.imports, Vec::<String>::new());
    assert_eq!(identity.contract, "0.1.0");
    assert_eq!(identity.exports.len(), 6, "{:?}", identity.exports);
}

#[test]
fn its_precompiled_form_runs_without_compiling_and_is_of_the_same_component() {
    let (component, precompiled) = (component().leak(), precompiled().leak());
    let embedded = Engine::builder(Source::Embedded { component, precompiled }).build().unwrap();
    let mut identity = embedded.identity();
    assert!(identity.precompiled);
    identity.precompiled = false;
    assert_eq!(identity, engine().identity());
}

#[test]
fn a_reading_tool_may_run_and_a_destroying_one_may_not() {
    let engine = engine();
    let admission = engine.admit(&admit("read_file", r#"{"path": "a"}"#)).unwrap();
    assert_eq!(admission.judgement.decision, Decision::Allow);
    assert_eq!((&admission.blocked, &admission.arguments), (&None, &None));

    let mut request = admit("delete_file", r#"{"path": "a"}"#);
    request.call.effects = Effects { read_only: false, destructive: true, idempotent: false };
    let denied = engine.admit(&request).unwrap();
    assert_eq!(denied.judgement.decision, Decision::Deny);
    assert_eq!(denied.judgement.required_mode, Mode::Migration);
    assert!(denied.blocked.is_some());
    assert_eq!(denied.input_hash, admission.input_hash);

    request.call.dry_run = true;
    let dry = engine.admit(&request).unwrap();
    assert_eq!((dry.judgement.decision, dry.judgement.enforcement), (Decision::Deny, Enforcement::DryRun));
    assert_eq!(dry.blocked, None);
}

#[test]
fn a_clean_result_goes_out_as_it_came() {
    let settlement =
        engine().settle(&settle("read_file", r#"{"content": [{"type": "text", "text": "hello"}]}"#)).unwrap();
    assert_eq!(settlement.outcome, None);
    assert_eq!((settlement.secrets, settlement.markers, settlement.reasons), (vec![], vec![], vec![]));
    assert_eq!(settlement.policy_decision, PolicyDecision::NotEvaluated);
}

#[test]
fn a_secret_in_a_result_is_masked_in_the_outcome_and_told_in_the_receipt() {
    let outcome = format!(r#"{{"content": [{{"type": "text", "text": "token {} ."}}]}}"#, token());
    let settlement = engine().settle(&settle("read_file", &outcome)).unwrap();
    let id = one(&settlement.secrets);
    assert_eq!(settlement.outcome, Some(outcome.replace(&token(), &format!("[REDACTED:{id}]"))));
    assert_eq!(settlement.reasons, [RedactionReason::Secret]);
    assert!(!settlement.receipt.canonical.contains(&token()));
    assert!(settlement.receipt.canonical.contains(id));
}

#[test]
fn text_and_bytes_get_the_same_answers() {
    let engine = engine();
    for text in [String::new(), "plain".to_owned(), format!("a {} b", token()), "größe 😀".to_owned()] {
        let (as_text, as_bytes) =
            (engine.redact_text(&text).unwrap(), engine.redact_text_bytes(text.as_bytes()).unwrap());
        assert_eq!(as_text.output.map(String::into_bytes), as_bytes.output, "{text}");
        assert_eq!((as_text.secrets, as_text.markers), (as_bytes.secrets, as_bytes.markers), "{text}");
    }
    let refusal = engine.redact_text_bytes(b"\xff").expect_err("not UTF-8");
    assert_eq!(refusal.code(), "invalid_utf8");
}

#[test]
fn a_secret_cut_anywhere_by_a_stream_is_masked() {
    let engine = engine();
    let text = format!("before {} after", token());
    let whole = engine.redact_text(&text).unwrap();
    let masked = whole.output.expect("a secret is masked");
    for cut in 0..=text.len() {
        let mut stream = engine.redactor().unwrap();
        let mut out = Vec::new();
        for piece in [&text.as_bytes()[..cut], &text.as_bytes()[cut..]] {
            out.extend(stream.push(piece).unwrap());
            assert!(masked.as_bytes().starts_with(&out), "cut at {cut}");
        }
        out.extend(stream.finish().unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), masked, "cut at {cut}");
        assert_eq!(stream.secrets().unwrap(), whole.secrets, "cut at {cut}");
    }
}

#[test]
fn a_configuration_is_baked_and_changed_while_it_runs() {
    let engine = configured(r#"{"mask": "<gone>"}"#).unwrap();
    let text = format!("a {} b", token());
    let masked = |engine: &Engine| engine.redact_text(&text).unwrap().output.unwrap();
    assert_eq!(masked(&engine), "a <gone> b");
    let digest = engine.identity().configuration_digest;

    engine.reload("{}").unwrap();
    assert!(masked(&engine).starts_with("a [REDACTED:"), "{}", masked(&engine));
    let default = self::engine().identity();
    assert_ne!(default.configuration_digest, digest);
    assert_eq!(engine.identity().configuration_digest, default.configuration_digest);
    assert_eq!(engine.identity().rules_digest, default.rules_digest);
}

#[test]
fn an_unknown_member_of_a_configuration_is_named_and_nothing_changes() {
    let engine = configured(r#"{"mask": "<gone>"}"#).unwrap();
    let before = engine.identity();
    for wrong in [r#"{"masc": "x"}"#, "{", "[]", r#"{"mask": 1}"#] {
        let LoadError::Configuration { message } = engine.reload(wrong).expect_err(wrong) else {
            panic!("{wrong}");
        };
        if wrong.contains("masc") {
            assert!(message.contains("masc"), "{message}");
        }
        assert_eq!(engine.identity(), before, "{wrong}");
    }
}

#[test]
fn what_is_not_json_is_refused_without_repeating_it() {
    let engine = engine();
    let broken = format!("{{\"text\": \"{}\", ", token());
    for refusal in [
        engine.settle(&settle("read_file", &broken)).expect_err("cut off"),
        engine.admit(&admit("read_file", &broken)).expect_err("cut off"),
        engine.redact_json(&broken).expect_err("cut off"),
        engine.canonicalize(&broken, Form::Receipt).expect_err("cut off"),
    ] {
        assert_eq!(refusal.code(), "invalid_json", "{refusal}");
        assert!(!format!("{refusal} {refusal:?}").contains(token().split_at(8).0), "{refusal}");
    }
}

#[test]
fn baking_it_twice_gives_the_same_file() {
    let component = component();
    assert_eq!(bake(&component, "{}").unwrap(), bake(&component, "{}").unwrap());
}

#[test]
fn the_largest_input_is_settled_within_the_limits() {
    let engine = engine();
    let text = "line of an ordinary log, number 17, all is well\\n".repeat(330_000);
    let outcome = format!(r#"{{"text": "{text}{}"}}"#, token());
    assert!(outcome.len() > 15 << 20 && outcome.len() < 16 << 20);
    let settlement = engine.settle(&settle("read_file", &outcome)).unwrap();
    assert_eq!(one(&settlement.secrets).len().min(1), 1);
    assert!(!settlement.outcome.unwrap().contains(&token()));
}
