//! The vectors of the formats: canonical JSON, receipts, ledger.
//!
//! [`run`] puts every case to an implementation of [`Formats`]. Cases where Counterfoil answers otherwise than roam-code
//! stand in `tests/exceptions/formats.json` with the answer that is expected instead and the reason. An exception that
//! agrees after all, or that meets no case, is a failure: the list cannot go stale.

// Other packages take this file in by its path; without the attribute they would look for the module elsewhere.
#[path = "formats/ledgers.rs"]
mod ledgers;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// Code and text of a refusal.
pub type Refused = (String, String);

/// A spelling of JSON, by its name in the WIT package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `receipt`.
    Receipt,
    /// `event`.
    Event,
    /// `line`.
    Line,
}

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Lines that are not blank.
    pub lines: u64,
    /// The last signature.
    pub signature: Option<String>,
    /// Whether the last line is complete.
    pub complete: bool,
    /// Whether the last line is signed.
    pub sound: bool,
}

/// A verdict on a chain. Words are spelled as in JSON, `seq` members are JSON texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// State of the chain.
    pub state: String,
    /// Events that were verified.
    pub events_verified: u64,
    /// Where it breaks.
    pub first_tamper_at_seq: Option<String>,
    /// Whether the answer covers only a part.
    pub partial_success: bool,
    /// The last good signature.
    pub final_signature: Option<String>,
    /// The verdict in words.
    pub details: String,
    /// Lines that are no event.
    pub unreadable_lines: u64,
}

/// A verdict on a chain and its receipts: also the integrity, and where a receipt is missing.
pub type FullVerdict = (Verdict, String, Option<String>);

/// What is tested: the functions of the interfaces `receipts` and `ledger`.
pub trait Formats {
    /// `canonicalize`.
    fn canonicalize(&self, json: &str, spelling: Spelling) -> Result<String, Refused>;
    /// `seal`: canonical text and content hash.
    fn seal(&self, fields: &str) -> Result<(String, String), Refused>;
    /// `input-hash`.
    fn input_hash(&self, arguments: &str) -> Result<String, Refused>;
    /// `output-of`: output hash and output reference.
    fn output_of(&self, outcome: &str) -> Result<(Option<String>, Option<String>), Refused>;
    /// `read-tail`.
    fn read_tail(&self, events: &[u8]) -> Result<Tail, Refused>;
    /// `sign`: `seq`, signature and line of each.
    fn sign(&self, key: &[u8], after: &Tail, events: &[String]) -> Result<Vec<(u64, String, String)>, Refused>;
    /// `verify-chain`.
    fn verify_chain(&self, key: &[u8], events: &[u8]) -> Result<Verdict, Refused>;
    /// `receipt-links`: `tool_call` of each.
    fn receipt_links(&self, events: &[u8]) -> Result<Vec<Option<String>>, Refused>;
    /// `verify-with-receipts`: of each file its `tool_call` and its content.
    fn verify_with_receipts(
        &self,
        key: &[u8],
        events: &[u8],
        files: &[(String, Option<Vec<u8>>)],
    ) -> Result<FullVerdict, Refused>;
}

/// Put every case to an implementation. `tests` is the folder of this package. Gives the number of cases that agreed and
/// what went wrong.
pub fn run(formats: &impl Formats, tests: &Path) -> (usize, Vec<String>) {
    let read = |path: &str| read_json(&tests.join(path));
    let mut report = Report::new(&read("exceptions/formats.json"));
    let vectors = |path: &str| read(&format!("vectors/roam/{path}"));
    canonical_values(formats, &vectors("canonical/values.json"), &mut report);
    valid_receipts(formats, &vectors("receipts/valid.json"), &mut report);
    invalid_receipts(formats, &vectors("receipts/invalid.json"), &mut report);
    input_hashes(formats, &vectors("receipts/input_hash.json"), &mut report);
    outputs(formats, &vectors("receipts/output.json"), &mut report);
    ledgers::signing(formats, &vectors("ledger/signing.json"), &mut report);
    for case in cases(&vectors("ledger/random.json")) {
        ledgers::ledger(formats, case, &mut report);
    }
    let mut files: Vec<_> = std::fs::read_dir(tests.join("vectors/roam/ledger/cases"))
        .expect("the ledger cases can be listed")
        .map(|entry| entry.expect("a ledger case can be listed").path())
        .collect();
    files.sort();
    for file in files {
        ledgers::ledger(formats, &read_json(&file), &mut report);
    }
    report.finish()
}

/// What happened so far.
pub(super) struct Report {
    agreed: usize,
    failures: Vec<String>,
    /// By set and case, the answer expected instead.
    exceptions: BTreeMap<(String, String), String>,
}

impl Report {
    pub(super) fn new(exceptions: &Value) -> Self {
        let entries = exceptions.as_array().expect("the exceptions are a list").iter();
        let exceptions = entries.map(|entry| {
            assert!(!text(entry, "reason").is_empty(), "an exception must have a reason: {entry}");
            ((text(entry, "set").to_owned(), text(entry, "case").to_owned()), text(entry, "answer").to_owned())
        });
        Self { agreed: 0, failures: Vec::new(), exceptions: exceptions.collect() }
    }

    /// A case's answer and what roam-code answers, both in a few words.
    pub(super) fn compare(&mut self, set: &str, case: &str, ours: &str, theirs: &str) {
        let agrees = ours == theirs;
        match self.exceptions.remove(&(set.to_owned(), case.to_owned())) {
            None if agrees => self.agreed += 1,
            None => self.failures.push(format!("{set}: {case}:\n  ours   {ours}\n  theirs {theirs}")),
            Some(_) if agrees => self.failures.push(format!("{set}: {case}: listed as an exception, but agrees")),
            Some(answer) if answer == ours => {}
            Some(answer) => self.failures.push(format!("{set}: {case}:\n  ours     {ours}\n  expected {answer}")),
        }
    }

    pub(super) fn finish(mut self) -> (usize, Vec<String>) {
        let unused = self.exceptions.keys().map(|(set, case)| format!("{set}: {case}: an exception without a case"));
        self.failures.extend(unused);
        (self.agreed, self.failures)
    }
}

fn canonical_values(formats: &impl Formats, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let (name, value) = (text(case, "name"), text(case, "value_json"));
        let object = format!("{{\"v\":{value}}}");
        let fields = format!("{{\"tool_call\":\"t\",\"client_id\":\"c\",\"tool_name\":\"n\",\"extra\":{object}}}");
        report.compare(
            "receipt of a value",
            name,
            &sealed(formats, &fields),
            &format!("{} {}", text(case, "receipt"), text(case, "receipt_sha256")),
        );
        let hash = shown(formats.input_hash(&object));
        report.compare("input hash of a value", name, &hash, text(case, "args_sha256"));
        let event = shown(formats.canonicalize(&object, Spelling::Event));
        let theirs = case["event"].as_str().unwrap_or("unsupported_value");
        report.compare("event of a value", name, &event, theirs);
        if let Ok(canonical) = formats.canonicalize(&object, Spelling::Receipt) {
            let within = text(case, "receipt").contains(&format!("\"extra\":{canonical},"));
            report.compare("canonical value", name, &within.to_string(), "true");
        }
    }
}

fn valid_receipts(formats: &impl Formats, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let theirs = format!("{} {}", text(case, "canonical"), text(case, "content_hash"));
        report.compare("valid receipt", text(case, "name"), &sealed(formats, text(case, "fields_json")), &theirs);
    }
}

fn invalid_receipts(formats: &impl Formats, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let error = &case["error"];
        // Messages of other errors are Python's, not roam-code's.
        let own_message = text(error, "type") == "ValueError";
        let ours = match formats.seal(text(case, "fields_json")) {
            Ok(_) => "accepted".to_owned(),
            Err((code, message)) if own_message => format!("{code} {message}"),
            Err((code, _)) => code,
        };
        let message = if own_message { format!(" {}", text(error, "message")) } else { String::new() };
        report.compare("invalid receipt", text(case, "name"), &ours, &format!("invalid_receipt{message}"));
    }
}

fn input_hashes(formats: &impl Formats, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let ours = shown(formats.input_hash(text(case, "args_json")));
        report.compare("input hash", text(case, "name"), &ours, text(case, "input_hash"));
        let again = shown(formats.input_hash(text(case, "hashed_json")));
        report.compare("input hash of what is hashed", text(case, "name"), &again, text(case, "input_hash"));
    }
}

fn outputs(formats: &impl Formats, vectors: &Value, report: &mut Report) {
    for case in cases(vectors) {
        let mut outcome = text(&case["result"], "base_json").to_owned();
        if let Some(count) = case["result"]["pad_count"].as_u64() {
            let pad = text(&case["result"], "pad_char").repeat(usize::try_from(count).expect("a padding is small"));
            assert_eq!(outcome.pop(), Some('}'), "only objects are padded");
            outcome.push_str(&format!(",\"pad\":\"{pad}\"}}"));
        }
        let ours = match formats.output_of(&outcome) {
            Ok((hash, reference)) => format!("{hash:?} {reference:?}"),
            Err((code, _)) => code,
        };
        let theirs = (case["output_hash"].as_str(), case["output_ref"].as_str());
        report.compare("output", text(case, "name"), &ours, &format!("{:?} {:?}", theirs.0, theirs.1));
        if let Some(size) = case["canonical_bytes"].as_u64() {
            let ours = formats.canonicalize(&outcome, Spelling::Receipt).map_or(0, |canonical| canonical.len());
            report.compare("size of output", text(case, "name"), &ours.to_string(), &size.to_string());
        }
    }
}

fn sealed(formats: &impl Formats, fields: &str) -> String {
    shown(formats.seal(fields).map(|(canonical, hash)| format!("{canonical} {hash}")))
}

/// The answer, or the code of the refusal.
fn shown(answer: Result<String, Refused>) -> String {
    answer.unwrap_or_else(|(code, _)| code)
}

pub(super) fn cases(vectors: &Value) -> &[Value] {
    vectors["cases"].as_array().expect("cases are a list")
}

pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("`{name}` is missing in {value}"))
}

pub(super) fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn an_exception_cannot_go_stale() {
        let listed = |answer: &str| {
            let entry = serde_json::json!({"set": "s", "case": "c", "answer": answer, "reason": "r"});
            Report::new(&serde_json::json!([entry]))
        };
        let failures = |mut report: Report, ours: &str| {
            report.compare("s", "c", ours, "theirs");
            report.finish().1.len()
        };
        assert_eq!(failures(listed("ours"), "ours"), 0);
        assert_eq!(failures(listed("ours"), "another"), 1);
        assert_eq!(failures(listed("ours"), "theirs"), 1);
        assert_eq!(listed("ours").finish().1.len(), 1);
        assert_eq!(failures(Report::new(&serde_json::json!([])), "ours"), 1);
        assert_eq!(failures(Report::new(&serde_json::json!([])), "theirs"), 0);
    }
}
