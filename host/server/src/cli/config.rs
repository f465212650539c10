//! `counterfoil config check`: is this file understood?

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::globals::Globals;
use super::policy_file;
use super::print;
use super::settings::Settings;
use super::status::{self, Status};

/// Check configuration files
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  counterfoil config check counterfoil.toml")]
pub struct ConfigCommand {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Say whether a file is understood: the settings of `serve` (`.toml`) or the component's configuration (JSON)
    #[command(
        after_help = "Examples:\n  counterfoil config check counterfoil.toml\n  counterfoil config check policy.json"
    )]
    Check {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Run the command.
pub fn run(command: ConfigCommand, globals: &Globals) -> anyhow::Result<Status> {
    let ConfigAction::Check { file } = command.action;
    let text = std::fs::read_to_string(&file).map_err(|error| status::of_input(&file, error))?;
    match check(&file, text, globals) {
        Ok(digest) => {
            if globals.json() {
                print::json(&json!({"valid": true, "configuration_digest": digest}))?;
            } else {
                print::text(&format!(
                    "{} is fine\nconfiguration digest {digest}\n",
                    print::plain(&file.display().to_string())
                ))?;
            }
            Ok(Status::Fine)
        }
        // The file is there and was read: what it says is the answer, not a wrong use of this command.
        Err(error) => {
            let (_, message) = status::report(&error);
            let message = message.unwrap_or_default();
            if globals.json() {
                print::json(&json!({"valid": false, "message": message}))?;
                return Ok(Status::Failed);
            }
            Err(anyhow::anyhow!(message))
        }
    }
}

/// Everything that can be said of a file without starting: the digest of the configuration that it puts in force.
fn check(file: &Path, text: String, globals: &Globals) -> anyhow::Result<String> {
    let configuration = if policy_file::is_settings(file) {
        let settings = Settings::parse(file, &text)?;
        check_settings(&settings, globals)?;
        settings.configuration()
    } else {
        Some(text)
    };
    let engine = globals.engine(configuration).with_context(|| format!("`{}`", file.display()))?;
    Ok(engine.identity().configuration_digest.clone())
}

/// What `serve` would refuse at its start.
fn check_settings(settings: &Settings, globals: &Globals) -> anyhow::Result<()> {
    if let Some(listen) = &settings.listen {
        super::listen_address(listen)?;
    }
    if let Some(mode) = &settings.mode {
        globals.engine(None)?.parse_mode(mode).map_err(super::mode::unknown)?;
    }
    Ok(())
}
