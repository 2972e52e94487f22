//! Every case of `targets.tsv` and `hostile.tsv` with a target, by its status, over raw sockets: the engine decides on
//! the bytes of the wire.

use std::collections::HashMap;
use std::path::Path;

use crate::support::{Tokens, raw, request, router, serve};
use axum::Router;
use axum::extract::OriginalUri;
use axum::routing::any;
use orbgate::{Request, Token};
use orbgate_testing::cases::{Row, rows};
use orbgate_tower::{Engines, GateLayer};

/// A service with the routes of a policy below a prefix, which says what target it saw.
fn echo(engines: &Engines, prefix: &str) -> Router {
    let handler = async |OriginalUri(uri): OriginalUri| uri.to_string();
    // Requests without a route pass the layer, too.
    router(&engines.load(), prefix, &any(handler)).fallback(handler)
}

fn policies() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy")
}

fn engines(policy: &str) -> Engines {
    match policy {
        "external" => Engines::external(),
        name => Engines::from_file(policies().join(format!("cases/policies/{name}.yaml"))).unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_of_a_target_is_answered_as_it_says() {
    let tokens = Tokens::new();
    let mut services: HashMap<String, (String, Engines)> = HashMap::new();
    let mut signed: HashMap<(String, String), String> = HashMap::new();
    let (mut by_layer, mut by_server) = (0, 0);
    for Row { location, policy, method, target, kind, scopes, status, .. } in
        ["hostile", "targets"].into_iter().flat_map(rows)
    {
        if !services.contains_key(&policy) {
            let engines = engines(&policy);
            let gate = GateLayer::axum(engines.clone(), tokens.verifier());
            let address = serve(echo(&engines, "").layer(gate)).await;
            services.insert(policy.clone(), (address, engines));
        }
        let (address, engines) = &services[&policy];
        let token = (!kind.is_empty()).then(|| {
            let signed = signed.entry((kind.clone(), scopes.clone()));
            &**signed.or_insert_with(|| tokens.token(&kind, &scopes))
        });
        let answer = raw(address, &request(&method, &target, token, "")).await;
        if !carried(&method, &target) {
            assert_eq!(answer.status, 400, "{location}: the server itself refuses it");
            by_server += 1;
            continue;
        }
        by_layer += 1;
        // Nothing after a `#` reaches the layer or the service: hyper drops it.
        let seen = target.split(|byte| *byte == b'#').next().unwrap();
        let expected = if seen.len() == target.len() {
            status
        } else {
            let engine = engines.load();
            let decision = engine.decide(&Request {
                method: &method,
                target: seen,
                token: (!kind.is_empty()).then(|| Token::user(scopes.as_str())),
                allow_bonus_orbs_use: false,
            });
            decision.status().unwrap_or(200)
        };
        assert_eq!(answer.status, expected, "{location}");
        if answer.status == 200 {
            assert_eq!(answer.body, seen, "{location}: the service saw what was decided on");
        } else {
            answer.assert_bare(&location);
        }
    }
    assert!(by_layer > 700 && by_server > 0, "{by_layer}, {by_server}");
}

/// Whether hyper accepts a request line with these; others never reach a layer.
fn carried(method: &[u8], target: &[u8]) -> bool {
    let visible = target.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
    visible && http::Method::from_bytes(method).is_ok() && http::Uri::try_from(target).is_ok()
}

#[tokio::test]
async fn a_second_authorization_is_no_token_at_all() {
    let tokens = Tokens::new();
    let gate = GateLayer::axum(Engines::external(), tokens.verifier());
    let address = serve(echo(&Engines::external(), "").layer(gate)).await;
    let token = tokens.token("user", "read:orbs");
    let get = |headers: &str| {
        let line = "GET /api/v1/external/orbs HTTP/1.1\r\nhost: a\r\nconnection: close\r\n";
        format!("{line}{headers}\r\n").into_bytes()
    };
    let table = [
        (format!("authorization: Bearer {token}\r\n"), 200),
        (format!("AUTHORIZATION: bearer {token}\r\n"), 200),
        (format!("authorization: Bearer {token}\r\nauthorization: Bearer {token}\r\n"), 401),
        (format!("authorization: Basic YQ==\r\nauthorization: Bearer {token}\r\n"), 401),
        (format!("authorization: Basic YQ==, Bearer {token}\r\n"), 401),
        (format!("authorization: Bearer  {token}\r\n"), 401),
        (format!("authorization: {token}\r\n"), 401),
        (format!("cookie: access_token={token}\r\n"), 401),
        (format!("x-original-uri: /api/v1/external/account\r\nauthorization: Bearer {token}\r\n"), 200),
    ];
    for (headers, status) in table {
        let answer = raw(&address, &get(&headers)).await;
        assert_eq!(answer.status, status, "{headers}");
    }
    let query = format!("/api/v1/external/orbs?access_token={token}");
    let answer = raw(&address, &request(b"GET", query.as_bytes(), None, "")).await;
    assert_eq!(answer.status, 401);
    // Neither a header nor a query chooses the route or the method.
    for (header, status) in [
        ("x-forwarded-uri: /x", 200),
        ("x-http-method-override: DELETE", 400),
        ("connection: upgrade\r\nupgrade: websocket", 200),
        ("connection: upgrade\r\nupgrade: websocket\r\nupgrade: h2c", 400),
    ] {
        let sly = get(&format!("authorization: Bearer {token}\r\n{header}\r\n"));
        assert_eq!(raw(&address, &sly).await.status, status, "{header}");
    }
}

#[tokio::test]
async fn a_nested_router_decides_on_the_whole_target() {
    let tokens = Tokens::new();
    let gate = GateLayer::axum(Engines::external(), tokens.verifier());
    let base = "/api/v1/external";
    let app = Router::new().nest(base, echo(&Engines::external(), base).layer(gate));
    let address = serve(app).await;
    let token = tokens.token("user", "read:orbs");
    let ask = async |target: &str| {
        let request = request(b"GET", target.as_bytes(), Some(&token), "");
        raw(&address, &request).await.status
    };
    assert_eq!(ask("/api/v1/external/orbs").await, 200);
    assert_eq!(ask("/api/v1/external/account").await, 403);
    assert_eq!(ask("/api/v1/external//orbs").await, 400);
}
