//! What goes to standard error.

use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::options::LogFormat;

/// Libraries that log message bodies at some level. Nothing of theirs is ever written, whatever the filter says.
const SILENCED: [&str; 6] = ["rmcp", "hyper", "hyper_util", "reqwest", "axum", "sse_stream"];

/// Write log lines to standard error. `filter` chooses the level of our own lines (`info` when none); libraries that could
/// log content stay silent. Does nothing when the process already logs.
pub fn install(format: LogFormat, filter: Option<&str>) {
    let level = EnvFilter::builder()
        .with_default_directive(tracing::Level::INFO.into())
        .parse_lossy(filter.unwrap_or_default());
    let filter = level.and(filter_fn(|metadata| may_log(metadata.target())));
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = match format {
        LogFormat::Text => layer.with_target(false).boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    // Another subscriber may be there already: then it was asked for on purpose.
    tracing_subscriber::registry().with(layer.with_filter(filter)).try_init().ok();
}

/// Whether lines with this target may be written.
fn may_log(target: &str) -> bool {
    let root = target.split("::").next().unwrap_or(target);
    !SILENCED.contains(&root)
}

#[cfg(test)]
mod tests {
    use super::may_log;

    #[test]
    fn libraries_that_log_bodies_are_silent_and_our_own_lines_are_not() {
        assert!(!may_log("rmcp::service"));
        assert!(!may_log("hyper_util::client"));
        assert!(may_log("counterfoil::mcp::start"));
    }
}
