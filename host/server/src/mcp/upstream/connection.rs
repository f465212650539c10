//! One connection to the upstream: the handshake and what is asked over it.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    PaginatedRequestParams, ProtocolVersion, RequestMetaObject, Tool,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext,
    PeerRequestOptions, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::raw::{Answer, HttpError, RawHttp};
use crate::dispatch::{Reply, Unavailable, UpstreamCall};
use crate::mcp::options::UpstreamOptions;

/// Calls that may be under way at once; more wait their turn.
const CONCURRENT: usize = 256;
/// More pages of tools than this are a loop.
const MOST_PAGES: usize = 1000;
/// How often a connection is looked at to see whether it still stands.
const LOOK: Duration = Duration::from_secs(1);
/// How long telling the server that a call is given up may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why something asked over a connection was not answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    /// For the client.
    pub(super) why: Unavailable,
    /// Whether another connection is needed.
    pub(super) lost: bool,
}

impl Fault {
    pub(super) const fn lost(why: Unavailable) -> Self {
        Self { why, lost: true }
    }
}

/// Our side of the upstream's protocol: a client that offers nothing and drops what the server says beside its answers.
#[derive(Debug)]
struct Quiet {
    changed: Arc<Notify>,
}

impl ClientHandler for Quiet {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("counterfoil", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    service: RunningService<RoleClient, Quiet>,
    http: RawHttp,
    number: u64,
    born: Instant,
    /// Milliseconds from birth to the last answer.
    answered: AtomicU64,
    protocol: Mutex<String>,
}

/// The HTTP client: no proxy from the environment, redirects only within the same origin and only such that keep the body.
pub(super) fn http_client(connect_timeout: Duration) -> anyhow::Result<reqwest::Client> {
    let same_place = reqwest::redirect::Policy::custom(|attempt| {
        let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
        let same_origin = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if keeps_body && same_origin && attempt.previous().len() <= 5 { attempt.follow() } else { attempt.stop() }
    });
    reqwest::Client::builder()
        .no_proxy()
        .connect_timeout(connect_timeout)
        .redirect(same_place)
        .build()
        .context("the HTTP client cannot be set up")
}

/// Connect, in whichever era of the protocol the server speaks.
pub(super) async fn connect(
    http: &reqwest::Client,
    options: &UpstreamOptions,
    number: u64,
    changed: Arc<Notify>,
) -> Result<Connection, Unavailable> {
    let raw = RawHttp::new(http.clone());
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(options.url.as_str()).max_concurrent_requests(CONCURRENT);
    config.auth_header = options.bearer.clone();
    let transport = StreamableHttpClientTransport::with_client(raw.clone(), config);
    let lifecycle =
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None };
    let handshake = Quiet { changed }.serve_with_lifecycle(transport, lifecycle);
    let service = match tokio::time::timeout(options.connect_timeout, handshake).await {
        Ok(Ok(service)) => service,
        Ok(Err(error)) => return Err(initialize_failed(&error)),
        Err(_) => return Err(Unavailable::Slow),
    };
    service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
    let protocol = service.peer().peer_info().map(|info| info.protocol_version.to_string()).unwrap_or_default();
    Ok(Connection {
        service,
        http: raw,
        number,
        born: Instant::now(),
        answered: AtomicU64::new(0),
        protocol: Mutex::new(protocol),
    })
}

impl Connection {
    /// Counts up from one connection to the next.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The protocol version that was agreed on.
    pub(super) fn protocol(&self) -> String {
        self.protocol.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the server has answered something this recently.
    pub(super) fn answered_within(&self, span: Duration) -> bool {
        let answered = self.born + Duration::from_millis(self.answered.load(Ordering::Relaxed));
        answered.elapsed() < span
    }

    fn note_answer(&self) {
        let since = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.answered.store(since, Ordering::Relaxed);
    }

    /// Wait until the connection has ended.
    pub(super) async fn closed(&self) {
        while !self.service.is_closed() && !self.service.peer().is_transport_closed() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Take leave of the server.
    pub(super) async fn close(mut self) {
        // A server that does not listen any more needs no farewell.
        self.service.close_with_timeout(FAREWELL).await.ok();
    }

    /// Ask for anything at all.
    pub(super) async fn ask(&self) -> Result<(), Fault> {
        self.page(None).await.map(|_| ())
    }

    /// Every tool of every page, in the server's order.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let (page, next) = self.page(cursor).await?;
            tools.extend(page);
            match next {
                None => return Ok(tools),
                Some(next) => cursor = Some(next),
            }
        }
        tracing::warn!(pages = MOST_PAGES, "the upstream's list of tools does not end");
        Err(Fault { why: Unavailable::Protocol, lost: false })
    }

    async fn page(&self, cursor: Option<String>) -> Result<(Vec<Tool>, Option<String>), Fault> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        match self.service.peer().list_tools(Some(params)).await {
            Ok(page) => {
                self.note_answer();
                Ok((page.tools, page.next_cursor))
            }
            Err(error) => Err(service_failed(&error)),
        }
    }

    /// Run a tool. The answer comes back as the server wrote it.
    pub(super) async fn call(&self, call: UpstreamCall, within: Duration) -> Result<Reply, Fault> {
        let mut params = CallToolRequestParams::new(call.tool);
        params.arguments = call.arguments;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut options = PeerRequestOptions::no_options();
        if !call.meta.is_empty() {
            options = options.with_meta(RequestMetaObject::from(call.meta));
        }
        let sent = self.service.peer().send_cancellable_request(request, options).await;
        let mut handle = sent.map_err(|error| service_failed(&error))?;
        let id = handle.id.clone();
        let reply = tokio::select! {
            biased;
            answer = &mut handle.rx => Some(answer),
            () = call.cancelled.cancelled() => None,
            () = tokio::time::sleep(within) => {
                self.give_up(handle, "no answer in time");
                return Ok(Reply::TimedOut);
            }
        };
        self.http.forget(&id);
        match reply {
            None => {
                self.give_up(handle, "cancelled by the client");
                Ok(Reply::Cancelled)
            }
            Some(Ok(Ok(result))) => {
                self.note_answer();
                Ok(match Answer::from_carried(result) {
                    Answer::Result(text) => Reply::Result(text),
                    Answer::Error(text) => Reply::Error(text),
                    Answer::Garbled => Reply::Garbled,
                    Answer::TooLarge(limit) => Reply::TooLarge(limit),
                })
            }
            Some(Ok(Err(error))) => Err(service_failed(&error)),
            Some(Err(_)) => Err(Fault::lost(Unavailable::Unreachable)),
        }
    }

    /// Tell the server that nobody waits any more.
    fn give_up(&self, handle: rmcp::service::RequestHandle<RoleClient>, reason: &str) {
        self.http.forget(&handle.id);
        let farewell = tokio::time::timeout(FAREWELL, handle.cancel(Some(reason.to_owned())));
        tokio::spawn(async move {
            // Best effort: the call has ended for us whether or not the server hears of it.
            farewell.await.ok();
        });
    }
}

fn initialize_failed(error: &ClientInitializeError) -> Unavailable {
    match error {
        ClientInitializeError::TransportError { error, .. } => http_fault(error.error.as_ref()).why,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => initialize_failed(fallback),
        ClientInitializeError::ConnectionClosed(_) => Unavailable::Unreachable,
        _ => Unavailable::Protocol,
    }
}

fn service_failed(error: &ServiceError) -> Fault {
    match error {
        ServiceError::TransportSend(error) => http_fault(error.error.as_ref()),
        ServiceError::TransportClosed => Fault::lost(Unavailable::Unreachable),
        ServiceError::Timeout { .. } => Fault::lost(Unavailable::Slow),
        _ => Fault { why: Unavailable::Protocol, lost: false },
    }
}

/// What an error of the transport says, by its type and never by its text.
fn http_fault(error: &(dyn Error + 'static)) -> Fault {
    let mut source = Some(error);
    while let Some(current) = source {
        if let Some(error) = current.downcast_ref::<HttpError>() {
            return match error {
                StreamableHttpError::AuthRequired(_) => Fault::lost(Unavailable::Unauthorized),
                StreamableHttpError::InsufficientScope(_) => Fault { why: Unavailable::Forbidden, lost: false },
                StreamableHttpError::HttpStatus(error) => {
                    Fault { why: Unavailable::Status(error.status), lost: error.status >= 500 }
                }
                StreamableHttpError::ResponseBodyTooLarge { max_size } => {
                    Fault { why: Unavailable::TooLarge(*max_size), lost: false }
                }
                StreamableHttpError::UnexpectedServerResponse(_)
                | StreamableHttpError::UnexpectedContentType(_)
                | StreamableHttpError::Deserialize(_) => Fault { why: Unavailable::Protocol, lost: false },
                _ => Fault::lost(Unavailable::Unreachable),
            };
        }
        source = current.source();
    }
    Fault::lost(Unavailable::Unreachable)
}
