//! HTTP: the endpoint, health, and being told to stop.

mod body;
mod guard;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::catalogue::Catalogue;
use super::evidence::Evidence;
use super::handler::Handler;
use crate::dispatch::Dispatcher;

/// Path of the MCP endpoint.
pub const ENDPOINT: &str = "/mcp";
/// How long an idle session of the older protocol lives: longer than a coffee break.
const SESSION_LIFE: Duration = Duration::from_secs(3600);
/// How long answers that are ready may take to leave when we stop.
const LAST_ANSWERS: Duration = Duration::from_millis(250);
/// How long connections may take to close after that.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What health is asked of.
#[derive(Clone)]
pub struct Vitals {
    /// For the engine.
    pub dispatcher: Dispatcher,
    /// For receipts.
    pub evidence: Arc<Evidence>,
    /// For the upstream.
    pub catalogue: Arc<Catalogue>,
}

/// The listening server.
pub struct Listening {
    address: SocketAddr,
    accepting: CancellationToken,
    sessions: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Listening {
    /// Begin to answer on this socket.
    ///
    /// # Errors
    ///
    /// When the socket has no address.
    pub fn start(socket: TcpListener, handler: Handler, vitals: Vitals, max_body: usize) -> anyhow::Result<Self> {
        let address = socket.local_addr().context("the listening socket has no address")?;
        let accepting = CancellationToken::new();
        let sessions = CancellationToken::new();
        let manager = Arc::new(session_manager());
        let guard = Arc::new(guard::Guard::new(address.port(), Arc::clone(&manager)));
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(guard.origins())
            .with_max_request_body_bytes(max_body)
            .with_json_response(true)
            .with_cancellation_token(sessions.clone());
        let mcp = StreamableHttpService::new(move || Ok(handler.clone()), manager, config);
        let router = Router::new()
            .route("/healthz", get(alive))
            .route("/readyz", get(ready))
            .with_state(vitals)
            .route_service(ENDPOINT, mcp)
            .layer(middleware::from_fn_with_state(max_body, body::explain))
            .layer(middleware::from_fn_with_state(guard, guard::check));
        let stop = accepting.clone();
        let task =
            tokio::spawn(
                async move { axum::serve(socket, router).with_graceful_shutdown(stop.cancelled_owned()).await },
            );
        Ok(Self { address, accepting, sessions, task })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Take no new connections, run `last_calls` to its end, let the answers out, and close everything.
    pub async fn stop(mut self, last_calls: impl Future<Output = ()>) {
        self.accepting.cancel();
        last_calls.await;
        // Streams that only wait for news would keep their connections open for ever, so they are cut: but not before
        // the answers that are ready have left.
        if tokio::time::timeout(LAST_ANSWERS, &mut self.task).await.is_ok() {
            return;
        }
        self.sessions.cancel();
        if tokio::time::timeout(LAST_WORDS, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

fn session_manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_LIFE);
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

/// Whether the process runs.
async fn alive() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// Whether calls can be answered: policy, evidence and upstream, each by itself.
async fn ready(State(vitals): State<Vitals>) -> Response {
    let engine = vitals.dispatcher.engine().info().map_err(|refusal| refusal.to_string());
    let evidence = if vitals.evidence.is_sound() { Ok(()) } else { Err("receipts cannot be written".to_owned()) };
    let upstream = vitals.catalogue.upstream().check().await.map_err(|why| why.to_string());
    let all = engine.is_ok() && evidence.is_ok() && upstream.is_ok();
    let body = json!({
        "ready": all,
        "engine": part(engine.map(|_| ())),
        "evidence": part(evidence),
        "upstream": part(upstream),
    });
    let status = if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

fn part(state: Result<(), String>) -> Value {
    match state {
        Ok(()) => json!({"ok": true}),
        Err(reason) => json!({"ok": false, "reason": reason}),
    }
}

/// Wait for SIGINT or SIGTERM.
///
/// # Errors
///
/// When the process cannot listen for signals.
#[cfg(unix)]
pub async fn stop_signal() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("the process cannot listen for signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("the process cannot listen for signals")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Wait for Ctrl-C.
///
/// # Errors
///
/// When the process cannot listen for it.
#[cfg(not(unix))]
pub async fn stop_signal() -> anyhow::Result<()> {
    tokio::signal::ctrl_c().await.context("the process cannot listen for signals")
}
