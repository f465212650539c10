//! The tour, and the evidence that it leaves when it is told to.

use serde_json::json;

use super::support::Place;

#[test]
fn the_tour_ends_well_and_leaves_nothing_behind() {
    let place = Place::new();
    let scratch = place.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let told = place.cli_with(&["demo"], b"", &[("TMPDIR", scratch.to_str().unwrap())]).ended(0);
    assert!(told.out.contains("Each step did what it should.") && !told.out.contains("FAILED"), "{told:?}");
    assert!(told.err.is_empty(), "{told:?}");
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    assert!(!place.state().exists());
}

#[test]
fn kept_evidence_verifies_and_can_be_looked_at() {
    let place = Place::new();
    place.cli(&["demo", "--keep", "tour"]).ended(0);
    let state = ["--state-dir", "tour/.roam"];
    let cli = |arguments: &[&str]| place.cli(&[&state[..], arguments].concat());
    let verdicts = cli(&["runs", "verify", "--all", "--json"]).ended(0).json();
    let states: Vec<_> = verdicts["runs"].as_array().unwrap().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, [json!("ok"), json!("ok")]);
    let receipts = cli(&["receipts", "tail", "--json"]).ended(0).lines();
    let decisions: Vec<_> = receipts.iter().map(|line| line["receipt"]["policy_decision"].clone()).collect();
    assert_eq!(decisions, [json!("allow"), json!("deny"), json!("allow"), json!("would_deny_dry_run")]);
    let run = receipts[0]["run"].as_str().unwrap();
    let shown = cli(&["runs", "show", run, "--json"]).ended(0).json();
    assert_eq!((&shown["meta"]["status"], &shown["receipts"]), (&json!("completed"), &json!(3)));
    let changed = place.cli(&["--state-dir", "tour/.roam-changed", "runs", "verify", run, "--json"]).ended(5).json();
    assert_eq!(changed["findings"][0]["code"], "receipt_tampered");
    place.cli(&["--state-dir", "tour/.roam-changed", "runs", "verify", "--all"]).ended(5);
    // A folder that holds something is not written into.
    assert!(place.cli(&["demo", "--keep", "tour"]).ended(1).error().contains("not empty"));
}
