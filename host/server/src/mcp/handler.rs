//! Our side of the protocol: tools, and nothing else.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::catalogue::Catalogue;
use super::shape;
use crate::dispatch::{CallContext, Dispatcher, Principal, ToolCall};

/// Answers clients.
#[derive(Clone)]
pub struct Handler {
    shared: Arc<Shared>,
}

struct Shared {
    dispatcher: Dispatcher,
    catalogue: Arc<Catalogue>,
    agent: Option<String>,
}

impl Handler {
    /// A handler that calls and lists the tools of one catalogue.
    #[must_use]
    pub fn new(dispatcher: Dispatcher, catalogue: Arc<Catalogue>, agent: Option<String>) -> Self {
        Self { shared: Arc::new(Shared { dispatcher, catalogue, agent }) }
    }

    fn visible(&self, listed: &super::catalogue::Listed) -> bool {
        self.shared.dispatcher.may_run(&listed.tool.name, listed.effects)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("counterfoil", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("unknown cursor", None));
        }
        let table = self
            .shared
            .catalogue
            .refresh()
            .await
            .map_err(|why| ErrorData::new(ErrorCode::INTERNAL_ERROR, why.to_string(), None))?;
        let tools =
            table.tools().iter().filter(|listed| self.visible(listed)).map(|listed| listed.tool.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.input_responses.is_some() || request.request_state.is_some() {
            return Err(ErrorData::invalid_params("this server never asks for input", None));
        }
        let caller = CallContext {
            principal: Principal::anonymous(),
            client_id: client_id(&context),
            agent_id: self.shared.agent.clone(),
            cancelled: context.ct.child_token(),
        };
        let call = ToolCall {
            tool: request.name.into_owned(),
            arguments: request.arguments,
            meta: shape::forwarded_meta(&context.meta),
        };
        shape::response(self.shared.dispatcher.call(caller, call).await)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let table = self.shared.catalogue.known()?;
        table.get(name).map(|listed| listed.tool.clone())
    }

    /// rmcp's own answer repeats the method's name, which may hold anything. A known method comes here when its parameters
    /// cannot be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            "tools/call" => ErrorData::invalid_params(wrong_with_call(request.params.as_ref()), None),
            "tools/list" | "initialize" | "ping" => {
                ErrorData::invalid_params("the parameters do not have the form that the protocol says", None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "unknown method", None),
        })
    }

    async fn on_initialized(&self, _context: NotificationContext<RoleServer>) {}
}

/// What is wrong with the parameters of a `tools/call` that could not be read, without any of them.
fn wrong_with_call(params: Option<&Value>) -> &'static str {
    let Some(Value::Object(params)) = params else {
        return "`params` must be an object with `name`, and `arguments` where the tool takes any";
    };
    match (params.get("name"), params.get("arguments")) {
        (None, _) => "`name` is missing: it names the tool to call",
        (Some(name), _) if !name.is_string() => "`name` must be a string",
        (_, Some(arguments)) if !(arguments.is_object() || arguments.is_null()) => "`arguments` must be an object",
        _ => "the parameters do not have the form that the protocol says",
    }
}

/// What the client says it is. A request of the newer protocol says so itself or not at all; an older client said so when
/// it opened its session.
fn client_id(context: &RequestContext<RoleServer>) -> String {
    let named = if context.meta.protocol_version().is_some() {
        context.meta.client_info()
    } else {
        context.peer.peer_info().map(|info| info.client_info.clone())
    };
    named.map_or_else(|| CallContext::UNKNOWN_CLIENT.to_owned(), |info| format!("{}/{}", info.name, info.version))
}
