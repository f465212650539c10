//! Properties of the formats.

use counterfoil_core::Error;
use counterfoil_core::canonical::{Form, canonicalize};
use counterfoil_core::ledger::{Tail, read_tail, receipt_links, sign, verify_chain, verify_with_receipts};
use counterfoil_core::receipt::{input_hash, output_of, seal};
use counterfoil_core::vocabulary::ChainState;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;

const KEY: [u8; 32] = [3; 32];
const BEGIN: Tail = Tail { lines: 0, signature: None, complete: true, sound: true };

/// Any JSON value.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-zé\u{7f}\u{2028}\\\\\"/\n\u{1}]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map("[a-c]{0,2}|\\PC{0,3}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().rev().collect())),
        ]
    })
}

/// Text that is JSON or nearly so.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[\\[\\]{},:\"]",
        "\"[a-c]{0,3}\"",
        "-?[0-9.eE+-]{1,6}",
        Just("\\u00e9".to_owned()),
        Just("\\ud83d".to_owned()),
        Just("\\ude00".to_owned()),
        Just("\\n".to_owned()),
        "true|false|null|NaN|Infinity",
        "[ \t\r\n]{1,3}",
        any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        vec(piece, 0..24).prop_map(|pieces| pieces.concat()),
        (value(), any::<prop::sample::Index>(), any::<char>()).prop_map(|(value, at, character)| {
            let mut text: Vec<char> = value.to_string().chars().collect();
            let at = at.index(text.len());
            if let Some(slot) = text.get_mut(at) {
                *slot = character;
            }
            text.into_iter().collect()
        }),
    ]
}

/// Whether two values are equal, floats by what they are and not by how they are written.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let is_float = |number: &str| number.contains(['.', 'e', 'E']);
            let (left, right) = (left.to_string(), right.to_string());
            let float = |number: &str| number.parse::<f64>().map(f64::to_bits).ok();
            is_float(&left) == is_float(&right)
                && if is_float(&left) { float(&left) == float(&right) } else { left == right || left == "-0" }
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

/// Objects to sign.
fn events() -> impl Strategy<Value = Vec<String>> {
    vec(btree_map("[a-c]{1,2}|seq|é", value(), 0..4), 1..5).prop_map(|events| {
        events.into_iter().map(|members| Value::Object(members.into_iter().collect()).to_string()).collect()
    })
}

fn ledger(events: &[String]) -> Result<String, Error> {
    Ok(sign(&KEY, &BEGIN, events)?.into_iter().map(|event| event.line + "\n").collect())
}

/// Python's white space.
fn blank(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// The values that a ledger's lines hold, as far as they are JSON.
fn values(events: &[u8]) -> Vec<String> {
    events
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .filter_map(|line| canonicalize(std::str::from_utf8(line).ok()?.trim_matches(blank), Form::Event).ok())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_is_the_same_value(value in value()) {
        for text in [value.to_string(), format!("{value:#}")] {
            for form in [Form::Receipt, Form::Event, Form::Line] {
                let canonical = canonicalize(&text, form)?;
                let read: Value = serde_json::from_str(&canonical)?;
                prop_assert!(same(&value, &read), "{text} became {canonical}");
                prop_assert_eq!(canonicalize(&canonical, form)?, canonical);
            }
        }
    }

    #[test]
    fn keys_are_sorted_by_code_point(value in value()) {
        fn sorted(value: &Value) -> bool {
            match value {
                Value::Array(elements) => elements.iter().all(sorted),
                Value::Object(members) => members.keys().is_sorted() && members.values().all(sorted),
                _ => true,
            }
        }
        let read: Value = serde_json::from_str(&canonicalize(&value.to_string(), Form::Receipt)?)?;
        prop_assert!(sorted(&read));
    }

    #[test]
    fn forms_lead_to_each_other(text in nearly_json()) {
        if let Ok(receipt) = canonicalize(&text, Form::Receipt) {
            let event = canonicalize(&text, Form::Event)?;
            let line = canonicalize(&text, Form::Line)?;
            prop_assert_eq!(canonicalize(&event, Form::Receipt)?, receipt.clone());
            prop_assert_eq!(canonicalize(&line, Form::Receipt)?, receipt.clone());
            prop_assert_eq!(canonicalize(&receipt, Form::Line)?, line);
            prop_assert!(receipt.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
        }
    }

    #[test]
    fn what_is_json_is_agreed_on(text in nearly_json()) {
        match (canonicalize(&text, Form::Receipt), serde_json::from_str::<Value>(&text)) {
            (Ok(canonical), Ok(read)) => {
                let ours: Value = serde_json::from_str(&canonical)?;
                prop_assert!(same(&read, &ours), "{text:?} became {canonical:?}");
            }
            (Err(Error::InvalidJson(_)), Err(_)) | (Err(Error::UnsupportedValue(_)), _) => {}
            (ours, read) => prop_assert!(false, "{text:?}: {ours:?}, serde_json {read:?}"),
        }
    }

    #[test]
    fn any_text_is_answered(text in any::<String>(), json in nearly_json()) {
        for text in [text, json] {
            let _ = (seal(&text), input_hash(&text), output_of(&text), sign(&KEY, &BEGIN, std::slice::from_ref(&text)));
        }
    }

    #[test]
    fn any_ledger_is_answered(bytes in vec(any::<u8>(), 0..200), lines in vec(nearly_json(), 0..6)) {
        for events in [bytes, lines.join("\n").into_bytes()] {
            let tail = read_tail(&events)?;
            receipt_links(&events)?;
            verify_with_receipts(&KEY, &events, &[])?;
            // Whatever was there: what is signed after it can be read and goes on from the tail.
            let next = sign(&KEY, &tail, &["{}".to_owned()])?;
            prop_assert_eq!(next.first().map(|event| event.seq), Some(tail.lines + 1));
        }
    }

    #[test]
    fn what_was_signed_verifies(events in events(), cut in any::<prop::sample::Index>()) {
        let whole = ledger(&events)?;
        let verdict = verify_chain(&KEY, whole.as_bytes())?;
        prop_assert_eq!(verdict.state, ChainState::Ok);
        prop_assert_eq!(verdict.events_verified, events.len() as u64);
        let tail = read_tail(whole.as_bytes())?;
        prop_assert_eq!(&tail.signature, &verdict.final_signature);
        prop_assert!(tail.sound && tail.complete && tail.lines == events.len() as u64);

        let (first, rest) = events.split_at(cut.index(events.len()));
        let begun = ledger(first)?;
        let went_on = sign(&KEY, &read_tail(begun.as_bytes())?, rest)?;
        let in_two: String = begun + &went_on.into_iter().map(|event| event.line + "\n").collect::<String>();
        prop_assert_eq!(in_two, whole);
    }

    #[test]
    fn a_changed_byte_shows(events in events(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = ledger(&events)?.into_bytes();
        let before = values(&bytes);
        let at = at.index(bytes.len());
        if let Some(slot) = bytes.get_mut(at) {
            *slot = byte;
        }
        let verdict = verify_chain(&KEY, &bytes)?;
        // roam-code passes over lines that are no event, and so does its verdict; they are counted beside it.
        let shows = verdict.state != ChainState::Ok || verdict.unreadable_lines > 0;
        prop_assert!(shows || values(&bytes) == before, "{verdict:?}");
    }

    #[test]
    fn another_key_does_not_verify(events in events(), other in any::<[u8; 32]>()) {
        prop_assume!(other != KEY);
        let verdict = verify_chain(&other, ledger(&events)?.as_bytes())?;
        prop_assert_eq!((verdict.state, verdict.events_verified), (ChainState::Tampered, 0));
    }
}
