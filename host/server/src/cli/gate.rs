//! `counterfoil gate`: may this mode run this tool?

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use counterfoil_engine::types::{Call, Decision, Effects, Judgement};
use serde_json::json;

use super::globals::Globals;
use super::lines;
use super::mode::{ModeArgs, mode_in_force};
use super::policy_file;
use super::print::{self, Table};
use super::status::{Status, WrongUse};

mod filter;

/// Rules to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preset {
    /// What the tool declares about itself, and nothing else
    None,
    /// roam-code's allow-lists and tool names
    Roam,
}

/// Judge a tool call without making it
///
/// Prints the judgement and ends with status 0 when the call may run, 6 when it may not. Under `--dry-run` the judgement
/// stays the same; it only says that a denial is not enforced, and the status is 0.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil gate --tool delete_file --read-only=false --destructive --mode safe_edit
  counterfoil gate --preset roam --tool roam_mutate --read-only=false --mode read_only
  echo '{\"tool\": \"read_file\", \"mode\": \"read_only\"}' | counterfoil gate --jsonl")]
pub struct GateArgs {
    /// Judge each JSON line `{"tool", "read_only", "destructive", "idempotent", "mode", "dry_run"?, "command"?}`; a line
    /// without a mode takes `--mode`, and nothing else stands in for it
    #[arg(long, conflicts_with = "tool")]
    jsonl: bool,
    /// Name of the tool
    #[arg(long, value_name = "NAME", required_unless_present = "jsonl")]
    tool: Option<String>,
    #[command(flatten)]
    mode: ModeArgs,
    /// The tool only reads
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = ArgAction::Set)]
    read_only: bool,
    /// The tool may destroy or overwrite
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = ArgAction::Set)]
    destructive: bool,
    /// A second identical call changes nothing more
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = ArgAction::Set)]
    idempotent: bool,
    /// Name for the allow-lists, where it is not the tool's
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// Denials are only recorded, not enforced
    #[arg(long)]
    dry_run: bool,
    /// Rules to start from [default: what the configuration says]
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// A configuration: JSON, or the settings of `serve` in a file that ends in `.toml`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Longest line that `--jsonl` takes, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = lines::DEFAULT_LINE_LIMIT)]
    max_line: usize,
}

/// Run the command.
pub fn run(args: GateArgs, globals: &Globals) -> anyhow::Result<Status> {
    let preset = args.preset.map(|preset| match preset {
        Preset::None => "none".into(),
        Preset::Roam => "roam".into(),
    });
    let configuration = policy_file::with_member(policy_file::read(args.config.as_deref())?, "preset", preset)?;
    let engine = globals.engine(configuration)?;
    if args.jsonl {
        // A mode that stands on the command line is for the lines without one; what is set elsewhere never stands in.
        let mode =
            args.mode.explicit().map(|mode| engine.parse_mode(mode)).transpose().map_err(super::mode::unknown)?;
        lines::filter(args.max_line, |line| filter::answer(&engine, mode, args.dry_run, line))?;
        return Ok(Status::Fine);
    }
    let mode = mode_in_force(&engine, &args.mode, None, &globals.state()?)?.mode;
    let call = Call {
        tool: args.tool.unwrap_or_default(),
        command: args.command,
        effects: Effects { read_only: args.read_only, destructive: args.destructive, idempotent: args.idempotent },
        mode,
        dry_run: args.dry_run,
    };
    if call.tool.is_empty() {
        return Err(WrongUse("`--tool` needs a name that is not empty".to_owned()).into());
    }
    let judgement = engine.decide(&call)?;
    if globals.json() {
        print::json(&members(&judgement))?
    } else {
        table(&judgement).print()?
    }
    let enforced = judgement.decision == Decision::Deny && !call.dry_run;
    Ok(if enforced { Status::Refused } else { Status::Fine })
}

/// A judgement as JSON.
fn members(judgement: &Judgement) -> serde_json::Value {
    json!({
        "decision": judgement.decision.as_str(),
        "enforcement": judgement.enforcement.as_str(),
        "active_mode": judgement.active_mode.as_str(),
        "required_mode": judgement.required_mode.as_str(),
        "reason": judgement.reason,
    })
}

fn table(judgement: &Judgement) -> Table {
    let mut table = Table::of_facts();
    table.row(["decision", judgement.decision.as_str()]);
    table.row(["enforcement", judgement.enforcement.as_str()]);
    table.row(["active mode", judgement.active_mode.as_str()]);
    table.row(["required mode", judgement.required_mode.as_str()]);
    if !judgement.reason.is_empty() {
        table.row(["reason", &judgement.reason]);
    }
    table
}
