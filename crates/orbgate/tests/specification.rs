//! The built-in policy against the specification's own table, row by row. The fixture was written from
//! the specification's text, not from the YAML.

use std::collections::BTreeMap;

use orbgate::{Engine, Orbs, OrganisationRule, Policy};

/// One route of the specification: scope, whether it consumes orbs, the permitted action, the route.
type Row<'t> = (&'t str, Orbs, &'t str, String);

fn fixture() -> Vec<Row<'static>> {
    let text = include_str!("../testdata/spec-4-2.tsv");
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &'static str| {
        let cells: Vec<_> = line.split('\t').collect();
        let orbs = match cells[1] {
            "yes" => Orbs::Unstated,
            "no" => Orbs::Free,
            other => panic!("neither yes nor no: {other}"),
        };
        (cells[0], orbs, cells[2], format!("{} /api/v1/external{}", cells[3], cells[4]))
    };
    lines.map(row).collect()
}

#[test]
fn the_built_in_table_is_the_specifications() {
    let engine = Engine::external();
    let mut listed = Vec::new();
    for scope in engine.scope_table().filter(|scope| scope.api() == "external") {
        assert_eq!(scope.organisation(), None, "{scope:?}");
        for route in scope.routes() {
            assert_eq!(Some(route.orbs()), scope.orbs(), "{route:?}");
            let permits = scope.permits().unwrap();
            listed.push((scope.name(), route.orbs(), permits, route.as_str().to_owned()));
        }
    }
    // The fixture and the file keep the specification's order.
    assert_eq!(listed, fixture());
    assert_eq!(listed.len(), 37);
    assert_eq!(listed.len(), engine.routes().len());
}

#[test]
fn there_are_22_scopes_and_the_two_of_inference() {
    let mut by_api: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for scope in Engine::external().scope_table() {
        by_api.entry(scope.api()).or_default().push(scope);
    }
    assert_eq!(by_api["external"].len(), 22);
    let inference = &by_api["inference"];
    assert_eq!(inference.iter().map(|s| s.name()).collect::<Vec<_>>(), ["read:inference", "write:inference"]);
    for scope in inference {
        // Neither routes, nor an orb column, nor an action are stated for them (specification §4.2, §5.6).
        assert_eq!(scope.routes().count(), 0);
        assert_eq!(scope.orbs(), None);
        assert_eq!(scope.permits(), None);
        assert_eq!(scope.organisation(), Some(OrganisationRule::Deny));
    }
    assert_eq!(by_api.len(), 2);
    assert_eq!(Engine::external().scope_count(), 24);
}

#[test]
fn the_two_empty_headings_are_there() {
    let headings: Vec<_> = Engine::external().headings().collect();
    assert_eq!(headings, ["Sessions", "Organisations"]);
}

/// The engine compiled into the program and one made of the same file at run time are the same.
#[test]
fn both_ways_to_an_engine_agree() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/policy/external.yaml");
    let policy = Policy::from_yaml(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (built_in, made) = (Engine::external(), Engine::new(&policy));
    assert_eq!(built_in.digest(), made.digest());
    assert_eq!(built_in.digest(), policy.digest());
    assert_eq!(policy.name(), Some("external"));
    assert_eq!(built_in.name(), policy.name());
    assert_eq!(made.name(), policy.name());
    assert_eq!(built_in.target(), made.target());
    assert!(built_in.routes().eq(made.routes()));
    assert!(built_in.routes().map(|r| r.location()).eq(made.routes().map(|r| r.location())));
    assert!(built_in.scope_table().eq(made.scope_table()));
    assert!(built_in.headings().eq(made.headings()));
}

#[test]
fn a_policy_need_not_have_a_name() {
    let policy = Policy::from_yaml("orbgate: 1\napis: {}\n").unwrap();
    assert_eq!((policy.name(), Engine::new(&policy).name()), (None, None));
}
