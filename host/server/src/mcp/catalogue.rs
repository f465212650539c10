//! The upstream's tools as clients may see them.
//!
//! Names, titles, descriptions and schemas are texts that a model reads, so the list goes through redaction like any result.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use counterfoil_engine::types::Effects;
use counterfoil_engine::{Engine, Refusal};
use rmcp::model::{Tool, ToolAnnotations};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::upstream::Upstream;
use crate::dispatch::{self, Lookup, Pending, Reply, Unavailable, UpstreamCall};

/// Lists above this size are cleaned on a thread that may block.
const LARGE: usize = 64 * 1024;
/// A name that is not in the list makes us ask the upstream again, but not more often than this.
const PATIENCE: Duration = Duration::from_secs(1);
/// A name that is longer than this names no tool.
const LONGEST_NAME: usize = 512;

/// A tool as clients may see it.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The tool, cleaned.
    pub tool: Tool,
    /// What it declares to do.
    pub effects: Effects,
}

/// The tools that the upstream told last, in its order.
#[derive(Debug, Clone, Default)]
pub struct Table {
    tools: Vec<Listed>,
    places: BTreeMap<String, usize>,
}

impl Table {
    fn new(before: &[Tool], after: Vec<Tool>) -> Self {
        let mut table = Self::default();
        for (before, tool) in before.iter().zip(after) {
            let name = tool.name.to_string();
            // A name that cleaning changed could not be called any more, and would say what it must not.
            if before.name != tool.name || name.is_empty() || name.len() > LONGEST_NAME {
                tracing::warn!("a tool with an unusable name is left out");
                continue;
            }
            if table.places.contains_key(&name) {
                tracing::warn!(tool = %name, "the upstream lists a tool twice: the first one counts");
                continue;
            }
            let effects = declared_effects(tool.annotations.as_ref());
            table.places.insert(name, table.tools.len());
            table.tools.push(Listed { tool, effects });
        }
        table
    }

    /// The tools.
    #[must_use]
    pub fn tools(&self) -> &[Listed] {
        &self.tools
    }

    /// One tool.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Listed> {
        self.places.get(name).and_then(|place| self.tools.get(*place))
    }
}

/// What a tool declares to do, with the protocol's defaults for what it does not say: it writes, destroys, and a second
/// call has another effect. The last two mean something only for tools that write; a tool that says it reads and destroys
/// is taken to destroy.
#[must_use]
pub fn declared_effects(annotations: Option<&ToolAnnotations>) -> Effects {
    let read_only = annotations.and_then(|hints| hints.read_only_hint).unwrap_or(false);
    let destructive = annotations.and_then(|hints| hints.destructive_hint).unwrap_or(!read_only);
    let idempotent = annotations.and_then(|hints| hints.idempotent_hint).unwrap_or(false);
    Effects { read_only, destructive, idempotent: idempotent || read_only }
}

/// The upstream with its list of tools.
#[derive(Debug)]
pub struct Catalogue {
    upstream: Upstream,
    cleaner: Cleaner,
    table: RwLock<Option<Arc<Table>>>,
    /// When the upstream was asked last. Held while it is asked, so that many ask once.
    asked: Mutex<Option<Instant>>,
}

/// Redaction of lists.
struct Cleaner(Engine);

impl std::fmt::Debug for Cleaner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cleaner")
    }
}

impl Catalogue {
    /// A catalogue of this upstream's tools.
    #[must_use]
    pub fn new(upstream: Upstream, engine: Engine) -> Self {
        Self { upstream, cleaner: Cleaner(engine), table: RwLock::new(None), asked: Mutex::new(None) }
    }

    /// The upstream.
    #[must_use]
    pub const fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// The tools as they were told last; none when they never were.
    #[must_use]
    pub fn known(&self) -> Option<Arc<Table>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ask the upstream for its tools.
    ///
    /// # Errors
    ///
    /// When it cannot be asked, or its list cannot be cleaned.
    pub async fn refresh(&self) -> Result<Arc<Table>, Unavailable> {
        let mut asked = self.asked.lock().await;
        self.ask(&mut asked).await
    }

    /// Ask for the tools whenever the upstream says that they have changed.
    pub async fn follow(self: Arc<Self>) {
        loop {
            self.upstream.tools_changed().await;
            if let Err(why) = self.refresh().await {
                tracing::warn!(%why, "the upstream's tools cannot be read");
            }
        }
    }

    async fn ask(&self, asked: &mut Option<Instant>) -> Result<Arc<Table>, Unavailable> {
        let tools = self.upstream.tools().await;
        *asked = Some(Instant::now());
        let table = Arc::new(self.cleaner.clean(tools?).await?);
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&table));
        Ok(table)
    }

    async fn find(&self, tool: &str) -> Lookup {
        let known = self.known();
        if let Some(listed) = known.as_ref().and_then(|table| table.get(tool)) {
            return Lookup::Known(listed.effects);
        }
        let mut asked = self.asked.lock().await;
        let recently = asked.is_some_and(|then| then.elapsed() < PATIENCE);
        let answer = match self.known() {
            Some(table) if recently => Ok(table),
            _ => self.ask(&mut asked).await,
        };
        match answer {
            Ok(table) => table.get(tool).map_or(Lookup::Unknown, |listed| Lookup::Known(listed.effects)),
            // A list that is known and lacks the name is answer enough.
            Err(_) if known.is_some() => Lookup::Unknown,
            Err(why) => Lookup::Unreachable(why),
        }
    }
}

impl Cleaner {
    async fn clean(&self, tools: Vec<Tool>) -> Result<Table, Unavailable> {
        let text = serde_json::to_string(&tools).map_err(|_| Unavailable::Protocol)?;
        let redacted = if text.len() > LARGE {
            let engine = self.0.clone();
            let copy = text.clone();
            tokio::task::spawn_blocking(move || engine.redact_json(&copy)).await.unwrap_or(Err(Refusal::Trap))
        } else {
            self.0.redact_json(&text)
        };
        let clean = match redacted {
            Ok(redacted) => match redacted.output {
                None => tools.clone(),
                Some(text) => serde_json::from_str(&text).map_err(|_| Unavailable::Protocol)?,
            },
            Err(refusal) => {
                tracing::error!(code = refusal.code(), "the list of tools cannot be cleaned: it is withheld");
                return Err(Unavailable::Protocol);
            }
        };
        Ok(Table::new(&tools, clean))
    }
}

impl dispatch::Upstream for Catalogue {
    fn name(&self) -> &str {
        self.upstream.name()
    }

    fn look_up<'a>(&'a self, tool: &'a str) -> Pending<'a, Lookup> {
        Box::pin(self.find(tool))
    }

    fn call(&self, call: UpstreamCall) -> Pending<'_, Reply> {
        Box::pin(self.upstream.call(call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_does_not_declare_counts_against_it() {
        let effects = |hints: ToolAnnotations| declared_effects(Some(&hints));
        let strictest = Effects { read_only: false, destructive: true, idempotent: false };
        assert_eq!(declared_effects(None), strictest);
        assert_eq!(effects(ToolAnnotations::new()), strictest);
        assert_eq!(
            effects(ToolAnnotations::new().read_only(true)),
            Effects { read_only: true, destructive: false, idempotent: true }
        );
        assert_eq!(
            effects(ToolAnnotations::new().read_only(true).destructive(true)),
            Effects { read_only: true, destructive: true, idempotent: true }
        );
        assert_eq!(
            effects(ToolAnnotations::new().destructive(false)),
            Effects { read_only: false, destructive: false, idempotent: false }
        );
    }
}
