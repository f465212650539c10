//! Many callers and many writers on one run.

use crate::faulty::{Faulty, Step};
use crate::workbench::{Bench, entry};
use counterfoil_evidence::store::DiskStore;
use counterfoil_evidence::{EvidenceError, Run, RunId, RunStatus};
use serde_json::json;
use std::fs;
use std::sync::Arc;

fn faulty(bench: &Bench, run: &RunId) -> (Faulty, Run) {
    let store = Faulty::new(DiskStore::new(bench.state.clone(), run.clone()));
    let run = Run::attach_with(&bench.state, run, Arc::clone(&bench.authority), Arc::new(store.clone())).unwrap();
    (store, run)
}

#[test]
fn many_callers_share_a_flush() {
    let bench = Bench::new();
    let run = bench.start();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    run.record(entry(run.id())).unwrap();
                }
            });
        }
    });
    let stats = run.stats();
    assert_eq!((stats.entries, stats.failures), (800, 0));
    assert!(stats.flushes < 800, "{stats:?}");
    bench.assert_sound(run.id(), 800);
}

#[test]
fn the_flushes_counted_are_the_flushes_made() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let (store, run) = faulty(&bench, &id);
    for _ in 0..5 {
        run.record(entry(&id)).unwrap();
    }
    assert_eq!((store.flushes(), run.stats().flushes), (5, 5));
}

#[test]
fn two_writers_of_one_run_do_not_fork_it() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let writers = [bench.attach(&id), bench.attach(&id), bench.attach(&id)];
    std::thread::scope(|scope| {
        for writer in &writers {
            scope.spawn(|| {
                for _ in 0..60 {
                    writer.record(entry(&id)).unwrap();
                }
            });
        }
    });
    bench.assert_sound(&id, 180);
    drop(writers);
    bench.assert_sound(&id, 180);
    assert_eq!(bench.strict(&id).receipts_verified, 180);
}

#[test]
fn events_that_others_log_under_the_lock_are_followed() {
    let bench = Bench::new();
    let run = bench.start();
    for round in 0..20 {
        run.record(entry(run.id())).unwrap();
        let lock =
            fs::OpenOptions::new().write(true).open(bench.state.run_path(run.id()).join("events.jsonl.lock")).unwrap();
        lock.lock().unwrap();
        let event = json!({"action": "edit", "target": format!("ü{round}"), "signals": {"facts": [1.0, "\u{2028}"]}});
        bench.append(run.id(), &bench.foreign_line(&bench.ledger(run.id()), &event));
    }
    bench.assert_sound(run.id(), 40);
}

#[test]
fn a_fork_stops_the_run_and_loses_nothing() {
    let bench = Bench::new();
    let run = bench.start();
    let first = run.record(entry(run.id())).unwrap();
    let before = bench.ledger(run.id());
    let second = run.record(entry(run.id())).unwrap();
    // A writer that read the ledger before our second line and appends after it.
    bench.append(run.id(), &bench.foreign_line(&before, &json!({"action": "mcp_receipt"})));
    for _ in 0..2 {
        let error = run.record(entry(run.id())).unwrap_err();
        assert_eq!(error.code(), "forked");
    }
    let ledger = String::from_utf8(bench.ledger(run.id())).unwrap();
    assert!(ledger.contains(&first.signature) && ledger.contains(&second.signature));
    let ended = run.end(RunStatus::Failed).unwrap();
    assert_eq!(ended.event_count(), Some(3));
    assert_eq!(bench.strict(run.id()).exit_code(), 5);
    assert!(bench.start().record(entry(run.id())).is_ok(), "a new run goes on");
}

#[test]
fn a_line_that_slips_in_while_we_sign_is_signed_behind() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let (store, run) = faulty(&bench, &id);
    run.record(entry(&id)).unwrap();
    let line = bench.foreign_line(&bench.ledger(&id), &json!({"action": "mcp_receipt_of_another"}));
    let events = bench.events(&id);
    store.disturb(Step::Receipt, move || {
        let mut ledger = fs::read(&events).unwrap();
        ledger.extend_from_slice(&line);
        fs::write(&events, ledger).unwrap();
    });
    let recorded = run.record(entry(&id)).unwrap();
    assert_eq!(recorded.seq, 3);
    assert!(String::from_utf8(bench.ledger(&id)).unwrap().lines().nth(2).unwrap().contains(&recorded.signature));
    run.record(entry(&id)).unwrap();
    bench.assert_sound(&id, 4);
}

#[test]
fn a_line_that_slips_in_while_we_append_is_noticed() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let (store, run) = faulty(&bench, &id);
    run.record(entry(&id)).unwrap();
    let line = bench.foreign_line(&bench.ledger(&id), &json!({"action": "x"}));
    let events = bench.events(&id);
    store.disturb(Step::Ledger, move || {
        use std::io::Write;
        fs::OpenOptions::new().append(true).open(&events).unwrap().write_all(&line).unwrap();
    });
    let last = entry(&id);
    assert!(matches!(run.record(last.clone()), Err(EvidenceError::Forked { .. })));
    run.end(RunStatus::Failed).unwrap();
    let ledger = String::from_utf8(bench.ledger(&id)).unwrap();
    assert_eq!(ledger.matches(&last.tool_call).count(), 1);
    assert_eq!(fs::metadata(bench.journal(&id)).unwrap().len(), 0);
}

#[test]
fn what_was_promised_when_a_fork_was_noticed_is_linked_all_the_same() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let (store, run) = faulty(&bench, &id);
    let before = bench.ledger(&id);
    run.record(entry(&id)).unwrap();
    let line = bench.foreign_line(&before, &json!({"action": "x"}));
    let events = bench.events(&id);
    store.disturb(Step::Receipt, move || {
        use std::io::Write;
        fs::OpenOptions::new().append(true).open(&events).unwrap().write_all(&line).unwrap();
    });
    let last = entry(&id);
    assert!(matches!(run.record(last.clone()), Err(EvidenceError::Forked { .. })));
    assert_eq!(run.end(RunStatus::Failed).unwrap().event_count(), Some(3));
    let ledger = String::from_utf8(bench.ledger(&id)).unwrap();
    assert_eq!(ledger.matches(&last.tool_call).count(), 1);
}

#[test]
fn a_ledger_that_was_cut_or_replaced_is_noticed() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let one = bench.ledger(run.id());
    run.record(entry(run.id())).unwrap();
    fs::write(bench.events(run.id()), one).unwrap();
    assert_eq!(run.record(entry(run.id())).unwrap_err().code(), "forked");

    // The same bytes in another file, or a file that was only touched, are no fork.
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let copy = bench.events(run.id()).with_extension("copy");
    fs::copy(bench.events(run.id()), &copy).unwrap();
    fs::rename(&copy, bench.events(run.id())).unwrap();
    run.record(entry(run.id())).unwrap();
    let ledger = bench.ledger(run.id());
    fs::write(bench.events(run.id()), ledger).unwrap();
    run.record(entry(run.id())).unwrap();
    bench.assert_sound(run.id(), 3);
}

#[test]
fn a_line_that_another_writer_left_half_written_is_passed_over_and_said_so() {
    for torn in [&b"{\"action\": \"ed"[..], b"garbage\n", b"{\"action\": \"x\"\r\n"] {
        let bench = Bench::new();
        let run = bench.start();
        run.record(entry(run.id())).unwrap();
        bench.append(run.id(), torn);
        let recorded = run.record(entry(run.id())).unwrap();
        assert_eq!(recorded.seq, 4, "the broken line and the event about it have places of their own");
        run.record(entry(run.id())).unwrap();
        let ledger = bench.ledger(run.id());
        assert!(ledger.windows(torn.len()).any(|window| window == torn), "left in place");
        assert_eq!(String::from_utf8_lossy(&ledger).matches("counterfoil_recovery").count(), 1);
        bench.assert_sound(run.id(), 4);
        let findings = bench.strict(run.id()).findings;
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].code.as_str(), findings[0].seq), ("recovered_line", Some(2)));
    }
}

#[test]
fn a_line_that_no_reader_can_pass_over_stops_the_run() {
    // roam-code cannot read a ledger with invalid UTF-8 at all, so a run with it will never verify again.
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    bench.append(run.id(), b"{\"action\": \"caf\xc3");
    assert_eq!(run.record(entry(run.id())).unwrap_err().code(), "forked");
    assert_eq!(bench.strict(run.id()).exit_code(), 5);
}

#[test]
fn an_event_without_its_line_end_is_gone_on_from() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let line = bench.foreign_line(&bench.ledger(run.id()), &json!({"action": "edit"}));
    bench.append(run.id(), line.trim_ascii_end());
    assert_eq!(run.record(entry(run.id())).unwrap().seq, 3);
    bench.assert_sound(run.id(), 3);
    assert!(bench.strict(run.id()).findings.is_empty());
}

#[test]
fn a_busy_run_lets_a_polling_writer_in_before_it_gives_up() {
    let bench = Bench::new();
    let run = bench.start();
    let lock = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(bench.state.run_path(run.id()).join("events.jsonl.lock"))
        .unwrap();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    run.record(entry(run.id())).unwrap();
                }
            });
        }
        // As roam-code does it: every 20 ms, for ten seconds.
        let tries = 500;
        let taken = (0..tries).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            lock.try_lock().is_ok()
        });
        drop(lock);
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(taken);
    });
}
