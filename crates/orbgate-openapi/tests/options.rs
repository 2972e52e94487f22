//! What a document leaves open, and how options state it.

use orbgate::{Orbs, Policy};
use orbgate_openapi::{DriftKind, Options, check, import};

use super::{free, nothing};
use crate::support::expected::Expected;

/// The policy's text, or the errors.
fn imported(document: &str, options: &Options) -> Result<String, String> {
    let imported = import(document.as_bytes(), options);
    imported
        .map(|imported| imported.policy)
        .map_err(|diagnostics| diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect())
}

#[test]
fn a_document_becomes_a_policy() {
    let document = r#"{
  "openapi": "3.1.0",
  "info": { "title": " Items \ud83d\udecd ", "version": "1" },
  "servers": [{ "url": "https://a.example/v1/" }, { "url": "/v1" }],
  "paths": {
    "/items": { "get": { "security": [{ "login": ["read:items"] }] } },
    "/items/{id}": {
      "summary": "one",
      "parameters": [],
      "get": { "security": [{ "login": ["write:items"] }], "x-orbs": false },
      "put": { "security": [{ "login": ["write:items"] }], "x-orbs": 5 },
      "delete": { "security": [{ "login": ["write:items"] }], "x-orbs": true }
    },
    "x-paths": {}
  },
  "components": { "securitySchemes": { "login": {
    "type": "oauth2",
    "flows": { "implicit": { "scopes": { "read:items": "reads items ", "write:items": "" } } }
  } } }
}"#;
    let expected = "\
orbgate: 1
name: \"Items \u{1f6cd}\"
apis:
  login:
    base_path: /v1
    scopes:
      read:items:
        permits: reads items
        orbs: 2
        routes:
          - GET /items
      write:items:
        orbs: true
        routes:
          - route: GET /items/{id}
            orbs: false
          - route: PUT /items/{id}
            orbs: 5
          - DELETE /items/{id}
...
";
    let options = Options { orbs: Some(Orbs::Amount(2)), ..nothing() };
    assert_eq!(imported(document, &options).unwrap(), expected);
}

fn with(security_schemes: &str, rest: &str) -> String {
    format!(
        "openapi: 3.0.0\ninfo: {{ title: A, version: '1' }}\n{rest}\ncomponents: {{ securitySchemes: {{ {security_schemes} }} }}\n"
    )
}

const LOGIN: &str = "login: { type: openIdConnect }";

#[test]
fn what_is_left_open_is_asked_for() {
    let get = "paths: { /a: { get: { security: [{ login: [s] }] } } }";
    let two = format!("{LOGIN}, other: {{ type: oauth2 }}");
    let servers = |servers: &str| format!("servers: [{servers}]\n{get}");
    let mut expected = Expected::default();
    for document in [
        with(LOGIN, get),
        with(&two, get),
        with(LOGIN, &servers("{ url: https://a/v1 }, { url: https://a/v2 }")),
        with(LOGIN, &servers("{ url: 'https://{host}/v1' }")),
        with(LOGIN, &servers("{ url: v1 }")),
        with(LOGIN, &servers("{ url: 'https://a/v1?x' }")),
    ] {
        expected.add(&document, [imported(&document, &nothing()).unwrap_err()]);
    }
    let unknown = Options { schemes: vec!["key".to_owned()], ..free() };
    let document = with(LOGIN, get);
    expected.add("scheme `key`", [imported(&document, &unknown).unwrap_err()]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "options: what is left open");
}

#[test]
fn a_base_path_may_be_said() {
    let document = with(
        LOGIN,
        "servers: [{ url: 'https://{host}/v1' }]\npaths: { /a: { get: { security: [{ login: [s] }] } }, /: { get: { security: [{ login: [s] }] } } }",
    );
    let options = Options { base_path: Some("/v2".to_owned()), ..free() };
    let policy = imported(&document, &options).unwrap();
    assert!(policy.contains("base_path: /v2\n") && policy.contains("- GET /a\n"), "{policy}");
    // `/v2/` is not a path that is decided, and `/v2` is not what the document says.
    assert!(!policy.contains("- GET /\n"), "{policy}");
    let bad = Options { base_path: Some("v2".to_owned()), ..free() };
    let mut expected = Expected::default();
    expected.add("base path `v2`", [imported(&document, &bad).unwrap_err()]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "options: base path");
}

#[test]
fn a_scheme_that_is_asked_for_leaves_other_ways_aside_and_never_loosens_its_own() {
    let document = with(
        "login: { type: oauth2 }, other: { type: oauth2 }, key: { type: apiKey }",
        "paths:
  /kept: { get: { security: [{ key: [] }, { login: [s] }, { other: [t] }] } }
  /both: { get: { security: [{ login: [s], key: [] }] } }
  /two: { get: { security: [{ login: [s] }, { login: [t] }] } }
  /optional: { get: { security: [{ login: [s] }, {}] } }
  /other: { get: { security: [{ other: [s] }] } }",
    );
    let options = Options { schemes: vec!["login".to_owned()], ..free() };
    let imported = import(document.as_bytes(), &options).unwrap();
    let kinds: Vec<_> = imported.left_out.iter().map(|left| left.kind.as_str()).collect();
    assert_eq!(kinds, ["several_schemes", "optional", "other_scheme"]);
    assert!(imported.policy.contains("- route: GET /two\n            or: [t]\n"), "{}", imported.policy);
    assert!(imported.policy.contains("- GET /kept\n"), "{}", imported.policy);
    assert_eq!((imported.operations, imported.notes), (2, vec![]));
}

/// As DigitalOcean's document has it.
#[test]
fn the_roles_of_a_http_scheme_count_where_it_is_asked_for() {
    let document = with(
        "bearer: { type: http, scheme: bearer }",
        "paths: { /a: { get: { security: [{ bearer: ['a:read'] }] } }, /b: { get: { security: [{ bearer: [] }] } } }",
    );
    let told = import(document.as_bytes(), &free()).unwrap();
    assert_eq!(told.operations, 0);
    let message = &told.left_out[0].message;
    assert!(message.contains("with `--scheme bearer`, the roles of `bearer` are scopes"), "{message}");
    let message = &told.left_out[1].message;
    assert!(message.contains("`--scheme bearer --default-scope earned:any-token`, "), "{message}");
    let options = Options { default_scope: Some("api".to_owned()), ..free() };
    let message = &import(document.as_bytes(), &options).unwrap().left_out[1].message;
    assert!(message.contains("with `--scheme bearer --default-scope earned:any-token`, "), "{message}");
    let options = Options { schemes: vec!["bearer".to_owned()], ..free() };
    let result = import(document.as_bytes(), &options).unwrap();
    assert!(
        result.policy.contains("a:read:\n        orbs: false\n        routes:\n          - GET /a\n"),
        "{}",
        result.policy
    );
    assert_eq!(result.left_out[0].kind.as_str(), "no_scope");
    // The tip is true.
    let options = Options { default_scope: Some("api".to_owned()), ..options };
    let tried = import(document.as_bytes(), &options).unwrap();
    assert_eq!((tried.operations, tried.left_out.len()), (2, 0));
    let basic = import(document.replace("scheme: bearer", "scheme: basic").as_bytes(), &free());
    let message = &basic.unwrap().left_out[1].message;
    assert!(message.ends_with("`http`"), "{message}");
}

/// As GitHub's document has it: it says nothing of security, and declares no scheme.
#[test]
fn a_default_scope_needs_no_scheme() {
    let options = Options { default_scope: Some("basic".to_owned()), ..free() };
    for schemes in ["", "key: { type: apiKey }"] {
        let document = with(
            schemes,
            "paths: { /a: { get: {} }, /b: { get: { security: [{ api: [s] }] } }, /c: { get: { security: [{ key: [] }] } } }",
        );
        let imported = import(document.as_bytes(), &options).unwrap();
        let api = "  api:\n    base_path: \"\"\n    scopes:\n      basic:\n        orbs: false\n        routes:\n          - GET /a\n...\n";
        assert!(imported.policy.ends_with(api), "{}", imported.policy);
        assert_eq!(imported.left_out.len(), 2);
        let policy = Policy::from_yaml(&imported.policy).unwrap();
        let drift = check(document.as_bytes(), &options, &policy).unwrap();
        assert!(drift.iter().all(|drift| drift.kind == DriftKind::Unclear), "{drift:?}");
    }
}

/// A title or a description that a policy cannot have costs no operation.
#[test]
fn texts_that_are_too_long_are_dropped() {
    let document = format!(
        "openapi: 3.0.0\ninfo: {{ title: {}, version: '1' }}\nsecurity: [{{ l: [s] }}]\npaths: {{ /a: {{ get: {{}} }} }}\ncomponents: {{ securitySchemes: {{ l: {{ type: oauth2, flows: {{ password: {{ scopes: {{ s: {} }} }} }} }} }} }}\n",
        "t".repeat(300),
        "p".repeat(1_025),
    );
    let imported = import(document.as_bytes(), &free()).unwrap();
    assert_eq!((imported.operations, imported.left_out.len()), (1, 0));
    assert!(!imported.policy.contains("name:") && !imported.policy.contains("permits:"));
}

#[test]
fn what_is_for_people_becomes_a_comment() {
    let document = with(
        LOGIN,
        "security: [{ login: [s] }]
paths:
  /a: { get: { operationId: listA, summary: \"List\\n  all # of it\", deprecated: true, x-orbs: 5 }, put: { deprecated: true, x-orbs: 6 } }
  /b: { get: { summary: 'orbgate-lint: allow overlap: no', x-orbs: true }, put: { operationId: \"a\\u202eb\", x-orbs: true, description: x } }
  /c: { get: { operationId: orbgate-lint, summary: 'allow overlap: no', x-orbs: true } }
  /d: { get: { summary: 'Says in one hundred characters, of which the last one is a blank, all that is to be said of orbgate and no more', x-orbs: true } }",
    );
    let imported = import(document.as_bytes(), &nothing()).unwrap();
    for line in [
        "- route: GET /a # listA: List all # of it (deprecated)\n",
        "- route: PUT /a # (deprecated)\n",
        // No comment that `lint` obeys, no character that nobody sees, and what is cut off is seen.
        "- GET /b # orbgate-lint : allow overlap: no\n",
        "- PUT /b # a\\u{202e}b\n",
        "- GET /c # orbgate-lint : allow overlap: no\n",
        "- GET /d # Says in one hundred characters, of which the last one is a blank, all that is to be said of orbgate…\n",
    ] {
        assert!(imported.policy.contains(line), "{line}{}", imported.policy);
    }
    // `fmt` has nothing to change.
    let laid_out = orbgate_analysis::format(&imported.policy).unwrap();
    assert_eq!(laid_out, imported.policy);
}

#[test]
fn a_default_scope_is_for_what_says_nothing_and_not_for_what_is_open() {
    let document = with(
        LOGIN,
        "paths:
  /silent: { get: {} }
  /any: { get: { security: [{ login: [] }] } }
  /own: { get: { security: [{ login: [own] }] } }
  /open: { get: { security: [] } }
  /optional: { get: { security: [{}] } }",
    );
    let options = Options { default_scope: Some("basic".to_owned()), ..free() };
    let policy = imported(&document, &options).unwrap();
    let scopes = "      basic:
        orbs: false
        routes:
          - GET /silent
          - GET /any
      own:
        orbs: false
        routes:
          - GET /own
...
";
    assert!(policy.ends_with(scopes), "{policy}");
}

/// A variable before the path doesn't change it, unless one of its values has a slash.
#[test]
fn variables_of_the_host_leave_the_path_known() {
    let get = "paths: { /a: { get: { security: [{ login: [s] }] } } }";
    for (url, variables, base_path) in [
        ("https://{region}.example.com", "region: { default: us, enum: [us, de] }", Some("")),
        ("https://{host}:{port}/v2/", "host: { default: a.example }, port: { default: '443' }", Some("/v2")),
        ("{scheme}://a.example/v2", "scheme: { default: https, enum: [http, https] }", Some("/v2")),
        ("https://{host}/v2", "", None),
        ("https://{host}/v2", "other: { default: a }", None),
        ("https://{host}/v2", "host: { enum: [a] }", None),
        ("https://{host}/v2", "host: { default: a, enum: [a, b/c] }", None),
        ("https://{host}/v2", "host: { default: 'a?b' }", None),
        ("https://{host}/v2", "host: { default: '{b}' }", None),
        ("https://{host}/v2", "host: { default: 1 }", Some("/v2")),
        ("https://{host}/v2", "host: { default: [a] }", None),
        ("https://{host", "host: { default: a }", None),
        ("https://a.example/{version}", "version: { default: v2 }", None),
        ("{root}/v2", "root: { default: 'https://a.example' }", None),
    ] {
        let server = format!("servers: [{{ url: '{url}', variables: {{ {variables} }} }}]\n{get}");
        let result = imported(&with(LOGIN, &server), &free());
        match base_path {
            Some(path) => {
                let path = if path.is_empty() { "\"\"" } else { path };
                assert!(
                    result.as_ref().is_ok_and(|policy| policy.contains(&format!("base_path: {path}\n"))),
                    "{url} {result:?}"
                );
            }
            None => assert!(result.unwrap_err().contains("has a variable"), "{url} {variables}"),
        }
    }
    // What is unknown is proposed.
    let server = format!(
        "servers: [{{ url: '{{root}}/v2', variables: {{ root: {{ default: 'https://a.example/x' }} }} }}]\n{get}"
    );
    let message = imported(&with(LOGIN, &server), &free()).unwrap_err();
    assert!(message.contains("if it is `/x/v2`, use `--base-path /x/v2`"), "{message}");
}

#[test]
fn servers_of_an_operation_that_are_the_documents_have_its_base_path() {
    let servers = "servers: [{ url: 'https://a.example/{x}' }, { url: /y }]";
    let document = with(
        LOGIN,
        &format!(
            "{servers}\nsecurity: [{{ login: [s] }}]\npaths:\n  /a: {{ get: {{ {servers} }} }}\n  /b: {{ get: {{ servers: [{{ url: /y }}] }} }}\n  /c: {{ get: {{ servers: [{{ url: /z }}] }}, put: {{}} }}"
        ),
    );
    let options = Options { base_path: Some("/v1".to_owned()), ..free() };
    let result = import(document.as_bytes(), &options).unwrap();
    let left: Vec<_> = result.left_out.iter().map(|left| (left.kind.as_str(), &*left.operation)).collect();
    assert_eq!(left, [("servers", "GET /z/c")], "{}", result.policy);
    assert_eq!(result.operations, 3);
}

#[test]
fn a_fragment_never_reaches_a_server() {
    let paths = |of_link: &str| {
        format!(
            "security: [{{ login: [s] }}]\npaths:\n  /f/{{id}}: {{ get: {{}}, put: {{}} }}\n  '/f/{{link}}#link': {{ get: {{ {of_link} }} }}\n  '/g#one': {{ get: {{}} }}\n  '/g#two': {{ get: {{}} }}\n  /{{a}}/{{b}}: {{ get: {{}} }}\n"
        )
    };
    let ran = |document: &str| {
        let imported = import(document.as_bytes(), &free()).unwrap();
        let left: Vec<_> = imported.left_out.iter().map(|left| format!("{} {}", left.kind, left.operation)).collect();
        let notes: Vec<_> = imported.notes.iter().map(|note| format!("{} {}", note.kind, note.operation)).collect();
        let policy = Policy::from_yaml(&imported.policy).unwrap();
        let drift = check(document.as_bytes(), &free(), &policy).unwrap();
        assert!(drift.iter().all(|drift| drift.kind == DriftKind::Unclear), "{drift:?}");
        assert_eq!(drift.len(), left.len(), "{drift:?}");
        (left, notes, imported.policy)
    };
    let (left, notes, policy) = ran(&with(LOGIN, &paths("")));
    assert_eq!(left, [""; 0]);
    assert_eq!(notes, ["fragment GET /f/{link}#link", "fragment GET /g#two"]);
    for route in ["GET /f/{id}", "PUT /f/{id}", "GET /g", "GET /{a}/{b}"] {
        assert!(policy.contains(&format!("- {route}\n")), "{policy}");
    }
    // If their route is left out, so are both.
    let mut document = with(LOGIN, &paths(""));
    document = document.replace("  /{a}/{b}: { get: {} }", "  '/f/{x}.json': { get: { security: [] } }");
    let (left, notes, _) = ran(&document);
    let gone = ["takes_over GET /f/{id}", "duplicate GET /f/{link}#link", "open GET /f/{x}.json"];
    assert_eq!((left, notes), (gone.map(str::to_owned).to_vec(), vec!["fragment GET /g#two".to_owned()]));
    // If they need different scopes, the call might be either. `PUT` keeps the path from other routes.
    let (left, _, policy) = ran(&with(LOGIN, &paths("security: [{ login: [t] }]")));
    assert_eq!(left, ["duplicate GET /f/{id}", "duplicate GET /f/{link}#link"]);
    assert!(policy.contains("- PUT /f/{id}\n") && policy.contains("- GET /{a}/{b}\n"), "{policy}");
}

/// As Google's documents have it.
#[test]
fn a_parameter_of_several_segments_is_noted_once() {
    let paths = "paths:
  /v1/{name}:
    parameters: [{ name: name, in: path, schema: { pattern: '^projects/[^/]+$' } }]
    get: { security: [{ login: [s] }] }
    put: { parameters: [{ name: name, in: path, description: 'as `a/{b}`' }], security: [{ login: [s] }] }
    post: { security: [{ login: [] }] }
  /v1/{name}:cancel:
    post: { parameters: [{ name: name, in: path, description: 'as `a/{b}`' }], security: [{ login: [s] }] }
  /v1/a/{name}: { get: { parameters: [{ name: name, in: query, description: 'as `b/{c}`' }], security: [{ login: [s] }] } }";
    let imported = import(with(LOGIN, paths).as_bytes(), &free()).unwrap();
    let notes: Vec<_> =
        imported.notes.iter().map(|note| format!("{} {}: {}", note.kind, note.operation, note.message)).collect();
    let note = "multi_segment GET /v1/{name}: parameter `name` seems to take several segments, such as `^projects/[^/]+$`, and a policy's parameter takes one: such calls are denied (in 2 operations)";
    assert_eq!(notes, [note]);
    assert_eq!((imported.with_scopes_imported, imported.multi_segment), (3, 2));
    let message = "`{name}:cancel` is a parameter and a method in one segment, and a policy's parameter is a whole segment, so `{name}` would decide the calls of every such method; make the method a segment of its own";
    assert!(imported.left_out.iter().any(|left| left.message == message), "{:?}", imported.left_out);
}

/// Only notes depend on them.
#[test]
fn errors_in_parameters_do_not_matter() {
    for parameters in [
        "{ a: b }",
        "*none",
        "[*none, { <<: *none, name: id, in: path }, [a], a, { ? [a] : b, name: a, name: b }]",
        "[{ schema: { <<: { a: b }, pattern: [a], pattern: b }, in: path, name: id }]",
        "[{ name: { a: b }, in: path }, { in: [path], name: id, description: { a: b } }]",
    ] {
        let path = format!(
            "/a/{{id}}: {{ parameters: {parameters}, get: {{ parameters: {parameters}, security: [{{ login: [s] }}] }} }}"
        );
        let imported = import(with(LOGIN, &format!("paths:\n  {path}")).as_bytes(), &free());
        assert_eq!(imported.map(|imported| (imported.operations, imported.notes)), Ok((1, vec![])), "{parameters}");
    }
    let json = r#"{ "openapi": "3.0.0", "components": { "securitySchemes": { "l": { "type": "oauth2" } } }, "paths": { "/a": { "get": {
        "parameters": [{ "name": "a", "name": "b", "<<": 1 }], "security": [{ "l": ["s"] }] } } } }"#;
    assert_eq!(import(json.as_bytes(), &free()).unwrap().operations, 1);
}

/// As Xero's document has it.
#[test]
fn templates_of_one_call_share_a_route_if_they_need_the_same() {
    let paths = |of_name: &str| {
        let paths = format!(
            "  /x/{{id}}: {{ get: {{}} }}\n  /x/{{name}}: {{ get: {{ {of_name} }}, put: {{}} }}\n  /x/{{n}}#f: {{ get: {{}} }}\n"
        );
        with(LOGIN, &format!("security: [{{ login: [s] }}, {{ login: [t] }}]\npaths:\n{paths}"))
    };
    let ran = |document: &str| {
        let imported = import(document.as_bytes(), &free()).unwrap();
        let policy = Policy::from_yaml(&imported.policy).unwrap();
        let drift = check(document.as_bytes(), &free(), &policy).unwrap();
        assert_eq!(drift.len(), imported.left_out.len(), "{drift:?}");
        let left: Vec<_> =
            imported.left_out.iter().map(|left| format!("{}: {}", left.operation, left.message)).collect();
        let notes: Vec<_> = imported.notes.iter().map(|note| format!("{} {}", note.kind, note.operation)).collect();
        assert_eq!(imported.operations + left.len(), 4);
        (left, notes)
    };
    let (left, notes) = ran(&paths(""));
    assert_eq!(
        (left.len(), notes),
        (0, vec!["same_call GET /x/{name}".to_owned(), "fragment GET /x/{n}#f".to_owned()])
    );
    // In another order, these are the same alternatives.
    let (left, _) = ran(&paths("security: [{ login: [t] }, { login: [s] }]"));
    assert_eq!(left, [""; 0]);
    let same = "is the same call, except for the names of parameters, and";
    for (of_name, [id, name]) in [
        ("security: [{ login: [a, s] }]", ["needs scope `a s`, not `s` or `t`", "needs scope `s` or `t`, not `a s`"]),
        (
            "security: []",
            [
                "can't be imported: `security: []`: anyone can call it; list it in the gates' setting `public`, unless a route of the policy fits its path",
                "",
            ],
        ),
        ("x-orbs: 5", ["has `orbs: 5`, not `orbs: false`", "has `orbs: false`, not `orbs: 5`"]),
    ] {
        let (left, notes) = ran(&paths(of_name));
        assert_eq!((left.len(), notes), (3, vec![]));
        assert_eq!(left[0], format!("GET /x/{{id}}: `GET /x/{{name}}` (line 6) {same} {id}"));
        assert_eq!(left[2], format!("GET /x/{{n}}#f: `GET /x/{{name}}` (line 6) {same} {id}"));
        if !name.is_empty() {
            assert_eq!(left[1], format!("GET /x/{{name}}: `GET /x/{{id}}` (line 5) {same} {name}"));
        }
    }
}

#[test]
fn most_paths_say_whether_all_end_in_a_slash() {
    let get = |paths: &[&str]| {
        let paths = paths.iter().map(|path| format!("  '{path}': {{ get: {{}}, put: {{ security: [] }} }}\n"));
        with(LOGIN, &format!("security: [{{ login: [s] }}]\npaths:\n{}", paths.collect::<String>()))
    };
    for (paths, kept, is_always) in [
        (&["/a/", "/b/{id}/", "/c"][..], 2, true),
        (&["/a/#x", "/b/#y", "/c"], 2, true),
        (&["/a/", "/c"], 1, false),
        (&["/a/", "/c", "/d"], 2, false),
        (&["/", "/a/"], 2, true),
    ] {
        let imported = import(get(paths).as_bytes(), &free()).unwrap();
        assert_eq!(
            (imported.operations, imported.policy.contains("trailing_slash: always")),
            (kept, is_always),
            "{paths:?}"
        );
    }
    // What is left out is not decided by another path, either.
    let document = with(
        LOGIN,
        "paths: { '/a/{id}/': { get: { security: [{ login: [s] }] } }, /a/me/: { get: { security: [] } } }",
    );
    let imported = import(document.as_bytes(), &free()).unwrap();
    let left: Vec<_> = imported.left_out.iter().map(|left| left.kind.as_str()).collect();
    assert_eq!((imported.operations, left), (1, vec!["open"]), "{}", imported.policy);
    assert!(imported.policy.contains("closed:\n      - /a/me\n"), "{}", imported.policy);
}

#[test]
fn an_optional_scope_may_be_required() {
    let document = with(
        &format!("{LOGIN}, key: {{ type: apiKey }}"),
        "paths:
  /a: { get: { security: [{}, { login: [s] }] } }
  /b: { get: { security: [{ login: [s] }, { key: [] }, {}] } }
  /c: { get: { security: [{}] } }
  /d: { get: { security: [] } }",
    );
    let left = |options: &Options| {
        let imported = import(document.as_bytes(), options).unwrap();
        let policy = Policy::from_yaml(&imported.policy).unwrap();
        let drift = check(document.as_bytes(), options, &policy).unwrap();
        assert!(drift.iter().all(|drift| drift.kind == DriftKind::Unclear), "{drift:?}");
        let left: Vec<_> = imported.left_out.iter().map(|left| left.kind.as_str()).collect();
        let notes: Vec<_> = imported.notes.iter().map(|note| format!("{} {}", note.kind, note.operation)).collect();
        (left.join(" "), notes.join(", "), imported.left_out[0].message.clone())
    };
    let (kinds, notes, message) = left(&free());
    assert_eq!((&*kinds, &*notes), ("optional optional optional open", ""));
    assert!(message.ends_with("; with `--optional require`, the policy requires it"), "{message}");
    let options = Options { require_optional: true, ..free() };
    assert_eq!(left(&options).0, "optional open");
    assert_eq!(left(&options).1, "required_optional GET /a, required_optional GET /b, dropped_alternative GET /b");
    let options = Options { schemes: vec!["login".to_owned()], ..options };
    assert_eq!(left(&options).0, "optional open");
    assert_eq!(left(&options).1, "required_optional GET /a, required_optional GET /b");
    // Callers without a token are denied.
    let policy = Policy::from_yaml(&import(document.as_bytes(), &options).unwrap().policy).unwrap();
    let engine = orbgate::Engine::new(&policy);
    let call = orbgate::Request { method: b"GET", target: b"/a", token: None, allow_bonus_orbs_use: false };
    assert_eq!(engine.decide(&call).reason().as_str(), "no_token");
}

#[test]
fn a_scope_that_its_scheme_does_not_declare_is_noted_once() {
    let scheme =
        |scopes: &str| format!("login: {{ type: oauth2, flows: {{ password: {{ scopes: {{ {scopes} }} }} }} }}");
    let paths = "paths: { /a: { get: { security: [{ login: [s] }] }, put: { security: [{ login: [t] }] }, delete: { security: [{ login: [t] }] } } }";
    let notes = |scopes: &str| {
        let imported = import(with(&scheme(scopes), paths).as_bytes(), &free()).unwrap();
        assert_eq!(imported.operations, 3);
        let notes = imported.notes.iter().map(|note| format!("{} {}: {}", note.kind, note.operation, note.message));
        notes.collect::<Vec<_>>()
    };
    assert_eq!(notes("s: x"), ["undeclared_scope PUT /a: scheme `login` doesn't declare scope `t` (in 2 operations)"]);
    assert_eq!(notes("s: x, t: y"), [""; 0]);
    assert_eq!(notes(""), [""; 0]);
    assert_eq!(import(with(LOGIN, paths).as_bytes(), &free()).unwrap().notes, []);
}
