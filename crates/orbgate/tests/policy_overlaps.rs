//! Overlapping routes: what is named, and that the fast search finds what the obvious one finds.

use core::fmt::Write as _;
use std::collections::BTreeSet;

use orbgate::policy::Policy;
use proptest::prelude::*;

#[test]
fn a_literal_beside_a_parameter_is_named_where_scope_or_orbs_differ() {
    let warnings = overlaps(&[(
        "a",
        "true",
        &["POST /voxies/{id}/run", "POST /voxies/prompt/run"],
    )]);
    assert_eq!(warnings, [""; 0], "one scope, one charge");

    let warnings = overlaps(&[
        ("a", "true", &["POST /voxies/{id}/run"]),
        ("b", "true", &["POST /voxies/prompt/run"]),
    ]);
    assert_eq!(
        warnings,
        [
            "13:13: route `POST /api/voxies/prompt/run` overlaps `POST /api/voxies/{id}/run` (line 9): \
             of the two, a path that fits both takes `POST /api/voxies/prompt/run`"
        ]
    );

    let warnings = overlaps(&[(
        "a",
        "5",
        &["POST /x/{id}", "route: POST /x/y\n            orbs: 7"],
    )]);
    assert_eq!(warnings.len(), 1, "one scope, two amounts: {warnings:?}");

    let warnings = overlaps(&[(
        "a",
        "5",
        &["POST /x/{id}", "route: POST /x/y\n            orbs: 5"],
    )]);
    assert_eq!(warnings, [""; 0], "the route's own amount is the scope's");
}

#[test]
fn routes_of_two_methods_or_lengths_do_not_overlap() {
    assert_eq!(
        overlaps(&[
            ("a", "true", &["POST /{a}"]),
            ("b", "false", &["GET /x", "POST /x/y", "POST /"])
        ]),
        [""; 0]
    );
}

/// A parameter takes one segment that is not empty, and `/` has none.
#[test]
fn the_root_overlaps_nothing() {
    let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [GET /] }, t: { orbs: true, routes: ['GET /{a}'] } } } }";
    assert_eq!(Policy::from_yaml(text).unwrap().overlaps(), []);
}

#[test]
fn neither_template_need_be_the_more_general_one() {
    let warnings = overlaps(&[
        ("a", "true", &["GET /{x}/b"]),
        ("b", "false", &["GET /a/{y}"]),
    ]);
    assert_eq!(
        warnings,
        [
            "13:13: route `GET /api/a/{y}` overlaps `GET /api/{x}/b` (line 9): \
             of the two, a path that fits both takes `GET /api/a/{y}`"
        ]
    );
}

#[test]
fn a_parameter_of_another_format_is_a_literal_and_named() {
    let text = "orbgate: 1\napis:\n  shop:\n    base_path: /:tenant/v1\n    scopes:\n      read:items:\n        \
                orbs: false\n        routes:\n          - GET /items/:id/{part}/:9/a:b/:/x\n          - GET /items\n";
    let policy = Policy::from_yaml(text).unwrap();
    assert_eq!(policy.colon_literals(), policy.warnings());
    let warnings: Vec<String> = policy.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "4:16: `:tenant` is a literal; a parameter is written `{tenant}`",
            "9:13: `:id` is a literal; a parameter is written `{id}`",
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_search_finds_what_comparing_every_pair_finds(
        templates in prop::collection::btree_set(prop::collection::vec(0_usize..4, 0..4), 0..24),
        split in 0_usize..24,
    ) {
        let routes: Vec<String> = templates.iter().map(|parts| template(parts)).collect();
        let (free, consuming) = routes.split_at(split.min(routes.len()));
        let lines = |routes: &[String]| -> Vec<String> { routes.iter().map(|route| format!("GET {route}")).collect() };
        let (free_lines, consuming_lines) = (lines(free), lines(consuming));
        let free_lines: Vec<&str> = free_lines.iter().map(String::as_str).collect();
        let consuming_lines: Vec<&str> = consuming_lines.iter().map(String::as_str).collect();
        let found: BTreeSet<String> = overlaps(&[("a", "false", &free_lines), ("b", "true", &consuming_lines)])
            .iter()
            .map(|line| line.split_once(": ").unwrap().1.split(" (line").next().unwrap().to_owned())
            .collect();

        let mut expected = BTreeSet::new();
        for (first, second) in free.iter().flat_map(|first| consuming.iter().map(move |second| (first, second))) {
            let full = |route: &str| if route == "/" { "/api".to_owned() } else { format!("/api{route}") };
            let (first, second) = (full(first), full(second));
            if both_fit_some_path(&first, &second) {
                expected.insert(format!("route `GET {second}` overlaps `GET {first}`"));
            }
        }
        prop_assert_eq!(found, expected);
    }
}

fn template(parts: &[usize]) -> String {
    let segments = parts.iter().enumerate().map(|(position, kind)| match kind {
        0 => format!("{{p{position}}}"),
        1 => "a".to_owned(),
        2 => "b".to_owned(),
        _ => "c".to_owned(),
    });
    format!("/{}", segments.collect::<Vec<_>>().join("/"))
}

fn both_fit_some_path(first: &str, second: &str) -> bool {
    let (first, second): (Vec<&str>, Vec<&str>) =
        (first.split('/').collect(), second.split('/').collect());
    let agree = |(a, b): (&&str, &&str)| a == b || a.starts_with('{') || b.starts_with('{');
    first.len() == second.len() && first.iter().zip(&second).all(agree)
}

/// Name, orbs, routes.
type Scope<'a> = (&'a str, &'a str, &'a [&'a str]);

fn overlaps(scopes: &[Scope<'_>]) -> Vec<String> {
    let mut text =
        String::from("orbgate: 1\napis:\n  external:\n    base_path: /api\n    scopes:\n");
    for (name, orbs, routes) in scopes {
        writeln!(text, "      {name}:\n        orbs: {orbs}\n        routes:").unwrap();
        if routes.is_empty() {
            text.push_str("          []\n");
        }
        for route in *routes {
            writeln!(text, "          - {route}").unwrap();
        }
    }
    Policy::from_yaml(&text)
        .unwrap()
        .overlaps()
        .iter()
        .map(ToString::to_string)
        .collect()
}
