//! The closed vocabularies are the same in the contract, in the code, in the component's tables and in the schemas.

use std::collections::BTreeMap;

use counterfoil_core::vocabulary::{
    ChainState, Decision, Enforcement, Mode, PolicyDecision, ReceiptIntegrity, RedactionReason, RunStatus, SideEffect,
};
use counterfoil_tests::{cli_table, tool_cache};
use serde_json::Value;
use wit_parser::TypeDefKind;

/// Lists of words that only files hold: nothing in the contract or the core reads them.
const ONLY_ON_DISK: [&str; 1] = ["status_source"];

/// A list with what the macro makes of each vocabulary.
macro_rules! of_each {
    ($make:ident) => {
        [
            $make!(Mode),
            $make!(Decision),
            $make!(Enforcement),
            $make!(PolicyDecision),
            $make!(RedactionReason),
            $make!(SideEffect),
            $make!(ReceiptIntegrity),
            $make!(ChainState),
            $make!(RunStatus),
        ]
    };
}

/// Label and words of each vocabulary in the code, as JSON spells them.
fn in_code() -> BTreeMap<&'static str, Vec<&'static str>> {
    macro_rules! words {
        ($name:ident) => {
            ($name::LABEL, $name::ALL.iter().map(|word| word.as_str()).collect())
        };
    }
    of_each!(words).into()
}

/// Name and cases of each enum in the contract's interface `vocabulary`, with `_` for `-`.
fn in_contract() -> BTreeMap<String, Vec<String>> {
    let resolve = cli_table::contract(tool_cache::root()).unwrap();
    let mut found = BTreeMap::new();
    for (_, ty) in resolve.types.iter() {
        let wit_parser::TypeOwner::Interface(owner) = ty.owner else { continue };
        if resolve.interfaces[owner].name.as_deref() != Some("vocabulary") {
            continue;
        }
        if let (Some(name), TypeDefKind::Enum(cases)) = (&ty.name, &ty.kind) {
            found.insert(name.clone(), cases.cases.iter().map(|case| case.name.replace('-', "_")).collect());
        }
    }
    found
}

/// Every list under `enum` in a schema, with the name of the definition or member that holds it.
fn enums(name: &str, schema: &Value, found: &mut Vec<(String, Vec<String>)>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(words)) = members.get("enum") {
                let words = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                found.push((name.to_owned(), words));
            }
            for (key, value) in members {
                let structural = ["items", "anyOf", "oneOf", "allOf"].contains(&key.as_str());
                enums(if structural { name } else { key }, value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| enums(name, item, found)),
        _ => {}
    }
}

#[test]
fn the_contract_and_the_code_have_the_same_words_in_the_same_order() {
    let code: BTreeMap<String, Vec<String>> = in_code()
        .into_iter()
        .map(|(label, words)| (label.to_owned(), words.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(in_contract(), code);
}

/// Label and words of each vocabulary in the engine.
fn in_engine() -> BTreeMap<String, Vec<String>> {
    macro_rules! words {
        ($name:ident) => {{
            use counterfoil_engine::types::$name as Engines;
            ($name::LABEL.to_owned(), Engines::ALL.iter().map(ToString::to_string).collect())
        }};
    }
    of_each!(words).into()
}

#[test]
fn the_contract_and_the_engine_have_the_same_words_in_the_same_order() {
    assert_eq!(in_contract(), in_engine());
}

#[test]
fn every_word_reads_back_as_itself_and_no_other_spelling_does() {
    for mode in Mode::ALL {
        assert_eq!(mode.as_str().parse(), Ok(*mode));
        assert!(mode.as_str().replace('_', "-").to_uppercase().parse::<Mode>().is_err());
    }
}

#[test]
fn the_errors_of_the_contract_are_those_of_the_code() {
    let resolve = cli_table::contract(tool_cache::root()).unwrap();
    let variant = resolve.types.iter().find_map(|(_, ty)| match &ty.kind {
        TypeDefKind::Variant(variant) if ty.name.as_deref() == Some("error") => Some(variant),
        _ => None,
    });
    let contract: Vec<String> = variant.unwrap().cases.iter().map(|case| case.name.replace('-', "_")).collect();
    let make = [
        counterfoil_core::Error::InvalidJson,
        counterfoil_core::Error::UnsupportedValue,
        counterfoil_core::Error::InvalidUtf8,
        counterfoil_core::Error::UnknownMode,
        counterfoil_core::Error::InvalidReceipt,
        counterfoil_core::Error::InvalidEvent,
        counterfoil_core::Error::InvalidKey,
        counterfoil_core::Error::InvalidConfiguration,
        counterfoil_core::Error::InvalidArgument,
    ];
    let code: Vec<&str> = make.iter().map(|error| error(String::new()).code()).collect();
    assert_eq!(contract, code);
}

#[test]
fn the_schemas_list_the_words_of_the_code() {
    let code = in_code();
    let folder = tool_cache::root().join("schemas");
    let mut checked = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut found = Vec::new();
        enums("", &schema, &mut found);
        for (name, words) in found {
            let label = match name.as_str() {
                "PolicyDecision" | "policy_decision" => PolicyDecision::LABEL,
                "RedactionReason" | "redactions" => RedactionReason::LABEL,
                "SideEffect" | "declared_side_effects" => SideEffect::LABEL,
                "RunStatus" | "status" => RunStatus::LABEL,
                "Mode" | "mode" | "required_mode" => Mode::LABEL,
                other if ONLY_ON_DISK.contains(&other) => continue,
                other => panic!("{}: `{other}` lists words that belong to no vocabulary", path.display()),
            };
            assert_eq!(sorted(&words), sorted(&code[label]), "{}: `{name}`", path.display());
            checked.push(label);
        }
    }
    for label in [PolicyDecision::LABEL, RedactionReason::LABEL] {
        assert!(checked.contains(&label), "no schema lists the words of `{label}`");
    }
}

fn sorted<T: AsRef<str>>(words: &[T]) -> Vec<&str> {
    let mut words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    words.sort_unstable();
    words
}
