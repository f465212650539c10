//! `counterfoil redact`: take secrets out of text and JSON.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::globals::Globals;
use super::lines;
use super::policy_file;
use super::status::{self, Status, WrongUse};
use account::Account;

mod account;
mod filter;
mod stream;

/// How the input is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Plain text, cleaned as it arrives
    Text,
    /// One JSON document, cleaned as a whole: strings and keys are decoded for the search
    Json,
    /// JSON where the input is JSON (one document, or one a line), else text
    Auto,
}

/// Take secrets out of text or JSON
///
/// Writes the input with each secret masked; every other byte stays. A short account goes to standard error. Text is
/// cleaned while it arrives, so endless input is fine; only what may still become a secret is held back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tail -F app.log | counterfoil redact
  counterfoil redact --format json --report found.json answer.json > clean.json
  echo '{\"id\": 1, \"input\": {\"key\": \"…\"}}' | counterfoil redact --jsonl")]
pub struct RedactArgs {
    /// The file to clean; standard input without it, or as `-`
    #[arg(value_name = "FILE", conflicts_with = "jsonl")]
    file: Option<PathBuf>,
    /// Answer each JSON line `{"id", "input"}` with one `{"id", "output", "redactions", …}`
    #[arg(long)]
    jsonl: bool,
    /// How to read the input
    #[arg(long, value_enum, default_value = "auto", conflicts_with = "jsonl")]
    format: Format,
    /// Write what was found to this file, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    report: Option<PathBuf>,
    /// What to put in place of a secret; `{id}` stands for the detector [default: [REDACTED:{id}]]
    #[arg(long, value_name = "TEXT")]
    mask: Option<String>,
    /// A configuration: JSON, or the settings of `serve` in a file that ends in `.toml`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Longest line that `--jsonl` takes, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = lines::DEFAULT_LINE_LIMIT)]
    max_line: usize,
    /// No account on standard error
    #[arg(long, short, conflicts_with = "jsonl")]
    quiet: bool,
}

/// Run the command.
pub fn run(args: RedactArgs, globals: &Globals) -> anyhow::Result<Status> {
    let configuration = policy_file::read(args.config.as_deref())?;
    let configuration =
        policy_file::with_member(configuration, "mask", args.mask.clone().map(serde_json::Value::String))?;
    let engine = globals.engine(configuration)?;
    if args.jsonl {
        lines::filter(args.max_line, |line| filter::answer(&engine, line))?;
        return Ok(Status::Fine);
    }
    let input: Box<dyn Read> = match &args.file {
        Some(path) if path.as_path() != Path::new("-") => Box::new(open(path)?),
        _ => Box::new(io::stdin().lock()),
    };
    // The report's file is made first: a report that cannot be written is noticed before anything was printed.
    let report = args.report.as_deref().map(create).transpose()?;
    let account = stream::run(&engine, args.format, input, io::stdout().lock())?;
    finish(&account, &args, report, globals.json())
}

/// Open a file that was named on the command line.
fn open(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).map_err(|error| status::of_input(path, error))?;
    if file.metadata().is_ok_and(|facts| facts.is_dir()) {
        return Err(WrongUse(format!("cannot read `{}`: it is a folder", path.display())).into());
    }
    Ok(file)
}

fn create(path: &Path) -> anyhow::Result<File> {
    File::create(path).with_context(|| format!("cannot write the report `{}`", path.display()))
}

/// Say what was found.
fn finish(account: &Account, args: &RedactArgs, report: Option<File>, json: bool) -> anyhow::Result<Status> {
    if let Some(mut file) = report {
        let mut page = serde_json::to_string_pretty(&account.report())?;
        page.push('\n');
        file.write_all(page.as_bytes()).context("cannot write the report")?;
    }
    if !args.quiet {
        let line = if json { account.report().to_string() } else { account.words() };
        // Nothing can be said about an error stream that is gone.
        let _ = writeln!(io::stderr(), "{line}");
    }
    Ok(Status::Fine)
}
