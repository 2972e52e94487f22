//! What passes `check` allows no call for less than the document asks, and what `import` writes passes.

use core::cell::Cell;

use orbgate::{Engine, Policy};
use orbgate_openapi::{Drift, DriftKind, check, import};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;

use super::free;
use super::wider::{Operation, calls, document, for_less, operations};

/// An edit by hand in a policy that was imported.
#[derive(Clone, Debug)]
enum Edit {
    /// A route for an operation of the document.
    Add(Index, &'static str, &'static str),
    Remove(Index),
    Needs(Index, &'static str, &'static str),
    /// Organisations need no scope.
    Organisation,
    /// A template isn't closed.
    Open(Index),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let scope = || select(&["r", "w"][..]);
    let keys = || select(&["", "", "or: [x], ", "and: x, "][..]);
    let edit = prop_oneof![
        6 => (any::<Index>(), scope(), keys()).prop_map(|(at, scope, keys)| Edit::Add(at, scope, keys)),
        1 => any::<Index>().prop_map(Edit::Remove),
        2 => (any::<Index>(), scope(), keys()).prop_map(|(at, scope, keys)| Edit::Needs(at, scope, keys)),
        1 => Just(Edit::Organisation),
        2 => any::<Index>().prop_map(Edit::Open),
    ];
    vec(edit, 0..4)
}

/// A route, the scope that owns it, and its keys `or` and `and`.
type Route = (String, String, String);

fn routes(policy: &Policy) -> Vec<Route> {
    let scopes = policy.apis().iter().flat_map(orbgate::policy::Api::scopes);
    let routes = scopes.flat_map(|scope| {
        let route = |route: &orbgate::policy::RouteRule| {
            let text = format!("{} {}", route.method(), route.template());
            let mut keys = String::new();
            for (number, scopes) in route.requirement().iter().flat_map(|needs| needs.alternatives()).enumerate() {
                match (number, scopes.split_once(' ')) {
                    (0, None) => {}
                    (0, Some((_, and))) => keys += &format!("and: '{and}', "),
                    _ => keys += &format!("or: ['{scopes}'], "),
                }
            }
            (text, scope.name().to_owned(), keys)
        };
        scope.routes().iter().map(route)
    });
    routes.collect()
}

fn closed(policy: &Policy) -> Vec<String> {
    let closed = policy.apis().iter().flat_map(orbgate::policy::Api::closed);
    closed.map(|closed| closed.template().to_owned()).collect()
}

fn edited(mut routes: Vec<Route>, mut closed: Vec<String>, operations: &[Operation], edits: &[Edit]) -> String {
    let mut organisation = "";
    let with = |scope: &str, keys: &str| {
        let other = if scope == "r" { "w" } else { "r" };
        (scope.to_owned(), keys.replace('x', other))
    };
    for edit in edits {
        match edit {
            Edit::Add(at, scope, keys) => {
                let operation = at.get(operations);
                let method = operation.method.to_ascii_uppercase();
                let route = format!("{method} /{}", operation.segments.join("/"));
                let (scope, keys) = with(scope, keys);
                routes.push((route, scope, keys));
            }
            Edit::Organisation => {
                organisation = "    token: user\n    organisation: allow_without_scope\n";
            }
            Edit::Remove(_) | Edit::Needs(..) if routes.is_empty() => {}
            Edit::Remove(at) => drop(routes.swap_remove(at.index(routes.len()))),
            Edit::Needs(at, scope, keys) => {
                let route = at.get_mut(&mut routes);
                (route.1, route.2) = with(scope, keys);
            }
            Edit::Open(_) if closed.is_empty() => {}
            Edit::Open(at) => drop(closed.swap_remove(at.index(closed.len()))),
        }
    }
    let mut text =
        format!("orbgate: 1\napis:\n  l:\n    base_path: ''\n{organisation}    closed: {closed:?}\n    scopes:\n");
    for scope in ["r", "w"] {
        let own = routes.iter().filter(|(_, own, _)| own == scope);
        let own: Vec<_> = own.map(|(route, _, keys)| format!("{{ {keys}route: '{route}' }}")).collect();
        text += &format!("      {scope}: {{ orbs: false, routes: [{}] }}\n", own.join(", "));
    }
    text
}

fn passes(drift: &[Drift]) -> bool {
    drift.iter().all(|drift| drift.kind == DriftKind::Unclear)
}

#[test]
fn what_import_writes_passes_and_what_passes_allows_nothing_for_less() {
    let [passed, refused] = [Cell::new(0), Cell::new(0)];
    let config = ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() };
    let given = (operations(), edits(), calls());
    let run = TestRunner::new(config).run(&given, |(operations, edits, calls)| {
        let (text, operations) = document(&operations);
        let imported = import(text.as_bytes(), &free()).unwrap();
        let policy = Policy::from_yaml(&imported.policy).unwrap();
        let drift = check(text.as_bytes(), &free(), &policy).unwrap();
        prop_assert!(passes(&drift), "{text}\n{}\n{drift:?}", imported.policy);
        prop_assert_eq!(drift.len(), imported.left_out.len(), "{:?}", drift);

        let edited = edited(routes(&policy), closed(&policy), &operations, &edits);
        let Ok(policy) = Policy::from_yaml(&edited) else {
            return Ok(());
        };
        let drift = check(text.as_bytes(), &free(), &policy).unwrap();
        if !passes(&drift) {
            refused.set(refused.get() + 1);
            return Ok(());
        }
        passed.set(passed.get() + 1);
        let engine = Engine::new(&policy);
        for call in calls {
            let cheaper = for_less(&engine, &operations, &call);
            prop_assert_eq!(cheaper, None, "{}\n{}", text, edited);
        }
        Ok(())
    });
    run.unwrap();
    assert!(passed.get() > 40 && refused.get() > 40, "{passed:?} {refused:?}");
}

/// Any scope where the document states none, or its scheme is deleted.
#[test]
fn a_route_for_what_has_no_equal_does_not_pass() {
    let policy = "orbgate: 1\napis: { l: { base_path: '', scopes: { r: { orbs: false, routes: [GET /a] } } } }\n";
    let policy = Policy::from_yaml(policy).unwrap();
    for (security, schemes) in [
        ("[{ l: [r] }]", "k: { type: oauth2 }"),
        ("[{ l: [r], k: [w] }]", "l: { type: oauth2 }"),
        ("[{ l: [] }]", "l: { type: oauth2 }"),
        ("[]", "l: { type: oauth2 }"),
    ] {
        let document = format!(
            "openapi: 3.0.0\npaths: {{ /a: {{ get: {{ security: {security} }} }} }}\ncomponents: {{ securitySchemes: {{ {schemes} }} }}\n"
        );
        let drift = check(document.as_bytes(), &free(), &policy).unwrap();
        let kinds: Vec<_> = drift.iter().map(|drift| drift.kind).collect();
        assert_eq!(kinds, [DriftKind::Unequal], "{security}");
    }
}

/// Twice the same path, once with a query: the policy decides both by the path.
#[test]
fn a_query_in_a_path_is_left_out_with_its_path() {
    let document = "\
openapi: 3.0.0
paths:
  /items: { get: { security: [{ l: [r] }] } }
  /items?export=all: { get: { security: [{ l: [r, w] }] } }
  /other?export=all: { get: { security: [{ l: [r] }] } }
  /%6Fthers: { get: { security: [] } }
  /others: { get: { security: [{ l: [r] }] } }
components: { securitySchemes: { l: { type: oauth2 } } }
";
    let imported = import(document.as_bytes(), &free()).unwrap();
    assert_eq!(imported.operations, 0, "{}", imported.policy);
    assert_eq!(imported.left_out.len(), 5);
}
