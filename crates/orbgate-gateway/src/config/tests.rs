//! Valid configurations, and the errors of invalid ones.

use std::path::Path;

use orbgate_testing::expected::Expected;
use orbgate_yaml::Value as _;

use super::Config;
use super::document::Document;
use super::mode::Mode;

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
    let mut expected = Expected::default();
    expected.add(text, diagnostics(text));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: diagnostics");
}

#[test]
fn the_name_of_a_proxy_as_its_mode_gets_a_tip() {
    for (word, modes) in [
        ("caddy", "`forward_auth`"),
        ("Traefik", "`forward_auth`"),
        ("haproxy", "`forward_auth`"),
        ("envoy", "`envoy_http` or `envoy_grpc`"),
    ] {
        let text = format!("orbgate_gateway: 1\ntokens: t\nlisteners: [{{ mode: {word}, listen: unix:/a }}]\n");
        let messages = diagnostics(&text);
        let lower = word.to_lowercase();
        let tip = format!(" or `authzen` or `ledger`, not `{word}`; for `{lower}`, write {modes}");
        assert!(messages.len() == 1 && messages[0].ends_with(&tip), "{messages:?}");
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
    let mut expected = Expected::default();
    expected.add(text, diagnostics(text));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: missing and misspelt keys");
    let error = Config::from_yaml(text, Path::new("/")).unwrap_err();
    assert_eq!(error.to_string(), error.in_file("the configuration"));
    let messages = diagnostics("orbgate_gateway: 1\nadmin: localhost\nlisteners: []\n");
    assert_eq!(messages.len(), 3, "{messages:#?}");
    let messages = diagnostics("orbgate_gateway: 1\ntokens: t\nadmin: localhost\nauthzen: {}\n");
    assert_eq!(messages.len(), 2, "{messages:#?}");
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
    let [diagnostic] = &diagnostics(text)[..] else {
        panic!("one diagnostic");
    };
    assert!(diagnostic.starts_with("g:3:8: `unix:/a` ") && diagnostic.contains("(line 5)"));
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
    let mut expected = Expected::default();
    expected.add(text, diagnostics(text));
    let with = |authzen: &str, listen: &str| {
        format!("orbgate_gateway: 1\ntokens: t\nlisteners: [{{ mode: authzen, listen: {listen} }}]\n{authzen}")
    };
    let far = "'0.0.0.0:1'";
    let read = |text: &str| Config::from_yaml(text, Path::new("/")).is_ok();
    assert!(read(&with("authzen: { caller_scope: 'ask:decisions' }\n", far)));
    assert!(read(&with("", "unix:/a")) && read(&with("", "'127.9.9.9:1'")));
    for scope in ["a b", "a'b", "", "a\\nb"] {
        assert!(!read(&with(&format!("authzen: {{ caller_scope: \"{scope}\" }}\n"), far)), "{scope}");
    }
    let unused = "orbgate_gateway: 1\ntokens: t\nlisteners: [{ mode: nginx, listen: unix:/a }]\nauthzen: {}\n";
    expected.add(unused, diagnostics(unused));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: AuthZEN");
}

#[test]
fn the_page_has_the_table_of_the_keys() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gateway/configuration.md");
    orbgate_testing::expected::keep_part(page, "keys", &Document::SHAPE.table());
}

/// Each letter of YAML at each place of a connection string, and shapes that aren't strings.
#[test]
fn no_error_has_a_password_whatever_the_slip() {
    const PASSWORD: &str = "qX7vQz9wKj";
    let parts: Vec<&str> = (0..PASSWORD.len() - 2).map(|at| &PASSWORD[at..at + 3]).collect();
    let listener = "orbgate_gateway: 1\ntokens: t\nlisteners: [{ mode: ledger, listen: 127.0.0.1:1 }]\n";
    let mut leaks = Vec::new();
    let mut check = |ledger: &str| {
        let Err(error) = Config::from_yaml(&format!("{listener}{ledger}\n"), Path::new("/")) else { return };
        let error = error.in_file("g");
        if parts.iter().any(|part| error.contains(part)) {
            leaks.push(format!("{ledger}: {error}"));
        }
    };
    for db in [
        format!("postgres://orbs:{PASSWORD}@db.test/orbs"),
        format!("host=db.test password={PASSWORD} sslmode=prefer"),
        format!("Host=db.test;Password={PASSWORD}"),
    ] {
        let shapes = [
            "ledger: DB",
            "ledger: [DB]",
            "ledger: { DB }",
            "ledger: { db: DB }",
            "ledger: { db: [DB] }",
            "ledger: { db: { DB: 1 } }",
            "ledger: { db: { url: DB } }",
            "ledger: { db: 'DB', gate_secrets: DB }",
            "ledger:\n  db: DB\n  gate_secrets: [s]",
            "ledger:\n  db: DB\n    DB\n  gate_secrets: [s]",
            "ledger:\n  db: |\n    DB\n  gate_secrets: [s]",
            "ledger:\n  DB: 1",
            "ledger:\n  db: DB\n  db: DB",
            "ledger:\n  - DB",
            "DB",
            "DB: 1",
        ];
        for (number, shape) in shapes.iter().enumerate() {
            check(&shape.replace("DB", &db));
            // Each place in every third shape: all of them take long.
            for at in (0..db.len()).filter(|at| at % 3 == number % 3) {
                for slip in [
                    ",", "[", "]", "{", "}", ": ", ":", "'", "\"", " #", "&", "*a ", "!", "|", "> ", "%", "@", "`",
                    "\t", "\n",
                ] {
                    let (before, after) = db.split_at(at);
                    check(&shape.replace("DB", &format!("{before}{slip}{after}")));
                }
            }
        }
    }
    assert_eq!(leaks, Vec::<String>::new());
    // What isn't secret is still said.
    let config = format!("{listener}ledger: {{ db: 'postgres://orbs:{PASSWORD}@localhost/orbs', gate_secret: [s] }}\n");
    assert!(diagnostics(&config.replace("listeners: [", "listener: [")).concat().contains("did you mean `listeners`?"));
    assert!(diagnostics(&config).concat().contains("did you mean `gate_secrets`?"));
}
