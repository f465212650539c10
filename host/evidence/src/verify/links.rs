//! Receipts against the events that link them.

use super::finding::{Finding, FindingCode};
use super::material::{Found, Receipts};
use crate::authority::ReceiptIntegrity;
use crate::events::{self, RECEIPT_ACTION};
use crate::ids::RunId;
use crate::state::StateDir;
use crate::store::RECEIPTS_FOLDER;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The verdict on the receipts.
pub struct Links {
    /// In one word.
    pub integrity: ReceiptIntegrity,
    /// Receipts whose content is what an event says.
    pub verified: u64,
}

/// Checks every link and everything in the run's receipt folder. `promised` are the calls that the journal names, if the run
/// is ours.
pub fn check(
    state: &StateDir,
    run: &RunId,
    ledger: &[u8],
    promised: Option<&HashSet<String>>,
    findings: &mut Vec<Finding>,
) -> Links {
    let receipts = match Receipts::open(state, run) {
        Ok(receipts) => receipts,
        Err(error) => {
            findings.push(Finding::new(FindingCode::Unreadable, error.to_string()));
            return Links { integrity: ReceiptIntegrity::Missing, verified: 0 };
        }
    };
    let mut checker = Checker { run, receipts, linked: HashSet::new(), verified: 0, findings: Vec::new() };
    for (place, line) in (1_u64..).zip(events::lines(ledger)) {
        if let Some(event) = events::parse(line)
            && events::text(&event, "action") == Some(RECEIPT_ACTION)
        {
            checker.check_link(&event, place);
        }
    }
    let unlinked = checker.check_folder(promised);
    let integrity = checker.integrity(unlinked);
    findings.append(&mut checker.findings);
    Links { integrity, verified: checker.verified }
}

struct Checker<'a> {
    run: &'a RunId,
    receipts: Receipts,
    linked: HashSet<String>,
    verified: u64,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn check_link(&mut self, event: &Map<String, Value>, place: u64) {
        let hash = events::text(event, "receipt_hash").filter(|hash| is_digest(hash));
        let (Some(tool_call), Some(hash)) = (events::text(event, "tool_call"), hash) else {
            let message = "the event links a receipt without a name or without a SHA-256";
            self.findings.push(Finding::new(FindingCode::LinkIncomplete, message).at(place));
            // The receipt it may mean is not reported as unlinked, too.
            self.linked.extend(events::text(event, "tool_call").map(str::to_owned));
            return;
        };
        if !self.linked.insert(tool_call.to_owned()) {
            self.findings.push(Finding::new(FindingCode::LinkedTwice, "the receipt is linked twice").at(place));
        }
        let path = self.path(tool_call);
        let found = |code, message: &str| Finding::new(code, message).at(place);
        match self.receipts.read(tool_call) {
            Found::Unsafe => {
                let message = "the receipt's name leads out of the run's folder; it was not followed";
                self.findings.push(found(FindingCode::UnsafeToolCall, message));
            }
            Found::Missing => {
                self.findings.push(found(FindingCode::ReceiptMissing, "the linked receipt is not there").on(path));
            }
            Found::Unreadable(why) => {
                self.findings.push(found(FindingCode::ReceiptUnreadable, &why).on(path));
            }
            Found::Bytes(bytes) => {
                let text = trim_newlines(&bytes);
                if hex::encode(Sha256::digest(text)) != hash {
                    let message = "the receipt was changed: its SHA-256 is not the one that was signed";
                    self.findings.push(found(FindingCode::ReceiptTampered, message).on(path));
                    return;
                }
                self.verified += 1;
                if bytes.len() != text.len() + 1 {
                    let message = "the receipt's file does not end with exactly one newline, as it was written";
                    self.findings.push(found(FindingCode::ReceiptNewlines, message).on(path.clone()));
                }
                if let Some(message) = self.disagreement(text, tool_call, event) {
                    self.findings.push(found(FindingCode::ReceiptDisagrees, message).on(path));
                }
            }
        }
    }

    /// What a receipt says against the place where it was found.
    fn disagreement(&self, receipt: &[u8], tool_call: &str, event: &Map<String, Value>) -> Option<&'static str> {
        let Some(receipt) = events::parse(receipt) else {
            return Some("the receipt is no JSON object");
        };
        if events::text(&receipt, "tool_call") != Some(tool_call) {
            return Some("the receipt names another call than its file and its event");
        }
        if receipt.get("tool_name") != event.get("tool_name") {
            return Some("the receipt names another tool than its event");
        }
        if events::text(&receipt, "run_event_id") != Some(self.run.as_str()) {
            return Some("the receipt names another run");
        }
        None
    }

    /// Looks for what no event links. Whether there is any.
    fn check_folder(&mut self, promised: Option<&HashSet<String>>) -> bool {
        let names = match self.receipts.names() {
            Ok(names) => names,
            Err(error) => {
                self.findings.push(Finding::new(FindingCode::Unreadable, error.to_string()));
                return false;
            }
        };
        let mut unlinked = false;
        for name in names {
            let path = format!("{RECEIPTS_FOLDER}/{}/{name}", self.run);
            match name.strip_suffix(".json") {
                Some(tool_call) if self.linked.contains(tool_call) => {}
                Some(tool_call) => {
                    unlinked = true;
                    let (code, message) = match promised {
                        // A crash between receipt and event looks like this until it is recovered.
                        Some(promised) if promised.contains(tool_call) => {
                            (FindingCode::ReceiptUnlinked, "no event links the receipt, but the journal promises one")
                        }
                        Some(_) => (
                            FindingCode::ReceiptLinkLost,
                            "no event links the receipt; its event was taken out of the ledger, or the receipt was put there",
                        ),
                        None => (
                            FindingCode::ReceiptUnlinked,
                            "no event links the receipt, so nothing says that it is genuine",
                        ),
                    };
                    self.findings.push(Finding::new(code, message).on(path));
                }
                None => self.findings.push(Finding::new(FindingCode::StrayFile, "not a receipt").on(path)),
            }
        }
        unlinked
    }

    fn integrity(&self, unlinked: bool) -> ReceiptIntegrity {
        let any = |codes: &[FindingCode]| self.findings.iter().any(|found| codes.contains(&found.code));
        let changed = [
            FindingCode::ReceiptTampered,
            FindingCode::ReceiptNewlines,
            FindingCode::ReceiptDisagrees,
            FindingCode::LinkIncomplete,
        ];
        let gone = [FindingCode::ReceiptMissing, FindingCode::ReceiptUnreadable, FindingCode::UnsafeToolCall];
        if any(&changed) {
            ReceiptIntegrity::Tampered
        } else if any(&gone) {
            ReceiptIntegrity::Missing
        } else if unlinked || self.linked.is_empty() {
            ReceiptIntegrity::NotLinked
        } else {
            ReceiptIntegrity::Ok
        }
    }

    fn path(&self, tool_call: &str) -> String {
        format!("{RECEIPTS_FOLDER}/{}/{tool_call}.json", self.run)
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn trim_newlines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}
