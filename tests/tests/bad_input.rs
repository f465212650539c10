//! Bad input and bad circumstances for the built binary: each has a clear error, and no content goes out without a receipt.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use counterfoil_tests::fixture::client::{Client, get};
use counterfoil_tests::fixture::foreign::{json_of, roam};
use counterfoil_tests::fixture::host::{Host, binary, command, run, verify};
use counterfoil_tests::fixture::project::Project;
use counterfoil_tests::fixture::upstream::{Reply, Upstream, reading_tool};
#[cfg(target_os = "linux")]
use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::{Value, json};

/// What the upstream says; a client that gets to see it had its call answered.
const CONTENT: &str = "the content of the call";

/// An address where nothing listens.
const NOBODY: &str = "http://127.0.0.1:9/mcp";

async fn upstream() -> Result<Upstream> {
    Upstream::start(vec![reading_tool("read")], |_, arguments| match arguments.get("wait").and_then(Value::as_u64) {
        Some(wait) => Reply::Late(Duration::from_secs(wait), json!({"content": [{"type": "text", "text": CONTENT}]})),
        None => Reply::text(CONTENT),
    })
    .await
}

/// `serve` ends at once: how, and what it printed on standard error.
fn refused(project: &Project, arguments: &[&str]) -> Result<(Option<i32>, String)> {
    let mut words = vec!["serve", "--upstream", NOBODY, "--listen", "127.0.0.1:0"];
    words.extend(arguments);
    let Output { status, stderr, .. } = run(project, &words)?;
    Ok((status.code(), String::from_utf8_lossy(&stderr).into_owned()))
}

#[tokio::test]
async fn a_body_that_is_no_json_or_no_message_is_refused_and_the_host_goes_on() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let host = Host::start(&project, upstream.url(), &[])?;
    let client = Client::modern(&host.url())?;
    for body in ["", "not JSON", "{\"jsonrpc\": \"2.0\"", "[]", "null", "\u{feff}{}", "{}", "[[[[[["] {
        let answer = client.post(body, &[]).await?;
        assert!(answer.status.is_client_error(), "{body}: {} {}", answer.status, answer.body);
    }
    let answer = client.post(vec![0xff, 0xfe, 0x00], &[]).await?;
    assert!(answer.status.is_client_error(), "{}", answer.status);
    // The host answers before it has read everything and hangs up, which a client may notice first.
    if let Ok(answer) = Client::modern(&host.url())?.post("x".repeat(8 << 20), &[]).await {
        assert_eq!(answer.status.as_u16(), 413, "{}", answer.body);
    }
    assert!(upstream.calls().is_empty());
    let result = client.call("read", json!({})).await?.result()?;
    assert!(result.to_string().contains(CONTENT), "{result}");
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    Ok(())
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_an_error_that_says_so() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let host = Host::start(&project, upstream.url(), &[])?;
    for client in [Client::legacy(&host.url()).await?, Client::modern(&host.url())?] {
        let (code, text) = client.call("no-such-tool", json!({})).await?.error()?;
        assert_eq!(code, -32602, "{text}");
        assert!(text.contains("unknown tool"), "{text}");
    }
    assert!(upstream.calls().is_empty());
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    Ok(())
}

#[tokio::test]
async fn an_upstream_that_goes_away_gives_errors_with_receipts_until_it_is_back() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let host = Host::start(&project, upstream.url(), &[])?;
    let client = Client::modern(&host.url())?;
    client.call("read", json!({})).await?.result()?;
    drop(upstream);
    let message = client.call("read", json!({})).await?.message()?;
    let text = message.to_string();
    assert!(text.contains("upstream"), "{text}");
    assert!(!text.contains(CONTENT), "{text}");
    assert_eq!(get(&host.page("/healthz")).await?.status.as_u16(), 200);
    let run = project.only_run()?;
    assert_eq!(project.receipts(&run)?.len(), 2, "{text}");
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    assert_verified(&project, &run, 2)
}

#[tokio::test]
async fn an_upstream_that_is_too_slow_gives_an_error_with_a_receipt_and_no_content() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let settings = format!("[[upstream]]\nurl = \"{}\"\ncall_timeout_seconds = 1\n", upstream.url());
    let host = Host::start_from(&project, &settings)?;
    let client = Client::legacy(&host.url()).await?;
    let result = client.call("read", json!({"wait": 30})).await?.result()?;
    assert_eq!(result.get("isError"), Some(&json!(true)), "{result}");
    assert!(result.to_string().contains("in time"), "{result}");
    assert!(!result.to_string().contains(CONTENT), "{result}");
    let quick = client.call("read", json!({})).await?.result()?;
    assert!(quick.to_string().contains(CONTENT), "{quick}");
    let run = project.only_run()?;
    let outcomes: Vec<Value> =
        project.receipts(&run)?.values().filter_map(|receipt| receipt.pointer("/extra/outcome").cloned()).collect();
    assert!(outcomes.contains(&json!("timed_out")) && outcomes.contains(&json!("completed")), "{outcomes:?}");
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    assert_verified(&project, &run, 2)
}

#[tokio::test]
async fn an_upstream_that_is_not_there_yet_is_no_reason_not_to_start() -> Result<()> {
    let project = Project::new()?;
    let host = Host::start(&project, NOBODY, &[])?;
    assert_eq!(get(&host.page("/healthz")).await?.status.as_u16(), 200);
    let ready = get(&host.page("/readyz")).await?;
    assert_eq!(ready.status.as_u16(), 503, "{}", ready.body);
    assert!(ready.body.contains("upstream"), "{}", ready.body);
    let client = Client::modern(&host.url())?;
    let text = client.call("read", json!({})).await?.message()?.to_string();
    assert!(text.contains("cannot be reached"), "{text}");
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    Ok(())
}

#[tokio::test]
async fn a_call_in_flight_is_finished_or_refused_with_a_receipt_when_the_host_is_stopped() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let host = Host::start(&project, upstream.url(), &[])?;
    let client = Client::modern(&host.url())?;
    let calling = tokio::spawn(async move { client.call("read", json!({"wait": 1})).await });
    while upstream.calls().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let run = project.only_run()?;
    let stopped = tokio::task::spawn_blocking(move || host.stop()).await??;
    assert!(stopped.0.success(), "{}: {}", stopped.0, stopped.1);
    let answer = calling.await??;
    let meta: &Value = &answer.result()?;
    assert!(meta.to_string().contains(CONTENT), "{meta}");
    assert_verified(&project, &run, 1)
}

#[test]
fn an_unknown_mode_is_an_error_wherever_it_stands() -> Result<()> {
    let project = Project::new()?;
    let (code, text) = refused(&project, &["--mode", "superuser"])?;
    assert!(matches!(code, Some(1 | 2)), "{code:?}: {text}");
    assert!(text.contains("mode") && text.contains("`safe_edit`"), "{text}");
    fs::create_dir_all(project.state())?;
    fs::write(project.state().join("active_mode"), "READ_ONLY\n")?;
    let (code, text) = refused(&project, &[])?;
    assert!(matches!(code, Some(1 | 2)), "{code:?}: {text}");
    assert!(text.contains("mode") && text.contains("`safe_edit`"), "{text}");
    assert!(project.runs()?.is_empty());
    Ok(())
}

#[test]
fn a_corrupt_key_is_an_error_that_names_it_and_is_left_alone() -> Result<()> {
    let project = Project::new()?;
    let key = project.state().join("runs/.ledger_key");
    fs::create_dir_all(project.state().join("runs"))?;
    fs::write(&key, [7; 31])?;
    let (code, text) = refused(&project, &[])?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("key") && text.contains("32"), "{text}");
    assert_eq!(fs::read(&key)?, [7; 31]);
    assert!(project.runs()?.is_empty());
    Ok(())
}

#[test]
fn a_state_folder_that_is_a_file_is_an_error_that_names_it() -> Result<()> {
    let project = Project::new()?;
    fs::write(project.state(), "not a folder")?;
    let (code, text) = refused(&project, &[])?;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(".roam"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_read_only_state_folder_is_an_error_at_the_start() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    fs::create_dir(project.state())?;
    let mut command = unprivileged(&project)?;
    fs::set_permissions(project.state(), fs::Permissions::from_mode(0o555))?;
    let output = command.args(["serve", "--upstream", upstream.url(), "--listen", "127.0.0.1:0"]).output()?;
    fs::set_permissions(project.state(), fs::Permissions::from_mode(0o755))?;
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(".roam") && text.to_lowercase().contains("permission denied"), "{text}");
    Ok(())
}

#[tokio::test]
async fn content_is_withheld_when_the_state_folder_becomes_read_only() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    fs::create_dir(project.state())?;
    fs::set_permissions(project.state(), fs::Permissions::from_mode(0o777))?;
    let host = Host::start_as(unprivileged(&project)?, upstream.url(), &[])?;
    let client = Client::modern(&host.url())?;
    let result = client.call("read", json!({})).await?.result()?;
    assert!(result.to_string().contains(CONTENT), "{result}");

    let rights = lock(&project.state())?;
    let message = client.call("read", json!({})).await?.message()?.to_string();
    let sealed = message.contains(CONTENT);
    unlock(rights)?;
    let run = project.only_run()?;
    // A host that has its files open already may still be able to write a durable record; then the receipt is there.
    let (status, log) = host.stop()?;
    let receipts = project.receipts(&run)?.len();
    assert_eq!(receipts, if sealed { 2 } else { 1 }, "{status}: {message}: {log}");
    assert_verified(&project, &run, receipts as u64)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_content_goes_out_when_nothing_more_can_be_written() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let mut unwarned = Command::new("/bin/sh");
    unwarned.env_clear().current_dir(project.path()).args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(binary()?);
    let host = Host::start_as(unwarned, upstream.url(), &[])?;
    // From now on no file may grow beyond 32 KiB: to the host it looks as if the disk were full.
    let limit = Rlimit { current: Some(32 << 10), maximum: Some(32 << 10) };
    prlimit(Some(host.id()), Resource::Fsize, limit)?;
    let client = Client::modern(&host.url())?;
    let run = project.only_run()?;
    let mut answered = 0;
    let mut refusals = Vec::new();
    for _ in 0..400 {
        let message = client.call("read", json!({})).await?.message()?.to_string();
        if message.contains(CONTENT) {
            answered += 1;
            assert!(refusals.is_empty(), "an answer after a refusal: {message}");
        } else {
            refusals.push(message);
            if refusals.len() == 3 {
                break;
            }
        }
    }
    assert!(answered > 0, "{refusals:?}");
    let refusal = refusals.first().context("the folder never was full")?;
    assert!(refusal.contains("receipt"), "{refusal}");
    let log = host.kill()?;
    // Room again: whatever was left half-written is put right at the next start, and no answered call lacks its receipt.
    let host = Host::start(&project, upstream.url(), &[])?;
    let (status, _) = host.stop()?;
    assert!(status.success(), "{status}");
    let receipts = project.receipts(&run)?.len();
    assert!(receipts >= answered, "{answered} answers, {receipts} receipts: {log}");
    let (_, verdict) = verify(&project, &run, &[])?;
    assert_eq!(verdict.get("state"), Some(&json!("ok")), "{verdict}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_under_load_every_answered_call_has_its_receipt_and_the_chain_goes_on() -> Result<()> {
    let upstream = upstream().await?;
    let project = Project::new()?;
    let host = Host::start(&project, upstream.url(), &[])?;
    let run = project.only_run()?;
    let mut clients = Vec::new();
    for _ in 0..8 {
        let url = host.url();
        clients.push(tokio::spawn(async move {
            let client = Client::modern(&url)?;
            let mut answered = Vec::new();
            // Until the host is gone.
            while let Ok(answer) = client.call("read", json!({})).await {
                let Ok(result) = answer.result() else { break };
                answered.push(result);
            }
            Ok::<_, anyhow::Error>(answered)
        }));
    }
    tokio::time::sleep(Duration::from_millis(700)).await;
    host.kill()?;
    let mut answered = Vec::new();
    for client in clients {
        answered.extend(client.await??);
    }
    assert!(answered.len() > 10, "only {} answers", answered.len());
    cut_last_line(&project.ledger(&run))?;

    let host = Host::start(&project, upstream.url(), &[])?;
    Client::modern(&host.url())?.call("read", json!({})).await?.result()?;
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");

    assert_eq!(project.runs()?.len(), 2, "{log}");
    let receipts = project.receipts(&run)?;
    let (_, verdict) = verify(&project, &run, &[])?;
    assert_eq!(verdict.get("state"), Some(&json!("ok")), "{verdict}");
    assert_eq!(verdict.get("receipt_integrity"), Some(&json!("ok")), "{verdict}");
    let ledger = fs::read_to_string(project.ledger(&run))?;
    let links: Vec<Value> = ledger.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for result in &answered {
        let text = result.to_string();
        let id =
            receipts.keys().find(|id| text.contains(id.as_str())).with_context(|| format!("no receipt: {text}"))?;
        assert!(links.iter().any(|event| event.get("tool_call") == Some(&json!(id))), "no link for {id}");
    }
    assert!(log.contains("was recovered") && log.contains(&run), "nothing is said of the cut line: {log}");
    if let Some(mut theirs) = roam(&project, &["runs", "verify", &run]) {
        let theirs = json_of(&mut theirs)?;
        assert_eq!(theirs.pointer("/summary/state"), Some(&json!("ok")), "{theirs}");
    }
    for other in project.runs()? {
        if other != run {
            assert_verified(&project, &other, 1)?;
        }
    }
    Ok(())
}

/// Both of our verdicts on a run are good, and it has that many events.
fn assert_verified(project: &Project, run: &str, events: u64) -> Result<()> {
    let (status, verdict) = verify(project, run, &[])?;
    assert_eq!(status.code(), Some(0), "{verdict}");
    assert_eq!(verdict.get("state"), Some(&json!("ok")), "{verdict}");
    assert_eq!(verdict.get("events_verified"), Some(&json!(events)), "{verdict}");
    Ok(())
}

/// Cut the last line of a ledger in half, as a crash in the middle of writing would.
fn cut_last_line(ledger: &Path) -> Result<()> {
    let text = fs::read_to_string(ledger)?;
    let whole = text.trim_end_matches('\n');
    let Some((before, last)) = whole.rsplit_once('\n') else { bail!("fewer than two lines") };
    let half: String = last.chars().take(last.len() / 2).collect();
    fs::write(ledger, format!("{before}\n{half}"))?;
    Ok(())
}

/// The binary as somebody who has to respect permissions: root does not.
fn unprivileged(project: &Project) -> Result<Command> {
    if !rustix::process::geteuid().is_root() {
        return command(project);
    }
    fs::set_permissions(project.path(), fs::Permissions::from_mode(0o755))?;
    // The workspace may lie where nobody else can go.
    let copy = project.path().join("counterfoil");
    fs::copy(binary()?, &copy)?;
    let mut command = Command::new(copy);
    command.env_clear().current_dir(project.path()).uid(65_534).gid(65_534);
    Ok(command)
}

/// Take away the right to write anywhere in a folder; what the rights were.
fn lock(folder: &Path) -> Result<Vec<(PathBuf, fs::Permissions)>> {
    let mut rights = vec![(folder.to_owned(), fs::metadata(folder)?.permissions())];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            rights.extend(lock(&path)?);
        } else {
            rights.push((path.clone(), fs::metadata(&path)?.permissions()));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o444))?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555))?;
    Ok(rights)
}

/// Give back the rights that were taken away.
fn unlock(rights: Vec<(PathBuf, fs::Permissions)>) -> Result<()> {
    for (path, permissions) in rights {
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}
