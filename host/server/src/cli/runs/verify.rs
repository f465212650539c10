//! `counterfoil runs verify`.

use clap::{Args, ValueEnum};
use counterfoil_evidence::{RoamVerification, Verification, runs};
use serde::Serialize;
use serde_json::json;

use crate::cli::globals::Globals;
use crate::cli::print::{self, plain};
use crate::cli::status::Status;

/// Verify a run, or all: its chain and every receipt that it links
///
/// Ends with status 0 when everything is as it was written, 5 when something was tampered with, 1 when it cannot be relied
/// on (such as without its key), 2 when there is no such run. With `--compat roam` verdict and status are roam-code's.
/// Verifying writes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil runs verify run_20260511_4cd889
  counterfoil runs verify --all --json
  counterfoil runs verify --all --compat roam")]
pub struct VerifyArgs {
    /// The run's id
    #[arg(value_name = "RUN", required_unless_present = "all", conflicts_with = "all")]
    run: Option<String>,
    /// All runs
    #[arg(long)]
    all: bool,
    /// Whose verdict
    #[arg(long, value_enum, value_name = "WHOSE")]
    compat: Option<Compat>,
}

/// Another program's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compat {
    /// roam-code's, which passes over much that the strict verdict counts
    Roam,
}

/// Run the command.
pub fn run(args: &VerifyArgs, globals: &Globals) -> anyhow::Result<Status> {
    let state = globals.state()?;
    let authority = globals.authority()?;
    match (&args.run, args.compat) {
        (Some(run), None) => {
            let verdict = runs::verify(&state, run, &authority);
            tell(globals, &verdict, || strict_words(&verdict))?;
            Ok(Status::of_exit_code(verdict.exit_code()))
        }
        (Some(run), Some(Compat::Roam)) => {
            let verdict = runs::verify_as_roam(&state, run, &authority);
            tell(globals, &verdict, || roam_words(&verdict))?;
            Ok(Status::of_exit_code(verdict.exit_code()))
        }
        (None, None) => {
            let verdicts = runs::verify_all(&state, &authority)?;
            let worst = worst(&verdicts);
            tell(globals, &json!({"runs_verified": verdicts.len(), "runs": verdicts}), || {
                all_words(verdicts.iter().map(strict_words))
            })?;
            Ok(worst)
        }
        (None, Some(Compat::Roam)) => {
            let summary = runs::verify_all_as_roam(&state, &authority)?;
            tell(globals, &summary, || all_words(summary.runs.iter().map(roam_words)))?;
            Ok(Status::of_exit_code(summary.exit_code()))
        }
    }
}

fn tell(globals: &Globals, verdict: &impl Serialize, words: impl FnOnce() -> String) -> anyhow::Result<()> {
    if globals.json() { print::json(verdict) } else { print::text(&words()) }
}

/// Tampering outweighs doubt, and doubt outweighs what is fine.
fn worst(verdicts: &[Verification]) -> Status {
    let codes: Vec<u8> = verdicts.iter().map(Verification::exit_code).collect();
    let worst = [5, 2, 1].into_iter().find(|code| codes.contains(code));
    Status::of_exit_code(worst.unwrap_or(0))
}

fn strict_words(verdict: &Verification) -> String {
    let mut words = format!(
        "{}  {}  receipts {} ({} verified)  {}\n",
        plain(&verdict.run_id),
        word(&verdict.state),
        word(&verdict.receipt_integrity),
        verdict.receipts_verified,
        plain(&verdict.details)
    );
    for finding in &verdict.findings {
        let seq = finding.seq.map_or_else(String::new, |seq| format!("  seq {seq}"));
        let path = finding.path.as_deref().map_or_else(String::new, |path| format!("  {}", plain(path)));
        words.push_str(&format!(
            "  {}: {}{seq}{path}  {}\n",
            word(&finding.severity),
            finding.code.as_str(),
            plain(&finding.message)
        ));
    }
    words
}

fn roam_words(verdict: &RoamVerification) -> String {
    let details = verdict.details.as_deref().unwrap_or("there is no such run");
    let receipts =
        verdict.receipt_integrity.map_or_else(String::new, |integrity| format!("  receipts {}", word(&integrity)));
    format!("{}  {}{receipts}  {}\n", plain(&verdict.run_id), word(&verdict.state), plain(details))
}

fn all_words(verdicts: impl Iterator<Item = String>) -> String {
    let words: String = verdicts.collect();
    if words.is_empty() { "there are no runs\n".to_owned() } else { words }
}

/// A word of a closed list, as JSON spells it.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
