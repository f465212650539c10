//! `counterfoil runs`: runs and their ledgers.

use clap::{Args, Subcommand, ValueEnum};
use counterfoil_evidence::{Run, RunOptions, RunStatus, runs};
use serde_json::{Map, Value, json};

use super::globals::Globals;
use super::mode;
use super::print::{self, Table};
use super::status::{Status, WrongUse};

mod verify;

/// Start, end, look at and verify runs
///
/// A run is what one agent does from start to end. Its ledger links every receipt of it in a signed chain.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  RUN=$(counterfoil runs start --agent me)
  counterfoil runs end \"$RUN\"
  counterfoil runs verify --all")]
pub struct RunsCommand {
    #[command(subcommand)]
    action: RunsAction,
}

#[derive(Debug, Subcommand)]
enum RunsAction {
    /// Start a run and print its id
    #[command(after_help = "Example:\n  RUN=$(counterfoil runs start --agent me)")]
    Start {
        /// Who runs it
        #[arg(long, value_name = "ID", default_value = "counterfoil")]
        agent: String,
    },
    /// End a run
    #[command(after_help = "Example:\n  counterfoil runs end run_20260511_4cd889 --status failed")]
    End {
        /// The run's id
        #[arg(value_name = "RUN")]
        run: String,
        /// How it ended
        #[arg(long, value_enum, default_value = "completed")]
        status: EndStatus,
    },
    /// List the runs, newest first
    #[command(after_help = "Example:\n  counterfoil runs list --json")]
    List,
    /// Show a run and its events
    #[command(after_help = "Example:\n  counterfoil runs show run_20260511_4cd889")]
    Show {
        /// The run's id
        #[arg(value_name = "RUN")]
        run: String,
    },
    Verify(verify::VerifyArgs),
}

/// How a run may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EndStatus {
    /// Well
    Completed,
    /// Badly
    Failed,
    /// Left behind
    Abandoned,
}

impl From<EndStatus> for RunStatus {
    fn from(status: EndStatus) -> Self {
        match status {
            EndStatus::Completed => Self::Completed,
            EndStatus::Failed => Self::Failed,
            EndStatus::Abandoned => Self::Abandoned,
        }
    }
}

/// Run the command.
pub fn run(command: RunsCommand, globals: &Globals) -> anyhow::Result<Status> {
    match command.action {
        RunsAction::Start { agent } => start(agent, globals)?,
        RunsAction::End { run, status } => end(&run, status.into(), globals)?,
        RunsAction::List => list(globals)?,
        RunsAction::Show { run } => show(&run, globals)?,
        RunsAction::Verify(args) => return verify::run(&args, globals),
    }
    Ok(Status::Fine)
}

fn start(agent: String, globals: &Globals) -> anyhow::Result<()> {
    if agent.trim().is_empty() {
        return Err(WrongUse("`--agent` needs a name that is not empty".to_owned()).into());
    }
    let state = globals.state()?;
    let engine = globals.engine(None)?;
    // As in roam-code a run carries the mode that the folder remembers, and none of another source.
    let sticky = state.active_mode()?.filter(|name| !name.is_empty());
    let mode = sticky.map(|name| engine.parse_mode(&name)).transpose().map_err(mode::unknown)?;
    let options = RunOptions { agent, mode: mode.map(|mode| mode.to_string()), extra: Map::new() };
    let run = Run::start(&state, options, globals.authority()?)?;
    if globals.json() {
        print::json(&json!({"run_id": run.id(), "folder": state.run_path(run.id())}))
    } else {
        print::text(&format!("{}\n", run.id()))
    }
}

fn end(run: &str, status: RunStatus, globals: &Globals) -> anyhow::Result<()> {
    let meta = runs::end(&globals.state()?, run, status, &globals.authority()?)?;
    if globals.json() {
        return print::json(meta.members());
    }
    let events = meta.event_count().unwrap_or_default();
    print::text(&format!("{run} {status} after {events} event{}\n", if events == 1 { "" } else { "s" }))
}

fn list(globals: &Globals) -> anyhow::Result<()> {
    let found = runs::list(&globals.state()?)?;
    if globals.json() {
        let all: Vec<&Map<String, Value>> = found.iter().map(|run| run.meta.members()).collect();
        return print::json(&json!({"runs": all}));
    }
    let mut table = Table::new(&["RUN", "STATUS", "AGENT", "STARTED", "ENDED"]);
    for run in &found {
        let meta = &run.meta;
        table.row([
            run.id.as_str(),
            meta.text("status").unwrap_or("unknown"),
            meta.agent(),
            meta.started_at(),
            meta.ended_at().unwrap_or("-"),
        ]);
    }
    table.print()
}

fn show(run: &str, globals: &Globals) -> anyhow::Result<()> {
    let details = runs::show(&globals.state()?, run)?;
    let meta = &details.summary.meta;
    if globals.json() {
        return print::json(&json!({
            "run_id": details.summary.id,
            "meta": meta.members(),
            "events": details.events,
            "unreadable_lines": details.unreadable_lines,
            "receipts": details.receipts,
        }));
    }
    let mut facts = Table::of_facts();
    for (name, value) in meta.members() {
        facts.row([name.as_str(), &text(Some(value))]);
    }
    facts.row(["events", &details.events.len().to_string()]);
    facts.row(["unreadable lines", &details.unreadable_lines.to_string()]);
    facts.row(["receipts", &details.receipts.to_string()]);
    let mut events = Table::new(&["SEQ", "TIME", "ACTION", "ABOUT"]);
    for event in &details.events {
        let about = event.get("tool_call").or_else(|| event.get("target"));
        events.row([text(event.get("seq")), text(event.get("ts")), text(event.get("action")), text(about)]);
    }
    print::text(&format!("{}\n{}", facts.render(), events.render()))
}

/// A JSON value as a cell.
pub(super) fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
