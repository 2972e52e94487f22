//! `orbgate openapi`: what goes where, and how it ends.

use crate::{Ran, SHOP, file, orbgate, orbgate_reading};

const DOCUMENT: &str = "\
openapi: 3.0.0
info: { title: A, version: '1' }
paths:
  /a: { get: { security: [{ l: [s] }] }, put: { security: [{ l: [] }] } }
components: { securitySchemes: { l: { type: oauth2 } } }
";

const POLICY: &str = "\
orbgate: 1
name: A
apis:
  l:
    base_path: \"\"
    scopes:
      s:
        orbs: 3
        routes:
          - GET /a
...
";

#[test]
fn the_policy_is_on_standard_output_and_what_is_left_out_on_standard_error() {
    let document = file("openapi-a.yaml", DOCUMENT);
    let ran = orbgate(&["openapi", "import", &document, "--orbs", "3"]);
    assert_eq!((ran.code, &*ran.out), (1, POLICY));
    let [left_out, summary] = ran.err.lines().collect::<Vec<_>>()[..] else {
        panic!("{}", ran.err);
    };
    let start = format!("{document}:4:59: left out[no_scope]: PUT /a: ");
    assert!(
        left_out.starts_with(&start) && left_out.contains("; with `--default-scope earned:any-token`, "),
        "{left_out}"
    );
    assert_eq!(summary, format!("{document}: 1 operation, 1 left out; 1 of 1 with scopes imported (100%)"));
    let allowed = orbgate(&["openapi", "import", &document, "--orbs", "3", "--allow-left-out"]);
    assert_eq!(allowed, Ran { code: 0, ..ran });
    let piped = orbgate_reading(&["openapi", "import", "-", "--orbs", "3"], DOCUMENT.as_bytes());
    assert_eq!((piped.code, &*piped.out), (1, POLICY));
    let json = orbgate(&["openapi", "import", &document, "--orbs", "3", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &*json.err), (1, ""));
    assert_eq!(answer["policy"], POLICY);
    assert_eq!(answer["operations"], 1);
    assert_eq!((&answer["with_scopes"], &answer["with_scopes_imported"]), (&1.into(), &1.into()));
    assert_eq!(answer["left_out"][0]["kind"], "no_scope");
    assert_eq!(answer["left_out"][0]["location"]["column"], 59);
}

/// What is imported can be reloaded, and `fmt` has nothing to change.
#[test]
fn an_imported_policy_is_complete() {
    let document = file("openapi-complete.yaml", DOCUMENT);
    let imported = orbgate(&["openapi", "import", &document, "--orbs", "3", "--allow-left-out"]);
    let policy = file("openapi-complete-policy.yaml", imported.out);
    assert_eq!(orbgate(&["fmt", "--check", &policy]).code, 0);
}

#[test]
fn optional_security_is_required_where_that_is_asked_for() {
    let document = file("openapi-optional.yaml", DOCUMENT.replace("[{ l: [] }]", "[{}, { l: [s] }]"));
    let left_out = orbgate(&["openapi", "import", &document, "--orbs", "3"]);
    assert_eq!(left_out.code, 1);
    assert!(left_out.err.contains(": left out[optional]: PUT /a: ") && left_out.err.contains("`--optional require`"));
    let options = ["--orbs", "3", "--optional", "require"];
    let ran = orbgate(&[&["openapi", "import", &document], &options[..]].concat());
    assert_eq!(ran.code, 0);
    let note = format!("{document}:4:42: note[required_optional]: PUT /a: ");
    assert!(ran.err.starts_with(&note) && ran.err.ends_with(": ok: 2 operations\n"), "{}", ran.err);
    let policy = file("openapi-optional-policy.yaml", ran.out);
    let check = ["openapi", "check", &document, &policy];
    assert_eq!(orbgate(&[&check, &options[..]].concat()).code, 0);
    assert_eq!(orbgate(&[&check, &options[..2]].concat()).code, 1);
    assert_eq!(orbgate(&["openapi", "import", &document, "--optional", "ignore"]).code, 2);
}

/// What a message names is what the command takes.
#[test]
fn options_that_messages_name_are_repeated_for_each_scheme() {
    let schemes = "{ l: { type: oauth2 }, m: { type: oauth2 }, 'the key': { type: apiKey } }";
    let document = DOCUMENT.replace("{ l: { type: oauth2 } }", schemes);
    let document = file("openapi-schemes.yaml", document.replace("[{ l: [] }]", "[{ l: [s], m: [t], 'the key': [] }]"));
    let import = ["openapi", "import", &document, "--orbs", "3"];
    let ran = orbgate(&import);
    let options = ["--scheme", "l", "--scheme", "m", "--elsewhere", "the key"];
    assert!(ran.code == 2 && ran.err.contains("`--scheme l --scheme m --elsewhere 'the key'`"), "{}", ran.err);
    let ran = orbgate(&[&import, &options[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("\n# Imported with `--elsewhere`: ") && ran.out.contains("            and: t\n"),
        "{}",
        ran.out
    );
    let policy = file("openapi-schemes-policy.yaml", ran.out);
    let check = ["openapi", "check", &document, &policy];
    assert_eq!(orbgate(&[&check, &options[..]].concat()).code, 0);
    let any = [&import, &options[..], &["--all-of-as-any"]].concat();
    assert_eq!(orbgate(&any).code, 1);
    for wrong in
        [&["--scheme", "x"][..], &["--scheme", "l", "--scheme", "l"], &["--elsewhere", "l"], &["--elsewhere", "x"]]
    {
        let ran = orbgate(&[&import, wrong].concat());
        assert_eq!((ran.code, &*ran.out), (2, ""), "{wrong:?}");
        assert!(ran.err.starts_with(&format!("{document}:5:")), "{}", ran.err);
    }
}

#[test]
fn what_is_exported_is_imported() {
    let shop = file("openapi-shop.yaml", SHOP);
    for format in [&[][..], &["--json"]] {
        let document = orbgate(&[&["openapi", "export", &shop], format].concat());
        assert_eq!((document.code, &*document.err), (0, ""));
        let document = file("openapi-shop-document", document.out);
        let policy = orbgate(&["openapi", "import", &document]);
        assert_eq!(policy.code, 0, "{}", policy.err);
        assert_eq!(policy.err, format!("{document}: ok: 5 operations\n"));
        let ran = orbgate(&["openapi", "check", &document, &shop]);
        assert_eq!((ran.code, &*ran.out), (0, &*format!("{document}, {shop}: ok\n")));
        let same = file("openapi-shop-again.yaml", policy.out);
        let digest = |file: &str| orbgate(&["check", file]).out.rsplit("sha256:").next().map(str::to_owned);
        assert_eq!(digest(&same), digest(&shop));
    }
}

#[test]
fn a_check_finds_drift() {
    let document = file("openapi-drift.yaml", DOCUMENT);
    let policy = file("openapi-drift-policy.yaml", POLICY.replace("GET /a", "GET /b"));
    let ran = orbgate(&["openapi", "check", &document, &policy]);
    let starts = [
        format!("{document}:4:9: missing: GET /a: "),
        format!("{document}:4:42: unclear: PUT /a: "),
        format!("{policy}:10:13: extra: GET /b: "),
        format!("{document}, {policy}: 3 differences"),
    ];
    assert_eq!((ran.code, &*ran.err, ran.out.lines().count()), (1, "", starts.len()));
    for (line, start) in ran.out.lines().zip(&starts) {
        assert!(line.starts_with(start), "{line}");
    }
    let json = orbgate(&["openapi", "check", &document, &policy, "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let kinds: Vec<_> = answer["drift"].as_array().unwrap().iter().map(|drift| &drift["kind"]).collect();
    assert_eq!(kinds, ["missing", "unclear", "extra"]);
    let policy = file("openapi-same-policy.yaml", POLICY);
    let check = ["openapi", "check", &document, &policy];
    assert_eq!(orbgate(&check).code, 1);
    assert_eq!(orbgate(&[&check[..], &["--allow-left-out"]].concat()).code, 0);
}

#[test]
fn what_cannot_run_is_2() {
    let document = file("openapi-2.yaml", DOCUMENT);
    let bad = file("openapi-bad.yaml", crate::BAD);
    for (arguments, err) in [
        (&["openapi", "import", &document][..], format!("{document}:4:9: ")),
        (&["openapi", "import", "/nowhere"], "error: cannot read `/nowhere`".to_owned()),
        (&["openapi", "import", &document, "--orbs", "0"], "error: invalid value ".to_owned()),
        (&["openapi", "export", &bad], format!("{bad}:7:15: ")),
        (&["openapi", "check", &document, &bad], format!("{bad}:7:15: ")),
        (&["openapi", "check", "-", "-"], "error: ".to_owned()),
        (&["openapi"], "Import, export ".to_owned()),
    ] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
        assert!(ran.err.starts_with(&err), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn files_in_each_others_location_are_told_apart() {
    let document = file("openapi-first.yaml", DOCUMENT);
    let policy = file("openapi-second.yaml", POLICY);
    let no_policy = |text: &str| {
        let is_at_the_start = text.starts_with(&format!("{document}:1:1: "));
        is_at_the_start && text.contains("`orbgate openapi import`") && text.lines().count() == 1
    };
    for arguments in [
        &["openapi", "check", &policy, &document][..],
        &["openapi", "export", &document],
        &["table", "--policy", &document],
        &["diff", &document, &policy],
        &["fmt", "--check", &document],
    ] {
        let ran = orbgate(arguments);
        assert!(ran.code == 2 && no_policy(&ran.err), "{arguments:?}: {}", ran.err);
    }
    for command in ["check", "lint"] {
        let ran = orbgate(&[command, &document]);
        assert!(ran.code == 1 && no_policy(&ran.out), "{command}: {}", ran.out);
    }
    for arguments in [&["openapi", "import", &policy][..], &["openapi", "check", &policy, &policy]] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{arguments:?}");
        assert!(ran.err.starts_with(&format!("{policy}:1:1: this is a policy, ")));
    }
}

#[test]
fn a_default_scope_is_one_scope() {
    // No operation takes it, and all the same it is wrong.
    let document = file("openapi-scoped.yaml", DOCUMENT);
    let policy = file("openapi-scoped-policy.yaml", POLICY);
    for (scope, why) in [("a b", "U+0020"), ("", "empty"), ("é", "`é`")] {
        for arguments in [
            &["openapi", "import", &document, "--default-scope", scope][..],
            &["openapi", "check", &document, &policy, "--default-scope", scope],
        ] {
            let ran = orbgate(arguments);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
            let start = format!("{document}:1:1: ");
            assert!(ran.err.starts_with(&start) && ran.err.contains(why), "{}", ran.err);
        }
    }
}

/// What comes from a document is shown on a terminal, and not obeyed.
#[test]
fn control_characters_are_shown() {
    let document = "{\"openapi\":\"3.0.0\",\"paths\":{\"/\\u001b[2J\\n\":{\"get\":{}}}}";
    let ran = orbgate_reading(&["openapi", "import", "-", "--orbs", "true"], document.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(!ran.err.contains('\u{1b}') && ran.err.lines().count() == 2, "{:?}", ran.err);
}
