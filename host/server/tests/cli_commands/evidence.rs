//! `runs` and `receipts` over a state folder, ours and roam-code's.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use super::support::{Place, Told};

/// A state folder that roam-code wrote, and what it says of it.
struct Case {
    place: Place,
    run: String,
    said: Value,
}

impl Case {
    fn new(name: &str) -> Self {
        let file = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/roam/ledger/cases/{}.json"), name);
        let said: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let place = Place::new();
        for (path, content) in said["files"].as_object().unwrap() {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match (content["text"].as_str(), content["hex"].as_str()) {
                (Some(text), _) => std::fs::write(&path, text).unwrap(),
                (_, Some(hex)) => std::fs::write(&path, hex::decode(hex).unwrap()).unwrap(),
                _ => std::fs::create_dir_all(&path).unwrap(),
            }
            if path.ends_with(".ledger_key") {
                use std::os::unix::fs::PermissionsExt;
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            }
        }
        let run = said["run_id"].as_str().unwrap_or_default().to_owned();
        Self { place, run, said }
    }

    fn verify(&self, more: &[&str]) -> Told {
        self.place.cli(&[&["runs", "verify", &self.run, "--json"], more].concat())
    }

    fn receipt(&self) -> PathBuf {
        let folder = self.place.state().join("mcp_receipts").join(&self.run);
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.remove(0)
    }
}

#[test]
#[cfg(feature = "mcp")]
fn the_run_of_a_host_that_was_killed_is_ended_by_the_next_start_and_no_other_run() {
    struct Killed(std::process::Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }
    let place = Place::new();
    let runs = || place.cli(&["runs", "list", "--json"]).ended(0).json()["runs"].as_array().unwrap().clone();
    let status_of = |run: &str| {
        let meta = place.state().join("runs").join(run).join("meta.json");
        let meta: Value = serde_json::from_slice(&std::fs::read(meta).unwrap()).unwrap();
        (meta["status"].as_str().unwrap().to_owned(), meta["status_source"].clone())
    };
    // Starts a host and waits for its run.
    let serve = || {
        let before = runs().len();
        let child = place
            .command(&["serve", "--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9/mcp"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let child = Killed(child);
        let known: Vec<Value> = (0..600)
            .find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                Some(runs()).filter(|runs| runs.len() > before)
            })
            .expect("the host starts a run");
        let newest = known.iter().map(|run| run["run_id"].as_str().unwrap().to_owned());
        (child, newest.collect::<Vec<_>>())
    };
    let left_open = place.cli(&["runs", "start"]).ended(0).out.trim().to_owned();
    let (dead, known) = serve();
    let dead_run = known.into_iter().find(|run| *run != left_open).unwrap();
    drop(dead);
    let (live, known) = serve();
    let live_run = known.into_iter().find(|run| *run != left_open && *run != dead_run).unwrap();
    let abandoned = ("abandoned".to_owned(), json!("asserted"));
    let open = ("in_progress".to_owned(), Value::Null);
    assert_eq!(status_of(&dead_run), abandoned);
    assert_eq!((status_of(&left_open), status_of(&live_run)), (open.clone(), open.clone()));
    // Another host beside the live one leaves its run alone.
    let (beside, _) = serve();
    assert_eq!((status_of(&left_open), status_of(&live_run)), (open.clone(), open));
    drop((live, beside));
    drop(serve());
    assert_eq!(status_of(&live_run), abandoned);
    place.cli(&["runs", "verify", &dead_run]).ended(0);
}

#[test]
fn runs_start_are_listed_shown_verified_and_ended() {
    let place = Place::new();
    place.cli(&["mode", "set", "migration"]).ended(0);
    assert_eq!(place.cli(&["runs", "list", "--json"]).ended(0).json(), json!({"runs": []}));
    let run = place.cli(&["runs", "start", "--agent", "me"]).ended(0).out.trim().to_owned();
    let other = place.cli(&["runs", "start", "--json"]).ended(0).json()["run_id"].as_str().unwrap().to_owned();
    assert!(run.starts_with("run_") && run != other);

    let listed = place.cli(&["runs", "list", "--json"]).ended(0).json();
    let agents: Vec<&str> =
        listed["runs"].as_array().unwrap().iter().map(|run| run["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["counterfoil", "me"]);
    let people = place.cli(&["runs", "list"]).ended(0).out;
    assert!(people.starts_with("RUN") && people.contains("in_progress") && people.contains(&run), "{people}");

    let shown = place.cli(&["runs", "show", &run, "--json"]).ended(0).json();
    assert_eq!(
        (&shown["meta"]["mode"], &shown["events"], &shown["receipts"]),
        (&json!("migration"), &json!([]), &json!(0))
    );
    assert!(place.cli(&["runs", "show", &run]).ended(0).out.contains("started_at"));

    let verdict = place.cli(&["runs", "verify", &run, "--json"]).ended(0).json();
    assert_eq!(
        (&verdict["state"], &verdict["receipt_integrity"], &verdict["events_verified"]),
        (&json!("empty"), &json!("not_linked"), &json!(0))
    );

    assert!(place.cli(&["runs", "end", &run]).ended(0).out.contains("completed after 0 events"));
    let ended = place.cli(&["runs", "end", &other, "--status", "abandoned", "--json"]).ended(0).json();
    assert_eq!((&ended["status"], &ended["event_count"]), (&json!("abandoned"), &json!(0)));
    place.cli(&["runs", "end", &run, "--status", "in_progress"]).ended(2);
}

#[test]
fn what_is_not_there_ends_with_2() {
    let place = Place::new();
    let run = "run_20990101_abcdef";
    for arguments in [
        &["runs", "show", run][..],
        &["runs", "end", run],
        &["runs", "verify", run],
        &["runs", "verify", run, "--compat", "roam"],
        &["runs", "verify", "../runs"],
        &["runs", "verify"],
        &["runs", "verify", run, "--all"],
        &["runs", "show", "../../etc"],
        &["receipts", "list", run],
        &["receipts", "list", "../x"],
        &["receipts", "show", "nothing_0123456789ab"],
        &["receipts", "show", "../../../etc/passwd"],
        &["receipts", "check", "none.json"],
        &["receipts", "tail", run],
        &["receipts", "seal"],
    ] {
        let told = place.cli(arguments).ended(2);
        assert!(!told.out.is_empty() || !told.err.is_empty(), "{arguments:?}");
    }
    assert!(!place.state().exists());
    assert_eq!(place.cli(&["runs", "verify", "--all", "--json"]).ended(0).json()["runs"], json!([]));
    assert_eq!(place.cli(&["receipts", "list", "--json"]).ended(0).json(), json!({"receipts": []}));
}

#[test]
fn roams_verdict_has_roams_members() {
    for (name, status) in [
        ("receipt-ok-several", 0),
        ("receipt-missing", 0),
        ("chain-unsigned-legacy", 0),
        ("chain-empty", 0),
        ("chain-tampered-field", 5),
        ("chain-tampered-seq-text", 5),
        ("receipt-tampered-field", 5),
        ("receipt-missing-then-tampered", 5),
    ] {
        let case = Case::new(name);
        let verdict = case.verify(&["--compat", "roam"]).ended(status).json();
        let theirs = &case.said["expect"]["verify_chain_with_receipts"];
        for member in [
            "state",
            "events_verified",
            "first_tamper_at_seq",
            "partial_success",
            "final_signature",
            "details",
            "receipt_integrity",
        ] {
            assert_eq!(verdict[member], theirs[member], "{name}: {member}");
        }
        assert_eq!(
            verdict.get("first_missing_receipt_at_seq").unwrap_or(&Value::Null),
            theirs.get("first_missing_receipt_at_seq").unwrap_or(&Value::Null),
            "{name}"
        );
    }
    let case = Case::new("key-short");
    assert_eq!(case.verify(&["--compat", "roam"]).ended(0).json()["state"], "key_missing");
    assert_eq!(Case::new("run-unknown").verify(&["--compat", "roam"]).ended(2).json()["state"], "unknown_run");
}

#[test]
fn all_runs_are_judged_together() {
    let case = Case::new("all-one-tampered");
    let summary = case.place.cli(&["runs", "verify", "--all", "--compat", "roam", "--json"]).ended(5).json();
    let theirs = &case.said["cli"]["summary"];
    for member in [
        "state",
        "events_verified",
        "partial_success",
        "runs_verified",
        "runs_ok",
        "runs_tampered",
        "runs_unsigned",
        "runs_key_missing",
    ] {
        assert_eq!(summary[member], theirs[member], "{member}");
    }
    let people = case.place.cli(&["runs", "verify", "--all"]).ended(5).out;
    assert!(people.contains("tampered") && people.contains("chain_broken"), "{people}");
    assert_eq!(
        case.place.cli(&["runs", "verify", "--all", "--json"]).ended(5).json()["runs"].as_array().unwrap().len(),
        3
    );
}

#[test]
fn the_strict_verdict_names_what_was_changed() {
    let case = Case::new("receipt-tampered-field");
    let verdict = case.verify(&[]).ended(5).json();
    for member in [
        "state",
        "receipt_integrity",
        "events_verified",
        "first_tamper_at_seq",
        "final_signature",
        "details",
        "findings",
    ] {
        assert!(verdict.get(member).is_some(), "{member}");
    }
    assert_eq!((&verdict["state"], &verdict["receipt_integrity"]), (&json!("tampered"), &json!("tampered")));
    let finding = &verdict["findings"][0];
    assert_eq!(finding["code"], "receipt_tampered");
    assert!(finding["path"].as_str().unwrap().starts_with("mcp_receipts/") && finding["message"].is_string());
    // What roam-code passes over: stripped signatures, a missing receipt.
    Case::new("chain-unsigned-stripped").verify(&[]).ended(5);
    Case::new("receipt-missing").verify(&[]).ended(5);
    // Without its key nothing was tampered with, but nothing can be relied on either.
    let case = Case::new("key-short");
    assert_eq!(case.verify(&[]).ended(1).json()["state"], "key_missing");
}

#[test]
fn receipts_are_listed_shown_and_checked() {
    let case = Case::new("receipt-ok-several");
    let place = &case.place;
    let all = place.cli(&["receipts", "list", "--json"]).ended(0).json();
    let some = place.cli(&["receipts", "list", &case.run, "--json"]).ended(0).json();
    assert_eq!(all, some);
    let first = &all["receipts"][0];
    let call = first["tool_call"].as_str().unwrap();
    assert_eq!(first["receipt"]["tool_call"], call);
    assert!(place.cli(&["receipts", "list"]).ended(0).out.contains(call));
    let shown = place.cli(&["receipts", "show", call, "--json"]).ended(0);
    assert_eq!(shown.out.as_bytes(), std::fs::read(case.receipt()).unwrap());
    assert_eq!(place.cli(&["receipts", "show", &format!("{}/{call}", case.run), "--json"]).ended(0).out, shown.out);
    assert!(place.cli(&["receipts", "show", call]).ended(0).out.contains("policy_decision"));

    let file = case.receipt();
    let path = file.to_str().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let check = place.cli(&["receipts", "check", path, "--json"]).ended(0).json();
    assert_eq!((&check["linked"], &check["problems"], &check["run"]), (&json!(true), &json!([]), &json!(case.run)));
    std::fs::write(&file, text.replacen("\"client_id\":\"", "\"client_id\":\"x", 1)).unwrap();
    let changed = place.cli(&["receipts", "check", path]).ended(5);
    assert!(changed.out.contains("linked") && changed.out.contains("problem"), "{changed:?}");
    let spaced = place.write("spaced.json", &text.replacen("\":", "\": ", 1));
    assert!(place.cli(&["receipts", "check", spaced.to_str().unwrap()]).ended(5).out.contains("canonical"));
    let junk = place.write("junk.json", "{\"tool_call\": \"junk\"}\n");
    assert!(place.cli(&["receipts", "check", junk.to_str().unwrap()]).ended(1).out.contains("no receipt"));
}

#[test]
fn the_newest_receipts_are_shown_and_new_ones_as_they_come() {
    let case = Case::new("receipt-ok-several");
    let ledger = case.place.state().join("runs").join(&case.run).join("events.jsonl");
    let whole = std::fs::read_to_string(&ledger).unwrap();
    let links: Vec<&str> = whole.lines().filter(|line| line.contains("mcp_receipt")).collect();
    let tail = case.place.cli(&["receipts", "tail", "--json"]).ended(0).lines();
    assert_eq!(tail.len(), links.len());
    assert!(
        tail.iter().all(|line| line["receipt"]["tool_call"] == line["tool_call"] && line["run"] == case.run.as_str())
    );
    assert_eq!(case.place.cli(&["receipts", "tail", "-n", "1", "--json"]).ended(0).lines(), tail[tail.len() - 1..]);

    let mut child =
        case.place.command(&["receipts", "tail", "--follow", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains(tail[tail.len() - 1]["tool_call"].as_str().unwrap()), "{line}");
    let mut file = std::fs::OpenOptions::new().append(true).open(&ledger).unwrap();
    let (left, right) = links[0].split_at(20);
    file.write_all(left.as_bytes()).unwrap();
    file.write_all(format!("{right}\n").as_bytes()).unwrap();
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains(tail[0]["tool_call"].as_str().unwrap()), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}
