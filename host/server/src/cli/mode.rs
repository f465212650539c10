//! `counterfoil mode`: which mode is in force, and setting the sticky one.

use anyhow::Context;
use clap::{Args, Subcommand};
use counterfoil_engine::types::ResolvedMode;
use counterfoil_engine::{Engine, Refusal};
use counterfoil_evidence::StateDir;
use serde_json::json;

use super::globals::Globals;
use super::print::{self, Table};
use super::status::{Status, WrongUse};

/// The mode on the command line and the one in the environment, which stay two.
#[derive(Debug, Clone, Args)]
pub struct ModeArgs {
    /// Mode: read_only, safe_edit, migration or autonomous_pr [default: COUNTERFOIL_MODE, else the state folder's, else safe_edit]
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// What the environment says; looked at when `--mode` is absent
    #[arg(
        id = "environment_mode",
        long = "environment-mode",
        value_name = "MODE",
        env = "COUNTERFOIL_MODE",
        hide = true
    )]
    environment: Option<String>,
}

impl ModeArgs {
    /// The mode that stands on the command line.
    pub fn explicit(&self) -> Option<&str> {
        self.mode.as_deref()
    }

    /// The mode that the environment names.
    pub fn environment(&self) -> Option<&str> {
        self.environment.as_deref()
    }
}

/// Show the mode that is in force, or set the one that the state folder remembers
///
/// The first of these that is there counts: `--mode`, `COUNTERFOIL_MODE`, the file `active_mode` in the state folder, and
/// `safe_edit`. A word that is no mode is an error, never a wider mode.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil mode
  counterfoil mode set read_only
  counterfoil mode show --json")]
pub struct ModeCommand {
    #[command(subcommand)]
    action: Option<ModeAction>,
    #[command(flatten)]
    mode: ModeArgs,
}

#[derive(Debug, Subcommand)]
enum ModeAction {
    /// Show the mode that is in force and where it comes from
    #[command(after_help = "Example:\n  COUNTERFOIL_MODE=read_only counterfoil mode show")]
    Show(ModeArgs),
    /// Remember a mode in the state folder; a host that runs keeps its own until it is started anew
    #[command(after_help = "Example:\n  counterfoil mode set migration")]
    Set {
        /// read_only, safe_edit, migration or autonomous_pr
        #[arg(value_name = "MODE")]
        name: String,
    },
}

/// Run the command.
pub fn run(command: ModeCommand, globals: &Globals) -> anyhow::Result<Status> {
    match command.action {
        None => show(&command.mode, globals),
        Some(ModeAction::Show(mode)) => show(&mode, globals),
        Some(ModeAction::Set { name }) => set(&name, globals),
    }
}

fn show(mode: &ModeArgs, globals: &Globals) -> anyhow::Result<Status> {
    let engine = globals.engine(None)?;
    let resolved = mode_in_force(&engine, mode, None, &globals.state()?)?;
    if globals.json() {
        print::json(&json!({"mode": resolved.mode.as_str(), "source": resolved.source}))?;
    } else {
        let mut table = Table::of_facts();
        table.row(["mode", resolved.mode.as_str()]);
        table.row(["source", &resolved.source]);
        table.print()?;
    }
    Ok(Status::Fine)
}

fn set(name: &str, globals: &Globals) -> anyhow::Result<Status> {
    let mode = globals.engine(None)?.parse_mode(name).map_err(unknown)?;
    let state = globals.state()?;
    state.set_active_mode(mode.as_str()).context("cannot set the mode")?;
    let path = state.path().join("active_mode");
    if globals.json() {
        print::json(&json!({"mode": mode.as_str(), "file": path}))?;
    } else {
        print::text(&format!("mode {} set in {}\n", mode.as_str(), print::plain(&path.display().to_string())))?;
    }
    Ok(Status::Fine)
}

/// The mode that counts. `settings` is what a settings file says: more than the sticky file, less than the environment.
pub fn mode_in_force(
    engine: &Engine,
    mode: &ModeArgs,
    settings: Option<&str>,
    state: &StateDir,
) -> anyhow::Result<ResolvedMode> {
    let sticky = match settings {
        Some(settings) => Some(settings.to_owned()),
        // A file that is there and cannot be read is an error: to pass over it could widen what somebody narrowed.
        None => state.active_mode().context("cannot tell the mode")?,
    };
    engine.resolve_mode(mode.explicit(), mode.environment(), sticky.as_deref()).map_err(unknown)
}

/// A word that is no mode is wrong use.
pub fn unknown(refusal: Refusal) -> anyhow::Error {
    match refusal {
        Refusal::Policy(_) => WrongUse(refusal.to_string()).into(),
        other => other.into(),
    }
}
