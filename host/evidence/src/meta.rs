//! `meta.json`: what a run says of itself.

use crate::error::EvidenceError;
use crate::files::Folder;
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// Name of the file in a run's folder.
pub(crate) const META_FILE: &str = "meta.json";
/// Longest `meta.json` that is read, as in roam-code.
const META_MAX: u64 = 1 << 20;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// Open.
    InProgress,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Left behind.
    Abandoned,
}

impl RunStatus {
    /// Every member, in order of declaration.
    pub const ALL: &'static [Self] = &[Self::InProgress, Self::Completed, Self::Failed, Self::Abandoned];

    /// The word as JSON spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RunStatus {
    type Err = EvidenceError;

    fn from_str(text: &str) -> Result<Self, EvidenceError> {
        Self::ALL.iter().copied().find(|status| status.as_str() == text).ok_or(EvidenceError::UnknownStatus)
    }
}

/// The content of a `meta.json`. Members that are not known here are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMeta {
    members: Map<String, Value>,
}

impl RunMeta {
    /// Meta of a run that starts. Known names win over `extra`.
    pub(crate) fn open(run: &str, agent: &str, started_at: &str, extra: Map<String, Value>) -> Self {
        let mut meta = Self { members: extra };
        meta.set("run_id", run);
        meta.set("agent", agent);
        meta.set("started_at", started_at);
        meta.set("ended_at", Value::Null);
        meta.set("status", RunStatus::InProgress.as_str());
        meta
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// Reads the file of a run; none if it is not there or not readable as meta: no JSON object, or without text for
    /// `run_id`, `agent` or `started_at`.
    pub(crate) fn read(run: &Folder) -> Option<Self> {
        let bytes = run.read(META_FILE, META_MAX).ok()??;
        Self::parse(&bytes)
    }

    /// Reads meta from bytes, on the same terms.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let Ok(Value::Object(members)) = serde_json::from_slice(bytes) else {
            return None;
        };
        let meta = Self { members };
        ["run_id", "agent", "started_at"].iter().all(|name| meta.text(name).is_some()).then_some(meta)
    }

    /// Writes the file of a run: atomically, mode 0600.
    pub(crate) fn write(&self, run: &Folder) -> Result<(), EvidenceError> {
        run.replace(META_FILE, self.to_text().as_bytes(), 0o600)
    }

    /// The file's text: two-space indent, sorted keys, a final newline.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut members = self.members.clone();
        sort(&mut members);
        // `{:#}` of a JSON value indents by two and escapes only what JSON demands, as roam-code does.
        format!("{:#}\n", Value::Object(members))
    }

    /// All members.
    #[must_use]
    pub const fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// A member that is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    /// The id it names; may differ from the folder's in a foreign run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        self.text("run_id").unwrap_or_default()
    }

    /// Who started the run.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.text("agent").unwrap_or_default()
    }

    /// When it started, UTC, ISO 8601.
    #[must_use]
    pub fn started_at(&self) -> &str {
        self.text("started_at").unwrap_or_default()
    }

    /// When it ended; none while it is open.
    #[must_use]
    pub fn ended_at(&self) -> Option<&str> {
        self.text("ended_at")
    }

    /// Its status; none if the file holds no known one.
    #[must_use]
    pub fn status(&self) -> Option<RunStatus> {
        self.text("status").and_then(|text| text.parse().ok())
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status() == Some(RunStatus::InProgress)
    }

    /// Number of events when it was ended.
    #[must_use]
    pub fn event_count(&self) -> Option<u64> {
        self.members.get("event_count").and_then(Value::as_u64)
    }

    /// Signature of the last event when it was ended.
    #[must_use]
    pub fn final_signature(&self) -> Option<&str> {
        self.text("final_signature")
    }
}

fn sort(members: &mut Map<String, Value>) {
    members.sort_keys();
    members.values_mut().for_each(sort_value);
}

fn sort_value(value: &mut Value) {
    match value {
        Value::Object(members) => sort(members),
        Value::Array(items) => items.iter_mut().for_each(sort_value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_spelled_as_roam_spells_it() {
        let mut extra = Map::new();
        extra.insert("zoë".to_owned(), serde_json::json!({"b": [], "a": {"d": 1.50, "c": {}}}));
        extra.insert("agent".to_owned(), Value::from("not this one"));
        let meta = RunMeta::open("run_20260511_4cd889", "client-ä\u{7f}", "2026-05-19T09:00:01.000000Z", extra);
        assert_eq!(
            meta.to_text(),
            "{\n  \"agent\": \"client-ä\u{7f}\",\n  \"ended_at\": null,\n  \"run_id\": \"run_20260511_4cd889\",\n  \"started_at\": \"2026-05-19T09:00:01.000000Z\",\n  \"status\": \"in_progress\",\n  \"zoë\": {\n    \"a\": {\n      \"c\": {},\n      \"d\": 1.5\n    },\n    \"b\": []\n  }\n}\n"
        );
        assert_eq!(RunMeta::parse(meta.to_text().as_bytes()).unwrap().agent(), "client-ä\u{7f}");
        assert!(meta.is_open());
    }

    #[test]
    fn meta_without_its_three_members_is_none() {
        assert!(RunMeta::parse(br#"{"run_id":"r","agent":"a","started_at":"t"}"#).is_some());
        for bad in [
            &b"[]"[..],
            b"{",
            b"{}",
            b"\xff",
            br#"{"run_id":"r","agent":"a"}"#,
            br#"{"run_id":1,"agent":"a","started_at":"t"}"#,
        ] {
            assert!(RunMeta::parse(bad).is_none());
        }
    }
}
