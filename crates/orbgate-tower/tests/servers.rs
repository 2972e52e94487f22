//! The layer in front of a tonic service and of a bare hyper server.

use core::convert::Infallible;

use crate::support::{Tokens, raw, request};
use bytes::Bytes;
use http::{Request, Response, StatusCode, Version};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use orbgate::{Engine, Policy};
use orbgate_token::VerifiedToken;
use orbgate_tower::{Allowed, Challenge, Engines, FullChallenge, GateLayer, KeyHolder, RequestBody};
use tokio::net::{TcpListener, TcpStream};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::server::{Server, TcpIncoming};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::{Layer as _, service_fn};

/// A gRPC method is a route as any other: `POST`, the service and the method.
const POLICY: &str = "
orbgate: 1
apis:
  grpc:
    base_path: ''
    scopes:
      read:health: { orbs: false, routes: [POST /grpc.health.v1.Health/Check] }
      watch:health: { orbs: false, routes: [POST /grpc.health.v1.Health/Watch] }
";

/// tonic's own health service inside the layer.
async fn health(gate: GateLayer<KeyHolder>) -> HealthClient<Channel> {
    let (reporter, service) = tonic_health::server::health_reporter();
    reporter.set_service_status("orbs", tonic_health::ServingStatus::Serving).await;
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = incoming.local_addr().unwrap();
    let server = Server::builder().layer(gate).add_service(service);
    tokio::spawn(server.serve_with_incoming(incoming));
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    HealthClient::new(endpoint.connect().await.unwrap())
}

fn call(authorization: Option<&str>) -> tonic::Request<HealthCheckRequest> {
    let mut request = tonic::Request::new(HealthCheckRequest { service: "orbs".to_owned() });
    if let Some(value) = authorization {
        let value: MetadataValue<Ascii> = value.parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    request
}

/// The first status of a stream. A client gets a stream even of a call that is denied: its first message is the error.
async fn first(client: &mut HealthClient<Channel>, authorization: &str) -> Result<i32, Status> {
    let stream = client.watch(call(Some(authorization))).await?;
    let first = stream.into_inner().message().await?;
    Ok(first.unwrap().status)
}

fn grpc(tokens: &Tokens) -> GateLayer<KeyHolder> {
    let engine = Engine::new(&Policy::from_yaml(POLICY).unwrap());
    GateLayer::outermost(Engines::new(engine), tokens.verifier())
}

#[tokio::test]
async fn a_grpc_client_sees_a_denial_as_the_code_of_its_http_status() {
    let tokens = Tokens::new();
    let mut client = health(grpc(&tokens)).await;
    let bearer = |kind: &str, scopes: &str| format!("Bearer {}", tokens.token(kind, scopes));
    let (checks, watches) = (bearer("organisation", "read:health"), bearer("user", "watch:health"));
    let expired = format!("Bearer {}", tokens.expired("user", "read:health"));

    let answer = client.check(call(Some(&checks))).await.unwrap();
    assert_eq!(answer.into_inner().status, 1, "serving");
    assert_eq!(first(&mut client, &watches).await.unwrap(), 1);

    let table = [
        (None, Code::Unauthenticated),
        (Some(expired.as_str()), Code::Unauthenticated),
        (Some("Bearer"), Code::Unauthenticated),
        (Some(watches.as_str()), Code::PermissionDenied),
    ];
    for (authorization, code) in table {
        let denied = client.check(call(authorization)).await.unwrap_err();
        assert_eq!(denied.code(), code, "{authorization:?}");
        assert_no_reason(&denied);
    }
    let mut malformed = call(Some(&checks));
    let delete = "DELETE".parse().unwrap();
    malformed.metadata_mut().insert("x-http-method-override", delete);
    let denied = client.check(malformed).await.unwrap_err();
    assert_eq!(denied.code(), Code::Internal);
    let denied = first(&mut client, &checks).await.unwrap_err();
    assert_eq!(denied.code(), Code::PermissionDenied);
    assert_no_reason(&denied);
}

/// Checks that tonic reports the status, and nothing else.
fn assert_no_reason(denied: &Status) {
    let shown = format!("{denied:?}");
    for word in ["scope", "health", "expired", "token"] {
        assert!(!shown.contains(word), "{shown}");
    }
}

#[tokio::test]
async fn a_grpc_method_that_the_policy_does_not_know_is_unimplemented() {
    let tokens = Tokens::new();
    let gate = || {
        let lines = POLICY.lines().filter(|line| !line.contains("Watch"));
        let policy = lines.collect::<Vec<_>>().join("\n");
        let engine = Engine::new(&Policy::from_yaml(&policy).unwrap());
        GateLayer::outermost(Engines::new(engine), tokens.verifier())
    };
    let bearer = format!("Bearer {}", tokens.token("user", "read:health"));
    let mut client = health(gate()).await;
    let unknown = first(&mut client, &bearer).await.unwrap_err();
    assert_eq!(unknown.code(), Code::Unimplemented);
    let mut client = health(gate().flat_403()).await;
    let unknown = first(&mut client, &bearer).await.unwrap_err();
    assert_eq!(unknown.code(), Code::PermissionDenied);
}

/// A server of hyper alone, for HTTP/1 and HTTP/2.
async fn bare(gate: GateLayer<KeyHolder>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let service = TowerToHyperService::new(gate.layer(service_fn(answer)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(async move {
                let server = auto::Builder::new(TokioExecutor::new());
                let served = server.serve_connection(TokioIo::new(stream), service);
                served.await.map_err(drop)
            });
        }
    });
    address
}

/// Answers with what it was told of the decision, and with the body.
async fn answer(request: Request<RequestBody<Incoming>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let allowed = request.extensions().get::<Allowed>();
    let route = allowed.and_then(Allowed::route).map(|route| route.as_str().to_owned());
    let token = request.extensions().get::<VerifiedToken>();
    let subject = token.and_then(VerifiedToken::subject).map(str::to_owned);
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let text = format!("{} {} ", route.unwrap_or_default(), subject.unwrap_or_default());
    Ok(Response::new(Full::from([text.as_bytes(), &body].concat())))
}

#[tokio::test]
async fn a_bare_hyper_server_is_guarded_in_http_1() {
    let tokens = Tokens::new();
    let gate = GateLayer::outermost(Engines::external(), tokens.verifier());
    let address = bare(gate).await;
    let token = tokens.token("user", "read:orbs write:voxies");
    let ask = async |method: &[u8], target: &[u8], token: Option<&str>, body: &str| {
        raw(&address, &request(method, target, token, body)).await
    };
    let orbs = ask(b"GET", b"/api/v1/external/orbs", Some(&token), "").await;
    assert_eq!(orbs.body, b"GET /api/v1/external/orbs user-7 ");
    let run = ask(b"POST", b"/api/v1/external/voxies/7/run", Some(&token), "{}").await;
    assert_eq!(run.body, b"POST /api/v1/external/voxies/{voxieId}/run user-7 {}");
    for (method, target, token, status) in [
        ("GET", "/api/v1/external//orbs", Some(&token), 400),
        ("GET", "/api/v1/external/orbs", None, 401),
        ("GET", "/api/v1/external/account", Some(&token), 403),
        ("GET", "/", Some(&token), 404),
        ("DELETE", "/api/v1/external/orbs", Some(&token), 405),
        ("GET", "http://localhost/api/v1/external/orbs", Some(&token), 400),
        ("OPTIONS", "*", Some(&token), 400),
        ("CONNECT", "localhost:443", Some(&token), 400),
    ] {
        let token = token.map(String::as_str);
        let denied = ask(method.as_bytes(), target.as_bytes(), token, "").await;
        assert_eq!(denied.status, status, "{method} {target}");
        denied.assert_bare(target);
    }
}

#[tokio::test]
async fn a_bare_hyper_server_is_guarded_in_http_2() {
    let tokens = Tokens::new();
    let gate =
        GateLayer::outermost(Engines::external(), tokens.verifier()).challenge(Challenge::Full(FullChallenge::new()));
    let stream = TcpStream::connect(bare(gate).await).await.unwrap();
    let connection = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (mut client, connection) = connection.unwrap();
    tokio::spawn(connection);
    let token = tokens.token("user", "read:orbs");
    let mut ask = async |method: &str, target: &str, authorizations: &[&str]| {
        let mut request = Request::builder().method(method).version(Version::HTTP_2);
        request = request.uri(format!("http://localhost{target}"));
        for value in authorizations {
            request = request.header("authorization", *value);
        }
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        client.send_request(request).await.unwrap()
    };
    let bearer = format!("Bearer {token}");
    let orbs = ask("GET", "/api/v1/external/orbs?page=2", &[&bearer]).await;
    assert_eq!(orbs.status(), StatusCode::OK);
    let body = orbs.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "GET /api/v1/external/orbs user-7 ");
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"read:account\"";
    type Row<'a> = (&'a str, &'a str, &'a [&'a str], u16, Option<&'a str>);
    let table: &[Row<'_>] = &[
        ("GET", "/api/v1/external/orbs", &[], 401, Some("Bearer")),
        ("GET", "/api/v1/external/orbs", &[&bearer, &bearer], 401, Some("Bearer error=\"invalid_request\"")),
        ("GET", "/api/v1/external/account", &[&bearer], 403, Some(challenge)),
        ("GET", "/api/v1/external/%6frbs", &[&bearer], 400, None),
        ("HEAD", "/api/v1/external/orbs", &[&bearer], 405, None),
    ];
    for (method, target, authorizations, status, challenge) in table {
        let denied = ask(method, target, authorizations).await;
        assert_eq!(denied.status().as_u16(), *status, "{method} {target}");
        let actual = denied.headers().get("www-authenticate");
        assert_eq!(actual.map(|value| value.to_str().unwrap()), *challenge);
        assert!(!denied.headers().contains_key("content-type"));
        let body = denied.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "");
    }
}
