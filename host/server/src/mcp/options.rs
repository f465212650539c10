//! What `serve` needs to know.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The MCP server behind us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamOptions {
    /// Name for logs and receipts.
    pub name: String,
    /// Its endpoint, `http://host:port/path`.
    pub url: String,
    /// Bearer token to send with every request. Never logged.
    pub bearer: Option<String>,
    /// How long one call may take.
    pub call_timeout: Duration,
    /// How long connecting and one request for the list of tools may take.
    pub connect_timeout: Duration,
}

impl UpstreamOptions {
    /// An upstream with default timeouts: 120 s for a call, 15 s for connecting.
    #[must_use]
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            url: url.into(),
            bearer: None,
            call_timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(15),
        }
    }
}

/// Everything that `serve` can be told.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where to listen. Only loopback addresses are accepted; port 0 takes a free port.
    pub listen: SocketAddr,
    /// The server behind us.
    pub upstream: UpstreamOptions,
    /// The state folder (`.roam` below the project root when none is named).
    pub state_dir: Option<PathBuf>,
    /// Mode given on the command line. An unknown word is an error.
    pub mode: Option<String>,
    /// Mode found in the environment by the command line, looked at when `mode` is none.
    pub mode_environment: Option<String>,
    /// Whether denied calls run and are only recorded.
    pub dry_run: bool,
    /// Configuration of the component, as JSON text.
    pub configuration: Option<String>,
    /// Another component than the embedded one.
    pub component: Option<PathBuf>,
    /// On whose behalf calls are made: the agent of the run and `actor_ref_id` of receipts.
    pub agent: Option<String>,
    /// Largest request body, in bytes.
    pub max_request_bytes: usize,
    /// How long calls in flight may go on after a stop signal, before they are cancelled.
    pub stop_grace: Duration,
    /// How log lines are written.
    pub log: LogFormat,
    /// Which log lines are written, in the syntax of `tracing`'s filters (`debug`, `counterfoil=trace`); `info` when none.
    pub log_filter: Option<String>,
}

impl ServeOptions {
    /// Port that `serve` listens on when none is named.
    pub const DEFAULT_PORT: u16 = 8470;

    /// Options for one upstream with everything else as it is when nothing is said: `127.0.0.1:8470`, bodies up to
    /// 4 MiB, 10 s of grace.
    #[must_use]
    pub fn new(upstream: UpstreamOptions) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], Self::DEFAULT_PORT)),
            upstream,
            state_dir: None,
            mode: None,
            mode_environment: None,
            dry_run: false,
            configuration: None,
            component: None,
            agent: None,
            max_request_bytes: 4 * 1024 * 1024,
            stop_grace: Duration::from_secs(10),
            log: LogFormat::Text,
            log_filter: None,
        }
    }

    /// Refuse addresses that cannot be served, before anything is touched.
    ///
    /// # Errors
    ///
    /// When the listening address is not a loopback address, or the upstream's is no `http` URL or holds a credential.
    pub fn check_addresses(&self) -> anyhow::Result<()> {
        if !self.listen.ip().is_loopback() {
            bail!(
                "`{}` is not a loopback address: without authentication the server listens on this machine only, for example on `127.0.0.1:{}`",
                self.listen.ip(),
                Self::DEFAULT_PORT
            );
        }
        check_url(&self.upstream.url)
    }
}

/// Refuse an address that cannot be served yet.
///
/// # Errors
///
/// When it is no `http` URL with a host.
fn check_url(url: &str) -> anyhow::Result<()> {
    let parsed = reqwest::Url::parse(url).context("the upstream's address is no URL: write `http://host:port/path`")?;
    match parsed.scheme() {
        "http" if parsed.has_host() => {}
        "https" => bail!("upstreams over https are not supported yet: put a TLS proxy on this machine in between"),
        _ => bail!("the upstream's address must begin with `http://`"),
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        bail!("the upstream's address must not hold a user or a password: use a bearer token");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_url;

    #[test]
    fn only_http_addresses_without_credentials_are_taken() {
        assert!(check_url("http://127.0.0.1:9000/mcp").is_ok());
        for bad in ["https://127.0.0.1/mcp", "ftp://127.0.0.1/", "mcp", "", "http://user:word@127.0.0.1/mcp"] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
