//! Routes that need any of several scopes, or several at once, as people and programs read them.

use std::fs;

use orbgate_testing::expected::Expected;
use serde_json::Value;

use crate::{file, of_the_repository, orbgate, orbgate_reading};

/// Two calls of one route: a token that has two alternatives, and one that has half of an alternative.
const LOG: &str = r#"{"method":"GET","target":"/v1/orders","token":{"kind":"user","scopes":"read:orders admin:orders root"}}
{"method":"GET","target":"/v1/orders/7/audit","token":{"kind":"user","scopes":"read:logs"}}
"#;

const TOKENS: &str = r#"{"token":{"kind":"user","scopes":"root"}}
{"token":{"kind":"user","scopes":"read:logs"}}
"#;

const CASES: &str = "orbgate_test: 1
cases:
  - GET /v1/orders/7/audit | user audit:logs read:logs | allow
  - GET /v1/orders/7/audit | user audit:logs | scope_missing
  - GET /v1/orders | user read:orders admin:orders | allow
";

#[test]
fn every_command_shows_what_a_route_needs() {
    let Some(path) = of_the_repository("policy/cases/policies/alternatives.yaml") else {
        return;
    };
    let policy = fs::read_to_string(path).unwrap();
    let narrower =
        policy.replace("or: [admin:orders]", "or: [admin:orders, read:logs root]").replace(", root] }", "] }");
    let [old, new] = [("old", &policy), ("new", &narrower)].map(|(name, text)| file(&format!("any-{name}.yaml"), text));
    let (tests, tokens) = (file("any.test.yaml", CASES), file("any-tokens.jsonl", TOKENS));
    let audit = ["GET", "/v1/orders/7/audit", "--token", "user", "--scopes"];
    let mut expected = Expected::default();
    for (arguments, input) in [
        (&["table"][..], ""),
        (&["table", "--format", "markdown"], ""),
        (&["table", "--format", "csv"], ""),
        (&["explain", audit[0], audit[1], audit[2], audit[3], audit[4], "raed:logs audit:logs"], ""),
        (
            &[
                "explain",
                audit[0],
                audit[1],
                audit[2],
                audit[3],
                audit[4],
                "root",
                "--declared",
                "root",
                "--requested",
                "",
            ],
            "",
        ),
        (&["decide", audit[0], audit[1], audit[2], audit[3], audit[4], "audit:logs"], ""),
        (&["decide", audit[0], audit[1], audit[2], audit[3], audit[4], "root"], ""),
        (&["who", "GET", "/v1/orders/7/audit", "--tokens", &tokens], ""),
        (&["unused", "-"], LOG),
        (&["needs", "GET /v1/orders/7/audit", "POST /v1/orders/export"], ""),
        (&["reach", "--token", "user", "--scopes", "root"], ""),
        (&["test", "--coverage", &tests], ""),
        (&["diff", &old, &new], ""),
        (&["diff", "--markdown", &old, &new], ""),
    ] {
        let with_policy = if arguments[0] == "diff" { vec![] } else { vec!["--policy", &old] };
        let ran = orbgate_reading(&[arguments, &with_policy].concat(), input.as_bytes());
        assert_eq!(ran.err, "", "{arguments:?}");
        let named = |text: &str| {
            let files = [(&old, "old.yaml"), (&new, "new.yaml"), (&tests, "test.yaml"), (&tokens, "tokens.jsonl")];
            files.into_iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
        };
        expected.add(&named(&arguments.join(" ")), named(&ran.out).lines());
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "alternatives: commands");
}

/// A circle of routes, of which each accepts two scopes: every other scope is enough.
#[test]
fn needs_says_when_fewer_scopes_might_be_enough() {
    let policy = |scopes: usize| {
        let route = |at: usize| {
            let (next, orbs) = ((at + 1) % scopes, "orbs: false");
            format!("      s{at}: {{ {orbs}, routes: [{{ route: GET /{at}, or: [s{next}] }}] }}\n")
        };
        let routes: String = (0..scopes).map(route).collect();
        let text = format!("orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n{routes}");
        file(&format!("needs-{scopes}.yaml"), text)
    };
    for (scopes, is_smallest) in [(20, true), (22, false)] {
        let policy = policy(scopes);
        let calls: Vec<_> = (0..scopes).map(|at| format!("GET /{at}")).collect();
        let calls: Vec<_> = calls.iter().map(String::as_str).collect();
        let ran = orbgate(&[&["needs", "--policy", &policy], &calls[..]].concat());
        assert_eq!(
            ran.out.contains("\nno scope is too many, but other scopes might be fewer\n"),
            !is_smallest,
            "{}",
            ran.out
        );
        let ran = orbgate(&[&["needs", "--policy", &policy, "--json"], &calls[..]].concat());
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["is_smallest"], is_smallest);
        let needed = answer["scopes"].as_array().unwrap().len();
        assert!(if is_smallest { needed == scopes / 2 } else { (scopes / 2..scopes).contains(&needed) }, "{needed}");
    }
}
