//! What every command knows: where the evidence lies, which component answers, how to print.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use counterfoil_engine::{Engine, Limits, Refusal, Source};
use counterfoil_evidence::{ChainAuthority, StateDir};

use super::lines::Complaint;
use super::status;
use crate::authority::ComponentAuthority;
use crate::embedded;

/// Most bytes of one text that a command hands to the component.
const INPUT_LIMIT: usize = 64 * 1024 * 1024;

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Folder of the evidence: `mcp_receipts/`, `runs/`, `active_mode` [default: `.roam` below the project root]
    #[arg(long, global = true, env = "COUNTERFOIL_STATE_DIR", value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Take this component instead of the one that is built in
    #[arg(long, global = true, value_name = "FILE")]
    component: Option<PathBuf>,
    /// Print for machines: JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Globals {
    /// Whether to print JSON.
    pub fn json(&self) -> bool {
        self.json
    }

    /// The folder that the user named, if any.
    #[cfg(feature = "mcp")]
    pub fn named_state_dir(&self) -> Option<&PathBuf> {
        self.state_dir.as_ref()
    }

    /// The component that the user named, if any.
    #[cfg(feature = "mcp")]
    pub fn named_component(&self) -> Option<&PathBuf> {
        self.component.as_ref()
    }

    /// The component to load.
    pub fn source(&self) -> anyhow::Result<Source> {
        match &self.component {
            Some(_) => Ok(Source::Component(self.component_bytes()?)),
            None => Ok(embedded::source()),
        }
    }

    /// The component's bytes.
    pub fn component_bytes(&self) -> anyhow::Result<Vec<u8>> {
        match &self.component {
            Some(path) => std::fs::read(path).map_err(|error| status::of_input(path, error)),
            None => Ok(embedded::COMPONENT.to_vec()),
        }
    }

    /// Whether the built-in component is in use.
    pub fn is_embedded(&self) -> bool {
        self.component.is_none()
    }

    /// The component, loaded and configured, with bounds for one user at a command line.
    pub fn engine(&self, configuration: Option<String>) -> anyhow::Result<Engine> {
        let limits = Limits { max_input_bytes: INPUT_LIMIT, max_instances: 4, ..Limits::default() };
        let builder = Engine::builder(self.source()?).limits(limits).configuration(configuration);
        builder.build().context("cannot load the component")
    }

    /// The folder of the evidence. It need not exist.
    pub fn state(&self) -> anyhow::Result<StateDir> {
        match &self.state_dir {
            Some(path) => Ok(StateDir::at(path.clone())),
            None => {
                let here = std::env::current_dir().context("cannot tell the working folder")?;
                StateDir::locate(&here).context("cannot find the project root")
            }
        }
    }

    /// Who computes chains, signatures and verdicts.
    pub fn authority(&self) -> anyhow::Result<Arc<dyn ChainAuthority>> {
        Ok(Arc::new(ComponentAuthority::new(self.engine(None)?)))
    }
}

/// A refusal as a filter's line says it.
pub fn complaint(refusal: &Refusal) -> Complaint {
    Complaint::new(refusal.code(), refusal.to_string())
}
