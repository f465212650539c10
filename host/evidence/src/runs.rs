//! Looking at runs and ending them.

use crate::authority::ChainAuthority;
use crate::clock;
use crate::error::EvidenceError;
use crate::events;
use crate::files::Folder;
use crate::ids::RunId;
use crate::key::LedgerKey;
use crate::meta::{META_FILE, RunMeta, RunStatus};
use crate::recovery::{has_journal, recover_run};
use crate::state::StateDir;
use crate::store::{DiskStore, LOCK_PATIENCE, exclusive};
use crate::verify::{RoamSummary, RoamVerification, Verification};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A run and what it says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Its id: the name of its folder.
    pub id: RunId,
    /// Its `meta.json`.
    pub meta: RunMeta,
}

/// A run in detail.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDetails {
    /// The run.
    pub summary: RunSummary,
    /// Its events in order; lines that are none are left out.
    pub events: Vec<Map<String, Value>>,
    /// Lines that are not blank and no event.
    pub unreadable_lines: u64,
    /// Number of receipts in its folder.
    pub receipts: u64,
}

/// All runs with a readable `meta.json`, newest `started_at` first.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn list(state: &StateDir) -> Result<Vec<RunSummary>, EvidenceError> {
    let Some(runs) = open_runs(state)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for name in runs.names()? {
        let Ok(id) = name.parse::<RunId>() else {
            continue;
        };
        let Ok(folder) = runs.child(&name) else {
            continue;
        };
        if let Some(meta) = RunMeta::read(&folder) {
            found.push(RunSummary { id, meta });
        }
    }
    found.sort_by(|a, b| b.meta.started_at().cmp(a.meta.started_at()).then_with(|| b.id.cmp(&a.id)));
    Ok(found)
}

/// One run in detail.
///
/// # Errors
/// `UnsafeId`, `UnknownRun`, or when its files cannot be read.
pub fn show(state: &StateDir, run: &str) -> Result<RunDetails, EvidenceError> {
    let id: RunId = run.parse()?;
    let (folder, meta) = open_run(state, &id)?;
    let ledger = read_ledger(&folder)?;
    let mut events = Vec::new();
    let mut unreadable_lines = 0;
    for line in events::lines(&ledger) {
        match events::parse(line) {
            Some(event) => events.push(event),
            None => unreadable_lines += 1,
        }
    }
    let receipts = crate::receipts::list(state, Some(&id))?.len() as u64;
    Ok(RunDetails { summary: RunSummary { id, meta }, events, unreadable_lines, receipts })
}

/// Ends a run, also one that has ended before, from outside its writer. What a crash left undone is done first.
///
/// # Errors
/// `UnsafeId`, `UnknownRun`, `StatusRefused`, `LockTimeout`, or when its files cannot be written.
pub fn end(
    state: &StateDir,
    run: &str,
    status: RunStatus,
    authority: &Arc<dyn ChainAuthority>,
) -> Result<RunMeta, EvidenceError> {
    let id: RunId = run.parse()?;
    let (folder, _) = open_run(state, &id)?;
    if has_journal(state, &id)? {
        let key = LedgerKey::load(state)?.require_private()?;
        let store = Arc::new(DiskStore::new(state.clone(), id.clone()));
        recover_run(state, &id, key, store, Arc::clone(authority))?;
    }
    // Only the lock and not a turn: a run of another writer's gets no folder of ours.
    let lock = exclusive(&folder, LOCK_PATIENCE)?;
    let (_, meta) = open_run(state, &id)?;
    let meta = close(meta, &read_ledger(&folder)?, status, &clock::now())?;
    meta.write(&folder)?;
    drop(lock);
    Ok(meta)
}

/// Our own, strict verdict on a run. Writes nothing.
#[must_use]
pub fn verify(state: &StateDir, run: &str, authority: &Arc<dyn ChainAuthority>) -> Verification {
    crate::verify::strict(state, run, authority.as_ref())
}

/// Our own, strict verdicts on all runs with a readable `meta.json`, newest first. Writes nothing.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn verify_all(state: &StateDir, authority: &Arc<dyn ChainAuthority>) -> Result<Vec<Verification>, EvidenceError> {
    Ok(list(state)?.iter().map(|run| verify(state, run.id.as_str(), authority)).collect())
}

/// roam-code's verdict on a run. Writes nothing.
#[must_use]
pub fn verify_as_roam(state: &StateDir, run: &str, authority: &Arc<dyn ChainAuthority>) -> RoamVerification {
    crate::verify::as_roam(state, run, authority.as_ref())
}

/// roam-code's verdicts on all runs with a readable `meta.json`, newest first. Writes nothing.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn verify_all_as_roam(state: &StateDir, authority: &Arc<dyn ChainAuthority>) -> Result<RoamSummary, EvidenceError> {
    let runs = list(state)?.iter().map(|run| verify_as_roam(state, run.id.as_str(), authority)).collect();
    Ok(RoamSummary::of(runs))
}

/// Sets what closing a run sets, by roam-code's rules.
pub(crate) fn close(mut meta: RunMeta, ledger: &[u8], status: RunStatus, now: &str) -> Result<RunMeta, EvidenceError> {
    if status == RunStatus::InProgress {
        return Err(EvidenceError::UnknownStatus);
    }
    let (mut lines, mut events_read, mut failed, mut partial_outputs) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut last = None;
    for line in events::lines(ledger) {
        lines += 1;
        last = events::parse(line);
        let Some(event) = &last else { continue };
        events_read += 1;
        if event.get("partial_success").is_some_and(events::truthy) {
            match events::text(event, "partial_success_kind") {
                Some("output_incomplete") => partial_outputs += 1,
                _ => failed += 1,
            }
        }
    }
    if failed > 0 && !matches!(status, RunStatus::Failed | RunStatus::Abandoned) {
        return Err(EvidenceError::StatusRefused { run: meta.run_id().to_owned() });
    }
    let derived = if failed > 0 { RunStatus::Failed } else { RunStatus::Completed };
    let source = if events_read > 0 && status == derived { "derived" } else { "asserted" };
    meta.set("ended_at", now);
    meta.set("status", status.as_str());
    meta.set("status_source", source);
    meta.set("partial_output_count", partial_outputs);
    meta.set("event_count", lines);
    if let Some(signature) = last.as_ref().and_then(|event| events::text(event, "signature")) {
        meta.set("final_signature", signature);
    }
    Ok(meta)
}

/// The folder of all runs, if it is there.
pub(crate) fn open_runs(state: &StateDir) -> Result<Option<Folder>, EvidenceError> {
    match state.open_if_there()? {
        Some(folder) => folder.child_if_there("runs"),
        None => Ok(None),
    }
}

/// A run's folder and meta.
pub(crate) fn open_run(state: &StateDir, run: &RunId) -> Result<(Folder, RunMeta), EvidenceError> {
    let unknown = || EvidenceError::UnknownRun { run: run.to_string() };
    let runs = open_runs(state)?.ok_or_else(unknown)?;
    let folder = runs.child_if_there(run.as_str())?.ok_or_else(unknown)?;
    if !folder.holds(META_FILE)? {
        return Err(unknown());
    }
    let meta = RunMeta::read(&folder).ok_or_else(unknown)?;
    Ok((folder, meta))
}

/// A run's ledger; empty if there is none.
pub(crate) fn read_ledger(run: &Folder) -> Result<Vec<u8>, EvidenceError> {
    Ok(run.read("events.jsonl", crate::store::LEDGER_MAX)?.unwrap_or_default())
}
