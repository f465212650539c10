//! roam-code's verdicts on whole state folders.

use crate::workbench::Bench;
use counterfoil_evidence::verify::State;
use counterfoil_evidence::{RoamVerification, runs};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Cases where our answer to `--compat roam` is another one on purpose: state, receipt integrity and exit status of ours,
/// and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crash-huge-integer", "tampered not_linked 5", "roam fails without an answer; ours is `tampered`"),
    ("crash-invalid-utf8", "tampered not_linked 5", "roam fails without an answer; ours is `tampered`"),
    ("crash-lone-surrogate", "tampered not_linked 5", "roam fails without an answer; ours is `tampered`"),
    (
        "crash-meta-invalid-utf8",
        "unknown_run 2",
        "roam fails without an answer; a run whose meta cannot be read is unknown",
    ),
    ("crash-signature-non-ascii", "tampered not_linked 5", "roam fails without an answer; ours is `tampered`"),
    ("crash-signature-number", "tampered not_linked 5", "roam fails without an answer; ours is `tampered`"),
    (
        "key-absent",
        "key_missing 0",
        "roam makes a key and calls everything tampered; we write nothing and say that the key is missing",
    ),
    ("key-absent-empty-run", "key_missing 0", "roam makes a key; we write nothing and say that the key is missing"),
    ("run-id-traversal", "unknown_run 2", "a run id is no path; we follow none"),
    (
        "receipt-ok-traversal",
        "ok missing 0",
        "a call id is no path out of the run's folder; we follow none, so the receipt is missing",
    ),
    (
        "chain-ok-python-literals",
        "tampered not_linked 5",
        "`NaN` and `Infinity` are no JSON; such a line cannot be verified",
    ),
];

struct Case {
    name: String,
    bench: Bench,
    value: Value,
}

impl Case {
    fn of(value: Value) -> Self {
        let bench = Bench::new();
        for (path, content) in value["files"].as_object().unwrap() {
            let path = bench.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(text) = content["text"].as_str() {
                fs::write(&path, text).unwrap();
            } else if let Some(digits) = content["hex"].as_str() {
                fs::write(&path, hex::decode(digits).unwrap()).unwrap();
            } else {
                assert_eq!(content["dir"], json!(true));
                fs::create_dir_all(&path).unwrap();
            }
            if path.ends_with(".ledger_key") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            }
        }
        Self { name: value["name"].as_str().unwrap().to_owned(), bench, value }
    }

    fn run(&self) -> &str {
        self.value["run_id"].as_str().unwrap()
    }

    /// An expected text with the root spelled out.
    fn text(&self, value: &Value) -> Option<String> {
        let root = self.bench.dir.path().to_str().unwrap();
        value.as_str().map(|text| text.replace("<root>", root))
    }
}

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/roam/ledger");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder.join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let random = read(&folder.join("random.json"));
    let cases: Vec<Case> =
        paths.iter().map(read).chain(random["cases"].as_array().unwrap().iter().cloned()).map(Case::of).collect();
    assert!(cases.len() >= 140, "{}", cases.len());
    cases
}

/// Numbers keep their spelling here, and a float may be spelled in two ways.
fn same(ours: &Value, roam: &Value) -> bool {
    match (ours, roam) {
        (Value::Number(ours), Value::Number(roam)) => ours.as_f64() == roam.as_f64(),
        _ => ours == roam,
    }
}

/// The first member in which a verdict differs from what the library functions return.
fn difference(ours: &RoamVerification, library: &Value) -> Option<String> {
    let spelled = serde_json::to_value(ours).unwrap();
    let members = library.as_object().unwrap();
    let missing =
        spelled.get("first_missing_receipt_at_seq").filter(|_| !members.contains_key("first_missing_receipt_at_seq"));
    let wrong = members.iter().find(|(name, value)| !same(&spelled[name.as_str()], value));
    wrong
        .map(|(name, value)| format!("{name}: {} instead of {value}", spelled[name.as_str()]))
        .or(missing.map(Value::to_string))
}

/// How our answer on one run differs from roam's, if it does.
fn disagreement(case: &Case) -> Option<String> {
    let ours = runs::verify_as_roam(&case.bench.state, case.run(), &case.bench.authority);
    let expect = &case.value["expect"];
    let cli = &case.value["cli"];
    if let Some(library) = expect.get("verify_chain_with_receipts") {
        if let Some(difference) = difference(&ours, library) {
            return Some(difference);
        }
        let chain = ours.chain.as_ref()?;
        if chain.details != expect["verify_chain"]["details"]
            || chain.events_verified != expect["verify_chain"]["events_verified"]
        {
            return Some(format!("{chain:?}"));
        }
    }
    // Random ledgers were not given to the command.
    if cli.is_null() {
        return None;
    }
    let chain_state = serde_json::to_value(ours.chain_state).unwrap();
    if chain_state != cli["summary"]["state"] {
        return Some(format!("state {chain_state} instead of {}", cli["summary"]["state"]));
    }
    if json!(ours.chain_state.exit_code()) != cli["exit"] {
        return Some(format!("exit {} instead of {}", ours.chain_state.exit_code(), cli["exit"]));
    }
    if expect.get("key").is_some() && ours.details != case.text(&cli["details"]) {
        return Some(format!("details {:?}", ours.details));
    }
    None
}

#[test]
fn the_verdict_on_each_run_is_roams() {
    let mut differing = BTreeSet::new();
    for case in cases().iter().filter(|case| !case.name.starts_with("all-")) {
        let disagreement = disagreement(case);
        let excepted = EXCEPTIONS.iter().find(|(name, _, _)| *name == case.name);
        assert!(disagreement.is_none() || excepted.is_some(), "{}: {}", case.name, disagreement.unwrap());
        if let Some((name, expected, _)) = excepted {
            let ours = runs::verify_as_roam(&case.bench.state, case.run(), &case.bench.authority);
            let answer = [json!(ours.state), json!(ours.receipt_integrity), json!(ours.exit_code())];
            let words = answer.iter().filter(|word| !word.is_null()).map(|word| word.to_string().replace('"', ""));
            assert_eq!(words.collect::<Vec<_>>().join(" "), *expected, "{name}");
        }
        if disagreement.is_some() {
            differing.insert(case.name.clone());
        }
    }
    let listed: BTreeSet<String> = EXCEPTIONS.iter().map(|(name, _, _)| (*name).to_owned()).collect();
    assert_eq!(differing, listed, "each exception is one");
}

#[test]
fn the_verdict_on_all_runs_is_roams() {
    let cases = cases();
    let all: Vec<&Case> = cases.iter().filter(|case| case.name.starts_with("all-")).collect();
    assert!(all.len() >= 6);
    for case in all {
        let ours = runs::verify_all_as_roam(&case.bench.state, &case.bench.authority).unwrap();
        let spelled = serde_json::to_value(&ours).unwrap();
        let cli = &case.value["cli"];
        for (name, value) in cli["summary"].as_object().unwrap() {
            if name != "verdict" {
                assert_eq!(&spelled[name.as_str()], value, "{}: {name}", case.name);
            }
        }
        assert_eq!(json!(ours.exit_code()), cli["exit"], "{}", case.name);
        let runs = cli["runs"].as_array().unwrap();
        assert_eq!(ours.runs.len(), runs.len());
        for (ours, roam) in ours.runs.iter().zip(runs) {
            let spelled = serde_json::to_value(ours).unwrap();
            for (name, value) in roam.as_object().unwrap() {
                if name == "details" {
                    assert_eq!(ours.details, case.text(value), "{}", case.name);
                } else {
                    assert!(same(&spelled[name.as_str()], value), "{}: {name}", case.name);
                }
            }
        }
    }
}

#[test]
fn what_roam_passes_over_the_strict_verdict_names() {
    // Weaknesses of roam's verdict: the case, and what our own finds.
    let better = [
        ("chain-ok-tail-cut", State::Tampered, "ledger_cut"),
        ("chain-ok-emptied", State::Tampered, "ledger_cut"),
        ("chain-ok-tail-corrupt", State::Tampered, "unreadable_line"),
        ("chain-ok-meta-disagrees", State::Tampered, "ledger_cut"),
        ("chain-ok-duplicate-key", State::Tampered, "rewritten_line"),
        ("chain-ok-rewritten-lines", State::Tampered, "rewritten_line"),
        ("chain-ok-repeated-seq", State::Tampered, "seq_wrong"),
        ("chain-ok-no-seq", State::Tampered, "seq_wrong"),
        ("chain-ok-non-objects", State::Tampered, "unreadable_line"),
        ("chain-ok-python-literals", State::Tampered, "unreadable_line"),
        ("chain-empty-all-corrupt", State::Tampered, "unreadable_line"),
        ("chain-unsigned-stripped", State::Unsigned, "unsigned"),
        ("receipt-ok-forged-unsigned-chain", State::Tampered, "receipt_disagrees"),
        ("receipt-tampered-field", State::Tampered, "receipt_tampered"),
        ("receipt-missing", State::Tampered, "receipt_missing"),
        ("receipt-ok-call-not-text", State::Tampered, "link_incomplete"),
        ("receipt-ok-missing-without-seq", State::Tampered, "receipt_missing"),
        ("receipt-ok-traversal", State::Tampered, "unsafe_tool_call"),
        ("receipt-extra-on-disk", State::Ok, "receipt_unlinked"),
        ("receipt-unlinked-on-disk", State::Ok, "receipt_unlinked"),
        ("receipt-ok-more-newlines", State::Tampered, "receipt_newlines"),
        ("receipt-ok-names-disagree", State::Tampered, "receipt_disagrees"),
        ("receipt-ok-linked-twice", State::Ok, "linked_twice"),
        ("receipt-tampered-and-chain-tampered", State::Tampered, "receipt_tampered"),
        ("run-meta-other-id", State::Tampered, "meta_run_id"),
        ("run-id-traversal", State::UnknownRun, "unsafe_run_id"),
        ("key-absent", State::KeyMissing, "key_missing"),
        ("key-short", State::KeyMissing, "key_invalid"),
        ("crash-invalid-utf8", State::Tampered, "chain_broken"),
        ("crash-lone-surrogate", State::Tampered, "chain_broken"),
        ("crash-signature-number", State::Tampered, "chain_broken"),
    ];
    let cases = cases();
    let mut wrong = Vec::new();
    for (name, state, code) in better {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let verdict = runs::verify(&case.bench.state, case.run(), &case.bench.authority);
        if verdict.state != state || !verdict.findings.iter().any(|found| found.code.as_str() == code) {
            wrong.push(format!("{name}: {state:?} {code}: {verdict:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn honest_foreign_runs_pass_the_strict_verdict() {
    let honest = [
        "chain-ok-one",
        "chain-ok-several",
        "chain-ok-closed",
        "chain-ok-closed-then-appended",
        "chain-ok-crlf",
        "chain-ok-blank-lines",
        "chain-ok-no-final-newline",
        "chain-ok-unicode-numbers",
        "chain-ok-extra-meta",
        "chain-empty",
        "chain-empty-no-file",
        "receipt-ok-one",
        "receipt-ok-several",
        "all-ok",
    ];
    let cases = cases();
    for name in honest {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let verdict = runs::verify(&case.bench.state, case.run(), &case.bench.authority);
        assert_eq!(verdict.exit_code(), 0, "{name}: {verdict:#?}");
    }
}

#[test]
fn the_strict_verdict_is_never_milder_than_roams() {
    for case in cases().iter().filter(|case| !case.name.starts_with("all-")) {
        let strict = runs::verify(&case.bench.state, case.run(), &case.bench.authority);
        let roam = runs::verify_as_roam(&case.bench.state, case.run(), &case.bench.authority);
        assert!(strict.exit_code() >= roam.exit_code(), "{}: {strict:#?} {roam:#?}", case.name);
    }
}
