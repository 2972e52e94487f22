//! Layouts: one for each policy, with its comments and its digest.

use std::fs;
use std::path::PathBuf;

use orbgate::Policy;
use orbgate_analysis::format;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::valid;

/// The text laid out, checked to keep what must be kept.
fn laid_out(text: &str) -> String {
    let new = format(text).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
    let digest = |text: &str| Policy::from_yaml(text).unwrap().digest();
    assert_eq!(digest(&new), digest(text), "{text}\n{new}");
    assert_eq!(format(&new).as_deref(), Ok(new.as_str()), "laid out twice:\n{new}");
    let words = |text: &str| text.trim_start_matches('\u{feff}').split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&new), words(text), "every word stays, comments too, in its order");
    new
}

#[test]
fn a_layout_has_two_spaces_a_level_and_keeps_comments() {
    let text = "\u{feff}\n\n# A policy.   \norbgate:   1\r\n\n\n\nname: \"a:  b\"  # of  two\napis:\n      # The shop.\n   shop:\n        base_path:   /v1\n\n\n        \
                scopes:\n            # Reading.\n            read:items:   # all\n                permits: |\n                    reads items\n\n\n                      # no comment\n                \
                orbs: 2\n                routes:\n                - GET /items\n                # One of them.\n                -   route:   GET /items/{id}\n                    orbs: 5\n            \
                write:items: { orbs: true,\n                routes: [POST /items,\n                   # In brackets.\n                   'POST /items/{id}'] }\nheadings:\n- 'a'\n-   b   \n# The end.\n...\n";
    let expected = "\
# A policy.
orbgate: 1

name: \"a:  b\"  # of  two
apis:
  # The shop.
  shop:
    base_path: /v1

    scopes:
      # Reading.
      read:items:   # all
        permits: |
            reads items


              # no comment
        orbs: 2
        routes:
          - GET /items
          # One of them.
          - route: GET /items/{id}
            orbs: 5
      write:items: { orbs: true,
          routes: [POST /items,
             # In brackets.
             'POST /items/{id}'] }
headings:
  - 'a'
  - b
# The end.
...
";
    assert_eq!(laid_out(text), expected);
}

#[test]
fn a_file_that_is_laid_out_so_is_not_changed() {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let policy = package.join("../../policy/external.yaml");
    if !policy.exists() && package.join("Cargo.toml.orig").exists() {
        eprintln!("skipped: policy/external.yaml is not part of the package's archive");
        return;
    }
    let text = fs::read_to_string(policy).unwrap();
    assert_eq!(laid_out(&text), text);
}

#[test]
fn a_block_in_an_item_ends_before_the_items_next_key() {
    let head = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: true\n";
    for (routes, expected) in [
        (
            "        routes:\n        -   route: |-\n              GET /x\n            orbs:   5\n        - GET /y\n",
            "        routes:\n          - route: |-\n              GET /x\n            orbs: 5\n          - GET /y\n",
        ),
        (
            "        routes:\n        -   |-\n          GET /x\n        -  >-\n            GET /y\n        -   GET /z\n",
            "        routes:\n          - |-\n            GET /x\n          - >-\n              GET /y\n          - GET /z\n",
        ),
        (
            "        routes:\n            -     route: |2-\n                    GET /x\n                  orbs: 5\n",
            "        routes:\n          - route: |2-\n              GET /x\n            orbs: 5\n",
        ),
    ] {
        let [text, expected] = [routes, expected].map(|routes| format!("{head}{routes}"));
        assert_eq!(laid_out(&text), expected);
    }
}

#[test]
fn a_dash_may_have_a_line_of_its_own() {
    let head =
        "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: true\n        routes:\n";
    for (routes, expected) in [
        (
            "        -\n            route:   GET /a\n            orbs: 5\n        -   \n\n          # One.\n          GET /b\n",
            "          -\n            route: GET /a\n            orbs: 5\n          -\n\n            # One.\n            GET /b\n",
        ),
        (
            "              -    # First.\n                GET /a\n              -\r\n                   'GET\n                    /b'\n              - GET /c\n",
            "          - # First.\n            GET /a\n          -\n               'GET\n                /b'\n          - GET /c\n",
        ),
        (
            "        -\n         |-\n           GET /a\n        -\n           { route: GET /b,\n             orbs: 5 }\n",
            "          -\n           |-\n             GET /a\n          -\n             { route: GET /b,\n               orbs: 5 }\n",
        ),
    ] {
        let [text, expected] = [routes, expected].map(|routes| format!("{head}{routes}"));
        assert_eq!(laid_out(&text), expected);
    }
}

/// A character that only looks like a space belongs to the text.
#[test]
fn only_spaces_and_tabs_are_trimmed() {
    for name in ["shop\u{a0}", "\u{a0}shop", "\u{2003}"] {
        let text = format!("orbgate:   1 \t\nname:  {name} \t\napis: {{}}\n");
        let expected = format!("orbgate: 1\nname: {name}\napis: {{}}\n");
        assert_eq!(laid_out(&text), expected);
    }
}

#[test]
fn every_valid_policy_of_the_repository_has_a_layout() {
    let valid: Vec<_> = valid::all().into_iter().map(|(_, policy)| policy).collect();
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    // They are not part of the package's archive.
    let lint = fs::read_to_string(package.join("../../policy/lint.md")).unwrap_or_default();
    let lint = lint.split("```yaml\n").skip(1).map(|rest| rest.split("```\n").next().unwrap().to_owned());
    let cases = fs::read_dir(package.join("../../policy/cases/policies")).into_iter().flatten();
    let cases = cases.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let each: Vec<_> = valid.into_iter().chain(lint).chain(cases).collect();
    for policy in &each {
        laid_out(policy);
    }
    assert!(each.len() > 60 || package.join("Cargo.toml.orig").exists(), "{}", each.len());
}

#[test]
fn a_text_that_is_no_policy_has_its_diagnostics() {
    let diagnostics = format("orbgate: 1\napi: {}\n").unwrap_err();
    assert!(
        diagnostics.iter().any(|diagnostic| diagnostic.to_string().starts_with("2:1: unknown key `api`")),
        "{diagnostics:?}"
    );
    assert!(!format("").unwrap_err().is_empty());
}

/// A policy with random spaces, comments and blank lines.
fn ragged() -> impl Strategy<Value = String> {
    let noise = vec(
        (
            select(&["", "\n", "\n\n\n", "  # x\n", "# y\n", "         #z  \n"][..]),
            1..4_usize,
            any::<bool>(),
            select(&["", "   ", " # c"][..]),
        ),
        14,
    );
    noise.prop_map(|noise| {
        let lines = [
            (0, "orbgate:", "1"),
            (0, "apis:", ""),
            (1, "a:", ""),
            (2, "base_path:", "/x"),
            (2, "scopes:", ""),
            (3, "read:x:", ""),
            (4, "permits:", "'reads  x # y'"),
            (4, "orbs:", "true"),
            (4, "routes:", ""),
            (5, "-", "GET /a/{b}"),
            (5, "-", "POST /a"),
            (3, "write:x:", "{ orbs: 5, routes: [] }"),
            (0, "headings:", "[A, 'B c']"),
            (0, "...", ""),
        ];
        // Each level has one width in the whole file, the lists' dashes may be right under their
        // key.
        let widths: Vec<usize> = noise.iter().map(|(_, width, ..)| *width).collect();
        let spaces = |level: usize| widths[..level].iter().sum::<usize>();
        let mut text = String::new();
        for ((level, key, value), (before, width, _, after)) in lines.into_iter().zip(&noise) {
            let end = key == "...";
            if !end {
                text.push_str(before);
            }
            let level = if key == "-" && noise[0].2 { 4 } else { level };
            let gap = if value.is_empty() { String::new() } else { " ".repeat(*width) };
            text.push_str(&format!("{}{key}{gap}{value}{}\n", " ".repeat(spaces(level)), if end { "" } else { after }));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_layouts_become_the_same(text in ragged()) {
        let new = laid_out(&text);
        prop_assert!(new.lines().all(|line| line.trim_end() == line), "{}", new);
        let content: Vec<_> = new.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).collect();
        let content: Vec<_> = content.iter().map(|line| line.split(" # c").next().unwrap()).collect();
        prop_assert_eq!(content.join("\n"), "orbgate: 1\napis:\n  a:\n    base_path: /x\n    scopes:\n      read:x:\n        permits: 'reads  x # y'\n        \
            orbs: true\n        routes:\n          - GET /a/{b}\n          - POST /a\n      write:x: { orbs: 5, routes: [] }\nheadings: [A, 'B c']\n...");
    }
}
