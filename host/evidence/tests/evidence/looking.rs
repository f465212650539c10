//! Listing, showing, checking and following.

use crate::workbench::{Bench, entry, entry_of};
use counterfoil_evidence::{EvidenceError, Follower, RunStatus, StateDir, receipts, runs};
use std::fs;
use std::time::Duration;

#[test]
fn runs_are_listed_newest_first_and_shown_in_detail() {
    let bench = Bench::new();
    let first = bench.start();
    first.record(entry(first.id())).unwrap();
    bench.append(first.id(), b"no event\n");
    first.end(RunStatus::Failed).unwrap();
    let second = bench.start();
    fs::create_dir(bench.state.path().join("runs/not_a_run")).unwrap();
    fs::create_dir(bench.state.path().join("runs/run_20200101_abcdef")).unwrap();
    let listed = runs::list(&bench.state).unwrap();
    let ids: Vec<_> = listed.iter().map(|run| &run.id).collect();
    assert_eq!(ids, [second.id(), first.id()]);
    assert!(listed[0].meta.is_open());
    let shown = runs::show(&bench.state, first.id().as_str()).unwrap();
    assert_eq!((shown.events.len(), shown.unreadable_lines, shown.receipts), (1, 1, 1));
    assert!(matches!(runs::show(&bench.state, "run_20200101_abcdef"), Err(EvidenceError::UnknownRun { .. })));
    assert!(matches!(runs::show(&bench.state, "..").unwrap_err(), EvidenceError::UnsafeId { .. }));
    assert!(runs::list(&StateDir::at(bench.dir.path().join("none"))).unwrap().is_empty());
}

#[test]
fn receipts_are_listed_shown_and_checked() {
    let bench = Bench::new();
    let run = bench.start();
    let entries = [entry_of(run.id(), "a", "a_000000000001"), entry_of(run.id(), "b", "b_000000000002")];
    for entry in &entries {
        run.record(entry.clone()).unwrap();
    }
    let listed = receipts::list(&bench.state, None).unwrap();
    assert_eq!(
        listed.iter().map(|receipt| receipt.tool_call.as_str()).collect::<Vec<_>>(),
        ["a_000000000001", "b_000000000002"]
    );
    assert_eq!(receipts::list(&bench.state, Some(run.id())).unwrap(), listed);
    for id in ["b_000000000002".to_owned(), format!("{}/b_000000000002", run.id())] {
        let shown = receipts::show(&bench.state, &id).unwrap();
        assert_eq!(shown.bytes, format!("{}\n", entries[1].receipt).into_bytes());
        assert_eq!(shown.summary.run, run.id().as_str());
    }
    assert!(matches!(receipts::show(&bench.state, "c"), Err(EvidenceError::UnknownReceipt { .. })));
    assert!(matches!(receipts::show(&bench.state, "../../x"), Err(EvidenceError::UnsafeId { .. })));

    let path = bench.receipt(run.id(), "a_000000000001");
    let check = receipts::check(&bench.state, &path).unwrap();
    assert_eq!((check.linked, check.problems.len()), (Some(true), 0), "{check:?}");
    assert_eq!(check.content_hash, entries[0].content_hash);
    fs::write(&path, entries[0].receipt.replace("allow", "deny")).unwrap();
    let check = receipts::check(&bench.state, &path).unwrap();
    assert_eq!((check.linked, check.problems.len()), (Some(false), 2), "{check:?}");
    let elsewhere = bench.dir.path().join("x.json");
    fs::write(&elsewhere, "[]\n").unwrap();
    let check = receipts::check(&bench.state, &elsewhere).unwrap();
    assert_eq!((check.linked, check.problems.len()), (None, 1), "{check:?}");
    assert!(receipts::check(&bench.state, &bench.dir.path().join("none")).is_err());
}

#[test]
fn a_follower_gives_complete_lines_once() {
    let bench = Bench::new();
    let run = bench.start();
    let mut follower = Follower::new(bench.state.clone(), run.id().clone(), 0);
    assert!(follower.poll().unwrap().is_empty());
    let first = run.record(entry(run.id())).unwrap();
    let lines = follower.poll().unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].event.as_ref().unwrap()["tool_call"], first.tool_call);
    assert!(follower.poll().unwrap().is_empty());

    bench.append(run.id(), b"{\"half\": ");
    assert!(follower.poll().unwrap().is_empty());
    let offset = follower.offset();
    bench.append(run.id(), "\"\u{fc}\"}\n\nnot an event\n".as_bytes());
    let lines = follower.poll().unwrap();
    assert_eq!(
        lines.iter().map(|line| (line.offset - offset, line.event.is_some())).collect::<Vec<_>>(),
        [(0, true), (16, false)]
    );
    assert!(Follower::new(bench.state.clone(), run.id().clone(), follower.offset()).poll().unwrap().is_empty());
    assert!(Follower::from_end(bench.state.clone(), run.id().clone()).unwrap().poll().unwrap().is_empty());

    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(60));
            bench.append(run.id(), b"{\"late\": true}\n");
        });
        assert_eq!(follower.wait(Duration::from_secs(10)).unwrap().len(), 1);
    });
    fs::write(bench.events(run.id()), b"{\"new\": 1}\n").unwrap();
    assert_eq!(follower.poll().unwrap().len(), 1, "a cut ledger is followed from its start");
    fs::remove_file(bench.events(run.id())).unwrap();
    assert!(follower.poll().unwrap().is_empty());
}

#[test]
fn the_mode_file_is_read_and_written() {
    let bench = Bench::new();
    assert_eq!(bench.state.active_mode().unwrap(), None);
    bench.state.set_active_mode("safe_edit").unwrap();
    assert_eq!(fs::read(bench.state.path().join("active_mode")).unwrap(), b"safe_edit\n");
    assert_eq!(bench.state.active_mode().unwrap().as_deref(), Some("safe_edit"));
}
