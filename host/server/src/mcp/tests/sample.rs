//! An upstream over rmcp.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Implementation, ListToolsResult,
    MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::host::token;

/// What the upstream has seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub calls: AtomicUsize,
    pub cancelled: AtomicUsize,
}

/// A running upstream.
pub struct Sample {
    pub url: String,
    pub seen: Arc<Seen>,
    task: JoinHandle<()>,
}

impl Drop for Sample {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sample {
    pub async fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap()).await
    }

    pub async fn on(socket: TcpListener) -> Self {
        let url = format!("http://{}/mcp", socket.local_addr().unwrap());
        let seen = Arc::new(Seen::default());
        let handler = Handler(Arc::clone(&seen));
        let service = StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let router = Router::new().route_service("/mcp", service);
        let task = tokio::spawn(async move {
            axum::serve(socket, router).await.unwrap();
        });
        Self { url, seen, task }
    }

    pub fn calls(&self) -> usize {
        self.seen.calls.load(Ordering::SeqCst)
    }

    pub fn cancelled(&self) -> usize {
        self.seen.cancelled.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Handler(Arc<Seen>);

fn tool(name: &'static str, description: String, hints: Option<ToolAnnotations>) -> Tool {
    let schema = json!({"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}});
    let tool = Tool::new(name, description, schema.as_object().cloned().unwrap());
    match hints {
        Some(hints) => tool.with_annotations(hints),
        None => tool,
    }
}

fn tools() -> Vec<Tool> {
    let reads = || Some(ToolAnnotations::new().read_only(true));
    let mut leaky = tool("leak", format!("leaks {}", token()), reads());
    leaky.title = Some(format!("Leak {}", token()));
    vec![
        leaky,
        tool("echo", "says its arguments".to_owned(), reads()),
        tool("slow", "takes its time".to_owned(), reads()),
        tool("fail", "fails".to_owned(), reads()),
        tool("write", "writes".to_owned(), Some(ToolAnnotations::new().destructive(false))),
        tool("wipe", "destroys".to_owned(), Some(ToolAnnotations::new().destructive(true))),
        tool("undeclared", "says nothing".to_owned(), None),
    ]
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("sample", "1.0"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut page = tools();
        let mut list = ListToolsResult::default();
        if request.and_then(|request| request.cursor).is_some() {
            page.drain(..4);
        } else {
            page.truncate(4);
            list.next_cursor = Some("second".to_owned());
        }
        list.tools = page;
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        let secret = token();
        let result = match request.name.as_ref() {
            "leak" => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(format!("it is {secret}, so"))]);
                result.structured_content = Some(json!({"token": secret, "count": 3}));
                result.meta = Some(MetaObject::from(Map::from_iter([("up/stream".to_owned(), json!(secret))])));
                result
            }
            "slow" => {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(30)) => {}
                    () = context.ct.cancelled() => {
                        self.0.cancelled.fetch_add(1, Ordering::SeqCst);
                    }
                }
                CallToolResult::success(vec![ContentBlock::text("late")])
            }
            "fail" => {
                return Err(ErrorData::new(
                    ErrorCode(-32050),
                    format!("no {secret}"),
                    Some(json!({"detail": [secret]})),
                ));
            }
            _ => {
                let said = Value::Object(request.arguments.unwrap_or_default()).to_string();
                CallToolResult::success(vec![ContentBlock::text(said)])
            }
        };
        Ok(result.into())
    }
}
