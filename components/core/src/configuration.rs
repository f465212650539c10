//! What an operator may change, as one JSON document.
//!
//! ```json
//! {
//!   "mask": "[REDACTED:{id}]",
//!   "preset": "none",
//!   "modes": { "read_only": ["search"], "safe_edit": ["edit"] },
//!   "tools": { "search": { "read_only": true, "idempotent": true, "required_mode": "read_only", "command": "search" } },
//!   "arguments": "record"
//! }
//! ```
//!
//! Every member may be left out. The document is read strictly: an unknown member, a wrong type or an unknown mode is an
//! error that names the member, so that a misspelt restriction is never silently without effect.

mod read;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::canonical::{self, Form};
use crate::error::Error;
use crate::redact::Mask;
use crate::vocabulary::Mode;

/// Where the allow-lists come from when the document declares none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// No lists: what a tool does decides alone.
    #[default]
    None,
    /// roam-code's lists, its tool names and its words.
    Roam,
}

/// What happens to arguments that hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arguments {
    /// They go on as they came; the secrets are recorded.
    #[default]
    Record,
    /// They go on with the secrets masked.
    Redact,
}

/// What the operator says of one tool. A member that is none is taken from the call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolRule {
    /// Only reads.
    pub read_only: Option<bool>,
    /// May destroy or overwrite.
    pub destructive: Option<bool>,
    /// A second identical call changes nothing more.
    pub idempotent: Option<bool>,
    /// The lowest mode that may run it, whatever else is said of it.
    pub required_mode: Option<Mode>,
    /// Its name in the allow-lists.
    pub command: Option<String>,
}

/// A configuration that was read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    mask: Mask,
    preset: Preset,
    /// For each command the lowest mode that lists it; none when no lists are declared.
    commands: Option<BTreeMap<String, Mode>>,
    tools: BTreeMap<String, ToolRule>,
    arguments: Arguments,
    digest: String,
}

impl Configuration {
    /// Read a document.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidJson`] when the text is not JSON, [`Error::InvalidConfiguration`] naming the member that is not
    /// understood.
    pub fn parse(json: &str) -> Result<Self, Error> {
        read::read(json)
    }

    /// SHA-256 of the document in receipt form, lower-case hex. `{}` for the default.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is written in place of a secret.
    #[must_use]
    pub const fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Where the allow-lists come from when the document declares none.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// What happens to arguments that hold a secret.
    #[must_use]
    pub const fn arguments(&self) -> Arguments {
        self.arguments
    }

    /// What the operator says of a tool.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolRule> {
        self.tools.get(name)
    }

    /// The declared lists: the lowest mode of each command. None when the document declares none.
    #[must_use]
    pub const fn commands(&self) -> Option<&BTreeMap<String, Mode>> {
        self.commands.as_ref()
    }
}

impl Default for Configuration {
    fn default() -> Self {
        // The digest is the same for every default; a call that brings no configuration must not hash for it.
        static DIGEST: OnceLock<String> = OnceLock::new();
        Self {
            mask: Mask::default(),
            preset: Preset::default(),
            commands: None,
            tools: BTreeMap::new(),
            arguments: Arguments::default(),
            digest: DIGEST.get_or_init(|| canonical::sha256_hex(b"{}")).clone(),
        }
    }
}

/// Digest of a document that is known to be JSON.
fn digest(json: &str) -> Result<String, Error> {
    Ok(canonical::sha256_hex(canonical::canonicalize(json, Form::Receipt)?.as_bytes()))
}
