//! What a configuration may say, and how its errors are reported, whether it is in YAML or in Rust.

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_testing::signer;
use orbgate_testing::signer::{Signer, claims, header, keys, now, verifier, with};
use orbgate_token::{
    Algorithm, ClaimTest, Issuer, KeyRules, KindRules, Opaque, ScopeClaim, SecretSource, Verifier,
};

const EXAMPLE: &str = include_str!("../testdata/token.yaml");

#[test]
fn the_example_is_read() {
    let verifier = Verifier::from_yaml(EXAMPLE).unwrap();
    let issuers: Vec<_> = verifier.issuers().collect();
    let expected = ["https://id.example.com", "https://login.example.org/v2"];
    assert_eq!(issuers, expected);
    let signer = Signer::p256();
    let keys = keys(&[signer.jwk("key-1")]);
    let token = signer.token(&header(), &claims());
    let verified = verifier.verify(&token, &keys, now()).unwrap();
    assert_eq!(verified.kind(), TokenKind::User);
}

#[test]
fn every_key_of_the_file_does_what_it_says() {
    let yaml = "
orbgate_token: 1
issuers:
  - issuer: https://id.example.com
    audience: [https://api.example.com, https://old.example.com]
    audience_claim: client_id
    algorithms: [ES256]
    kind:
      user: [{ claim: amr, one_of: [pwd, otp] }, { claim: gty, present: false }]
      organisation: [{ claim: sub, equals_claim: client_id }, { claim: gty, present: true }]
    extra_types: [JWT, '']
    scopes: { claim: scp, format: array, conflict: ignore }
    organisation_scopes: { claim: roles, format: array }
    client_claim: azp
    require: [jti, { claim: token_use, equals: access }]
    skew_seconds: 0
    max_lifetime_seconds: 610
    allow_unverified_cnf: true
    rsa_exponent_min: 3
";
    let from_yaml = Verifier::from_yaml(yaml).unwrap();
    let kind = KindRules::Claims {
        user: vec![
            ClaimTest::one_of("amr", ["pwd", "otp"]),
            ClaimTest::absent("gty"),
        ],
        organisation: vec![
            ClaimTest::equals_claim("sub", "client_id"),
            ClaimTest::present("gty"),
        ],
    };
    let scopes = ScopeClaim {
        claim: "scp".to_owned(),
        format: orbgate_token::ScopeFormat::Array,
        conflict: orbgate_token::Conflict::Ignore,
    };
    let in_rust = verifier(
        Issuer::new("https://id.example.com", "https://api.example.com", kind)
            .algorithms([Algorithm::Es256])
            .extra_types(["JWT", ""])
            .scopes(scopes)
            .organisation_scopes(ScopeClaim {
                claim: "roles".to_owned(),
                format: orbgate_token::ScopeFormat::Array,
                conflict: orbgate_token::Conflict::Deny,
            })
            .client_claim("azp")
            .or_audiences(["https://old.example.com"])
            .audience_claim("client_id")
            .require(["jti"])
            .require_tests([ClaimTest::equals("token_use", "access")])
            .skew(Duration::ZERO)
            .max_lifetime(Duration::from_secs(610))
            .allow_unverified_cnf()
            .key_rules(KeyRules {
                rsa_exponent_min: 3,
            }),
    );
    assert_eq!(format!("{from_yaml:?}"), format!("{in_rust:?}"));
}

#[test]
fn every_diagnostic_of_a_file_is_reported_with_its_location() {
    let table = [
        (
            "",
            "1:1: the file is empty: a token configuration starts with `orbgate_token: 1`",
        ),
        (
            "orbgate_token: 2\nissuers: []\n",
            "1:16: `orbgate_token` must be the plain number 1, the version of the format, not `2`\n\
             2:10: there is no issuer: every token would be refused",
        ),
        (
            "orbgate_token: 1\nissuers: []\n",
            "2:10: there is no issuer: every token would be refused",
        ),
        (
            "orbgate_token: 1\nissuers:\n  - {}\n",
            "3:5: this issuer is missing the key `audience`\n\
             3:5: this issuer is missing the key `issuer`\n\
             3:5: this issuer is missing the key `kind`",
        ),
        (
            "\
orbgate_token: 1
issuers:
  - issuer: ''
    audience: yes
    algoritms: [RS256]
    kind: both
    jwks_uri: http://id.example.com/keys
    skew_seconds: 301
    max_lifetime_seconds: 1h
    extra_types: JWT
    scopes: { claim: scope, format: list }
    rsa_exponent_min: 4
",
            "3:13: `issuer` is empty: write the `iss` of its tokens\n\
             4:15: `audience` must be a string, and `yes` can be read as a boolean: write `'yes'`\n\
             5:5: unknown key `algoritms` in this issuer (known: `issuer`, `tenants`, `audience`, `audience_claim`, `kind`, `jwks_uri`, `algorithms`, \
             `extra_types`, `scopes`, `organisation_scopes`, `client_claim`, `require`, `skew_seconds`, `max_lifetime_seconds`, \
             `allow_unverified_cnf`, `rsa_exponent_min`, `opaque`); did you mean `algorithms`?\n\
             6:11: `kind` must be `user`, `organisation` or a mapping with these keys, not `both`\n\
             7:15: `jwks_uri` must start with `https://`, or lead to this very machine\n\
             8:19: `skew_seconds` is over 300, which is the limit\n\
             9:27: `max_lifetime_seconds` must be a plain whole number, not `1h`\n\
             10:18: `extra_types` must be a list, not `JWT`\n\
             11:37: `format` must be `string` or `array`, not `list`\n\
             12:23: `rsa_exponent_min` must be an odd number from 3 to 4294967295",
        ),
        (
            "\
orbgate_token: 1
issuers:
  - issuer: a
    audience: b
    algorithms: [RS256, none, 5]
    kind:
      user: [{ claim: gty, present: false }]
      organisation: [{ claim: sub, equals: a, one_of: [b] }]
  - { issuer: a, audience: b, kind: user, algorithms: [] }
",
            "5:25: unknown algorithm `none` (known: `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512`, `ES256`, `ES384`, \
             `ES512`, `EdDSA`, `Ed25519`, `HS256`, `HS384`, `HS512`)\n\
             5:31: an item of `algorithms` must be a string, and `5` can be read as a number: write `'5'`\n\
             7:7: `user` rests on nothing but absent claims: add a test for a claim that is there\n\
             8:22: a test needs exactly one of `equals`, `one_of`, `present`, `equals_claim`, `differs_from_claim`\n\
             9:15: another issuer has the same name\n\
             9:55: `algorithms` is empty: every token would be refused",
        ),
        (
            "orbgate_token: 1\nissuers:\n  - issuer: a\n    issuer: a\n    audience: &x b\n    kind: { user: [] }\n",
            "4:5: duplicate key `issuer` (first on line 3)\n\
             5:15: anchors aren't supported: remove the anchor and repeat the value where you need it\n\
             6:11: `kind` recognises no token: write a test for `user` or for `organisation`",
        ),
    ];
    for (yaml, expected) in table {
        let error = Verifier::from_yaml(yaml).unwrap_err();
        assert_eq!(error.to_string(), expected, "{yaml}");
        assert_eq!(format!("{error:?}"), expected);
        let listed: Vec<_> = error
            .diagnostics()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(listed.join("\n"), expected);
        assert!(error.in_file("token.yaml").starts_with("token.yaml:"));
    }
}

#[test]
fn a_key_that_is_missing_or_misspelt_hides_no_other_diagnostic() {
    let yaml = "\
orbgate_token: 1
issuers:
  - issuer: https://a.example.com
    audiense: https://api.example.com
    kind: user
    algorithms: [RS25]
  - algorithms: [ES256]
    skew_seconds: 301
  - a text
  - issuer: https://b.example.com
    audience: https://api.example.com
    jwks_uri: http://b.example.com/keys
    kind: user
remember_signatures: 10000000000
";
    let said = Verifier::from_yaml(yaml).unwrap_err().in_file("t");
    let said: Vec<_> = said.lines().collect();
    let expected = [
        "t:4:5: unknown key `audiense`",
        "t:6:18: unknown algorithm `RS25`",
        "t:7:5: this issuer is missing the key `issuer`",
        "t:7:5: this issuer is missing the key `audience`",
        "t:7:5: this issuer is missing the key `kind`",
        "t:8:19: ",
        "t:9:5: this issuer must be a mapping",
        "t:12:15: ",
        "t:14:22: `remember_signatures` is over",
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for expected in expected {
        let is_said = said.iter().any(|line| line.starts_with(expected));
        assert!(is_said, "{expected}\n{said:#?}");
    }
    let only = |yaml: &str| Verifier::from_yaml(yaml).unwrap_err().in_file("t");
    let misspelt = only("orbgate_token: 1\nisuers: []\nremember_signatures: 10000000000\n");
    assert_eq!(misspelt.lines().count(), 2, "{misspelt}");
    let text = only("orbgate_token: 1\nissuers: [a text]\n");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn an_issuer_of_tenants_is_one_issuer_for_each() {
    let yaml = |issuer: &str, tenants: &str| {
        format!(
            "orbgate_token: 1\nissuers:\n  - issuer: {issuer}\n{tenants}    audience: b\n    kind: user\n    jwks_uri: https://keys/{{tenant}}\n"
        )
    };
    let verifier =
        Verifier::from_yaml(&yaml("https://id/{tenant}/v2", "    tenants: [one, two]\n")).unwrap();
    let issuers: Vec<_> = verifier.issuers().collect();
    assert_eq!(issuers, ["https://id/one/v2", "https://id/two/v2"]);
    for (issuer, tenants, message) in [
        (
            "https://id/{tenant}",
            "",
            "3:13: `tenants` is missing: list the tenants that `{tenant}` stands for",
        ),
        (
            "https://id",
            "    tenants: [a]\n",
            "3:13: `issuer` must have `{tenant}` once, because there are `tenants`",
        ),
        (
            "https://{tenant}/{tenant}",
            "    tenants: [a]\n",
            "3:13: `issuer` must have `{tenant}` once, because there are `tenants`",
        ),
        (
            "https://id/{tenant}",
            "    tenants: []\n",
            "4:14: `tenants` is empty: every token would be refused",
        ),
        (
            "https://id/{tenant}",
            "    tenants: [a, b/c]\n",
            "4:18: a tenant consists of letters, digits, `-`, `.` and `_`",
        ),
        (
            "https://id/{tenant}",
            "    tenants: ['']\n",
            "4:15: a tenant consists of letters, digits, `-`, `.` and `_`",
        ),
        (
            "https://id/{tenant}",
            "    tenants: [a, a]\n",
            "3:13: another issuer has the same name",
        ),
    ] {
        let error = Verifier::from_yaml(&yaml(issuer, tenants)).unwrap_err();
        assert_eq!(error.to_string(), message, "{issuer} {tenants}");
    }
}

#[test]
fn a_token_is_for_one_of_several_audiences() {
    let signer = Signer::p256();
    let keys = keys(&[signer.jwk("key-1")]);
    let two = verifier(signer::issuer().or_audiences(["https://other.example.com"]));
    let client = verifier(
        signer::issuer()
            .or_audiences(["web"])
            .audience_claim("client_id"),
    );
    let verify = |verifier: &Verifier, name: &str, value: serde_json::Value| {
        let token = signer.token(&header(), &with(claims(), name, value));
        verifier.verify(token, &keys, now()).is_ok()
    };
    for (audience, is_ours) in [
        (serde_json::json!("https://other.example.com"), true),
        (
            serde_json::json!(["https://evil.example", "https://other.example.com"]),
            true,
        ),
        (serde_json::json!("https://evil.example"), false),
        (serde_json::json!(["https://other.example.com", 7]), false),
    ] {
        assert_eq!(verify(&two, "aud", audience.clone()), is_ours, "{audience}");
        // `aud` doesn't count if another claim has the audience.
        assert!(!verify(&client, "aud", audience));
    }
    assert!(verify(&client, "client_id", "web".into()));
    assert!(!verify(&client, "client_id", "other".into()));
}

#[test]
fn every_diagnostic_of_issuers_in_rust_is_reported_with_its_key() {
    let kind = KindRules::Claims {
        user: vec![
            ClaimTest::equals_claim("sub", "sub"),
            ClaimTest::equals("", "x"),
        ],
        organisation: vec![ClaimTest::one_of::<String>("a", [])],
    };
    let issuer = Issuer::new("", "", kind)
        .algorithms([])
        .skew(Duration::from_secs(301))
        .max_lifetime(Duration::ZERO)
        .client_claim("")
        .jwks_uri("ftp://x");
    let unknown = Issuer::new("a", "b", KindRules::Always(TokenKind::Unknown));
    let error = Verifier::new([issuer, unknown]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "issuers[0]: `issuer` is empty: write the `iss` of its tokens\n\
         issuers[0]: `audience` is empty: write what the tokens' `aud` must have\n\
         issuers[0]: `jwks_uri` must start with `https://`, or lead to this very machine\n\
         issuers[0]: `algorithms` is empty: every token would be refused\n\
         issuers[0]: `skew_seconds` is over 300, which is the limit\n\
         issuers[0]: `max_lifetime_seconds` is 0: every token would be refused\n\
         issuers[0]: the name of a claim is empty\n\
         issuers[0]: a claim is compared with itself\n\
         issuers[0]: the name of a claim is empty\n\
         issuers[0]: `one_of` is empty: the test never holds\n\
         issuers[1]: `kind` is unknown: every request would be denied"
    );
    assert_eq!(
        Verifier::new([]).unwrap_err().to_string(),
        "there is no issuer: every token would be refused"
    );
}

#[test]
fn the_tests_for_kinds_tell_tokens_apart() {
    let some = || vec![ClaimTest::equals("gty", "x")];
    let same = "`user` and `organisation` have the same tests: no token is of one kind";
    let neither = "`kind` recognises no token: write a test for `user` or for `organisation`";
    let empty = "the name of a claim is empty";
    let table = [
        (some(), vec![], None),
        (vec![], some(), None),
        (some(), some(), Some(same)),
        (vec![], vec![], Some(neither)),
        (
            some(),
            vec![ClaimTest::equals_claim("sub", "")],
            Some(empty),
        ),
        (
            vec![ClaimTest::differs_from_claim("sub", "")],
            some(),
            Some(empty),
        ),
    ];
    for (user, organisation, diagnostic) in table {
        let kind = KindRules::Claims { user, organisation };
        let verifier = Verifier::new([Issuer::new("a", "b", kind)]);
        let said = verifier.err().map(|error| error.to_string());
        assert_eq!(
            said,
            diagnostic.map(|diagnostic| format!("issuers[0]: {diagnostic}"))
        );
    }
}

#[test]
fn a_clock_may_be_off_by_300_seconds_and_no_more() {
    let accepts = |skew: Duration| {
        let issuer = Issuer::new("a", "b", KindRules::Always(TokenKind::User));
        Verifier::new([issuer.skew(skew)]).is_ok()
    };
    assert!(accepts(Duration::from_secs(300)));
    assert!(!accepts(Duration::from_millis(300_001)));
}

#[test]
fn keys_are_fetched_over_https_or_from_this_machine() {
    let accepts = |url: &str| {
        let kind = KindRules::Always(TokenKind::User);
        Verifier::new([Issuer::new("a", "b", kind).jwks_uri(url)]).is_ok()
    };
    for url in [
        "https://id.example.com/keys",
        "https://id.example.com:8443/keys?a=b",
        "http://127.0.0.1:3000/jwks",
        "http://localhost/jwks",
        "http://[::1]:80/jwks",
    ] {
        assert!(accepts(url), "{url}");
    }
    for url in [
        "",
        "https://",
        "https:///keys",
        "HTTPS://id.example.com",
        "http://id.example.com/keys",
        "http://localhost.example.com/keys",
        "http://127.0.0.1.example.com/",
        "http://localhost@example.com/",
        "http://localhost:80@example.com/",
        "https://user@id.example.com/keys",
        "https://user:secret@id.example.com/keys",
        "https://user:80@id.example.com:443/keys",
        "http://user@localhost/jwks",
        "http://user:80@localhost:80/jwks",
        "http://127.0.0.2:80x/",
        "file:///etc/passwd",
        "//localhost/",
    ] {
        assert!(!accepts(url), "{url}");
    }
}

#[test]
fn small_exponents_are_a_setting() {
    // An odd modulus of 2048 bits, with 3 as its exponent.
    let jwks = |exponent: &str| {
        let jwk = with(Signer::rsa().jwk("key-1"), "e", exponent);
        serde_json::json!({ "keys": [jwk] }).to_string()
    };
    let small = KeyRules {
        rsa_exponent_min: 3,
    };
    use orbgate_token::KeySet;
    assert!(KeySet::from_jwks(jwks("Aw").as_bytes()).is_err());
    assert!(KeySet::from_jwks_with(jwks("Aw").as_bytes(), &small).is_ok());
    for refused in ["AQ", "Ag", "AQAA", "", "AA"] {
        assert!(
            KeySet::from_jwks_with(jwks(refused).as_bytes(), &small).is_err(),
            "{refused}"
        );
    }
}

#[test]
fn an_unknown_kind_verifies_and_denies() {
    let signer = Signer::p256();
    let keys = keys(&[signer.jwk("key-1")]);
    let token = signer.token(&header(), &with(claims(), "token_kind", "robot"));
    let verified = verifier(signer::issuer()).verify(token, &keys, now());
    let verified = verified.unwrap();
    assert_eq!(verified.kind(), TokenKind::Unknown);
    let decision = orbgate::Engine::external().decide(&orbgate::Request {
        method: b"GET",
        target: b"/api/v1/external/account",
        token: Some(verified.token()),
        allow_bonus_orbs_use: false,
    });
    assert_eq!(decision.reason().as_str(), "invalid_token");
}

#[test]
fn the_readme_shows_the_example() {
    assert!(include_str!("../../../docs/tokens.md").contains(EXAMPLE));
}

#[test]
fn an_opaque_issuer_is_read_and_its_errors_have_locations() {
    let yaml = |opaque: &str| {
        format!(
            "orbgate_token: 1\nissuers:\n  - issuer: https://a\n    audience: b\n    kind: user\n    opaque: {opaque}\n"
        )
    };
    let full = "{ endpoint: 'https://a/ask', client_id: c, client_secret_file: /run/secrets/c, prefix: a_, max_cache_seconds: 3600 }";
    let from_yaml = Verifier::from_yaml(&yaml(full)).unwrap();
    let secret = SecretSource::File("/run/secrets/c".to_owned());
    let opaque = Opaque::new("https://a/ask", "c", secret).prefix("a_");
    let issuer = Issuer::new("https://a", "b", KindRules::Always(TokenKind::User))
        .opaque(opaque.max_cache(Duration::from_secs(3600)));
    let in_rust = Verifier::new([issuer.clone()]).unwrap();
    assert_eq!(format!("{from_yaml:?}"), format!("{in_rust:?}"));
    let both =
        "{ endpoint: 'http://a/ask', client_id: '', client_secret_file: c, client_secret_env: d }";
    let table = [
        (
            "{ endpoint: 'https://a', client_id: c }",
            "6:13: `opaque` needs exactly one of `client_secret_file` and `client_secret_env`",
        ),
        (
            both,
            "6:25: `endpoint` must start with `https://`, or lead to this very machine\n\
            6:52: `client_id` is empty\n\
            6:76: `opaque` needs exactly one of `client_secret_file` and `client_secret_env`",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret_file: c }",
            "6:72: `client_secret_file` must be an absolute path: it depends on no working directory then",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret_env: A=B }",
            "6:71: `client_secret_env` must be the name of a variable",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret_env: A, prefix: '' }",
            "6:82: `prefix` is empty: leave it out for the issuer that gets the rest",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret_env: A, max_cache_seconds: 0 }",
            "6:93: `max_cache_seconds` is not 1 to 3600",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret_env: A, max_cache_seconds: 3601 }",
            "6:93: `max_cache_seconds` is not 1 to 3600",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret: s }",
            "6:13: `opaque` needs exactly one of `client_secret_file` and `client_secret_env`\n\
             6:52: unknown key `client_secret`",
        ),
        (
            "{ endpoint: 'https://a', client_id: c, client_secret_env: A }\n    jwks_uri: https://a/keys\n    extra_types: [JWT]\n    algorithms: [ES256]\n    rsa_exponent_min: 3",
            "7:15: `jwks_uri` does nothing with `opaque`: no signature is checked\n\
            8:19: `extra_types` does nothing with `opaque`: no signature is checked\n\
            9:17: `algorithms` does nothing with `opaque`: no signature is checked\n\
            10:23: `rsa_exponent_min` does nothing with `opaque`: no signature is checked",
        ),
    ];
    for (opaque, expected) in table {
        let error = Verifier::from_yaml(&yaml(opaque)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{opaque}\n{error}");
    }
    let other = |prefix: &str| {
        let secret = SecretSource::Env("A".to_owned());
        let opaque = Opaque::new("https://b/ask", "c", secret);
        let opaque = if prefix.is_empty() {
            opaque
        } else {
            opaque.prefix(prefix)
        };
        Issuer::new(
            format!("https://b/{prefix}"),
            "b",
            KindRules::Always(TokenKind::User),
        )
        .opaque(opaque)
    };
    assert!(Verifier::new([issuer.clone(), other(""), other("b_")]).is_ok());
    for (issuers, expected) in [
        (
            [other(""), other("")],
            "another issuer gets the opaque tokens: one of the two needs a `prefix`",
        ),
        (
            [issuer, other("a_")],
            "another issuer's opaque tokens have the same `prefix`",
        ),
    ] {
        let error = Verifier::new(issuers).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
