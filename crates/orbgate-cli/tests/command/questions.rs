//! `orbgate needs`, `unused`, `reach` and `who`, each beside brute force over the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use orbgate::{Decision, Engine, Policy, Reason, Request, Token, TokenKind};
use orbgate_testing::random::Random;
use serde_json::{Value, json};

use crate::{SHOP, file, of_the_repository, orbgate, orbgate_reading};

const SCOPES: [&str; 5] = ["read:items", "write:items", "order:items", "read:talk", "other"];
const CALLS: [&str; 9] = [
    "GET /v1/items",
    "GET /v1/items/7",
    "GET /v1/items/order",
    "POST /v1/items",
    "POST /v1/items/7?x=1",
    "POST /v1/items/order",
    "DELETE /v1/items",
    "GET /nowhere",
    "GET /v1//items",
];
const KINDS: [&str; 2] = ["user", "organisation"];

fn engine() -> Engine {
    Engine::new(&Policy::from_yaml(SHOP).unwrap())
}

fn decide<'e>(engine: &'e Engine, call: &str, kind: &str, scopes: &str) -> Decision<'e> {
    let token = Some(Token { kind: TokenKind::from_name(kind), scopes: scopes.into() });
    match call.split_once(' ').unwrap() {
        ("scope", name) => engine.decide_scope(name, token, false),
        (method, target) => {
            let (method, target) = (method.as_bytes(), target.as_bytes());
            engine.decide(&Request { method, target, token, allow_bonus_orbs_use: false })
        }
    }
}

fn some<'a>(numbers: &mut Random, of: &[&'a str]) -> Vec<&'a str> {
    of.iter().filter(|_| numbers.below(2) == 0).copied().collect()
}

fn json_of(arguments: &[&str], input: &str, codes: [i32; 2]) -> (i32, Value) {
    let ran = orbgate_reading(arguments, input.as_bytes());
    assert!(codes.contains(&ran.code) && ran.err.is_empty(), "{arguments:?}: {ran:?}");
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

/// Every set of scopes, the smaller ones first.
fn sets() -> Vec<String> {
    let mut sets: Vec<Vec<&str>> = (0..1_usize << SCOPES.len())
        .map(|set| SCOPES.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, scope)| *scope).collect())
        .collect();
    sets.sort_by_key(Vec::len);
    sets.into_iter().map(|set| set.join(" ")).collect()
}

#[test]
fn needs_is_the_smallest_set_that_allows_all_that_can_be_allowed() {
    let (engine, shop) = (engine(), file("needs-shop.yaml", SHOP));
    let mut numbers = Random::new(7);
    for round in 0..40 {
        let kind = KINDS[round % 2];
        let mut calls = Vec::new();
        for _ in 0..=numbers.index(6) {
            calls.push(CALLS[numbers.index(CALLS.len())]);
        }
        let allowed =
            |set: &str| calls.iter().map(|call| decide(&engine, call, kind, set).is_allow()).collect::<Vec<_>>();
        let most = allowed(&SCOPES.join(" "));
        let least = sets().into_iter().find(|set| allowed(set) == most).unwrap();
        let log = calls.join("\n");
        let (code, answer) =
            json_of(&["needs", "--log", "-", "--token", kind, "--policy", &shop, "--json"], &log, [0, 1]);
        assert_eq!(code, i32::from(most.contains(&false)), "{log}");
        let scopes: BTreeSet<_> =
            answer["scopes"].as_array().unwrap().iter().map(|scope| scope.as_str().unwrap()).collect();
        assert_eq!(scopes, least.split(' ').filter(|scope| !scope.is_empty()).collect(), "{log}");
        // The evidence: without the scope, that call is denied, and the number of such calls is right.
        for need in answer["needs"].as_array().unwrap() {
            let without: Vec<_> = scopes.iter().filter(|scope| **scope != need["scope"]).copied().collect();
            let lost = allowed(&without.join(" "));
            let lost: Vec<_> = (0..calls.len()).filter(|at| most[*at] && !lost[*at]).collect();
            assert_eq!(need["calls"], lost.len());
            assert_eq!(need["first"], json!({"at": lost[0] + 1, "call": calls[lost[0]]}));
        }
        let refused: u64 =
            answer["refusals"].as_array().unwrap().iter().map(|refusal| refusal["calls"].as_u64().unwrap()).sum();
        assert_eq!(refused, u64::try_from(most.iter().filter(|allowed| !**allowed).count()).unwrap());
        assert_eq!(answer["calls"], calls.len());
        // Calls as arguments say the same.
        let arguments = [&["needs", "--token", kind, "--policy", &shop, "--json"], &calls[..]].concat();
        assert_eq!(json_of(&arguments, "", [0, 1]), (code, answer));
    }
}

/// No command tells a user to request, declare or describe a scope that a token earns.
#[test]
fn scopes_that_a_token_earns_are_told_apart() {
    let text = "orbgate: 1
apis:
  a:
    base_path: ''
    scopes:
      earned:admin: { orbs: false, routes: [GET /users] }
      write: { permits: writes, orbs: false, routes: [{ route: PUT /me, and: earned:recent }] }
      earned:recent: { routes: [] }
...
";
    let policy = file("earned.yaml", text);
    let needs = orbgate(&["needs", "PUT /me", "GET /users", "PUT /me", "--policy", &policy]);
    let lines: Vec<_> = needs.out.lines().take(4).collect();
    assert_eq!(
        (needs.code, lines.as_slice()),
        (
            0,
            &[
                "write",
                "  write          2 calls, first argument 1: PUT /me",
                "  earned:recent  2 calls, first argument 1: PUT /me (the token must earn it)",
                "  earned:admin   1 call, first argument 2: GET /users (the token must earn it)",
            ][..]
        ),
        "{needs:?}"
    );
    let all = "write earned:admin earned:recent";
    for (scopes, step) in [("", "token_older"), ("write", "not_earned")] {
        let given = ["--scopes", scopes, "--declared", all, "--requested", all];
        let arguments =
            [&["explain", "PUT", "/me", "--policy", &policy, "--token", "user", "--json"], &given[..]].concat();
        let (_, answer) = json_of(&arguments, "", [1, 1]);
        assert_eq!(answer["missing_step"], step, "{scopes}");
    }
    let lint = orbgate(&["lint", &policy]);
    assert!(lint.code == 0 && !lint.out.contains("permits"), "{lint:?}");
}

#[test]
fn needs_reads_requests_and_access_logs() {
    let shop = file("needs-logs.yaml", SHOP);
    let log = "\
{\"method\":\"GET\",\"target\":\"/v1/items\",\"token\":{\"kind\":\"user\",\"scopes\":\"x\"}}
10.0.0.1 - - [20/Nov/2026:13:05:00 +0000] \"POST /v1/items HTTP/1.1\" 200 17
{\"scope\":\"read:talk\"}
POST /v1/items/order
";
    let ran = orbgate_reading(&["needs", "--log", "-", "--policy", &shop], log.as_bytes());
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert!(
        ran.out.starts_with(
            "read:items write:items read:talk order:items\n\
         \x20 read:items   1 call, first line 1: GET /v1/items\n\
         \x20 write:items  1 call, first line 2: POST /v1/items\n\
         \x20 read:talk    1 call, first line 3: scope read:talk\n\
         \x20 order:items  1 call, first line 4: POST /v1/items/order\n4 calls, "
        ),
        "{}",
        ran.out
    );
    // An organisation needs no scope for what is for users' tokens.
    let ran = orbgate_reading(
        &["needs", "--log", "-", "--policy", &shop, "--token", "organisation"],
        b"{\"scope\":\"read:talk\"}\n",
    );
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with('\n'), "{}", ran.out);
    let ran = orbgate(&["needs", "GET /nowhere", "PUT /v1/items", "PUT /v1/items", "--policy", &shop]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("no scope allows 2 calls, first argument 2: PUT /v1/items: method_not_declared\n"),
        "{}",
        ran.out
    );
}

#[test]
fn unused_is_what_a_count_by_hand_finds() {
    let (engine, shop) = (engine(), file("unused-shop.yaml", SHOP));
    let mut numbers = Random::new(11);
    for _ in 0..30 {
        let (mut log, mut expected) = (String::new(), BTreeMap::<&str, (u64, u64, Option<u64>)>::new());
        for line in 1..=numbers.index(12) {
            let call = if numbers.index(5) == 0 { "scope read:talk" } else { CALLS[numbers.index(CALLS.len())] };
            let kinds = [KINDS[0], KINDS[1], "service"];
            let (kind, scopes) = (kinds[numbers.index(3)], some(&mut numbers, &SCOPES));
            let decision = decide(&engine, call, kind, &scopes.join(" "));
            // A token of an unknown kind is refused, so it was granted nothing.
            for scope in scopes.iter().filter(|_| kind != "service") {
                let (granted, used, last) = expected.entry(scope).or_default();
                *granted += 1;
                let held = decision.reason() == Reason::ScopeHeld;
                if held && decision.scope().is_some_and(|needed| needed.name() == *scope) {
                    *used += 1;
                    *last = Some(u64::try_from(line).unwrap());
                }
            }
            let subject = match call.split_once(' ').unwrap() {
                ("scope", name) => json!({"scope": name}),
                (method, target) => json!({"method": method, "target": target}),
            };
            let mut request = subject;
            request["token"] = json!({"kind": kind, "scopes": scopes});
            log.push_str(&format!("{request}\n"));
        }
        if expected.is_empty() {
            let ran = orbgate_reading(&["unused", "-", "--policy", &shop], log.as_bytes());
            assert_eq!((ran.code, &*ran.out), (2, ""), "{log}");
            continue;
        }
        let (code, answer) = json_of(&["unused", "-", "--policy", &shop, "--json"], &log, [0, 1]);
        let rows = answer["scopes"].as_array().unwrap();
        let rows: BTreeMap<_, _> = rows
            .iter()
            .map(|row| {
                let number = |name: &str| row[name].as_u64().unwrap();
                assert_eq!(row["in_policy"], row["scope"] != "other");
                (row["scope"].as_str().unwrap(), (number("granted"), number("used"), row["last"]["line"].as_u64()))
            })
            .collect();
        assert_eq!(rows, expected, "{log}");
        let unused: Vec<_> = expected.iter().filter(|(_, (_, used, _))| *used == 0).map(|(scope, _)| *scope).collect();
        assert_eq!(answer["unused"], json!(unused));
        assert_eq!(code, i32::from(!unused.is_empty()));
    }
}

#[test]
fn unused_takes_the_scopes_from_a_field_of_an_access_log() {
    let shop = file("unused-access.yaml", SHOP);
    let log = file("unused-access.log", include_str!("../../testdata/access.log"));
    let ran = orbgate(&["unused", &log, "--field", "extra1", "--policy", &shop]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    let expected = "\
SCOPE           GRANTED        USED      NEEDED  LAST USE
order:items           2           0           0  never
write:items           2           0           0  never
read:items            4           2           2  line 2, 20/Nov/2026:13:05:09 +0000
4 calls
";
    assert_eq!(ran.out, expected);
    // Scopes that were never seen are unknown.
    let empty = file("unused-empty.log", "");
    for (arguments, why) in [
        (&[&*log][..], "`--field`"),
        (&[&log, "--field", "extra2"], "`extra2`"),
        (&[&log, "--field", "identity", "--json"], "`identity`"),
        (&[&empty], " 0 calls"),
    ] {
        let ran = orbgate(&[&["unused", "--policy", &shop], arguments].concat());
        assert_eq!((ran.code, &*ran.out), (2, ""));
        let start = format!("error: {}: ", arguments[0]);
        assert!(ran.err.starts_with(&start) && ran.err.contains(why), "{}", ran.err);
    }
    // A row of CSV with a space looks like `METHOD TARGET`, and would be a call without a token.
    let csv = file("unused.csv", "GET,/v1/items,user,read:items write:items\n");
    let ran = orbgate(&["unused", &csv, "--policy", &shop]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.starts_with(&format!("error: {csv}:1: ")), "{}", ran.err);
    let ran = orbgate(&["unused", &log, "--field", "extra0"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: `extra0` "), "{}", ran.err);
}

#[test]
fn reach_is_every_row_that_decide_allows() {
    let (engine, shop) = (engine(), file("reach-shop.yaml", SHOP));
    let rows = [
        ("GET /v1/items", "GET /v1/items"),
        ("GET /v1/items/{id}", "GET /v1/items/7"),
        ("POST /v1/items", "POST /v1/items"),
        ("POST /v1/items/{id}", "POST /v1/items/7"),
        ("POST /v1/items/order", "POST /v1/items/order"),
        ("read:talk", "scope read:talk"),
    ];
    for kind in KINDS {
        for set in sets() {
            let expected: Vec<_> = rows
                .iter()
                .filter_map(|(name, call)| match decide(&engine, call, kind, &set) {
                    Decision::Allow(allow) => {
                        let charge = allow.charge().unwrap();
                        Some((
                            *name,
                            allow.scope().unwrap().name().to_owned(),
                            allow.reason().to_string(),
                            charge.consumes,
                            charge.amount,
                        ))
                    }
                    Decision::Deny(_) => None,
                })
                .collect();
            let (code, answer) =
                json_of(&["reach", "--token", kind, "--scopes", &set, "--policy", &shop, "--json"], "", [0, 1]);
            assert_eq!(code, i32::from(expected.is_empty()));
            let rows = answer["allowed"].as_array().unwrap();
            let allowed: Vec<_> = rows
                .iter()
                .map(|row| {
                    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
                    let name = row["route"].as_str().unwrap_or(row["scope"].as_str().unwrap());
                    (
                        name,
                        text("scope"),
                        text("reason"),
                        row["orbs"]["consumes"].as_bool().unwrap(),
                        row["orbs"]["amount"].as_u64(),
                    )
                })
                .collect();
            assert_eq!(allowed, expected, "{kind} {set}");
        }
    }
}

#[test]
fn who_is_everybody_whom_decide_allows() {
    let (engine, shop) = (engine(), file("who-shop.yaml", SHOP));
    let tokens: Vec<_> = KINDS.iter().flat_map(|kind| sets().into_iter().map(move |set| (*kind, set))).collect();
    let lines: String = tokens
        .iter()
        .enumerate()
        .map(|(at, (kind, set))| {
            format!("{}\n", json!({"name": format!("t{at}"), "token": {"kind": kind, "scopes": set}}))
        })
        .collect();
    for call in CALLS {
        let (method, target) = call.split_once(' ').unwrap();
        let (code, answer) =
            json_of(&["who", method, target, "--tokens", "-", "--policy", &shop, "--json"], &lines, [0, 1]);
        let decisions: Vec<_> = tokens.iter().map(|(kind, set)| decide(&engine, call, kind, set)).collect();
        assert_eq!(code, i32::from(!decisions.iter().any(Decision::is_allow)), "{call}");
        for (at, (row, decision)) in answer["tokens"].as_array().unwrap().iter().zip(&decisions).enumerate() {
            assert_eq!(
                (row["name"].as_str(), row["line"].as_u64()),
                (Some(&*format!("t{at}")), Some(u64::try_from(at + 1).unwrap()))
            );
            assert_eq!(row["decision"], serde_json::to_value(decision).unwrap(), "{call}");
        }
        assert_eq!(answer["tokens"].as_array().unwrap().len(), tokens.len());
    }
}

#[test]
fn who_takes_null_for_no_token_and_nothing_for_a_diagnostic() {
    let shop = file("who-null.yaml", SHOP);
    let who = ["who", "GET", "/v1/items", "--tokens", "-", "--policy", &shop];
    let ran = orbgate_reading(&who, b"{\"name\":\"nobody\",\"token\":null}\n");
    assert_eq!(ran.code, 1);
    assert_eq!(ran.out, "deny   line 1  nobody  no_token\n", "{}", ran.err);
    let ran = orbgate_reading(&who, b"{\"name\":\"nobody\"}\n");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`token`"), "{}", ran.err);
    // Not "nobody may": nobody was asked about.
    let ran = orbgate_reading(&who, b"");
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert_eq!(ran.err, "error: -: no tokens\n");
}

#[test]
fn lines_that_are_no_calls_or_tokens_are_2_and_the_others_count() {
    let shop = file("wrong-lines.yaml", SHOP);
    for bad in ["", "x", "GET ", "{\"method\":\"GET\"}", "a \"b", "\u{0}", "{\"name\":1}"] {
        let log = format!("GET /v1/items\n{bad}\nPOST /v1/items\n");
        let ran = orbgate_reading(&["needs", "--log", "-", "--policy", &shop], log.as_bytes());
        assert_eq!(ran.code, 2, "{bad:?}");
        assert!(ran.err.starts_with("error: -:2: "), "{bad:?}: {}", ran.err);
        assert!(ran.out.starts_with("read:items write:items\n"), "{bad:?}: {}", ran.out);
        let ran = orbgate_reading(&["unused", "-", "--policy", &shop], log.as_bytes());
        assert_eq!(ran.code, 2, "{bad:?}");
        let tokens = format!("{{\"token\":{{\"kind\":\"user\",\"scopes\":\"read:items\"}}}}\n{bad}\n");
        let ran = orbgate_reading(&["who", "GET", "/v1/items", "--tokens", "-", "--policy", &shop], tokens.as_bytes());
        assert_eq!((ran.code, &*ran.out), (2, "allow  line 1  scope_held\n"), "{bad:?}");
        assert!(ran.err.starts_with("error: -:2: "), "{bad:?}: {}", ran.err);
    }
    // A report stays short, whatever the file is.
    let noise: Vec<u8> = (0..=255_u8).cycle().take(200_000).collect();
    let noise = file("wrong-lines.bin", noise);
    for arguments in [&["needs", "--log", &noise][..], &["unused", &noise], &["who", "GET", "/x", "--tokens", &noise]] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, ran.err.lines().count()), (2, 21), "{}", ran.err);
        assert!(ran.err.contains(" more lines "), "{}", ran.err);
    }
    for arguments in
        [&["needs"][..], &["needs", "GET /x", "--log", "-"], &["reach"], &["who", "GET", "/x"], &["unused"]]
    {
        assert_eq!(orbgate(arguments).code, 2, "{arguments:?}");
    }
    for arguments in [
        &["unused", "-", "--policy", "-"][..],
        &["needs", "--log", "-", "--policy", "-"],
        &["who", "GET", "/x", "--tokens", "-", "--policy", "-"],
    ] {
        assert!(orbgate_reading(arguments, b"").err.starts_with("error: standard input "));
    }
}

#[test]
fn tokens_that_are_named_alike_are_told_apart_by_their_lines() {
    let shop = file("who-alike-shop.yaml", SHOP);
    let tokens = r#"{"name":"billing","token":{"kind":"user","scopes":"read:items"}}
{"name":"billing","token":{"kind":"user"}}
{"token":{"kind":"user","scopes":"read:items"}}
"#;
    let ran = orbgate_reading(&["who", "GET", "/v1/items", "--tokens", "-", "--policy", &shop], tokens.as_bytes());
    let expected = "\
allow  line 1  billing  scope_held
deny   line 2  billing  scope_missing, needs read:items
allow  line 3  scope_held
";
    assert_eq!((ran.code, &*ran.out), (0, expected), "{}", ran.err);
}

/// The rows of `policy/cases/questions.jsonl`: the command's answer is the library's, byte for byte.
#[test]
fn the_command_and_the_library_answer_alike() {
    let Some(rows) = of_the_repository("policy/cases/questions.jsonl") else {
        return;
    };
    let root = rows.parent().unwrap().join("../..");
    let mut questions = BTreeSet::new();
    for row in fs::read_to_string(&rows).unwrap().lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let question = row["question"].as_str().unwrap();
        let words: Vec<_> = row["command"].as_array().unwrap().iter().collect();
        let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap()).collect();
        let mut command = crate::command(&words);
        command.current_dir(&root);
        let ran = crate::finish(command, row["input"].as_str().unwrap_or("").as_bytes());
        let engine = match row["engine"].as_str() {
            None => Engine::external().clone(),
            Some(name) => {
                let path = root.join(format!("policy/cases/policies/{name}.yaml"));
                Engine::new(&Policy::from_yaml(&fs::read_to_string(path).unwrap()).unwrap())
            }
        };
        let answer = orbgate_analysis::ask(&engine, question, &row["arguments"].to_string());
        assert_eq!(ran.out.trim_end(), answer.unwrap(), "{words:?}");
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer, row["answer"], "{words:?}");
        questions.insert(question.to_owned());
    }
    assert!(questions.iter().eq(orbgate_analysis::QUESTIONS.iter()), "{questions:?}");
}
