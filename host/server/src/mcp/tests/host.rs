//! A host with a state folder of its own, and clients for it.

use std::sync::Arc;
use std::time::Duration;

use counterfoil_engine::Engine;
use counterfoil_evidence::{ChainAuthority, StateDir, receipts, runs};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, Implementation};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::authority::ComponentAuthority;
use crate::embedded;
use crate::mcp::shape::RECEIPT;
use crate::mcp::{Running, ServeOptions, UpstreamOptions, start};

/// A synthetic token that must never come out.
pub fn token() -> String {
    ["ghp", "m8bz3LuMJ5kgrlgtephAJu0gD6vlfs4QHNJc"].join("_")
}

/// What stands in the token's place.
pub const MASK: &str = "[REDACTED:github_pat_classic]";

pub type Client = RunningService<RoleClient, ClientConfig>;

/// Which protocol a client speaks.
#[derive(Debug, Clone, Copy)]
pub enum Era {
    Legacy,
    Modern,
}

pub const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

/// A running host and its state folder.
pub struct Host {
    pub running: Running,
    folder: TempDir,
}

/// A host that has stopped.
pub struct Stopped {
    run: String,
    folder: TempDir,
}

pub fn options(upstream: &str) -> ServeOptions {
    let mut upstream = UpstreamOptions::new("sample", upstream);
    upstream.connect_timeout = Duration::from_secs(5);
    let mut options = ServeOptions::new(upstream);
    options.listen.set_port(0);
    options.stop_grace = Duration::from_secs(5);
    options
}

impl Host {
    pub async fn start(options: ServeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options;
        options.state_dir = Some(folder.path().join(".roam"));
        let running = start(options).await.unwrap();
        Self { running, folder }
    }

    pub async fn before(upstream: &str) -> Self {
        Self::start(options(upstream)).await
    }

    pub fn url(&self) -> String {
        self.running.url()
    }

    pub fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.address())
    }

    /// The folder that the host keeps its evidence in.
    pub fn state(&self) -> StateDir {
        self.running.state().clone()
    }

    pub async fn client(&self, era: Era) -> Client {
        let transport = StreamableHttpClientTransport::with_client(
            http(),
            StreamableHttpClientTransportConfig::with_uri(self.url()).max_concurrent_requests(200),
        );
        let info = ClientConfig::new(Default::default(), Implementation::new("probe", "1.2"));
        let lifecycle = match era {
            Era::Legacy => ClientLifecycleMode::Initialize,
            Era::Modern => {
                ClientLifecycleMode::Discover { preferred_versions: vec![rmcp::model::ProtocolVersion::V_2026_07_28] }
            }
        };
        info.serve_with_lifecycle(transport, lifecycle).await.unwrap()
    }

    pub async fn stop(self) -> Stopped {
        let run = self.running.run_id();
        self.running.stop().await.unwrap();
        Stopped { run, folder: self.folder }
    }
}

impl Stopped {
    fn state(&self) -> StateDir {
        StateDir::at(self.folder.path().join(".roam"))
    }

    pub fn receipts(&self) -> Vec<Value> {
        let state = self.state();
        receipts::list(&state, None)
            .unwrap()
            .into_iter()
            .map(|summary| serde_json::from_slice(&std::fs::read(summary.path).unwrap()).unwrap())
            .collect()
    }

    /// The only receipt that there is.
    pub fn receipt(&self) -> Value {
        let mut receipts = self.receipts();
        assert_eq!(receipts.len(), 1, "{receipts:?}");
        receipts.remove(0)
    }

    /// The run's meta, after both verdicts on it were good.
    pub fn verified(&self) -> Value {
        let engine = Engine::builder(embedded::source()).build().unwrap();
        let authority: Arc<dyn ChainAuthority> = Arc::new(ComponentAuthority::new(engine));
        let verdict = runs::verify(&self.state(), &self.run, &authority);
        assert_eq!(verdict.exit_code(), 0, "{verdict:?}");
        assert!(verdict.findings.is_empty(), "{verdict:?}");
        let roam = runs::verify_as_roam(&self.state(), &self.run, &authority);
        let roam = serde_json::to_value(&roam).unwrap();
        assert_eq!(roam["state"], "ok", "{roam}");
        self.meta(&self.run)
    }

    /// What a run says of itself.
    pub fn meta(&self, run: &str) -> Value {
        let meta = self.state().path().join("runs").join(run).join("meta.json");
        serde_json::from_slice(&std::fs::read(meta).unwrap()).unwrap()
    }

    /// Every byte that was written, to look for what must not be there.
    pub fn everything(&self) -> String {
        let mut all = String::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    all.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
                }
            }
        }
        all
    }
}

/// A client that ignores the environment.
pub fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Call a tool.
pub async fn call(client: &Client, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    match client.peer().call_tool_once(params).await? {
        CallToolResponse::Complete(result) => Ok(result),
        other => panic!("not complete: {other:?}"),
    }
}

/// A result as JSON.
pub async fn result(client: &Client, tool: &str, arguments: Value) -> Value {
    serde_json::to_value(call(client, tool, arguments).await.unwrap()).unwrap()
}

/// Our note in a result.
pub fn note(result: &Value) -> &Value {
    &result["_meta"][RECEIPT]
}

/// A `tools/call` of the newer protocol, to be sent by hand.
pub fn modern_call(url: &str, tool: &str, arguments: &Value) -> reqwest::RequestBuilder {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": tool, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    http()
        .post(url)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(body.to_string())
}

/// Ask until the answer is yes.
pub async fn until<F: Future<Output = bool>>(what: &str, mut ask: impl FnMut() -> F) {
    for _ in 0..200 {
        if ask().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("did not come about: {what}");
}
