//! One request and its answer over HTTP.

use std::borrow::Cow;

use futures::StreamExt as _;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::SseStream;

use super::answer::{self, Answer};
use super::{Events, HttpError, Pending, limit};

pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// One request and what is allowed of its answer.
pub(super) struct Exchange<'a> {
    pub(super) message: &'a ClientJsonRpcMessage,
    pub(super) tool_call: Option<RequestId>,
    pub(super) in_session: bool,
    pub(super) limits: StreamableHttpResponseLimits,
}

impl Exchange<'_> {
    pub(super) async fn read(
        self,
        response: reqwest::Response,
        pending: &Pending,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let status = response.status();
        challenge(status, response.headers())?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && self.in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let kind = media_type(response.headers());
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let expects_answer = matches!(self.message, ClientJsonRpcMessage::Request(_));
        match kind {
            _ if !expects_answer && status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
            Kind::Events if status.is_success() => {
                Ok(StreamableHttpPostResponse::Sse(self.events(response, pending), session))
            }
            Kind::Json => {
                let body = match (limit::read(response, self.limits.max_json_response_size).await, &self.tool_call) {
                    (Err(StreamableHttpError::ResponseBodyTooLarge { max_size }), Some(id)) => {
                        pending.lock().remove(id);
                        let carried = Answer::TooLarge(max_size).carried(id.clone());
                        return Ok(StreamableHttpPostResponse::Json(carried, session));
                    }
                    (body, _) => body?,
                };
                self.body(status, &body, session, pending)
            }
            _ => self.refused(status),
        }
    }

    /// A complete JSON answer.
    fn body(
        &self,
        status: StatusCode,
        body: &[u8],
        session: Option<String>,
        pending: &Pending,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if let Some(id) = &self.tool_call {
            let answer = Answer::parse(body);
            // A failed exchange whose body is no JSON-RPC error is the server's trouble, not the tool's answer.
            if !status.is_success() && !matches!(answer, Answer::Error(_)) {
                return self.refused(status);
            }
            pending.lock().remove(id);
            return Ok(StreamableHttpPostResponse::Json(answer.carried(id.clone()), session));
        }
        match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
            Ok(message @ JsonRpcMessage::Error(_)) if !status.is_success() => match self.discover_rejected(&message) {
                Some(rejected) => Ok(rejected),
                None => Ok(StreamableHttpPostResponse::Json(message, session)),
            },
            Ok(message) if status.is_success() => Ok(StreamableHttpPostResponse::Json(message, session)),
            _ if status.is_success() => Err(unexpected("the answer is no JSON-RPC message")),
            _ => self.refused(status),
        }
    }

    /// An HTTP failure without a JSON-RPC answer.
    fn refused(&self, status: StatusCode) -> Result<StreamableHttpPostResponse, HttpError> {
        if status.is_success() {
            return Err(StreamableHttpError::UnexpectedContentType(None));
        }
        let nothing =
            ServerJsonRpcMessage::error(ErrorData::invalid_request("server/discover was rejected", None), None);
        if status.is_client_error()
            && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            && let Some(rejected) = self.discover_rejected(&nothing)
        {
            return Ok(rejected);
        }
        Err(HttpStatusError::new(status.as_u16(), None).into())
    }

    /// The answer that makes rmcp fall back to the older handshake: servers that do not know `server/discover` reject it
    /// before they read its id, so the id is put right here.
    fn discover_rejected(&self, rejection: &ServerJsonRpcMessage) -> Option<StreamableHttpPostResponse> {
        let ClientJsonRpcMessage::Request(request) = self.message else {
            return None;
        };
        if self.in_session || !matches!(request.request, ClientRequest::DiscoverRequest(_)) {
            return None;
        }
        let JsonRpcMessage::Error(rejection) = rejection else {
            return None;
        };
        let message = ServerJsonRpcMessage::error(rejection.error.clone(), Some(request.id.clone()));
        Some(StreamableHttpPostResponse::Json(message, None))
    }

    /// An answer as a stream of events, one of which carries the response.
    fn events(self, response: reqwest::Response, pending: &Pending) -> Events {
        let events =
            SseStream::from_bytes_stream(limit::lines(response.bytes_stream(), self.limits.max_sse_event_size));
        let pending = pending.clone();
        let Some(id) = self.tool_call else {
            return events.boxed();
        };
        events
            .map(move |event| {
                let mut event = match event {
                    Ok(event) => event,
                    // Said as the answer: a stream that only ends would be asked for again, and then looks like a server
                    // that is gone.
                    Err(error) => {
                        let limit = limit::exceeded(&error).ok_or(error)?;
                        pending.lock().remove(&id);
                        return Ok(answer::too_large_event(&id, limit));
                    }
                };
                let (data, answered) = answer::carry_event(event.data.take(), &id);
                event.data = data;
                if answered {
                    pending.lock().remove(&id);
                }
                Ok(event)
            })
            .boxed()
    }
}

/// A refusal that names a credential or a scope.
fn challenge(status: StatusCode, headers: &HeaderMap) -> Result<(), HttpError> {
    let text = || headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    match status {
        StatusCode::UNAUTHORIZED => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(text()))),
        StatusCode::FORBIDDEN => Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(text(), None))),
        _ => Ok(()),
    }
}

enum Kind {
    Json,
    Events,
    Other,
}

fn media_type(headers: &HeaderMap) -> Kind {
    let essence = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    match essence.as_str() {
        JSON => Kind::Json,
        EVENTS => Kind::Events,
        _ => Kind::Other,
    }
}

fn unexpected(what: &'static str) -> HttpError {
    StreamableHttpError::UnexpectedServerResponse(Cow::Borrowed(what))
}

/// The id of a tool call.
pub(super) fn tool_call_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CallToolRequest(_)) => {
            Some(request.id.clone())
        }
        _ => None,
    }
}
