//! Paths that are closed, because a route with a parameter would otherwise decide their calls.

use orbgate::{Engine, Policy, Request, Token};
use orbgate_openapi::{Options, check, import};

use super::free;

fn document(paths: &str) -> String {
    format!(
        "openapi: 3.0.0\ncomponents: {{ securitySchemes: {{ o: {{ type: oauth2 }} }} }}\nsecurity: [{{ o: [s] }}]\npaths:\n{paths}"
    )
}

/// The closed templates, what is left out, and the notes.
fn imported(paths: &str, options: &Options) -> (Policy, Vec<String>, Vec<String>, Vec<String>) {
    let document = document(paths);
    let imported = import(document.as_bytes(), options).unwrap();
    let policy = Policy::from_yaml(&imported.policy).unwrap();
    let drift = check(document.as_bytes(), options, &policy).unwrap();
    assert_eq!(drift.len(), imported.left_out.len(), "{drift:?}");
    assert_eq!(orbgate_analysis::format(&imported.policy).unwrap(), imported.policy);
    let closed = policy.apis()[0].closed().iter().map(|closed| closed.template().to_owned()).collect();
    let left = imported.left_out.iter().map(|left| format!("{} {}", left.kind, left.operation)).collect();
    let notes = imported
        .notes
        .iter()
        .map(|note| format!("{} {} {}: {}", note.location, note.kind, note.operation, note.message));
    (policy, closed, left, notes.collect())
}

fn decided(policy: &Policy, method: &str, target: &str) -> (String, u16) {
    let engine = Engine::new(policy);
    let decision = engine.decide(&Request {
        method: method.as_bytes(),
        target: target.as_bytes(),
        token: Some(Token::user("s t")),
        allow_bonus_orbs_use: false,
    });
    (decision.reason().as_str().to_owned(), decision.status().unwrap_or(200))
}

/// A concrete path is chosen before one with parameters, whatever its method and whether it was left out.
#[test]
fn a_path_that_is_left_out_is_closed() {
    let paths = "  /orders/{id}: { get: {}, put: {} }\n  /orders/calculate: { post: { security: [{ o: [] }] } }\n";
    let (policy, closed, left, notes) = imported(paths, &free());
    assert_eq!(
        (closed, left),
        (vec!["/orders/calculate".to_owned()], vec!["no_scope POST /orders/calculate".to_owned()])
    );
    let note = "6:24 closed /orders/calculate: each call is denied with 405, because `GET /orders/{id}` (line 5) would decide it";
    assert_eq!(notes, [note]);
    for method in ["GET", "POST", "PUT"] {
        assert_eq!(decided(&policy, method, "/orders/calculate"), ("method_not_declared".to_owned(), 405));
    }
    assert_eq!(decided(&policy, "GET", "/orders/5").1, 200);
    // Without it, the policy would differ.
    let open = document(paths);
    let lacking = "orbgate: 1\napis: { o: { base_path: '', scopes: { s: { orbs: false, routes: ['GET /orders/{id}', 'PUT /orders/{id}'] } } } }";
    let drift = check(open.as_bytes(), &free(), &Policy::from_yaml(lacking).unwrap()).unwrap();
    let lines: Vec<_> = drift.iter().map(|drift| format!("{} {}", drift.kind, drift.operation)).collect();
    assert_eq!(lines, ["unclear POST /orders/calculate", "closed /orders/calculate"]);
}

#[test]
fn only_paths_that_a_route_would_decide_are_closed() {
    let open = "get: { security: [] }";
    for (paths, closed, left) in [
        // No route fits, or one with the same path already keeps others away.
        (format!("  /a: {{ {open} }}\n  /b/{{x}}: {{ get: {{}} }}\n"), "", "open GET /a"),
        (format!("  /a/b: {{ put: {{}}, {open} }}\n  /a/{{x}}: {{ get: {{}} }}\n"), "", "open GET /a/b"),
        // Two left out of one path are closed once, under the first name.
        (
            format!("  /a/{{x}}/b: {{ {open}, put: {{ security: [] }} }}\n  /{{p}}/{{q}}/b: {{ get: {{}} }}\n"),
            "/a/{x}/b",
            "open GET /a/{x}/b, open PUT /a/{x}/b",
        ),
        // The policy would choose the route, and the document doesn't say which one is meant.
        (
            format!("  /{{x}}/b: {{ {open} }}\n  /a/{{y}}: {{ get: {{}} }}\n"),
            "",
            "open GET /{x}/b, takes_over GET /a/{y}",
        ),
        (format!("  /a/{{x}}: {{ {open} }}\n  /{{y}}/b: {{ get: {{}} }}\n"), "/a/{x}", "open GET /a/{x}"),
        // A closed template can't differ from another only in case, or have a parameter within a segment.
        (
            format!("  /Us/b: {{ get: {{}} }}\n  /us/a: {{ {open} }}\n  /{{x}}/{{y}}: {{ get: {{}} }}\n"),
            "",
            "open GET /us/a, takes_over GET /{x}/{y}",
        ),
        (
            "  /Us/b: { get: {} }\n  /us/a: { put: { security: [] } }\n  /{x}/{y}: { get: {} }\n".to_owned(),
            "",
            "open PUT /us/a, takes_over GET /{x}/{y}",
        ),
        (
            format!("  /a/{{x}}.csv: {{ {open} }}\n  /a/{{y}}: {{ get: {{}}, put: {{}} }}\n"),
            "",
            "open GET /a/{x}.csv, takes_over GET /a/{y}",
        ),
        // Its methods are unknown.
        ("  /a/b: { $ref: x }\n  /a/{y}: { get: {} }\n".to_owned(), "/a/b", "reference /a/b"),
    ] {
        let (_, templates, gone, _) = imported(&paths, &free());
        assert_eq!((&*templates.join(", "), &*gone.join(", ")), (closed, left), "{paths}");
    }
}

/// A document can hide the operations of a path.
#[test]
fn a_path_without_operations_is_closed() {
    let (policy, closed, left, notes) =
        imported("  /a/b: {}\n  /a/{x}: { get: {} }\n  /c: { summary: c, parameters: [] }\n", &free());
    assert_eq!((closed.join(" "), left, notes), ("/a/b /c".to_owned(), vec![], vec![]));
    assert_eq!(decided(&policy, "GET", "/a/b").1, 405);
    let document = document("  /a/b.{c}: {}\n  /a/{x}: { get: {} }\n  /a/c: { put: {} }\n");
    let imported = import(document.as_bytes(), &free()).unwrap();
    let left: Vec<_> =
        imported.left_out.iter().map(|left| format!("{} {}: {}", left.kind, left.operation, left.message)).collect();
    assert_eq!(
        left,
        [
            "path /a/b.{c}: a policy can't close this path, which has no operations",
            "takes_over GET /a/{x}: it would decide calls of `/a/b.{c}` (line 5), which is left out"
        ]
    );
    assert_eq!(imported.operations, 1);
}

#[test]
fn a_template_that_only_the_policy_closes_differs() {
    let document = document("  /a/{x}: { get: {} }\n");
    let policy = "orbgate: 1\napis: { o: { base_path: '', closed: [/a/b], scopes: { s: { orbs: false, routes: ['GET /a/{x}'] } } } }";
    let drift = check(document.as_bytes(), &free(), &Policy::from_yaml(policy).unwrap()).unwrap();
    let lines: Vec<_> =
        drift.iter().map(|drift| format!("{} {}: {}", drift.kind, drift.operation, drift.message)).collect();
    assert_eq!(lines, ["closed /a/b: the document has no such path; the policy closes it"]);
}
