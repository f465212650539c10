//! The MCP server behind us, over streamable HTTP.
//!
//! - [`connection`]: one handshake and what is asked over it. [`raw`]: HTTP that keeps answers as they came.
//! - here: being there. A task keeps one connection open, makes a new one with growing pauses when it is lost, and tells
//!   everybody who asks how things stand.

mod connection;
mod raw;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::Tool;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::connection::{Connection, Fault};
use super::options::UpstreamOptions;
use crate::dispatch::{Reply, Unavailable, UpstreamCall};

/// The first and the longest pause between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));
/// How long a call waits for an attempt to connect that is under way.
const PATIENCE: Duration = Duration::from_secs(2);
/// A server that answered this recently is not asked again whether it is there.
const FRESH: Duration = Duration::from_secs(1);

/// How things stand with the upstream.
#[derive(Debug, Clone)]
enum State {
    /// An attempt to connect is under way and none has failed.
    Connecting,
    /// There is a connection.
    Up(Arc<Connection>),
    /// The last attempt failed.
    Down(Unavailable),
}

/// The server behind us. Clones share one connection.
#[derive(Debug, Clone)]
pub struct Upstream {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: UpstreamOptions,
    http: reqwest::Client,
    state: watch::Sender<State>,
    /// Somebody needs a connection now.
    wanted: Notify,
    /// The connection of this number is no good.
    lost: watch::Sender<u64>,
    /// The server says that its tools have changed.
    changed: Arc<Notify>,
}

impl Upstream {
    /// Start keeping a connection to this server. It need not be there yet.
    ///
    /// # Errors
    ///
    /// When the HTTP client cannot be set up.
    pub fn start(options: UpstreamOptions) -> anyhow::Result<(Self, Keeper)> {
        let shared = Arc::new(Shared {
            http: connection::http_client(options.connect_timeout)?,
            options,
            state: watch::Sender::new(State::Connecting),
            wanted: Notify::new(),
            lost: watch::Sender::new(0),
            changed: Arc::new(Notify::new()),
        });
        let task = tokio::spawn(keep(Arc::clone(&shared)));
        Ok((Self { shared }, Keeper { task }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.options.name
    }

    /// Wait until the server says that its tools have changed, or until there is another connection.
    pub async fn tools_changed(&self) {
        self.shared.changed.notified().await;
    }

    /// Its tools, from every page.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked.
    pub async fn tools(&self) -> Result<Vec<Tool>, Unavailable> {
        let connection = self.connection().await?;
        let asked = tokio::time::timeout(self.shared.options.connect_timeout, connection.tools()).await;
        match asked {
            Ok(Ok(tools)) => Ok(tools),
            Ok(Err(fault)) => Err(self.failed(&connection, fault)),
            Err(_) => Err(self.failed(&connection, Fault::lost(Unavailable::Slow))),
        }
    }

    /// Run a tool.
    pub async fn call(&self, call: UpstreamCall) -> Reply {
        let cancelled = call.cancelled.clone();
        let connection = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Reply::Cancelled,
            connection = self.connection() => match connection {
                Ok(connection) => connection,
                Err(why) => return Reply::Unavailable(why),
            },
        };
        match connection.call(call, self.shared.options.call_timeout).await {
            Ok(reply) => reply,
            Err(fault) => Reply::Unavailable(self.failed(&connection, fault)),
        }
    }

    /// Whether the server answers. Asks it, unless it answered within the last second.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub async fn check(&self) -> Result<(), Unavailable> {
        let connection = self.connection().await?;
        if connection.answered_within(FRESH) {
            return Ok(());
        }
        match tokio::time::timeout(PATIENCE, connection.ask()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(fault)) => Err(self.failed(&connection, fault)),
            Err(_) => Err(self.failed(&connection, Fault::lost(Unavailable::Slow))),
        }
    }

    /// The connection, if need be after waiting a little for one that is being made.
    async fn connection(&self) -> Result<Arc<Connection>, Unavailable> {
        let mut states = self.shared.state.subscribe();
        let failed = match &*states.borrow_and_update() {
            State::Up(connection) => return Ok(Arc::clone(connection)),
            State::Connecting => None,
            State::Down(why) => Some(*why),
        };
        self.shared.wanted.notify_one();
        let settled = async {
            while states.changed().await.is_ok() {
                match &*states.borrow_and_update() {
                    State::Up(connection) => return Ok(Arc::clone(connection)),
                    State::Down(why) => return Err(*why),
                    State::Connecting => {}
                }
            }
            Err(Unavailable::Unreachable)
        };
        tokio::time::timeout(PATIENCE, settled).await.unwrap_or(Err(failed.unwrap_or(Unavailable::Slow)))
    }

    /// Say that a connection failed. One that is lost is replaced.
    fn failed(&self, connection: &Connection, fault: Fault) -> Unavailable {
        if fault.lost {
            self.shared.lost.send_modify(|number| *number = (*number).max(connection.number()));
        }
        fault.why
    }
}

/// The task that keeps the connection.
#[derive(Debug)]
pub struct Keeper {
    task: JoinHandle<()>,
}

impl Keeper {
    /// Let the connection go. Calls that still run over it end first.
    pub async fn stop(self, upstream: &Upstream) {
        self.task.abort();
        // Aborted on purpose: there is nothing to learn from how it ended.
        self.task.await.ok();
        let state = upstream.shared.state.send_replace(State::Down(Unavailable::Unreachable));
        if let State::Up(connection) = state
            && let Some(connection) = Arc::into_inner(connection)
        {
            connection.close().await;
        }
    }
}

/// Connect, wait until the connection is lost, and begin again.
async fn keep(shared: Arc<Shared>) {
    let mut number = 0;
    let mut pause = PAUSES.0;
    loop {
        number += 1;
        let attempt = Instant::now();
        match connection::connect(&shared.http, &shared.options, number, Arc::clone(&shared.changed)).await {
            Ok(connection) => {
                tracing::info!(upstream = %shared.options.name, protocol = connection.protocol(), "upstream is there");
                pause = PAUSES.0;
                let connection = Arc::new(connection);
                shared.state.send_replace(State::Up(Arc::clone(&connection)));
                shared.changed.notify_one();
                gone(&shared, &connection).await;
                tracing::warn!(upstream = %shared.options.name, "the connection to the upstream is lost");
                shared.state.send_replace(State::Connecting);
            }
            Err(why) => {
                let before = shared.state.send_replace(State::Down(why));
                // Said once, not at every attempt.
                if !matches!(before, State::Down(known) if known == why) {
                    tracing::warn!(upstream = %shared.options.name, %why, "connecting to the upstream failed: trying again until it is there");
                }
                let again = attempt + PAUSES.0;
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    // Whoever needs the server now does not wait out the pause, but cannot hammer on its door either.
                    () = shared.wanted.notified() => tokio::time::sleep_until(again).await,
                }
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// Wait until this connection is no good any more.
async fn gone(shared: &Shared, connection: &Connection) {
    let mut lost = shared.lost.subscribe();
    let reported = async {
        // Fails only when the sender is gone, and `shared` holds it.
        lost.wait_for(|number| *number >= connection.number()).await.ok();
    };
    tokio::select! {
        () = reported => {}
        () = connection.closed() => {}
    }
}
