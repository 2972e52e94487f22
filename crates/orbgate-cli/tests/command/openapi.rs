//! `orbgate openapi`: what goes where, and how it ends.

use crate::{Ran, SHOP, file, orbgate, orbgate_reading};

const DOCUMENT: &str = "\
openapi: 3.0.0
info: { title: A, version: '1' }
paths:
  /a: { get: { security: [{ l: [s] }] }, put: { security: [{ l: [s, t] }] } }
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
";

#[test]
fn the_policy_is_on_standard_output_and_what_is_left_out_on_standard_error() {
    let document = file("openapi-a.yaml", DOCUMENT);
    let err = format!(
        "{document}:4:59: left out[several_scopes]: PUT /a: all of these scopes are needed: `s`, `t`\n\
         {document}: 1 operation, 1 left out\n"
    );
    let ran = orbgate(&["openapi", "import", &document, "--orbs", "3"]);
    let expected = Ran {
        code: 1,
        out: POLICY.to_owned(),
        err,
    };
    assert_eq!(ran, expected);
    let allowed = orbgate(&[
        "openapi",
        "import",
        &document,
        "--orbs",
        "3",
        "--allow-left-out",
    ]);
    assert_eq!(
        allowed,
        Ran {
            code: 0,
            ..expected
        }
    );
    let piped = orbgate_reading(
        &["openapi", "import", "-", "--orbs", "3"],
        DOCUMENT.as_bytes(),
    );
    assert_eq!((piped.code, &*piped.out), (1, POLICY));
    let json = orbgate(&["openapi", "import", &document, "--orbs", "3", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &*json.err), (1, ""));
    assert_eq!(answer["policy"], POLICY);
    assert_eq!(answer["operations"], 1);
    assert_eq!(answer["left_out"][0]["kind"], "several_scopes");
    assert_eq!(answer["left_out"][0]["location"]["column"], 59);
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
        assert_eq!(
            (ran.code, &*ran.out),
            (0, &*format!("{document}, {shop}: ok\n"))
        );
        let same = file("openapi-shop-again.yaml", policy.out);
        let digest = |file: &str| {
            orbgate(&["check", file])
                .out
                .rsplit("sha256:")
                .next()
                .map(str::to_owned)
        };
        assert_eq!(digest(&same), digest(&shop));
    }
}

#[test]
fn a_check_finds_drift() {
    let document = file("openapi-drift.yaml", DOCUMENT);
    let policy = file(
        "openapi-drift-policy.yaml",
        POLICY.replace("GET /a", "GET /b"),
    );
    let ran = orbgate(&["openapi", "check", &document, &policy]);
    let expected = format!(
        "{document}:4:9: missing: GET /a: the policy has no such route; the document says scope `s`\n\
         {document}:4:42: unclear: PUT /a: all of these scopes are needed: `s`, `t` [several_scopes]\n\
         {policy}:10:13: extra: GET /b: the document has no such operation; the policy says scope `s`\n\
         {document}, {policy}: 3 differences\n"
    );
    assert_eq!((ran.code, &*ran.out, &*ran.err), (1, &*expected, ""));
    let json = orbgate(&["openapi", "check", &document, &policy, "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let kinds: Vec<_> = answer["drift"]
        .as_array()
        .unwrap()
        .iter()
        .map(|drift| &drift["kind"])
        .collect();
    assert_eq!(kinds, ["missing", "unclear", "extra"]);
    let policy = file("openapi-same-policy.yaml", POLICY);
    let check = ["openapi", "check", &document, &policy];
    assert_eq!(orbgate(&check).code, 1);
    assert_eq!(
        orbgate(&[&check[..], &["--allow-left-out"]].concat()).code,
        0
    );
}

#[test]
fn what_cannot_run_is_2() {
    let document = file("openapi-2.yaml", DOCUMENT);
    let bad = file("openapi-bad.yaml", crate::BAD);
    for (arguments, err) in [
        (
            &["openapi", "import", &document][..],
            format!("{document}:4:9: the document does not say what a call consumes"),
        ),
        (
            &["openapi", "import", "/nowhere"],
            "error: cannot read `/nowhere`".to_owned(),
        ),
        (
            &["openapi", "import", &document, "--orbs", "0"],
            "error: invalid value '0'".to_owned(),
        ),
        (&["openapi", "export", &bad], format!("{bad}:7:15: ")),
        (
            &["openapi", "check", &document, &bad],
            format!("{bad}:7:15: "),
        ),
        (&["openapi", "check", "-", "-"], "error: ".to_owned()),
        (&["openapi"], "Import, export or check".to_owned()),
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
    let no_policy = format!(
        "{document}:1:1: this is an OpenAPI document, not a policy: `orbgate openapi import` makes a policy of it, and `openapi check` \
         takes it first\n"
    );
    for arguments in [
        &["openapi", "check", &policy, &document][..],
        &["openapi", "export", &document],
        &["table", "--policy", &document],
        &["diff", &document, &policy],
        &["fmt", "--check", &document],
    ] {
        let ran = orbgate(arguments);
        assert_eq!((ran.code, &*ran.err), (2, &*no_policy), "{arguments:?}");
    }
    for command in ["check", "lint"] {
        let ran = orbgate(&[command, &document]);
        assert_eq!((ran.code, &*ran.out), (1, &*no_policy), "{command}");
    }
    for arguments in [
        &["openapi", "import", &policy][..],
        &["openapi", "check", &policy, &policy],
    ] {
        let ran = orbgate(arguments);
        let expected = format!(
            "{policy}:1:1: this is a policy, not an OpenAPI document; OpenAPI 3.0 and 3.1 are read\n"
        );
        assert_eq!((ran.code, &*ran.err), (2, &*expected), "{arguments:?}");
    }
}

#[test]
fn a_default_scope_is_one_scope() {
    // No operation takes it, and all the same it is wrong.
    let document = file("openapi-scoped.yaml", DOCUMENT);
    let policy = file("openapi-scoped-policy.yaml", POLICY);
    for (scope, why) in [
        ("a b", "scope `a b` has the character U+0020"),
        ("", "a scope must not be empty"),
        ("é", "scope `é` has the character `é`"),
    ] {
        for arguments in [
            &["openapi", "import", &document, "--default-scope", scope][..],
            &[
                "openapi",
                "check",
                &document,
                &policy,
                "--default-scope",
                scope,
            ],
        ] {
            let ran = orbgate(arguments);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}");
            let expected = format!("{document}:1:1: the option for the default scope: {why}");
            assert!(ran.err.starts_with(&expected), "{}", ran.err);
        }
    }
}

/// What comes from a document is shown on a terminal, and not obeyed.
#[test]
fn control_characters_are_shown() {
    let document = "{\"openapi\":\"3.0.0\",\"paths\":{\"/\\u001b[2J\\n\":{\"get\":{}}}}";
    let ran = orbgate_reading(
        &["openapi", "import", "-", "--orbs", "true"],
        document.as_bytes(),
    );
    assert_eq!(ran.code, 1);
    assert!(
        !ran.err.contains('\u{1b}') && ran.err.lines().count() == 2,
        "{:?}",
        ran.err
    );
}
