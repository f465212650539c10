//! An upstream whose every byte is chosen by the test. It speaks the older protocol, without sessions.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The answer to a call: media type and body, where `$ID` stands for the request's id.
#[derive(Clone)]
pub struct Canned {
    pub status: StatusCode,
    pub kind: &'static str,
    pub body: Vec<u8>,
}

impl Canned {
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { status: StatusCode::OK, kind: "application/json", body: body.into() }
    }

    /// A result on a stream of events, after a notification.
    pub fn events(result: &str) -> Self {
        let note =
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"never let out"}}"#;
        let body = format!(
            "event: message\ndata: {note}\n\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{result}}}\n\n"
        );
        Self { status: StatusCode::OK, kind: "text/event-stream", body: body.into_bytes() }
    }

    /// A result.
    pub fn result(result: &str) -> Self {
        Self::json(format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#))
    }
}

/// A running upstream.
pub struct Wire {
    pub url: String,
    task: JoinHandle<()>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Wire {
    /// One tool, `read`, that answers so.
    pub async fn answering(canned: Canned) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", socket.local_addr().unwrap());
        let router = Router::new().route("/mcp", post(answer)).with_state(Arc::new(canned));
        let task = tokio::spawn(async move {
            axum::serve(socket, router).await.unwrap();
        });
        Self { url, task }
    }

    /// Nothing but this HTTP status.
    pub async fn refusing(status: StatusCode) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", socket.local_addr().unwrap());
        let router = Router::new().route("/mcp", post(move || async move { status }));
        let task = tokio::spawn(async move {
            axum::serve(socket, router).await.unwrap();
        });
        Self { url, task }
    }
}

async fn answer(State(canned): State<Arc<Canned>>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "wire", "version": "0"},
        }),
        "tools/list" => json!({
            "tools": [{"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}],
        }),
        "tools/call" => {
            let text = id.to_string();
            let body = replace(&canned.body, b"$ID", text.as_bytes());
            return (canned.status, [(CONTENT_TYPE, canned.kind)], body).into_response();
        }
        method if method.starts_with("notifications/") => return StatusCode::ACCEPTED.into_response(),
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}});
            return (StatusCode::BAD_REQUEST, axum::Json(error)).into_response();
        }
    };
    axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

fn replace(body: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let Some(at) = body.windows(from.len()).position(|part| part == from) else {
        return body.to_owned();
    };
    [&body[..at], to, &body[at + from.len()..]].concat()
}
