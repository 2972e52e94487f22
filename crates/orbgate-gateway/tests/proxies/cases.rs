//! What is sent through each proxy.

use orbgate::Engine;
use orbgate_testing::cases::{Row, rows};

use super::program::{Program, get};
use super::{Bench, Called, Caller, LIES};
use crate::support::PROMISED;
use crate::support::wire::{ask, first, request};

const USUAL: Caller<'_> = Caller { kind: "user", scopes: "read:orbs", seconds: 600 };

const ORBS: &[u8] = b"/api/v1/external/orbs";

/// Each route: with its scope, with all others, without a token, with one that is over.
fn every_route(bench: &Bench) {
    let engine = Engine::external();
    let all: Vec<_> = engine.scope_table().map(|scope| scope.name()).collect();
    let mut count = 0;
    for route in engine.routes() {
        let target = route.template().replace(['{', '}'], "");
        let (method, target) = (route.method().as_bytes(), target.as_bytes());
        let scope = route.scope().name();
        let others: Vec<_> = all.iter().copied().filter(|other| *other != scope).collect();
        let (others, all) = (others.join(" "), all.join(" "));
        let by = |scopes, seconds| Some(Caller { kind: "user", scopes, seconds });
        let table =
            [(by(scope, 600), 200), (by(&all, 600), 200), (by(&others, 600), 403), (by(&all, -120), 401), (None, 401)];
        for (caller, status) in table {
            let called = bench.call(method, target, caller, &[]);
            let location = format!("{} {:?}", route.as_str(), called.answer);
            assert_eq!(called.answer.status, status, "{location}");
            let cached = if status == 200 { "" } else { "no-store" };
            assert_eq!(called.answer.header("cache-control"), cached, "{location}");
            assert_eq!(called.reached.len(), usize::from(status == 200), "{location}");
        }
        count += 1;
    }
    assert_eq!(count, 37);
}

/// Denials by another status, as far as the proxy shows them.
fn every_status(bench: &Bench) {
    let table: [(&[u8], &[u8], u16); 4] = [
        (b"GET", b"/api/v1/external/nothing", 404),
        (b"GET", b"/", 404),
        (b"DELETE", ORBS, 405),
        // Traefik cleans most other spellings before it asks.
        (b"GET", b"/api/v1/external/...", 400),
    ];
    for (method, target, status) in table {
        let called = bench.call(method, target, Some(USUAL), &[]);
        assert!(called.reached.is_empty());
        assert_eq!(called.answer.status, status, "{:?}", called.answer);
        assert_eq!(called.answer.header("cache-control"), "no-store", "{:?}", called.answer);
    }
}

/// Headers in which a client names another method or target, each from an advisory or a fact of `gateway.md`.
fn every_lie(bench: &Bench) {
    // A client may not read this one, but reads `ORBS`.
    let secret = b"/api/v1/external/account";
    let target = "/api/v1/external/orbs";
    let names = [
        "X-Forwarded-Uri",
        "X_Forwarded_Uri",
        "X-Forwarded_Uri",
        "X-Original-URI",
        "X_Original_URI",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-Envoy-Original-Path",
        "X-Forwarded-Prefix",
        "X-Forwarded-Path",
    ];
    for name in names {
        let called = bench.call(b"GET", secret, Some(USUAL), &[(name, target)]);
        assert!(called.reached.is_empty(), "{name}");
        assert_ne!(called.answer.status, 200, "{name}");
        // What may be read may still be read, or is denied: it is never another route. The invariant is asserted by the call.
        let other = "/api/v1/external/account";
        let called = bench.call(b"GET", ORBS, Some(USUAL), &[(name, other)]);
        // A backend that reads this header would serve the other route.
        let mut headers = called.reached.iter().flat_map(|it| &it.headers);
        let is_path = name == "X-Forwarded-Path";
        assert!(is_path || headers.all(|(_, value)| value != other), "{name}");
    }
    for name in ["X-Forwarded-Method", "X_Forwarded_Method", "X-Original-Method", "X-Envoy-Original-Method"] {
        let called = bench.call(b"DELETE", b"/api/v1/external/files/1", Some(USUAL), &[(name, "GET")]);
        assert!(called.reached.is_empty(), "{name}");
    }
    for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-HTTP-Method_Override"] {
        let writer = Caller { scopes: "write:voxies", ..USUAL };
        let called = bench.call(b"POST", b"/api/v1/external/voxies", Some(writer), &[(name, "DELETE")]);
        let dropped =
            called.reached.iter().all(|reached| reached.headers.iter().all(|(key, _)| !key.eq_ignore_ascii_case(name)));
        assert!(dropped, "{name} reached the backend");
        // Some frameworks obey it on every method.
        let called = bench.call(b"GET", ORBS, Some(USUAL), &[(name, "DELETE")]);
        let dropped = called.reached.iter().all(|reached| {
            let mut headers = reached.headers.iter();
            headers.all(|(key, _)| !key.eq_ignore_ascii_case(name))
        });
        assert!(dropped, "{name} reached the backend with a GET");
    }
    // Hop by hop: a client may have none of the gateway's headers taken away.
    let lie = [("X-Forwarded-Uri", target)];
    for name in ["X-Orb-Scope", "X-Forwarded-Uri", "X-Forwarded-Method", "X-Original-URI", "Authorization"] {
        let called = bench.call_hop_by_hop(secret, &format!("close, {name}"), &lie);
        assert!(called.reached.is_empty(), "{name}");
    }
    for word in PROMISED {
        for connection in [format!("close, X-Orb-{word}"), format!("x-orb-{word},close"), format!("X-Orb-{word}")] {
            let called = bench.call_hop_by_hop(ORBS, &connection, &[]);
            let is_denied = (400..500).contains(&called.answer.status);
            assert!(called.answer.status == 200 || is_denied, "{connection}: {:?}", called.answer);
        }
    }
    // Two tokens are none.
    let second = format!("Bearer {}", bench.issuer.token("user", "read:account"));
    let called = bench.call(b"GET", secret, Some(USUAL), &[("Authorization", &second)]);
    assert!(called.reached.is_empty(), "two tokens");
}

/// Every row of the hostile targets, over raw sockets, by each of its policies.
fn every_hostile_target(bench: &mut Bench) {
    let rows = rows("hostile");
    assert!(rows.len() > 500);
    // The rows that are allowed are plain targets, which every proxy passes on.
    let reached = every_row(bench, &rows, |_, _| {});
    assert!(reached >= 60, "{reached}");
}

/// Users and organisations on inference, by each rule for organisations.
fn every_row_of_inference(bench: &mut Bench) {
    let mut rows = rows("inference");
    // No body comes with the question of a proxy.
    rows.retain(|row| !row.allows_bonus);
    let allowed = rows.iter().filter(|row| row.status == 200).count();
    assert!(allowed >= 8 && rows.len() > allowed, "{allowed} of {}", rows.len());
    let reached = every_row(bench, &rows, |row, called| {
        let location = format!("{row:?} {:?}", called.answer);
        assert_eq!(called.reached.len(), usize::from(row.status == 200), "{location}");
        assert_eq!(called.answer.status, row.status, "{location}");
    });
    assert_eq!(reached, allowed);
}

/// Calls what each row says, and looks at what came of it. How many have reached the backend?
fn every_row(bench: &mut Bench, rows: &[Row], look: impl Fn(&Row, &Called)) -> usize {
    let policies: std::collections::BTreeSet<_> = rows.iter().map(|row| &row.policy).collect();
    let mut reached = 0;
    for policy in policies {
        bench.decide_by(policy);
        for row in rows.iter().filter(|row| row.policy == *policy) {
            let caller = Caller { kind: &row.kind, scopes: &row.scopes, seconds: 600 };
            let caller = (!row.kind.is_empty()).then_some(caller);
            let called = bench.call(&row.method, &row.target, caller, &[]);
            look(row, &called);
            reached += called.reached.len();
        }
    }
    reached
}

/// What each proxy makes of an authorizer that has no connection left, and of one that closes them at once.
fn past_capacity(bench: &mut Bench, kind: Program) {
    let told = match kind {
        Program::Nginx => 500,
        Program::EnvoyHttp => 403,
        _ => 503,
    };
    bench.restart("external", "limits: { connections: 1 }\n");
    let taken = std::net::TcpStream::connect(&bench.address).unwrap();
    let error = |bench: &Bench, label| {
        let words = ["orbgate_gateway_errors_total", label];
        bench.gateway.counted(&words)
    };
    // A proxy that has found its authorizer down may take a moment to ask again.
    let mut called = bench.call(b"GET", ORBS, Some(USUAL), &[]);
    while error(bench, "too_many_connections") == 0 {
        assert!(called.reached.is_empty());
        called = bench.call(b"GET", ORBS, Some(USUAL), &[]);
    }
    assert!(called.reached.is_empty());
    assert_eq!(called.answer.status, told, "{:?}", called.answer);
    let waiting: Vec<_> = (0..80).map(|_| std::net::TcpStream::connect(&bench.address).unwrap()).collect();
    let called = bench.call(b"GET", ORBS, Some(USUAL), &[]);
    assert!(error(bench, "connection_dropped") > 0);
    assert!(called.reached.is_empty());
    assert!(called.answer.status >= 400, "{:?}", called.answer);
    let decided = ["orbgate_decisions_total", "allow"];
    assert_eq!(bench.gateway.counted(&decided), 0);
    drop((taken, waiting));
    // Once there is room, all is as before.
    let begun = std::time::Instant::now();
    while bench.call(b"GET", ORBS, Some(USUAL), &[]).answer.status != 200 {
        assert!(begun.elapsed().as_secs() < 60);
    }
}

fn everything(kind: Program) {
    let Some(mut bench) = Bench::start(kind) else {
        return;
    };
    every_route(&bench);
    every_status(&bench);
    every_lie(&bench);
    every_hostile_target(&mut bench);
    every_row_of_inference(&mut bench);
    past_capacity(&mut bench, kind);
    // Without its authorizer a proxy lets nothing through.
    let _ = bench.gateway.running.child.kill();
    let _ = bench.gateway.running.child.wait();
    let called = bench.call(b"GET", ORBS, Some(USUAL), &[]);
    assert!(called.reached.is_empty() && called.answer.status >= 400, "{:?}", called.answer);
}

through_proxies! { everything;
    nginx_passes_on_what_was_allowed_and_nothing_else: Nginx,
    caddy_passes_on_what_was_allowed_and_nothing_else: Caddy,
    traefik_passes_on_what_was_allowed_and_nothing_else: Traefik,
    haproxy_passes_on_what_was_allowed_and_nothing_else: Haproxy,
    envoy_passes_on_over_http_what_was_allowed_and_nothing_else: EnvoyHttp,
    envoy_passes_on_over_grpc_what_was_allowed_and_nothing_else: EnvoyGrpc,
}

const PREFLIGHT: [(&str, &str); 2] = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "GET")];

/// CORS preflights reach the backend if `cors_preflight` lets them pass: each proxy must pass on the headers that make one.
#[test]
#[ignore = "runs real proxies: cargo xtask test gateway"]
fn a_preflight_passes_every_proxy() {
    for kind in Program::ALL {
        let Some(mut bench) = Bench::start(kind) else {
            continue;
        };
        let asks = |bench: &Bench, method: &[u8], preflight: &[(&str, &str)]| {
            let headers: Vec<_> = preflight.iter().copied().chain(LIES).collect();
            let answer = ask(&bench.proxy.address, &request(method, ORBS, &headers));
            (answer.status, bench.backend.take())
        };
        let (status, reached) = asks(&bench, b"OPTIONS", &PREFLIGHT);
        assert_eq!((status, reached.len()), (401, 0), "{kind:?}");

        bench.restart("external", "cors_preflight: pass\n");
        bench.proxy.wait_for(&bench.gateway, get);
        let (status, reached) = asks(&bench, b"OPTIONS", &PREFLIGHT);
        assert_eq!((status, reached.len()), (200, 1), "{kind:?}");
        let reason = first(&reached[0].headers, "x-orb-reason");
        assert_eq!(reason, "public_route", "{kind:?}");
        for (method, headers) in [(&b"OPTIONS"[..], &PREFLIGHT[..1]), (b"GET", &PREFLIGHT[..])] {
            let (status, reached) = asks(&bench, method, headers);
            assert_eq!((status, reached.len()), (401, 0), "{kind:?}");
        }
    }
}
