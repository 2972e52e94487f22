//! An MCP server of the Rust SDK with one planted fault, or none.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;

struct Shop;

impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "list_orders" | "refund" => Ok(CallToolResult::success(Vec::new()).into()),
            name => Err(ErrorData::invalid_params(format!("unknown tool {name}"), None)),
        }
    }
}

/// Requires a token, and gives `refund` a scope that no token has.
async fn guard(fault: &str, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let lines = parts.headers.clone();
    let header = |name: &str| lines.get(name).and_then(|value| value.to_str().ok());
    let is_open = fault == "open" && header("mcp-method") == Some("tools/list");
    let is_known = match header("authorization") {
        Some("Bearer good") => true,
        Some("Bearer other") => fault == "audience",
        _ => is_open,
    };
    if !is_known {
        return (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer resource_metadata=\"https://a/\"")])
            .into_response();
    }
    let mut bytes = to_bytes(body, 1 << 20).await.unwrap_or_default().to_vec();
    let mut message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if fault == "batch" && message.is_array() {
        // It checks only the first message.
        bytes = message.as_array().and_then(|batch| batch.last()).unwrap_or(&Value::Null).to_string().into_bytes();
        message = message[0].take();
        parts.headers.remove("content-length");
    }
    let name = header("mcp-name").filter(|_| fault == "name").or_else(|| message["params"]["name"].as_str());
    match (name == Some("refund"), fault) {
        (true, "error") => {
            let result = json!({ "isError": true, "content": [] });
            json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string().into_response()
        }
        (true, _) => {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"orders:write\"";
            (StatusCode::FORBIDDEN, [("www-authenticate", challenge)]).into_response()
        }
        (false, _) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
    }
}

/// Serves until the process ends, and returns the URL.
pub(super) fn serve(fault: &'static str) -> String {
    let (told, url) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let sessions = Arc::new(LocalSessionManager::default());
            let server = StreamableHttpService::new(|| Ok(Shop), sessions, StreamableHttpServerConfig::default());
            let guarded = from_fn(move |request, next| guard(fault, request, next));
            let app = Router::new().route_service("/mcp", server).layer(guarded);
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
    });
    url.recv().unwrap()
}
