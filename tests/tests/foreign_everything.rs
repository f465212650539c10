//! The official MCP server with a tool for everything, behind the host, called by clients that are not ours.

use anyhow::{Context as _, Result};
use counterfoil_tests::fixture::client::Client;
use counterfoil_tests::fixture::everything::Everything;
use counterfoil_tests::fixture::foreign::{json_of, node_script, python_script};
use counterfoil_tests::fixture::host::{Host, verify};
use counterfoil_tests::fixture::project::Project;
use counterfoil_tests::fixture::secrets::{Secret, leak, planted};
use counterfoil_tests::tool_cache::{npm_folder, root, skip};
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};

#[tokio::test]
async fn planted_secrets_reach_no_client_and_each_call_has_a_verified_receipt() -> Result<()> {
    let secrets = planted()?;
    let Some(upstream) = Everything::start(&secrets)? else {
        skip("planted_secrets_reach_no_client_and_each_call_has_a_verified_receipt", "the npm packages");
        return Ok(());
    };
    let direct = Client::legacy(&upstream.url()).await?.call("get-env", json!({})).await?;
    assert!(secrets.iter().all(|secret| leak(direct.body.as_bytes(), std::slice::from_ref(secret)).is_some()));

    let project = Project::new()?;
    let host = Host::start(&project, &upstream.url(), &[])?;
    let mut seen = vec![
        ("plain HTTP with sessions", Client::legacy(&host.url()).await?.call("get-env", json!({})).await?.result()?),
        ("plain HTTP without sessions", Client::modern(&host.url())?.call("get-env", json!({})).await?.result()?),
        ("rmcp with sessions", rmcp_call(&host, ClientLifecycleMode::Initialize).await?),
        (
            "rmcp without sessions",
            rmcp_call(&host, ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] })
                .await?,
        ),
    ];
    match python_script("fastmcp_call.py") {
        Some(mut command) => {
            let told = json_of(command.args([&host.url(), "get-env"]))?;
            let tools = told.get("tools").and_then(Value::as_array).context("no tools")?;
            assert!(tools.contains(&json!("get-env")), "{tools:?}");
            seen.push(("FastMCP", told.get("result").context("no result")?.clone()));
        }
        None => skip("FastMCP calls a tool through the host", "the Python packages"),
    }
    let mut command = node_script(&root().join("tests/foreign/typescript_call.mjs")).context("no Node.js")?;
    command.arg(npm_folder().context("no npm packages")?).args([&host.url(), "get-env"]);
    let told = json_of(&mut command)?;
    for (client, result) in told.as_object().context("no results")? {
        seen.push((client, result.clone()));
    }

    let run = project.only_run()?;
    let receipts = project.receipts(&run)?;
    assert_eq!(receipts.len(), seen.len());
    for (client, result) in &seen {
        assert_clean(client, result, &secrets)?;
        let (id, hash) = receipt_of(result).with_context(|| format!("{client}: {result}"))?;
        let receipt = receipts.get(&id).with_context(|| format!("{client}: no file for receipt {id}"))?;
        assert_eq!(receipt.get("tool_name"), Some(&json!("get-env")), "{client}");
        assert_eq!(receipt.get("run_event_id"), Some(&json!(run)), "{client}");
        assert_eq!(receipt.get("redactions"), Some(&json!(["secret"])), "{client}");
        let linked = project.events(&run)?.into_iter().find(|event| event.get("tool_call") == Some(&json!(id)));
        assert_eq!(linked.context("no link")?.get("receipt_hash"), Some(&json!(hash)), "{client}");
    }

    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    assert_eq!(leak(log.as_bytes(), &secrets), None, "in the log");
    let (status, verdict) = verify(&project, &run, &[])?;
    assert_eq!(status.code(), Some(0), "{verdict}");
    assert_eq!(verdict.get("state"), Some(&json!("ok")), "{verdict}");
    assert_eq!(verdict.get("receipt_integrity"), Some(&json!("ok")), "{verdict}");
    assert_eq!(verdict.get("findings"), Some(&json!([])), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn the_tools_of_the_upstream_answer_as_they_do_without_the_host() -> Result<()> {
    let Some(upstream) = Everything::start(&[])? else {
        skip("the_tools_of_the_upstream_answer_as_they_do_without_the_host", "the npm packages");
        return Ok(());
    };
    let project = Project::new()?;
    let host = Host::start(&project, &upstream.url(), &["--mode", "autonomous_pr"])?;
    let direct = Client::legacy(&upstream.url()).await?;
    let through = Client::legacy(&host.url()).await?;

    let (wanted, got) = (direct.tools().await?, through.tools().await?);
    let names = |tools: &[Value]| {
        let mut names: Vec<_> = tools.iter().filter_map(|tool| tool.get("name")).map(Value::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(names(&got), names(&wanted));
    for tool in &wanted {
        let same = got.iter().find(|other| other.get("name") == tool.get("name")).context("a tool is missing")?;
        for member in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
            assert_eq!(same.get(member), tool.get(member), "{member} of {}", tool.get("name").unwrap_or(&Value::Null));
        }
    }

    for (tool, arguments) in [
        ("echo", json!({"message": "grüße, 🦀"})),
        ("get-sum", json!({"a": 2, "b": 40})),
        ("get-structured-content", json!({"location": "New York"})),
        ("get-tiny-image", json!({})),
        ("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        ("get-resource-links", json!({"count": 2})),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})),
        ("get-sum", json!({"a": "no number"})),
    ] {
        let wanted = direct.call(tool, arguments.clone()).await?.message()?;
        let got = through.call(tool, arguments).await?.message()?;
        // Receipts are what the host adds; the rest is the upstream's word for word. Its resources say what time it is.
        assert_eq!(without_times(bare(got)), without_times(bare(wanted)), "{tool}");
    }
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    Ok(())
}

/// Call `get-env` with rmcp's own client.
async fn rmcp_call(host: &Host, lifecycle: ClientLifecycleMode) -> Result<Value> {
    let client = ().serve_with_lifecycle(StreamableHttpClientTransport::from_uri(host.url()), lifecycle).await?;
    let result = client.call_tool(CallToolRequestParams::new("get-env")).await?;
    client.cancel().await?;
    Ok(serde_json::to_value(result)?)
}

/// The result has the variables but none of their secrets, in any block, in structured content or in `_meta`.
fn assert_clean(client: &str, result: &Value, secrets: &[Secret]) -> Result<()> {
    let text = result.to_string();
    assert_eq!(leak(text.as_bytes(), secrets), None, "{client}: {text}");
    let first = result.pointer("/content/0/text").and_then(Value::as_str).context("no text")?;
    let variables: Value = serde_json::from_str(first).with_context(|| format!("{client}: no JSON: {first}"))?;
    for secret in secrets {
        let name = format!("PLANTED_{}", secret.kind.to_uppercase());
        let value = variables.get(&name).and_then(Value::as_str).with_context(|| format!("{client}: no {name}"))?;
        assert!(value.contains("[REDACTED:"), "{client}: {name} is {value}");
    }
    Ok(())
}

/// Id and content hash of the receipt that the result names.
fn receipt_of(result: &Value) -> Option<(String, String)> {
    let meta = result.get("_meta")?.as_object()?;
    let (_, receipt) = meta.iter().find(|(key, _)| key.ends_with("/receipt"))?;
    let text = |name: &str| receipt.get(name).and_then(Value::as_str).map(str::to_owned);
    Some((text("tool_call")?, text("content_hash")?))
}

/// An answer without the host's own members of `_meta`.
fn bare(mut message: Value) -> Value {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        if let Some(meta) = result.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.retain(|key, _| !key.contains("counterfoil"));
        }
        if result.get("_meta").is_some_and(|meta| meta == &json!({})) {
            result.remove("_meta");
        }
    }
    message
}

/// The same with every time of day blotted out: `12:34:56` loses its digits. Nothing else in the answers that are compared
/// has digits before a colon. Numbers lose their spelling: on the way through the protocol's types `1` may become `1.0`.
fn without_times(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let digits = |sign: char| sign.is_ascii_digit();
            text.split(':').map(|piece| piece.trim_matches(digits)).collect::<Vec<_>>().join(":").into()
        }
        Value::Array(items) => items.into_iter().map(without_times).collect(),
        Value::Object(members) => members.into_iter().map(|(name, member)| (name, without_times(member))).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other,
    }
}
