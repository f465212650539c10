//! From options to a running host, and back.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use counterfoil_engine::types::Mode;
use counterfoil_engine::{Engine, Source};
use counterfoil_evidence::{ChainAuthority, RunOptions, StateDir};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::catalogue::Catalogue;
use super::evidence::Evidence;
use super::handler::Handler;
use super::listener::{self, Listening, Vitals};
use super::options::ServeOptions;
use super::shape;
use super::upstream::{Keeper, Upstream};
use crate::authority::ComponentAuthority;
use crate::dispatch::{Dispatcher, Parts, Recorder as _};
use crate::embedded;

/// A host that serves.
pub struct Running {
    listening: Listening,
    dispatcher: Dispatcher,
    evidence: Arc<Evidence>,
    catalogue: Arc<Catalogue>,
    keeper: Keeper,
    follower: JoinHandle<()>,
    grace: Duration,
}

/// Start serving. The upstream need not be there yet.
///
/// # Errors
///
/// When the listening address is not a loopback address or is taken, the component or the configuration is refused, the
/// mode is unknown, or the state folder cannot be written.
pub async fn start(options: ServeOptions) -> anyhow::Result<Running> {
    options.check_addresses()?;
    let socket =
        TcpListener::bind(options.listen).await.with_context(|| format!("cannot listen on `{}`", options.listen))?;
    let prepared = options.clone();
    let ground = tokio::task::spawn_blocking(move || prepare(&prepared)).await.context("starting failed")??;
    let (upstream, keeper) = Upstream::start(options.upstream.clone())?;
    let catalogue = Arc::new(Catalogue::new(upstream, ground.engine.clone()));
    let follower = tokio::spawn(Arc::clone(&catalogue).follow());
    let dispatcher = Dispatcher::new(Parts {
        engine: ground.engine,
        recorder: Arc::clone(&ground.evidence) as Arc<_>,
        upstream: Arc::clone(&catalogue) as Arc<_>,
        mode: ground.mode,
        dry_run: options.dry_run,
        shape: shape::shaped,
    });
    let handler = Handler::new(dispatcher.clone(), Arc::clone(&catalogue), options.agent);
    let vitals = Vitals {
        dispatcher: dispatcher.clone(),
        evidence: Arc::clone(&ground.evidence),
        catalogue: Arc::clone(&catalogue),
    };
    let listening = Listening::start(socket, handler, vitals, options.max_request_bytes)?;
    tracing::info!(
        address = %listening.address(),
        endpoint = listener::ENDPOINT,
        mode = ground.mode.as_str(),
        dry_run = options.dry_run,
        run = ground.evidence.run_id(),
        "serving"
    );
    Ok(Running {
        listening,
        dispatcher,
        evidence: ground.evidence,
        catalogue,
        keeper,
        follower,
        grace: options.stop_grace,
    })
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// URL of the MCP endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address(), listener::ENDPOINT)
    }

    /// The run that receipts are linked in.
    #[cfg(test)]
    pub fn run_id(&self) -> String {
        self.evidence.run_id()
    }

    /// The state folder.
    #[cfg(test)]
    pub fn state(&self) -> &StateDir {
        self.evidence.state()
    }

    /// Finish the calls in flight, end the run, and let everything go.
    ///
    /// # Errors
    ///
    /// When the run cannot be ended.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.listening.stop(self.dispatcher.finish(self.grace)).await;
        self.follower.abort();
        self.keeper.stop(self.catalogue.upstream()).await;
        let evidence = self.evidence;
        let run = evidence.run_id();
        tokio::task::spawn_blocking(move || evidence.end())
            .await
            .context("ending the run failed")?
            .with_context(|| format!("the run `{run}` could not be ended"))?;
        tracing::info!(run, "the run has ended");
        Ok(())
    }
}

/// What is there before anything is served.
struct Ground {
    engine: Engine,
    mode: Mode,
    evidence: Arc<Evidence>,
}

fn prepare(options: &ServeOptions) -> anyhow::Result<Ground> {
    let engine = load(options)?;
    let state = match &options.state_dir {
        Some(path) => StateDir::at(path.clone()),
        None => StateDir::locate(Path::new(".")).context("the state folder cannot be found")?,
    };
    let file = state.active_mode().context("the mode of the state folder cannot be read")?;
    let resolved = engine
        .resolve_mode(options.mode.as_deref(), options.mode_environment.as_deref(), file.as_deref())
        .context("the mode cannot be used")?;
    tracing::info!(mode = resolved.mode.as_str(), source = resolved.source, "mode in force");
    let authority: Arc<dyn ChainAuthority> = Arc::new(ComponentAuthority::new(engine.clone()));
    recover(&state, &authority)?;
    let identity = engine.identity();
    let run = RunOptions {
        agent: options.agent.clone().unwrap_or_else(|| "counterfoil".to_owned()),
        mode: Some(resolved.mode.to_string()),
        extra: Map::from_iter([
            ("component".to_owned(), Value::from(identity.component_sha256)),
            ("configuration".to_owned(), Value::from(identity.configuration_digest)),
        ]),
    };
    let evidence = Evidence::start(state, run, authority).context("no run can be started")?;
    Ok(Ground { engine, mode: resolved.mode, evidence: Arc::new(evidence) })
}

/// Bring the evidence of runs that a crash cut short into line, and say what was done.
fn recover(state: &StateDir, authority: &Arc<dyn ChainAuthority>) -> anyhow::Result<()> {
    let runs =
        counterfoil_evidence::recover(state, authority).context("the evidence of earlier runs cannot be recovered")?;
    for recovery in runs {
        match recovery.outcome {
            Ok(done) => tracing::warn!(
                run = %recovery.run,
                receipts = done.receipts_restored,
                lines = done.lines_restored,
                differing = done.receipts_differing,
                rejected = done.rejected,
                line_completed = done.line_completed,
                line_passed_over = done.line_passed_over,
                "a run that was cut short was recovered"
            ),
            Err(error) => {
                tracing::error!(run = %recovery.run, code = error.code(), %error, "a run could not be recovered")
            }
        }
    }
    let abandoned =
        counterfoil_evidence::end_abandoned(state).context("runs that were cut short cannot be looked for")?;
    for run in abandoned {
        tracing::warn!(%run, "a run whose writer is gone was ended as abandoned");
    }
    Ok(())
}

fn load(options: &ServeOptions) -> anyhow::Result<Engine> {
    let source = match &options.component {
        Some(path) => Source::Component(
            std::fs::read(path).with_context(|| format!("the component `{}` cannot be read", path.display()))?,
        ),
        None => embedded::source(),
    };
    let engine = Engine::builder(source)
        .configuration(options.configuration.clone())
        .build()
        .context("the policy component cannot be loaded")?;
    let identity = engine.identity();
    tracing::info!(
        component = identity.component_sha256,
        precompiled = identity.precompiled,
        configuration = identity.configuration_digest,
        "policy loaded"
    );
    Ok(engine)
}
