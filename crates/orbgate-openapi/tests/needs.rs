//! Operations that need any of several scopes, or several at once.

use orbgate::{Orbs, Policy};
use orbgate_openapi::{Options, check, import};

use super::free;

const HEAD: &str = "\
openapi: 3.0.0
info: { title: A, version: '1' }
components:
  securitySchemes:
    l: { type: oauth2 }
    key: { type: apiKey }
    m: { $ref: elsewhere }
paths:
";

/// The policy below its base path, what is left out, and the notes.
fn imported(paths: &str, options: &Options) -> (String, Vec<String>, Vec<String>) {
    let document = format!("{HEAD}{paths}");
    let imported = import(document.as_bytes(), options).unwrap();
    let policy = Policy::from_yaml(&imported.policy).unwrap();
    let drift = check(document.as_bytes(), options, &policy).unwrap();
    assert_eq!(drift.len(), imported.left_out.len(), "{drift:?}");
    assert_eq!(orbgate_analysis::format(&imported.policy).unwrap(), imported.policy);
    let left = imported.left_out.iter().map(|left| format!("{} {}", left.kind, left.operation)).collect();
    let notes = imported.notes.iter().map(|note| format!("{} {}: {}", note.kind, note.operation, note.message));
    let (_, below) = imported.policy.split_once("    scopes:").unwrap();
    (below.trim_start_matches('\n').to_owned(), left, notes.collect())
}

#[test]
fn what_all_routes_of_a_scope_need_is_written_once() {
    let paths =
        "  /a: { get: { security: [{ l: [r] }, { l: [d, c] }, { l: [admin] }] }, put: { security: [{ l: [w, x] }] } }
  /b: { get: { security: [{ l: [r] }, { l: [admin] }, { l: [c, d, c] }] }, put: { security: [{ l: [w] }] } }
";
    let (policy, left, notes) = imported(paths, &free());
    let expected = "      r:
        or: [admin, c d]
        orbs: false
        routes:
          - GET /a
          - GET /b
      admin:
        routes: []
      c:
        routes: []
      d:
        routes: []
      w:
        orbs: false
        routes:
          - route: PUT /a
            and: x
          - PUT /b
      x:
        routes: []
...
";
    assert_eq!((&*policy, left, notes.len()), (expected, vec![], 1));
    assert!(
        notes[0].starts_with("all_of GET /a: all of `c`, `d` ") && notes[0].ends_with("(in 3 operations)"),
        "{notes:?}"
    );
}

#[test]
fn a_long_list_takes_a_line_for_each_alternative() {
    let alternatives =
        ["first", "second", "third", "fourth"].map(|word| format!("{{ l: ['crm.objects.{word}.read'] }}"));
    let (policy, ..) = imported(&format!("  /a: {{ get: {{ security: [{}] }} }}\n", alternatives.join(", ")), &free());
    assert!(
        policy.contains("        or: [crm.objects.fourth.read, crm.objects.second.read, crm.objects.third.read]\n"),
        "{policy}"
    );
    let alternatives = alternatives.map(|one| one.replace("objects", "objects.with.a.long.name"));
    let (policy, ..) = imported(&format!("  /a: {{ get: {{ security: [{}] }} }}\n", alternatives.join(", ")), &free());
    assert!(policy.contains("        or:\n          - crm.objects.with.a.long.name.fourth.read\n"), "{policy}");
    // A scope can contain what means something in brackets.
    let (policy, left, _) =
        imported("  /a: { get: { security: [{ l: [a] }, { l: ['b,{c}[d]'] }, { l: ['{e}'] }] } }\n", &free());
    assert!(policy.contains("or: [\"b,{c}[d]\", \"{e}\"]\n"), "{policy}");
    assert_eq!(left, [""; 0]);
}

#[test]
fn the_owner_is_of_the_first_alternative_that_is_left() {
    let paths = "  /a: { get: { security: [{ key: [] }, { l: [w, r] }, { l: [r] }, { l: [v], key: [] }, { m: [s] }, { n: [s] }, { n: [t] }] } }
  /b: { get: { security: [{ l: [r] }, { n: [u] }] } }
";
    let (policy, left, notes) = imported(paths, &free());
    assert_eq!(policy, "      r:\n        orbs: false\n        routes:\n          - GET /a\n          - GET /b\n...\n");
    assert_eq!(left, [""; 0]);
    let starts = [
        "dropped_alternative GET /a: callers with `l` and `key` are denied: all of these schemes are needed",
        "dropped_alternative GET /a: callers with only `key` are denied: scheme `key` has no scopes",
        "dropped_alternative GET /a: callers with only `m` are denied: scheme `m` has no scopes: it is a `$ref`",
        "dropped_alternative GET /a: callers with only `n` are denied: scheme `n` is not declared (in 2 operations)",
        "redundant_alternative GET /a: `r`, `w` is a way to be allowed that isn't needed, because `r` is enough",
    ];
    assert_eq!(notes.len(), starts.len(), "{notes:?}");
    for (note, start) in notes.iter().zip(starts) {
        assert!(note.starts_with(start), "{note}");
    }
}

/// Each scheme of an exported policy is an api, and a route has one owner.
#[test]
fn an_alternative_of_another_api_is_dropped() {
    let document = "\
openapi: 3.0.0
components:
  securitySchemes:
    one: { type: oauth2, x-orbs-api: { name: one, base_path: /one, scopes: {} } }
    two: { type: oauth2, x-orbs-api: { name: two, base_path: /two, scopes: {} } }
paths:
  /one/a: { get: { security: [{ one: [r] }, { two: [s] }] } }
  /two/a: { get: { security: [{ two: [s] }] } }
";
    let imported = import(document.as_bytes(), &free()).unwrap();
    let policy = Policy::from_yaml(&imported.policy).unwrap();
    let apis = policy.apis().iter().flat_map(|api| api.scopes());
    let needs: Vec<_> = apis.map(|scope| (scope.name(), scope.routes().len(), scope.requirement().is_some())).collect();
    assert_eq!(needs, [("r", 1, false), ("s", 1, false)], "{}", imported.policy);
    let notes: Vec<_> =
        imported.notes.iter().map(|note| format!("{} {}: {}", note.kind, note.operation, note.message)).collect();
    assert_eq!(
        notes,
        [
            "dropped_alternative GET /one/a: callers with only `two` are denied: it isn't the scheme of the first alternative with scopes"
        ]
    );
}

#[test]
fn a_token_without_scopes_is_never_enough() {
    let paths = "  /a: { get: { security: [{ l: [r] }, { l: [] }] } }\n";
    assert_eq!(imported(paths, &free()).1, ["no_scope GET /a"]);
    let options = Options { default_scope: Some("basic".to_owned()), ..free() };
    let (policy, left, _) = imported(paths, &options);
    assert!(policy.starts_with("      r:\n        or: [basic]\n"), "{policy}");
    assert_eq!(left, [""; 0]);
}

/// A scope that no policy can have leaves out the operations that name it, whoever owns them.
#[test]
fn a_bad_scope_leaves_out_only_what_names_it() {
    let paths = "  /a: { get: { security: [{ l: [r] }, { l: ['b c'] }] }, put: { security: [{ l: [r] }] } }
  /b: { get: { security: [{ l: ['b c'] }] }, put: { security: [{ l: [r, é] }] } }
";
    let (policy, left, _) = imported(paths, &free());
    assert_eq!(policy, "      r:\n        orbs: false\n        routes:\n          - PUT /a\n...\n");
    assert_eq!(left, ["scope GET /a", "scope GET /b", "scope PUT /b"]);
}

/// Its requirement is too large for one route, and not for the others of its scope.
#[test]
fn a_requirement_over_the_limit_leaves_out_its_operation() {
    let names: Vec<_> = (0..257).map(|number| format!("s{number}")).collect();
    let paths = format!(
        "  /a: {{ get: {{ security: [{{ l: [{}] }}] }}, put: {{ security: [{{ l: [s0] }}] }} }}\n",
        names.join(", ")
    );
    let (policy, left, _) = imported(&paths, &free());
    assert_eq!(left, ["requirement GET /a"]);
    assert_eq!(policy, "      s0:\n        orbs: false\n        routes:\n          - PUT /a\n...\n");
}

/// Each route costs what the document says, whatever the others of its scope cost.
#[test]
fn a_scope_owns_free_and_paid_routes() {
    let paths = "  /a: { get: { security: [{ l: [w] }] }, put: { security: [{ l: [w] }], x-orbs: 5 }, patch: { security: [{ l: [w] }], x-orbs: true } }
  /b: { get: { security: [{ l: [r] }], x-orbs: false, x-orbs-own: true } }
";
    let (policy, left, _) = imported(paths, &free());
    assert_eq!(left, [""; 0]);
    let w = "      w:\n        orbs: true\n        routes:\n          - route: GET /a\n            orbs: false\n          - route: PUT /a\n            orbs: 5\n          - PATCH /a\n";
    let r = "      r:\n        routes:\n          - route: GET /b\n            orbs: false\n";
    assert!(policy.contains(w) && policy.contains(r), "{policy}");
}

#[test]
fn orbs_count_for_owners_only() {
    let paths = "  /a: { get: { security: [{ l: [r] }, { l: [w] }], x-orbs: false }, put: { security: [{ l: [w] }], x-orbs: 5 } }
  /b: { get: { security: [{ l: [w] }, { l: [r] }], x-orbs: 7 } }
";
    let (policy, left, _) = imported(paths, &Options { orbs: Some(Orbs::Free), ..Options::default() });
    assert_eq!(left, [""; 0]);
    assert!(policy.contains("      r:\n        or: [w]\n        orbs: false\n"), "{policy}");
    assert!(policy.contains("          - route: GET /b\n            orbs: 7\n            or: [r]\n"), "{policy}");
}

/// The document's `security` is read once, and written once for each scope.
#[test]
fn a_long_security_of_all_operations_is_bounded() {
    let long = "s".repeat(100);
    let all: Vec<_> = (0..250).map(|number| format!("{{ l: [{long}{}, {long}{}] }}", number % 2, number + 2)).collect();
    let paths: String = (0..10_000).map(|number| format!("  /a{number}: {{ get: {{}} }}\n")).collect();
    // A policy can't have as many alternatives, or as many bytes of them for all routes.
    for (alternatives, kept) in [(250, 0), (50, 6_584)] {
        let document = format!("security: [{}]\n{HEAD}{paths}", all[..alternatives].join(", "));
        let imported = import(document.as_bytes(), &free()).unwrap();
        assert_eq!((imported.operations, imported.left_out.len()), (kept, 10_000 - kept));
        assert!(imported.left_out.iter().all(|left| left.kind.as_str() == "requirement"));
        assert!(imported.policy.len() < 1 << 18, "{}", imported.policy.len());
    }
}
