//! Bodies that are no message.
//!
//! rmcp answers them with HTTP 415 and the JSON library's words, as if the media type were wrong. Clients get what JSON-RPC
//! provides for them instead.

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use rmcp::model::ErrorCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Let a request through, and put right what is answered when its body cannot be read. `most` is the largest body.
pub async fn explain(State(most): State<usize>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, most).await else {
        // Or it was cut off, and then nobody reads this.
        let text = format!("the request body is larger than {most} bytes\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
    };
    let response = next.run(Request::from_parts(head, Body::from(bytes.clone()))).await;
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE { refusal(&bytes) } else { response }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The answer to a body that is no message. Says where it breaks off, never what stands there.
fn refusal(bytes: &Bytes) -> Response {
    let (code, message, id) = fault(bytes);
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": message}});
    (StatusCode::BAD_REQUEST, Json(answer)).into_response()
}

/// The one member that an answer needs.
#[derive(Deserialize)]
struct Outside<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

fn fault(bytes: &[u8]) -> (ErrorCode, String, Value) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("parse error: the body is not UTF-8 at byte {}", error.valid_up_to());
            return (ErrorCode::PARSE_ERROR, message, Value::Null);
        }
    };
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        let what = if error.is_eof() { "ends too early" } else { "is not JSON" };
        let message = format!("parse error: the body {what} at line {}, column {}", error.line(), error.column());
        return (ErrorCode::PARSE_ERROR, message, Value::Null);
    }
    if text.trim_start().starts_with('[') {
        let message = "batches are not supported: send each message in a request of its own".to_owned();
        return (ErrorCode::INVALID_REQUEST, message, Value::Null);
    }
    let id = serde_json::from_str::<Outside<'_>>(text)
        .ok()
        .and_then(|outside| serde_json::from_str::<Value>(outside.id?.get()).ok())
        .filter(|id| id.is_string() || id.is_number());
    (ErrorCode::INVALID_REQUEST, "the body is no JSON-RPC 2.0 message".to_owned(), id.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_named_without_its_content() {
        for (body, code, word) in [
            (&b"{\"planted\": "[..], -32700, "ends too early at line 1"),
            (b"planted", -32700, "is not JSON"),
            (b"", -32700, "ends too early"),
            (b"{\"a\": \"planted \xff\"}", -32700, "not UTF-8 at byte 15"),
            (b" [{\"jsonrpc\": \"2.0\", \"planted\": 1}]", -32600, "batches are not supported"),
            (b"\"planted\"", -32600, "no JSON-RPC 2.0 message"),
        ] {
            let (found, message, id) = fault(body);
            assert_eq!((found.0, &id), (code, &Value::Null), "{message}");
            assert!(message.contains(word) && !message.contains("planted"), "{message}");
        }
        assert_eq!(fault(br#"{"id": 7, "jsonrpc": "1.0"}"#).2, json!(7));
        assert_eq!(fault(br#"{"id": {}, "jsonrpc": "1.0"}"#).2, Value::Null);
    }
}
