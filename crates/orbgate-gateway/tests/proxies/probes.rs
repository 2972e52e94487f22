//! `--probe` finds what a configuration of a proxy has instead of a line or beside it, before the real proxies. What it leaves out is in
//! `lines.rs`.

use std::path::Path;

use super::gateway;
use super::program::{Program, Proxy, find};
use super::upgrades::for_websockets;
use crate::support::{Issuer, free_port, run};

/// What the probe says of a proxy that is started so: nothing if all is well.
pub(super) fn findings(kind: Program, start: impl FnOnce(&Path, &str, &str) -> Proxy) -> Option<String> {
    let binary = find(kind)?;
    let issuer = Issuer::start();
    let [address, backend] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    let gateway = gateway(&issuer.tokens_yaml(), &address, kind.mode(), "identity: true\n");
    let mut proxy = start(&binary, &address, &backend);
    proxy.wait_for_routes();
    let token = issuer.token("user", "read:orbs read:voxies");
    let arguments = ["--probe", &proxy.address, &backend, "--config", "gateway.yaml"];
    let (code, stdout, errors) = run(&gateway.folder, Some(&token), &arguments);
    if code == Some(0) {
        assert_eq!(stdout, "what arrives was allowed\n");
        return Some(String::new());
    }
    assert_eq!(code, Some(1), "{errors}");
    Some(stdout)
}

fn finds(kind: Program, table: &[((&str, &str), &str)]) {
    for (change, expected) in table {
        let report =
            findings(kind, |binary, address, backend| Proxy::start_with(kind, binary, address, backend, *change));
        let Some(report) = report else { return };
        match *expected {
            "" => assert_eq!(report, "", "{change:?}"),
            _ => assert!(report.contains(expected), "{change:?}: {report}"),
        }
    }
}

/// With the lines for WebSockets, nothing is found either.
fn finds_nothing_with_websockets(kind: Program) {
    let report =
        findings(kind, |binary, address, backend| Proxy::start_edited(kind, binary, address, backend, for_websockets));
    assert_eq!(report.unwrap_or_default(), "", "{kind:?}");
}

const OTHER: &str = "another call was allowed than this one";
const CHANGED: &str = "the proxy has changed an allowed call";
const CLIENTS: &str = "a promised header is the client's";
const MISSING: &str = "a promised header is missing";
const UPGRADES: &str = "nothing decides what comes then";
const CLOSED: &str = "nothing arrives";

#[test]
#[ignore = "starts nginx: cargo xtask test gateway"]
fn the_probe_finds_what_is_wrong_with_nginx() {
    finds(
        Program::Nginx,
        &[
            (("", ""), ""),
            (("proxy_pass http://127.0.0.1:3000;", "proxy_pass http://127.0.0.1:3000/v2/;"), OTHER),
            (("proxy_set_header X-Original-Method $request_method;", "proxy_set_header X-Original-Method GET;"), OTHER),
            (("proxy_set_header X-Original-URI $request_uri;", "proxy_set_header X-Original-URI $uri;"), CLOSED),
            // What nginx then passes on is denied.
            (("http {", "http {\n    underscores_in_headers on;\n    ignore_invalid_headers off;"), ""),
            (
                (
                    "proxy_pass http://127.0.0.1:3000;",
                    "rewrite ^(.*)/1$ $1/2 break;\n            proxy_pass http://127.0.0.1:3000;",
                ),
                CHANGED,
            ),
            (
                (
                    "proxy_pass http://127.0.0.1:3000;",
                    "rewrite ^/api/(.*)$ /api/v1/$1 break;\n            proxy_pass http://127.0.0.1:3000;",
                ),
                OTHER,
            ),
            // Another location inherits what is at the level of the server, unless it says otherwise.
            (
                (
                    "location / {",
                    "location ~* \\.(png|css)$ { proxy_pass http://127.0.0.1:3000; }\n        location / {",
                ),
                "",
            ),
            (
                (
                    "location / {",
                    "location ~* \\.(png|css)$ { auth_request off; proxy_pass http://127.0.0.1:3000; }\n        location / {",
                ),
                MISSING,
            ),
            (
                (
                    "location / {",
                    "location ~* \\.(png|css)$ { proxy_set_header A b; proxy_pass http://127.0.0.1:3000; }\n        location / {",
                ),
                MISSING,
            ),
            // What passes every upgrade on, as pages on WebSockets show it.
            (
                (
                    "proxy_set_header HTTP2-Settings \"\";",
                    "proxy_http_version 1.1;\n        proxy_set_header Upgrade $http_upgrade;\n        proxy_set_header Connection upgrade;",
                ),
                UPGRADES,
            ),
        ],
    );
    finds_nothing_with_websockets(Program::Nginx);
}

#[test]
#[ignore = "starts Caddy: cargo xtask test gateway"]
fn the_probe_finds_what_is_wrong_with_caddy() {
    finds(
        Program::Caddy,
        &[
            (("", ""), ""),
            ((" X-Orb-Scope X-Orb-Route", " X-Orb-Route"), CLIENTS),
            (("reverse_proxy 127.0.0.1:3000", "reverse_proxy 127.0.0.1:3000 {\n\t\trewrite /v2{uri}\n\t}"), OTHER),
        ],
    );
    finds_nothing_with_websockets(Program::Caddy);
}

#[test]
#[ignore = "starts Traefik: cargo xtask test gateway"]
fn the_probe_finds_what_is_wrong_with_traefik() {
    finds(
        Program::Traefik,
        &[
            (("", ""), ""),
            (
                (
                    "authResponseHeadersRegex: \"(?i)^x[^a-z0-9]orb[^a-z0-9]\"",
                    "authResponseHeaders: [X-Orb-Decision, X-Orb-Status, X-Orb-Reason, X-Orb-Route, X-Orb-Charge, X-Orb-Policy, X-Orb-Token-Kind, X-Orb-Token-Subject, X-Orb-Token-Client, X-Orb-Token-Issuer]",
                ),
                CLIENTS,
            ),
            (
                (
                    "middlewares: [http1, orbgate]\n      service: backend\n  middlewares:\n",
                    "middlewares: [http1, orbgate, moved]\n      service: backend\n  middlewares:\n    moved: { addPrefix: { prefix: /v2 } }\n",
                ),
                OTHER,
            ),
        ],
    );
    finds_nothing_with_websockets(Program::Traefik);
}

#[test]
#[ignore = "starts HAProxy: cargo xtask test gateway"]
fn the_probe_finds_what_is_wrong_with_haproxy() {
    finds(
        Program::Haproxy,
        &[
            (("", ""), ""),
            // HAProxy goes on where Lua fails, at once or after an answer.
            (("    local list = {}\n", "    local list = nil + 1\n"), CLOSED),
            (("    txn:set_var", "    error()\n    txn:set_var"), CLOSED),
            (("    http-request lua.orbgate\n", ""), CLOSED),
            (("http-request lua.orbgate", "http-request lua.orbgate\n    http-request set-path /v2%[path]"), OTHER),
        ],
    );
    finds_nothing_with_websockets(Program::Haproxy);
}

#[test]
#[ignore = "starts Envoy: cargo xtask test envoy"]
fn the_probe_finds_what_is_wrong_with_envoy_over_http() {
    finds(
        Program::EnvoyHttp,
        &[
            (("", ""), ""),
            (("route: { cluster: backend }", "route: { cluster: backend, prefix_rewrite: /v2/ }"), OTHER),
            (("server_uri:", "path_prefix: /ask\n                        server_uri:"), CLOSED),
        ],
    );
    finds_nothing_with_websockets(Program::EnvoyHttp);
}

#[test]
#[ignore = "starts Envoy: cargo xtask test envoy"]
fn the_probe_finds_what_is_wrong_with_envoy_over_grpc() {
    finds(
        Program::EnvoyGrpc,
        &[
            (("", ""), ""),
            (("route: { cluster: backend }", "route: { cluster: backend, prefix_rewrite: /v2/ }"), OTHER),
        ],
    );
    finds_nothing_with_websockets(Program::EnvoyGrpc);
}
