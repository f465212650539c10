//! The settings file of `serve`: TOML, every key known.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::status::WrongUse;

/// What a settings file may say. Each key is optional; a key that is not here is an error.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where to listen, `ADDRESS:PORT`.
    pub listen: Option<String>,
    /// Folder of the evidence, from the settings file's own folder.
    pub state_dir: Option<PathBuf>,
    /// The mode.
    pub mode: Option<String>,
    /// Whether denials are only recorded.
    pub dry_run: Option<bool>,
    /// On whose behalf calls are made.
    pub agent: Option<String>,
    /// Largest request body, in bytes.
    pub max_request_bytes: Option<usize>,
    /// Seconds that calls in flight may go on after a stop signal.
    pub stop_grace_seconds: Option<u64>,
    /// Log lines: how and which.
    pub log: Option<LogSettings>,
    /// The MCP servers behind.
    #[serde(default)]
    pub upstream: Vec<UpstreamSettings>,
    /// The component's configuration.
    pub policy: Option<Map<String, Value>>,
}

/// Which log lines are written, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// `text` or `json`.
    pub format: Option<LogFormat>,
    /// A level, or a filter such as `counterfoil=debug`.
    pub filter: Option<String>,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// An MCP server behind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamSettings {
    /// Name for logs and receipts.
    pub name: Option<String>,
    /// Its endpoint, `http://host:port/path`.
    pub url: String,
    /// File that holds the bearer token to send, from the settings file's own folder.
    pub bearer_file: Option<PathBuf>,
    /// Seconds that one call may take.
    pub call_timeout_seconds: Option<u64>,
    /// Seconds that connecting may take.
    pub connect_timeout_seconds: Option<u64>,
}

impl Settings {
    /// Read the text of the settings file at `path`. Paths in it come out as seen from the working folder.
    pub fn parse(path: &Path, text: &str) -> anyhow::Result<Self> {
        let mut settings: Self = toml::from_str(text).map_err(|error| wrong(path, text, &error))?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        settings.state_dir = settings.state_dir.map(|state_dir| folder.join(state_dir));
        for upstream in &mut settings.upstream {
            upstream.bearer_file = upstream.bearer_file.take().map(|file| folder.join(file));
        }
        Ok(settings)
    }

    /// The component's configuration as JSON text.
    pub fn configuration(&self) -> Option<String> {
        self.policy.clone().map(|policy| Value::Object(policy).to_string())
    }
}

/// An error in a settings file, with its line instead of a picture of it.
fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let line = error
        .span()
        .and_then(|span| text.get(..span.start))
        .map(|before| before.matches('\n').count().saturating_add(1));
    let place = line.map_or_else(String::new, |line| format!(" line {line}"));
    WrongUse(format!("`{}`{place}: {}", path.display(), error.message())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Settings::parse(Path::new("s.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn every_key_is_understood_and_paths_start_at_the_file() {
        let text = r#"
            listen = "127.0.0.1:8470"
            state_dir = "evidence"
            mode = "read_only"
            dry_run = true
            agent = "a"
            max_request_bytes = 1
            stop_grace_seconds = 2
            log = { format = "json", filter = "debug" }
            [[upstream]]
            name = "files"
            url = "http://127.0.0.1:1/mcp"
            bearer_file = "token"
            call_timeout_seconds = 3
            connect_timeout_seconds = 4
            [policy]
            mask = "[gone]"
            [policy.tools.delete_file]
            destructive = true
        "#;
        let settings = Settings::parse(Path::new("etc/s.toml"), text).unwrap();
        assert_eq!(settings.state_dir.as_deref(), Some(Path::new("etc/evidence")));
        assert_eq!(settings.upstream[0].bearer_file.as_deref(), Some(Path::new("etc/token")));
        assert_eq!(
            settings.configuration().as_deref(),
            Some(r#"{"mask":"[gone]","tools":{"delete_file":{"destructive":true}}}"#)
        );
        assert_eq!(Settings::parse(Path::new("s.toml"), "").unwrap(), Settings::default());
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it_and_its_line() {
        let message = error("mode = \"read_only\"\nlisten_on = \"x\"\n");
        assert!(message.contains("line 2") && message.contains("`listen_on`"), "{message}");
        assert!(error("[[upstream]]\nurl = \"x\"\nuri = \"y\"\n").contains("`uri`"));
        assert!(error("mode = \n").contains("line 1"));
    }
}
