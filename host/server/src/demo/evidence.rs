//! What the tour wrote: shown, searched, verified, and changed in a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use counterfoil_engine::Engine;
use counterfoil_evidence::receipts::{self, Receipt};
use counterfoil_evidence::{ChainAuthority, StateDir, runs};
use serde_json::Value;

use super::Tour;
use super::upstream::{DELETE_RECORDS, READ_SETTINGS, READ_TICKET};
use crate::authority::ComponentAuthority;

/// What only the receipt of the denied call says.
const DENIES: &[u8] = b"\"deny\"";

/// Show the receipts, and check that each call has the one it should have.
pub fn show(tour: &mut Tour<'_>, state: &StateDir) -> anyhow::Result<Vec<Receipt>> {
    tour.step("The receipts")?;
    let mut found = Vec::new();
    let mut said = Vec::new();
    let mut summaries = receipts::list(state, None)?;
    summaries.sort_by_key(|summary| summary.written);
    for summary in summaries {
        let receipt = receipts::show(state, &format!("{}/{}", summary.run, summary.tool_call))?;
        let content: Value = serde_json::from_slice(&receipt.bytes).context("a receipt is not JSON")?;
        let word = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let reasons = content.get("redactions").cloned().unwrap_or_default().to_string();
        tour.note(&format!("{:<15} {:<20} {reasons}", word("tool_name"), word("policy_decision")))?;
        said.push((word("tool_name"), word("policy_decision"), reasons));
        found.push(receipt);
    }
    let has = |tool: &str, decision: &str, reason: &str| {
        said.iter().any(|(name, verdict, reasons)| name == tool && verdict == decision && reasons.contains(reason))
    };
    tour.check(said.len() == 4, "there are four, one for each call")?;
    tour.check(has(READ_SETTINGS, "allow", "\"secret\""), "the allowed call's says that a secret was masked")?;
    tour.check(has(READ_TICKET, "allow", "\"prompt_injection_marker\""), "the ticket's says that it held a mark")?;
    tour.check(has(DELETE_RECORDS, "deny", ""), "the denied call's says deny")?;
    tour.check(has(DELETE_RECORDS, "would_deny_dry_run", ""), "the dry run's says would_deny_dry_run, not allow")?;
    Ok(found)
}

/// The token must be in no file.
pub fn search(tour: &mut Tour<'_>, state: &StateDir, token: &str) -> anyhow::Result<()> {
    let files = files_below(state.path())?;
    let mut clean = true;
    for file in &files {
        let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        clean &= !bytes.windows(token.len()).any(|window| window == token.as_bytes());
    }
    tour.check(
        clean && !files.is_empty(),
        &format!("the token is in none of the {} files that were written", files.len()),
    )
}

/// Both runs must verify.
pub fn verify(tour: &mut Tour<'_>, state: &StateDir, engine: &Engine) -> anyhow::Result<()> {
    tour.step("Verifying the runs")?;
    let authority: Arc<dyn ChainAuthority> = Arc::new(ComponentAuthority::new(engine.clone()));
    let verdicts = runs::verify_all(state, &authority)?;
    for verdict in &verdicts {
        tour.note(&format!("{}: {}", verdict.run_id, verdict.details))?;
    }
    tour.check(
        verdicts.len() == 2 && verdicts.iter().all(|verdict| verdict.exit_code() == 0),
        "both runs are as they were written",
    )?;
    let as_roam = runs::verify_all_as_roam(state, &authority)?;
    tour.check(as_roam.runs_ok == 2, "roam-code's rules give the same verdict")
}

/// Change one byte of a receipt in a copy: verification must name that receipt and nothing of the original.
pub fn tamper(tour: &mut Tour<'_>, state: &StateDir, engine: &Engine, receipts: &[Receipt]) -> anyhow::Result<()> {
    tour.step("One byte changed in a copy")?;
    let copy = state.path().with_file_name(".roam-changed");
    copy_folder(state.path(), &copy)?;
    let denies = |receipt: &&Receipt| receipt.bytes.windows(DENIES.len()).any(|window| window == DENIES);
    let victim = receipts.iter().find(denies).context("there is no receipt of the denied call to change")?;
    let place = victim.summary.path.strip_prefix(state.path()).context("a receipt lies outside the state folder")?;
    let changed = change_one_byte(&copy.join(place), DENIES, b"\"Deny\"")?;
    tour.note(&format!("{}: {changed}", place.display()))?;

    let authority: Arc<dyn ChainAuthority> = Arc::new(ComponentAuthority::new(engine.clone()));
    let verdict = runs::verify(&StateDir::at(copy), &victim.summary.run, &authority);
    let named =
        verdict.findings.iter().find(|finding| finding.path.as_deref().is_some_and(|path| Path::new(path) == place));
    if let Some(finding) = named {
        tour.note(&format!("{}: {}", finding.code.as_str(), finding.message))?;
    }
    tour.check(verdict.exit_code() == 5, "the copy does not verify: tampering (status 5)")?;
    tour.check(named.is_some(), "and the verdict names the receipt")?;
    let original = runs::verify(state, &victim.summary.run, &authority);
    tour.check(original.exit_code() == 0, "the original still verifies")
}

/// Put `new` in place of the first `old` in a file; both differ in one byte. Says what was done.
fn change_one_byte(file: &Path, old: &[u8], new: &[u8]) -> anyhow::Result<String> {
    let mut bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let place =
        bytes.windows(old.len()).position(|window| window == old).context("the receipt does not say what it should")?;
    let target = bytes.get_mut(place..place.saturating_add(new.len())).context("the receipt ends too early")?;
    target.copy_from_slice(new);
    fs::write(file, &bytes).with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(format!("{} became {}", String::from_utf8_lossy(old), String::from_utf8_lossy(new)))
}

fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot look into `{}`", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    Ok(files)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    for file in files_below(from)? {
        let target = to.join(file.strip_prefix(from)?);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        }
        fs::copy(&file, &target).with_context(|| format!("cannot copy `{}`", file.display()))?;
    }
    Ok(())
}
