//! Starting where one may not, and stopping.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;

use super::host::{Era, Host, modern_call, note, options, result, until};
use super::sample::Sample;
use crate::mcp::start;

#[tokio::test]
async fn only_loopback_addresses_are_listened_on() {
    for address in ["0.0.0.0:0", "192.0.2.1:0", "[::]:0"] {
        let mut options = options("http://127.0.0.1:9/mcp");
        options.listen = address.parse::<SocketAddr>().unwrap();
        let error = start(options).await.err().unwrap().to_string();
        assert!(error.contains("not a loopback address"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_mode_or_configuration_is_an_error_and_no_wider_mode() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, file, configuration) in
        [(Some("Read_Only"), None, None), (None, Some("yolo"), None), (None, None, Some(r#"{"surprise": 1}"#))]
    {
        let state = folder.path().join(".roam");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::write(state.join("active_mode"), file.unwrap_or("")).unwrap();
        let mut options = options("http://127.0.0.1:9/mcp");
        options.state_dir = Some(state.clone());
        options.mode = mode.map(str::to_owned);
        options.configuration = configuration.map(str::to_owned);
        assert!(start(options).await.is_err(), "{mode:?} {file:?} {configuration:?}");
        assert!(!state.join("runs").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mode_of_the_state_folder_counts_when_nothing_is_said() {
    let upstream = Sample::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("active_mode"), "read_only\n").unwrap();
    let mut options = options(&upstream.url);
    options.state_dir = Some(folder.path().to_owned());
    let running = start(options).await.unwrap();
    let answer = modern_call(&running.url(), "write", &json!({})).send().await.unwrap();
    assert!(answer.text().await.unwrap().contains("MODE_BLOCKED"));
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_lets_calls_finish_within_the_grace_and_cancels_the_rest() {
    let upstream = Sample::start().await;
    let mut options = options(&upstream.url);
    options.stop_grace = Duration::from_millis(300);
    let host = Host::start(options).await;
    // A client of the older protocol keeps a stream open for news: it must not keep the host from stopping.
    let idle = host.client(Era::Legacy).await;
    let request = tokio::spawn(modern_call(&host.url(), "slow", &json!({})).send());
    until("the call runs", || async { upstream.calls() == 1 }).await;
    let begun = Instant::now();
    let stopped = host.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    let answer: serde_json::Value = request.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "the call was cancelled");
    assert_eq!(note(&answer["result"])["decision"], "allow");
    assert_eq!(stopped.receipt()["extra"]["outcome"], "cancelled");
    assert_eq!(stopped.verified()["status"], "completed");
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_receipt_cannot_be_written_nothing_goes_out() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    // The state folder is gone from under the host.
    let state = host.state();
    let aside = state.path().with_extension("aside");
    std::fs::rename(state.path(), &aside).unwrap();
    std::fs::write(state.path(), "in the way").unwrap();
    let answer: serde_json::Value =
        modern_call(&host.url(), "echo", &json!({"a": "inside"})).send().await.unwrap().json().await.unwrap();
    assert_eq!(upstream.calls(), 1);
    assert_eq!(answer["result"]["isError"], true);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("the receipt of this call could not be written"), "{text}");
    assert!(!answer.to_string().contains("inside"), "{answer}");
    let ready = super::host::http().get(host.at("/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), 503);
    let body: serde_json::Value = ready.json().await.unwrap();
    assert_eq!(body["evidence"]["ok"], false);
    // And it is back: calls go out again.
    std::fs::remove_file(state.path()).unwrap();
    std::fs::rename(&aside, state.path()).unwrap();
    let answer: serde_json::Value =
        modern_call(&host.url(), "echo", &json!({"a": "again"})).send().await.unwrap().json().await.unwrap();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("again"), "{answer}");
    host.stop().await.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_key_a_host_withholds_until_the_key_is_back() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let answer = || async {
        let sent = modern_call(&host.url(), "echo", &json!({"a": "inside"})).send().await.unwrap();
        sent.text().await.unwrap()
    };
    assert!(answer().await.contains("inside"));
    let key = host.state().path().join("runs/.ledger_key");
    let aside = key.with_extension("aside");
    std::fs::rename(&key, &aside).unwrap();
    for content in [None, Some(vec![9; 32]), Some(Vec::new())] {
        if let Some(content) = content {
            std::fs::copy(&aside, &key).unwrap();
            std::fs::write(&key, content).unwrap();
        }
        let text = answer().await;
        assert!(!text.contains("inside") && text.contains("could not be written"), "{text}");
        let ready = super::host::http().get(host.at("/readyz")).send().await.unwrap();
        assert_eq!(ready.status(), 503);
    }
    std::fs::rename(&aside, &key).unwrap();
    assert!(answer().await.contains("inside"));
    let stopped = host.stop().await;
    assert_eq!(stopped.receipts().len(), 2);
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_share_a_state_folder() {
    let upstream = Sample::start().await;
    let first = Host::before(&upstream.url).await;
    modern_call(&first.url(), "echo", &json!({})).send().await.unwrap();
    let mut options = options(&upstream.url);
    options.state_dir = Some(first.state().path().to_owned());
    let second = start(options).await.unwrap();
    assert_ne!(first.running.run_id(), second.run_id());
    for url in [first.url(), second.url()] {
        let answer = modern_call(&url, "leak", &json!({})).send().await.unwrap();
        assert!(answer.text().await.unwrap().contains("REDACTED"));
    }
    second.stop().await.unwrap();
    let stopped = first.stop().await;
    assert_eq!(stopped.receipts().len(), 3);
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forked_ledger_withholds_one_call_and_the_next_ones_go_on_in_a_new_run() {
    let upstream = Sample::start().await;
    let host = Host::before(&upstream.url).await;
    let client = host.client(Era::Modern).await;
    let first = result(&client, "echo", json!({})).await;
    let events = host.state().events_path(&host.running.run_id().parse().unwrap());
    let forged = json!({"seq": 1, "event": "forged", "signature": "0".repeat(64)});
    let mut ledger = std::fs::OpenOptions::new().append(true).open(events).unwrap();
    std::io::Write::write_all(&mut ledger, format!("{forged}\n").as_bytes()).unwrap();
    let second = result(&client, "echo", json!({"a": "inside"})).await;
    assert_eq!(second["isError"], true);
    assert!(!second.to_string().contains("inside"), "{second}");
    let third = result(&client, "echo", json!({"a": "again"})).await;
    assert!(third.to_string().contains("again"), "{third}");
    assert_ne!(note(&first)["run"], note(&third)["run"]);
    assert_eq!(note(&second)["run"], note(&third)["run"]);
    drop(client);
    let stopped = host.stop().await;
    let outcomes: Vec<_> =
        stopped.receipts().iter().map(|receipt| receipt["extra"]["outcome"].as_str().unwrap().to_owned()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "withheld").count(), 1);
    assert_eq!(outcomes.len(), 3);
    // The run that goes on is whole, and the other one is closed.
    stopped.verified();
    assert_eq!(stopped.meta(note(&first)["run"].as_str().unwrap())["status"], "failed");
}
