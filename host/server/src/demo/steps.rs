//! The stations of the tour.

use std::path::{Path, PathBuf};

use anyhow::Context;
use counterfoil_engine::{Engine, Source};
use counterfoil_evidence::StateDir;
use rmcp::RoleClient;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::Value;

use super::Tour;
use super::evidence;
use super::upstream::{DELETE_RECORDS, INJECTION, READ_SETTINGS, READ_TICKET, SampleServer};
use crate::mcp::{self, Running, ServeOptions, UpstreamOptions};

/// What a masked token of the sample's kind reads as.
const MASK: &str = "[REDACTED:github_pat_classic]";

/// Go through all stations. What each found is counted in the tour.
pub async fn all(tour: &mut Tour<'_>, folder: &Path, component: Option<PathBuf>) -> anyhow::Result<()> {
    let state = folder.join(".roam");
    let token = synthetic_token()?;
    let sample = SampleServer::start(&token).await?;
    let options = |dry_run: bool| {
        let mut options = ServeOptions::new(UpstreamOptions::new("sample", sample.url()));
        options.listen.set_port(0);
        options.state_dir = Some(state.clone());
        options.component = component.clone();
        options.mode = Some("safe_edit".to_owned());
        options.dry_run = dry_run;
        options.agent = Some("demo".to_owned());
        options
    };

    let first = Front::start(options(false)).await?;
    first.list(tour, &sample).await?;
    first.allowed(tour, &token).await?;
    first.denied(tour, &sample).await?;
    first.marked(tour).await?;
    first.stop().await?;

    let second = Front::start(options(true)).await?;
    second.dry_run(tour, &sample).await?;
    second.stop().await?;
    sample.stop().await;

    let engine = match &component {
        Some(path) => Engine::builder(Source::Component(std::fs::read(path)?)).build()?,
        None => Engine::builder(crate::embedded::source()).build()?,
    };
    let state = StateDir::at(state);
    let receipts = evidence::show(tour, &state)?;
    evidence::search(tour, &state, &token)?;
    evidence::verify(tour, &state, &engine)?;
    evidence::tamper(tour, &state, &engine, &receipts)
}

/// The host in front of the sample, and a client of it.
struct Front {
    host: Running,
    client: RunningService<RoleClient, ()>,
}

impl Front {
    async fn start(options: ServeOptions) -> anyhow::Result<Self> {
        let host = mcp::start(options).await.context("the host does not start")?;
        let transport = StreamableHttpClientTransport::from_uri(host.url());
        let client = ().serve(transport).await.context("the client cannot connect")?;
        Ok(Self { host, client })
    }

    async fn stop(self) -> anyhow::Result<()> {
        // A session that is gone already was ended all the same.
        let _ = self.client.cancel().await;
        self.host.stop().await
    }

    /// Call a tool; the result as the client's JSON.
    async fn call(&self, tool: &'static str) -> anyhow::Result<Value> {
        let call = CallToolRequestParams::new(tool).with_arguments(JsonObject::new());
        let result = self.client.call_tool(call).await.with_context(|| format!("calling `{tool}` failed"))?;
        Ok(serde_json::to_value(result)?)
    }

    async fn list(&self, tour: &mut Tour<'_>, sample: &SampleServer) -> anyhow::Result<()> {
        tour.step("Tools, as a client in mode safe_edit sees them")?;
        tour.note(&format!("sample server {}, counterfoil {}", sample.url(), self.host.url()))?;
        let tools = self.client.list_all_tools().await.context("listing tools failed")?;
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        tour.note(&format!("tools: {}", names.join(", ")))?;
        tour.check(names.contains(&READ_SETTINGS) && names.contains(&READ_TICKET), "both reading tools are there")?;
        tour.check(!names.contains(&DELETE_RECORDS), "the deleting tool is not: the mode may not run it")
    }

    async fn allowed(&self, tour: &mut Tour<'_>, token: &str) -> anyhow::Result<()> {
        tour.step(&format!("{READ_SETTINGS}: allowed, and its result holds a token"))?;
        let result = self.call(READ_SETTINGS).await?;
        let text = text_of(&result);
        let structured = result.pointer("/structuredContent/github_token").and_then(Value::as_str).unwrap_or_default();
        tour.note(&format!("text:              {}", text.replace('\n', " | ")))?;
        tour.note(&format!("structuredContent: {}", result.get("structuredContent").unwrap_or(&Value::Null)))?;
        tour.check(
            text.contains(MASK) && text.contains("region = eu-1"),
            "the text came back with the token masked and the rest as it was",
        )?;
        tour.check(structured == MASK, "so did structuredContent")?;
        tour.check(!result.to_string().contains(token), "the token is nowhere in the answer")
    }

    async fn denied(&self, tour: &mut Tour<'_>, sample: &SampleServer) -> anyhow::Result<()> {
        tour.step(&format!("{DELETE_RECORDS}: denied by the mode"))?;
        let result = self.call(DELETE_RECORDS).await?;
        tour.note(&format!("answer: {}", first_line(&text_of(&result))))?;
        tour.check(result.get("isError") == Some(&Value::Bool(true)), "the answer says that the call is blocked")?;
        tour.check(sample.deletions() == 0, "the tool did not run")
    }

    async fn marked(&self, tour: &mut Tour<'_>) -> anyhow::Result<()> {
        tour.step(&format!("{READ_TICKET}: allowed, and its text talks to the model"))?;
        let result = self.call(READ_TICKET).await?;
        let text = text_of(&result);
        tour.note(&format!("text: {}", first_line(&text)))?;
        tour.check(text.contains(INJECTION), "the text is untouched: marks are noted, never cut out")?;
        tour.check(
            result.get("_meta").is_some_and(|meta| meta.to_string().contains("prompt_injection_marker")),
            "the answer's _meta warns of the mark",
        )
    }

    async fn dry_run(&self, tour: &mut Tour<'_>, sample: &SampleServer) -> anyhow::Result<()> {
        tour.step(&format!("{DELETE_RECORDS} again, now under dry run"))?;
        let result = self.call(DELETE_RECORDS).await?;
        tour.note(&format!("answer: {}", first_line(&text_of(&result))))?;
        tour.check(sample.deletions() == 1, "the tool ran: dry run denies nothing")?;
        tour.note("its receipt says would_deny_dry_run, see below")
    }
}

/// The text blocks of a result.
fn text_of(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}

/// The first line, cut to what fits a line of the tour.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(160).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

/// A made-up token of GitHub's classic shape. It opens nothing, and each tour has another one.
fn synthetic_token() -> anyhow::Result<String> {
    const SIGNS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut bytes = [0; 36];
    getrandom::fill(&mut bytes).map_err(anyhow::Error::msg).context("the system gives no random bytes")?;
    let mut token = ["gh", "p_"].concat();
    token.extend(
        bytes.iter().filter_map(|byte| SIGNS.get(usize::from(*byte) % SIGNS.len())).map(|sign| char::from(*sign)),
    );
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synthetic_token_has_the_shape_and_is_never_the_same() {
        let token = synthetic_token().unwrap();
        assert_eq!(token.len(), 40);
        assert!(token.bytes().skip(4).all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(token, synthetic_token().unwrap());
    }
}
