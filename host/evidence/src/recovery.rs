//! Recovery after a crash: whatever was acknowledged is there again, and no chain forks.

use crate::authority::{ChainAuthority, Tail};
use crate::chain::Chain;
use crate::clock;
use crate::error::EvidenceError;
use crate::events;
use crate::files::Folder;
use crate::ids::RunId;
use crate::key::{LedgerKey, path_in};
use crate::meta::RunStatus;
use crate::presence::Absence;
use crate::runs::{close, open_run, read_ledger};
use crate::state::StateDir;
use crate::store::{DiskStore, JOURNAL_FILE, LOCK_PATIENCE, OWN_FOLDER, Store, exclusive};
use serde::Serialize;
use std::sync::Arc;

/// What recovering one run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// The run.
    pub run: RunId,
    /// Receipts that were put back.
    pub receipts_restored: u64,
    /// Receipts that say something else than was recorded. They are left for verification to name.
    pub receipts_differing: u64,
    /// Ledger lines that were put back.
    pub lines_restored: u64,
    /// Whether a ledger line of ours that was cut in half was completed.
    pub line_completed: bool,
    /// Whether a broken line of another writer was passed over; a signed event `counterfoil_recovery` says so.
    pub line_passed_over: bool,
    /// Lines of the journal that were no promise of ours: cut by the crash before anything was acknowledged, or forged.
    pub rejected: u64,
}

/// One run and how recovering it ended.
#[derive(Debug, Clone)]
pub struct RunRecovery {
    /// The run.
    pub run: RunId,
    /// What was done, or why it could not be.
    pub outcome: Result<Recovered, EvidenceError>,
}

/// Recovers every run that has a journal which is not empty. A run that another process is writing to is waited for and
/// left as it is. Runs without anything to make good are not in the answer.
///
/// # Errors
/// When the state folder or the key cannot be used. What goes wrong with one run is logged, stands in the answer, and does
/// not keep the others from being recovered.
pub fn recover(state: &StateDir, authority: &Arc<dyn ChainAuthority>) -> Result<Vec<RunRecovery>, EvidenceError> {
    let Some(own) = open_own(state)? else {
        return Ok(Vec::new());
    };
    let mut outcomes = Vec::new();
    let mut key = None;
    for run in own.names()?.iter().filter_map(|name| name.parse::<RunId>().ok()) {
        if !has_journal(state, &run)? {
            continue;
        }
        let key = match &key {
            Some(key) => key,
            None => key.insert(LedgerKey::load(state)?.require_private()?),
        };
        let store: Arc<dyn Store> = Arc::new(DiskStore::new(state.clone(), run.clone()));
        match recover_run(state, &run, key.clone(), store, Arc::clone(authority)) {
            Ok(None) => {}
            Ok(Some(recovered)) => outcomes.push(RunRecovery { run, outcome: Ok(recovered) }),
            Err(error) => {
                tracing::error!(run = %run, code = error.code(), "the run could not be recovered: {error}");
                outcomes.push(RunRecovery { run, outcome: Err(error) });
            }
        }
    }
    Ok(outcomes)
}

/// Ends, as abandoned, every run of ours that is still open although its writer was killed or could not end it. Gives the ones
/// that were ended.
///
/// To be called after [`recover`]. A run stays as it is when a writer lives, when its last one stopped in order and left it
/// open for others, when nobody can tell (roam-code puts up no sign of a writer), or when its journal could not be carried out.
///
/// # Errors
/// When the state folder cannot be read. What goes wrong with one run is logged and does not keep the others from being ended.
pub fn end_abandoned(state: &StateDir) -> Result<Vec<RunId>, EvidenceError> {
    let Some(own) = open_own(state)? else {
        return Ok(Vec::new());
    };
    let mut ended = Vec::new();
    for run in own.names()?.iter().filter_map(|name| name.parse::<RunId>().ok()) {
        match abandon(state, &own, &run) {
            Ok(true) => ended.push(run),
            Ok(false) | Err(EvidenceError::UnknownRun { .. }) => {}
            Err(error) => {
                tracing::error!(run = %run, code = error.code(), "the abandoned run could not be ended: {error}");
            }
        }
    }
    Ok(ended)
}

fn abandon(state: &StateDir, own: &Folder, run: &RunId) -> Result<bool, EvidenceError> {
    let Some(absence) = Absence::prove(own, run)? else {
        return Ok(false);
    };
    let (folder, meta) = open_run(state, run)?;
    if !meta.is_open() {
        // Ended from outside.
        absence.settle();
        return Ok(false);
    }
    let lock = exclusive(&folder, LOCK_PATIENCE)?;
    // Read again: it may have been ended from outside, or written to by another program, until now.
    let (folder, meta) = open_run(state, run)?;
    if !meta.is_open() || has_journal(state, run)? {
        return Ok(false);
    }
    close(meta, &read_ledger(&folder)?, RunStatus::Abandoned, &clock::now())?.write(&folder)?;
    drop(lock);
    absence.settle();
    Ok(true)
}

/// The folder that holds the journals, if there is one.
fn open_own(state: &StateDir) -> Result<Option<Folder>, EvidenceError> {
    match state.open_if_there()? {
        Some(folder) => folder.child_if_there(OWN_FOLDER),
        None => Ok(None),
    }
}

/// Whether a run has a journal that is not empty.
pub(crate) fn has_journal(state: &StateDir, run: &RunId) -> Result<bool, EvidenceError> {
    let Some(own) = open_own(state)? else {
        return Ok(false);
    };
    let Some(folder) = own.child_if_there(run.as_str())? else {
        return Ok(false);
    };
    let journal = folder.read_handle(JOURNAL_FILE)?;
    Ok(journal.is_some_and(|journal| journal.metadata().is_ok_and(|about| about.len() > 0)))
}

/// Recovers one run behind a store. None if there was nothing to make good.
///
/// # Errors
/// When the run or its evidence cannot be reached. `KeyChanged` when the ledger begins with a signature of another key: by this
/// one every promise would look forged, and be dropped.
pub fn recover_run(
    state: &StateDir,
    run: &RunId,
    key: LedgerKey,
    store: Arc<dyn Store>,
    authority: Arc<dyn ChainAuthority>,
) -> Result<Option<Recovered>, EvidenceError> {
    let check = Arc::clone(&authority);
    let held = key.clone();
    let mut chain = Chain::new(run.clone(), state.clone(), key, Arc::clone(&store), authority);
    let mut turn = store.turn()?;
    if is_of_another_key(check.as_ref(), &held, &turn.read_ledger(0)?) {
        return Err(EvidenceError::KeyChanged { path: path_in(state) });
    }
    let (_, restored) = chain.catch_up(turn.as_mut())?;
    turn.settle()?;
    Ok((!restored.is_empty()).then(|| Recovered {
        run: run.clone(),
        receipts_restored: restored.receipts,
        receipts_differing: restored.receipts_differing,
        lines_restored: restored.lines.len() as u64,
        line_completed: restored.line_completed,
        line_passed_over: restored.line_passed_over,
        rejected: restored.rejected,
    }))
}

/// Whether the first line of a ledger carries a signature that the key does not give.
fn is_of_another_key(authority: &dyn ChainAuthority, key: &LedgerKey, ledger: &[u8]) -> bool {
    let Some(first) = events::lines(ledger).next() else {
        return false;
    };
    let event = events::parse(first);
    let Some(stored) = event.as_ref().and_then(|event| events::text(event, "signature")) else {
        return false;
    };
    let before = Tail { lines: 0, signature: None, complete: true, sound: true };
    let text = String::from_utf8_lossy(first).into_owned();
    match authority.sign(key.bytes(), &before, &[text]).as_deref() {
        Ok([signed]) => signed.signature != stored,
        _ => false,
    }
}
