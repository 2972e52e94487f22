//! What a configuration may say, and how its errors are reported, whether it is in YAML or in Rust.

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_testing::expected::Expected;
use orbgate_testing::signer;
use orbgate_testing::signer::{Signer, claims, header, keys, now, verifier, with};
use orbgate_token::{
    AccountClaim, Algorithm, ClaimTest, FetchSettings, Issuer, KeyCache, KeyRules, KindRules, Opaque, ScopeClaim,
    SecretSource, Verifier,
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
    organisation_scopes: { claim: [realm_access, roles], format: array }
    client_claim: azp
    account: { user: client, organisation: { claim: tenant } }
    require: [jti, { claim: token_use, equals: access }]
    skew_seconds: 0
    max_lifetime_seconds: 610
    allow_unverified_cnf: true
    rsa_exponent_min: 3
";
    let from_yaml = Verifier::from_yaml(yaml).unwrap();
    let kind = KindRules::Claims {
        user: vec![ClaimTest::one_of("amr", ["pwd", "otp"]), ClaimTest::absent("gty")],
        organisation: vec![ClaimTest::equals_claim("sub", "client_id"), ClaimTest::present("gty")],
    };
    let scopes = ScopeClaim {
        claim: "scp".into(),
        format: orbgate_token::ScopeFormat::Array,
        conflict: orbgate_token::Conflict::Ignore,
    };
    let in_rust = verifier(
        Issuer::new("https://id.example.com", "https://api.example.com", kind)
            .algorithms([Algorithm::Es256])
            .extra_types(["JWT", ""])
            .scopes(scopes)
            .organisation_scopes(ScopeClaim {
                claim: orbgate_token::ClaimPath::nested(["realm_access", "roles"]),
                format: orbgate_token::ScopeFormat::Array,
                conflict: orbgate_token::Conflict::Deny,
            })
            .client_claim("azp")
            .account(TokenKind::User, AccountClaim::Client)
            .account(TokenKind::Organisation, AccountClaim::Claim("tenant".to_owned()))
            .or_audiences(["https://old.example.com"])
            .audience_claim("client_id")
            .require(["jti"])
            .require_tests([ClaimTest::equals("token_use", "access")])
            .skew(Duration::ZERO)
            .max_lifetime(Duration::from_secs(610))
            .allow_unverified_cnf()
            .key_rules(KeyRules { rsa_exponent_min: 3 }),
    );
    assert_eq!(format!("{from_yaml:?}"), format!("{in_rust:?}"));
}

#[test]
fn every_diagnostic_of_a_file_is_reported_with_its_location() {
    let table = [
        "",
        "orbgate_token: 2\nissuers: []\n",
        "orbgate_token: 1\nissuers: []\n",
        "orbgate_token: 1\nissuers:\n  - {}\n",
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
        "orbgate_token: 1\nissuers:\n  - issuer: a\n    issuer: a\n    audience: &x b\n    kind: { user: [] }\n",
        // An item of a wrong type isn't an empty audience as well.
        "orbgate_token: 1\nissuers:\n  - { issuer: a, audience: [[b]], kind: user }\n",
        "orbgate_token: 1\nissuers:\n  - { issuer: b, audience: [c, ''], kind: user }\n",
        "\
orbgate_token: 1
issuers:
  - { issuer: a, audience: b, kind: user, account: sub }
  - { issuer: b, audience: b, kind: user, account: {} }
  - { issuer: c, audience: b, kind: user, account: { claim: a, user: subject } }
  - { issuer: d, audience: b, kind: user, account: { organisation: subject, user: [client] } }
  - { issuer: e, audience: b, kind: user, account: { user: sub, organisation: { claims: a } } }
  - { issuer: f, audience: b, kind: user, account: { claim: '' } }
  - { issuer: g, audience: b, kind: user, account: { user: subject, organisation: client } }
",
    ];
    let mut expected = Expected::default();
    for yaml in table {
        let error = Verifier::from_yaml(yaml).unwrap_err();
        expected.add(yaml, [&error]);
        assert_eq!(format!("{error:?}"), error.to_string());
        let listed: Vec<_> = error.diagnostics().iter().map(ToString::to_string).collect();
        assert_eq!(listed.join("\n"), error.to_string());
        assert!(error.in_file("token.yaml").starts_with("token.yaml:"));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: diagnostics");
}

/// Settings that are well formed and yet would deny every token, without a hint when it is denied.
#[test]
fn a_setting_that_no_token_can_meet_is_an_error() {
    let table = [
        "algorithms: [HS256]",
        "algorithms: [ES256, HS512]",
        "require: [{ claim: exp, present: false }]",
        "require: [{ claim: aud, present: false }]",
        "require: [gty, { claim: gty, present: false }]",
        "require: [{ claim: gty, equals: a }, { claim: gty, one_of: [b, c] }]",
        "require: [{ claim: sub, equals_claim: azp }, { claim: sub, differs_from_claim: azp }]",
        "opaque: { endpoint: 'https://a', client_id: c, client_secret_env: A, prefix: 'a b' }",
    ];
    let yaml = |setting: &str| {
        format!("orbgate_token: 1\nissuers:\n  - issuer: https://a\n    audience: b\n    kind: user\n    {setting}\n")
    };
    let mut expected = Expected::default();
    for setting in table {
        expected.add(setting, [Verifier::from_yaml(&yaml(setting)).unwrap_err()]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: no token");
    for setting in [
        "require: [gty, { claim: gty, one_of: [a, b] }, { claim: gty, equals: b }]",
        "require: [{ claim: sub, equals_claim: azp }, { claim: sub, differs_from_claim: jti }]",
        "require: [{ claim: nbf, present: false }]",
        "require: [{ claim: iss, present: false }]\n    opaque: { endpoint: 'https://a', client_id: c, client_secret_env: A }",
    ] {
        assert!(Verifier::from_yaml(&yaml(setting)).is_ok(), "{setting}");
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
    let message = Verifier::from_yaml(yaml).unwrap_err().in_file("t");
    let lines: Vec<_> = message.lines().collect();
    let mut expected = Expected::default();
    expected.add(yaml, &lines);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: missing and misspelt keys");
    let only = |yaml: &str| Verifier::from_yaml(yaml).unwrap_err().in_file("t");
    let misspelt = only("orbgate_token: 1\nisuers: []\nremember_signatures: 10000000000\n");
    assert_eq!(misspelt.lines().count(), 2, "{misspelt}");
    let text = only("orbgate_token: 1\nissuers: [a text]\n");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_file_says_how_long_a_token_can_be() {
    let example = include_str!("../testdata/token.yaml");
    let with = |text: &str| Verifier::from_yaml(&format!("{example}max_token_bytes: {text}\n"));
    assert_eq!(Verifier::from_yaml(example).unwrap().longest_token(), 16_384);
    for (text, number) in [("1", 1), ("8192", 8_192), ("65536", 65_536)] {
        assert_eq!(with(text).unwrap().longest_token(), number);
    }
    let mut expected = Expected::default();
    for text in ["0", "65537", "-1"] {
        expected.add(text, [with(text).unwrap_err()]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: the longest token");
}

#[test]
fn an_issuer_of_tenants_is_one_issuer_for_each() {
    let yaml = |issuer: &str, tenants: &str| {
        format!(
            "orbgate_token: 1\nissuers:\n  - issuer: {issuer}\n{tenants}    audience: b\n    kind: user\n    jwks_uri: https://keys/{{tenant}}\n"
        )
    };
    let verifier = Verifier::from_yaml(&yaml("https://id/{tenant}/v2", "    tenants: [one, two]\n")).unwrap();
    let issuers: Vec<_> = verifier.issuers().collect();
    assert_eq!(issuers, ["https://id/one/v2", "https://id/two/v2"]);
    let mut expected = Expected::default();
    for (issuer, tenants) in [
        ("https://id/{tenant}", ""),
        ("https://id", "    tenants: [a]\n"),
        ("https://{tenant}/{tenant}", "    tenants: [a]\n"),
        ("https://id/{tenant}", "    tenants: []\n"),
        ("https://id/{tenant}", "    tenants: [a, b/c]\n"),
        ("https://id/{tenant}", "    tenants: ['']\n"),
        ("https://id/{tenant}", "    tenants: [a, a]\n"),
    ] {
        let error = Verifier::from_yaml(&yaml(issuer, tenants)).unwrap_err();
        expected.add(&format!("{issuer} {tenants}"), [error]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: tenants");
}

#[test]
fn what_must_be_proved_is_checked_where_it_is_written() {
    let yaml = |urls: &str, keys: &str| {
        format!(
            "orbgate_token: 1\n{urls}issuers:\n  - issuer: https://id\n    audience: b\n    kind: user\n    jwks_uri: https://id/keys\n    {keys}\n"
        )
    };
    let urls = "public_urls: [https://a.example/v1]\n";
    for right in [
        "proof: dpop",
        "proof: mtls",
        "proof: [dpop, mtls]",
        "proof: { required: dpop }",
        "proof: { when_bound: [mtls] }",
        "proof: dpop\n    proof_algorithms: [ES256, RS256]",
    ] {
        assert_eq!(Verifier::from_yaml(&yaml(urls, right)).map(drop), Ok(()), "{right}");
    }
    assert_eq!(Verifier::from_yaml(&yaml("", "proof: mtls")).map(drop), Ok(()));
    let mut expected = Expected::default();
    for (urls, keys) in [
        ("", "proof: dpop"),
        ("", "proof: { when_bound: [mtls, dpop] }"),
        ("public_urls: []\n", "proof: dpop"),
        ("public_urls: [https://a/, 'http://a', 'https://u@a', '/a', 'https://a?b']\n", "proof: dpop"),
        (urls, "proof: []"),
        (urls, "proof: [dpop, dpop]"),
        (urls, "proof: DPoP"),
        (urls, "proof: { dpop: true }"),
        (urls, "proof: {}"),
        (urls, "proof: { required: dpop, when_bound: mtls }"),
        (urls, "proof: { when_bound: tls }"),
        (urls, "proof: dpop\n    proof_algorithms: []"),
        (urls, "proof: dpop\n    proof_algorithms: [HS256, none]"),
        (urls, "proof: mtls\n    proof_algorithms: [RS256]"),
        (urls, "proof_algorithms: [ES256]"),
        (urls, "proof: dpop\n    allow_unverified_cnf: true"),
    ] {
        let error = Verifier::from_yaml(&yaml(urls, keys)).unwrap_err();
        expected.add(&format!("{urls}{keys}"), [error]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: proof");
}

#[test]
fn a_token_is_for_one_of_several_audiences() {
    let signer = Signer::p256();
    let keys = keys(&[signer.jwk("key-1")]);
    let two = verifier(signer::issuer().or_audiences(["https://other.example.com"]));
    let client = verifier(signer::issuer().or_audiences(["web"]).audience_claim("client_id"));
    let verify = |verifier: &Verifier, name: &str, value: serde_json::Value| {
        let token = signer.token(&header(), &with(claims(), name, value));
        verifier.verify(token, &keys, now()).is_ok()
    };
    for (audience, is_ours) in [
        (serde_json::json!("https://other.example.com"), true),
        (serde_json::json!(["https://evil.example", "https://other.example.com"]), true),
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
        user: vec![ClaimTest::equals_claim("sub", "sub"), ClaimTest::equals("", "x")],
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
    let mut expected = Expected::default();
    expected.add("two issuers", [error]);
    expected.add("no issuer", [Verifier::new([]).unwrap_err()]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: in Rust");
}

#[test]
fn the_tests_for_kinds_tell_tokens_apart() {
    let some = || vec![ClaimTest::equals("gty", "x")];
    let same = "`user` and `organisation` ";
    let neither = "`kind` ";
    let empty = "empty";
    let table = [
        (some(), vec![], None),
        (vec![], some(), None),
        (some(), some(), Some(same)),
        (vec![], vec![], Some(neither)),
        (some(), vec![ClaimTest::equals_claim("sub", "")], Some(empty)),
        (vec![ClaimTest::differs_from_claim("sub", "")], some(), Some(empty)),
    ];
    for (user, organisation, diagnostic) in table {
        let kind = KindRules::Claims { user, organisation };
        let verifier = Verifier::new([Issuer::new("a", "b", kind)]);
        let text = verifier.err().map(|error| error.to_string());
        assert_eq!(text.is_some(), diagnostic.is_some(), "{text:?}");
        if let (Some(text), Some(diagnostic)) = (text, diagnostic) {
            let message = text.strip_prefix("issuers[0]: ").unwrap();
            assert!(message.contains(diagnostic) && text.lines().count() == 1, "{text}");
        }
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
        "https://login.example.com/{tenantid}/keys",
        "https://id.example.com/my keys",
        "https://id.example.com/kéys",
        "https://$TENANT.example.com/keys",
        "https://id.example.com:99999/keys",
        "https://id.example.com:+443/keys",
        "https://id..example.com/keys",
        "https://[::1/keys",
        "https://[id]/keys",
    ] {
        assert!(!accepts(url), "{url}");
    }
}

/// An issuer whose tokens would all be refused, in every language: a cache of keys is what their gates have.
#[test]
fn an_issuer_whose_keys_can_never_be_fetched_is_an_error_of_every_gate() {
    let mut expected = Expected::default();
    let kind = || KindRules::Always(TokenKind::User);
    for name in ["http://id.example.com", "id.example.com", "urn:example:id", "https://id.example.com/a b"] {
        let all = [Issuer::new(name, "b", kind()), Issuer::new("https://id.example.com", "b", kind())];
        let verifier = Verifier::new(all.clone()).unwrap();
        assert_eq!(verifier.unfetchable().collect::<Vec<_>>(), [name]);
        let error = KeyCache::new(verifier, FetchSettings::default()).unwrap_err();
        expected.add(name, [error.to_string()]);
        // With the keys at another URL, or its tokens checked elsewhere, its name can be anything.
        let [first, second] = all;
        let secret = SecretSource::Env("A".to_owned());
        let opaque = first.clone().opaque(Opaque::new("https://id.example.com/introspect", "c", secret));
        let opaque = Verifier::new([opaque]).unwrap().with_secrets(|_| Ok(b"s".to_vec())).unwrap();
        let elsewhere = Verifier::new([first.jwks_uri("https://id.example.com/keys"), second]).unwrap();
        for verifier in [opaque, elsewhere] {
            assert!(KeyCache::new(verifier, FetchSettings::default()).is_ok());
        }
    }
    for name in ["https://login.microsoftonline.com/{tenantid}/v2.0", "https://id.example.com/{tenant}/{x}"] {
        let error = Verifier::new([Issuer::new(name, "b", kind()).jwks_uri("https://id.example.com/keys")]);
        expected.add(name, [error.unwrap_err().to_string()]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: keys that can never be fetched");
}

#[test]
fn small_exponents_are_a_setting() {
    // An odd modulus of 2048 bits, with 3 as its exponent.
    let jwks = |exponent: &str| {
        let jwk = with(Signer::rsa().jwk("key-1"), "e", exponent);
        serde_json::json!({ "keys": [jwk] }).to_string()
    };
    let small = KeyRules { rsa_exponent_min: 3 };
    use orbgate_token::KeySet;
    assert!(KeySet::from_jwks(jwks("Aw").as_bytes()).is_err());
    assert!(KeySet::from_jwks_with(jwks("Aw").as_bytes(), &small).is_ok());
    for refused in ["AQ", "Ag", "AQAA", "", "AA"] {
        assert!(KeySet::from_jwks_with(jwks(refused).as_bytes(), &small).is_err(), "{refused}");
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
    let both = "{ endpoint: 'http://a/ask', client_id: '', client_secret_file: c, client_secret_env: d }";
    let table = [
        "{ endpoint: 'https://a', client_id: c }",
        both,
        "{ endpoint: 'https://a', client_id: c, client_secret_file: c }",
        "{ endpoint: 'https://a', client_id: c, client_secret_env: A=B }",
        "{ endpoint: 'https://a', client_id: c, client_secret_env: A, prefix: '' }",
        "{ endpoint: 'https://a', client_id: c, client_secret_env: A, max_cache_seconds: 0 }",
        "{ endpoint: 'https://a', client_id: c, client_secret_env: A, max_cache_seconds: 3601 }",
        "{ endpoint: 'https://a', client_id: c, client_secret: s }",
        "{ endpoint: 'https://a', client_id: c, client_secret_env: A }\n    jwks_uri: https://a/keys\n    extra_types: [JWT]\n    algorithms: [ES256]\n    rsa_exponent_min: 3",
    ];
    let mut expected = Expected::default();
    for opaque in table {
        expected.add(opaque, [Verifier::from_yaml(&yaml(opaque)).unwrap_err()]);
    }
    let other = |prefix: &str| {
        let secret = SecretSource::Env("A".to_owned());
        let opaque = Opaque::new("https://b/ask", "c", secret);
        let opaque = if prefix.is_empty() { opaque } else { opaque.prefix(prefix) };
        Issuer::new(format!("https://b/{prefix}"), "b", KindRules::Always(TokenKind::User)).opaque(opaque)
    };
    assert!(Verifier::new([issuer.clone(), other(""), other("b_")]).is_ok());
    for issuers in [[other(""), other("")], [issuer, other("a_")]] {
        expected.add("two issuers", [Verifier::new(issuers).unwrap_err()]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "configuration: opaque");
}
