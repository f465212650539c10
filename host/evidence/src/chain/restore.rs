//! Carrying out what the journal promises.

use super::{Chain, push_line, recovery_event};
use crate::authority::{SignedEvent, Tail};
use crate::clock;
use crate::error::EvidenceError;
use crate::events::{self, Link};
use crate::journal::{self, JournalEntry};
use crate::store::{Put, Turn};
use std::collections::HashSet;

/// What was made good.
#[derive(Debug, Default)]
pub struct Restored {
    /// Receipts that were not there or incomplete.
    pub receipts: u64,
    /// Receipts that say something else than was promised. They are left as they are: verification names them.
    pub receipts_differing: u64,
    /// Ledger lines appended: id of the call, the signature it was promised with, the event as it stands there now.
    pub lines: Vec<(String, String, SignedEvent)>,
    /// Whether a line of ours that was cut in half was completed.
    pub line_completed: bool,
    /// Whether a broken line of another writer was passed over; an event in the ledger says so.
    pub line_passed_over: bool,
    /// Lines in the journal that are no promise of ours: cut by the crash, or forged.
    pub rejected: u64,
    /// Whether the ledger was changed.
    pub changed_ledger: bool,
}

impl Restored {
    /// Whether there was anything to do.
    pub const fn is_empty(&self) -> bool {
        self.receipts == 0 && self.receipts_differing == 0 && self.rejected == 0 && !self.changed_ledger
    }
}

impl Chain {
    /// Carries out what stands in a piece of the journal and is not yet done. `ledger` is every line written since that
    /// piece was begun, or more; `tail` is where the whole ledger ends.
    pub fn restore(
        &mut self,
        turn: &mut dyn Turn,
        journal: &[u8],
        ledger: &[u8],
        mut tail: Tail,
    ) -> Result<Restored, EvidenceError> {
        let mut restored = Restored::default();
        let promised = self.authentic(journal, &mut restored)?;
        for entry in &promised {
            restore_receipt(turn, entry, &mut restored)?;
        }
        let linked: HashSet<(String, String)> = events::lines(ledger)
            .filter_map(|line| std::str::from_utf8(line).ok().and_then(Link::parse))
            .map(|link| (link.tool_call, link.receipt_hash))
            .collect();
        let mut seen = HashSet::new();
        let mut missing: Vec<&JournalEntry> = promised
            .iter()
            .filter(|entry| {
                let link = Link::parse(&entry.line).map(|link| (link.tool_call, link.receipt_hash));
                link.is_some_and(|link| !linked.contains(&link) && seen.insert(link))
            })
            .collect();

        let cut = ledger.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        if !cut.is_empty()
            && let Some(first) = missing.first()
            && let Some(rest) = first.line.as_bytes().strip_prefix(cut)
        {
            let mut end = rest.to_vec();
            end.push(b'\n');
            turn.append_ledger(&end)?;
            tail = self.authority.read_tail(&turn.read_ledger(0)?)?;
            restored.line_completed = true;
            restored.changed_ledger = true;
            missing.remove(0);
        }
        if !missing.is_empty() {
            self.append_missing(turn, &missing, ledger, &tail, &mut restored)?;
        }
        if !restored.is_empty() {
            report(&self.run, &restored);
        }
        Ok(restored)
    }

    fn append_missing(
        &self,
        turn: &mut dyn Turn,
        missing: &[&JournalEntry],
        ledger: &[u8],
        tail: &Tail,
        restored: &mut Restored,
    ) -> Result<(), EvidenceError> {
        let mut texts = Vec::new();
        if !tail.sound {
            let broken = events::lines(ledger).last().unwrap_or_default();
            texts.push(recovery_event(broken, &clock::now()));
            restored.line_passed_over = true;
        }
        let passed_over = texts.len();
        texts.extend(missing.iter().map(|entry| entry.line.clone()));
        // Signed anew: behind the same line that gives the same bytes, behind another one it keeps the chain whole.
        let signed = self.sign(tail, &texts)?;
        let mut lines = if tail.complete { Vec::new() } else { vec![b'\n'] };
        for event in &signed {
            push_line(&mut lines, &event.line);
        }
        turn.append_ledger(&lines)?;
        restored.changed_ledger = true;
        for (entry, event) in missing.iter().zip(signed.into_iter().skip(passed_over)) {
            let promised = events::parse(entry.line.as_bytes());
            let promised = promised.as_ref().and_then(|event| events::text(event, "signature")).unwrap_or_default();
            restored.lines.push((entry.tool_call.clone(), promised.to_owned(), event));
        }
        Ok(())
    }

    fn authentic(&self, journal: &[u8], restored: &mut Restored) -> Result<Vec<JournalEntry>, EvidenceError> {
        let (entries, broken) = journal::parse(journal);
        restored.rejected = broken as u64;
        let mut authentic = Vec::with_capacity(entries.len());
        for entry in entries {
            if entry.is_authentic(self.authority.as_ref(), self.key.bytes())? {
                authentic.push(entry);
            } else {
                restored.rejected += 1;
            }
        }
        Ok(authentic)
    }
}

fn restore_receipt(turn: &mut dyn Turn, entry: &JournalEntry, restored: &mut Restored) -> Result<(), EvidenceError> {
    let file = entry.receipt_file();
    match turn.read_receipt(&entry.tool_call)? {
        Some(there) if there == file => {}
        None => {
            if turn.put_receipt(&entry.tool_call, &file)? == Put::Created {
                restored.receipts += 1;
            }
        }
        // What a power cut leaves of a file: its beginning, or nothing but zeros.
        Some(there) if file.starts_with(&there) || there.iter().all(|byte| *byte == 0) => {
            turn.replace_receipt(&entry.tool_call, &file)?;
            restored.receipts += 1;
        }
        Some(_) => restored.receipts_differing += 1,
    }
    Ok(())
}

fn report(run: &crate::RunId, restored: &Restored) {
    tracing::warn!(
        run = %run,
        receipts = restored.receipts,
        receipts_differing = restored.receipts_differing,
        lines = restored.lines.len(),
        line_completed = restored.line_completed,
        line_passed_over = restored.line_passed_over,
        rejected = restored.rejected,
        "made good what the journal promises",
    );
}
