//! `orbgate explain`.

use orbgate_testing::expected::Expected;

use crate::{digest, orbgate};

const RUN: [&str; 3] = ["explain", "POST", "/api/v1/external/vox/run"];

/// The missing step of `--json`, and the exit code.
#[track_caller]
fn check(arguments: &[&str], code: i32, missing: &str) {
    let ran = orbgate(&[&RUN[..], &["--token", "user", "--json"], arguments].concat());
    assert_eq!((ran.code, &*ran.err), (code, ""), "{arguments:?}");
    // What it would consume: an amount that the policy does not state.
    let orbs = match code {
        0 => "",
        _ => r#","orbs_if_allowed":{"consumes":true,"amount":null,"bonus_allowed":false}"#,
    };
    let end = format!(",\"policy\":\"{}\",\"missing_step\":{missing}{orbs},\"rules\":[{{\"rule\":\"P1\",", digest());
    assert!(ran.out.contains(&end), "{}", ran.out);
    assert!(ran.out.starts_with("{\"decision\":"), "{}", ran.out);
}

#[test]
fn the_missing_step_is_named() {
    for (declared, requested, missing) in [
        ("read:vox", "write:vox", "\"not_declared\""),
        ("write:vox", "read:vox", "\"not_requested\""),
        ("", "openid", "\"both\""),
        ("write:vox", "read:vox write:vox", "\"token_older\""),
    ] {
        let steps = ["--declared", declared, "--requested", requested];
        check(&[&["--scopes", "read:vox"], &steps[..]].concat(), 1, missing);
    }
    check(&["--scopes", "read:vox"], 1, "\"not_known\"");
    check(&["--declared", "read:vox"], 1, "\"not_declared\"");
    check(&["--declared", "write:vox"], 1, "\"not_known\"");
    check(&["--requested", ""], 1, "\"not_requested\"");
    check(&["--scopes", "write:vox", "--declared", ""], 0, "null");
}

#[test]
fn without_scopes_the_token_carries_what_is_granted() {
    let both = ["--declared", "a write:vox", "--requested", "write:vox b"];
    check(&both, 0, "null");
    check(&["--declared", "write:vox", "--requested", "b"], 1, "\"not_requested\"");
}

#[test]
fn a_kind_that_cannot_use_the_scope_is_named() {
    let scope = ["explain", "--scope", "read:inference", "--token", "organisation"];
    let ran = orbgate(&[&scope[..], &["--scopes", "read:inference"]].concat());
    assert_eq!((ran.code, &*ran.err), (1, ""));
    for step in ["\n  step    token_kind: ", ": --token user\n"] {
        assert!(ran.out.contains(step), "{}", ran.out);
    }
}

#[test]
fn people_read_the_step_below_the_decision() {
    let steps = ["--token", "user", "--declared", "read:vox,write:vox", "--requested", "write:vox"];
    let ran = orbgate(&[&RUN[..], &steps].concat());
    let mut expected = Expected::default();
    let lines = ran.out.lines();
    expected.add(&steps.join(" "), lines.filter(|line| !line.starts_with("  policy  ")));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "explain: steps");
    // An unknown step has a line only if a list is given.
    for (list, has_step) in [(&[][..], false), (&["--declared", "write:vox"], true)] {
        let ran = orbgate(&[&RUN[..], &["--token", "user", "--scopes", ""], list].concat());
        assert!(ran.out.contains(" step, add --declared "), "{}", ran.out);
        assert_eq!(ran.out.contains("\n  step "), has_step, "{}", ran.out);
    }
}

#[test]
fn an_allowed_call_may_be_the_last_of_its_kind() {
    let token = ["--token", "user", "--scopes", "write:vox", "--requested", "read:vox"];
    let ran = orbgate(&[&RUN[..], &token].concat());
    assert_eq!(ran.code, 0);
    let hint = "\n  hint    a token that is issued now ";
    assert!(ran.out.contains(hint), "{}", ran.out);
}

#[test]
fn a_denial_for_another_reason_is_explained_as_by_decide() {
    for arguments in [
        &["GET", "/nowhere", "--token", "user"][..],
        &["PUT", "/api/v1/external/vox/run", "--token", "user"],
        &["GET", "//", "--token", "user"],
        &["POST", "/api/v1/external/vox/run"],
    ] {
        let mut ran = orbgate(&[&["explain"], arguments, &["--declared", "a", "--requested", "b"]].concat());
        assert_eq!(ran.code, 1);
        // What it would consume, and what became of the target's rules, it says as well.
        let labels = ["  orbs ", "  target ", "  rules "];
        let more = |line: &&str| labels.iter().any(|label| line.starts_with(label));
        let lines = ran.out.split_inclusive('\n');
        ran.out = lines.filter(|line| !more(line)).collect();
        let mut decided = orbgate(&[&["decide"], arguments].concat());
        // `decide` points to `explain`.
        let lines = decided.out.split_inclusive('\n');
        decided.out = lines.filter(|line| !line.contains("`orbgate explain`")).collect();
        assert_eq!(ran, decided);
    }
}

#[test]
fn scopes_without_a_token_are_a_usage_error() {
    let ran = orbgate(&[&RUN[..], &["--scopes", "write:vox"]].concat());
    assert_eq!((ran.code, &*ran.out), (2, ""));
}

/// The whole way of a decision is that of `decide`, whatever else is said.
#[test]
fn it_always_agrees_with_decide() {
    let shop = crate::file("explain-shop.yaml", crate::SHOP);
    let subjects = [
        &["GET", "/v1/items"][..],
        &["GET", "/v1/items/order"],
        &["POST", "/v1/items/order"],
        &["POST", "/v1/itmes"],
        &["DELETE", "/v1/items/7"],
        &["GET", "/v1//items"],
        &["get", "/v1/items"],
        &["GET", "/v1/items/7/8"],
        &["--scope", "read:talk"],
        &["--scope", "read:tlak"],
    ];
    let tokens = [
        &[][..],
        &["--token", "user"],
        &["--token", "user", "--scopes", "read:items order:items"],
        &["--token", "organisation", "--scopes", "read:item write:items read:talk"],
    ];
    for subject in subjects {
        for token in tokens {
            let ask = |command: &str| {
                let ran = orbgate(&[&[command], subject, token, &["--json", "--policy", &shop]].concat());
                let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
                (ran.code, json)
            };
            let (decided, (code, mut explained)) = (ask("decide"), ask("explain"));
            let more = explained.as_object_mut().unwrap();
            assert!(more.remove("missing_step").is_some());
            let rules = more.remove("rules").unwrap_or_default();
            let broken: Vec<_> = rules.as_array().into_iter().flatten().collect();
            assert_eq!(broken.is_empty(), subject[0] == "--scope");
            let broken = broken.into_iter().filter(|rule| rule["state"] == "fail");
            let broken: Vec<_> = broken.map(|rule| &rule["detail"]).collect();
            assert_eq!(broken.first().copied().unwrap_or(&serde_json::Value::Null), &decided.1["detail"]);
            for field in ["near", "orbs_if_allowed", "in_order"] {
                more.remove(field);
            }
            assert_eq!((code, explained), decided, "{subject:?} {token:?}");
        }
    }
}

#[test]
fn near_misses_say_why_not_and_what_was_meant() {
    let shop = crate::file("explain-near.yaml", crate::SHOP);
    let out = |arguments: &[&str]| {
        let ran = orbgate(&[&["explain"], arguments, &["--token", "user", "--policy", &shop]].concat());
        assert_eq!((ran.code, &*ran.err), (1, ""));
        ran.out
    };
    let answer = out(&["GET", "/v1/item/7"]);
    let near = format!("  near    GET /v1/items/{{id}} ({shop}:12:13): segment 2 is `item`, not `items`; ");
    assert!(answer.contains(&near) && answer.contains("`/v1/items/7`?\n"), "{answer}");
    let answer = out(&["GET", "/v1/items/order"]);
    let near = format!("  near    GET /v1/items/{{id}} ({shop}:12:13): fits, but `/v1/items/order` ");
    assert!(answer.contains(&near), "{answer}");
    let answer = out(&["POST", "/v1/items", "--scopes", "write:item"]);
    assert!(answer.contains(": did you mean `write:items`?\n"), "{answer}");
    let ran = orbgate(&["explain", "GET", "/v1/item/7", "--token", "user", "--policy", &shop, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        json["near"],
        serde_json::json!([{"route": "GET /v1/items/{id}", "location": {"line": 12, "column": 13},
            "why": "segment 2 is `item`, not `items`", "meant": "/v1/items/7"}])
    );
}

#[test]
fn a_denied_call_says_what_it_would_consume() {
    let shop = crate::file("explain-orbs.yaml", crate::SHOP);
    for (arguments, orbs, json) in [
        (
            &["POST", "/v1/items/7", "--token", "user"][..],
            Some("5 orbs; bonus orbs not"),
            serde_json::json!({"consumes": true, "amount": 5, "bonus_allowed": false}),
        ),
        (
            &["POST", "/v1/items/order", "--allow-bonus-orbs"],
            Some("3 orbs; bonus orbs allowed"),
            serde_json::json!({"consumes": true, "amount": 3, "bonus_allowed": true}),
        ),
        (
            &["--scope", "read:items", "--token", "user"],
            Some(": consumes none"),
            serde_json::json!({"consumes": false, "amount": 0, "bonus_allowed": false}),
        ),
        // What is denied to every token would consume nothing.
        (&["GET", "/v1/nothing", "--token", "user"], None, serde_json::Value::Null),
        (&["PUT", "/v1/items", "--token", "user"], None, serde_json::Value::Null),
        (&["GET", "/v1/items/", "--token", "user"], None, serde_json::Value::Null),
    ] {
        let ask = |more: &[&str]| {
            let explain = ["explain", "--policy", &shop];
            let ran = orbgate(&[&explain[..], arguments, more].concat());
            assert_eq!((ran.code, &*ran.err), (1, ""), "{arguments:?}");
            ran.out
        };
        let line = ask(&[]).lines().find_map(|line| {
            let text = line.strip_prefix("  orbs    ")?;
            Some(text.to_owned())
        });
        assert_eq!(line.is_some(), orbs.is_some(), "{arguments:?}");
        assert!(line.unwrap_or_default().contains(orbs.unwrap_or_default()));
        let answer: serde_json::Value = serde_json::from_str(&ask(&["--json"])).unwrap();
        assert_eq!(answer["orbs_if_allowed"], json, "{arguments:?}");
    }
}

#[test]
fn a_malformed_target_shows_where() {
    let shop = crate::file("explain-where.yaml", crate::SHOP);
    for (target, line, json) in [
        ("/v1//items", "byte 3, `/v1`; then comes `//items`\n", serde_json::json!(3)),
        ("v1/items", " first byte: `v1/items`\n", serde_json::json!(0)),
        ("", "empty\n", serde_json::json!(0)),
    ] {
        let explain = ["explain", "GET", target, "--token", "user", "--policy", &shop];
        let ran = orbgate(&explain);
        let (_, marks) = ran.out.split_once("\n  target  ").unwrap();
        let marks = marks.split_inclusive('\n').next().unwrap();
        assert!(marks.ends_with(line), "{marks}");
        let ran = orbgate(&[&explain[..], &["--json"]].concat());
        let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["in_order"], json);
    }
}

#[test]
fn every_rule_of_the_target_is_listed() {
    let shop = crate::file("explain-rules.yaml", crate::SHOP);
    let rules = |target: &str, token: &[&str]| {
        let explain = ["explain", "GET", target, "--policy", &shop];
        let ran = orbgate(&[&explain[..], token].concat());
        let lines = ran.out.lines().filter_map(|line| line.strip_prefix("  rules   "));
        lines.map(|line| line.replace(" of the target pass", "").replace(';', "")).collect::<Vec<_>>()
    };
    let user = ["--token", "user"];
    assert_eq!(rules("/v1/items", &user), ["all 12 rules"]);
    assert_eq!(rules("/v1/items", &[]), ["11 rules not reached: P21 ambiguous_case"]);
    assert_eq!(
        rules("/v1/items%20#", &user),
        [
            "pass: P1 method, P3 byte",
            "fail: P4 fragment",
            "not reached: P2 length, P5 form, P7 backslash, P8 matrix_param, P9 path_char, P10 empty_segment, \
             P11 dot_segment, P12 percent, P21 ambiguous_case",
        ]
    );
    let explain = ["explain", "GET", "/v1//items", "--token", "user", "--policy", &shop, "--json"];
    let answer: serde_json::Value = serde_json::from_str(&orbgate(&explain).out).unwrap();
    let broken = serde_json::json!({"rule": "P10", "detail": "empty_segment", "state": "fail"});
    let rules = answer["rules"].as_array().unwrap();
    assert_eq!((rules.len(), &rules[8]), (12, &broken));
    assert_eq!(rules[9]["state"], "not_reached");
}
