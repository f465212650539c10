//! What the strict verdict says of each way to tamper.

use crate::workbench::{Bench, entry, entry_of};
use counterfoil_evidence::verify::State;
use counterfoil_evidence::{Entry, FindingCode, ReceiptIntegrity, Run, RunId, RunStatus, runs, tool_call_id};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A run with three receipts.
struct Case {
    bench: Bench,
    id: RunId,
    entries: Vec<Entry>,
    run: Option<Run>,
}

impl Case {
    fn open() -> Self {
        let bench = Bench::new();
        let run = bench.start();
        let entries: Vec<Entry> = (0..3).map(|_| entry(run.id())).collect();
        for entry in &entries {
            run.record(entry.clone()).unwrap();
        }
        Self { id: run.id().clone(), bench, entries, run: Some(run) }
    }

    fn ended() -> Self {
        let mut case = Self::open();
        case.run.take().unwrap().end(RunStatus::Completed).unwrap();
        case
    }

    fn lines(&self) -> Vec<String> {
        String::from_utf8(self.bench.ledger(&self.id)).unwrap().lines().map(str::to_owned).collect()
    }

    fn write(&self, lines: &[String]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.bench.events(&self.id), text).unwrap();
    }

    fn receipt(&self, at: usize) -> PathBuf {
        self.bench.receipt(&self.id, &self.entries[at].tool_call)
    }

    /// Signs a ledger of one's own, as somebody who holds the key could.
    fn sign(&self, events: &[Value]) {
        let mut ledger = Vec::new();
        for event in events {
            let line = self.bench.foreign_line(&ledger, event);
            ledger.extend_from_slice(&line);
        }
        fs::write(self.bench.events(&self.id), ledger).unwrap();
    }

    fn expect(&self, state: State, integrity: ReceiptIntegrity, code: &str, seq: Option<u64>) {
        let verdict = self.bench.strict(&self.id);
        assert_eq!(verdict.state, state, "{verdict:#?}");
        assert_eq!(verdict.receipt_integrity, integrity, "{verdict:#?}");
        assert!(
            verdict.findings.iter().any(|found| found.code.as_str() == code && found.seq == seq),
            "{code}: {verdict:#?}"
        );
        let tampered = matches!(state, State::Tampered | State::Unsigned);
        assert_eq!(verdict.exit_code() == 5, tampered, "{verdict:#?}");
    }
}

const OK: ReceiptIntegrity = ReceiptIntegrity::Ok;
const MISSING: ReceiptIntegrity = ReceiptIntegrity::Missing;
const TAMPERED: ReceiptIntegrity = ReceiptIntegrity::Tampered;
const NOT_LINKED: ReceiptIntegrity = ReceiptIntegrity::NotLinked;

#[test]
fn any_changed_byte_of_a_receipt_is_named() {
    let case = Case::ended();
    let genuine = fs::read(case.receipt(1)).unwrap();
    for at in 0..genuine.len() {
        let mut changed = genuine.clone();
        changed[at] ^= 1;
        fs::write(case.receipt(1), changed).unwrap();
        let verdict = case.bench.strict(&case.id);
        assert_eq!((verdict.state, verdict.receipt_integrity), (State::Tampered, TAMPERED), "byte {at}");
        assert_eq!(verdict.first_tamper_at_seq, json!(2));
        let named = verdict.findings[0].path.clone().unwrap();
        assert_eq!(case.bench.state.path().join(named), case.receipt(1));
    }
    fs::write(case.receipt(1), genuine).unwrap();
    case.bench.assert_sound(&case.id, 3);
}

#[test]
fn any_changed_byte_of_the_ledger_is_named() {
    let case = Case::ended();
    let genuine = case.bench.ledger(&case.id);
    // The last line end carries nothing: the event before it says the same without.
    for at in 0..genuine.len() - 1 {
        let mut changed = genuine.clone();
        changed[at] ^= 1;
        fs::write(case.bench.events(&case.id), changed).unwrap();
        let verdict = case.bench.strict(&case.id);
        assert_eq!(verdict.exit_code(), 5, "byte {at} {:?}: {verdict:#?}", genuine[at] as char);
    }
}

#[test]
fn receipts_that_are_gone_added_or_unreadable_are_named() {
    let case = Case::open();
    fs::remove_file(case.receipt(2)).unwrap();
    case.expect(State::Tampered, MISSING, "receipt_missing", Some(3));

    let case = Case::open();
    let stray = case.bench.receipt(&case.id, "planted_000000000000");
    fs::write(&stray, "{}\n").unwrap();
    case.expect(State::Tampered, NOT_LINKED, "receipt_link_lost", None);
    fs::rename(&stray, stray.with_extension("txt")).unwrap();
    case.expect(State::Ok, OK, "stray_file", None);

    let case = Case::open();
    let aside = case.bench.dir.path().join("aside");
    fs::rename(case.receipt(0), &aside).unwrap();
    symlink(&aside, case.receipt(0)).unwrap();
    case.expect(State::Tampered, MISSING, "receipt_unreadable", Some(1));

    for ending in ["", "\n\n"] {
        let case = Case::open();
        fs::write(case.receipt(0), format!("{}{ending}", case.entries[0].receipt)).unwrap();
        case.expect(State::Tampered, TAMPERED, "receipt_newlines", Some(1));
    }
}

#[test]
fn a_cut_or_emptied_ledger_is_named() {
    let case = Case::ended();
    case.write(&case.lines()[..2]);
    case.expect(State::Tampered, NOT_LINKED, "ledger_cut", Some(3));
    case.write(&[]);
    case.expect(State::Tampered, NOT_LINKED, "ledger_cut", Some(1));
    // Emptied and gone on with: a new valid chain, and not the one that was ended.
    case.sign(&[json!({"action": "a"}), json!({"action": "b"}), json!({"action": "c"})]);
    case.expect(State::Tampered, NOT_LINKED, "final_signature", Some(3));

    // While the run is open its journal and its receipts remember. A crash that was not yet recovered looks the same.
    let case = Case::open();
    case.write(&case.lines()[..2]);
    case.expect(State::Ok, NOT_LINKED, "journal_ahead", None);
    case.expect(State::Ok, NOT_LINKED, "receipt_unlinked", None);
    assert_eq!(case.bench.strict(&case.id).exit_code(), 1);
    fs::remove_file(case.bench.journal(&case.id)).unwrap();
    case.expect(State::Tampered, NOT_LINKED, "receipt_link_lost", None);
}

#[test]
fn stripped_signatures_are_no_excuse() {
    let strip = |line: &String| {
        let mut event: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        event.remove("signature");
        serde_json::to_string(&event).unwrap()
    };
    let case = Case::ended();
    case.write(&case.lines().iter().map(strip).collect::<Vec<_>>());
    case.expect(State::Tampered, OK, "signatures_stripped", None);

    let case = Case::open();
    fs::remove_dir_all(case.bench.state.path().join("counterfoil")).unwrap();
    case.write(&[r#"{"action": "a", "seq": 1}"#.to_owned()]);
    case.expect(State::Unsigned, NOT_LINKED, "receipt_unlinked", None);
    fs::remove_dir_all(case.bench.state.receipts_path(&case.id)).unwrap();
    case.expect(State::Unsigned, NOT_LINKED, "unsigned", None);
    assert_eq!(case.bench.strict(&case.id).events_verified, 0);
}

#[test]
fn places_are_one_after_the_other() {
    for seqs in [[1, 1], [2, 1], [1, 3]] {
        let case = Case::open();
        fs::remove_dir_all(case.bench.state.receipts_path(&case.id)).unwrap();
        // The authority sets `seq`, so a careless writer is played with signatures of its own.
        let mut ledger = Vec::new();
        for seq in seqs {
            let mut tail = case.bench.authority.read_tail(&ledger).unwrap();
            tail.lines = seq - 1;
            let signed =
                case.bench.authority.sign(&case.bench.key(), &tail, &["{\"action\":\"a\"}".to_owned()]).unwrap();
            ledger.extend_from_slice(format!("{}\n", signed[0].line).as_bytes());
        }
        fs::write(case.bench.events(&case.id), ledger).unwrap();
        let wrong = if seqs[0] == 1 { 2 } else { 1 };
        case.expect(State::Tampered, NOT_LINKED, "seq_wrong", Some(wrong));
    }
}

#[test]
fn rewritten_lines_and_members_said_twice_are_named() {
    let case = Case::ended();
    let mut lines = case.lines();
    let genuine = lines.clone();
    lines[1] = lines[1].replacen('{', "{\"tool_name\": \"harmless\", ", 1);
    case.write(&lines);
    case.expect(State::Tampered, OK, "rewritten_line", Some(2));
    lines[1] = genuine[1].replace(": ", ":");
    case.write(&lines);
    case.expect(State::Tampered, OK, "rewritten_line", Some(2));
    lines[1] = "not an event".to_owned();
    lines.insert(2, genuine[1].clone());
    case.write(&lines);
    case.expect(State::Tampered, OK, "unreadable_line", Some(2));
}

#[test]
fn receipts_that_disagree_with_their_place_are_named() {
    let bench = Bench::new();
    let run = bench.start();
    let other = bench.start();
    let id = tool_call_id("t").unwrap();
    // A receipt of another run, and one whose event names another tool.
    run.record(entry_of(other.id(), "t", &id)).unwrap();
    let mut misnamed = entry(run.id());
    misnamed.tool_name = "another".to_owned();
    run.record(misnamed).unwrap();
    let mut miscalled = entry(run.id());
    miscalled.tool_call = tool_call_id("t").unwrap();
    run.record(miscalled).unwrap();
    let verdict = bench.strict(run.id());
    let named: Vec<_> = verdict.findings.iter().map(|found| (found.code, found.seq)).collect();
    let disagrees = FindingCode::ReceiptDisagrees;
    assert_eq!(named, [(disagrees, Some(1)), (disagrees, Some(2)), (disagrees, Some(3))]);
    assert_eq!((verdict.state, verdict.receipt_integrity), (State::Tampered, TAMPERED));
}

#[test]
fn events_of_another_run_are_named() {
    let case = Case::ended();
    let other = case.bench.start();
    drop(other.record(entry(other.id())));
    let other_id = other.id().clone();
    drop(other);
    fs::copy(case.bench.events(&case.id), case.bench.events(&other_id)).unwrap();
    for entry in &case.entries {
        fs::copy(case.bench.receipt(&case.id, &entry.tool_call), case.bench.receipt(&other_id, &entry.tool_call))
            .unwrap();
    }
    let verdict = case.bench.strict(&other_id);
    assert_eq!(verdict.state, State::Tampered);
    assert!(verdict.findings.iter().any(|found| found.code == FindingCode::ReceiptDisagrees));
}

#[test]
fn links_that_name_nothing_or_lead_elsewhere_are_named_and_not_followed() {
    let hash = "0".repeat(64);
    let link = |tool_call: Value, hash: Value| json!({"action": "mcp_receipt", "receipt_hash": hash, "tool_call": tool_call, "tool_name": "t"});
    for (event, code, integrity) in [
        (link(json!("../../runs/x"), json!(hash)), "unsafe_tool_call", MISSING),
        (link(json!("/etc/passwd"), json!(hash)), "unsafe_tool_call", MISSING),
        (link(json!("a\u{0}b"), json!(hash)), "unsafe_tool_call", MISSING),
        (link(json!(7), json!(hash)), "link_incomplete", TAMPERED),
        (link(json!("a"), json!("A".repeat(64))), "link_incomplete", TAMPERED),
        (link(json!("a"), json!(null)), "link_incomplete", TAMPERED),
        (link(json!("a/b"), json!(hash)), "receipt_missing", MISSING),
    ] {
        let case = Case::open();
        fs::remove_dir_all(case.bench.state.receipts_path(&case.id)).unwrap();
        case.sign(&[event]);
        case.expect(State::Tampered, integrity, code, Some(1));
    }
    let bench = Bench::new();
    for id in ["../runs/run_20260101_abcdef", "", "run_20260101_abcdef/..", "/etc"] {
        let verdict = runs::verify(&bench.state, id, &bench.authority);
        assert_eq!((verdict.state, verdict.exit_code()), (State::UnknownRun, 2));
        assert_eq!(verdict.findings[0].code, FindingCode::UnsafeRunId);
    }
    assert_eq!(bench.strict(&"run_20260101_abcdef".parse().unwrap()).exit_code(), 2);
}

#[test]
fn a_receipt_linked_twice_is_doubted() {
    let case = Case::open();
    let events: Vec<Value> = case.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    case.sign(&[events[0].clone(), events[1].clone(), events[2].clone(), events[0].clone()]);
    case.expect(State::Ok, OK, "linked_twice", Some(4));
    assert_eq!(case.bench.strict(&case.id).exit_code(), 1);
}

#[test]
fn what_an_ended_run_says_of_itself_is_compared() {
    let case = Case::ended();
    let path = case.bench.state.run_path(&case.id).join("meta.json");
    let genuine = fs::read_to_string(&path).unwrap();
    let with = |name: &str, value: Value| {
        let mut meta: Value = serde_json::from_str(&genuine).unwrap();
        meta[name] = value;
        fs::write(&path, meta.to_string()).unwrap();
    };
    with("event_count", json!(4));
    case.expect(State::Tampered, OK, "ledger_cut", Some(4));
    with("event_count", json!(2));
    case.expect(State::Tampered, OK, "final_signature", Some(2));
    with("final_signature", json!("0".repeat(64)));
    case.expect(State::Tampered, OK, "final_signature", Some(3));
    with("event_count", Value::Null);
    case.expect(State::Ok, OK, "meta_incomplete", None);
    with("run_id", json!("run_20200101_abcdef"));
    case.expect(State::Tampered, OK, "meta_run_id", None);
    fs::write(&path, &genuine).unwrap();
    // Going on after the end is allowed in roam-code and changes nothing that was recorded.
    case.bench.append(&case.id, &case.bench.foreign_line(&case.bench.ledger(&case.id), &json!({"action": "late"})));
    case.expect(State::Ok, OK, "appended_after_end", Some(4));
    case.bench.assert_sound(&case.id, 4);
    fs::write(&path, "{").unwrap();
    let verdict = case.bench.strict(&case.id);
    assert_eq!((verdict.state, verdict.exit_code()), (State::UnknownRun, 2));
}

fn tree(path: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tree(&path, into)
        } else {
            into.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
}

#[test]
fn the_key_is_judged_and_never_made() {
    let case = Case::open();
    let path = case.bench.state.path().join("runs/.ledger_key");
    let genuine = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    case.expect(State::Ok, OK, "key_exposed", None);
    assert_eq!(case.bench.strict(&case.id).exit_code(), 1);
    fs::write(&path, [1; 32]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    case.expect(State::Tampered, OK, "chain_broken", Some(1));
    fs::write(&path, [1; 16]).unwrap();
    case.expect(State::KeyMissing, OK, "key_invalid", None);
    assert_eq!(case.bench.strict(&case.id).exit_code(), 1);
    fs::remove_file(&path).unwrap();
    case.expect(State::KeyMissing, OK, "key_missing", None);
    assert!(!path.exists());
    fs::write(&path, genuine).unwrap();
    case.expect(State::Ok, OK, "key_exposed", None);
}

#[test]
fn an_empty_run_is_empty() {
    let bench = Bench::new();
    let run = bench.start();
    let verdict = bench.strict(run.id());
    assert_eq!((verdict.state, verdict.receipt_integrity, verdict.exit_code()), (State::Empty, NOT_LINKED, 0));
    run.end(RunStatus::Completed).unwrap();
    let verdict = bench.strict(run.id());
    assert_eq!((verdict.state, verdict.exit_code()), (State::Empty, 0), "{verdict:#?}");
}

#[test]
fn verifying_writes_nothing() {
    let case = Case::open();
    let mut before = BTreeMap::new();
    tree(case.bench.state.path(), &mut before);
    let _ = case.bench.strict(&case.id);
    let _ = runs::verify_as_roam(&case.bench.state, case.id.as_str(), &case.bench.authority);
    runs::verify_all(&case.bench.state, &case.bench.authority).unwrap();
    runs::verify_all_as_roam(&case.bench.state, &case.bench.authority).unwrap();
    let mut after = BTreeMap::new();
    tree(case.bench.state.path(), &mut after);
    assert_eq!(before, after);

    let nowhere = Bench::new();
    assert!(runs::verify_all(&nowhere.state, &nowhere.authority).unwrap().is_empty());
    assert!(!nowhere.state.path().exists());
}

#[test]
fn the_verdict_has_the_members_of_the_command_line_contract() {
    let case = Case::open();
    fs::remove_file(case.receipt(0)).unwrap();
    let verdict = serde_json::to_value(case.bench.strict(&case.id)).unwrap();
    for name in [
        "state",
        "receipt_integrity",
        "events_verified",
        "first_tamper_at_seq",
        "final_signature",
        "details",
        "findings",
    ] {
        assert!(verdict.get(name).is_some(), "{name}");
    }
    assert_eq!(verdict["state"], "tampered");
    let finding = &verdict["findings"][0];
    assert_eq!((finding["code"].as_str(), finding["seq"].as_u64()), (Some("receipt_missing"), Some(1)));
    assert!(finding["path"].as_str().unwrap().starts_with("mcp_receipts/"));
    assert!(finding["message"].is_string());
}
