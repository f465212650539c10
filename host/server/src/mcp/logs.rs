//! What goes to standard error.

use std::io::IsTerminal as _;

use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::options::LogFormat;

/// Write log lines to standard error. `filter` chooses the level of our own lines (`info` when none). Does nothing when the
/// process already logs.
pub fn install(format: LogFormat, filter: Option<&str>) {
    // Another subscriber may be there already: then it was asked for on purpose.
    let colours = std::io::stderr().is_terminal();
    subscriber(format, filter, colours, std::io::stderr).try_init().ok();
}

fn subscriber<W>(
    format: LogFormat,
    filter: Option<&str>,
    colours: bool,
    writer: W,
) -> impl Subscriber + Send + Sync + 'static
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let level = EnvFilter::builder()
        .with_default_directive(tracing::Level::INFO.into())
        .parse_lossy(filter.unwrap_or_default());
    let filter = level.and(filter_fn(|metadata| is_ours(metadata.target())));
    let layer = tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(writer);
    let layer = match format {
        LogFormat::Text => layer.with_target(false).boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter))
}

/// Whether a line is ours. Libraries log whole messages at some level or other, so nothing of theirs is ever written,
/// whatever the filter says.
fn is_ours(target: &str) -> bool {
    target.starts_with("counterfoil")
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;
    use crate::mcp::tests::{Era, Host, Sample, result, token};

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn whatever_is_asked_for_no_content_is_logged() {
        let sink = Sink::default();
        let target = sink.clone();
        // For the whole process: what other tests log meanwhile has to be just as clean.
        subscriber(LogFormat::Json, Some("trace"), false, move || target.clone()).init();
        let upstream = Sample::start().await;
        let host = Host::before(&upstream.url).await;
        let client = host.client(Era::Modern).await;
        result(&client, "leak", json!({"a": token()})).await;
        drop(client);
        host.stop().await;
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        assert!(!text.contains(&token()), "{text}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().any(|line| {
            line["fields"]["message"] == "call ended"
                && line["fields"]["outcome"] == "completed"
                && line["span"]["tool"] == "leak"
                && line["span"]["id"].as_str().is_some_and(|id| id.starts_with("leak_"))
        }));
    }
}
