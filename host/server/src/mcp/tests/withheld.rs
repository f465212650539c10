//! Results that do not go out.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::host::{Era, Host, modern_call, note, result};
use super::wire::{Canned, Wire};

/// What a client gets and what the receipt says when the upstream answers so.
async fn answer(canned: Canned) -> (Value, Value) {
    let upstream = Wire::answering(canned).await;
    let host = Host::before(&upstream.url).await;
    let client = host.client(Era::Modern).await;
    let result = result(&client, "read", json!({})).await;
    drop(client);
    let stopped = host.stop().await;
    stopped.verified();
    let receipt = stopped.receipt();
    assert_eq!(note(&result)["tool_call"], receipt["tool_call"]);
    (result, receipt)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_settled_or_carried_is_withheld() {
    for (canned, code) in [
        (Canned::result(r#"{"content":[{"type":"text","text":"inside \ud800"}]}"#), "unsupported_value"),
        (Canned::events(r#"{"content":[{"type":"text","text":"inside \udc00"}]}"#), "unsupported_value"),
        (Canned::result(r#"{"content":[{"type":"text","text":"inside"}],"structuredContent":NaN}"#), "unreadable"),
        (Canned::json("inside, and no JSON"), "unreadable"),
        (Canned::json(&b"{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":\"inside \xff\"}"[..]), "unreadable"),
        (Canned::result(r#"{"content":[{"type":"hologram","inside":1}]}"#), "withheld"),
        (Canned::result(r#"{"resultType":"input_required","inputRequests":{"inside":1}}"#), "withheld"),
        (Canned::result(r#""inside""#), "withheld"),
    ] {
        let shown = String::from_utf8_lossy(&canned.body).into_owned();
        let (result, receipt) = answer(canned).await;
        assert_eq!(result["isError"], true, "{shown}");
        assert!(result.get("structuredContent").is_none());
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("the result was withheld"), "{shown}: {text}");
        assert!(!text.contains("inside"), "{shown}: {text}");
        if code == "unsupported_value" {
            assert!(text.contains(code), "{shown}: {text}");
        }
        assert_eq!(receipt["extra"]["outcome"], "withheld", "{shown}");
        assert_eq!(receipt["redactions"], json!(["policy"]), "{shown}");
        assert_eq!(receipt["policy_decision"], "allow", "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_the_protocol_has_no_place_for_are_left_out_and_the_receipt_says_so() {
    let secret = ["ghp", "m8bz3LuMJ5kgrlgtephAJu0gD6vlfs4QHNJc"].join("_");
    let sent = format!(
        r#"{{"content":[{{"type":"text","text":"kept {secret}","shade":"inside"}}],"total":"inside {secret}"}}"#
    );
    let (result, receipt) = answer(Canned::result(&sent)).await;
    assert_eq!(result["content"], json!([{"type": "text", "text": "kept [REDACTED:github_pat_classic]"}]));
    let shown = result.to_string();
    assert!(!shown.contains("inside") && !shown.contains(&secret), "{shown}");
    assert_eq!(receipt["extra"]["outcome"], "completed");
    assert_eq!(receipt["redactions"], json!(["secret", "schema_strict"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_large_is_withheld_and_called_so() {
    let large = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "inside ".repeat(3_000_000));
    for canned in [Canned::result(&large), Canned::events(&large)] {
        let (result, receipt) = answer(canned).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("the result was withheld: the upstream server's answer is larger than"), "{text}");
        assert!(text.contains(" bytes") && !text.contains("inside"), "{text}");
        assert_eq!(receipt["extra"]["outcome"], "withheld");
        assert_eq!(receipt["redactions"], json!(["size_limit"]));
        assert_eq!(note(&result)["redactions"], json!(["size_limit"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_on_a_stream_goes_out_and_what_was_said_beside_it_does_not() {
    let (result, receipt) = answer(Canned::events(r#"{"content":[{"type":"text","text":"fine"}]}"#)).await;
    assert_eq!(result["content"][0]["text"], "fine");
    assert_eq!(receipt["extra"]["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_the_order_of_members_stay_as_they_were_sent() {
    // An exponent gets a sign on the way through the JSON library: `1e2` goes out as `1e+2`.
    let upstream = Wire::answering(Canned::result(
        r#"{"content":[],"structuredContent":{"b":1.50,"a":10000000000000000000001,"c":1e+2}}"#,
    ))
    .await;
    let host = Host::before(&upstream.url).await;
    let response = modern_call(&host.url(), "read", &json!({})).send().await.unwrap();
    let text = response.text().await.unwrap();
    assert!(text.contains(r#"{"b":1.50,"a":10000000000000000000001,"c":1e+2}"#), "{text}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http_failure_of_a_call_is_a_failed_call() {
    let mut canned = Canned::json("inside");
    canned.status = StatusCode::INTERNAL_SERVER_ERROR;
    let (result, receipt) = answer(canned).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "the upstream server answers with HTTP 500");
    assert_eq!(receipt["extra"]["outcome"], "failed");
    assert_eq!(receipt["redactions"], json!(["producer_not_available"]));
}
