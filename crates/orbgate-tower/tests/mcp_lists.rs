//! A server of the official SDK that lists only tools that its caller's token may call.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::Request;
use http::request::Parts;
use orbgate::{Engine, Policy};
use orbgate_token::VerifiedToken;
use orbgate_tower::{Engines, GateLayer, Mcp};
use rmcp::model::{JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::Tokens;

const POLICY: &str = include_str!("../../../policy/cases/mcp/policy.yaml");

/// A tool server that knows the gate's policy.
#[derive(Clone)]
struct Shop {
    tools: Vec<Tool>,
    mcp: Mcp,
    engines: Engines,
}

impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let Some(token) = parts.and_then(|parts| parts.extensions.get::<VerifiedToken>()) else {
            return Ok(ListToolsResult::default());
        };
        let names = self.tools.iter().map(|tool| &*tool.name);
        let visible = self.mcp.visible(&self.engines.load(), token.token(), "tools/call", names);
        let tools = self.tools.iter().filter(|tool| visible.contains(&&*tool.name)).cloned();
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }
}

#[tokio::test]
async fn a_list_can_have_only_callable_tools() {
    let (tokens, mcp) = (Tokens::new(), Mcp::new("/mcp").unwrap());
    let engines = Engines::new(Engine::new(&Policy::from_yaml(POLICY).unwrap()));
    let tools = ["list_orders", "refund"].map(|name| Tool::new(name, "a tool", Arc::new(JsonObject::new())));
    let shop = Shop { tools: tools.into(), mcp: mcp.clone(), engines: engines.clone() };
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(shop.clone()), Arc::new(NeverSessionManager::default()), config);
    let gate = GateLayer::axum(engines, tokens.verifier()).mcp(mcp).unwrap();
    let app = Router::new().route_service("/mcp", service).layer(gate);
    for (scopes, names) in [
        ("mcp:connect", &[][..]),
        ("mcp:connect orders:read", &["list_orders"]),
        ("mcp:connect orders:read orders:write", &["list_orders", "refund"]),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
        let bearer = format!("Bearer {}", tokens.token("user", scopes));
        let request = Request::post("/mcp").header("authorization", bearer).header("host", "localhost");
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream").body(Body::from(body)).unwrap();
        let response = app.clone().oneshot(request).await.unwrap();
        let read = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let answer: Value = serde_json::from_slice(&read).unwrap();
        let listed = answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
        assert_eq!(listed.collect::<Vec<_>>(), names, "{scopes}");
    }
}
