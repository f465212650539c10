//! Who may talk to a loopback listener: not web pages, and not without bound.
//!
//! A page in a browser can send requests to this machine, under a name that it lets point here. Such a request names the
//! page's host or its origin, and is turned away before anything else looks at it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::ENDPOINT;

/// Names of this machine.
const HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Most sessions of the older protocol at a time.
const MOST_SESSIONS: usize = 1024;

/// What requests are held against.
pub struct Guard {
    origins: Vec<String>,
    sessions: Arc<LocalSessionManager>,
}

impl Guard {
    /// A guard for a listener on this port.
    pub fn new(port: u16, sessions: Arc<LocalSessionManager>) -> Self {
        Self { origins: HOSTS.iter().map(|host| format!("http://{host}:{port}")).collect(), sessions }
    }

    /// Origins that may be named: our own.
    pub fn origins(&self) -> Vec<String> {
        self.origins.clone()
    }

    fn allows(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|value| value.to_str().ok());
        let origin = headers.get(ORIGIN).map(|value| value.to_str());
        host.is_some_and(is_this_machine)
            && origin.is_none_or(|origin| {
                origin.is_ok_and(|origin| self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin)))
            })
    }

    async fn is_full(&self) -> bool {
        self.sessions.sessions.read().await.len() >= MOST_SESSIONS
    }
}

/// Turn away what may not come in.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if !guard.allows(request.headers()) {
        tracing::warn!("a request for another host or from a web page was turned away");
        return (StatusCode::FORBIDDEN, "this server answers local programs only\n").into_response();
    }
    if opens_session(&request) && guard.is_full().await {
        tracing::warn!(sessions = MOST_SESSIONS, "no more sessions are taken");
        return (StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open\n").into_response();
    }
    next.run(request).await
}

/// Only requests without a session and without a version may open a session.
fn opens_session(request: &Request) -> bool {
    request.uri().path() == ENDPOINT
        && request.method() == Method::POST
        && !request.headers().contains_key("mcp-session-id")
        && !request.headers().contains_key("mcp-protocol-version")
}

/// Whether a `Host` names this machine, on any port.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|sign| sign.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    };
    HOSTS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::is_this_machine;

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        for host in ["localhost", "LOCALHOST:8470", "127.0.0.1:1", "[::1]", "[::1]:8470"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", ":80", "0.0.0.0:8470"] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
