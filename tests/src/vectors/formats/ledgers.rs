//! Chains: signing them, and the verdicts on them.

use serde_json::Value;

use super::{Formats, Report, Spelling, Tail, Verdict, shown, text};

pub(super) fn signing(formats: &impl Formats, vectors: &Value, report: &mut Report) {
    let key = unhex(text(vectors, "key_hex"));
    let chain: Vec<&Value> = vectors["chain"].as_array().expect("a chain is a list").iter().collect();
    let begin = Tail { lines: 0, signature: None, complete: true, sound: true };
    let events: Vec<String> = chain.iter().map(|event| text(event, "event_json").to_owned()).collect();
    let signed = formats.sign(&key, &begin, &events).expect("the chain can be signed");
    let mut ledger = String::new();
    for (case, (seq, signature, line)) in chain.iter().zip(&signed) {
        let name = format!("event {seq}");
        report.compare("signing: seq", &name, &seq.to_string(), &case["seq"].to_string());
        report.compare("signing: signature", &name, signature, text(case, "signature"));
        report.compare("signing: line is ASCII", &name, &line.is_ascii().to_string(), "true");
        let spelled = shown(formats.canonicalize(line, Spelling::Line));
        report.compare("signing: line", &name, &spelled, text(case, "line"));
        let one = formats.sign(
            &key,
            &formats.read_tail(ledger.as_bytes()).expect("a tail"),
            &[text(case, "event_json").to_owned()],
        );
        let one = one.expect("one event can be signed").pop();
        report.compare(
            "signing: one by one",
            &name,
            &format!("{one:?}"),
            &format!("{:?}", Some((seq, signature, line))),
        );
        ledger.push_str(line);
        ledger.push('\n');
    }
    let verdict = formats.verify_chain(&key, ledger.as_bytes()).expect("a verdict");
    report.compare("signing", "verified", &verdict.state, "ok");
    report.compare("signing", "all verified", &verdict.events_verified.to_string(), &chain.len().to_string());
    for case in vectors["unsignable"].as_array().expect("the unsignable events are a list") {
        let event = text(case, "event_json").to_owned();
        let refused = formats
            .sign(&key, &begin, std::slice::from_ref(&event))
            .map_or_else(|error| error.0, |_| "signed".to_owned());
        report.compare("unsignable", &event, &refused, "unsupported_value");
    }
}

/// One ledger. Cases about the metadata of runs, or about all runs together, are for those who read the state directory.
pub(super) fn ledger(formats: &impl Formats, case: &Value, report: &mut Report) {
    let (name, expect) = (text(case, "name"), &case["expect"]);
    if expect.is_null() || expect["run"] == "unknown" || name == "crash-meta-invalid-utf8" {
        return;
    }
    let content = |path: &str| match &case["files"][path] {
        Value::Null => None,
        file => match (file["text"].as_str(), file["hex"].as_str()) {
            (Some(text), _) => Some(text.as_bytes().to_vec()),
            (None, Some(hex)) => Some(unhex(hex)),
            (None, None) => None,
        },
    };
    // roam-code makes a key where none is; any other key gives the same verdict.
    let key = content(".roam/runs/.ledger_key").unwrap_or_else(|| vec![0; 32]);
    let run = text(case, "run_id");
    let events = content(&normal(&format!(".roam/runs/{run}/events.jsonl"))).unwrap_or_default();
    let chain = formats.verify_chain(&key, &events);

    if expect["key"] == "unusable" {
        let ours = chain.map_or_else(|error| error.0, |verdict| verdict.state);
        return report.compare("ledger", name, &ours, "invalid_key");
    }
    let chain = chain.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let links = formats.receipt_links(&events).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    // Paths are followed as roam-code follows them; what a host refuses to follow is its own affair.
    let files: Vec<_> = links
        .into_iter()
        .flatten()
        .map(|call| {
            let file = content(&normal(&format!(".roam/mcp_receipts/{run}/{call}.json")));
            (call, file)
        })
        .collect();
    let full = formats.verify_with_receipts(&key, &events, &files).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    if expect["raises"].is_object() {
        let at = chain.first_tamper_at_seq.as_deref().unwrap_or("none");
        return report.compare("ledger", name, &format!("{} at {at}", chain.state), "raises");
    }
    if let Some(read) = expect["events_read"].as_u64()
        && chain.state != "tampered"
    {
        report.compare("ledger: events", name, &chain.events_verified.to_string(), &read.to_string());
    }
    report.compare("ledger", name, &compact(&chain, None), &roam_verdict(&expect["verify_chain"]));
    let (chain, integrity, missing) = full;
    let ours = compact(&chain, Some((&integrity, missing.as_deref())));
    report.compare("ledger with receipts", name, &ours, &roam_verdict(&expect["verify_chain_with_receipts"]));
}

/// A verdict in one line.
fn compact(verdict: &Verdict, receipts: Option<(&str, Option<&str>)>) -> String {
    let at = |seq: Option<&str>| seq.unwrap_or("null").to_owned();
    let mut line = format!(
        "{} {} {} {} {:?} {}",
        verdict.state,
        verdict.events_verified,
        at(verdict.first_tamper_at_seq.as_deref()),
        verdict.partial_success,
        verdict.final_signature.as_deref(),
        verdict.details
    );
    if let Some((integrity, missing)) = receipts {
        line.push_str(&format!("; {integrity} {}", at(missing)));
    }
    line
}

/// roam-code's verdict in the same line.
fn roam_verdict(theirs: &Value) -> String {
    let verdict = Verdict {
        state: text(theirs, "state").to_owned(),
        events_verified: theirs["events_verified"].as_u64().expect("a count"),
        first_tamper_at_seq: Some(theirs["first_tamper_at_seq"].to_string()),
        partial_success: theirs["partial_success"].as_bool().expect("a truth value"),
        final_signature: theirs["final_signature"].as_str().map(str::to_owned),
        details: text(theirs, "details").to_owned(),
        unreadable_lines: 0,
    };
    let missing = theirs.get("first_missing_receipt_at_seq").map(Value::to_string);
    compact(&verdict, theirs["receipt_integrity"].as_str().map(|integrity| (integrity, missing.as_deref())))
}

/// A path without `.` and `..`, as a file system follows it.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("hex digits are ASCII");
        u8::from_str_radix(pair, 16).expect("hex digits")
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}
