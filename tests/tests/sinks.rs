//! Secrets in every place that an upstream or a client can put them, searched for in every place that the host writes to.

use anyhow::{Context as _, Result};
use counterfoil_tests::fixture::client::{Answer, Client, get};
use counterfoil_tests::fixture::host::{Host, command, run};
use counterfoil_tests::fixture::project::Project;
use counterfoil_tests::fixture::secrets::{Secret, leak, of_kind, planted};
use counterfoil_tests::fixture::upstream::{Reply, Upstream, destroying_tool, reading_tool};
use reqwest::StatusCode;
use serde_json::{Map, Value, json};

/// A host with the most talkative logs there are.
fn talkative(project: &Project, upstream: &str, more: &[&str]) -> Result<Host> {
    let mut command = command(project)?;
    command.env("RUST_LOG", "trace").env("COUNTERFOIL_LOG", "trace");
    Host::start_as(command, upstream, more)
}

/// Everything that can be read afterwards: each sink with its name.
struct Sinks(Vec<(String, Vec<u8>)>);

impl Sinks {
    /// The state folder, what the host printed, and what the commands print of it.
    fn of(project: &Project, log: String) -> Result<Self> {
        let mut sinks = vec![("the log".to_owned(), log.into_bytes())];
        for (path, content) in project.files()? {
            sinks.push((format!("the name of {}", path.display()), path.display().to_string().into_bytes()));
            sinks.push((path.display().to_string(), content));
        }
        for run_id in project.runs()? {
            for words in [
                vec!["runs", "list"],
                vec!["runs", "show", &run_id],
                vec!["runs", "verify", &run_id],
                vec!["runs", "verify", &run_id, "--json"],
                vec!["receipts", "list", &run_id],
            ] {
                let output = run(project, &words)?;
                sinks.push((format!("{words:?}"), [output.stdout, output.stderr].concat()));
            }
        }
        Ok(Self(sinks))
    }

    /// Add an answer of the host, headers and all.
    fn add(&mut self, name: &str, answer: &Answer) {
        self.0.push((name.to_owned(), format!("{:?}\n{}", answer.headers, answer.body).into_bytes()));
    }

    /// None of them holds one of the secrets.
    fn assert_without(&self, secrets: &[Secret]) {
        for (name, content) in &self.0 {
            assert_eq!(leak(content, secrets), None, "in {name}:\n{}", String::from_utf8_lossy(content));
        }
    }
}

#[tokio::test]
async fn what_an_upstream_says_reaches_no_sink_with_its_secrets() -> Result<()> {
    let secrets = planted()?;
    let [in_list, in_name, in_schema, in_words] =
        ["gitlab_pat", "github_pat_classic", "aws_access_key_id", "stripe_key"].map(of_kind);
    let mut tool = reading_tool("speak");
    tool["description"] = json!(format!("uses {}", in_list?.text));
    tool["inputSchema"] = json!({"type": "object", "properties": {"how": {"description": in_schema?.text}}});
    let named = format!("run_{}", in_name?.text);
    let everything = result(&secrets);
    // What is searched for would be found.
    let hidden = everything.to_string();
    assert!(secrets.iter().all(|secret| leak(hidden.as_bytes(), std::slice::from_ref(secret)).is_some()));
    let words = in_words?.text;
    let upstream =
        Upstream::start(vec![tool, reading_tool(&named), destroying_tool("destroy")], move |_, arguments| {
            match arguments.get("how").and_then(Value::as_str).unwrap_or_default() {
                "error" => {
                    Reply::Error(json!({"code": -32001, "message": format!("no: {words}"), "data": {"why": words}}))
                }
                "refusal" => Reply::Raw(StatusCode::INTERNAL_SERVER_ERROR, format!("stack trace with {words}")),
                "nonsense" => Reply::Raw(StatusCode::OK, format!("{{\"jsonrpc\": \"2.0\", {words}")),
                "strange" => Reply::Result(json!({"content": [{"type": "hologram", "beam": words}], "more": words})),
                "failure" => Reply::Result(
                    json!({"isError": true, "content": [{"type": "text", "text": format!("failed: {words}")}]}),
                ),
                _ => Reply::Result(everything.clone()),
            }
        })
        .await?;

    let project = Project::new()?;
    let host = talkative(&project, upstream.url(), &[])?;
    let mut answers = Vec::new();
    for client in [Client::legacy(&host.url()).await?, Client::modern(&host.url())?] {
        answers.push(("the list of tools".to_owned(), client.request("tools/list", json!({})).await?));
        for how in ["plainly", "error", "refusal", "nonsense", "strange", "failure"] {
            answers.push((format!("speak {how}"), client.call("speak", json!({"how": how})).await?));
        }
        answers.push(("a tool with a secret in its name".to_owned(), client.call(&named, json!({})).await?));
        answers.push(("a denied call".to_owned(), client.call("destroy", json!({})).await?));
    }
    let plain = answers.iter().find(|(name, _)| name == "speak plainly").context("no answer")?;
    assert!(plain.1.body.contains("[REDACTED:"), "{}", plain.1.body);
    for page in ["/healthz", "/readyz", "/metrics"] {
        answers.push((page.to_owned(), get(&host.page(page)).await?));
    }

    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    assert!(log.contains("speak_"), "no call is logged: {log}");
    let mut sinks = Sinks::of(&project, log)?;
    for (name, answer) in &answers {
        sinks.add(name, answer);
    }
    sinks.assert_without(&secrets);
    Ok(())
}

#[tokio::test]
async fn what_a_client_says_reaches_no_sink_with_its_secrets_but_goes_on_unchanged() -> Result<()> {
    let secrets = planted()?;
    let upstream =
        Upstream::start(vec![reading_tool("read"), destroying_tool("destroy")], |_, _| Reply::text("done")).await?;
    let project = Project::new()?;
    let host = talkative(&project, upstream.url(), &[])?;
    let client = Client::modern(&host.url())?;
    let mut answers = Vec::new();

    let mut arguments: Map<String, Value> =
        secrets.iter().map(|secret| (secret.kind.clone(), json!(secret.text))).collect();
    let first = &secrets.first().context("no secret")?.text;
    arguments.insert(first.clone(), json!([{ "deep": first }]));
    let arguments = Value::Object(arguments);
    answers.push(("a call", client.call("read", arguments.clone()).await?));
    let calls = upstream.calls();
    assert_eq!(calls.first().and_then(|call| call.get("arguments")), Some(&arguments));

    answers.push(("a denied call", client.call("destroy", arguments.clone()).await?));
    answers.push(("a tool that is not there", client.call(&format!("run_{first}"), arguments).await?));
    answers.push(("no method", client.request(&format!("tools/{first}"), json!({})).await?));
    answers.push(("not JSON", client.post(format!("{{\"jsonrpc\": {first}"), &[]).await?));
    answers.push(("no message", client.post(json!([first]).to_string(), &[]).await?));
    answers.push((
        "a header",
        client.post("{}", &[("authorization", &format!("Bearer {first}")), ("x-agent-mode", first)]).await?,
    ));
    let introduced = json!({
        "jsonrpc": "2.0", "id": 7, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": first, "version": first, "title": first},
        },
    });
    answers.push(("an introduction", client.post(introduced.to_string(), &[]).await?));
    let session = answers.last().and_then(|(_, answer)| answer.headers.get("mcp-session-id")).cloned();
    if let Some(session) = session {
        let call =
            json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "read", "arguments": {}}});
        let session = session.to_str()?;
        answers.push(("a call after it", client.post(call.to_string(), &[("mcp-session-id", session)]).await?));
    }
    for page in ["/healthz", "/readyz"] {
        answers.push((page, get(&host.page(page)).await?));
    }
    let elsewhere = get(&host.page(&format!("/{first}"))).await?;

    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    let mut sinks = Sinks::of(&project, log)?;
    sinks.add("a page that is not there", &elsewhere);
    for (name, answer) in &answers {
        sinks.add(name, answer);
    }
    sinks.assert_without(&secrets);
    Ok(())
}

#[tokio::test]
async fn a_secret_in_the_address_of_the_upstream_reaches_no_sink() -> Result<()> {
    let secret = of_kind("digitalocean_token")?;
    let upstream = Upstream::start(vec![reading_tool("read")], |_, _| Reply::text("done")).await?;
    let project = Project::new()?;
    let host = talkative(&project, &format!("{}?token={}", upstream.url(), secret.text), &[])?;
    let client = Client::modern(&host.url())?;
    let mut answers = vec![client.call("read", json!({})).await?];
    drop(upstream);
    answers.push(client.call("read", json!({})).await?);
    for page in ["/healthz", "/readyz"] {
        answers.push(get(&host.page(page)).await?);
    }
    let (status, log) = host.stop()?;
    assert!(status.success(), "{status}: {log}");
    let mut sinks = Sinks::of(&project, log)?;
    for answer in &answers {
        sinks.add("an answer", answer);
    }
    sinks.assert_without(&[secret]);
    Ok(())
}

/// A result with each of the secrets in each place that a result has.
fn result(secrets: &[Secret]) -> Value {
    let all: Vec<&str> = secrets.iter().map(|secret| secret.text.as_str()).collect();
    let text = all.join("\n");
    let keyed: Map<String, Value> =
        all.iter().enumerate().map(|(place, one)| ((*one).to_owned(), json!(place))).collect();
    json!({
        "content": [
            {"type": "text", "text": text},
            {"type": "text", "text": json!({"nested": text}).to_string(), "_meta": {"note": text}},
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": text}},
            {"type": "resource_link", "uri": "file:///b", "name": "b", "title": text, "description": text},
        ],
        "structuredContent": {"plain": all, "keys": keyed, "deep": [[[{"x": text}]]]},
        "_meta": {"example.org/note": text, "example.org/deep": {"list": all}},
    })
}
