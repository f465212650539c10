//! The `counterfoil` binary: the command line, and the MCP host behind `serve`.
//!
//! - [`cli`]: the commands. `demo`: a tour with a built-in sample server.
//! - `mcp`: the MCP server. `dispatch`: one tool call from gate to answer.
//! - [`authority`]: the ledger's signatures and verdicts, asked of the component. [`embedded`]: the component itself.

mod authority;
mod cli;
#[cfg(feature = "mcp")]
mod clock;
#[cfg(feature = "mcp")]
mod demo;
#[cfg(feature = "mcp")]
mod dispatch;
mod embedded;
#[cfg(feature = "mcp")]
mod mcp;

fn main() -> std::process::ExitCode {
    cli::main()
}
