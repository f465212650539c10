//! The command line.
//!
//! - [`globals`], [`status`], [`mod@print`], [`lines`]: what all commands share: options, exit statuses, output, JSON lines.
//! - [`settings`], [`policy_file`]: files that configure.
//! - One module a command: [`redact`], [`gate`], [`receipts`], [`runs`], [`mode`], [`component`], [`config`], `serve`, and
//!   the demo in a room of its own.

mod component;
mod config;
mod gate;
mod globals;
mod lines;
mod mode;
mod policy_file;
mod print;
mod receipts;
mod redact;
mod runs;
#[cfg(feature = "mcp")]
mod serve;
mod settings;
mod status;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};

use globals::Globals;
use status::{Status, WrongUse};

/// Decides whether MCP tool calls may pass, takes secrets out of what comes back, and leaves a tamper-evident receipt of each
#[derive(Debug, Parser)]
#[command(name = "counterfoil", version, about, long_about = None, after_help = "Examples:
  counterfoil demo
  counterfoil serve --upstream http://127.0.0.1:3001/mcp
  counterfoil runs verify --all
  tail -F app.log | counterfoil redact

Exit status: 0 fine, 1 failed, 2 wrong use or the thing named does not exist, 5 tampering found, 6 refused by policy.")]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Redact(redact::RedactArgs),
    Gate(gate::GateArgs),
    #[cfg(feature = "mcp")]
    Serve(serve::ServeArgs),
    #[cfg(feature = "mcp")]
    Demo(crate::demo::DemoArgs),
    Runs(runs::RunsCommand),
    Receipts(receipts::ReceiptsCommand),
    Mode(mode::ModeCommand),
    Config(config::ConfigCommand),
    Component(component::ComponentCommand),
    Completions(CompletionsArgs),
}

/// Print a script that completes this command line in a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  counterfoil completions bash > ~/.local/share/bash-completion/completions/counterfoil"
)]
struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Read the command line, do what it says, and tell how it went.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap as well; it knows which stream and status each has.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let status = run(cli).unwrap_or_else(|error| {
        let (status, message) = status::report(&error);
        if let Some(message) = message {
            // Nobody can be told that the error stream is gone.
            let _ = writeln!(io::stderr(), "error: {message}");
        }
        status
    });
    status.into()
}

fn run(cli: Cli) -> anyhow::Result<Status> {
    let globals = &cli.globals;
    match cli.command {
        Command::Redact(args) => redact::run(args, globals),
        Command::Gate(args) => gate::run(args, globals),
        #[cfg(feature = "mcp")]
        Command::Serve(args) => serve::run(args, globals),
        #[cfg(feature = "mcp")]
        Command::Demo(args) => demo(args, globals),
        Command::Runs(command) => runs::run(command, globals),
        Command::Receipts(command) => receipts::run(command, globals),
        Command::Mode(command) => mode::run(command, globals),
        Command::Config(command) => config::run(command, globals),
        Command::Component(command) => component::run(command, globals),
        Command::Completions(args) => completions(&args),
    }
}

/// The tour ends with status 0 only when each step did what it should.
#[cfg(feature = "mcp")]
fn demo(args: crate::demo::DemoArgs, globals: &Globals) -> anyhow::Result<Status> {
    let told = crate::demo::run(args, globals.named_component().cloned(), &mut |text| print::text(text));
    told.map(|all_well| if all_well { Status::Fine } else { Status::Failed })
}

fn completions(args: &CompletionsArgs) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "counterfoil", &mut script);
    print::bytes(&script)?;
    Ok(Status::Fine)
}

/// An address to listen on, as text.
fn listen_address(text: &str) -> anyhow::Result<SocketAddr> {
    text.parse().map_err(|_| {
        WrongUse("not an address to listen on; write it as `127.0.0.1:8470` or `[::1]:8470`".to_owned()).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("counterfoil"), "`{path} --help` shows no example");
            for below in command.get_subcommands() {
                check(below, &path);
            }
        }
        check(&Cli::command(), "");
    }
}
