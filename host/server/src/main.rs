//! The `counterfoil` binary: the command line, and the MCP host behind `serve`.
//!
//! - [`cli`]: the commands. `demo`: a tour with a built-in sample server.
//! - `mcp`: the MCP server. `dispatch`: one tool call from gate to answer.
//! - [`authority`]: the ledger's signatures and verdicts, asked of the component. [`embedded`]: the component itself.

#[cfg(component_built)]
mod authority;
#[cfg(component_built)]
mod cli;
#[cfg(all(component_built, feature = "mcp"))]
mod clock;
#[cfg(all(component_built, feature = "mcp"))]
mod demo;
#[cfg(all(component_built, feature = "mcp"))]
mod dispatch;
mod embedded;
#[cfg(all(component_built, feature = "mcp"))]
mod mcp;

#[cfg(component_built)]
fn main() -> std::process::ExitCode {
    cli::main()
}

#[cfg(not(component_built))]
fn main() {}
