//! The JSON Schemas: generated, valid, and equal in meaning to roam-code's export.

use std::fs;
use std::path::{Path, PathBuf};

use counterfoil_tests::schemas;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join("schemas").join(name)).unwrap()).unwrap()
}

#[test]
fn the_checked_in_schemas_are_what_the_vocabularies_give() {
    for (name, value) in schemas::all() {
        let found = fs::read_to_string(root().join("schemas").join(name)).unwrap();
        assert_eq!(found, schemas::text_of(&value).unwrap(), "`schemas/{name}` is stale: run `cargo xtask schemas`");
    }
}

#[test]
fn every_schema_is_a_valid_draft_2020_12_schema_with_a_versioned_id() {
    for (name, value) in schemas::all() {
        jsonschema::draft202012::meta::validate(&value).unwrap_or_else(|error| panic!("{name}: {error}"));
        let id = value["$id"].as_str().unwrap();
        assert!(id.ends_with("/v1.json"), "{id}");
    }
}

#[test]
fn the_receipt_schema_judges_every_instance_as_roam_codes_export_does() {
    let validator = jsonschema::draft202012::new(&schema("receipt.v1.json")).unwrap();
    let path = root().join("tests/vectors/roam/schema/instances.json");
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 34);
    for case in cases {
        let expected: Vec<_> = case["violations"].as_array().unwrap().iter().map(violation_of_vector).collect();
        let mut found: Vec<_> = validator
            .iter_errors(&case["instance"])
            .map(|error| (error.instance_path().to_string().trim_start_matches('/').to_owned(), keyword(&error)))
            .collect();
        found.sort();
        assert_eq!(found, expected, "case `{}`", case["name"]);
        assert_eq!(found.is_empty(), case["valid"].as_bool().unwrap(), "case `{}`", case["name"]);
    }
}

fn violation_of_vector(violation: &Value) -> (String, String) {
    (violation["path"].as_str().unwrap().to_owned(), violation["keyword"].as_str().unwrap().to_owned())
}

fn keyword(error: &jsonschema::ValidationError<'_>) -> String {
    error
        .schema_path()
        .to_string()
        .rsplit('/')
        .find(|part| part.parse::<usize>().is_err())
        .unwrap_or_default()
        .to_owned()
}
