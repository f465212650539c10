//! `counterfoil receipts`: one JSON object for each call.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use counterfoil_engine::Engine;
use counterfoil_evidence::receipts::{self, ReceiptSummary};
use counterfoil_evidence::{EvidenceError, RunId, StateDir};
use serde_json::{Value, json};

use super::globals::Globals;
use super::lines::{self, Complaint};
use super::print::{self, Table};
use super::runs::text;
use super::status::{self, Status, WrongUse};

mod filters;
mod tail;

/// Look at receipts, check them, and make them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil receipts list
  counterfoil receipts tail --follow --json
  counterfoil receipts check .roam/mcp_receipts/run_20260511_4cd889/get-env_0123456789ab.json")]
pub struct ReceiptsCommand {
    #[command(subcommand)]
    action: ReceiptsAction,
}

#[derive(Debug, Subcommand)]
enum ReceiptsAction {
    /// List receipts
    #[command(after_help = "Example:\n  counterfoil receipts list run_20260511_4cd889 --json")]
    List {
        /// Only those of this run
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Print a receipt
    #[command(after_help = "Example:\n  counterfoil receipts show get-env_0123456789ab")]
    Show {
        /// Id of the call, or RUN/ID
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Check a receipt's file: members, canonical form, and whether its run's ledger links it
    #[command(
        after_help = "Example:\n  counterfoil receipts check receipt.json\n\nStatus 5 when the ledger of its run does not link what the file says, 1 when something else is wrong with it."
    )]
    Check {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print a JSON Schema
    #[command(after_help = "Example:\n  counterfoil receipts schema ledger-event")]
    Schema {
        /// What the schema is of
        #[arg(value_enum, value_name = "NAME", default_value = "receipt")]
        name: SchemaName,
    },
    Tail(tail::TailArgs),
    /// Put a receipt's members in canonical form
    #[command(
        after_help = "Example:\n  echo '{\"tool_call\": \"a_1\", \"client_id\": \"me\", \"tool_name\": \"a\"}' | counterfoil receipts seal --jsonl"
    )]
    Seal(FilterArgs),
    /// Hash a call's arguments
    #[command(after_help = "Example:\n  echo '{\"path\": \"notes.txt\"}' | counterfoil receipts input-hash --jsonl")]
    InputHash(FilterArgs),
    /// Say what a receipt says of a result
    #[command(after_help = "Example:\n  echo '{\"content\": []}' | counterfoil receipts output --jsonl")]
    Output(FilterArgs),
}

/// Options of the filters.
#[derive(Debug, Args)]
struct FilterArgs {
    /// Answer each JSON line with one JSON line. The only way these commands work; for the day there is another
    #[arg(long)]
    jsonl: bool,
    /// Longest line, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = lines::DEFAULT_LINE_LIMIT)]
    max_line: usize,
}

/// What there is a schema of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemaName {
    /// A receipt
    Receipt,
    /// A line of `events.jsonl`
    LedgerEvent,
    /// A run's `meta.json`
    RunMeta,
}

/// Run the command.
pub fn run(command: ReceiptsCommand, globals: &Globals) -> anyhow::Result<Status> {
    match command.action {
        ReceiptsAction::List { run } => list(run.as_deref(), globals)?,
        ReceiptsAction::Show { id } => show(&id, globals)?,
        ReceiptsAction::Check { file } => return check(&file, globals),
        ReceiptsAction::Schema { name } => print::text(schema(name))?,
        ReceiptsAction::Tail(args) => tail::run(&args, globals)?,
        ReceiptsAction::Seal(args) => filter(&args, globals, filters::seal)?,
        ReceiptsAction::InputHash(args) => filter(&args, globals, filters::input_hash)?,
        ReceiptsAction::Output(args) => filter(&args, globals, filters::output)?,
    }
    Ok(Status::Fine)
}

fn filter(
    args: &FilterArgs,
    globals: &Globals,
    answer: fn(&Engine, &str) -> Result<String, Complaint>,
) -> anyhow::Result<()> {
    if !args.jsonl {
        return Err(WrongUse("this command is a filter: give `--jsonl`".to_owned()).into());
    }
    let engine = globals.engine(None)?;
    lines::filter(args.max_line, |line| answer(&engine, line))
}

const fn schema(name: SchemaName) -> &'static str {
    match name {
        SchemaName::Receipt => include_str!("../../../../schemas/receipt.v1.json"),
        SchemaName::LedgerEvent => include_str!("../../../../schemas/ledger-event.v1.json"),
        SchemaName::RunMeta => include_str!("../../../../schemas/run-meta.v1.json"),
    }
}

fn list(run: Option<&str>, globals: &Globals) -> anyhow::Result<()> {
    let state = globals.state()?;
    let found = receipts::list(&state, run.map(|run| known_run(&state, run)).transpose()?.as_ref())?;
    let entries = found.into_iter().map(|summary| Entry::read(&state, summary)).collect::<anyhow::Result<Vec<_>>>()?;
    if globals.json() {
        return print::json(&json!({"receipts": entries.iter().map(Entry::json).collect::<Vec<_>>()}));
    }
    let mut table = Table::new(&Entry::HEADING);
    entries.iter().for_each(|entry| table.row(entry.cells()));
    table.print()
}

/// The id of a run that is there.
fn known_run(state: &StateDir, run: &str) -> anyhow::Result<RunId> {
    let id: RunId = run.parse()?;
    if state.run_path(&id).is_dir() || state.receipts_path(&id).is_dir() {
        Ok(id)
    } else {
        Err(EvidenceError::UnknownRun { run: run.to_owned() }.into())
    }
}

fn show(id: &str, globals: &Globals) -> anyhow::Result<()> {
    let receipt = receipts::show(&globals.state()?, id)?;
    if globals.json() {
        return print::bytes(&receipt.bytes);
    }
    let content: Value = serde_json::from_slice(&receipt.bytes).ok().context("the receipt is not JSON")?;
    let mut table = Table::of_facts();
    for (name, value) in content.as_object().into_iter().flatten() {
        table.row([name.as_str(), &text(Some(value))]);
    }
    table.row(["file", &receipt.summary.path.display().to_string()]);
    table.print()
}

fn check(file: &std::path::Path, globals: &Globals) -> anyhow::Result<Status> {
    let bytes = std::fs::read(file).map_err(|error| status::of_input(file, error))?;
    let mut check = receipts::check(&globals.state()?, file)?;
    match std::str::from_utf8(&bytes) {
        Err(_) => check.problems.push("the file is not UTF-8".to_owned()),
        Ok(content) => match globals.engine(None)?.seal(content) {
            Err(refusal) => check.problems.push(format!("it is no receipt: {refusal}")),
            Ok(sealed) if sealed.canonical != content.strip_suffix('\n').unwrap_or(content) => {
                check.problems.push("it is not in canonical form".to_owned())
            }
            Ok(_) => {}
        },
    }
    if globals.json() {
        print::json(&check)?;
    } else {
        let mut table = Table::of_facts();
        table.row(["content hash", &check.content_hash]);
        table.row(["call", check.tool_call.as_deref().unwrap_or("-")]);
        table.row(["run", check.run.as_deref().unwrap_or("-")]);
        table.row([
            "linked",
            match check.linked {
                Some(true) => "yes",
                Some(false) => "no",
                None => "its run is not here",
            },
        ]);
        check.problems.iter().for_each(|problem| table.row(["problem", problem]));
        table.print()?;
    }
    Ok(match (check.linked, check.problems.is_empty()) {
        (Some(false), _) => Status::Tampered,
        (_, false) => Status::Failed,
        (_, true) => Status::Fine,
    })
}

/// A receipt as lists show it.
struct Entry {
    summary: ReceiptSummary,
    content: Value,
}

impl Entry {
    const HEADING: [&str; 6] = ["RUN", "CALL", "TOOL", "DECISION", "REDACTIONS", "WRITTEN"];

    fn read(state: &StateDir, summary: ReceiptSummary) -> anyhow::Result<Self> {
        let receipt = receipts::show(state, &format!("{}/{}", summary.run, summary.tool_call))?;
        // A file that is no JSON is listed all the same, with nothing to say of it.
        let content = serde_json::from_slice(&receipt.bytes).unwrap_or(Value::Null);
        Ok(Self { summary, content })
    }

    fn json(&self) -> Value {
        json!({
            "run": self.summary.run,
            "tool_call": self.summary.tool_call,
            "file": self.summary.path,
            "written": self.written(),
            "receipt": self.content,
        })
    }

    fn cells(&self) -> [String; 6] {
        let redactions =
            self.content.get("redactions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let redactions: Vec<String> = redactions.iter().map(|reason| text(Some(reason))).collect();
        [
            self.summary.run.clone(),
            self.summary.tool_call.clone(),
            text(self.content.get("tool_name")),
            text(self.content.get("policy_decision")),
            if redactions.is_empty() { "-".to_owned() } else { redactions.join(" ") },
            self.written().unwrap_or_else(|| "-".to_owned()),
        ]
    }

    /// When the file was written, UTC, to the second.
    fn written(&self) -> Option<String> {
        let written = jiff::Timestamp::try_from(self.summary.written?).ok()?;
        Some(written.round(jiff::Unit::Second).unwrap_or(written).to_string())
    }
}
