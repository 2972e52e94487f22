//! An MCP endpoint in axum: the shared requests, of which only those that are allowed reach the handler, with the same bytes.
#![expect(clippy::disallowed_types, reason = "a test records which tools ran")]

use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::routing::{any, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use orbgate::{Engine, Policy};
use orbgate_testing::signer;
#[cfg(feature = "fetch")]
use orbgate_token::{KeyFetcher, Verifier};
use orbgate_tower::{Allowed, EndpointLayer, Engines, GateLayer, InAxum, KeyHolder, LoadError, Mcp, Metadata};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
#[cfg(feature = "fetch")]
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tower::{Layer as _, ServiceExt as _};

use crate::support::Tokens;

const POLICY: &str = include_str!("../../../policy/cases/mcp/policy.yaml");
const REQUESTS: &str = include_str!("../../../policy/cases/mcp/requests.jsonl");

struct World {
    engines: Engines,
    tokens: Tokens,
    ran: Arc<AtomicUsize>,
}

impl World {
    fn new() -> Self {
        let engines = Engines::new(Engine::new(&Policy::from_yaml(POLICY).unwrap()));
        Self { engines, tokens: Tokens::new(), ran: Arc::default() }
    }

    fn gate(&self) -> EndpointLayer<KeyHolder, InAxum> {
        let mcp = Mcp::new("/mcp").unwrap().initial_scopes("mcp:connect").unwrap();
        let mcp = mcp.origins(["https://app.example"]).unwrap();
        GateLayer::axum(self.engines.clone(), self.tokens.verifier()).mcp(mcp).unwrap()
    }

    /// A server that runs whatever reaches it.
    fn app(&self) -> Router {
        let handler = async |State(ran): State<Arc<AtomicUsize>>, _: Allowed, body: Bytes| {
            ran.fetch_add(1, Ordering::Relaxed);
            body
        };
        Router::new().route("/mcp", any(handler)).with_state(Arc::clone(&self.ran)).layer(self.gate())
    }

    fn request(&self, method: &str, scopes: &str) -> http::request::Builder {
        let bearer = format!("Bearer {}", self.tokens.token("user", scopes));
        Request::builder().method(method).uri("/mcp").header("authorization", bearer)
    }

    /// The shared requests: each row, its request and its body.
    fn shared(&self) -> impl Iterator<Item = (Value, http::request::Builder, Vec<u8>)> {
        REQUESTS.lines().map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let mut request = self.request("POST", "mcp:connect orders:read");
            for line in row["headers"].as_array().unwrap() {
                let (name, value) = line.as_str().unwrap().split_once(": ").unwrap();
                request = request.header(name, value);
            }
            let body = match &row["body_base64"] {
                Value::String(encoded) => STANDARD.decode(encoded).unwrap(),
                _ => row["body"].as_str().unwrap().into(),
            };
            (row, request, body)
        })
    }

    async fn send(&self, app: &Router, request: Request<Body>) -> Response<Bytes> {
        let (parts, body) = app.clone().oneshot(request).await.unwrap().into_parts();
        Response::from_parts(parts, to_bytes(body, 1 << 24).await.unwrap())
    }
}

#[tokio::test]
async fn only_allowed_messages_reach_the_handler() {
    let world = World::new();
    let app = world.app();
    let (mut sent, mut allowed) = (0, 0);
    for (row, request, body) in world.shared() {
        let name = row["name"].as_str().unwrap();
        let response = world.send(&app, request.body(body.clone().into()).unwrap()).await;
        assert_eq!(Some(u64::from(response.status().as_u16())), row["status"].as_u64(), "{name}");
        sent += 1;
        if response.status() == StatusCode::OK {
            allowed += 1;
            assert_eq!(response.body(), &body, "{name}");
        } else {
            let is_json = response.headers().get("content-type").is_some_and(|value| value == "application/json");
            assert_eq!(is_json, !response.body().is_empty(), "{name}");
            assert_eq!(response.headers().contains_key("www-authenticate"), row["scope"].is_string(), "{name}");
        }
        assert_eq!(world.ran.load(Ordering::Relaxed), allowed, "{name}");
    }
    assert_eq!((sent, allowed), (162, 25));
}

#[tokio::test]
async fn a_body_is_read_only_with_a_valid_token_and_up_to_its_limit() {
    let world = World::new();
    let app = world.app();
    let pending = || Body::new(Pending);
    let request = Request::post("/mcp").body(pending()).unwrap();
    let denied = world.send(&app, request).await;
    assert_eq!(denied.status(), 401);
    assert_eq!(denied.headers()["www-authenticate"], "Bearer scope=\"mcp:connect\"");
    let long = vec![b' '; (4 << 20) + 1];
    let request = world.request("POST", "orders:read").header("content-type", "application/json").body(long.into());
    let denied = world.send(&app, request.unwrap()).await;
    let error: Value = serde_json::from_slice(denied.body()).unwrap();
    assert_eq!((denied.status().as_u16(), &error["error"]["code"]), (400, &Value::from(-32600)));
    // 16 bodies of unknown length, of up to 4 MiB each, are as many as fit.
    let mut waiting: Vec<_> = Vec::new();
    for _ in 0..16 {
        let request = world.request("POST", "orders:read").body(pending()).unwrap();
        let mut future = Box::pin(app.clone().oneshot(request));
        assert!(ready(&mut future).await.is_none());
        waiting.push(future);
    }
    let more = || world.request("POST", "orders:read").body(pending()).unwrap();
    let busy = world.send(&app, more()).await;
    assert_eq!((busy.status().as_u16(), &busy.headers()["retry-after"]), (429, &"1".parse().unwrap()));
    waiting.clear();
    let mut free = Box::pin(app.clone().oneshot(more()));
    assert!(ready(&mut free).await.is_none());
    assert_eq!(world.ran.load(Ordering::Relaxed), 0);
}

/// A body of which nothing arrives.
struct Pending;

impl http_body::Body for Pending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Poll::Pending
    }
}

/// The future's result, if it is ready.
async fn ready<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    core::future::poll_fn(|context| {
        Poll::Ready(match Pin::new(&mut *future).poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// A body that arrives only after another policy.
struct Late(Engines, Vec<u8>, Option<Bytes>);

impl http_body::Body for Late {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let rest = self.2.take();
        if rest.is_some() {
            self.0.reload(&self.1).unwrap();
        }
        Poll::Ready(rest.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[tokio::test]
async fn the_policy_counts_that_is_active_when_the_body_has_arrived() {
    let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders"}}"#);
    for (policy, status) in [(POLICY.to_owned(), 200), (POLICY.replace("call/list_orders", "call/list"), 404)] {
        let world = World::new();
        let late = Body::new(Late(world.engines.clone(), policy.into_bytes(), Some(body.clone())));
        let request = world.request("POST", "orders:read").header("content-type", "application/json").body(late);
        assert_eq!(world.send(&world.app(), request.unwrap()).await.status().as_u16(), status);
    }
}

#[tokio::test]
async fn metadata_needs_no_token_and_no_route() {
    let world = World::new();
    let metadata =
        Metadata::new("https://api.example.com", &signer::verifier(signer::issuer()), "mcp:connect").unwrap();
    let app = Router::new()
        .route("/x", post(async || "x"))
        .layer(GateLayer::axum(world.engines.clone(), world.tokens.verifier()).metadata(metadata));
    let request = Request::get("/.well-known/oauth-protected-resource").header("origin", "https://app.example");
    let served = world.send(&app, request.body(Body::empty()).unwrap()).await;
    assert_eq!(served.status(), 200);
    assert_eq!(served.headers()["access-control-allow-origin"], "*");
    assert_eq!(served.headers()["content-type"], "application/json");
    let document: Value = serde_json::from_slice(served.body()).unwrap();
    assert_eq!(document["resource"], "https://api.example.com");
}

#[tokio::test]
async fn a_new_policy_must_fit_the_endpoint_and_another_service_can_wrap_everything() {
    let world = World::new();
    let _gate = world.gate();
    assert_eq!(world.engines.check_routes([("POST", "/mcp")]), Ok(()));
    let with_http = POLICY.replace("MCP /ping", "POST /ping");
    assert!(matches!(world.engines.reload(with_http.as_bytes()), Err(LoadError::Mcp(_))));
    let outermost = GateLayer::outermost(world.engines.clone(), world.tokens.verifier());
    let outermost = outermost.mcp(Mcp::new("/mcp").unwrap()).unwrap();
    let service = outermost.layer(tower::service_fn(async |_: Request<orbgate_tower::RequestBody<Body>>| {
        Ok::<_, core::convert::Infallible>(Response::new(http_body_util::Full::<Bytes>::from("ran")))
    }));
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund"}}"#;
    for (scopes, status) in [("orders:write", 200), ("orders:read", 403)] {
        let request = world.request("POST", scopes).header("content-type", "application/json");
        let response = service.clone().oneshot(request.body(Body::from(&body[..])).unwrap()).await.unwrap();
        assert_eq!(response.status().as_u16(), status);
    }
}

/// A tool server that runs every tool, of the official SDK.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl ServerHandler for Recorder {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        self.0.lock().unwrap().push(request.name.into_owned());
        Ok(CallToolResult::success(Vec::new()).into())
    }
}

/// An MCP server of the official SDK, each of whose tools has a scope: docs/mcp.md prints it.
#[cfg(feature = "fetch")]
fn serve<S: ServerHandler + Clone>(
    server: S,
    policy: &str,
    tokens: &str,
    resource: &str,
) -> Result<Router, Box<dyn core::error::Error>> {
    let verifier = Verifier::from_yaml(&std::fs::read_to_string(tokens)?)?;
    // The resource is a URL such as https://api.example.com/mcp.
    let metadata = Metadata::new(resource, &verifier, "mcp:connect")?;
    let gate = GateLayer::axum(Engines::from_file(policy)?, KeyFetcher::new(verifier)?)
        .mcp(Mcp::new("/mcp")?.initial_scopes("mcp:connect")?)?
        .metadata(metadata);
    // Without sessions of older versions, because the SDK lets any caller use them.
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    Ok(Router::new().route_service("/mcp", service).layer(gate))
}

/// The guide's server, with keys in a file.
#[cfg(feature = "fetch")]
fn guide(world: &World, ran: &Recorder) -> Router {
    let folder = tempfile::tempdir().unwrap();
    let [policy, tokens, keys] =
        ["policy.yaml", "tokens.yaml", "keys.json"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&policy, POLICY).unwrap();
    std::fs::write(&keys, json!({ "keys": [world.tokens.signer.jwk("key-1")] }).to_string()).unwrap();
    let trusted = json!({ "orbgate_token": 1, "issuers": [{
        "issuer": signer::ISSUER, "audience": "https://api.example.com", "jwks_file": keys, "algorithms": ["ES256"],
        "kind": { "user": [{ "claim": "token_kind", "equals": "user" }] },
    }] });
    std::fs::write(&tokens, trusted.to_string()).unwrap();
    serve(ran.clone(), &policy, &tokens, "https://api.example.com").unwrap()
}

#[cfg(feature = "fetch")]
#[tokio::test]
async fn the_guide_has_no_session_that_another_caller_could_use() {
    let world = World::new();
    let ran = Recorder::default();
    let app = guide(&world, &ran);
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    for (method, params, status, session) in [
        ("initialize", params, 200, None),
        ("tools/call", json!({ "name": "list_orders" }), 200, Some("x")),
        ("tools/call", json!({ "name": "refund" }), 403, Some("x")),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut request = world.request("POST", "mcp:connect orders:read").header("host", "localhost");
        for (name, value) in [("content-type", "application/json"), ("accept", "application/json, text/event-stream")] {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header("mcp-protocol-version", "2025-11-25").header("mcp-session-id", session);
        }
        let response = world.send(&app, request.body(body.into()).unwrap()).await;
        assert_eq!(response.status().as_u16(), status, "{method}: {:?}", response.body());
        assert!(!response.headers().contains_key("mcp-session-id"));
    }
    assert_eq!(*ran.0.lock().unwrap(), ["list_orders"]);
}

/// The official client, unmodified. It speaks over a Unix socket, because that needs no further HTTP client.
#[cfg(all(feature = "fetch", unix))]
#[tokio::test]
async fn the_official_client_steps_up_and_each_tool_runs_once() {
    use rmcp::model::ProtocolVersion;
    use rmcp::transport::StreamableHttpClientTransport;
    use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
    use rmcp::{ClientLifecycleMode, ClientServiceExt as _};

    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for (mode, version) in [(newest, "2026-07-28"), (ClientLifecycleMode::Initialize, "2025-11-25")] {
        let (world, ran, folder) = (World::new(), Recorder::default(), tempfile::tempdir().unwrap());
        let socket = folder.path().join("socket").display().to_string();
        let listener = tokio::net::UnixListener::bind(&socket).unwrap();
        let app = guide(&world, &ran);
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        let connect = async |scopes: &[String]| {
            let mut config = StreamableHttpClientTransportConfig::with_uri("/mcp");
            if !scopes.is_empty() {
                config = config.auth_header(world.tokens.token("user", &scopes.join(" ")));
            }
            let transport = StreamableHttpClientTransport::from_unix_socket_with_config(&socket, config);
            ().serve_with_lifecycle(transport, mode.clone()).await
        };
        let scope = |challenge: Option<&str>| {
            let rest = challenge.unwrap().split_once("scope=\"").unwrap().1;
            rest.split_once('"').unwrap().0.to_owned()
        };
        let mut scopes = vec![scope(connect(&[]).await.unwrap_err().auth_challenge())];
        // With more scopes, the client connects again, as its documentation says.
        let mut client = connect(&scopes).await.unwrap();
        assert_eq!(client.peer_info().unwrap().protocol_version.as_str(), version);
        assert!(client.list_all_tools().await.unwrap().is_empty());
        for (count, tool) in ["list_orders", "refund"].into_iter().enumerate() {
            let denied = client.call_tool(CallToolRequestParams::new(tool)).await.unwrap_err();
            scopes.push(scope(denied.auth_challenge()));
            assert_eq!(ran.0.lock().unwrap().len(), count);
            client = connect(&scopes).await.unwrap();
            client.call_tool(CallToolRequestParams::new(tool)).await.unwrap();
        }
        let unknown = client.call_tool(CallToolRequestParams::new("delete_all")).await.unwrap_err();
        assert!(unknown.to_string().contains("unknown name"), "{unknown}");
        assert_eq!(scopes, ["mcp:connect", "orders:read", "orders:write"]);
        assert_eq!(*ran.0.lock().unwrap(), ["list_orders", "refund"]);
        server.abort();
    }
}

#[tokio::test]
async fn the_official_server_runs_only_the_allowed_tool() {
    let world = World::new();
    let ran = Recorder::default();
    let mut config = StreamableHttpServerConfig::default();
    (config.legacy_session_mode, config.json_response) = (false, true);
    let recorder = ran.clone();
    let server =
        StreamableHttpService::new(move || Ok(recorder.clone()), Arc::new(LocalSessionManager::default()), config);
    let open = Router::new().route_service("/mcp", server);
    let gated = open.clone().layer(world.gate());
    let mut served = 0;
    for (row, request, body) in world.shared() {
        let headers = request.header("host", "localhost").header("accept", "application/json, text/event-stream");
        let response = world.send(&gated, headers.body(body.into()).unwrap()).await;
        let tools = core::mem::take(&mut *ran.0.lock().unwrap());
        let runs = row["status"] == 200 && row["target"] == "/mcp/tools/call/list_orders";
        // The SDK rejects some requests that the gate allows, such as those of unknown versions and numbers as large as `1e999`.
        let is_served = runs && response.status() == 200;
        assert_eq!(tools, if is_served { vec!["list_orders"] } else { vec![] }, "{row}");
        served += usize::from(is_served);
    }
    assert!(served > 5, "{served}");
    // Without the gate, the same server believes lying headers of older versions.
    let mut refunds = 0;
    for (_, request, body) in world.shared() {
        let headers = request.header("host", "localhost").header("accept", "application/json, text/event-stream");
        let _ = world.send(&open, headers.body(body.into()).unwrap()).await;
        let tools = core::mem::take(&mut *ran.0.lock().unwrap());
        refunds += tools.iter().filter(|tool| *tool == "refund").count();
    }
    assert!(refunds > 3, "{refunds}");
}
