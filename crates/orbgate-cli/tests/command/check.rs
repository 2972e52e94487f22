//! `orbgate check`.

use crate::{BAD, SHOP, file, of_the_repository, orbgate, orbgate_reading};

#[test]
fn a_fine_file_is_0_and_overlaps_are_warnings() {
    let shop = file("check-shop.yaml", SHOP);
    let ran = orbgate(&["check", &shop]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let (last, warnings) = ran.out.lines().collect::<Vec<_>>().split_last().map_or_else(
        || panic!("nothing printed"),
        |(last, rest)| ((*last).to_owned(), rest.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()),
    );
    assert!(last.starts_with(&format!("{shop}: ok: 4 scopes, 5 routes, sha256:")), "{last}");
    assert_eq!(last.rsplit(':').next().map(str::len), Some(64), "the whole digest");
    assert_eq!(warnings.len(), 1, "{}", ran.out);
    assert!(warnings[0].starts_with(&format!("{shop}:21:18: warning: ")), "{}", ran.out);
}

#[test]
fn a_literal_that_looks_like_a_parameter_is_a_warning() {
    let policy = SHOP.replace("GET /items/{id}", "GET /items/:id");
    let shop = file("check-colon.yaml", policy);
    let ran = orbgate(&["check", &shop]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let warning = format!("{shop}:12:13: warning: `:id` ");
    assert!(ran.out.starts_with(&warning), "{}", ran.out);
}

#[test]
fn the_built_in_policy_is_fine() {
    let Some(path) = of_the_repository("policy/external.yaml") else {
        return;
    };
    let path = path.to_str().unwrap();
    let ran = orbgate(&["check", path]);
    assert_eq!(ran.code, 0);
    let end = format!("{path}: ok: 24 scopes, 37 routes, {}\n", crate::digest());
    assert!(ran.out.ends_with(&end), "{}", ran.out);
}

#[test]
fn diagnostics_are_1_and_stand_on_standard_output() {
    let (bad, shop) = (file("check-bad.yaml", BAD), file("check-good.yaml", SHOP));
    for files in [[&bad, &shop], [&shop, &bad]] {
        let ran = orbgate(&["check", files[0], files[1]]);
        assert_eq!((ran.code, &*ran.err), (1, ""));
        assert!(ran.out.contains(&format!("{bad}:7:15: ")), "{}", ran.out);
        assert!(ran.out.contains(&format!("{bad}:9:")), "{}", ran.out);
        assert!(ran.out.contains(&format!("{shop}: ok: ")), "{}", ran.out);
    }
}

#[test]
fn derived_scopes_are_compared_with_policies() {
    let scope = |name: &str| format!("      {name}: {{ orbs: false, routes: [GET /{}] }}\n", &name[7..]);
    let policy = |name: &str, scopes: &[&str]| {
        let scopes: String = scopes.iter().map(|name| scope(name)).collect();
        file(name, format!("orbgate: 1\nname: p\napis:\n  p:\n    base_path: /p\n    scopes:\n{scopes}"))
    };
    let issuer = |name: &str, derive: &str| {
        format!("  - issuer: https://{name}.example\n    audience: api\n    kind: user\n    derive:\n{derive}")
    };
    let both = "      earned:both: always\n";
    let [a, b] = [("a", "      earned:one: always\n      earned:unused: always\n"), ("b", "")]
        .map(|(name, more)| issuer(name, &format!("{both}{more}")));
    let config = file("check-tokens.yaml", format!("orbgate_token: 1\nissuers:\n{a}{b}"));
    let (one, two) =
        (policy("earned-1.yaml", &["earned:both", "earned:one"]), policy("earned-2.yaml", &["earned:none"]));
    let ran = orbgate(&["check", &one, &two, "--config", &config]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let lines: Vec<_> = ran.out.lines().filter(|line| !line.contains("sha256:")).collect();
    assert_eq!(
        lines,
        [
            format!(
                "{one}:8:7: warning: no token of `https://b.example` has `earned:one`: the issuer doesn't derive it in `{config}`"
            ),
            format!("{two}:7:7: warning: no issuer in `{config}` derives `earned:none`, so no token has it"),
            format!("{config}:9:7: warning: no policy uses `earned:unused`"),
            format!("{config}: ok"),
        ]
    );
    let json = orbgate(&["check", &one, &two, "--config", &config, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let warnings: Vec<_> = json["files"].as_array().unwrap().iter().map(|file| file["warnings"].to_string()).collect();
    assert_eq!(warnings.len(), 3);
    assert!(warnings[2].contains("earned:unused") && json["files"][2]["policy"].is_null(), "{json}");
    // Whether a scope is used is only known of all policies. Errors of the configuration are findings like a policy's.
    let broken = file("check-broken.yaml", BAD);
    let ran = orbgate(&["check", &broken, "--config", &config]);
    assert!(ran.code == 1 && !ran.out.contains("no policy uses"), "{}", ran.out);
    let wrong = file(
        "check-tokens-wrong.yaml",
        format!("orbgate_token: 1\nissuers:\n{}", issuer("a", "      read:a: always\n")),
    );
    let ran = orbgate(&["check", &one, "--config", &wrong]);
    assert!(ran.code == 1 && ran.out.contains(&format!("{wrong}:7:7: `read:a` ")), "{}", ran.out);
}

#[test]
fn bytes_that_are_no_text_are_a_diagnostic() {
    let bad = file("check-bytes.yaml", b"\xef\xbb\xbforbgate: \x80\n");
    let ran = orbgate(&["check", &bad]);
    assert_eq!((ran.code, ran.out), (1, format!("{bad}:1:10: not UTF-8\n")));
}

#[test]
fn a_file_that_cannot_be_read_is_2_and_the_others_are_checked() {
    let (bad, shop) = (file("check-worse.yaml", BAD), file("check-fine.yaml", SHOP));
    let ran = orbgate(&["check", &bad, "/nowhere.yaml", &shop]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: cannot read `/nowhere.yaml`: "), "{}", ran.err);
    assert!(ran.out.contains(&format!("{bad}:7:15: ")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{shop}: ok: ")), "{}", ran.out);
}

#[test]
fn no_file_is_a_usage_error() {
    let ran = orbgate(&["check"]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
    assert!(ran.err.starts_with("error: no FILE "), "{}", ran.err);
    assert!(ran.err.contains("Usage: orbgate check [OPTIONS] [FILE]..."), "{}", ran.err);
}

#[test]
fn the_policy_is_one_more_file_to_check() {
    let (bad, shop) = (file("check-policy-bad.yaml", BAD), file("check-policy.yaml", SHOP));
    for arguments in [
        &["check", "--policy", &bad][..],
        &["--policy", &bad, "check"],
        &["check", &shop, "--policy", &bad],
        &["check", &bad, "--policy", &shop],
    ] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.err), (1, ""), "{arguments:?}");
        assert!(ran.out.contains(&format!("{bad}:7:15: ")), "{}", ran.out);
        let with_shop = arguments.contains(&shop.as_str());
        assert_eq!(ran.out.contains(&format!("{shop}: ok: ")), with_shop);
    }
    assert_eq!(orbgate(&["check", "--policy", &shop]).code, 0);
    assert_eq!(orbgate(&["check", "--policy", "/nowhere.yaml"]).code, 2);
}

#[test]
fn standard_input_is_a_file_named_by_a_dash() {
    for arguments in [&["check", "-"][..], &["check", "--policy", "-"]] {
        let ran = orbgate_reading(arguments, BAD.as_bytes());
        assert_eq!((ran.code, &*ran.err), (1, ""));
        assert!(ran.out.starts_with("-:7:15: "), "{}", ran.out);
        let ran = orbgate_reading(arguments, SHOP.as_bytes());
        assert_eq!((ran.code, &*ran.err), (0, ""));
        assert!(ran.out.contains("\n-: ok: 4 scopes"), "{}", ran.out);
    }
}

#[test]
fn standard_input_is_read_only_once() {
    for arguments in [
        &["check", "-", "-"][..],
        &["check", "-", "--policy", "-"],
        &["check", "-", "--config", "-"],
        &["check", "--config", "-", "--policy", "-"],
        &["diff", "-", "-"],
        &["openapi", "check", "-", "-"],
        &["token", "explain", "-", "--config", "-"],
        &["token", "explain", "--config", "-"],
        &["who", "GET", "/a", "--tokens", "-", "--policy", "-"],
        &["replay", "--policy", "-"],
        &["--policy", "-", "replay", "-"],
    ] {
        let ran = orbgate_reading(arguments, SHOP.as_bytes());
        assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
        assert!(ran.err.starts_with("error: standard input "), "{}", ran.err);
    }
}

#[test]
fn diagnostics_and_warnings_are_json_for_programs() {
    let (shop, bad) = (file("check-json.yaml", SHOP), file("check-json-bad.yaml", BAD));
    let ran = orbgate(&["check", "--json", &shop, &bad]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    assert_eq!(ran.out.lines().count(), 1);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let [fine, invalid] = [&answer["files"][0], &answer["files"][1]];
    assert_eq!(fine["file"], *shop);
    assert!(fine["policy"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(fine["diagnostics"], serde_json::json!([]));
    assert_eq!(fine["warnings"][0]["location"], serde_json::json!({"line": 21, "column": 18}));
    assert_eq!(invalid["policy"], serde_json::Value::Null);
    assert_eq!(invalid["warnings"], serde_json::json!([]));
    // The same errors as in the text, in the same order.
    let text = orbgate(&["check", &bad]).out;
    let diagnostics = invalid["diagnostics"].as_array().unwrap().iter().map(|diagnostic| {
        let (location, message) = (&diagnostic["location"], diagnostic["message"].as_str().unwrap());
        format!("{bad}:{}:{}: {message}\n", location["line"], location["column"])
    });
    assert_eq!(diagnostics.collect::<String>(), text);

    let ran = orbgate(&["check", "--json", &shop, "no-such-file.yaml"]);
    assert_eq!(ran.code, 2);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["files"].as_array().unwrap().len(), 1);
}

/// GitHub's runner takes a line of the log that starts with `::` for a command, also behind blanks.
#[test]
fn no_name_is_a_command_to_who_reads_the_log() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("names");
    std::fs::create_dir_all(&folder).unwrap();
    // A name that Windows does not have.
    if std::fs::write(folder.join("::stop-commands::x"), BAD).is_err() {
        return;
    }
    std::fs::write(
        folder.join("::add-mask::y"),
        SHOP.replace("read:items", "::group::z")
            .replace("write:items", "##[group]z")
            .replace("  items:", "  '::group::items':")
            .replace("lists", "##[group]lists"),
    )
    .unwrap();
    std::fs::write(folder.join("shop.yaml"), SHOP).unwrap();
    let document = "openapi: 3.0.0
paths: { /a: { get: { operationId: '::a ##[group]b', security: [{ '::group::l': ['::group::s'] }, ], x-orbs: false } } }
components: { securitySchemes: { '::group::l': { type: http } } }
";
    std::fs::write(folder.join("document.yaml"), document).unwrap();
    let calls = r###"{"method":"POST","target":"/v1/items","token":{"kind":"user"}}
{"##[group]a":1}
"###;
    std::fs::write(folder.join("calls.jsonl"), calls).unwrap();
    for arguments in [
        &["check", "::stop-commands::x", "::add-mask::y"][..],
        &["lint", "::stop-commands::x", "::add-mask::y"],
        &["table", "--policy", "::stop-commands::x"],
        &["table", "--policy", "::add-mask::y"],
        &["fmt", "--check", "::add-mask::y", "::stop-commands::x"],
        &["validate", "run-request", "::add-mask::y"],
        &["check", "--json", "::stop-commands::x", "::add-mask::y"],
        &["diff", "shop.yaml", "::add-mask::y"],
        &["diff", "shop.yaml", "::add-mask::y", "--markdown"],
        &["diff", "shop.yaml", "::add-mask::y", "--json"],
        &["review", "shop.yaml", "::add-mask::y", "--markdown"],
        &["table", "--policy", "::add-mask::y", "--format", "csv"],
        &["table", "--policy", "::add-mask::y", "--format", "markdown"],
        &["table", "--policy", "::add-mask::y", "--format", "json"],
        &["decide", "--policy", "::add-mask::y", "POST", "/v1/items", "--token", "user", "--json"],
        &["replay", "--policy", "::add-mask::y", "calls.jsonl"],
        &["openapi", "export", "::add-mask::y"],
        &["openapi", "export", "::add-mask::y", "--json"],
        &["openapi", "import", "document.yaml", "--scheme", "::group::l"],
    ] {
        for colour in [None, Some("1")] {
            let mut command = crate::command(arguments);
            command.current_dir(&folder);
            if let Some(always) = colour {
                command.env("CLICOLOR_FORCE", always);
            }
            let ran = crate::finish(command, b"");
            let lines = ran.out.lines().chain(ran.err.lines());
            let lines: Vec<_> = lines.map(|line| line.replace("\u{1b}[1m", "")).collect();
            assert!(!lines.is_empty(), "{arguments:?}");
            for line in lines {
                let is_command = line.trim_start().starts_with("::") || line.contains("##[");
                assert!(!is_command, "{arguments:?}: {line}");
            }
        }
    }
}
