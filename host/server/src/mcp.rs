//! The MCP host: a streamable HTTP server that stands in front of one MCP server.
//!
//! - [`options`]: what `serve` needs to know. [`logs`]: what goes to standard error.
//! - [`upstream`]: the server behind us. [`catalogue`]: its tools as clients may see them.
//! - [`evidence`]: the run of this process.
//! - [`handler`]: our side of the protocol over [`crate::dispatch`]. [`shape`]: results in the protocol's types.
//! - [`listener`]: HTTP, health, and stopping.

mod catalogue;
mod evidence;
mod handler;
mod listener;
mod logs;
mod options;
mod shape;
mod start;
mod upstream;

#[cfg(test)]
mod tests;

use anyhow::Context as _;

pub use options::{LogFormat, ServeOptions, UpstreamOptions};
pub use start::{Running, start};

/// Serve until the process is told to stop, then finish the calls in flight, end the run and return.
///
/// # Errors
///
/// When the host cannot start: the listening address is not a loopback address or is taken, the component or the
/// configuration is refused, the state folder cannot be written.
pub fn serve(options: ServeOptions) -> anyhow::Result<()> {
    logs::install(options.log, options.log_filter.as_deref());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime failed")?;
    runtime.block_on(async {
        let running = start(options).await?;
        listener::stop_signal().await?;
        tracing::info!("stopping: finishing the calls in flight");
        running.stop().await
    })
}
