//! The rate limit of the page, in a real Envoy: calls count as many orbs as they consume.

use orbgate::{Engine, Policy};

use super::backend::Backend;
use super::gateway;
use super::program::{Program, Proxy, find, get};
use crate::support::wire::{ask, request};
use crate::support::{Issuer, free_port};

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/cases/policies/amounts.yaml");

/// The example for Envoy over gRPC with the filter that the page shows, after `ext_authz`.
fn with_rate_limit(_: &str, text: String) -> String {
    let page = include_str!("../../../../docs/gateway/envoy.md");
    let (_, rest) = page.split_once("```yaml\n- name: envoy.filters.http.local_ratelimit\n").unwrap();
    let (filter, _) = rest.split_once("```").unwrap();
    let filter = format!("- name: envoy.filters.http.local_ratelimit\n{filter}");
    let indent = " ".repeat(18);
    let filter: String = filter.lines().map(|line| format!("{indent}{line}\n")).collect();
    let router = format!("{indent}- name: envoy.filters.http.router\n");
    assert!(text.contains(&router));
    text.replace(&router, &(filter + &router))
}

#[test]
#[ignore = "starts Envoy: cargo xtask test envoy"]
fn a_rate_limit_of_envoy_counts_the_orbs_of_a_call() {
    let Some(binary) = find(Program::EnvoyGrpc) else {
        return;
    };
    let (issuer, backend) = (Issuer::start(), Backend::start());
    let address = format!("127.0.0.1:{}", free_port());
    let more = format!("policy: {POLICY}\n");
    let gateway = gateway(&issuer.tokens_yaml(), &address, "envoy_grpc", &more);
    let mut proxy = Proxy::start_edited(Program::EnvoyGrpc, &binary, &address, &backend.address, with_rate_limit);
    proxy.wait_for(&gateway, get);
    let policy = std::fs::read_to_string(POLICY).unwrap();
    let engine = Engine::new(&Policy::from_yaml(&policy).unwrap());
    let scopes = engine.scope_table().map(|scope| scope.name().to_owned());
    let scopes = scopes.collect::<Vec<_>>().join(" ");
    // How many of 30 calls in a row pass, each row with a token of its own: it has 20 orbs, and 25 calls.
    let table = [
        ("POST", "/m/unstated/run", 2),
        ("GET", "/m/one", 20),
        ("GET", "/m/stated", 0),
        ("GET", "/m/free", 25),
        // Without an amount only the calls are counted.
        ("GET", "/m/unstated", 25),
    ];
    let mut wrong = Vec::new();
    for (method, target, expected) in table {
        let token = issuer.token("user", &format!("{scopes} {target}"));
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Length", "0")];
        let call = request(method.as_bytes(), target.as_bytes(), &headers);
        let statuses = (0..30).map(|_| ask(&proxy.address, &call).status);
        let statuses: Vec<_> = statuses.collect();
        let passed = statuses.iter().take_while(|status| **status == 200);
        if passed.count() != expected || statuses.iter().any(|it| ![200, 429].contains(it)) {
            wrong.push((method, target, statuses));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
