//! Each kind of operation that is left out, with its exact location and message.

use std::collections::HashSet;

use orbgate_openapi::{Cause, NoteKind, import};

use super::free;
use crate::support::expected::Expected;

/// What is left out of a document with these paths.
fn left_out(paths: &str) -> (Vec<String>, String) {
    let document = format!("{HEAD}{paths}");
    let imported = import(document.as_bytes(), &free());
    let imported = imported.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{document}"));
    let lines = imported
        .left_out
        .iter()
        .map(|left| format!("{}: {}: {}: {}", left.location, left.kind, left.operation, left.message));
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

/// Paths of documents. A `GET /kept` next to them is always kept.
const TABLE: &[&str] = &[
    "  /a: { get: { security: [{ login: [read] }, { login: [] }] } }",
    "  /a: { get: { security: [{ key: [] }, { login: [read], key: [] }] } }",
    "  /a: { get: { security: [{ login: [read], key: [] }] } }",
    "  /a: { get: { security: [{ login: [] }] } }",
    "  /a: { get: { security: [] } }",
    "  /a: { get: { security: [{ login: [read] }, {}] } }",
    "  /a: { get: { security: [{ key: [] }] } }",
    "  /a: { get: { security: [{ elsewhere: [read] }] } }",
    "  /a: { get: { security: [{ logn: [read] }] } }",
    "  /a: { get: { security: [{ login: ['read write'] }] } }",
    "  /files/{name}.json: { get: {} }",
    "  '/files/{id:[0-9]+}': { get: {} }",
    "  /files/: { get: {} }",
    "  /a%2Fb: { get: {} }",
    "  /a?x=1: { get: {} }",
    "  /a: { query: {} }",
    "  /a: { GET: {} }",
    "  /a: { x-orbs-operations: { purge: {} } }",
    "  /a/{x}: { get: {} }\n  /a/{y}: { get: { security: [{ login: [admin] }] }, put: {} }",
    "  /a: { get: { servers: [{ url: https://b.example/v2 }] } }",
    "  /a: { servers: [{ url: 'https://{host}/' }], get: {} }",
    "  /a: { $ref: '#/paths/~1b' }\n  /b: { $ref: '#/paths/~1a' }",
    "  /a: { get: { $ref: other.yaml } }",
    "  $ref: paths.yaml",
    "  /a: { get: { x-orbs: 0 } }",
    "  /a: { get: { x-orbs-own: true } }",
    "  /a/{id}: { get: { x-orbs-path: '/a/b' } }",
    "  /a: &a { get: {} }\n  /b: *a",
    "  /a: { get: { security: { login: [read] } }, put: { security: null } }",
    "  /a: { get: { security: [{ login: read }], servers: [] } }",
    "  /a: { get: { security: [{ login: [null] }] } }",
    "  /a: { security: [{ login: [admin] }], get: {} }\n  /b: { get: {}, $ref: x.yaml }\n  /{a}: { put: {} }",
    "  a: { get: {} }",
    "  /users/{id}: { get: {}, put: {} }\n  /users/me: { get: { security: [] } }",
    "  /Users: { get: {} }\n  /users: { get: {} }",
];

#[test]
fn every_kind_has_its_message() {
    let many: Vec<_> = (0..129).map(|number| format!("{{ login: [s{number}] }}")).collect();
    let many = format!("  /a: {{ get: {{ security: [{}] }} }}", many.join(", "));
    let names: Vec<_> = (0..257).map(|number| format!("s{number}")).collect();
    let names = format!("  /a: {{ get: {{ security: [{{ login: [{}] }}] }} }}", names.join(", "));
    let far: Vec<_> = (0..257).map(|number| format!("{{ login: [s{number}] }}")).collect();
    let far = format!("  /a: {{ get: {{ security: [{}] }} }}", far.join(", "));
    let too_many = [("129 alternatives", &*many), ("257 names", &*names), ("257 alternatives", &*far)];
    let table = TABLE.iter().map(|paths| (*paths, *paths)).chain(too_many);
    let silent = HEAD.replace("security:\n  - login: [all]\n", "") + "  /a: { get: {} }\n";
    let imported = import(silent.as_bytes(), &free()).unwrap();
    let left = &imported.left_out[0];
    let mut expected = Expected::default();
    expected.add("no `security`", [&left.message]);
    let mut seen = HashSet::from([left.kind.to_string()]);
    for (title, paths) in table {
        let (lines, policy) = left_out(&format!("{paths}\n  /kept: {{ get: {{}} }}\n"));
        expected.add(title, &lines);
        assert!(policy.contains("- GET /kept\n"), "{paths}\n{policy}");
        seen.extend(lines.iter().filter_map(|line| line.split(": ").nth(1).map(str::to_owned)));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "kinds");
    for kind in Cause::ALL {
        assert!(seen.contains(kind.as_str()), "{kind}");
    }
}

#[test]
fn the_page_explains_every_kind() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.md");
    let Ok(page) = std::fs::read_to_string(page) else {
        assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml.orig").exists());
        return;
    };
    let causes = Cause::ALL.map(|kind| (kind.as_str(), kind.explanation()));
    let notes = NoteKind::ALL.map(|kind| (kind.as_str(), kind.explanation()));
    for (kind, explanation) in causes.into_iter().chain(notes) {
        let row = format!("| `{kind}` | {} |", explanation.replace('|', "\\|"));
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn one_operation_of_a_shape_stays_with_its_methods() {
    let (lines, policy) = left_out("  /a/{x}: { get: {} }\n  /a/{y}: { put: {} }\n");
    assert_eq!(lines, [""; 0]);
    assert!(policy.contains("- GET /a/{x}\n") && policy.contains("- PUT /a/{y}\n"), "{policy}");
}
