//! Looking at receipts.

use crate::error::EvidenceError;
use crate::events::{self, Link};
use crate::files::{Folder, read_bounded};
use crate::ids::{RunId, receipt_parts};
use crate::runs::{open_runs, read_ledger};
use crate::state::StateDir;
use crate::store::{RECEIPT_MAX, RECEIPTS_FOLDER};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bucket of receipts that belong to no run. Only roam-code writes there.
pub const NO_RUN: &str = "_no_run";

/// A receipt's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSummary {
    /// The run's id, or `_no_run`.
    pub run: String,
    /// Id of the call: the file's name without `.json`.
    pub tool_call: String,
    /// Where the file is.
    pub path: PathBuf,
    /// Its length in bytes.
    pub size: u64,
    /// When it was written, if the system says so.
    pub written: Option<SystemTime>,
}

/// A receipt and its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// Its file.
    pub summary: ReceiptSummary,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// A receipt's file held against itself and the ledger it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReceiptCheck {
    /// SHA-256 of the text without its newlines, lower-case hex: what a ledger says of it.
    pub content_hash: String,
    /// The call that it names.
    pub tool_call: Option<String>,
    /// The run that it names.
    pub run: Option<String>,
    /// Whether the ledger of that run links exactly this content; none if there is no such run here. The signature of the
    /// event is not verified here: that is `runs verify`.
    pub linked: Option<bool>,
    /// What is wrong with it, in words; empty if nothing is.
    pub problems: Vec<String>,
}

/// The receipts of one run, or of all runs and `_no_run`, by run and name.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn list(state: &StateDir, run: Option<&RunId>) -> Result<Vec<ReceiptSummary>, EvidenceError> {
    let Some(all) = open_receipts(state)? else {
        return Ok(Vec::new());
    };
    let buckets = match run {
        Some(run) => vec![run.to_string()],
        None => all.names()?.into_iter().filter(|name| name == NO_RUN || name.parse::<RunId>().is_ok()).collect(),
    };
    let mut found = Vec::new();
    for bucket in buckets {
        if let Some(folder) = all.child_if_there(&bucket)? {
            for name in folder.names()? {
                if let Some(tool_call) = name.strip_suffix(".json").filter(|name| !name.starts_with('.'))
                    && let Ok(Some(file)) = folder.read_handle(&name)
                {
                    found.push(summary(&folder, &bucket, tool_call, &file));
                }
            }
        }
    }
    Ok(found)
}

/// A receipt by the id of its call, wherever it lies. `run/tool_call` names one of a run.
///
/// # Errors
/// `UnsafeId`, `UnknownReceipt`, or when it cannot be read.
pub fn show(state: &StateDir, id: &str) -> Result<Receipt, EvidenceError> {
    let unknown = || EvidenceError::UnknownReceipt { tool_call: id.to_owned() };
    let parts = receipt_parts(id).ok_or(EvidenceError::UnsafeId {
        what: "receipt id",
        rule: "it is the id of a call, or a run id, `/` and the id of a call",
    })?;
    let all = open_receipts(state)?.ok_or_else(unknown)?;
    let (buckets, tool_call) = match parts.as_slice() {
        [tool_call] => (all.names()?, *tool_call),
        [run, tool_call] => (vec![(*run).to_owned()], *tool_call),
        _ => return Err(unknown()),
    };
    for bucket in buckets {
        let Some(folder) = all.child_if_there(&bucket).ok().flatten() else {
            continue;
        };
        let name = format!("{tool_call}.json");
        if let Some(file) = folder.read_handle(&name)? {
            let summary = summary(&folder, &bucket, tool_call, &file);
            let bytes = read_bounded(file, &summary.path, RECEIPT_MAX)?;
            return Ok(Receipt { summary, bytes });
        }
    }
    Err(unknown())
}

/// Checks a receipt's file: is it one, does its name agree, does a ledger in the state folder link it?
///
/// # Errors
/// When the file cannot be read.
pub fn check(state: &StateDir, path: &Path) -> Result<ReceiptCheck, EvidenceError> {
    let file = File::open(path).map_err(|error| EvidenceError::io("open", path, error))?;
    let bytes = read_bounded(file, path, RECEIPT_MAX)?;
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let mut problems = Vec::new();
    if text.len() == bytes.len() {
        problems.push("the file does not end with a newline".to_owned());
    }
    let receipt = events::parse(text).unwrap_or_else(|| {
        problems.push("the file is no JSON object".to_owned());
        Map::new()
    });
    let member = |name| events::text(&receipt, name).map(str::to_owned);
    let (tool_call, run) = (member("tool_call"), member("run_event_id"));
    for name in ["tool_call", "client_id", "tool_name", "policy_decision"] {
        if !receipt.is_empty() && !receipt.get(name).is_some_and(Value::is_string) {
            problems.push(format!("`{name}` is missing or no text"));
        }
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    if tool_call.is_some() && tool_call.as_deref() != stem {
        problems.push("the receipt names another call than its file".to_owned());
    }
    let content_hash = hex::encode(Sha256::digest(text));
    let linked = is_linked(state, run.as_deref(), tool_call.as_deref(), &content_hash)?;
    if linked == Some(false) {
        problems.push("the ledger of its run does not link this content".to_owned());
    }
    Ok(ReceiptCheck { content_hash, tool_call, run, linked, problems })
}

fn is_linked(
    state: &StateDir,
    run: Option<&str>,
    tool_call: Option<&str>,
    hash: &str,
) -> Result<Option<bool>, EvidenceError> {
    let (Some(Ok(run)), Some(tool_call)) = (run.map(str::parse::<RunId>), tool_call) else {
        return Ok(None);
    };
    let Some(runs) = open_runs(state)? else {
        return Ok(None);
    };
    let Some(folder) = runs.child_if_there(run.as_str())? else {
        return Ok(None);
    };
    let ledger = read_ledger(&folder)?;
    let mut links = events::lines(&ledger).filter_map(|line| Link::parse(std::str::from_utf8(line).ok()?));
    Ok(Some(links.any(|link| link.tool_call == tool_call && link.receipt_hash == hash)))
}

fn open_receipts(state: &StateDir) -> Result<Option<Folder>, EvidenceError> {
    match state.open_if_there()? {
        Some(folder) => folder.child_if_there(RECEIPTS_FOLDER),
        None => Ok(None),
    }
}

fn summary(folder: &Folder, run: &str, tool_call: &str, file: &File) -> ReceiptSummary {
    let about = file.metadata().ok();
    ReceiptSummary {
        run: run.to_owned(),
        tool_call: tool_call.to_owned(),
        path: folder.path().join(format!("{tool_call}.json")),
        size: about.as_ref().map_or(0, std::fs::Metadata::len),
        written: about.and_then(|about| about.modified().ok()),
    }
}
