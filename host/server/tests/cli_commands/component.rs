//! `component`, `config`, `completions`, `receipts schema`.

use serde_json::json;

use super::support::{Place, token};

#[test]
fn the_component_says_what_it_is_and_imports_nothing() {
    let place = Place::new();
    let info = place.cli(&["component", "info", "--json"]).ended(0).json();
    assert_eq!(info["imports"], json!([]));
    assert_eq!(info["exports"].as_array().unwrap().len(), 6);
    assert_eq!(info["sha256"].as_str().unwrap().len(), 64);
    assert!(info["size"].as_u64().unwrap() <= 2 * 1024 * 1024);
    assert!(info["compiler"].as_str().unwrap().starts_with("rustc"), "{info}");
    assert!(info["route"].is_string());
    assert_eq!(info["precompiled"], true);
    let people = place.cli(&["component", "info"]).ended(0).out;
    assert!(people.contains("imports        none\n"), "{people}");
}

#[test]
fn an_extracted_component_is_the_same_component() {
    let place = Place::new();
    place.cli(&["component", "extract", "c.wasm"]).ended(0);
    let own = place.cli(&["component", "info", "--json"]).ended(0).json();
    let other = place.cli(&["--component", "c.wasm", "component", "info", "--json"]).ended(0).json();
    assert_eq!(
        (&own["sha256"], &own["size"], &own["rules_digest"]),
        (&other["sha256"], &other["size"], &other["rules_digest"])
    );
    assert_eq!((&other["precompiled"], &other["compiler"]), (&json!(false), &json!(null)));
    assert!(place.cli(&["component", "extract", "no/such/c.wasm"]).ended(1).error().contains("no/such"));
    place.cli(&["--component", "none.wasm", "component", "info"]).ended(2);
    place.write("junk.wasm", "junk");
    assert!(place.cli(&["--component", "junk.wasm", "component", "info"]).ended(1).error().contains("component"));
}

#[test]
fn a_baked_component_starts_configured() {
    let place = Place::new();
    place.write("policy.json", r#"{"mask": "<{id}>"}"#);
    place.cli(&["component", "bake", "--config", "policy.json", "-o", "baked.wasm"]).ended(0);
    let told = place.pipe(&["--component", "baked.wasm", "redact", "-q"], token()).ended(0);
    assert_eq!(told.out, "<github_pat_classic>");
    place.write("policy.json", r#"{"maks": ""}"#);
    let bad = place.cli(&["component", "bake", "--config", "policy.json", "-o", "other.wasm"]).ended(1);
    assert!(bad.error().contains("maks") && !place.path().join("other.wasm").exists(), "{bad:?}");
    place.cli(&["component", "bake", "--config", "none.json", "-o", "other.wasm"]).ended(2);
}

#[test]
fn the_contract_and_the_tables_are_printed() {
    let place = Place::new();
    let wit = place.cli(&["component", "wit"]).ended(0).out;
    assert!(wit.contains("package counterfoil:policy@") && wit.contains("world guard {"), "{wit}");
    let catalogue = place.cli(&["component", "catalogue", "--json"]).ended(0);
    assert!(catalogue.json().is_object() && catalogue.out.contains("github_pat_classic"), "{catalogue:?}");
    let people = place.cli(&["component", "catalogue"]).ended(0).out;
    assert!(people.contains("github_pat_classic") && people.contains("tool_result_spoof"), "{people}");
}

#[test]
fn schemas_are_printed_by_name() {
    let place = Place::new();
    let receipt = place.cli(&["receipts", "schema"]).ended(0).json();
    assert_eq!(receipt, place.cli(&["receipts", "schema", "receipt"]).ended(0).json());
    for name in ["receipt", "ledger-event", "run-meta"] {
        let schema = place.cli(&["receipts", "schema", name]).ended(0).json();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
    place.cli(&["receipts", "schema", "other"]).ended(2);
}

#[test]
fn configuration_files_are_checked() {
    let place = Place::new();
    place.write("good.toml", "listen = \"127.0.0.1:0\"\nmode = \"read_only\"\n[[upstream]]\nurl = \"http://127.0.0.1:1/mcp\"\n[policy]\npreset = \"roam\"\n");
    let good = place.cli(&["config", "check", "good.toml", "--json"]).ended(0).json();
    assert_eq!((&good["valid"], good["configuration_digest"].as_str().unwrap().len()), (&json!(true), 64));
    place.write("good.json", r#"{"preset": "roam"}"#);
    let same = place.cli(&["config", "check", "good.json", "--json"]).ended(0).json();
    assert_eq!(good["configuration_digest"], same["configuration_digest"]);
    for (name, text, word) in [
        ("key.toml", "mode = \"read_only\"\nlisten_to = \"x\"\n", "listen_to"),
        ("mode.toml", "mode = \"readonly\"\n", "mode"),
        ("listen.toml", "listen = \"here\"\n", "listen"),
        ("policy.toml", "[policy]\nmusk = \"x\"\n", "musk"),
        ("policy.json", r#"{"musk": "x"}"#, "musk"),
        ("broken.json", "{", "JSON"),
    ] {
        place.write(name, text);
        let told = place.cli(&["config", "check", name]).ended(1);
        assert!(told.error().contains(word), "{name}: {told:?}");
        assert_eq!(place.cli(&["config", "check", name, "--json"]).ended(1).json()["valid"], false);
    }
    place.cli(&["config", "check", "none.toml"]).ended(2);
}

#[test]
fn each_shell_gets_its_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let told = place.cli(&["completions", shell]).ended(0);
        assert!(told.out.contains("counterfoil") && told.out.contains("receipts"), "{shell}");
    }
    place.cli(&["completions", "tcsh"]).ended(2);
}
