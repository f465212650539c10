//! The HTTP side of the upstream: answers to tool calls keep the very characters that the server sent.
//!
//! rmcp reads each answer into the first of twenty types that fits, and what that type does not know is gone. Policy has to
//! see everything, so the answer to a `tools/call` is taken off the wire here and handed through rmcp as one string
//! ([`answer`]). Everything else (handshake, sessions, lists, notifications) is rmcp's.

mod answer;
mod exchange;
mod limit;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use self::exchange::{EVENTS, Exchange, JSON, SESSION};

pub use answer::Answer;

/// What can go wrong in here, without any of the server's words.
pub type HttpError = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Ids of tool calls without an answer yet.
#[derive(Debug, Clone, Default)]
struct Pending(Arc<Mutex<HashSet<RequestId>>>);

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An HTTP client that keeps answers to tool calls as they came.
#[derive(Debug, Clone)]
pub struct RawHttp {
    http: reqwest::Client,
    /// Ids of tool calls without an answer yet: their answers may come on a resumed stream.
    pending: Pending,
}

impl RawHttp {
    /// A client over this one.
    #[must_use]
    pub fn new(http: reqwest::Client) -> Self {
        Self { http, pending: Pending::default() }
    }

    /// Forget a tool call: nobody waits for its answer any more.
    pub fn forget(&self, id: &RequestId) {
        self.pending.lock().remove(id);
    }

    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let tool_call = exchange::tool_call_id(&message);
        if let Some(id) = &tool_call {
            self.pending.lock().insert(id.clone());
        }
        let mut request = self
            .http
            .post(uri.as_ref())
            .headers(headers.into_iter().collect::<HeaderMap>())
            .header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(bearer) = bearer {
            request = request.bearer_auth(bearer);
        }
        if let Some(session) = &session {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.json(&message).send().await?;
        let exchange = Exchange { message: &message, tool_call, in_session: session.is_some(), limits };
        exchange.read(response, &self.pending).await
    }
}

impl StreamableHttpClient for RawHttp {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let limits = StreamableHttpResponseLimits::default();
        self.post(uri, message, session_id, auth_header, custom_headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post(uri, message, session_id, auth_header, custom_headers, limits).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        self.http.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, HttpError> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, limit)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<Events, HttpError> {
        let events = self
            .http
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await?;
        let pending = self.pending.clone();
        Ok(events
            .map(move |event| {
                event.map(|mut event| {
                    event.data = answer::carry_resumed(event.data.take(), &mut pending.lock());
                    event
                })
            })
            .boxed())
    }
}
