//! What was said elsewhere about a ledger against what it holds.

use super::finding::{Finding, FindingCode};
use crate::events;
use crate::ids::RunId;
use crate::journal;
use crate::meta::RunMeta;
use crate::store::{JOURNAL_FILE, OWN_FOLDER};
use std::collections::HashSet;

/// What the run said when it was ended.
pub fn compare_with_meta(run: &RunId, meta: &RunMeta, ledger: &[u8], findings: &mut Vec<Finding>) {
    if meta.is_open() {
        return;
    }
    let found = |code, message: String| Finding::new(code, message).on(format!("runs/{run}/meta.json"));
    let Some(count) = meta.event_count() else {
        let message = "the ended run does not say how many events it had".to_owned();
        findings.push(found(FindingCode::MetaIncomplete, message));
        return;
    };
    let there = events::lines(ledger).count() as u64;
    if there < count {
        let message = format!("the run had {count} events when it was ended, now there are {there}");
        findings.push(found(FindingCode::LedgerCut, message).at(there + 1));
        return;
    }
    let last = usize::try_from(count).ok().and_then(|count| count.checked_sub(1));
    let last = last.and_then(|index| events::lines(ledger).nth(index)).and_then(events::parse);
    let signature = last.as_ref().and_then(|event| events::text(event, "signature"));
    if signature != meta.final_signature() {
        let message = format!("event {count} has another signature than the run's last one had when it was ended");
        findings.push(found(FindingCode::FinalSignature, message).at(count));
    } else if there > count {
        let message = format!("{} events were added after the run was ended", there - count);
        findings.push(found(FindingCode::AppendedAfterEnd, message).at(count + 1));
    }
}

/// The calls that a journal names.
pub fn calls(journal: &[u8]) -> HashSet<String> {
    journal::parse(journal).0.into_iter().map(|entry| entry.tool_call).collect()
}

/// What the journal promises against what is there.
pub fn compare_with_journal(run: &RunId, promised: &HashSet<String>, ledger: &[u8], findings: &mut Vec<Finding>) {
    if promised.is_empty() {
        return;
    }
    let linked: HashSet<String> = events::lines(ledger)
        .filter_map(|line| std::str::from_utf8(line).ok().and_then(events::Link::parse))
        .map(|link| link.tool_call)
        .collect();
    let ahead = promised.difference(&linked).count();
    if ahead > 0 {
        let message = format!(
            "the journal promises {ahead} events that the ledger does not hold: a crash that was not yet recovered, or a ledger that was cut"
        );
        let path = format!("{OWN_FOLDER}/{run}/{JOURNAL_FILE}");
        findings.push(Finding::new(FindingCode::JournalAhead, message).on(path));
    }
}
