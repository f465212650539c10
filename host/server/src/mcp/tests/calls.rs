//! Calls that go as they should, and such that the mode denies.

use std::collections::BTreeSet;

use serde_json::json;

use super::host::{BOTH, Era, Host, MASK, call, note, options, result, token};
use super::sample::Sample;

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_call_comes_back_without_its_secret_in_both_eras() {
    for era in BOTH {
        let upstream = Sample::start().await;
        let host = Host::before(&upstream.url).await;
        let client = host.client(era).await;
        let result = result(&client, "leak", json!({"a": "x"})).await;
        assert_eq!(result["content"][0]["text"], json!(format!("it is {MASK}, so")));
        assert_eq!(result["structuredContent"], json!({"token": MASK, "count": 3}));
        assert_eq!(result["_meta"]["up/stream"], json!(MASK));
        let note = note(&result).clone();
        assert_eq!(note["decision"], "allow");
        assert_eq!(note["enforcement"], "enforced");
        assert_eq!(note["redactions"], json!(["secret"]));
        assert_eq!(note["secrets"], json!({"github_pat_classic": 3}));
        assert_eq!(note["markers"], json!({}));
        let run = host.running.run_id();
        assert_eq!(note["run"], json!(run));
        drop(client);
        let stopped = host.stop().await;
        let receipt = stopped.receipt();
        assert_eq!(receipt["tool_call"], note["tool_call"]);
        assert_eq!(receipt["tool_name"], "leak");
        assert_eq!(receipt["client_id"], "probe/1.2");
        assert_eq!(receipt["run_event_id"], json!(run));
        assert_eq!(receipt["policy_decision"], "allow");
        assert_eq!(receipt["redactions"], json!(["secret"]));
        assert_eq!(receipt["extra"]["outcome"], "completed");
        assert_eq!(receipt["extra"]["upstream"], "sample");
        assert_eq!(receipt["extra"]["component"].as_str().unwrap().len(), 64);
        assert_eq!(stopped.verified()["status"], "completed");
        assert!(!stopped.everything().contains(&token()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_is_answered_by_the_envelope_and_never_reaches_the_upstream() {
    for era in BOTH {
        let upstream = Sample::start().await;
        let host = Host::before(&upstream.url).await;
        let client = host.client(era).await;
        for tool in ["wipe", "undeclared"] {
            let result = result(&client, tool, json!({})).await;
            assert_eq!(result["isError"], true);
            assert!(result.get("structuredContent").is_none());
            let envelope: serde_json::Value =
                serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(envelope["error_code"], "MODE_BLOCKED");
            assert_eq!(note(&result)["decision"], "deny");
        }
        assert_eq!(upstream.calls(), 0);
        drop(client);
        let stopped = host.stop().await;
        for receipt in stopped.receipts() {
            assert_eq!(receipt["policy_decision"], "deny");
            assert_eq!(receipt["required_mode"], "migration");
            assert_eq!(receipt["extra"]["outcome"], "denied");
            assert_eq!(receipt["input_hash"].as_str().unwrap().len(), 64);
        }
        assert_eq!(stopped.receipts().len(), 2);
        stopped.verified();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_dry_run_a_denied_call_runs_and_its_receipt_says_so() {
    let upstream = Sample::start().await;
    let mut options = options(&upstream.url);
    options.dry_run = true;
    options.mode = Some("read_only".to_owned());
    let host = Host::start(options).await;
    let client = host.client(Era::Modern).await;
    let result = result(&client, "wipe", json!({"z": "1", "a": "2"})).await;
    assert_eq!(result["content"][0]["text"], json!(r#"{"z":"1","a":"2"}"#));
    assert_eq!(note(&result)["decision"], "deny");
    assert_eq!(note(&result)["enforcement"], "dry_run");
    assert_eq!(upstream.calls(), 1);
    drop(client);
    let stopped = host.stop().await;
    assert_eq!(stopped.receipt()["policy_decision"], "would_deny_dry_run");
    assert_eq!(stopped.receipt()["extra"]["outcome"], "completed");
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wider_mode_lets_the_call_run_and_the_operator_may_declare_tools() {
    let upstream = Sample::start().await;
    let mut options = options(&upstream.url);
    options.configuration =
        Some(json!({"tools": {"wipe": {"read_only": true, "destructive": false, "idempotent": true}}}).to_string());
    options.mode = Some("read_only".to_owned());
    options.agent = Some("agent-7".to_owned());
    let host = Host::start(options).await;
    let client = host.client(Era::Modern).await;
    let ran = result(&client, "wipe", json!({})).await;
    assert_eq!(ran["content"][0]["text"], "{}");
    assert_eq!(result(&client, "write", json!({})).await["isError"], true);
    drop(client);
    let stopped = host.stop().await;
    for receipt in stopped.receipts() {
        assert_eq!(receipt["actor_ref_id"], "agent-7");
    }
    let meta = stopped.verified();
    assert_eq!(meta["agent"], "agent-7");
    assert_eq!(meta["mode"], "read_only");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tools_get_one_answer_and_leave_nothing() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let mut answers = BTreeSet::new();
    for tool in ["nothing", "leak ", "", "../../etc", &"x".repeat(2000)] {
        let client = host.client(Era::Legacy).await;
        let error = call(&client, tool, json!({})).await.unwrap_err();
        let rmcp::ServiceError::McpError(error) = error else {
            panic!("{error}");
        };
        answers.insert(serde_json::to_string(&error).unwrap());
    }
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), [r#"{"code":-32602,"message":"unknown tool"}"#]);
    assert_eq!(upstream.calls(), 0);
    let stopped = host.stop().await;
    assert!(stopped.receipts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_upstream_keeps_its_code_and_loses_its_secrets() {
    for era in BOTH {
        let upstream = Sample::start().await;
        let host = Host::before(&upstream.url).await;
        let client = host.client(era).await;
        let rmcp::ServiceError::McpError(error) = call(&client, "fail", json!({})).await.unwrap_err() else {
            panic!("not an error of the protocol");
        };
        assert_eq!(error.code.0, -32050);
        assert_eq!(error.message, format!("no {MASK}"));
        let data = error.data.unwrap();
        assert_eq!(data["detail"], json!([MASK]));
        assert_eq!(data[crate::mcp::shape::RECEIPT]["secrets"], json!({"github_pat_classic": 2}));
        drop(client);
        let stopped = host.stop().await;
        assert_eq!(stopped.receipt()["extra"]["outcome"], "failed");
        assert!(!stopped.everything().contains(&token()));
        stopped.verified();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_calls_at_once_leave_a_hundred_receipts() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let clients = [host.client(Era::Legacy).await, host.client(Era::Modern).await];
    let calls = (0..100).map(|number| {
        let client = &clients[number % 2];
        async move {
            let tool = ["leak", "echo", "wipe", "write"][number % 4];
            let result = result(client, tool, json!({"a": number.to_string()})).await;
            note(&result)["tool_call"].as_str().unwrap().to_owned()
        }
    });
    let told: BTreeSet<String> = futures::future::join_all(calls).await.into_iter().collect();
    assert_eq!(told.len(), 100);
    drop(clients);
    let stopped = host.stop().await;
    let written: BTreeSet<String> =
        stopped.receipts().iter().map(|receipt| receipt["tool_call"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, written);
    stopped.verified();
}
