//! Valid configurations, and the errors of invalid ones.

use std::path::Path;

use orbgate_yaml::Value as _;

use super::Config;
use super::document::Document;
use crate::mode::Mode;

fn diagnostics(text: &str) -> Vec<String> {
    let error = Config::from_yaml(text, Path::new("/etc/orbgate")).unwrap_err();
    error.in_file("g").lines().map(str::to_owned).collect()
}

#[test]
fn the_configuration_of_the_page_is_one() {
    let page = include_str!("../../../../docs/gateway/configuration.md");
    let (_, rest) = page.split_once("```yaml\norbgate_gateway: 1\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let text = format!("orbgate_gateway: 1\n{text}");
    let config = Config::from_yaml(&text, Path::new("/etc/orbgate")).unwrap();
    assert_eq!(config.tokens, Path::new("/etc/orbgate/tokens.yaml"));
    assert_eq!(config.listeners[0].mode, Mode::Nginx);
}

#[test]
fn every_diagnostic_is_said_at_once_with_its_location() {
    let text = "\
orbgate_gateway: 2
tokens: tokens.yaml
refuse_wider: true
headers: Orb
realm: \"a\\\"b\"
listeners:
  - mode: apache
    listen: 127.0.0.1:1
    trusted_proxies: [10.0.0.1/8, 0.0.0.0/0]
  - mode: nginx
    listen: localhost:1
  - mode: nginx
    listen: 127.0.0.1:1
  - mode: nginx
    listen: unix:/run/a
    trusted_proxies: [::1]
  - mode: nginx
    listen: unix:run/a
  - mode: nginx
    listen: 127.0.0.1:2
    trusted_proxies: []
limits: { connections: 0, header_bytes: 100, idle: 5 }
";
    let said = diagnostics(text);
    let expected = [
        "g:1:18: `orbgate_gateway` must be the plain number 1",
        "g:3:15: it is about a policy file, and there is no `policy`",
        "g:4:10: `Orb` is no prefix of headers: it does not start with `X-` and end with `-`",
        "g:5:8: `realm` requires `challenge: full`",
        "g:7:11: `mode` must be `nginx` or `forward_auth` or `envoy_http` or `envoy_grpc` or `authzen`, not `apache`",
        "g:9:23: `10.0.0.1/8` is no block of trusted addresses: its address has bits after its length",
        "g:9:35: `0.0.0.0/0` is no block of trusted addresses: it trusts every address",
        "g:11:13: nothing can listen at `localhost:1`",
        "g:13:13: `trusted_proxies` must list the addresses of the proxies",
        "g:16:22: a Unix socket has no addresses",
        "g:18:13: nothing can listen at `unix:run/a`",
        "g:21:22: `trusted_proxies` is empty, so no address is accepted",
        "g:22:24: `connections` must be a plain whole number above 0, not `0`",
        "g:22:41: it must be from 8192 to 1048576",
        "g:22:46: unknown key `idle` in `limits`",
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
}

#[test]
fn the_name_of_a_proxy_as_its_mode_gets_a_tip() {
    for (word, modes) in [
        ("caddy", "`forward_auth`"),
        ("Traefik", "`forward_auth`"),
        ("haproxy", "`forward_auth`"),
        ("envoy", "`envoy_http` or `envoy_grpc`"),
    ] {
        let text = format!(
            "orbgate_gateway: 1\ntokens: t\nlisteners: [{{ mode: {word}, listen: unix:/a }}]\n"
        );
        let said = diagnostics(&text);
        let lower = word.to_lowercase();
        let tip = format!(" or `authzen`, not `{word}`; for `{lower}`, write {modes}");
        assert!(said.len() == 1 && said[0].ends_with(&tip), "{said:?}");
    }
}

#[test]
fn a_key_that_is_missing_or_misspelt_hides_no_other_diagnostic() {
    let text = "\
orbgate_gateway: 1
tokns: tokens.yaml
admin: localhost
headers: Orb
listeners:
  - listen: 127.0.0.1:99999
    trusted_proxies: [10.0.0.1/8]
  - mode: nginx
    trusted_proxies: [0.0.0.0/0]
  - mode: nginx
    listen: 127.0.0.1:1
";
    let expected = [
        "g:2:1: unknown key `tokns` in the configuration",
        "g:3:8: nothing can listen at `localhost`",
        "g:4:10: `Orb` is no prefix of headers",
        "g:6:5: this listener is missing the key `mode`",
        "g:6:13: nothing can listen at `127.0.0.1:99999`",
        "g:7:23: `10.0.0.1/8` is no block of trusted addresses",
        "g:8:5: this listener is missing the key `listen`",
        "g:9:23: `0.0.0.0/0` is no block of trusted addresses",
        "g:11:13: `trusted_proxies` must list the addresses of the proxies",
    ];
    let said = diagnostics(text);
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
    let error = Config::from_yaml(text, Path::new("/")).unwrap_err();
    assert_eq!(error.to_string(), error.in_file("the configuration"));
    let said = diagnostics("orbgate_gateway: 1\nadmin: localhost\nlisteners: []\n");
    assert_eq!(said.len(), 3, "{said:#?}");
    let said = diagnostics("orbgate_gateway: 1\ntokens: t\nadmin: localhost\nauthzen: {}\n");
    assert_eq!(said.len(), 2, "{said:#?}");
}

/// Each listener has its connections and those that get an error because there are too many, and the operators' address has 64.
#[test]
fn connections_and_files_of_the_program_are_the_files_that_it_opens() {
    let text = "orbgate_gateway: 1\ntokens: t\nlimits: { connections: 10 }\nlisteners:\n  \
        - { mode: nginx, listen: unix:/a }\n  - { mode: nginx, listen: unix:/b }\n";
    let config = Config::from_yaml(text, Path::new("/")).unwrap();
    assert_eq!(config.open_files(), 2 * (10 + 64) + (64 + 64) + 64);
}

#[test]
fn an_id_is_one_segment_of_a_path() {
    let text = "orbgate_gateway: 1\ntokens: t\nlisteners: [{ mode: authzen, listen: unix:/a }]\n\
        authzen: { resources: [{ type: file, path: '/files/{id}/x' }] }\n";
    let config = Config::from_yaml(text, Path::new("/")).unwrap();
    let file = config.authzen.resource("file").unwrap();
    let table = [
        ("/files/a/x", Some("a")),
        ("/files//x", None),
        ("/files/a/b/x", None),
        ("/files/a/y", None),
        ("/file/a/x", None),
    ];
    for (path, id) in table {
        assert_eq!(file.id(path), id, "{path}");
    }
}

#[test]
fn a_location_is_taken_once() {
    let text = "orbgate_gateway: 1\ntokens: t\nadmin: unix:/a\nlisteners:\n  - { mode: nginx, listen: unix:/a }\n";
    assert_eq!(diagnostics(text), ["g:3:8: `unix:/a` is taken (line 5)"]);
}

#[test]
fn what_authzen_means_is_checked_and_no_stranger_asks() {
    let text = "\
orbgate_gateway: 1
tokens: t
listeners:
  - { mode: authzen, listen: '0.0.0.0:1', trusted_proxies: [10.0.0.0/8] }
  - { mode: authzen, listen: '[0:0::1]:2' }
  - { mode: authzen, listen: '[0:0::2]:2' }
authzen:
  url: https://pdp.example.com/tenant
  subjects:
    - { type: user, id: a, token_kind: user, scopes: x }
    - { type: user, id: a, token_kind: robot, scopes: x }
  actions: [{ name: read, method: get }, { name: read, method: GET }]
  resources:
    - { type: route, path: '/a/{id}' }
    - { type: file, path: '/a/x{id}' }
    - { type: a, path: '/{x}/{id}' }
    - { type: b, path: '/{id}/{x}' }
    - { type: c, path: '/{id}?x' }
";
    let strangers =
        "strangers could ask here: set `caller_scope` in `authzen` or `client_ca` in `tls`, or";
    let expected = [
        format!("g:4:30: {strangers}"),
        format!("g:6:30: {strangers}"),
        "g:8:8: `https://pdp.example.com/tenant` is not `https://` and a host, without a path"
            .into(),
        "g:11:25: `a` is there twice (line 10)".into(),
        "g:11:40: `token_kind` must be `user` or `organisation`, not `robot`".into(),
        "g:12:35: `get` is no method".into(),
        "g:12:50: `read` is there twice (line 12, column 21)".into(),
        "g:14:15: `route` has a meaning already".into(),
        "g:15:27: `/a/x{id}` is no path with `{id}` as its only parameter".into(),
        "g:16:24: `/{x}/{id}` is no path with `{id}` as its only parameter".into(),
        "g:17:24: `/{id}/{x}` is no path with `{id}` as its only parameter".into(),
        "g:18:24: `/{id}?x` is no path with `{id}` as its only parameter".into(),
    ];
    let said = diagnostics(text);
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(&expected) {
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
    let with = |authzen: &str, listen: &str| {
        format!(
            "orbgate_gateway: 1\ntokens: t\nlisteners: [{{ mode: authzen, listen: {listen} }}]\n{authzen}"
        )
    };
    let far = "'0.0.0.0:1'";
    let read = |text: &str| Config::from_yaml(text, Path::new("/")).is_ok();
    assert!(read(&with(
        "authzen: { caller_scope: 'ask:decisions' }\n",
        far
    )));
    assert!(read(&with("", "unix:/a")) && read(&with("", "'127.9.9.9:1'")));
    for scope in ["a b", "a'b", "", "a\\nb"] {
        assert!(
            !read(&with(
                &format!("authzen: {{ caller_scope: \"{scope}\" }}\n"),
                far
            )),
            "{scope}"
        );
    }
    let unused = "orbgate_gateway: 1\ntokens: t\nlisteners: [{ mode: nginx, listen: unix:/a }]\nauthzen: {}\n";
    assert_eq!(
        diagnostics(unused),
        ["g:3:12: no listener has the mode `authzen`, so nobody can ask"]
    );
}

#[test]
fn the_page_has_the_table_of_the_keys() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/gateway/configuration.md"
    );
    orbgate_testing::page::keep(page, "keys", &Document::SHAPE.table());
}
