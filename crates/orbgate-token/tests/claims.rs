//! Claims that must be refused under a right signature, and what the settings change.

use core::slice::from_ref;
use core::time::Duration;

use orbgate::TokenKind;
use orbgate_testing::expected::Expected;
use orbgate_testing::signer;
use orbgate_testing::signer::{
    AUDIENCE, ISSUER, NOW, Signer, World, base64url, claims, header, issuer, keys, now, verifier, with, without,
};
use orbgate_token::{AccountClaim, Algorithm, Issuer, TokenError, VerifiedToken, Verifier};
use serde_json::{Value, json};

#[test]
fn claims_have_the_types_that_they_must_have() {
    use TokenError::{Audience, BadClaims, BadTime, Bound, Claim, Issuer, Scopes};
    let world = World::new();
    let claims = claims();
    let evil = "https://evil.example";
    let table = [
        (without(claims.clone(), "iss"), Some(Issuer)),
        (with(claims.clone(), "iss", evil), Some(Issuer)),
        (with(claims.clone(), "iss", format!("{ISSUER}/")), Some(Issuer)),
        // An issuer is compared as text (RFC 9207 §2.4), capitals and all.
        (with(claims.clone(), "iss", ISSUER.to_uppercase()), Some(Issuer)),
        (with(claims.clone(), "iss", ISSUER.replace("id.", "Id.")), Some(Issuer)),
        (with(claims.clone(), "iss", json!([ISSUER])), Some(Issuer)),
        (with(claims.clone(), "iss", json!([evil, ISSUER])), Some(Issuer)),
        (with(claims.clone(), "iss", json!({"a": ISSUER})), Some(Issuer)),
        (with(claims.clone(), "iss", Value::Null), Some(Issuer)),
        (without(claims.clone(), "aud"), Some(Audience)),
        (with(claims.clone(), "aud", 7), Some(Audience)),
        (with(claims.clone(), "aud", evil), Some(Audience)),
        (with(claims.clone(), "aud", json!([])), Some(Audience)),
        (with(claims.clone(), "aud", json!([evil])), Some(Audience)),
        (with(claims.clone(), "aud", json!([AUDIENCE, 7])), Some(Audience)),
        (with(claims.clone(), "aud", json!([[AUDIENCE]])), Some(Audience)),
        (with(claims.clone(), "aud", json!([evil, AUDIENCE])), None),
        (without(claims.clone(), "exp"), Some(BadTime)),
        (with(claims.clone(), "exp", "never"), Some(BadTime)),
        (with(claims.clone(), "exp", (NOW + 9).to_string()), Some(BadTime)),
        (with(claims.clone(), "exp", Value::Null), Some(BadTime)),
        (with(claims.clone(), "exp", -1), Some(BadTime)),
        (with(claims.clone(), "exp", 1e18), Some(BadTime)),
        (with(claims.clone(), "exp", u64::MAX), Some(BadTime)),
        (with(claims.clone(), "exp", 1_u64 << 53), Some(BadTime)),
        (with(claims.clone(), "exp", json!([NOW])), Some(BadTime)),
        (with(claims.clone(), "nbf", "now"), Some(BadTime)),
        (with(claims.clone(), "iat", true), Some(BadTime)),
        (with(claims.clone(), "cnf", json!({"jkt": "x"})), Some(Bound)),
        (with(claims.clone(), "cnf", Value::Null), Some(Bound)),
        (with(claims.clone(), "scope", json!(["a"])), Some(Scopes)),
        (with(claims.clone(), "scope", "a  b"), Some(Scopes)),
        (with(claims.clone(), "scp", "a"), Some(Scopes)),
        (with(claims.clone(), "scp", Value::Null), Some(Scopes)),
        (with(claims.clone(), "sub", 7), Some(Claim)),
        (with(claims.clone(), "jti", json!({})), Some(Claim)),
        (with(claims.clone(), "client_id", json!([])), Some(Claim)),
        (with(claims.clone(), "act", "someone"), Some(Claim)),
        (with(claims.clone(), "act", json!({"sub": 1})), Some(Claim)),
        (with(claims.clone(), "act", json!({"sub": "s"})), None),
        (without(claims.clone(), "scope"), None),
        (json!([claims]), Some(BadClaims)),
        (json!("claims"), Some(BadClaims)),
    ];
    for (claims, expected) in table {
        assert_eq!(world.claims(&claims), expected, "{claims}");
    }
    for (text, expected) in [
        ("", TokenError::NotCompact),
        ("{", BadClaims),
        ("null", BadClaims),
        (r#"{"exp":NaN}"#, BadClaims),
        (r#"{"exp":1e400}"#, BadClaims),
        ("\u{feff}{}", BadClaims),
        (&"[".repeat(3000), BadClaims),
    ] {
        assert_eq!(world.claims_text(text), Some(expected), "{text}");
    }
}

#[test]
fn times_have_exact_boundaries() {
    use TokenError::{Expired, NotYetValid};
    let world = World::new();
    let table = [
        ("exp", json!(NOW - 59), None),
        ("exp", json!(NOW - 60), Some(Expired)),
        ("exp", json!(NOW - 61), Some(Expired)),
        ("exp", json!(0), Some(Expired)),
        ("exp", json!(1_799_999_940.5), None),
        ("exp", json!(1_799_999_939.5), Some(Expired)),
        ("exp", json!((1_u64 << 53) - 1), None),
        ("nbf", json!(NOW + 60), None),
        ("nbf", json!(NOW + 61), Some(NotYetValid)),
        ("nbf", json!(1_800_000_060.5), Some(NotYetValid)),
        ("nbf", json!(0), None),
        ("iat", json!(NOW + 60), None),
        ("iat", json!(NOW + 61), Some(NotYetValid)),
    ];
    for (name, time, expected) in table {
        let claims = with(claims(), name, time);
        assert_eq!(world.claims(&claims), expected, "{claims}");
    }
    let token = world.signer.token(&header(), &claims());
    let before = signer::at(0) - Duration::from_secs(1);
    assert_eq!(verifier(issuer()).verify(&token, &world.keys, before).err(), Some(TokenError::Clock));
}

#[test]
fn settings_change_only_what_they_say() {
    let world = World::new();
    let verify = |issuer: Issuer, header: &Value, claims: &Value| {
        world.verify_with(issuer, &world.signer.token(header, claims)).err()
    };
    let exact = || issuer().skew(Duration::ZERO);
    assert_eq!(verify(exact(), &header(), &with(claims(), "exp", NOW + 1)), None);
    assert_eq!(verify(exact(), &header(), &with(claims(), "exp", NOW)), Some(TokenError::Expired));
    assert_eq!(verify(exact(), &header(), &with(claims(), "nbf", NOW)), None);
    let short = || issuer().max_lifetime(Duration::from_secs(610));
    assert_eq!(verify(short(), &header(), &claims()), None);
    assert_eq!(verify(short(), &header(), &with(claims(), "exp", NOW + 601)), Some(TokenError::Lifetime));
    assert_eq!(verify(short(), &header(), &without(claims(), "iat")), Some(TokenError::BadTime));
    let required = || issuer().require(["jti", "sub"]);
    assert_eq!(verify(required(), &header(), &claims()), None);
    assert_eq!(verify(required(), &header(), &without(claims(), "jti")), Some(TokenError::Claim));
    // Null counts as absent, also in claims that are only required to be there.
    let tenant = || issuer().require(["tenant"]);
    assert_eq!(verify(tenant(), &header(), &with(claims(), "tenant", 7)), None);
    for claims in [claims(), with(claims(), "tenant", Value::Null)] {
        assert_eq!(verify(tenant(), &header(), &claims), Some(TokenError::Claim));
    }
    // The largest allowance for clocks.
    let widest = || issuer().skew(Duration::from_secs(300));
    for (name, time, expected) in [
        ("exp", NOW - 299, None),
        ("exp", NOW - 300, Some(TokenError::Expired)),
        ("nbf", NOW + 300, None),
        ("nbf", NOW + 301, Some(TokenError::NotYetValid)),
    ] {
        let claims = with(claims(), name, time);
        assert_eq!(verify(widest(), &header(), &claims), expected, "{claims}");
    }
    let typed = || issuer().extra_types(["JWT"]);
    assert_eq!(verify(typed(), &with(header(), "typ", "JWT"), &claims()), None);
    assert_eq!(verify(typed(), &with(header(), "typ", "jwt"), &claims()), Some(TokenError::Type));
    assert_eq!(verify(typed(), &without(header(), "typ"), &claims()), Some(TokenError::Type));
    assert_eq!(verify(issuer().extra_types([""]), &without(header(), "typ"), &claims()), None);
    let bound = with(claims(), "cnf", json!({"jkt": "x"}));
    assert_eq!(verify(issuer().allow_unverified_cnf(), &header(), &bound), None);
}

#[test]
fn an_actor_is_recorded_and_widens_nothing() {
    let world = World::new();
    let claims = with(claims(), "act", json!({"sub": "service-3", "act": {"sub": "service-2"}, "scope": "write:keys"}));
    let verified = world.verify(&world.signer.token(&header(), &claims)).unwrap();
    assert_eq!(verified.actor(), Some("service-3"));
    assert_eq!(verified.kind(), TokenKind::User);
    assert_eq!(verified.scopes(), "read:account write:voxies");
}

#[test]
fn an_introspected_token_is_judged_as_every_other() {
    use TokenError::{Audience, BadClaims, BadTime, Bound, DuplicateMember, Expired, Inactive, Issuer};
    let verifier = verifier(issuer());
    let verify = |answer: String| verifier.verify_introspected("opaque", answer, now());
    let answer = with(claims(), "active", true);
    let verified = verify(answer.to_string()).unwrap();
    assert_eq!(verified.kind(), TokenKind::User);
    assert_eq!(verified.scopes(), "read:account write:voxies");
    let table = [
        (json!({"active": false}), Inactive),
        (claims(), Inactive),
        (with(answer.clone(), "active", "true"), Inactive),
        (with(answer.clone(), "active", 1), Inactive),
        (without(answer.clone(), "iss"), Issuer),
        (without(answer.clone(), "aud"), Audience),
        (without(answer.clone(), "exp"), BadTime),
        (with(answer.clone(), "exp", NOW - 60), Expired),
        (with(answer.clone(), "cnf", json!({})), Bound),
        (json!([answer]), BadClaims),
    ];
    for (answer, error) in table {
        assert_eq!(verify(answer.to_string()).err(), Some(error), "{answer}");
    }
    let twice = format!(r#"{{"active":false,{}"#, &answer.to_string()[1..]);
    assert_eq!(verify(twice).err(), Some(DuplicateMember));
}

/// Entra ID: users have scopes in `scp`, and applications in `roles`, which users can have as well.
const ENTRA: &str = "
orbgate_token: 1
issuers:
  - issuer: https://id.example.com
    audience: https://api.example.com
    algorithms: [ES256]
    kind:
      user: [{ claim: scp, present: true }]
      organisation: [{ claim: idtyp, equals: app }]
    scopes: { claim: scp }
    organisation_scopes: { claim: roles, format: array }
";

#[test]
fn each_kind_of_token_has_its_own_claim_of_scopes() {
    use TokenError::Scopes;
    let world = World::new();
    let read = |yaml: &str| Verifier::from_yaml(yaml).unwrap();
    let verify = |yaml: &str, members: &Value| {
        let mut claims = without(claims(), "scope");
        for (name, value) in members.as_object().unwrap() {
            claims = with(claims, name, value.clone());
        }
        let token = world.signer.token(&header(), &claims);
        let verified = read(yaml).verify(token, &world.keys, now());
        let answer = with(claims, "active", true).to_string();
        let introspected = read(yaml).verify_introspected("opaque", answer, now());
        let shown = |verified: Result<VerifiedToken, TokenError>| {
            verified.map(|verified| (verified.kind(), verified.scopes().to_owned()))
        };
        let verified = shown(verified);
        assert_eq!(verified, shown(introspected), "{members}");
        verified
    };
    let user = |scopes: &str| Ok((TokenKind::User, scopes.to_owned()));
    let application = |scopes: &str| Ok((TokenKind::Organisation, scopes.to_owned()));
    let unknown = Ok((TokenKind::Unknown, String::new()));
    let table = [
        (json!({"scp": "a b"}), user("a b")),
        (json!({"idtyp": "app", "roles": ["a", "b"]}), application("a b")),
        (json!({"idtyp": "app", "roles": []}), application("")),
        (json!({"idtyp": "app"}), application("")),
        // A user's roles never count, whatever they are.
        (json!({"scp": "a", "roles": ["b"]}), user("a")),
        (json!({"scp": "a", "roles": 7}), user("a")),
        (json!({"scp": "", "roles": ["a"]}), user("")),
        (json!({"scp": "a", "idtyp": "user", "roles": ["b"]}), user("a")),
        // Null isn't a scope, and isn't absent.
        (json!({"scp": null, "roles": ["a"]}), Err(Scopes)),
        (json!({"scp": ["a"], "roles": ["b"]}), Err(Scopes)),
        // Roles prove nothing about the kind.
        (json!({"roles": ["a"]}), unknown.clone()),
        (json!({"idtyp": ["app"], "roles": ["a"]}), unknown.clone()),
        (json!({"idtyp": "App", "roles": ["a"]}), unknown),
        (json!({"idtyp": "app", "scp": "a", "roles": ["b"]}), Ok((TokenKind::Unknown, "a".to_owned()))),
        // An application's token with a user's claim, which its kind doesn't see, is refused.
        (json!({"idtyp": "app", "scp": null, "roles": ["a"]}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": "a"}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": "a b"}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": {"a": true}}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": null}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": ["a b"]}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": ["a", 7]}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": [["a"]]}), Err(Scopes)),
        (json!({"idtyp": "app", "roles": [""]}), Err(Scopes)),
    ];
    for (members, expected) in table {
        assert_eq!(verify(ENTRA, &members), expected, "{members}");
    }
    // If its conflict is ignored, only its own claim counts.
    let ignoring = ENTRA.replace("format: array }", "format: array, conflict: ignore }");
    let both = json!({"idtyp": "app", "scp": null, "roles": ["a"]});
    assert_eq!(verify(&ignoring, &both), application("a"));
    let both = json!({"idtyp": "app", "scp": null});
    assert_eq!(verify(&ignoring, &both), application(""));
    // Without the key, an application has no scopes.
    let without = ENTRA.replace("    organisation_scopes: { claim: roles, format: array }\n", "");
    let roles = json!({"idtyp": "app", "roles": ["a"]});
    assert_eq!(verify(&without, &roles), application(""));
}

#[test]
fn a_claim_of_organisations_needs_two_kinds_and_another_name() {
    let with = |from: &str, to: &str| {
        let yaml = ENTRA.replace(from, to);
        assert_ne!(yaml, ENTRA, "{from}");
        Verifier::from_yaml(&yaml).unwrap_err().to_string()
    };
    let tests = "kind:
      user: [{ claim: scp, present: true }]
      organisation: [{ claim: idtyp, equals: app }]
";
    let mut expected = Expected::default();
    for (from, to) in [
        (tests, "kind: user\n"),
        (tests, "kind: organisation\n"),
        ("      user: [{ claim: scp, present: true }]\n", ""),
        ("claim: roles", "claim: scp"),
        ("claim: roles", "claim: ''"),
    ] {
        expected.add(&format!("{from} -> {to}"), [with(from, to)]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "claims: of organisations");
}

#[test]
fn an_explanation_names_the_claim_of_its_kind() {
    let world = World::new();
    let hint = |members: &Value| {
        let mut claims = without(claims(), "scope");
        for (name, value) in members.as_object().unwrap() {
            claims = with(claims, name, value.clone());
        }
        let token = world.signer.token(&header(), &claims);
        let verifier = Verifier::from_yaml(ENTRA).unwrap();
        verifier.explain(token, Some(&world.keys), now()).hint
    };
    let table = [
        json!({"idtyp": "app", "roles": "a"}),
        json!({"idtyp": "app", "scp": null, "roles": ["a"]}),
        json!({"idtyp": "app", "scp": null}),
        json!({"scp": ["a"]}),
        json!({"scp": "a", "scope": "a"}),
        json!({"idtyp": "app", "roles": [""]}),
    ];
    let mut expected = Expected::default();
    for members in table {
        expected.add(&members.to_string(), hint(&members));
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "claims: hints");
}

/// What a person reads who asks why everything is 401: each cause by its name.
#[test]
fn an_explanation_names_the_cause() {
    let (signer, other, rsa) = (Signer::p256(), Signer::p256(), Signer::rsa());
    let verifier = verifier(issuer().algorithms([Algorithm::Es256, Algorithm::Rs256]));
    let explain = |token: &str, jwks: &[Value]| {
        let explained = verifier.explain(token, Some(&keys(jwks)), now());
        let code = explained.refused.map_or("accepted", |refused| refused.as_str());
        format!("{code}: {}", explained.hint.unwrap_or_default())
    };
    let own = signer.jwk("key-1");
    let token = |header: &Value, claims: &Value| signer.token(header, claims);
    let right = token(&header(), &claims());
    let short = json!({"kty": "RSA", "kid": "key-1", "e": "AQAB", "n": base64url([0xff; 128])});
    let (nameless, second) = (without(header(), "kid"), other.jwk("key-2"));
    let mut expected = Expected::default();
    let rows = [
        ("two keys with its name", right.clone(), vec![own.clone(), other.jwk("key-1"), second.clone()]),
        ("a key that is too short", right.clone(), vec![short, second.clone()]),
        ("a key for encryption", right.clone(), vec![with(own.clone(), "use", "enc"), second.clone()]),
        ("a key for another algorithm", right.clone(), vec![rsa.jwk("key-1")]),
        ("no such key", right.clone(), vec![second.clone()]),
        ("another key of its name", right, vec![other.jwk("key-1")]),
        ("no name, and two keys", token(&nameless, &claims()), vec![own.clone(), second]),
        ("no name, and a key for another algorithm", token(&nameless, &claims()), vec![rsa.jwk("key-1")]),
        ("an end that is text", token(&header(), &with(claims(), "exp", "1800000600")), vec![own.clone()]),
        ("an issuer in a list", token(&header(), &with(claims(), "iss", json!([ISSUER]))), vec![own.clone()]),
        ("an empty file", String::new(), vec![own.clone()]),
        ("a token that is too long", "a".repeat(16_385), vec![own.clone()]),
        ("no claim with scopes", token(&header(), &without(claims(), "scope")), vec![own.clone()]),
        (
            "scopes in other claims",
            token(&header(), &with(without(claims(), "scope"), "permissions", json!(["a"]))),
            vec![own],
        ),
    ];
    for (what, token, jwks) in rows {
        expected.add(what, [explain(&token, &jwks)]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "hints: the cause");
}

/// Of each kind, the account that a configuration makes of a token.
#[test]
fn each_kind_of_token_has_its_own_account() {
    let signer = Signer::p256();
    let keys = keys(&[signer.jwk("key-1")]);
    let (user, organisation) = (TokenKind::User, TokenKind::Organisation);
    let account = |issuer: Issuer, changed: &[(&str, Value)]| {
        let claims = changed.iter().fold(claims(), |claims, (name, value)| with(claims, name, value.clone()));
        let verified = verifier(issuer).verify(signer.token(&header(), &claims), &keys, now()).unwrap();
        verified.account().map(str::to_owned)
    };
    let kind = ("token_kind", json!("organisation"));
    let (sub, client) = (("sub", json!("user#1")), ("client_id", json!("app%2")));
    // Nothing is assumed.
    assert_eq!(account(issuer(), from_ref(&sub)), None);
    let both = issuer().account(user, AccountClaim::Subject).account(organisation, AccountClaim::Client);
    let of = |changed: &[(&str, Value)]| account(both.clone(), changed);
    assert_eq!(of(from_ref(&sub)).unwrap(), format!("{ISSUER}#user#1"));
    assert_eq!(of(&[sub.clone(), client.clone(), kind.clone()]).unwrap(), format!("{ISSUER}#app%252"));
    assert_eq!(of(&[("token_kind", json!("robot")), sub.clone()]), None);
    assert_eq!(of(&[("sub", json!(""))]), None);
    let only = issuer().account(organisation, AccountClaim::Subject);
    assert_eq!(account(only.clone(), from_ref(&sub)), None);
    assert!(account(only, &[sub.clone(), kind]).is_some());
    // A token stays valid without the claim: only calls that consume orbs need it.
    let claim = issuer().account(user, AccountClaim::Claim("team".to_owned()));
    let of = |value| account(claim.clone(), &[("team", value)]);
    assert_eq!(of(json!("blue")).unwrap(), format!("{ISSUER}#blue"));
    for other in [json!(null), json!(7), json!(["blue"]), json!({"id": "blue"}), json!("b".repeat(500))] {
        assert_eq!(of(other.clone()), None, "{other}");
    }
}

/// An introspected token has its account from the same claims.
#[test]
fn an_introspected_token_has_an_account() {
    let issuer = issuer().account(TokenKind::User, AccountClaim::Subject);
    let verifier = verifier(issuer);
    let answer = with(with(claims(), "active", true), "sub", "alice");
    let verified = verifier.verify_introspected("opaque", answer.to_string(), now()).unwrap();
    assert_eq!(verified.account().unwrap(), format!("{ISSUER}#alice"));
}
