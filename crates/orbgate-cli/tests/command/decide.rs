//! `orbgate decide`.

use orbgate_testing::expected::Expected;

use crate::{BAD, SHOP, digest, file, orbgate, orbgate_reading};

const RUN: &str = "/api/v1/external/voxies/prompt/run";

/// The exact line of `--json`, and the exit code.
#[track_caller]
fn check(arguments: &[&str], code: i32, answer: &str) {
    let ran = orbgate(&[&["decide", "--json"], arguments].concat());
    let answer = format!("{{{answer},\"policy\":\"{}\"}}\n", digest());
    assert_eq!((ran.code, &*ran.out, &*ran.err), (code, &*answer, ""));
}

#[test]
fn an_allowed_call_is_0_and_says_what_it_consumes() {
    check(
        &["POST", RUN, "--token", "user", "--scopes", "write:voxies"],
        0,
        r#""decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"external","route":"POST /api/v1/external/voxies/prompt/run","scope":"write:voxies","orbs":{"consumes":true,"amount":null,"bonus_allowed":false}"#,
    );
    check(
        &["POST", RUN, "--token=organisation", "--scopes= x  write:voxies ", "--allow-bonus-orbs"],
        0,
        r#""decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"external","route":"POST /api/v1/external/voxies/prompt/run","scope":"write:voxies","orbs":{"consumes":true,"amount":null,"bonus_allowed":true}"#,
    );
}

#[test]
fn every_denial_is_1() {
    let held = ["--token", "user", "--scopes", "write:voxies"];
    check(
        &["POST", RUN, "--token", "user"],
        1,
        r#""decision":"deny","status":403,"reason":"scope_missing","detail":null,"api":"external","route":"POST /api/v1/external/voxies/prompt/run","scope":"write:voxies","orbs":null"#,
    );
    check(
        &["POST", RUN],
        1,
        r#""decision":"deny","status":401,"reason":"no_token","detail":null,"api":null,"route":null,"scope":null,"orbs":null"#,
    );
    check(
        &[&["GET", "/nowhere"], &held[..]].concat(),
        1,
        r#""decision":"deny","status":404,"reason":"no_route","detail":null,"api":null,"route":null,"scope":null,"orbs":null"#,
    );
    check(
        &[&["PUT", "/api/v1/external/voxies"], &held[..]].concat(),
        1,
        r#""decision":"deny","status":405,"reason":"method_not_declared","detail":null,"api":"external","route":"/api/v1/external/voxies","scope":null,"orbs":null"#,
    );
    check(
        &[&["post", RUN], &held[..]].concat(),
        1,
        r#""decision":"deny","status":400,"reason":"malformed_request","detail":"method","api":null,"route":null,"scope":null,"orbs":null"#,
    );
    check(
        &[&["POST", ""], &held[..]].concat(),
        1,
        r#""decision":"deny","status":400,"reason":"malformed_request","detail":"length","api":null,"route":null,"scope":null,"orbs":null"#,
    );
}

#[test]
fn a_scope_is_asked_for_without_a_route() {
    let scope = ["--scope", "read:inference"];
    check(
        &[&scope[..], &["--token", "user", "--scopes", "read:inference"]].concat(),
        0,
        r#""decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"inference","route":null,"scope":"read:inference","orbs":null"#,
    );
    check(
        &[&scope[..], &["--token", "organisation", "--scopes", "read:inference"]].concat(),
        1,
        r#""decision":"deny","status":403,"reason":"user_token_required","detail":null,"api":"inference","route":null,"scope":"read:inference","orbs":null"#,
    );
    check(
        &["--scope", "read:nothing", "--token", "user"],
        1,
        r#""decision":"deny","status":404,"reason":"no_route","detail":null,"api":null,"route":null,"scope":null,"orbs":null"#,
    );
}

#[cfg(unix)]
#[test]
fn arguments_are_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut command = crate::command(&["decide", "--json", "--token", "user", "GET"]);
    command.arg(OsStr::from_bytes(b"/\xff"));
    let ran = crate::finish(command, b"");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains(r#""detail":"byte""#), "{}", ran.out);
}

#[test]
fn usage_errors_are_2() {
    for arguments in [
        &["decide"][..],
        &["decide", "GET"],
        &["decide", "GET", "/", "extra"],
        &["decide", "GET", "/", "--scopes", "read:orbs"],
        &["decide", "GET", "/", "--token", "robot"],
        &["decide", "GET", "/", "--token", "user", "--token", "user"],
        &["decide", "GET", "/", "--unknown"],
        &["decide", "--scope", "read:orbs", "GET", "/"],
        &["decide", "--scope", "read:orbs", "--scopes", "read:orbs"],
        &["decide", "GET", "/", "--policy"],
    ] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
        assert!(ran.err.starts_with("error: "), "{arguments:?}: {}", ran.err);
    }
}

/// The lines about the decision, without the line about the policy, which has the digest.
fn without_policy(out: &str) -> impl Iterator<Item = &str> {
    out.lines().filter(|line| !line.starts_with("  policy  "))
}

#[test]
fn people_read_why_and_where() {
    let ran = orbgate(&["decide", "POST", RUN, "--token", "user", "--scopes", "write:voxies"]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let mut expected = Expected::default();
    expected.add("allow", without_policy(&ran.out));
    expected.keep(env!("CARGO_MANIFEST_DIR"), "decide: allow");
    let policy = "policy  external.yaml:62:13 (built in), sha256:";
    assert!(ran.out.contains(policy), "{}", ran.out);
    assert!(!ran.out.contains(&digest()), "the digest is shortened");
    assert!(!ran.out.contains('\x1b'), "no colours but on a terminal");
}

#[test]
fn people_read_what_would_help() {
    let mut expected = Expected::default();
    for arguments in [
        &["GET", "/api/v1/external/orbs", "--token", "user", "--scopes", "read:vox"][..],
        &["GET", "/api/v1/external/orbs", "--token", "user", "--scopes", "read:orbs,read:vox"],
        &["get", "/api/v1/external/orbs"],
        &["GET", "/api/v1/external/voxies/a%20b"],
        &["GET", "/api/v1/external/orbs/?a=//"],
        &["GET", "/api//v1/external/orbs/"],
        &["GET", "/api/v1/external/orbs#top"],
        &["GET", "https://example.com/api/v1/external/orbs"],
        &["GET", "api/v1/external/orbs"],
        &["GET", "/API/v1/external/Orbs?page=2", "--token", "user"],
        &["POST", "/API/v1/external/Voxies/Prompt/run", "--token", "user"],
        &["POST", "/api/v1/external/voxies/Prompt/run", "--token", "user"],
        &["GET", "/api/v1/external/orbs", "--token", "user"],
        &["PUT", "/api/v1/external/voxies", "--token", "user"],
        &["GET", "/api/v1/external/orbs"],
        &["GET", "/nowhere", "--token", "user"],
        &["--scope", "nothing", "--token", "user"],
        &["GET", "/a/", "--token", "user"],
        &["--scope", "read:inference", "--token", "organisation"],
    ] {
        let ran = orbgate(&[&["decide"], arguments].concat());
        assert_eq!(ran.code, 1, "{arguments:?}");
        assert!(ran.out.starts_with("deny 4"), "{}", ran.out);
        expected.add(&arguments.join(" "), without_policy(&ran.out));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "decide: what would help");
}

#[test]
fn a_policy_file_replaces_the_built_in_policy() {
    let shop = file("decide-shop.yaml", SHOP);
    let user = ["--token", "user", "--scopes", "write:items"];
    let mut expected = Expected::default();
    for (arguments, code) in [
        (&["POST", "/v1/items/7"][..], 0),
        (&["POST", "/v1/items/7", "--allow-bonus-orbs"], 0),
        (&["POST", "/v1/items/order"], 1),
        (&["GET", "/api/v1/external/orbs"], 1),
    ] {
        let before = orbgate(&[&["--policy", &shop, "decide"], arguments, &user].concat());
        let after = orbgate(&[&["decide"], arguments, &user, &["--policy", &shop]].concat());
        assert_eq!(before, after);
        assert_eq!((after.code, &*after.err), (code, ""));
        let out = after.out.replace(&shop, "shop.yaml");
        expected.add(&arguments.join(" "), without_policy(&out));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "decide: another policy");
    let ran = orbgate(&["decide", "POST", "/v1/items/7", "--policy", &shop, "--token", "user"]);
    assert!(ran.out.contains(&format!("policy  {shop}:17:20, sha256:")), "{}", ran.out);
}

#[test]
fn where_nothing_obvious_would_help_there_is_no_hint() {
    for arguments in [
        &["G-T", "/a"][..],
        &["", "/a"],
        &["GET", ""],
        &["GET", "//"],
        &["GET", "/a;b"],
        &["GET", "https://example.com"],
    ] {
        let ran = orbgate(&[&["decide"], arguments].concat());
        assert_eq!(ran.code, 1, "{arguments:?}");
        assert!(!ran.out.contains("hint"), "{}", ran.out);
    }
}

#[test]
fn a_policy_can_come_from_standard_input() {
    let arguments = ["decide", "GET", "/v1/items", "--token=user", "--policy=-"];
    let ran = orbgate_reading(&arguments, SHOP.as_bytes());
    assert_eq!((ran.code, &*ran.err), (1, ""));
    assert!(ran.out.contains("policy  -:11:13, sha256:"), "{}", ran.out);
    let ran = orbgate_reading(&arguments, BAD.as_bytes());
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert!(ran.err.starts_with("-:7:15: "), "{}", ran.err);
}

#[test]
fn a_bad_policy_is_2_with_its_diagnostics() {
    let bad = file("decide-bad.yaml", BAD);
    let ran = orbgate(&["decide", "GET", "/v1/items", "--policy", &bad]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let diagnostics: Vec<_> = ran.err.lines().collect();
    assert_eq!(diagnostics.len(), 2, "{}", ran.err);
    assert!(diagnostics[0].starts_with(&format!("{bad}:7:15: ")), "{}", ran.err);
    assert!(diagnostics[1].starts_with(&format!("{bad}:9:")), "{}", ran.err);
}

#[test]
fn a_policy_that_cannot_be_read_is_2() {
    for path in ["/nowhere/policy.yaml", env!("CARGO_TARGET_TMPDIR")] {
        let ran = orbgate(&["decide", "GET", "/", "--policy", path]);
        assert_eq!((ran.code, &*ran.out), (2, ""));
        assert!(ran.err.starts_with(&format!("error: cannot read `{path}`: ")), "{}", ran.err);
    }
}

#[test]
fn a_policy_that_is_not_utf_8_says_where() {
    let bad = file("decide-bytes.yaml", b"orbgate: 1\nname: \xc3\xa9\xff\n");
    let ran = orbgate(&["table", "--policy", &bad]);
    assert_eq!((ran.code, ran.err), (2, format!("{bad}:2:8: not UTF-8\n")));
}

#[test]
fn a_policy_too_large_is_refused_whatever_stands_at_its_end() {
    // The limit falls into a character of three bytes.
    let padding = format!("{SHOP}# {}", "€".repeat(3 * 1024 * 1024));
    for skip in 0..3 {
        let big = file("decide-big.yaml", format!("{}{padding}", &"###"[..skip]));
        let ran = orbgate(&["table", "--policy", &big]);
        assert_eq!((ran.code, &*ran.out), (2, ""));
        assert!(!ran.err.contains("UTF-8"), "{}", ran.err);
        assert!(ran.err.starts_with(&big), "{}", ran.err);
    }
}
