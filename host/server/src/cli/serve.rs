//! `counterfoil serve`: the MCP server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::globals::Globals;
use super::listen_address;
use super::mode::ModeArgs;
use super::settings::{LogFormat, Settings, UpstreamSettings};
use super::status::{self, Status, WrongUse};
use crate::mcp::{self, ServeOptions, UpstreamOptions};

/// Stand in front of an MCP server
///
/// Every tool call is judged, its result cleaned of secrets, and a receipt written before the answer goes out. `--upstream`
/// alone is enough: `POST /mcp` on 127.0.0.1, port 8470. Options on the command line count more than the environment, and
/// that more than the settings file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil serve --upstream http://127.0.0.1:3001/mcp
  counterfoil serve --config counterfoil.toml --mode read_only

A settings file:
  listen = \"127.0.0.1:8470\"
  state_dir = \".roam\"        # from the folder of this file
  mode = \"safe_edit\"
  dry_run = false
  [[upstream]]
  name = \"files\"
  url = \"http://127.0.0.1:3001/mcp\"
  [policy.tools.delete_file]
  destructive = true")]
pub struct ServeArgs {
    /// Settings file (TOML)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where to listen; a loopback address [default: 127.0.0.1:8470]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The MCP server to stand in front of
    #[arg(long, value_name = "[NAME=]URL")]
    upstream: Vec<String>,
    #[command(flatten)]
    mode: ModeArgs,
    /// Let denied calls run and only record the denial
    #[arg(long)]
    dry_run: bool,
    /// On whose behalf calls are made
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// How log lines are written
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Which log lines are written: a level, or a filter such as `counterfoil=debug` [default: info]
    #[arg(long, value_name = "FILTER", env = "COUNTERFOIL_LOG")]
    log: Option<String>,
}

/// Run the command.
pub fn run(args: ServeArgs, globals: &Globals) -> anyhow::Result<Status> {
    mcp::serve(options(args, globals)?)?;
    Ok(Status::Fine)
}

/// What the command line and the settings file say together.
fn options(args: ServeArgs, globals: &Globals) -> anyhow::Result<ServeOptions> {
    let settings = match &args.config {
        Some(path) => read(path)?,
        None => Settings::default(),
    };
    let configuration = settings.configuration();
    let named = args.upstream.iter().map(|text| named_upstream(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let upstreams = if named.is_empty() { settings.upstream } else { named };
    let upstream = match <[_; 1]>::try_from(upstreams) {
        Ok([upstream]) => upstream_options(upstream)?,
        Err(none) if none.is_empty() => {
            return Err(WrongUse("no server to stand in front of: give one as `--upstream URL`".to_owned()).into());
        }
        Err(_) => {
            return Err(WrongUse("only one upstream can be served for now".to_owned()).into());
        }
    };

    let mut options = ServeOptions::new(upstream);
    if let Some(listen) = args.listen.or(settings.listen) {
        options.listen = listen_address(&listen)?;
    }
    let environment = args.mode.environment().filter(|mode| !mode.trim().is_empty()).map(str::to_owned);
    options.mode = match (args.mode.explicit(), &environment) {
        (Some(mode), _) => Some(mode.to_owned()),
        (None, Some(_)) => None,
        (None, None) => settings.mode,
    };
    options.mode_environment = environment;
    options.state_dir = globals.named_state_dir().cloned().or(settings.state_dir);
    options.component = globals.named_component().cloned();
    options.dry_run = args.dry_run || settings.dry_run.unwrap_or(false);
    options.agent = args.agent.or(settings.agent);
    options.configuration = configuration;
    if let Some(bytes) = settings.max_request_bytes {
        options.max_request_bytes = bytes;
    }
    if let Some(seconds) = settings.stop_grace_seconds {
        options.stop_grace = Duration::from_secs(seconds);
    }
    let (format, filter) = settings.log.map_or((None, None), |log| (log.format, log.filter));
    options.log = match args.log_format.or(format) {
        Some(LogFormat::Json) => mcp::LogFormat::Json,
        Some(LogFormat::Text) | None => mcp::LogFormat::Text,
    };
    options.log_filter = args.log.or(filter);
    options.check_addresses().map_err(|error| WrongUse(status::chain(&error)))?;
    check_mode(&options, globals)?;
    Ok(options)
}

/// A word that is no mode is wrong use, said before anything starts.
fn check_mode(options: &ServeOptions, globals: &Globals) -> anyhow::Result<()> {
    let Some(mode) = options.mode.as_deref().or(options.mode_environment.as_deref()) else {
        return Ok(());
    };
    let engine = globals.engine(None)?;
    engine.parse_mode(mode.trim()).map_err(super::mode::unknown)?;
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path).map_err(|error| status::of_input(path, error))?;
    Settings::parse(path, &text)
}

/// An upstream as the command line names it.
fn named_upstream(text: &str) -> anyhow::Result<UpstreamSettings> {
    // A name holds no `:` and no `/`, so a `=` in a URL's query is not taken for one behind a name.
    let (name, url) = match text.split_once('=') {
        Some((name, url)) if !name.contains([':', '/']) => (Some(name), url),
        _ => (None, text),
    };
    if name.is_some_and(str::is_empty) || url.is_empty() {
        return Err(WrongUse("`--upstream` takes `URL` or `NAME=URL`".to_owned()).into());
    }
    Ok(UpstreamSettings {
        name: name.map(str::to_owned),
        url: url.to_owned(),
        bearer_file: None,
        call_timeout_seconds: None,
        connect_timeout_seconds: None,
    })
}

fn upstream_options(upstream: UpstreamSettings) -> anyhow::Result<UpstreamOptions> {
    let mut options = UpstreamOptions::new(upstream.name.unwrap_or_else(|| "upstream".to_owned()), upstream.url);
    if let Some(path) = &upstream.bearer_file {
        let token = std::fs::read_to_string(path).map_err(|error| status::of_input(path, error))?;
        let token = token.trim();
        anyhow::ensure!(!token.is_empty(), "`{}` holds no token", path.display());
        options.bearer = Some(token.to_owned());
    }
    if let Some(seconds) = upstream.call_timeout_seconds {
        options.call_timeout = Duration::from_secs(seconds);
    }
    if let Some(seconds) = upstream.connect_timeout_seconds {
        options.connect_timeout = Duration::from_secs(seconds);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_before_the_url_and_a_query_is_no_name() {
        let named = named_upstream("files=http://h/mcp").unwrap();
        assert_eq!((named.name.as_deref(), named.url.as_str()), (Some("files"), "http://h/mcp"));
        let bare = named_upstream("http://h/mcp?a=b").unwrap();
        assert_eq!((bare.name.as_deref(), bare.url.as_str()), (None, "http://h/mcp?a=b"));
        assert!(
            named_upstream("=http://h").is_err() && named_upstream("files=").is_err() && named_upstream("").is_err()
        );
    }
}
