//! Upstreams that are down or slow, clients that go away, and visitors that should not come.

use std::time::Duration;

use axum::http::StatusCode;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::host::{Era, Host, http, modern_call, note, options, result, until};
use super::sample::Sample;
use super::wire::Wire;

async fn ready(host: &Host) -> (StatusCode, Value) {
    let response = http().get(host.at("/readyz")).send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_is_down_is_said_and_comes_back_by_itself() {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let host = Host::before(&format!("http://{address}/mcp")).await;
    let client = host.client(Era::Modern).await;

    let down = result(&client, "echo", json!({})).await;
    assert_eq!(down["isError"], true);
    assert_eq!(down["content"][0]["text"], "the upstream server cannot be reached");
    assert_eq!(note(&down)["decision"], "not_evaluated");
    let (status, body) = ready(&host).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["upstream"], json!({"ok": false, "reason": "the upstream server cannot be reached"}));
    assert_eq!(body["engine"], json!({"ok": true}));
    assert_eq!(body["evidence"], json!({"ok": true}));
    let alive = http().get(host.at("/healthz")).send().await.unwrap();
    assert_eq!(alive.status(), StatusCode::OK);

    for _ in 0..2 {
        // The same again after it came back: it goes away and returns.
        let upstream = Sample::on(TcpListener::bind(address).await.unwrap()).await;
        until("the upstream is used again", || async { ready(&host).await.0 == StatusCode::OK }).await;
        let up = result(&client, "echo", json!({"a": "b"})).await;
        assert_eq!(up["content"][0]["text"], r#"{"a":"b"}"#);
        drop(upstream);
        until("its end is noticed", || async { ready(&host).await.0 == StatusCode::SERVICE_UNAVAILABLE }).await;
        let down = result(&client, "echo", json!({})).await;
        assert_eq!(down["isError"], true);
        assert_eq!(note(&down)["decision"], "allow");
    }
    drop(client);
    let stopped = host.stop().await;
    let mut outcomes: Vec<String> =
        stopped.receipts().iter().map(|receipt| receipt["extra"]["outcome"].as_str().unwrap().to_owned()).collect();
    outcomes.sort();
    assert_eq!(outcomes, ["completed", "completed", "failed", "failed", "failed"]);
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_refused_is_named() {
    let upstream = Wire::refusing(StatusCode::UNAUTHORIZED).await;
    let host = Host::before(&upstream.url).await;
    until("the refusal is known", || async {
        ready(&host).await.1["upstream"]["reason"].as_str().is_some_and(|why| why.contains("401"))
    })
    .await;
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_call_ends_with_a_receipt_that_says_so() {
    let upstream = Sample::start().await;
    let mut options = options(&upstream.url);
    options.upstream.call_timeout = Duration::from_millis(300);
    let host = Host::start(options).await;
    let client = host.client(Era::Modern).await;
    let late = result(&client, "slow", json!({})).await;
    assert_eq!(late["content"][0]["text"], "the tool did not answer in time");
    assert_eq!(late["isError"], true);
    until("the upstream hears of it", || async { upstream.cancelled() == 1 }).await;
    drop(client);
    let stopped = host.stop().await;
    assert_eq!(stopped.receipt()["extra"]["outcome"], "timed_out");
    assert_eq!(stopped.receipt()["output_hash"], Value::Null);
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_a_cancelled_call() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let request = tokio::spawn(modern_call(&host.url(), "slow", &json!({})).send());
    until("the call runs", || async { upstream.calls() == 1 }).await;
    request.abort();
    until("the upstream hears of it", || async { upstream.cancelled() == 1 }).await;
    let stopped = host.stop().await;
    assert_eq!(stopped.receipt()["extra"]["outcome"], "cancelled");
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_withdrawn_is_a_cancelled_call() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let client = host.client(Era::Legacy).await;
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("slow")));
    let handle = client.peer().send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    until("the call runs", || async { upstream.calls() == 1 }).await;
    handle.cancel(Some("changed my mind".to_owned())).await.unwrap();
    until("the upstream hears of it", || async { upstream.cancelled() == 1 }).await;
    drop(client);
    let stopped = host.stop().await;
    assert_eq!(stopped.receipt()["extra"]["outcome"], "cancelled");
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages_and_other_hosts_are_turned_away() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let own = format!("http://{}", host.running.address());
    for (header, value, status) in [
        ("origin", "http://evil.example", StatusCode::FORBIDDEN),
        ("origin", "null", StatusCode::FORBIDDEN),
        ("origin", "http://127.0.0.1:1", StatusCode::FORBIDDEN),
        ("host", "evil.example", StatusCode::FORBIDDEN),
        ("host", "127.0.0.1.evil.example", StatusCode::FORBIDDEN),
        ("origin", own.as_str(), StatusCode::OK),
        ("host", "localhost", StatusCode::OK),
    ] {
        let call = modern_call(&host.url(), "echo", &json!({})).header(header, value).send().await.unwrap();
        assert_eq!(call.status(), status, "{header}: {value}");
        let health = http().get(host.at("/readyz")).header(header, value).send().await.unwrap();
        assert_eq!(health.status(), status, "{header}: {value}");
    }
    assert_eq!(upstream.calls(), 2);
    let stopped = host.stop().await;
    assert_eq!(stopped.receipts().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_named_as_json_rpc_names_it() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo"}});
    for (body, code, words) in [
        ("{\"jsonrpc\": \"2.0\", planted".to_owned(), -32700, "parse error"),
        (json!([call]).to_string(), -32600, "batches are not supported"),
        (json!({"jsonrpc": "1.0", "id": 1, "planted": 1}).to_string(), -32600, "no JSON-RPC 2.0 message"),
    ] {
        let response = modern_call(&host.url(), "echo", &json!({})).body(body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
        assert!(!answer.to_string().contains("planted"), "{answer}");
    }
    // Another media type keeps its own status.
    let other = http().post(host.url()).header("content-type", "text/plain").body("x").send().await.unwrap();
    assert!(matches!(other.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::NOT_ACCEPTABLE));
    for (arguments, code, words) in [
        (json!(["planted"]), -32602, "`arguments` must be an object"),
        (json!("planted"), -32602, "`arguments` must be an object"),
    ] {
        let response = modern_call(&host.url(), "echo", &arguments).send().await.unwrap();
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["message"], words, "{answer}");
    }
    assert_eq!(upstream.calls(), 0);
    let stopped = host.stop().await;
    assert!(stopped.receipts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_limit_is_refused_and_other_paths_are_not_there() {
    let upstream = Sample::start().await;
    let mut options = options(&upstream.url);
    options.max_request_bytes = 2000;
    let host = Host::start(options).await;
    let big = modern_call(&host.url(), "echo", &json!({"a": "x".repeat(3000)})).send().await.unwrap();
    assert_eq!(big.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let elsewhere = http().get(host.at("/")).send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::NOT_FOUND);
    assert_eq!(upstream.calls(), 0);
    host.stop().await;
}
