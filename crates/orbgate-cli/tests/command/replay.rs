//! `orbgate replay`, line by line.

use orbgate_testing::expected::Expected;
use serde_json::{Value, json};

use crate::{SHOP, digest, file, orbgate, orbgate_reading};

/// The answers to these lines, each with its reason or its error's message, and the exit code.
fn replay(lines: &[u8]) -> (i32, Vec<String>) {
    let ran = orbgate_reading(&["replay"], lines);
    let short = |(index, line): (usize, &str)| {
        let answer: Value = serde_json::from_str(line).unwrap();
        match answer.get("error") {
            None => answer["reason"].as_str().unwrap().to_owned(),
            Some(error) => {
                assert_eq!(answer.as_object().unwrap().len(), 1);
                assert_eq!(error["line"], index + 1);
                assert_eq!(error.as_object().unwrap().len(), 2);
                format!("error: {}", error["message"].as_str().unwrap())
            }
        }
    };
    (ran.code, ran.out.lines().enumerate().map(short).collect())
}

/// One line is answered by this reason.
#[track_caller]
fn decided(line: &str, reason: &str) {
    assert_eq!(replay(line.as_bytes()), (0, vec![reason.to_owned()]), "{line}");
}

/// One line is not a request, and the message says why and where.
#[track_caller]
fn refused(expected: &mut Expected, line: impl AsRef<[u8]>) {
    let after = br#"{"scope":"read:orbs"}"#;
    let lines = [line.as_ref(), b"\n", after].concat();
    let (code, answers) = replay(&lines);
    let [error, answer] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert_eq!((code, &**answer), (2, "no_token"));
    assert!(error.starts_with("error: "), "{error}");
    expected.add(&String::from_utf8_lossy(line.as_ref()), [error]);
}

#[test]
fn a_public_route_needs_no_token() {
    let lines = br#"{"method":"GET","target":"/healthz?x"}
{"method":"HEAD","target":"/healthz"}
{"method":"GET","target":"/api/v1/external/orbs"}"#;
    let ran = orbgate_reading(&["replay", "--public", "GET /healthz"], lines);
    let reason = |line: &str| serde_json::from_str::<Value>(line).unwrap()["reason"].clone();
    let reasons: Vec<_> = ran.out.lines().map(reason).collect();
    assert_eq!(reasons, ["public_route", "no_token", "no_token"]);
    assert_eq!(ran.code, 0);
    for (route, why) in
        [("GET /api/v1/external/{any}", "fits the same paths"), ("get /healthz", "public route `get /healthz`: ")]
    {
        let ran = orbgate_reading(&["replay", "--public", route], lines);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains(why), "{}", ran.err);
    }
}

#[test]
fn a_line_is_answered_like_decide_json() {
    let ran = orbgate_reading(
        &["replay"],
        br#"{"method":"POST","target":"/api/v1/external/voxies","token":{"kind":"user","scopes":"write:voxies read:orbs"},"allow_bonus_orbs_use":true}"#,
    );
    let answer = format!(
        "{}\"{}\"}}\n",
        r#"{"decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"external","route":"POST /api/v1/external/voxies","scope":"write:voxies","orbs":{"consumes":true,"amount":null,"bonus_allowed":true},"policy":"#,
        digest(),
    );
    assert_eq!((ran.code, ran.out), (0, answer));
}

#[test]
fn an_answer_says_what_its_request_is_about() {
    let target = "/api/v1/external/voxies/7";
    let lines = [
        format!(r#"{{"method":"GET","target":"{target}"}}"#),
        format!(r#"{{"method":"GET","target":"{target}","token":{{"kind":"service"}}}}"#),
        format!(r#"{{"method":"GET","target":"{target}","token":{{"kind":"user"}}}}"#),
        format!(r#"{{"method":"TRACE","target":"{target}"}}"#),
        format!(r#"{{"method":"TRACE","target":"{target}","token":{{"kind":"user"}}}}"#),
        r#"{"scope":"read:orbs"}"#.to_owned(),
    ];
    let ran = orbgate_reading(&["replay", "--about"], lines.join("\n").as_bytes());
    let about = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer.as_object().unwrap().len(), 10, "{line}");
        let about = answer["about"].as_str().unwrap_or("nothing").to_owned();
        (answer["reason"].as_str().unwrap().to_owned(), about)
    };
    let route = "GET /api/v1/external/voxies/{voxieId}";
    let expected = [
        ("no_token", route),
        ("invalid_token", route),
        ("scope_missing", route),
        ("no_token", "nothing"),
        ("method_not_declared", "nothing"),
        ("no_token", "nothing"),
    ]
    .map(|(reason, about)| (reason.to_owned(), about.to_owned()));
    assert_eq!(ran.out.lines().map(about).collect::<Vec<_>>(), expected);
}

#[test]
fn a_candidate_disagrees_line_by_line() {
    let new = file(
        "shadow.yaml",
        "orbgate: 1\napis:\n  external:\n    base_path: /api/v1/external\n    scopes:\n      \
         read:orbs: { orbs: 3, routes: [GET /orbs] }\n",
    );
    let lines = [
        r#"{"method":"GET","target":"/api/v1/external/orbs","token":{"kind":"user","scopes":"read:orbs"}}"#,
        r#"{"method":"GET","target":"/api/v1/external/voxies","token":{"kind":"user","scopes":"read:voxies"}}"#,
        r#"{"method":"GET","target":"/api/v1/external/voxies"}"#,
        r#"{"method":"GET","target":"/api/v1/external/voxies","token":{"kind":"user"}}"#,
        "no request",
    ];
    let ran = orbgate_reading(&["replay", "--shadow", &new], lines.join("\n").as_bytes());
    let plain = orbgate_reading(&["replay"], lines.join("\n").as_bytes());
    assert_eq!((ran.code, plain.code), (2, 2));
    let disagreement = |(line, alone): (&str, &str)| {
        let mut answer: Value = serde_json::from_str(line).unwrap();
        let shadow = answer.as_object_mut().unwrap().remove("shadow");
        assert_eq!(answer, serde_json::from_str::<Value>(alone).unwrap());
        Some(match shadow? {
            Value::Null => "same".to_owned(),
            difference => {
                let words = format!("{} {}", difference["disagreement"], difference["reason"]);
                words.replace('"', "")
            }
        })
    };
    let actual: Vec<_> = ran.out.lines().zip(plain.out.lines()).map(disagreement).collect();
    let expected = [Some("cost scope_held"), Some("narrower no_route"), Some("same"), Some("reason no_route"), None]
        .map(|words| words.map(str::to_owned));
    assert_eq!(actual, expected);
    let summary = "by the other policy:\n  0  wider\n  1  narrower\n  1  cost\n  1  reason\n";
    assert!(ran.err.ends_with(summary), "{}", ran.err);
    let both = orbgate_reading(&["replay", "-", "--shadow", "-"], b"");
    assert_eq!(both.code, 2);
}

#[test]
fn every_form_of_a_request() {
    let get = r#""method":"GET","target":"/api/v1/external/orbs""#;
    decided(&format!("{{{get}}}"), "no_token");
    decided(&format!(r#"{{{get},"token":null}}"#), "no_token");
    decided(&format!(r#"{{{get},"token":{{"kind":"user"}}}}"#), "scope_missing");
    decided(&format!(r#"{{{get},"token":{{"kind":"robot","scopes":"read:orbs"}}}}"#), "invalid_token");
    decided(&format!(r#"{{{get},"token":{{"kind":"unknown"}}}}"#), "invalid_token");
    decided(&format!(r#"{{{get},"token":{{"kind":""}}}}"#), "invalid_token");
    decided(&format!(r#"{{{get},"token":{{"scopes":" x  read:orbs ","kind":"user"}}}}"#), "scope_held");
    decided(&format!(r#"{{{get},"token":{{"kind":"user","scopes":"read\u003aorbs"}}}}"#), "scope_held");
    decided(&format!(r#"{{{get},"token":{{"kind":"organisation","scopes":["x","read:orbs"]}}}}"#), "scope_held");
    decided(&format!(r#"{{{get},"token":{{"kind":"user","scopes":["x read:orbs"]}}}}"#), "scope_missing");
    decided(&format!(r#"{{{get},"token":{{"kind":"user","scopes":["","read\u003aorbs"]}}}}"#), "scope_held");
    decided(&format!(r#"{{{get},"token":{{"kind":"user","scopes":[]}}}}"#), "scope_missing");
    decided(&format!(r#" {{ {get} , "allow_bonus_orbs_use" : false }} "#), "no_token");
    decided(r#"{"target":"/é","method":"GET"}"#, "malformed_request");
    decided(r#"{"target":"","method":""}"#, "malformed_request");
    decided(r#"{"scope":"read:orbs","token":{"kind":"user","scopes":"read:orbs"}}"#, "scope_held");
    decided(r#"{"scope":"read:inference","token":{"kind":"organisation"}}"#, "user_token_required");
    decided(r#"{"scope":"","token":{"kind":"user"},"allow_bonus_orbs_use":true}"#, "no_route");
}

#[test]
fn a_line_that_is_no_json() {
    let mut expected = Expected::default();
    refused(&mut expected, "");
    refused(&mut expected, " \t");
    refused(&mut expected, "\r");
    refused(&mut expected, "nope");
    refused(&mut expected, "{");
    refused(&mut expected, r#"{"scope":"a"} x"#);
    refused(&mut expected, r#"{"scope":"a"}{"scope":"a"}"#);
    refused(&mut expected, r#"{"scope":"a",}"#);
    refused(&mut expected, r#"{"scope":"\ud800"}"#);
    refused(&mut expected, b"{\"scope\":\"\xc3\xa9\xff\"}");
    expected.keep(env!("CARGO_MANIFEST_DIR"), "replay: no JSON");
}

#[test]
fn a_byte_order_mark_at_the_start_costs_no_row() {
    let line: &[u8] = b"\xef\xbb\xbf{\"scope\":\"read:orbs\"}\n";
    assert_eq!(replay(line), (0, vec!["no_token".to_owned()]));
    let (code, answers) = replay(&[line, line].concat());
    assert_eq!((code, &*answers[0]), (2, "no_token"));
    assert!(answers[1].starts_with("error: ") && answers[1].contains(" column 1"), "{answers:?}");
}

#[test]
fn a_line_of_the_wrong_shape() {
    let mut expected = Expected::default();
    refused(&mut expected, "[]");
    refused(&mut expected, r#"["GET","/"]"#);
    refused(&mut expected, "null");
    refused(&mut expected, "7");
    refused(&mut expected, "{}");
    refused(&mut expected, r#"{"token":null}"#);
    refused(&mut expected, r#"{"method":"GET"}"#);
    refused(&mut expected, r#"{"target":"/é"}"#);
    refused(&mut expected, r#"{"scope":"a","method":"GET"}"#);
    refused(&mut expected, r#"{"target":"/","scope":"a"}"#);
    refused(&mut expected, r#"{"method":"GET","target":"/","scope":"a"}"#);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "replay: the wrong shape");
}

#[test]
fn a_field_of_the_wrong_type() {
    let mut expected = Expected::default();
    refused(&mut expected, r#"{"method":null,"target":"/"}"#);
    refused(&mut expected, r#"{"method":"GET","target":7}"#);
    refused(&mut expected, r#"{"scope":null}"#);
    refused(&mut expected, r#"{"scope":{}}"#);
    let flag = |value: &str| format!(r#"{{"scope":"a","allow_bonus_orbs_use":{value}}}"#);
    refused(&mut expected, flag("null"));
    refused(&mut expected, flag("1"));
    refused(&mut expected, flag("\"true\""));
    let token = |value: &str| format!(r#"{{"scope":"a","token":{value}}}"#);
    refused(&mut expected, token("\"user\""));
    refused(&mut expected, token("[\"user\"]"));
    refused(&mut expected, token("false"));
    refused(&mut expected, token("{}"));
    refused(&mut expected, token(r#"{"scopes":"a"}"#));
    refused(&mut expected, token(r#"{"kind":null}"#));
    let scopes = |value: &str| token(&format!(r#"{{"kind":"user","scopes":{value}}}"#));
    refused(&mut expected, scopes("null"));
    refused(&mut expected, scopes("{}"));
    refused(&mut expected, scopes("[1]"));
    refused(&mut expected, scopes("[null]"));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "replay: the wrong type");
}

#[test]
fn a_field_that_is_unknown_or_stands_twice() {
    let mut expected = Expected::default();
    refused(&mut expected, r#"{"scope":"a","x":1}"#);
    refused(&mut expected, r#"{"Scope":"a"}"#);
    refused(&mut expected, r#"{"scope":"a","token":{"kind":"user","sub":"x"}}"#);
    refused(&mut expected, r#"{"scope":"a","scope":"a"}"#);
    refused(&mut expected, r#"{"scope":"a","sc\u006fpe":"a"}"#);
    refused(&mut expected, r#"{"scope":"a","token":null,"token":null}"#);
    refused(&mut expected, r#"{"scope":"a","token":{"kind":"user","kind":"user"}}"#);
    refused(&mut expected, r#"{"scope":"a","token":{"kind":"user","scopes":"","scopes":""}}"#);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "replay: unknown or twice");
}

#[test]
fn a_message_never_grows_with_the_line() {
    let (code, answers) = replay(format!(r#"{{"{}":1}}"#, "x".repeat(1_000_000)).as_bytes());
    assert_eq!(code, 2);
    assert!(answers[0].len() < 400, "{}", answers[0].len());
}

#[test]
fn line_ends_of_every_kind() {
    let line = r#"{"scope":"a"}"#;
    let three = (0, vec!["no_token".to_owned(); 3]);
    assert_eq!(replay(format!("{line}\n{line}\n{line}\n").as_bytes()), three);
    assert_eq!(replay(format!("{line}\r\n{line}\r\n{line}\r\n").as_bytes()), three);
    assert_eq!(replay(format!("{line}\r\n{line}\n{line}").as_bytes()), three);
    assert_eq!(replay(b""), (0, vec![]));
    assert_eq!(replay(b"\n"), (2, vec!["error: blank line".to_owned()]));
}

#[test]
fn the_order_is_kept() {
    let lines: Vec<_> = (0..20_000)
        .map(|index| match index % 7 {
            0 => format!("bad {index}"),
            _ => format!(r#"{{"method":"GET","target":"/v1/items/{index}","token":{{"kind":"user"}}}}"#),
        })
        .collect();
    let shop = file("replay-shop.yaml", SHOP);
    let log = file("replay-order.jsonl", lines.join("\n"));
    let ran = orbgate(&["replay", &log, "--policy", &shop]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.out.lines().count(), lines.len());
    for (index, answer) in ran.out.lines().enumerate() {
        let answer: Value = serde_json::from_str(answer).unwrap();
        match index % 7 {
            0 => assert_eq!(answer["error"]["line"], index + 1),
            _ => assert_eq!(answer["scope"], json!("read:items")),
        }
    }
}

#[test]
fn the_summary_counts() {
    let lines = br#"{"scope":"read:orbs","token":{"kind":"user","scopes":"read:orbs"}}
{"scope":"read:orbs"}
{"scope":"read:orbs"}
nope
"#;
    let ran = orbgate_reading(&["replay", "-"], lines);
    assert_eq!(ran.code, 2);
    let (first, rest) = ran.err.split_once('\n').unwrap();
    assert!(first.starts_with("4 lines in ") && first.ends_with(" lines per second"), "{first}");
    let expected = "  1  allowed\n  2  denied\n  1  errors\nby reason:\n  2  no_token\n  1  scope_held\n";
    assert_eq!(rest, expected);
}

#[test]
fn a_log_that_cannot_be_read_is_2() {
    for path in ["/nowhere.jsonl", env!("CARGO_TARGET_TMPDIR")] {
        let ran = orbgate(&["replay", path]);
        assert_eq!((ran.code, &*ran.out), (2, ""));
        assert!(ran.err.starts_with(&format!("error: cannot read `{path}`: ")), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "no summary: {}", ran.err);
    }
}

#[test]
fn an_empty_log_has_no_rate() {
    let ran = orbgate_reading(&["replay"], b"");
    assert_eq!((ran.code, &*ran.out), (0, ""));
    assert!(ran.err.starts_with("0 lines in ") && ran.err.ends_with(" s\n"), "{}", ran.err);
}
