//! `orbgate diff`.

use serde_json::Value;

use crate::{Ran, SHOP, file, orbgate, orbgate_reading};

fn diff(name: &str, old: &str, new: &str, flags: &[&str]) -> Ran {
    let old = file(&format!("diff-{name}-old.yaml"), old);
    let new = file(&format!("diff-{name}-new.yaml"), new);
    orbgate(&[&["diff", &old, &new], flags].concat())
}

/// Changes of the shop, each with the verdict, the words of its changes and the exit code.
fn table() -> Vec<(&'static str, String, &'static str, i32)> {
    let without = |line: &str| SHOP.replace(line, "");
    vec![
        ("same", SHOP.to_owned(), "equivalent: the same ", 0),
        (
            "names",
            SHOP.replace("{id}", "{itemId}").replace("name: shop", "name: \"the shop\""),
            "equivalent: no call ",
            0,
        ),
        ("narrower", without("          - GET /items\n"), "narrower: 1 narrower, 1 removed; ", 0),
        ("wider", SHOP.replace("- GET /items\n", "- GET /items\n          - PUT /items\n"), "wider: 1 wider; ", 1),
        ("cheaper", SHOP.replace("orbs: 5", "orbs: 4"), "equivalent: 1 cheaper; ", 1),
        ("costlier", SHOP.replace("orbs: 5", "orbs: 6"), "equivalent: 1 costlier; ", 0),
        ("unknown", without("            orbs: 5\n"), "equivalent: 1 other cost; ", 1),
        (
            "incomparable",
            SHOP.replace("order:items:", "buy:items:"),
            "incomparable: 2 wider, 2 narrower, 1 removed; ",
            1,
        ),
        ("organisation", SHOP.replace("allow_without_scope", "deny"), "narrower: 1 narrower; ", 0),
    ]
}

#[test]
fn the_verdict_comes_first_and_the_exit_code_follows_what_widens() {
    for (name, new, verdict, code) in table() {
        let ran = diff(name, SHOP, &new, &[]);
        assert_eq!((ran.code, &*ran.err), (code, ""), "{name}: {}", ran.out);
        assert!(ran.out.starts_with(verdict), "{name}: {}", ran.out);
        for flags in [&["--allow-wider"][..], &["--allow-wider", "--json"], &["--allow-wider", "--markdown"]] {
            assert_eq!(diff(name, SHOP, &new, flags).code, 0, "{name}");
        }
        for flag in ["--json", "--markdown"] {
            assert_eq!(diff(name, SHOP, &new, &[flag]).code, code, "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn every_command_that_is_shown_can_be_typed() {
    let mut typed = 0;
    // Names that a shell would read otherwise, and a scope of such characters.
    let odd = |policy: &str| policy.replace("order:items", "order:$(id)'*;items`|");
    for (name, new, ..) in table() {
        let name = format!("{name} it's $HOME");
        let ran = diff(&name, &odd(SHOP), &odd(&new), &[]);
        for line in ran.out.lines() {
            let Some((label, shown)) = line.trim().split_once("  ") else {
                continue;
            };
            let Some(arguments) = shown.trim().strip_prefix("orbgate ") else {
                continue;
            };
            let expected = if label == "narrower" { 1 } else { 0 };
            let shell = format!("exec \"$0\" {arguments}");
            let output =
                std::process::Command::new("sh").args(["-c", &shell, env!("CARGO_BIN_EXE_orbgate")]).output().unwrap();
            assert_eq!(output.status.code(), Some(expected), "{line}: {output:?}");
            typed += 1;
        }
    }
    assert!(typed >= 10, "{typed} commands");
}

#[test]
fn the_requests_of_the_json_form_can_be_replayed() {
    let mut replayed = 0;
    for (name, new, verdict, _) in table() {
        let ran = diff(&format!("json-{name}"), SHOP, &new, &["--json"]);
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(json["verdict"], verdict.split(':').next().unwrap());
        assert_eq!(json["complete"], true);
        assert_eq!(json["widens"], ran.code == 1);
        assert!(json["old"].as_str().unwrap().starts_with("sha256:"));
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["changes", "complete", "fails", "left_out", "new", "old", "verdict", "widens"]);
        for change in json["changes"].as_array().unwrap() {
            for (who, expected) in
                [("wider", ["deny", "allow"]), ("narrower", ["allow", "deny"]), ("payer", ["allow", "allow"])]
            {
                if change[who].is_null() {
                    continue;
                }
                for (side, expected) in ["old", "new"].into_iter().zip(expected) {
                    let policy = format!("diff-json-{name}-{side}.yaml");
                    let policy = file(&policy, if side == "old" { SHOP } else { &new });
                    let line = change[who].to_string();
                    let ran = orbgate_reading(&["replay", "--policy", &policy], line.as_bytes());
                    let decision: Value = serde_json::from_str(&ran.out).unwrap();
                    assert_eq!(decision["decision"], expected, "{name}: {line}");
                    let rule = if side == "old" { "before" } else { "after" };
                    if expected == "allow" {
                        assert_eq!(decision["route"], change[rule]["route"]);
                        assert_eq!(decision["scope"], change[rule]["scope"]);
                    }
                    replayed += 1;
                }
            }
        }
    }
    assert!(replayed >= 20, "{replayed} requests");
}

#[test]
fn what_fails_is_said_last() {
    let new = SHOP.replace("orbs: 3", "orbs: 2").replace("read:talk:", "hear:talk:");
    let last_line = |flags: &[&str]| {
        let ran = diff("why", SHOP, &new, flags);
        let last = ran.out.lines().last().unwrap_or_default().to_owned();
        (ran.code, last)
    };
    let fails = |line: &str| (1, line.to_owned());
    assert_eq!(last_line(&[]), fails("fails: 1 wider, 2 cheaper"));
    assert_eq!(last_line(&["--markdown"]), fails("fails: 1 wider, 2 cheaper"));
    assert_eq!(last_line(&["--fail-on", "removed,costlier"]), fails("fails: 1 removed"));
    let (code, last) = last_line(&["--allow-wider"]);
    assert!(code == 0 && !last.contains("fails"), "{last}");
    let json: Value = serde_json::from_str(&diff("fails", SHOP, &new, &["--json"]).out).unwrap();
    assert_eq!(json["fails"], serde_json::json!(["1 wider", "2 cheaper"]));
}

#[test]
fn what_everybody_is_denied_has_its_reason() {
    let new = SHOP.replace("      order:items:\n        orbs: 3\n        routes: [POST /items/order]\n", "");
    let ran = diff("denied", SHOP, &new, &[]);
    for line in [": malformed_request (ambiguous_case)\n", ": no_route\n"] {
        assert!(ran.out.contains(line), "{line} in {}", ran.out);
    }
    let page = diff("denied", SHOP, &new, &["--markdown"]).out;
    assert!(page.contains(" | denied: malformed_request (ambiguous_case) | "), "{page}");
}

#[test]
fn a_change_is_shown_with_both_rules_and_where_they_stand() {
    let new = SHOP.replace("POST /items/{id}\n            orbs: 5", "POST /items/{id}");
    let ran = diff("shown", SHOP, &new, &[]);
    let lines: Vec<_> = ran.out.lines().skip(1).collect();
    let tail = |line: &str, end: &str| assert!(line.ends_with(end), "{line}");
    assert_eq!(lines[..2], ["", "other cost: POST /v1/items/1"]);
    assert!(lines[2].starts_with("  before      `POST /v1/items/{id}` for `write:items`, 5 orbs ("));
    tail(lines[2], "diff-shown-old.yaml:17:20)");
    assert!(lines[3].starts_with("  after       `POST /v1/items/{id}` for `write:items`, "));
    assert!(
        lines[4]
            .starts_with("  other cost  orbgate decide POST /v1/items/1 --token user --scopes write:items --policy ")
    );
}

#[test]
fn markdown_is_a_table_that_fits_a_comment() {
    let new = SHOP.replace("order:items", "buy|`items");
    let ran = diff("markdown", SHOP, &new, &["--markdown"]);
    assert!(ran.out.starts_with("### Policy: incomparable\n\n2 wider, 2 narrower, 1 removed. **"));
    let row = ran.out.lines().find(|line| line.starts_with("| **wider, narrower** |")).unwrap();
    assert_eq!(
        row,
        "| **wider, narrower** | `POST /v1/items/order` | `POST /v1/items/order`: `order:items`, orbs: 3 (line 21) \
         | `POST /v1/items/order`: `` buy\\|`items ``, orbs: 3 (line 21) \
         | user with `` buy\\|`items ``: deny → allow<br>user with `order:items`: allow → deny |"
    );
    let routes: String = (0..3_000).map(|number| format!("          - GET /x{number}\n")).collect();
    let many = SHOP.replace("          - GET /items\n", &routes);
    let ran = diff("many", SHOP, &many, &["--markdown"]);
    assert!(ran.out.chars().count() < 60_000, "{}", ran.out.len());
    let rows = ran.out.lines().filter(|line| line.starts_with("| **wider** |")).count();
    let rest = format!("\nand {} more: `orbgate diff` lists all\n", 3_001 - rows);
    assert!(ran.out.contains(&rest), "{rows} rows");
}

#[test]
fn what_is_too_large_to_compare_is_2_whatever_is_allowed() {
    let policy = |template: fn(usize) -> String| {
        let routes: String = (0..2_000).map(|number| format!("          - GET {}\n", template(number))).collect();
        format!(
            "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: false\n        routes:\n{routes}"
        )
    };
    let old = policy(|number| format!("/{{a}}/x{number}"));
    let new = policy(|number| format!("/y{number}/{{b}}"));
    let ran = diff("large", &old, &new, &["--allow-wider", "--json"]);
    assert_eq!((ran.code, ran.err.lines().count()), (2, 1));
    assert!(ran.err.starts_with("error: too many templates "));
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&json["verdict"], &json["complete"], &json["widens"]), (&Value::Null, &false.into(), &true.into()));
}

#[test]
fn standard_input_may_be_one_of_the_two() {
    let shop = file("diff-stdin.yaml", SHOP);
    for arguments in [["diff", &shop, "-"], ["diff", "-", &shop]] {
        assert_eq!(orbgate_reading(&arguments, SHOP.as_bytes()).code, 0);
    }
    let ran = orbgate_reading(&["diff", "-", "-"], SHOP.as_bytes());
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert!(ran.err.starts_with("error: standard input "));
    assert_eq!(orbgate(&["diff", &shop]).code, 2);
    assert_eq!(orbgate(&["diff", &shop, &shop, "--json", "--markdown"]).code, 2);
}

/// A base path is repeated in every request: 60 kB of policy would be 40 MB of text.
#[test]
fn the_text_is_bounded_and_says_what_it_leaves_out() {
    const MOST: usize = 17 << 20;
    let base_path = format!("/{}", "b".repeat(250)).repeat(30);
    let routes: Vec<_> = (0..1_500).map(|number| format!("GET /r{number}")).collect();
    let policy = format!(
        "orbgate: 1\napis: {{ a: {{ base_path: {base_path}, scopes: {{ s: {{ orbs: 5, routes: [{}] }} }} }} }}\n",
        routes.join(", ")
    );
    let old = file("diff-none.yaml", "orbgate: 1\napis: {}\n");
    let new = file("diff-long.yaml", policy);
    let ran = orbgate(&["diff", &old, &new]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    assert!(ran.out.len() < MOST, "{}", ran.out.len());
    let last = ran.out.lines().find(|line| line.contains(" more: ")).unwrap();
    // Nor does JSON list all of these.
    let (_, in_json) = last.split_once(" more: `--json` lists ").unwrap();
    assert!(in_json.parse::<usize>().unwrap() < routes.len(), "{last}");
    let left: usize = last.split(' ').nth(1).unwrap().parse().unwrap();
    let listed = ran.out.lines().filter(|line| line.starts_with("wider: ")).count();
    // The first line is the verdict, and the scope is a change as well.
    assert_eq!(listed - 1 + left, routes.len() + 1);
}

/// A long base path fills the list with one kind of change, and what is left out may be of another.
#[test]
fn what_is_not_listed_may_be_what_fails() {
    let base = format!("/{}", "b".repeat(249)).repeat(30);
    let policy = |orbs: u32, routes: usize| {
        let routes: String = (0..routes).map(|number| format!("          - GET /x{number}\n")).collect();
        format!(
            "orbgate: 1\napis:\n  a:\n    base_path: {base}\n    scopes:\n      s:\n        orbs: {orbs}\n        routes:\n{routes}"
        )
    };
    let (old, new) = (policy(1, 1_001), policy(2, 1_000));
    for (kinds, code) in [("narrower", 1), ("costlier", 1), ("wider", 1)] {
        let ran = diff(&format!("left-out-{kinds}"), &old, &new, &["--fail-on", kinds]);
        assert_eq!((ran.code, &*ran.err), (code, ""), "{kinds}");
        assert!(ran.out.len() < 40 << 20 && ran.out.contains(" more not "));
    }
    // Whether anything widens is known of all.
    let ran = diff("left-out", &old, &new, &[]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert!(ran.out.starts_with("narrower: "));
}
