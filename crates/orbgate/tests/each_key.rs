//! Each key of a policy does something: for each, two policies that differ in nothing else, and a decision that differs. For a
//! fact that changes no decision, what an engine tells of it differs, or the digest.

use std::collections::BTreeSet;

use orbgate::{Engine, Policy, Request, Token, TokenKind};

/// The table of keys, which `cargo xtask schema` makes of the code.
const PAGE: &str = include_str!("../../../policy/README.md");

/// Facts for people.
const FACTS: [&str; 4] = ["name", "headings", "apis.*.scopes.*.permits", "apis.*.scopes.*.sensitive"];

/// A policy in which every place has a mark, such as `@scope`, for the key of a row.
const POLICY: &str = "\
orbgate: 1
@policy
apis:
  one:
    base_path: /api
    @api
    scopes:
      read: { orbs: 2, @scope, routes: ['GET /a/{id}', { route: 'GET /b', @route }] }
      write: { orbs: 1, routes: ['POST /a'] }
  @apis
";

/// Each key, and what stands for it at a mark: in one policy and in the other.
const ROWS: [(&str, &str, &str, &str); 19] = [
    ("name", "@policy", "", "name: shop"),
    ("target", "@policy", "", "target: encoded_params"),
    ("trailing_slash", "@policy", "", "trailing_slash: always"),
    ("headings", "@policy", "", "headings: [Sessions]"),
    ("apis", "@apis", "", "two: { base_path: /two, scopes: { two: { orbs: false, routes: [GET /a] } } }"),
    ("apis.*.closed", "@api", "", "closed: [/closed]"),
    ("apis.*.scopes.*.permits", "@scope", "", "permits: reads"),
    ("apis.*.scopes.*.sensitive", "@scope", "", "sensitive: true"),
    ("apis.*.scopes.*.or", "@scope", "", "or: [write]"),
    ("apis.*.scopes.*.and", "@scope", "", "and: write"),
    ("apis.*.scopes.*.routes.orbs", "@route", "", "orbs: 7"),
    ("apis.*.scopes.*.routes.or", "@route", "", "or: [write]"),
    ("apis.*.scopes.*.routes.and", "@route", "", "and: write"),
    // These can't be left out, or take others with them: the text of the file is replaced.
    (
        "orbs",
        "",
        "orbgate: 1\napis: { a: { base_path: '', scopes: { read: { orbs: 1, routes: [GET /b] } } } }\n",
        "orbgate: 1\norbs: none\napis: { a: { base_path: '', scopes: { read: { routes: [GET /b] } } } }\n",
    ),
    ("apis.*.base_path", "base_path: /api", "base_path: /api", "base_path: /two"),
    (
        "apis.*.organisation",
        "@api",
        "token: user\n    organisation: deny",
        "token: user\n    organisation: allow_without_scope",
    ),
    ("apis.*.scopes", "write:", "write:", "other:"),
    ("apis.*.scopes.*.orbs", "orbs: 2", "orbs: 2", "orbs: 3"),
    ("apis.*.scopes.*.routes", "['POST /a']", "['POST /a']", "['POST /b']"),
];

/// `orbgate` has one value, `token` none without `organisation`, and `route` is what a route with keys consists of.
const WITH_OTHERS: [(&str, &str, &str, &str); 3] = [
    ("orbgate", "orbgate: 1", "orbgate: 1", "orbgate: 2"),
    ("apis.*.token", "@api", "", "token: user\n    organisation: deny"),
    ("apis.*.scopes.*.routes.route", "GET /b", "GET /b", "GET /c"),
];

fn policy(mark: &str, text: &str) -> String {
    let whole = if mark.is_empty() { text.to_owned() } else { POLICY.replacen(mark, text, 1) };
    // An empty mark in a flow mapping leaves two commas.
    let whole =
        ["@policy", "@apis", "@api", "@scope", "@route"].iter().fold(whole, |text, mark| text.replace(mark, ""));
    whole.replace(", ,", ",").replace(", }", " }")
}

/// What all sorts of calls get.
fn decisions(engine: &Engine) -> Vec<String> {
    let mut decisions = Vec::new();
    for method in ["GET", "POST"] {
        for path in ["/a", "/a/1", "/a/%31", "/b", "/c", "/closed"] {
            let targets = ["", "/api", "/two"].map(|base| [format!("{base}{path}"), format!("{base}{path}/")]);
            for target in targets.as_flattened() {
                for (kind, scopes) in [
                    (TokenKind::User, ""),
                    (TokenKind::User, "read"),
                    (TokenKind::User, "write"),
                    (TokenKind::User, "read write two"),
                    (TokenKind::Organisation, "read"),
                ] {
                    let token = Some(Token { kind, scopes: scopes.into() });
                    let (method, target) = (method.as_bytes(), target.as_bytes());
                    let request = Request { method, target, token, allow_bonus_orbs_use: false };
                    decisions.push(format!("{:?}", engine.decide(&request)));
                }
            }
        }
    }
    decisions
}

#[test]
fn each_key_changes_a_decision_or_a_fact() {
    let rows = || ROWS.iter().chain(&WITH_OTHERS);
    let table = PAGE.split("<!-- keys:").nth(1).unwrap().split("<!-- end").next().unwrap();
    let known: BTreeSet<_> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(rows().map(|(key, ..)| *key).collect::<BTreeSet<_>>(), known, "each key has a row here");
    for (key, mark, one, other) in rows() {
        let texts = [one, other].map(|text| policy(mark, text));
        let policies = texts.each_ref().map(|text| Policy::from_yaml(text));
        if *key == "orbgate" {
            assert!(policies[0].is_ok() && policies[1].is_err());
            continue;
        }
        let [one, other] = policies.map(|policy| policy.unwrap_or_else(|error| panic!("{key}: {error}\n{texts:#?}")));
        assert_ne!(one.digest(), other.digest(), "{key}");
        let [one, other] = [Engine::new(&one), Engine::new(&other)];
        let differ = decisions(&one) != decisions(&other);
        assert_eq!(differ, !FACTS.contains(key), "{key}\n{texts:#?}");
    }
}
