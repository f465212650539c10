//! `gate` and `mode`: judgements, and which mode they are by.

use serde_json::json;

use super::support::Place;

#[test]
fn a_denial_ends_with_6_and_a_dry_run_with_0() {
    let place = Place::new();
    let deleting =
        ["gate", "--tool", "delete_file", "--read-only=false", "--destructive", "--mode", "safe_edit", "--json"];
    let judged = place.cli(&deleting).ended(6).json();
    assert_eq!((&judged["decision"], &judged["enforcement"]), (&json!("deny"), &json!("enforced")));
    assert_eq!((&judged["active_mode"], &judged["required_mode"]), (&json!("safe_edit"), &json!("migration")));
    assert!(!judged["reason"].as_str().unwrap().is_empty());

    let dry = place.cli(&[&deleting[..], &["--dry-run"]].concat()).ended(0).json();
    assert_eq!((&dry["decision"], &dry["enforcement"]), (&json!("deny"), &json!("dry_run")));

    let allowed = place.cli(&["gate", "--tool", "read_file", "--mode", "read_only"]).ended(0);
    assert!(allowed.out.contains("decision") && allowed.out.contains("allow"), "{allowed:?}");
}

#[test]
fn wrong_use_of_the_gate_ends_with_2() {
    let place = Place::new();
    place.cli(&["gate"]).ended(2);
    place.cli(&["gate", "--tool", "", "--mode", "read_only"]).ended(2);
    place.cli(&["gate", "--tool", "x", "--read-only=perhaps"]).ended(2);
    let unknown = place.cli(&["gate", "--tool", "x", "--mode", "read-only"]).ended(2);
    assert!(unknown.error().contains("mode"), "{unknown:?}");
    place.cli(&["gate", "--tool", "x", "--config", "none.json"]).ended(2);
}

#[test]
fn lines_are_judged_with_roams_defaults() {
    let place = Place::new();
    let feed = [
        r#"{"tool": "read_file", "mode": "read_only"}"#,
        r#"{"tool": "write_file", "mode": "read_only", "read_only": false}"#,
        r#"{"tool": "write_file", "mode": "read_only", "read_only": false, "dry_run": true, "command": null}"#,
        r#"{"tool": "read_file", "mode": "Read_Only"}"#,
        r#"{"tool": "read_file"}"#,
        r#"{"mode": "read_only"}"#,
        r#"{"tool": "read_file", "mode": "read_only", "destructive": "no"}"#,
        "[]",
        "",
    ]
    .join("\n");
    let lines = place.pipe(&["gate", "--jsonl"], format!("{feed}\n")).ended(0).lines();
    assert_eq!(
        lines[0],
        json!({"decision": "allow", "enforcement": "enforced", "active_mode": "read_only", "required_mode": "read_only", "reason": ""})
    );
    assert_eq!((&lines[1]["decision"], &lines[1]["required_mode"]), (&json!("deny"), &json!("safe_edit")));
    assert_eq!((&lines[2]["decision"], &lines[2]["enforcement"]), (&json!("deny"), &json!("dry_run")));
    assert_eq!(lines[3]["error"]["code"], "unknown_mode");
    for (line, member) in [(4, "`mode`"), (5, "`tool`"), (6, "`destructive`")] {
        assert!(lines[line]["error"]["message"].as_str().unwrap().contains(member), "{}", lines[line]);
    }
    assert_eq!(lines[7]["error"]["code"], "invalid_argument");
    assert_eq!(lines[8]["error"]["code"], "invalid_json");
}

#[test]
fn the_preset_roam_knows_roams_tools() {
    let place = Place::new();
    let feed = "{\"tool\": \"roam_search\", \"read_only\": true, \"idempotent\": false, \"mode\": \"read_only\"}\n{\"tool\": \"roam_mutate\", \"mode\": \"read_only\"}\n";
    let lines = place.pipe(&["gate", "--jsonl", "--preset", "roam"], feed).ended(0).lines();
    assert_eq!(lines[0]["required_mode"], "safe_edit");
    assert!(lines[0]["reason"].as_str().unwrap().contains("'search'"), "{}", lines[0]);
    assert_eq!(lines[1]["decision"], "deny", "{}", lines[1]);
    // Without the preset the tool is what it declares to be.
    let bare =
        place.pipe(&["gate", "--jsonl"], "{\"tool\": \"roam_mutate\", \"mode\": \"read_only\"}\n").ended(0).lines();
    assert_eq!(bare[0]["decision"], "allow");
}

#[test]
fn a_configuration_changes_the_judgement() {
    let place = Place::new();
    place.write("policy.json", r#"{"tools": {"look": {"required_mode": "migration"}}}"#);
    place.write("settings.toml", "[policy.tools.look]\nrequired_mode = \"migration\"\n");
    for file in ["policy.json", "settings.toml"] {
        let judged =
            place.cli(&["gate", "--tool", "look", "--mode", "safe_edit", "--config", file, "--json"]).ended(6).json();
        assert_eq!(judged["required_mode"], "migration");
    }
    place.write("bad.json", r#"{"tolls": {}}"#);
    let bad = place.cli(&["gate", "--tool", "look", "--config", "bad.json"]).ended(1);
    assert!(bad.error().contains("tolls"), "{bad:?}");
}

#[test]
fn the_command_line_counts_more_than_the_environment_and_that_more_than_the_file() {
    let place = Place::new();
    let shown = |arguments: &[&str], environment: &[(&str, &str)]| {
        let arguments = [&["mode", "show", "--json"], arguments].concat();
        let told = place.cli_with(&arguments, b"", environment).ended(0).json();
        (told["mode"].as_str().unwrap().to_owned(), told["source"].as_str().unwrap().to_owned())
    };
    let pair = |mode: &str, source: &str| (mode.to_owned(), source.to_owned());
    assert_eq!(shown(&[], &[]), pair("safe_edit", "default"));
    place.cli(&["mode", "set", "migration"]).ended(0);
    assert_eq!(std::fs::read_to_string(place.state().join("active_mode")).unwrap(), "migration\n");
    assert_eq!(shown(&[], &[]), pair("migration", "file"));
    let environment = [("COUNTERFOIL_MODE", "read_only")];
    assert_eq!(shown(&[], &environment), pair("read_only", "env"));
    assert_eq!(shown(&["--mode", "autonomous_pr"], &environment), pair("autonomous_pr", "explicit"));
    assert_eq!(shown(&[], &[("COUNTERFOIL_MODE", " ")]), pair("migration", "file"));
}

#[test]
fn a_word_that_is_no_mode_is_an_error_wherever_it_stands() {
    let place = Place::new();
    place.cli(&["mode", "set", "read-only"]).ended(2);
    assert!(!place.state().exists());
    place.cli_with(&["mode"], b"", &[("COUNTERFOIL_MODE", "READ_ONLY")]).ended(2);
    place.write(".roam/active_mode", "read_only # for now\n");
    let told = place.cli(&["mode"]).ended(2);
    assert!(told.error().contains("mode") && told.out.is_empty(), "{told:?}");
    place.cli(&["gate", "--tool", "x"]).ended(2);
}

#[test]
fn the_state_folder_is_the_options_then_the_environments_then_the_projects() {
    let place = Place::new();
    place.write(".roam/active_mode", "read_only\n");
    place.write("env/active_mode", "migration\n");
    place.write("flag/active_mode", "autonomous_pr\n");
    place.write("deep/er/file", "");
    let environment = [("COUNTERFOIL_STATE_DIR", "env")];
    let mode = |arguments: &[&str], environment: &[(&str, &str)]| {
        place.cli_with(&[&["mode", "--json"], arguments].concat(), b"", environment).ended(0).json()["mode"].clone()
    };
    assert_eq!(mode(&[], &[]), "read_only");
    assert_eq!(mode(&[], &environment), "migration");
    assert_eq!(mode(&["--state-dir", "flag"], &environment), "autonomous_pr");
    let mut deep = place.command(&["mode", "--json"]);
    let output = deep.current_dir(place.path().join("deep/er")).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("read_only"));
}
