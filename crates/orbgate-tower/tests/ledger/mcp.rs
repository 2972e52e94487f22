//! Calls at an MCP endpoint: the response settles.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::{any, any_service};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::Frame;
use http_body_util::BodyExt as _;
use orbgate::{Engine, Policy, TokenKind};
use orbgate_ledger::{Cause, Grant, Id, Ledger, Orbs, Sqlite};
use orbgate_token::TestIssuer;
use orbgate_tower::{
    Amounts, AmountsError, Engines, GateLayer, InAxum, KeyHolder, Mcp, McpOrbs, OnCancelled, OrbLedger,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tower::ServiceExt as _;

use crate::service::{account, rules, wait};

const POLICY: &str = include_str!("../../../../policy/cases/mcp/policy.yaml");
const RESPONSES: &str = include_str!("../../../../policy/cases/mcp/responses.jsonl");

static ROWS: LazyLock<Vec<Value>> =
    LazyLock::new(|| RESPONSES.lines().map(|line| serde_json::from_str(line).unwrap()).collect());

struct World {
    issuer: TestIssuer,
    ledger: Arc<dyn Ledger>,
    orbs: OrbLedger,
    _folder: tempfile::TempDir,
}

impl World {
    /// Without a setting for a service that breaks an answer off, it costs what a caller who leaves does.
    fn new(on_cancelled: OnCancelled, mcp: Option<McpOrbs>) -> Self {
        Self::with(on_cancelled, None, mcp)
    }

    fn with(on_cancelled: OnCancelled, on_broken: Option<OnCancelled>, mcp: Option<McpOrbs>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
        let mut rules = rules();
        (rules.on_cancelled, rules.on_broken, rules.mcp) = (on_cancelled, on_broken, mcp);
        let orbs = OrbLedger::start(Arc::clone(&ledger), rules).unwrap();
        Self { issuer: TestIssuer::new("https://issuer.test").unwrap(), ledger, orbs, _folder: folder }
    }

    fn gated(&self, app: Router) -> Result<Router, AmountsError> {
        let verifier = KeyHolder::new(self.issuer.verifier().unwrap(), self.issuer.keys().unwrap());
        let engines = Engines::new(Engine::new(&Policy::from_yaml(POLICY).unwrap()));
        let gate: GateLayer<KeyHolder, InAxum> = GateLayer::axum(engines, verifier);
        let gate = gate.mcp(Mcp::new("/mcp").unwrap().charge_sessions(true)).unwrap();
        Ok(app.layer(gate.ledger(&self.orbs, Amounts::of_policy())?))
    }

    fn grant(&self, user: &str) {
        let (id, amount) = (Id::new(user).unwrap(), Orbs::new(20).unwrap());
        let grant = Grant::new(id, account(user), amount);
        self.ledger.grant(grant).unwrap();
    }

    /// A call of `refund`, which consumes 5 orbs.
    fn call(&self, user: &str, is_legacy: bool, arguments: &Value) -> http::request::Builder {
        let claims = Map::from_iter([("sub".to_owned(), Value::from(user))]);
        let now = std::time::SystemTime::now();
        let token = self.issuer.token_with(TokenKind::User, "orders:write mcp:connect", &claims, now);
        let request =
            Request::post("/mcp").header("host", "localhost").header("authorization", format!("Bearer {token}"));
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("content-type", "application/json");
        assert!(arguments.is_object());
        match is_legacy {
            true => request,
            false => request
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", "refund"),
        }
    }

    /// What the user's call has cost, once nothing is held.
    fn cost(&self, user: &str) -> u64 {
        wait(|| self.ledger.balance(account(user)).unwrap().held == Orbs::default());
        let page = self.ledger.entries(&orbgate_ledger::Cursor::default(), 10_000).unwrap();
        let entries = page.entries.iter().map(|(_, entry)| entry);
        let holds = entries.filter(|entry| entry.account == account(user) && entry.cause == Cause::Hold).count();
        assert_eq!(holds, 1, "{user}");
        20 - self.ledger.balance(account(user)).unwrap().available.get()
    }
}

fn message(is_legacy: bool, arguments: &Value) -> Body {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut params = json!({ "name": "refund", "arguments": arguments });
    if !is_legacy {
        params["_meta"] = meta;
    }
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string().into()
}

/// Answers as the shared response whose number the header states.
async fn respond(headers: HeaderMap) -> Response {
    let row = &ROWS[headers["x-row"].to_str().unwrap().parse::<usize>().unwrap()];
    let mut response = Response::builder().status(u16::try_from(row["status"].as_u64().unwrap()).unwrap());
    for line in row["headers"].as_array().unwrap() {
        let (name, value) = line.as_str().unwrap().split_once(": ").unwrap();
        response = response.header(name, value);
    }
    let pieces = row["body"].as_str().unwrap().as_bytes().chunks(7).map(Bytes::copy_from_slice).collect();
    response.body(Body::new(Pieces { pieces, hangs: row["closed"] == true })).unwrap()
}

struct Pieces {
    pieces: VecDeque<Bytes>,
    hangs: bool,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.pieces.pop_front() {
            None if self.hangs => Poll::Pending,
            piece => Poll::Ready(piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }
}

#[tokio::test]
async fn the_shared_responses_cost_what_is_written() {
    use OnCancelled::{Capture, Void};
    for (on_cancelled, on_tool_error, on_input_required) in [(Void, Capture, Void), (Capture, Void, Capture)] {
        // Each the other, so that they can be told apart.
        let on_broken = on_tool_error;
        let world = World::with(on_cancelled, Some(on_broken), Some(McpOrbs { on_tool_error, on_input_required }));
        let app = world.gated(Router::new().route("/mcp", any(respond))).unwrap();
        for (number, row) in ROWS.iter().enumerate() {
            let (user, is_legacy, nothing) = (format!("user-{number}"), row["legacy"] == true, json!({}));
            world.grant(&user);
            let mut request = world.call(&user, is_legacy, &nothing).header("x-row", number);
            if row["session"] == true {
                request = request.header("mcp-session-id", "a");
            }
            let response = app.clone().oneshot(request.body(message(is_legacy, &nothing)).unwrap()).await.unwrap();
            assert_eq!(response.status(), u16::try_from(row["status"].as_u64().unwrap()).unwrap());
            let mut body = response.into_body();
            let mut read = Vec::new();
            while read.len() < row["body"].as_str().unwrap().len() {
                read.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
            }
            assert_eq!(read, row["body"].as_str().unwrap().as_bytes());
            if row["closed"] != true {
                assert!(body.frame().await.is_none());
            }
            drop(body);
            let expected = match row["costs"].as_str().unwrap() {
                "captured" => Capture,
                "voided" => Void,
                "on_cancelled" => on_cancelled,
                "on_broken" => on_broken,
                "on_tool_error" => on_tool_error,
                _ => on_input_required,
            };
            let expected = if expected == Capture { 5 } else { 0 };
            assert_eq!(world.cost(&user), expected, "{on_cancelled:?}: {}", row["name"]);
        }
        assert!(world.ledger.verify().unwrap().found.is_empty());
    }
}

/// A server of the official SDK, whose tool ends as it is told.
#[derive(Clone)]
struct Refunds;

impl ServerHandler for Refunds {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let arguments = Value::from(request.arguments.unwrap_or_default());
        match arguments["end"].as_str().unwrap() {
            "result" => Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into()),
            "tool error" => Ok(CallToolResult::error(vec![ContentBlock::text("failed")]).into()),
            _ => Err(rmcp::ErrorData::invalid_params("no", None)),
        }
    }
}

#[tokio::test]
async fn the_official_server_s_responses_settle() {
    let mcp = McpOrbs { on_tool_error: OnCancelled::Void, on_input_required: OnCancelled::Void };
    let world = World::new(OnCancelled::Void, Some(mcp));
    for is_json in [true, false] {
        let mut config = StreamableHttpServerConfig::default();
        (config.legacy_session_mode, config.json_response) = (false, is_json);
        let server = StreamableHttpService::new(|| Ok(Refunds), Arc::new(LocalSessionManager::default()), config);
        let app = world.gated(Router::new().route("/mcp", any_service(server))).unwrap();
        for is_legacy in [true, false] {
            for (end, cost) in [("result", 5), ("tool error", 0), ("error", 0)] {
                let user = format!("{end}-{is_json}-{is_legacy}").replace(' ', "-");
                world.grant(&user);
                let arguments = json!({ "end": end });
                let request = world.call(&user, is_legacy, &arguments).body(message(is_legacy, &arguments)).unwrap();
                let response = app.clone().oneshot(request).await.unwrap();
                let status = response.status();
                let read = response.into_body().collect().await.unwrap().to_bytes();
                let text = String::from_utf8_lossy(&read);
                assert!(text.contains("\"id\":7"), "{user}: {status} {text}");
                assert_eq!(world.cost(&user), cost, "{user}: {status} {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_cant_be_paid_is_denied_with_an_error() {
    let world = World::new(OnCancelled::Void, None);
    let never = || Router::new().route("/mcp", any(async || -> &'static str { panic!("it never runs") }));
    let refused = world.gated(never()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a gate with an MCP endpoint needs a ledger that says what tool errors and required input cost"
    );
    let mcp = McpOrbs { on_tool_error: OnCancelled::Void, on_input_required: OnCancelled::Void };
    let world = World::new(OnCancelled::Void, Some(mcp));
    let app = world.gated(never()).unwrap();
    let arguments = json!({});
    let request = world.call("nobody", true, &arguments).body(message(true, &arguments)).unwrap();
    let response = app.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 402);
    assert_eq!(response.headers()["content-type"], "application/json");
    let read = response.into_body().collect().await.unwrap().to_bytes();
    let error: Value = serde_json::from_slice(&read).unwrap();
    assert_eq!((&error["id"], &error["error"]["data"]["reason"]), (&json!(7), &json!("insufficient_orbs")));
}
