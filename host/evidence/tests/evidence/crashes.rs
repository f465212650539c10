//! A process that dies at any step: whatever was acknowledged is there again, once, and the chain is whole.

use crate::faulty::{Done, Faulty, Step};
use crate::workbench::{Bench, entry};
use counterfoil_evidence::store::DiskStore;
use counterfoil_evidence::{Entry, Recovered, Run, RunId, RunStatus, end_abandoned, recover, runs};
use serde_json::json;
use std::fs;
use std::sync::Arc;

/// Records two receipts, dies at a step while recording a third and a fourth together, and leaves everything as it is then.
fn die(bench: &Bench, step: Step, done: Done) -> (RunId, Vec<Entry>, bool) {
    let id = bench.start().id().clone();
    let store = Faulty::new(DiskStore::new(bench.state.clone(), id.clone()));
    let run = Run::attach_with(&bench.state, &id, Arc::clone(&bench.authority), Arc::new(store.clone())).unwrap();
    let entries: Vec<Entry> = (0..3).map(|_| entry(&id)).collect();
    run.record(entries[0].clone()).unwrap();
    run.record(entries[1].clone()).unwrap();
    store.die(step, done);
    let acknowledged = run.record(entries[2].clone()).is_ok();
    assert!(store.is_dead());
    (id, entries, acknowledged)
}

fn recover_one(bench: &Bench) -> Option<Recovered> {
    let mut outcomes = recover(&bench.state, &bench.authority).unwrap();
    assert!(outcomes.len() <= 1);
    outcomes.pop().map(|run| run.outcome.unwrap())
}

fn links(bench: &Bench, id: &RunId) -> Vec<String> {
    let details = runs::show(&bench.state, id.as_str()).unwrap();
    details.events.iter().filter_map(|event| event.get("tool_call")?.as_str().map(str::to_owned)).collect()
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_doubled_wherever_the_process_dies() {
    let steps = [
        (Step::Turn, Done::Nothing, false),
        (Step::Journal, Done::Nothing, false),
        (Step::Journal, Done::Bytes(100), false),
        // Promised, whether or not the caller heard of it.
        (Step::Journal, Done::All, true),
        (Step::Receipt, Done::Nothing, true),
        (Step::Receipt, Done::Bytes(0), true),
        (Step::Receipt, Done::Bytes(40), true),
        (Step::Receipt, Done::All, true),
        (Step::Ledger, Done::Nothing, true),
        (Step::Ledger, Done::Bytes(1), true),
        (Step::Ledger, Done::Bytes(120), true),
        (Step::Ledger, Done::All, true),
    ];
    for (step, done, promised) in steps {
        let bench = Bench::new();
        let (id, entries, acknowledged) = die(&bench, step, done);
        assert!(!acknowledged, "{step:?} {done:?}");
        let unrecovered = bench.strict(&id);
        assert!(unrecovered.exit_code() <= 1, "a crash is no tampering: {unrecovered:#?}");
        recover_one(&bench);
        let expected = if promised { 3 } else { 2 };
        let calls: Vec<String> = entries.iter().take(expected).map(|entry| entry.tool_call.clone()).collect();
        assert_eq!(links(&bench, &id), calls, "{step:?} {done:?}");
        for entry in &entries[..expected] {
            let file = fs::read_to_string(bench.receipt(&id, &entry.tool_call)).unwrap();
            assert_eq!(file, format!("{}\n", entry.receipt));
        }
        bench.assert_sound(&id, expected as u64);
        assert!(bench.strict(&id).findings.is_empty(), "{step:?} {done:?}");
        assert!(recover_one(&bench).is_none(), "a second recovery finds nothing to do");
        // Going on needs no recovery before it, and does not fork.
        let run = bench.attach(&id);
        run.record(entry(&id)).unwrap();
        drop(run);
        bench.assert_sound(&id, expected as u64 + 1);
    }
}

#[test]
fn by_another_key_nothing_is_recovered_and_nothing_dropped() {
    let bench = Bench::new();
    let (id, entries, _) = die(&bench, Step::Journal, Done::All);
    let key = bench.state.path().join("runs/.ledger_key");
    let right = bench.key();
    let journal = fs::read(bench.journal(&id)).unwrap();
    fs::write(&key, [9; 32]).unwrap();
    let outcomes = recover(&bench.state, &bench.authority).unwrap();
    assert_eq!(outcomes[0].outcome.as_ref().unwrap_err().code(), "key_changed");
    assert_eq!(fs::read(bench.journal(&id)).unwrap(), journal);
    assert!(runs::end(&bench.state, id.as_str(), RunStatus::Failed, &bench.authority).is_err());
    fs::write(&key, right).unwrap();
    recover_one(&bench);
    assert_eq!(links(&bench, &id).len(), entries.len());
    bench.assert_sound(&id, 3);
}

#[test]
fn a_run_whose_writer_is_gone_is_ended_as_abandoned_and_no_other() {
    let bench = Bench::new();
    let status =
        |id: &RunId| runs::show(&bench.state, id.as_str()).unwrap().summary.meta.text("status").map(str::to_owned);
    let alive = bench.start();
    alive.record(entry(alive.id())).unwrap();
    let first_writer = bench.start();
    let shared = first_writer.id().clone();
    let second_writer = bench.attach(&shared);
    drop(first_writer);
    let ended = bench.start();
    ended.end(RunStatus::Failed).unwrap();
    let ended = ended.id().clone();
    let sign = |id: &RunId| bench.journal(id).with_file_name("writer.lock");
    let (dead, ..) = die(&bench, Step::Turn, Done::Nothing);
    let (unfinished, ..) = die(&bench, Step::Journal, Done::All);
    for id in [&dead, &unfinished] {
        // These stopped in order within this process; one that is killed leaves its sign without the lock.
        fs::write(sign(id), "").unwrap();
    }
    // Left open on purpose, and of another program: without the sign.
    let unsigned = bench.start().id().clone();
    assert!(!sign(&unsigned).exists() && sign(alive.id()).exists());
    let foreign = bench.start().id().clone();
    fs::remove_dir_all(bench.journal(&foreign).parent().unwrap()).unwrap();

    let mut first = vec![dead.clone()];
    first.retain(|id| !fs::read(bench.journal(id)).is_ok_and(|journal| !journal.is_empty()));
    assert_eq!(end_abandoned(&bench.state).unwrap(), first, "what is not recovered yet is left");
    recover(&bench.state, &bench.authority).unwrap();
    let mut rest: Vec<RunId> = vec![dead.clone(), unfinished.clone()];
    rest.retain(|id| !first.contains(id));
    rest.sort();
    assert_eq!(end_abandoned(&bench.state).unwrap(), rest);
    for id in [&dead, &unfinished] {
        let meta = runs::show(&bench.state, id.as_str()).unwrap().summary.meta;
        assert_eq!(meta.status(), Some(RunStatus::Abandoned));
        assert_eq!(meta.text("status_source"), Some("asserted"));
        assert!(meta.ended_at().is_some() && meta.text("final_signature").is_some());
        assert_eq!(bench.strict(id).exit_code(), 0);
        assert!(Run::attach(&bench.state, id, Arc::clone(&bench.authority)).is_err(), "nobody goes on with it");
    }
    for id in [alive.id(), &shared, &unsigned, &foreign] {
        assert_eq!(status(id).as_deref(), Some("in_progress"));
    }
    assert_eq!(status(&ended).as_deref(), Some("failed"));
    assert!(!sign(&dead).exists());
    assert!(end_abandoned(&bench.state).unwrap().is_empty());
    // The live ones go on. One that cannot end its run leaves that to the next start.
    alive.record(entry(alive.id())).unwrap();
    second_writer.record(entry(&shared)).unwrap();
    let key = bench.state.path().join("runs/.ledger_key");
    fs::rename(&key, key.with_extension("aside")).unwrap();
    assert_eq!(second_writer.end(RunStatus::Completed).unwrap_err().code(), "key_missing");
    drop(second_writer);
    fs::rename(key.with_extension("aside"), &key).unwrap();
    recover(&bench.state, &bench.authority).unwrap();
    assert_eq!(end_abandoned(&bench.state).unwrap(), [shared]);
    bench.assert_sound(alive.id(), 2);
}

#[test]
fn a_writer_that_goes_on_makes_good_what_another_left() {
    for (step, done) in [(Step::Journal, Done::All), (Step::Receipt, Done::Nothing), (Step::Ledger, Done::Bytes(90))] {
        let bench = Bench::new();
        let (id, entries, _) = die(&bench, step, done);
        let run = bench.attach(&id);
        assert_eq!(run.record(entry(&id)).unwrap().seq, 4, "{step:?}");
        assert_eq!(links(&bench, &id)[2], entries[2].tool_call);
        bench.assert_sound(&id, 4);
    }
}

#[test]
fn a_live_writer_makes_good_what_its_neighbour_left() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let neighbour = bench.attach(&id);
    neighbour.record(entry(&id)).unwrap();
    let store = Faulty::new(DiskStore::new(bench.state.clone(), id.clone()));
    let dying = Run::attach_with(&bench.state, &id, Arc::clone(&bench.authority), Arc::new(store.clone())).unwrap();
    dying.record(entry(&id)).unwrap();
    store.die(Step::Ledger, Done::Bytes(50));
    dying.record(entry(&id)).unwrap_err();
    assert_eq!(neighbour.record(entry(&id)).unwrap().seq, 4);
    bench.assert_sound(&id, 4);
}

#[test]
fn a_line_cut_at_any_byte_is_completed() {
    let bench = Bench::new();
    let (id, _, _) = die(&bench, Step::Ledger, Done::Nothing);
    let before = bench.ledger(&id);
    let journal = fs::read(bench.journal(&id)).unwrap();
    let recovered = recover_one(&bench).unwrap();
    assert_eq!((recovered.lines_restored, recovered.line_completed), (1, false));
    let whole = bench.ledger(&id);
    for cut in before.len()..whole.len() {
        fs::write(bench.events(&id), &whole[..cut]).unwrap();
        fs::write(bench.journal(&id), &journal).unwrap();
        recover_one(&bench);
        if cut == whole.len() - 1 {
            // Nothing but the line end is missing: the next writer sets it.
            assert_eq!(bench.ledger(&id), &whole[..cut]);
        } else {
            assert_eq!(bench.ledger(&id), whole, "cut at {cut}");
        }
    }
    bench.assert_sound(&id, 3);
}

#[test]
fn a_power_cut_that_takes_everything_unflushed_loses_nothing() {
    let bench = Bench::new();
    let run = bench.start();
    let id = run.id().clone();
    let entries: Vec<Entry> = (0..6).map(|_| entry(&id)).collect();
    for entry in &entries {
        run.record(entry.clone()).unwrap();
    }
    let whole = bench.ledger(&id);
    let journal = fs::read(bench.journal(&id)).unwrap();
    drop(run);
    // Only the journal was flushed: the ledger is shorter, receipts are missing, empty, cut, or zeros.
    fs::write(bench.journal(&id), &journal).unwrap();
    fs::write(bench.events(&id), &whole[..whole.len() / 3]).unwrap();
    let file = |at: usize| bench.receipt(&id, &entries[at].tool_call);
    let length = fs::read(file(3)).unwrap().len();
    fs::remove_file(file(1)).unwrap();
    fs::write(file(2), b"").unwrap();
    fs::write(file(3), vec![0; length]).unwrap();
    fs::write(file(4), &fs::read(file(4)).unwrap()[..50]).unwrap();
    assert_eq!(bench.strict(&id).exit_code(), 5);
    let recovered = recover_one(&bench).unwrap();
    assert_eq!((recovered.receipts_restored, recovered.rejected), (4, 0));
    assert_eq!(bench.ledger(&id), whole);
    bench.assert_sound(&id, 6);
}

#[test]
fn what_others_logged_before_the_recovery_is_gone_on_from() {
    for done in [Done::Nothing, Done::Bytes(70)] {
        let bench = Bench::new();
        let (id, entries, _) = die(&bench, Step::Ledger, done);
        let mut before = bench.ledger(&id);
        if !before.ends_with(b"\n") {
            // A careful writer ends the line that was cut.
            bench.append(&id, b"\n");
            before.push(b'\n');
        }
        bench.append(&id, &bench.foreign_line(&before, &json!({"action": "edit", "tool_call": "other"})));
        let recovered = recover_one(&bench).unwrap();
        assert_eq!((recovered.lines_restored, recovered.line_completed), (1, false));
        assert_eq!(links(&bench, &id)[2..], ["other".to_owned(), entries[2].tool_call.clone()]);
        let roam = runs::verify_as_roam(&bench.state, id.as_str(), &bench.authority);
        assert_eq!(roam.exit_code(), 0, "{roam:?}");
        assert_eq!(roam.events_verified, 4);
        assert!(recover_one(&bench).is_none());
    }
}

#[test]
fn a_broken_line_of_another_is_passed_over_and_said_so() {
    let bench = Bench::new();
    let (id, entries, _) = die(&bench, Step::Ledger, Done::Nothing);
    bench.append(&id, b"{\"action\": \"not ours");
    let recovered = recover_one(&bench).unwrap();
    assert!(recovered.line_passed_over && !recovered.line_completed);
    assert_eq!(links(&bench, &id).last(), Some(&entries[2].tool_call));
    assert!(String::from_utf8(bench.ledger(&id)).unwrap().contains("counterfoil_recovery"));
    bench.assert_sound(&id, 4);
}

#[test]
fn a_forged_journal_gets_nothing_signed() {
    let bench = Bench::new();
    let (id, _, _) = die(&bench, Step::Ledger, Done::Nothing);
    let before = bench.ledger(&id);
    let genuine = fs::read_to_string(bench.journal(&id)).unwrap();
    let receipt = entry(&id);
    let last = genuine.lines().last().unwrap();
    let promised: serde_json::Value = serde_json::from_str(last).unwrap();
    let line: serde_json::Value = serde_json::from_str(promised["line"].as_str().unwrap()).unwrap();
    let mut other_line = line.clone();
    other_line["tool_call"] = json!(receipt.tool_call);
    other_line["receipt_hash"] = json!(receipt.content_hash);
    let forgeries = [
        json!({"line": other_line.to_string(), "previous": promised["previous"], "receipt": receipt.receipt, "seq": promised["seq"], "tool_call": receipt.tool_call}),
        json!({"line": promised["line"], "previous": promised["previous"], "receipt": receipt.receipt, "seq": promised["seq"], "tool_call": promised["tool_call"]}),
        json!({"line": promised["line"], "previous": promised["previous"], "receipt": promised["receipt"], "seq": promised["seq"], "tool_call": "../../../x"}),
        json!({"line": promised["line"], "previous": null, "receipt": promised["receipt"], "seq": promised["seq"], "tool_call": promised["tool_call"]}),
        json!({"line": "{}", "previous": null, "receipt": "", "seq": 0, "tool_call": ""}),
    ];
    let calls_before = fs::read_dir(bench.state.receipts_path(&id)).unwrap().count();
    let text: String = forgeries.iter().map(|forgery| format!("{forgery}\n")).collect();
    fs::write(bench.journal(&id), text).unwrap();
    let recovered = recover_one(&bench).unwrap();
    assert_eq!((recovered.rejected, recovered.lines_restored, recovered.receipts_restored), (5, 0, 0));
    assert_eq!(bench.ledger(&id), before);
    assert_eq!(fs::read_dir(bench.state.receipts_path(&id)).unwrap().count(), calls_before);
}

#[test]
fn a_changed_receipt_is_left_for_verification_to_name() {
    let bench = Bench::new();
    let (id, entries, _) = die(&bench, Step::Ledger, Done::All);
    let path = bench.receipt(&id, &entries[0].tool_call);
    let changed = fs::read_to_string(&path).unwrap().replace("allow", "denied");
    fs::write(&path, changed).unwrap();
    let recovered = recover_one(&bench).unwrap();
    assert_eq!((recovered.receipts_differing, recovered.receipts_restored), (1, 0));
    let strict = bench.strict(&id);
    assert_eq!(strict.exit_code(), 5);
    assert_eq!(strict.findings[0].code.as_str(), "receipt_tampered");
}

#[test]
fn one_run_that_cannot_be_recovered_does_not_keep_the_others_back() {
    let bench = Bench::new();
    let (lost, _, _) = die(&bench, Step::Ledger, Done::Nothing);
    let (kept, _, _) = die(&bench, Step::Ledger, Done::Nothing);
    fs::remove_dir_all(bench.state.run_path(&lost)).unwrap();
    let outcomes = recover(&bench.state, &bench.authority).unwrap();
    assert_eq!(outcomes.len(), 2);
    for run in outcomes {
        assert_eq!(run.outcome.is_ok(), run.run == kept);
    }
    bench.assert_sound(&kept, 3);
}

#[test]
fn a_promise_after_one_that_was_cut_is_kept() {
    let bench = Bench::new();
    let (id, _, _) = die(&bench, Step::Journal, Done::Bytes(100));
    let run = bench.attach(&id);
    let kept = entry(&id);
    run.record(kept.clone()).unwrap();
    let journal = fs::read(bench.journal(&id)).unwrap();
    let ledger = bench.ledger(&id);
    drop(run);
    // The power goes before anything but the journal is flushed.
    fs::write(bench.journal(&id), journal).unwrap();
    fs::write(bench.events(&id), b"").unwrap();
    fs::remove_file(bench.receipt(&id, &kept.tool_call)).unwrap();
    let recovered = recover_one(&bench).unwrap();
    assert_eq!((recovered.lines_restored, recovered.receipts_restored, recovered.rejected), (3, 1, 1));
    assert_eq!(bench.ledger(&id), ledger);
    bench.assert_sound(&id, 3);
}

#[test]
fn a_run_that_another_process_writes_to_is_left_as_it_is() {
    let bench = Bench::new();
    let run = bench.start();
    let neighbour = bench.attach(run.id());
    for round in 1..=4 {
        run.record(entry(run.id())).unwrap();
        neighbour.record(entry(run.id())).unwrap();
        assert!(recover_one(&bench).is_none());
        assert_eq!(fs::metadata(bench.journal(run.id())).unwrap().len(), 0);
        bench.assert_sound(run.id(), round * 2);
    }
}

#[test]
fn a_run_that_died_is_ended_with_everything_it_promised() {
    let bench = Bench::new();
    let (id, _, _) = die(&bench, Step::Ledger, Done::Bytes(60));
    let ended = runs::end(&bench.state, id.as_str(), RunStatus::Failed, &bench.authority).unwrap();
    assert_eq!(ended.event_count(), Some(3));
    bench.assert_sound(&id, 3);
}

#[test]
fn ending_a_run_of_another_writer_leaves_nothing_of_ours() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let id = run.id().clone();
    drop(run);
    fs::remove_dir_all(bench.state.path().join("counterfoil")).unwrap();
    runs::end(&bench.state, id.as_str(), RunStatus::Abandoned, &bench.authority).unwrap();
    assert!(!bench.state.path().join("counterfoil").exists());
    bench.assert_sound(&id, 1);
}

#[test]
fn a_journal_that_is_full_is_emptied() {
    let bench = Bench::new();
    let run = bench.start();
    let mut large = Vec::new();
    for _ in 0..6 {
        let mut entry = entry(run.id());
        let padding = "x".repeat(1 << 20);
        entry.receipt = entry.receipt.replacen("\"extra\":{}", &format!("\"extra\":{{\"p\":\"{padding}\"}}"), 1);
        entry.content_hash = {
            use sha2::{Digest, Sha256};
            hex::encode(Sha256::digest(&entry.receipt))
        };
        large.push(entry);
    }
    for entry in large {
        run.record(entry).unwrap();
    }
    assert!(run.stats().settlings >= 1);
    assert!(fs::metadata(bench.journal(run.id())).unwrap().len() < 4 << 20);
    run.end(RunStatus::Completed).unwrap();
    bench.assert_sound(run.id(), 6);
}
