//! What recording leaves on disk.

use crate::workbench::{Bench, entry, entry_of};
use counterfoil_evidence::{EvidenceError, Run, RunMeta, RunOptions, RunStatus, runs, tool_call_id};
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_recorded_receipt_is_on_disk_linked_and_verified() {
    let bench = Bench::new();
    let run = bench.start();
    let entries: Vec<_> = (0..3).map(|_| entry(run.id())).collect();
    for (place, entry) in (1..).zip(&entries) {
        let recorded = run.record(entry.clone()).unwrap();
        assert_eq!(recorded.seq, place);
        assert_eq!(recorded.path, bench.receipt(run.id(), &entry.tool_call));
        assert_eq!(fs::read_to_string(&recorded.path).unwrap(), format!("{}\n", entry.receipt));
        let ledger = String::from_utf8(bench.ledger(run.id())).unwrap();
        let event: Map<String, Value> = serde_json::from_str(ledger.lines().last().unwrap()).unwrap();
        let names: Vec<&str> = event.keys().map(String::as_str).collect();
        assert_eq!(names, ["action", "receipt_hash", "seq", "signature", "tool_call", "tool_name", "ts"]);
        assert_eq!(event["receipt_hash"], json!(entry.content_hash));
        assert_eq!(event["signature"], json!(recorded.signature));
        let ts = event["ts"].as_str().unwrap();
        assert!(ts.len() == 27 && ts.ends_with('Z') && ts.as_bytes()[19] == b'.', "{ts}");
        assert!(ledger.ends_with('\n'));
    }
    bench.assert_sound(run.id(), 3);
    let strict = bench.strict(run.id());
    assert_eq!(strict.receipts_verified, 3);
    assert!(strict.findings.is_empty(), "{:?}", strict.findings);
}

#[test]
fn files_have_the_permissions_of_the_layout() {
    let bench = Bench::new();
    let run = bench.start();
    let recorded = run.record(entry(run.id())).unwrap();
    let folder = bench.state.run_path(run.id());
    for (path, mode) in [
        (bench.state.path().join("runs/.ledger_key"), 0o600),
        (folder.join("meta.json"), 0o600),
        (folder.join("events.jsonl"), 0o644),
        (folder.join("events.jsonl.lock"), 0o644),
        (bench.state.path().join("mcp_receipts"), 0o700),
        (bench.state.receipts_path(run.id()), 0o700),
        (recorded.path, 0o600),
        (bench.journal(run.id()), 0o600),
        (bench.state.path().join("counterfoil"), 0o700),
    ] {
        assert_eq!(mode_of(&path) & mode, mode_of(&path), "{} is wider than {mode:o}", path.display());
        assert_eq!(mode_of(&path) | 0o044, mode | 0o044, "{}", path.display());
    }
    assert_eq!(fs::read(folder.join("events.jsonl.lock")).unwrap(), [0]);
    assert_eq!(fs::read(bench.state.path().join(".gitignore")).unwrap(), b"*");
}

#[test]
fn meta_says_what_roam_says_and_stays_untouched_while_the_run_is_open() {
    let bench = Bench::new();
    fs::create_dir_all(bench.state.path()).unwrap();
    fs::write(bench.state.path().join("constitution.yml"), "version: 1\n").unwrap();
    let mut extra = Map::new();
    extra.insert("counterfoil_version".to_owned(), json!("0.1.0"));
    let options = RunOptions { agent: "zoë".to_owned(), mode: Some("migration".to_owned()), extra };
    let run = Run::start(&bench.state, options, Arc::clone(&bench.authority)).unwrap();
    let path = bench.state.run_path(run.id()).join("meta.json");
    let at_start = fs::read(&path).unwrap();
    let meta = RunMeta::parse(&at_start).unwrap();
    let names: Vec<&str> = meta.members().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "agent",
            "constitution_hash",
            "control_map_hash",
            "counterfoil_version",
            "ended_at",
            "mode",
            "rules_config_hash",
            "run_id",
            "started_at",
            "status"
        ]
    );
    assert_eq!(meta.text("constitution_hash").unwrap().len(), 64);
    assert_eq!(meta.text("control_map_hash"), Some(""));
    assert_eq!((meta.run_id(), meta.agent(), meta.is_open()), (run.id().as_str(), "zoë", true));

    run.record(entry(run.id())).unwrap();
    let last = run.record(entry(run.id())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), at_start);

    let ended = run.end(RunStatus::Completed).unwrap();
    assert_eq!(
        RunMeta::parse(&fs::read(&path).unwrap()).unwrap().members(),
        RunMeta::parse(ended.to_text().as_bytes()).unwrap().members()
    );
    assert_eq!(ended.event_count(), Some(2));
    assert_eq!(ended.final_signature(), Some(last.signature.as_str()));
    assert_eq!(ended.text("status_source"), Some("derived"));
    assert!(ended.ended_at().is_some_and(|at| at >= ended.started_at()));
    assert!(matches!(run.record(entry(run.id())), Err(EvidenceError::Ended { .. })));
    assert!(matches!(
        Run::attach(&bench.state, run.id(), Arc::clone(&bench.authority)),
        Err(EvidenceError::Ended { .. })
    ));
    assert_eq!(fs::metadata(bench.journal(run.id())).unwrap().len(), 0);
    bench.assert_sound(run.id(), 2);
}

#[test]
fn a_run_with_a_partial_failure_does_not_end_as_completed() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let line = bench.foreign_line(&bench.ledger(run.id()), &json!({"action": "edit", "partial_success": true}));
    bench.append(run.id(), &line);
    assert!(matches!(run.end(RunStatus::Completed), Err(EvidenceError::StatusRefused { .. })));
    run.record(entry(run.id())).unwrap();
    assert!(run.end(RunStatus::InProgress).is_err());
    let ended = run.end(RunStatus::Failed).unwrap();
    assert_eq!((ended.event_count(), ended.text("status_source")), (Some(3), Some("derived")));
    // As in roam-code, a closed run can be closed again.
    let again = runs::end(&bench.state, run.id().as_str(), RunStatus::Abandoned, &bench.authority).unwrap();
    assert_eq!(again.text("status_source"), Some("asserted"));
    assert!(runs::end(&bench.state, run.id().as_str(), RunStatus::Completed, &bench.authority).is_err());
    assert!(matches!(
        runs::end(&bench.state, "run_20990101_000000", RunStatus::Failed, &bench.authority),
        Err(EvidenceError::UnknownRun { .. })
    ));
    assert!(matches!(
        runs::end(&bench.state, "../x", RunStatus::Failed, &bench.authority),
        Err(EvidenceError::UnsafeId { .. })
    ));
}

#[test]
fn ids_are_checked_before_they_become_paths() {
    let bench = Bench::new();
    let run = bench.start();
    let long = "a".repeat(129);
    for bad in ["", ".hidden", "../x", "a/b", "a\0b", "ä", "a b", long.as_str()] {
        let error = run.record(entry_of(run.id(), "tool", bad)).unwrap_err();
        assert!(matches!(error, EvidenceError::UnsafeId { .. }), "{bad:?}");
    }
    let mut wrong = entry(run.id());
    wrong.content_hash = "0".repeat(64);
    assert!(matches!(run.record(wrong), Err(EvidenceError::InvalidEntry { .. })));
    assert!(bench.ledger(run.id()).is_empty());
}

#[test]
fn a_taken_name_fails_alone() {
    let bench = Bench::new();
    let run = bench.start();
    let first = entry(run.id());
    run.record(first.clone()).unwrap();
    let (sender, receiver) = channel();
    for entry in [first.clone(), entry(run.id()), first, entry(run.id())] {
        let sender = sender.clone();
        run.submit(entry, Box::new(move |result| sender.send(result).unwrap()));
    }
    drop(sender);
    let results: Vec<_> = receiver.iter().collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 2);
    assert_eq!(results.iter().filter(|result| matches!(result, Err(EvidenceError::NameTaken { .. }))).count(), 2);
    bench.assert_sound(run.id(), 3);
}

#[test]
fn any_tool_name_gives_an_ascii_ledger() {
    let bench = Bench::new();
    let run = bench.start();
    for name in ["naïve \u{2028} \u{85}\u{7f}", "a/../../b", "\"}\n{", "🦀", ""] {
        run.record(entry_of(run.id(), name, &tool_call_id(name).unwrap())).unwrap();
    }
    assert!(bench.ledger(run.id()).iter().all(|byte| *byte == b'\n' || (b' '..=b'~').contains(byte)));
    bench.assert_sound(run.id(), 5);
    assert!(bench.strict(run.id()).findings.is_empty());
}

#[test]
fn every_submitted_entry_is_answered_once_even_when_the_run_is_dropped() {
    let bench = Bench::new();
    let run = bench.start();
    let id = run.id().clone();
    let (sender, receiver) = channel();
    for _ in 0..500 {
        let sender = sender.clone();
        run.submit(entry(&id), Box::new(move |result| sender.send(result.is_ok()).unwrap()));
    }
    // A caller that fails harms nobody else.
    run.submit(entry(&id), Box::new(|_| panic!("a caller's mistake")));
    run.record(entry(&id)).unwrap();
    drop(run);
    drop(sender);
    assert_eq!(receiver.iter().filter(|fine| *fine).count(), 500);
    bench.assert_sound(&id, 502);
    assert_eq!(fs::metadata(bench.journal(&id)).unwrap().len(), 0, "a stopped writer leaves no journal");
}

#[test]
fn runs_started_at_once_are_two_runs_of_one_key() {
    let bench = Bench::new();
    let ids: Vec<_> = std::thread::scope(|scope| {
        let starters: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let run = bench.start();
                    run.record(entry(run.id())).unwrap();
                    run.id().clone()
                })
            })
            .collect();
        starters.into_iter().map(|starter| starter.join().unwrap()).collect()
    });
    for id in &ids {
        bench.assert_sound(id, 1);
    }
    assert_eq!(runs::list(&bench.state).unwrap().len(), 6);
}
