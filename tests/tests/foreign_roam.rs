//! roam-code reads, verifies and writes the runs of the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use counterfoil_tests::fixture::client::Client;
use counterfoil_tests::fixture::foreign::{json_of, roam};
use counterfoil_tests::fixture::host::{Host, verify};
use counterfoil_tests::fixture::project::Project;
use counterfoil_tests::fixture::upstream::{Reply, Upstream, destroying_tool, reading_tool};
use counterfoil_tests::tool_cache::{python, skip};
use serde_json::{Value, json};

/// How many clients call at the same time while roam-code writes, and how often each.
const CLIENTS: usize = 4;
const CALLS: usize = 25;

#[tokio::test]
async fn roam_verifies_our_run_while_it_is_open_and_after_it_has_ended() -> Result<()> {
    if python().is_none() {
        skip("roam_verifies_our_run_while_it_is_open_and_after_it_has_ended", "the Python packages");
        return Ok(());
    }
    let project = Project::new()?;
    let upstream = upstream().await?;
    let host = Host::start(&project, upstream.url(), &[])?;
    let run = project.only_run()?;
    assert_eq!(roam_state(&project, &run)?, ("ok".to_owned(), 0));

    let client = Client::modern(&host.url())?;
    client.call("read", json!({"path": "a"})).await?.result()?;
    let denied = client.call("destroy", json!({})).await?.result()?;
    assert_eq!(denied.get("isError"), Some(&json!(true)), "{denied}");
    assert_eq!(roam_state(&project, &run)?, ("ok".to_owned(), 2));

    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    assert_eq!(roam_state(&project, &run)?.0, "ok");
    let shown = json_of(&mut roam(&project, &["runs", "show", &run]).context("no roam")?)?;
    let (kept, ended) = (shown.pointer("/run/status"), shown.pointer("/run/ended_at"));
    assert_eq!(kept, Some(&json!("completed")), "{shown}");
    assert!(ended.is_some_and(Value::is_string), "{shown}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn roam_logs_into_our_run_under_load_without_a_fork_or_a_lost_link() -> Result<()> {
    if python().is_none() {
        skip("roam_logs_into_our_run_under_load_without_a_fork_or_a_lost_link", "the Python packages");
        return Ok(());
    }
    let project = Arc::new(Project::new()?);
    let upstream = upstream().await?;
    let host = Host::start(&project, upstream.url(), &[])?;
    let run = project.only_run()?;

    let calling = Arc::new(AtomicBool::new(true));
    let writer = {
        let (project, calling, run) = (Arc::clone(&project), Arc::clone(&calling), run.clone());
        tokio::task::spawn_blocking(move || -> Result<usize> {
            let mut logged = 0;
            // At least five events, even on a machine where the calls are over at once.
            while calling.load(Ordering::Relaxed) || logged < 5 {
                let target = format!("step {logged}");
                let words = ["runs", "log", "--run-id", &run, "--action", "edit", "--target", &target];
                json_of(&mut roam(&project, &words).context("no roam")?)?;
                logged += 1;
            }
            Ok(logged)
        })
    };
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let url = host.url();
        clients.push(tokio::spawn(async move {
            let client = Client::modern(&url)?;
            for call in 0..CALLS {
                client.call("read", json!({"client": number, "call": call})).await?.result()?;
                // Spread over the time that roam-code needs for a few of its own.
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Ok::<_, anyhow::Error>(())
        }));
    }
    for client in clients {
        client.await??;
    }
    calling.store(false, Ordering::Relaxed);
    let logged = writer.await??;
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");

    assert_eq!(project.only_run()?, run, "a second run: {log}");
    let events = project.events(&run)?;
    let links: Vec<&str> = events
        .iter()
        .filter(|event| event.get("action") == Some(&json!("mcp_receipt")))
        .filter_map(|event| event.get("tool_call").and_then(Value::as_str))
        .collect();
    let receipts = project.receipts(&run)?;
    assert_eq!(receipts.len(), CLIENTS * CALLS);
    assert_eq!(links.len(), CLIENTS * CALLS);
    assert!(receipts.keys().all(|id| links.contains(&id.as_str())));
    assert_eq!(events.iter().filter(|event| event.get("action") == Some(&json!("edit"))).count(), logged);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event.get("seq").and_then(Value::as_u64)).collect();
    assert!(numbers.iter().copied().eq(1..=events.len() as u64), "{numbers:?}");

    assert_eq!(roam_state(&project, &run)?, ("ok".to_owned(), events.len() as u64));
    let (status, verdict) = verify(&project, &run, &[])?;
    assert_eq!(status.code(), Some(0), "{verdict}");
    assert_eq!(verdict.get("events_verified"), Some(&json!(events.len())), "{verdict}");
    assert_eq!(verdict.get("receipt_integrity"), Some(&json!("ok")), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_run_that_roam_started_verifies_the_same_for_both() -> Result<()> {
    if python().is_none() {
        skip("a_run_that_roam_started_verifies_the_same_for_both", "the Python packages");
        return Ok(());
    }
    let project = Project::new()?;
    let started = json_of(&mut roam(&project, &["runs", "start", "--agent", "someone"]).context("no roam")?)?;
    let run = started.pointer("/summary/run_id").and_then(Value::as_str).context("no run id")?.to_owned();
    for target in ["a", "ü\u{2028}b"] {
        let words = ["runs", "log", "--run-id", &run, "--action", "edit", "--target", target];
        json_of(&mut roam(&project, &words).context("no roam")?)?;
    }

    // The host takes the folder with its key as it is, and leaves the run alone.
    let upstream = upstream().await?;
    let host = Host::start(&project, upstream.url(), &[])?;
    Client::modern(&host.url())?.call("read", json!({})).await?.result()?;
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    assert_eq!(project.runs()?.len(), 2);
    for run in project.runs()? {
        let (status, verdict) = verify(&project, &run, &["--compat", "roam"])?;
        assert_eq!(status.code(), Some(0), "{verdict}");
        let theirs = json_of(&mut roam(&project, &["runs", "verify", &run]).context("no roam")?)?;
        for member in ["state", "events_verified", "first_tamper_at_seq", "partial_success", "final_signature"] {
            let wanted = theirs.pointer(&format!("/summary/{member}")).cloned().unwrap_or(Value::Null);
            assert_eq!(verdict.get(member), Some(&wanted), "{member}: {verdict} against {theirs}");
        }
        assert_eq!(verdict.get("details"), theirs.get("details"));
    }
    Ok(())
}

/// An upstream with a tool that reads and one that destroys.
async fn upstream() -> Result<Upstream> {
    Upstream::start(vec![reading_tool("read"), destroying_tool("destroy")], |_, arguments| {
        Reply::text(&format!("you said {arguments}"))
    })
    .await
}

/// State and number of verified events, as roam-code sees a run.
fn roam_state(project: &Project, run: &str) -> Result<(String, u64)> {
    let told = json_of(&mut roam(project, &["runs", "verify", run]).context("no roam")?)?;
    let state = told.pointer("/summary/state").and_then(Value::as_str).context("no state")?;
    let events = told.pointer("/summary/events_verified").and_then(Value::as_u64).context("no count")?;
    Ok((state.to_owned(), events))
}
