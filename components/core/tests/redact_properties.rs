//! Properties of the redactor over made-up texts: plain words, the beginnings of tokens, whole tokens, and what glues them.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use counterfoil_core::Configuration;
use counterfoil_core::redact::{Mask, Redactor, redact_json, redact_pieces, redact_text, scrub};
use proptest::prelude::*;
use serde_json::Value;

/// A piece of a text. Every token is made anew, so that no value stands twice by chance.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,9}",
        4 => "[ \n\t:=,;.\"'<>(){}/@_-]{1,3}",
        1 => r"(\\n|\\t|%3D|%20|\\u0022|²|é|日|\u{200d}|\u{1b}\[31m|://|====)",
        1 => "(ghp_|github_pat_|sk-|AKIA|Bearer |eyJ|-----BEGIN |-----BEGIN RSA PRIVATE KEY-----|://u:|xoxb-|Basic |glpat-)",
        1 => "ghp_[A-Za-z0-9]{36}",
        1 => "gh[ours]_[A-Za-z0-9]{36}",
        1 => "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
        1 => "ghs_[0-9]{6}_eyJ[A-Za-z0-9_-]{20}\\.[A-Za-z0-9_-]{20}\\.[A-Za-z0-9_-]{20}",
        1 => "sk-(proj-)?[A-Za-z0-9]{20,30}",
        1 => "sk-ant-api03-[A-Za-z0-9_-]{40}",
        1 => "A[KS]IA[A-Z2-7]{16}",
        1 => "[Bb]earer [A-Za-z0-9._~+/-]{16,40}={0,2}",
        1 => "Authorization: token [A-Za-z0-9]{30}",
        1 => "eyJhbGciOiJIUzI1NiJ9\\.[A-Za-z0-9_-]{10,30}\\.[A-Za-z0-9_-]{0,30}",
        1 => "[a-z]{5,8}://[a-z]{3}:[a-zA-Z0-9!%]{9,20}@[a-z]{4}",
        1 => "xox[bp]-[0-9]{12}-[A-Za-z0-9]{24}",
        1 => "glpat-[A-Za-z0-9_-]{20}",
        1 => "[0-9]{9}:AA[A-Za-z0-9_-]{33}",
        1 => "[a-f0-9]{32}-us[0-9]{1,2}",
        1 => "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9]{60}",
        1 => "[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}AZDO[A-Za-z0-9]{4}",
        1 => "-----BEGIN (RSA |EC |)PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){1,3}[A-Za-z0-9+/]{20}==\n(-----END (RSA |EC |)PRIVATE KEY-----)?",
        1 => r"-----BEGIN PRIVATE KEY-----\\n([A-Za-z0-9+/]{64}\\n){1,2}-----END PRIVATE KEY-----",
        1 => "([A-Za-z0-9+/]{64}\n){1,8}([A-Za-z0-9+/]{20}==\n)?-----END (RSA |)PRIVATE KEY-----",
        1 => "-----BEGIN PRIVATE KEY-----[ ]?[A-Za-z0-9+/]{40,90}[ ]?-----END PRIVATE KEY-----",
        1 => prefixed(),
        1 => "[A-Za-z0-9+/]{59,77}\n",
        1 => "-----END (RSA |)PRIVATE KEY-----",
    ]
}

/// A private key, perhaps without its first line or its last, each line between two pieces of text.
fn prefixed() -> impl Strategy<Value = String> {
    let around = prop::sample::select(vec![
        ("// ", "\n"),
        ("     N\t", "\n"),
        ("     N→", "\r\n"),
        ("key.pem:N:", "\n"),
        ("  \"", "\\n\" +\n"),
        ("+", "\n"),
        ("# ", "\n"),
        ("", "<br>"),
        ("", "%0A"),
    ]);
    let body = prop::collection::vec("[A-Za-z0-9+/]{64}", 1..5);
    (around, body, "[A-Za-z0-9+/]{10,30}=", 0..4_u8).prop_map(|((before, after), body, last, marks)| {
        let begin = (marks & 1 == 0).then(|| "-----BEGIN PRIVATE KEY-----".to_owned());
        let end = (marks & 2 == 0).then(|| "-----END PRIVATE KEY-----".to_owned());
        let lines = begin.into_iter().chain(body).chain([last]).chain(end).zip(8..);
        lines.map(|(line, number)| format!("{}{line}{after}", before.replace('N', &number.to_string()))).collect()
    })
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// A text in which few pieces stand many times, so that values do too.
fn refrain() -> impl Strategy<Value = String> {
    (prop::collection::vec(piece(), 1..5), prop::collection::vec(any::<prop::sample::Index>(), 0..24))
        .prop_map(|(pieces, order)| order.iter().map(|index| index.get(&pieces).as_str()).collect())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((piece(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn redacted(text: &str) -> String {
    scrub(text, &Configuration::default()).into_owned()
}

fn redacted_json(json: &str) -> String {
    let outcome = redact_json(json, &Configuration::default()).expect("JSON that was written by serde");
    outcome.output.unwrap_or_else(|| json.to_owned())
}

/// A text without its masks, those included that a counter keeps apart.
fn without_masks(text: &str) -> String {
    let mut parts = text.split("[REDACTED:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, '_' | ':');
        match part.trim_start_matches(name).strip_prefix(']') {
            Some(rest) => out.push_str(rest),
            None => out.extend(["[REDACTED:", part]),
        }
    }
    out
}

fn same_shape(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.values().zip(b.values()).all(|(a, b)| same_shape(a, b))
        }
        _ => a == b,
    }
}

/// The text in pieces of these lengths in bytes, the last one as long as the rest.
fn in_pieces<'t>(text: &'t str, lengths: &[usize]) -> Vec<&'t [u8]> {
    let mut rest = text.as_bytes();
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, others) = rest.split_at(rest.len().min(*length));
        pieces.push(piece);
        rest = others;
    }
    pieces.push(rest);
    pieces
}

fn streamed<'t>(pieces: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut redactor = Redactor::open(&Configuration::default()).expect("opens");
    let mut out = Vec::new();
    for piece in pieces {
        out.extend(redactor.push(piece).expect("UTF-8"));
    }
    out.extend(redactor.finish().expect("UTF-8"));
    String::from_utf8(out).expect("UTF-8 goes out as UTF-8")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_second_pass_leaves_every_mask_whole_or_takes_it_whole(text in text()) {
        let twice = redacted(&redacted(&text));
        prop_assert!(!without_masks(&twice).contains("REDACTED"), "{twice}");
    }

    #[test]
    fn a_second_pass_over_json_leaves_every_mask_whole_or_takes_it_whole(value in json()) {
        let twice = redacted_json(&redacted_json(&value.to_string()));
        prop_assert!(!without_masks(&twice).contains("REDACTED"), "{twice}");
    }

    #[test]
    fn any_split_gives_what_one_piece_gives(text in text(), lengths in prop::collection::vec(0_usize..40, 0..40)) {
        let whole = streamed([text.as_bytes()]);
        prop_assert_eq!(streamed(in_pieces(&text, &lengths)), whole);
    }

    #[test]
    fn any_split_of_a_text_that_repeats_itself_gives_the_same(
        text in refrain(),
        lengths in prop::collection::vec(0_usize..40, 0..40),
    ) {
        let whole = streamed([text.as_bytes()]);
        prop_assert_eq!(streamed(in_pieces(&text, &lengths)), &*whole);
        prop_assert_eq!(streamed(text.as_bytes().chunks(1)), whole);
    }

    #[test]
    fn single_bytes_give_what_the_whole_text_gives(text in text()) {
        prop_assert_eq!(streamed(text.as_bytes().chunks(1)), redacted(&text));
    }

    #[test]
    fn json_keeps_its_shape(value in json()) {
        let output = redacted_json(&value.to_string());
        let output: Value = serde_json::from_str(&output).expect("JSON comes out");
        prop_assert!(same_shape(&value, &output), "{output}");
    }

    #[test]
    fn a_string_is_masked_in_json_as_in_text(text in text()) {
        let output: Value = serde_json::from_str(&redacted_json(&Value::from(text.clone()).to_string())).expect("JSON");
        prop_assert_eq!(output, Value::from(redacted(&text)));
    }

    #[test]
    fn escapes_in_json_hide_nothing(text in text()) {
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let output: Value = serde_json::from_str(&redacted_json(&format!("\"{escaped}\""))).expect("JSON");
        prop_assert_eq!(output, Value::from(redacted(&text)));
    }

    #[test]
    fn hits_are_there_exactly_when_the_text_changed(text in text()) {
        let outcome = redact_text(&text, &Configuration::default()).expect("text");
        prop_assert_eq!(outcome.secrets.is_empty(), outcome.output.is_none());
        let masks: u32 = outcome.secrets.iter().map(|hit| hit.hits).sum();
        let written = outcome.output.unwrap_or_default().matches("[REDACTED:").count();
        prop_assert_eq!(usize::try_from(masks).expect("small"), written - text.matches("[REDACTED:").count());
    }

    #[test]
    fn any_text_at_all_is_taken(text in any::<String>(), mask in ".{0,12}") {
        let _output = redacted(&text);
        let _mask = Mask::new(&mask);
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let out = redact_pieces(&pieces, &Configuration::default()).expect("text");
        prop_assert_eq!(out.len(), pieces.len() + 1);
        prop_assert_eq!(out.concat(), redacted(&text));
    }
}
