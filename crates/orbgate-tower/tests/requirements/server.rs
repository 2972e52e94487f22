//! What is required of servers, and those requirements of decisions that a server could break.

use axum::routing::any;
use http::{Method, Request, StatusCode, Version};
use orbgate::Engine;
use orbgate_tower::{Allowed, Challenge, Engines, GateLayer};
use serde_json::Value;

use crate::support::{Tokens, raw, request, router, serve};
use crate::token::world;
use crate::{ORBS, bearing, get};

#[tokio::test]
async fn s01_no_header_says_what_is_asked_for() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    let forwarding = [
        ("x-forwarded-method", "DELETE"),
        ("x-forwarded-uri", "/api/v1/external/account"),
        ("x-forwarded-prefix", "/api"),
        ("x-forwarded-host", "evil.example"),
        ("x-original-uri", "/api/v1/external/account"),
        ("x-original-url", "/api/v1/external/account"),
        ("x-original-method", "DELETE"),
        ("x-rewrite-url", "/api/v1/external/account"),
        ("x-envoy-original-path", "/api/v1/external/account"),
        ("x_forwarded_uri", "/api/v1/external/account"),
        ("x_original_uri", "/api/v1/external/account"),
    ];
    for (name, value) in forwarding {
        let right = gated.ask(bearing(get(ORBS), &token).header(name, value)).await;
        assert_eq!(right.status, 204, "{name}");
        assert_eq!(right.record["route"], "GET /api/v1/external/orbs");
        // Nor does it open what is closed.
        let account = get("/api/v1/external/account").header(name, ORBS);
        let wrong = gated.ask(bearing(account, &token).header(name, ORBS)).await;
        assert_eq!(wrong.status, 403, "{name}");
    }
}

#[tokio::test]
async fn s06_whatever_is_asked_the_answer_is_no_diagnostic_of_the_server() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    let long = format!("/{}", "a".repeat(9_000));
    let deep = "/a".repeat(40);
    let targets = [
        ORBS,
        "/",
        "//",
        "*",
        "/api/v1/external/orbs/",
        "/api/v1/external/ORBS",
        "/%",
        "/%00",
        "/%2e%2e/x",
        "/..;/admin",
        "/a\\b",
        "/{a}",
        "/store?x=%zz",
        "http://h/api/v1/external/orbs",
        "h:443",
        &long,
        &deep,
    ];
    let methods = ["GET", "POST", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "G-T", "FOO"];
    let authorizations = [
        String::new(),
        format!("Bearer {token}"),
        format!("Bearer {token}x"),
        "Bearer eyJ".to_owned(),
        "Bearer ..".to_owned(),
        "Negotiate x".to_owned(),
        "Bearer \u{ff}".to_owned(),
    ];
    let mut passed = 0;
    for target in targets {
        for method in methods {
            for authorization in &authorizations {
                let mut request = Request::builder().method(method).uri(target);
                if !authorization.is_empty() {
                    request = request.header("authorization", crate::value(authorization));
                }
                let outcome = gated.ask(request).await;
                let case = format!("{method} {target} {authorization}");
                assert!(matches!(outcome.status, 204 | 400 | 401 | 403 | 404 | 405), "{case}");
                passed += u32::from(outcome.status == 204);
            }
        }
    }
    assert_eq!(passed, 1, "the one that may");
}

#[tokio::test]
async fn s07_a_connect_and_an_empty_path_are_denied() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    for (method, uri, version) in [
        (Method::CONNECT, "orbs.example:443", Version::HTTP_11),
        (Method::CONNECT, "orbs.example:443", Version::HTTP_2),
        (Method::GET, "orbs.example:443", Version::HTTP_11),
        (Method::OPTIONS, "*", Version::HTTP_11),
        (Method::OPTIONS, "*", Version::HTTP_2),
    ] {
        let request = Request::builder().method(method).uri(uri).version(version);
        assert_eq!(gated.ask(bearing(request, &token)).await.status, 400, "{uri}");
    }
}

#[tokio::test]
async fn s08_a_preflight_is_no_exception() {
    let (gated, _, _) = world();
    let preflight = Request::options(ORBS)
        .header("origin", "https://app.example")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "authorization");
    assert_eq!(gated.ask(preflight).await.status, 401);
}

#[tokio::test]
async fn s09_a_service_gets_the_headers_that_came_and_no_others() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    let sent = bearing(get(ORBS), &token).header("x-user-id", "somebody");
    let sent = sent.header("accept", "*/*");
    let expected = sent.headers_ref().unwrap().clone();
    let seen = gated.ask(sent).await.seen.unwrap();
    assert_eq!(seen.headers, expected);
}

#[tokio::test]
async fn s12_with_no_challenge_an_unknown_route_and_a_missing_scope_look_the_same() {
    crate::secrecy::listen();
    let tokens = Tokens::new();
    let gate = GateLayer::axum(Engines::external(), tokens.verifier()).challenge(Challenge::None);
    let served = any(async || StatusCode::NO_CONTENT);
    let app = router(Engine::external(), "", &served);
    let address = serve(app.layer(gate)).await;
    let token = tokens.token("user", "read:orbs");
    let mut answers = Vec::new();
    for (method, target, token) in [
        ("GET", "/api/v1/external/account", Some(&token)),
        ("GET", "/api/v1/external/elsewhere", Some(&token)),
        ("PUT", "/api/v1/external/orbs", Some(&token)),
        ("GET", "/api/v1//orbs", Some(&token)),
        ("GET", "/api/v1/external/orbs", None),
    ] {
        let token = token.map(String::as_str);
        let bytes = request(method.as_bytes(), target.as_bytes(), token, "");
        let answer = raw(&address, &bytes).await;
        let lines = answer.head.lines().filter(|line| !line.starts_with("date"));
        answers.push((lines.collect::<Vec<_>>().join("\n"), answer.body));
    }
    assert!(answers[0].0.starts_with("HTTP/1.1 403"), "{}", answers[0].0);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[tokio::test]
async fn s13_orbs_are_reported_to_the_service_and_charged_by_nobody() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    // A retry is reported as the first time was.
    for _ in 0..2 {
        let outcome = gated.ask(bearing(get(ORBS), &token)).await;
        let seen = outcome.seen.unwrap();
        let charge = seen.extensions.get::<Allowed>().unwrap().charge().unwrap();
        assert!(charge.consumes);
        assert_eq!(charge.amount, None, "the specification states none");
        assert_eq!(outcome.record["orbs"]["consumes"], true);
    }
}

#[tokio::test]
async fn c12_a_denial_charges_nothing_and_reaches_nobody() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:account");
    for target in [ORBS, "/api/v1/external/agents", "/elsewhere", "//"] {
        let outcome = gated.ask(bearing(get(target), &token)).await;
        assert!(outcome.status >= 400 && outcome.seen.is_none(), "{target}");
        assert_eq!(outcome.record["orbs"], Value::Null, "{target}");
    }
}
