//! Each kind of operation that is left out, with its exact location and message.

use std::collections::HashSet;

use orbgate_openapi::{Cause, import};

use super::free;

/// What is left out of a document with these paths.
fn left_out(paths: &str) -> (Vec<String>, String) {
    let document = format!("{HEAD}{paths}");
    let imported = import(document.as_bytes(), &free());
    let imported = imported.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{document}"));
    let lines = imported.left_out.iter().map(|left| {
        format!(
            "{}: {}: {}: {}",
            left.location, left.kind, left.operation, left.message
        )
    });
    (lines.collect(), imported.policy)
}

/// 10 lines; the paths start on line 11.
const HEAD: &str = "\
openapi: 3.0.3
info: { title: Items, version: '1' }
components:
  securitySchemes:
    login: { type: oauth2, flows: {} }
    key: { type: apiKey, in: header, name: X-Key }
    elsewhere: { $ref: '#/components/securitySchemes/login' }
security:
  - login: [all]
paths:
";

/// Paths, and what is said of them. A `GET /kept` next to them is always kept.
const TABLE: &[(&str, &[&str])] = &[
    (
        "  /a: { get: { security: [{ login: [read, write] }] } }",
        &["11:26: several_scopes: GET /a: all of these scopes are needed: `read`, `write`"],
    ),
    (
        "  /a: { get: { security: [{ login: [read] }, { login: [write] }] } }",
        &[
            "11:26: alternatives: GET /a: there are several ways: `login` with `read` or `login` with `write`",
        ],
    ),
    (
        "  /a: { get: { security: [{ login: [read] }, { key: [] }] } }",
        &[
            "11:26: alternatives: GET /a: there are several ways: `login` with `read` or `key`; \
           with `--scheme login` only that one counts",
        ],
    ),
    (
        "  /a: { get: { security: [{ login: [read], key: [] }] } }",
        &["11:26: several_schemes: GET /a: all of this is needed: `login` with `read` and `key`"],
    ),
    (
        "  /a: { get: { security: [{ login: [] }] } }",
        &["11:26: no_scope: GET /a: `login` is needed without a scope"],
    ),
    (
        "  /a: { get: { security: [] } }",
        &["11:26: open: GET /a: `security: []`: anyone can call it"],
    ),
    (
        "  /a: { get: { security: [{ login: [read] }, {}] } }",
        &["11:26: optional: GET /a: one way to be allowed is `{}`: security is optional"],
    ),
    (
        "  /a: { get: { security: [{ key: [] }] } }",
        &["11:26: other_scheme: GET /a: scheme `key` has no scopes: it is of the type `apiKey`"],
    ),
    (
        "  /a: { get: { security: [{ elsewhere: [read] }] } }",
        &[
            "11:26: other_scheme: GET /a: scheme `elsewhere` has no scopes: it is a `$ref`, which is not followed",
        ],
    ),
    (
        "  /a: { get: { security: [{ logn: [read] }] } }",
        &["11:26: unknown_scheme: GET /a: scheme `logn` is not declared"],
    ),
    (
        "  /a: { get: { security: [{ login: ['read write'] }] } }",
        &[
            "11:9: scope: GET /a: scope `read write` has the character U+0020, which isn't allowed in a scope (RFC 6749 §3.3)",
        ],
    ),
    (
        "  /files/{name}.json: { get: {} }",
        &[
            "11:25: path: GET /files/{name}.json: a parameter must be a whole segment, such as `{id}`, not `{name}.json`",
        ],
    ),
    (
        "  '/files/{id:[0-9]+}': { get: {} }",
        &[
            "11:27: path: GET /files/{id:[0-9]+}: a parameter's name must be a letter or `_`, then letters, digits, `_`, `.` or `-`, not `{id:[0-9]+}`",
        ],
    ),
    (
        "  /files/: { get: {} }",
        &["11:14: path: GET /files/: path `/files/` must not end with `/`"],
    ),
    (
        "  /a%2Fb: { get: {} }",
        &[
            "11:13: path: GET /a%2Fb: path `/a%2Fb` has the character `%`, which isn't allowed in a path",
        ],
    ),
    (
        "  /a?x=1: { get: {} }",
        &["11:13: path: GET /a?x=1: a template has no query: write `/a` instead of `/a?x=1`"],
    ),
    (
        "  /a: { query: {} }",
        &["11:9: method: QUERY /a: `query` is not a method of OpenAPI"],
    ),
    (
        "  /a: { GET: {} }",
        &["11:9: method: GET /a: `GET` is not a method of OpenAPI"],
    ),
    (
        "  /a: { x-orbs-operations: { purge: {} } }",
        &["11:30: method: purge /a: method `purge` must be 1 to 16 letters from `A` to `Z`"],
    ),
    (
        "  /a/{x}: { get: {} }\n  /a/{y}: { get: { security: [{ login: [admin] }] }, put: {} }",
        &[
            "11:13: duplicate: GET /a/{x}: `GET /a/{y}` (line 12) is the same except for the names of parameters",
            "12:13: duplicate: GET /a/{y}: `GET /a/{x}` (line 11) is the same except for the names of parameters",
        ],
    ),
    (
        "  /a: { get: { servers: [{ url: https://b.example/v2 }] } }",
        &[
            "11:25: servers: GET /v2/a: its servers have the path `/v2`, and those of the document ``",
        ],
    ),
    (
        "  /a: { servers: [{ url: 'https://{host}/' }], get: {} }",
        &["11:26: servers: GET /a: the path of server `https://{host}/` has a variable"],
    ),
    (
        "  /a: { $ref: '#/paths/~1b' }\n  /b: { $ref: '#/paths/~1a' }",
        &[
            "11:9: reference: /a: `$ref` to `#/paths/~1b` is not followed: bundle the document into one without it",
            "12:9: reference: /b: `$ref` to `#/paths/~1a` is not followed: bundle the document into one without it",
        ],
    ),
    (
        "  /a: { get: { $ref: other.yaml } }",
        &[
            "11:16: reference: GET /a: `$ref` to `other.yaml` is not followed: bundle the document into one without it",
        ],
    ),
    (
        "  $ref: paths.yaml",
        &[
            "11:3: reference: $ref: `$ref` to `paths.yaml` is not followed: bundle the document into one without it",
        ],
    ),
    (
        "  /a: { get: { x-orbs: 0 } }",
        &[
            "11:24: orbs: GET /a: `x-orbs` must be `true`, `false` or a plain whole number from 1 to 9223372036854775807",
        ],
    ),
    (
        "  /a: { get: { security: [{ login: [s] }], x-orbs: 5 }, put: { security: [{ login: [s] }] } }",
        &[
            "11:9: orbs: GET /a: scope `s` is free for some operations and consumes orbs for others",
            "11:57: orbs: PUT /a: scope `s` is free for some operations and consumes orbs for others",
        ],
    ),
    (
        "  /a: { get: { x-orbs-own: true } }",
        &["11:28: orbs: GET /a: `x-orbs-own` must be `true`, together with an amount in `x-orbs`"],
    ),
    (
        "  /a/{id}: { get: { x-orbs-path: '/a/b' } }",
        &[
            "11:34: malformed: GET /a/{id}: `x-orbs-path` must be the path except for the names of parameters",
        ],
    ),
    (
        "  /a: &a { get: {} }\n  /b: *a",
        &[
            "12:7: malformed: /b: a path item must be a mapping, and an alias or a tag of YAML is not read",
        ],
    ),
    (
        "  /a: { get: { security: { login: [read] } }, put: { security: null } }",
        &[
            "11:26: malformed: GET /a: `security` must be a list",
            "11:64: malformed: PUT /a: `security` must be a list",
        ],
    ),
    (
        "  /a: { get: { security: [{ login: read }], servers: [] } }",
        &["11:29: malformed: GET /a: the scopes of a scheme must be a list"],
    ),
    (
        "  /a: { get: { security: [{ login: [null] }] } }",
        &[
            "11:37: malformed: GET /a: a scope must be a string, and `null` can be read as null: write `'null'`",
        ],
    ),
    (
        "  /a: { security: [{ login: [admin] }], get: {} }\n  /b: { get: {}, $ref: x.yaml }\n  /{a}: { put: {} }",
        &[
            "11:9: malformed: /a: `security` has no place in a path item: write it in each operation",
            "12:18: reference: /b: `$ref` to `x.yaml` is not followed: bundle the document into one without it",
            "13:11: takes_over: PUT /{a}: it would decide calls of `/b` (line 12), which is left out",
        ],
    ),
    (
        "  a: { get: {} }",
        &["11:3: malformed: a: path `a` must start with `/`"],
    ),
    (
        "  /users/{id}: { get: {}, put: {} }\n  /users/me: { get: { security: [] } }",
        &[
            "11:18: takes_over: GET /users/{id}: it would decide calls of `GET /users/me` (line 12), which is left out",
            "12:33: open: GET /users/me: `security: []`: anyone can call it",
        ],
    ),
    (
        "  /Users: { get: {} }\n  /users: { get: {} }",
        &[
            "11:13: takes_over: GET /Users: it would decide calls of `GET /users` (line 12), which is left out",
            "12:13: path: GET /users: `users` in route `GET /users` differs only in case from `Users`",
        ],
    ),
];

#[test]
fn every_kind_has_its_message() {
    let silent = HEAD.replace("security:\n  - login: [all]\n", "") + "  /a: { get: {} }\n";
    let imported = import(silent.as_bytes(), &free()).unwrap();
    let left = &imported.left_out[0];
    assert_eq!(
        left.message,
        "neither the operation nor the document has `security`"
    );
    let mut seen = HashSet::from([left.kind.to_string()]);
    for (paths, expected) in TABLE {
        let (lines, policy) = left_out(&format!("{paths}\n  /kept: {{ get: {{}} }}\n"));
        assert_eq!(lines, *expected, "{paths}\n{policy}");
        assert!(policy.contains("- GET /kept\n"), "{paths}\n{policy}");
        seen.extend(
            lines
                .iter()
                .filter_map(|line| line.split(": ").nth(1).map(str::to_owned)),
        );
    }
    for kind in Cause::ALL {
        assert!(seen.contains(kind.as_str()), "{kind}");
    }
}

#[test]
fn the_page_explains_every_kind() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.md");
    let Ok(page) = std::fs::read_to_string(page) else {
        assert!(
            std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("Cargo.toml.orig")
                .exists()
        );
        return;
    };
    for kind in Cause::ALL {
        let row = format!("| `{kind}` | {} |", kind.explanation().replace('|', "\\|"));
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn one_operation_of_a_shape_stays_with_its_methods() {
    let (lines, policy) = left_out("  /a/{x}: { get: {} }\n  /a/{y}: { put: {} }\n");
    assert_eq!(lines, [""; 0]);
    assert!(
        policy.contains("- GET /a/{x}\n") && policy.contains("- PUT /a/{y}\n"),
        "{policy}"
    );
}
