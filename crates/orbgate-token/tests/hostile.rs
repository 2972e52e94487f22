//! Tokens that must be refused, each for the reason it is refused for, and their honest neighbours.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unreachable,
    reason = "a test computes freely and fails by panicking"
)]

mod support;

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_token::{Algorithm, Issuer, KeySet, Keys, TokenError, VerifiedToken};
use serde_json::{Value, json};
use support::{
    AUDIENCE, ISSUER, NOW, Signer, base64url, claims, header, issuer, key_set, keys, now,
    random_secret, verifier, with, without,
};

struct World {
    signer: Signer,
    keys: Keys,
}

impl World {
    fn new() -> Self {
        let signer = Signer::p256();
        let keys = keys(&[signer.jwk("key-1")]);
        Self { signer, keys }
    }

    fn verify_with(&self, issuer: Issuer, token: &str) -> Result<VerifiedToken, TokenError> {
        verifier(issuer).verify(token, &self.keys, now())
    }

    fn verify(&self, token: &str) -> Result<VerifiedToken, TokenError> {
        self.verify_with(issuer(), token)
    }

    fn header(&self, header: &Value) -> Option<TokenError> {
        self.verify(&self.signer.token(header, &claims())).err()
    }

    fn claims(&self, claims: &Value) -> Option<TokenError> {
        self.verify(&self.signer.token(&header(), claims)).err()
    }

    fn claims_text(&self, claims: &str) -> Option<TokenError> {
        let token = self.signer.token_of(&header().to_string(), claims);
        self.verify(&token).err()
    }
}

#[test]
fn an_honest_token_says_what_it_is() {
    let world = World::new();
    let token = world.signer.token(&header(), &claims());
    let verified = world.verify(&token).unwrap();
    assert_eq!(verified.kind(), TokenKind::User);
    assert_eq!(verified.scopes(), "read:account write:voxies");
    assert_eq!(verified.issuer(), ISSUER);
    assert_eq!(verified.subject(), Some("user-7"));
    assert_eq!(verified.client(), Some("app-1"));
    assert_eq!(verified.id(), Some("token-1"));
    assert_eq!(verified.actor(), None);
    assert_eq!(verified.expires(), support::at(NOW + 600));
    let decision = orbgate::Engine::external().decide(&orbgate::Request {
        method: b"GET",
        target: b"/api/v1/external/account",
        token: Some(verified.token()),
        allow_bonus_orbs_use: false,
    });
    assert_eq!(decision.reason().as_str(), "scope_held");
}

#[test]
fn the_serialisation_has_one_spelling() {
    use TokenError::{BadEncoding, NotCompact, TooLong};
    let world = World::new();
    let token = world.signer.token(&header(), &claims());
    let parts: Vec<&str> = token.split('.').collect();
    let [head, body, signature] = parts[..] else {
        unreachable!()
    };
    let table = [
        (String::new(), NotCompact),
        (".".into(), NotCompact),
        ("..".into(), NotCompact),
        (format!("{head}.{body}"), NotCompact),
        (format!("{head}.{body}."), NotCompact),
        (format!("{head}..{signature}"), NotCompact),
        (format!(".{body}.{signature}"), NotCompact),
        (format!("{token}."), NotCompact),
        (format!("{token}.x"), NotCompact),
        (format!("{token}.a.b"), NotCompact), // five parts: a JWE
        (format!("{token}="), BadEncoding),
        (format!("{token}\n"), BadEncoding),
        (format!(" {token}"), BadEncoding),
        (format!("{head}.{body}=.{signature}"), BadEncoding),
        (token.replacen('.', "+.", 1), BadEncoding),
        (token.replacen('.', "%.", 1), BadEncoding),
        (
            json!({"payload": body, "protected": head, "signature": signature}).to_string(),
            NotCompact,
        ),
        ("a".repeat(8193), TooLong),
    ];
    for (token, error) in table {
        assert_eq!(world.verify(&token).err(), Some(error), "{token}");
    }
    assert!(world.verify(&token).is_ok());
}

#[test]
fn signatures_have_no_stray_bits() {
    // 64 bytes take 86 characters, the last of which has four bits to spare.
    let world = World::new();
    let token = world.signer.token(&header(), &claims());
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = token.chars().last().unwrap();
    let start = &token[..token.len() - 1];
    for other in alphabet.chars().filter(|other| *other != last) {
        assert!(world.verify(&format!("{start}{other}")).is_err());
    }
}

#[test]
fn headers_that_change_the_meaning_are_refused() {
    use TokenError::{Algorithm, BadHeader, Extension, KeyIdMissing, KeyUnknown, Type};
    let world = World::new();
    let header = header();
    let table = [
        (with(header.clone(), "crit", json!(["x"])), Some(Extension)),
        (with(header.clone(), "crit", json!([])), Some(Extension)),
        (with(header.clone(), "crit", Value::Null), Some(Extension)),
        (
            with(with(header.clone(), "crit", json!(["b64"])), "b64", false),
            Some(Extension),
        ),
        (with(header.clone(), "b64", true), Some(Extension)),
        (with(header.clone(), "zip", "DEF"), Some(Extension)),
        (with(header.clone(), "enc", "A128GCM"), Some(Extension)),
        (with(header.clone(), "alg", "none"), Some(Algorithm)),
        (with(header.clone(), "alg", "None"), Some(Algorithm)),
        (with(header.clone(), "alg", "es256"), Some(Algorithm)),
        (with(header.clone(), "alg", "ES384"), Some(Algorithm)),
        (with(header.clone(), "alg", "RS256"), Some(Algorithm)),
        (with(header.clone(), "alg", "HS256"), Some(Algorithm)),
        (with(header.clone(), "alg", ""), Some(Algorithm)),
        (
            with(header.clone(), "alg", json!(["ES256"])),
            Some(BadHeader),
        ),
        (without(header.clone(), "alg"), Some(BadHeader)),
        (with(header.clone(), "typ", "JWT"), Some(Type)),
        (with(header.clone(), "typ", "id+jwt"), Some(Type)),
        (with(header.clone(), "typ", "at+jwt "), Some(Type)),
        (with(header.clone(), "typ", ""), Some(Type)),
        (with(header.clone(), "typ", json!(7)), Some(BadHeader)),
        (without(header.clone(), "typ"), Some(Type)),
        (with(header.clone(), "typ", "AT+JWT"), None),
        (with(header.clone(), "typ", "application/at+jwt"), None),
        (with(header.clone(), "kid", "key-2"), Some(KeyUnknown)),
        (with(header.clone(), "kid", "KEY-1"), Some(KeyUnknown)),
        (with(header.clone(), "kid", ""), Some(KeyUnknown)),
        (with(header.clone(), "kid", "../key-1"), Some(KeyUnknown)),
        (
            with(header.clone(), "kid", "k".repeat(257)),
            Some(BadHeader),
        ),
        (with(header.clone(), "kid", json!(1)), Some(BadHeader)),
        (without(header.clone(), "kid"), None), // there is one key only
        // A token that brings its own key is checked with ours.
        (
            with(header.clone(), "jku", "https://evil.example/jwks"),
            None,
        ),
        (
            with(header.clone(), "x5u", "https://evil.example/x5u"),
            None,
        ),
        (with(header.clone(), "x5c", json!(["MIIB"])), None),
        (
            with(header.clone(), "jwk", Signer::p256().jwk("key-1")),
            None,
        ),
    ];
    for (header, expected) in table {
        assert_eq!(world.header(&header), expected, "{header}");
    }
    let other = Signer::p256();
    let forged = with(header.clone(), "jwk", other.jwk("key-1"));
    let forged = other.token(&forged, &claims());
    assert_eq!(world.verify(&forged).err(), Some(TokenError::Signature));
    let two = keys(&[world.signer.jwk("key-1"), other.jwk("key-2")]);
    let nameless = world.signer.token(&without(header, "kid"), &claims());
    assert_eq!(
        verifier(issuer()).verify(&nameless, &two, now()).err(),
        Some(KeyIdMissing)
    );
}

#[test]
fn members_come_once() {
    let world = World::new();
    let text = claims().to_string();
    let more = |more: &str| format!("{},{more}}}", text.trim_end_matches('}'));
    for twice in [
        r#""scope":"read:account write:keys""#,
        r#""exp":9999999999"#,
        r#""iss":"https://id.example.com""#,
        r#""aud":"x""#,
        r#""token_kind":"organisation""#,
        r#""s\u0063ope":"x""#,
        r#""deep":{"a":[{"b":1,"b":1}]}"#,
    ] {
        assert_eq!(
            world.claims_text(&more(twice)),
            Some(TokenError::DuplicateMember),
            "{twice}"
        );
    }
    assert_eq!(
        world.claims_text(&more(r#""deep":{"a":1,"b":{"a":1}}"#)),
        None
    );
    for twice in [
        r#"{"alg":"ES256","alg":"ES256","typ":"at+jwt","kid":"key-1"}"#,
        r#"{"alg":"none","typ":"at+jwt","kid":"key-1","alg":"ES256"}"#,
        r#"{"alg":"ES256","typ":"at+jwt","kid":"key-1","kid":"key-1"}"#,
    ] {
        let token = world.signer.token_of(twice, &text);
        assert_eq!(
            world.verify(&token).err(),
            Some(TokenError::DuplicateMember)
        );
    }
}

#[test]
fn claims_have_the_types_that_they_must_have() {
    use TokenError::{Audience, BadClaims, BadTime, Bound, Claim, Issuer, Scopes};
    let world = World::new();
    let claims = claims();
    let evil = "https://evil.example";
    let table = [
        (without(claims.clone(), "iss"), Some(Issuer)),
        (with(claims.clone(), "iss", evil), Some(Issuer)),
        (
            with(claims.clone(), "iss", format!("{ISSUER}/")),
            Some(Issuer),
        ),
        (with(claims.clone(), "iss", json!([ISSUER])), Some(Issuer)),
        (
            with(claims.clone(), "iss", json!([evil, ISSUER])),
            Some(Issuer),
        ),
        (
            with(claims.clone(), "iss", json!({"a": ISSUER})),
            Some(Issuer),
        ),
        (with(claims.clone(), "iss", Value::Null), Some(Issuer)),
        (without(claims.clone(), "aud"), Some(Audience)),
        (with(claims.clone(), "aud", 7), Some(Audience)),
        (with(claims.clone(), "aud", evil), Some(Audience)),
        (with(claims.clone(), "aud", json!([])), Some(Audience)),
        (with(claims.clone(), "aud", json!([evil])), Some(Audience)),
        (
            with(claims.clone(), "aud", json!([AUDIENCE, 7])),
            Some(Audience),
        ),
        (
            with(claims.clone(), "aud", json!([[AUDIENCE]])),
            Some(Audience),
        ),
        (with(claims.clone(), "aud", json!([evil, AUDIENCE])), None),
        (without(claims.clone(), "exp"), Some(BadTime)),
        (with(claims.clone(), "exp", "never"), Some(BadTime)),
        (
            with(claims.clone(), "exp", (NOW + 9).to_string()),
            Some(BadTime),
        ),
        (with(claims.clone(), "exp", Value::Null), Some(BadTime)),
        (with(claims.clone(), "exp", -1), Some(BadTime)),
        (with(claims.clone(), "exp", 1e18), Some(BadTime)),
        (with(claims.clone(), "exp", u64::MAX), Some(BadTime)),
        (with(claims.clone(), "exp", 1_u64 << 53), Some(BadTime)),
        (with(claims.clone(), "exp", json!([NOW])), Some(BadTime)),
        (with(claims.clone(), "nbf", "now"), Some(BadTime)),
        (with(claims.clone(), "iat", true), Some(BadTime)),
        (
            with(claims.clone(), "cnf", json!({"jkt": "x"})),
            Some(Bound),
        ),
        (with(claims.clone(), "cnf", Value::Null), Some(Bound)),
        (with(claims.clone(), "scope", json!(["a"])), Some(Scopes)),
        (with(claims.clone(), "scope", "a  b"), Some(Scopes)),
        (with(claims.clone(), "scp", "a"), Some(Scopes)),
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
    let before = support::at(0) - Duration::from_secs(1);
    assert_eq!(
        verifier(issuer()).verify(&token, &world.keys, before).err(),
        Some(TokenError::Clock)
    );
}

#[test]
fn settings_change_only_what_they_say() {
    let world = World::new();
    let verify = |issuer: Issuer, header: &Value, claims: &Value| {
        world
            .verify_with(issuer, &world.signer.token(header, claims))
            .err()
    };
    let exact = || issuer().skew(Duration::ZERO);
    assert_eq!(
        verify(exact(), &header(), &with(claims(), "exp", NOW + 1)),
        None
    );
    assert_eq!(
        verify(exact(), &header(), &with(claims(), "exp", NOW)),
        Some(TokenError::Expired)
    );
    assert_eq!(
        verify(exact(), &header(), &with(claims(), "nbf", NOW)),
        None
    );
    let short = || issuer().max_lifetime(Duration::from_secs(610));
    assert_eq!(verify(short(), &header(), &claims()), None);
    assert_eq!(
        verify(short(), &header(), &with(claims(), "exp", NOW + 601)),
        Some(TokenError::Lifetime)
    );
    assert_eq!(
        verify(short(), &header(), &without(claims(), "iat")),
        Some(TokenError::BadTime)
    );
    let required = || issuer().require(["jti", "sub"]);
    assert_eq!(verify(required(), &header(), &claims()), None);
    assert_eq!(
        verify(required(), &header(), &without(claims(), "jti")),
        Some(TokenError::Claim)
    );
    let typed = || issuer().extra_types(["JWT"]);
    assert_eq!(
        verify(typed(), &with(header(), "typ", "JWT"), &claims()),
        None
    );
    assert_eq!(
        verify(typed(), &with(header(), "typ", "jwt"), &claims()),
        Some(TokenError::Type)
    );
    assert_eq!(
        verify(typed(), &without(header(), "typ"), &claims()),
        Some(TokenError::Type)
    );
    assert_eq!(
        verify(
            issuer().extra_types([""]),
            &without(header(), "typ"),
            &claims()
        ),
        None
    );
    let bound = with(claims(), "cnf", json!({"jkt": "x"}));
    assert_eq!(
        verify(issuer().allow_unverified_cnf(), &header(), &bound),
        None
    );
}

#[test]
fn an_actor_is_recorded_and_widens_nothing() {
    let world = World::new();
    let claims = with(
        claims(),
        "act",
        json!({"sub": "service-3", "act": {"sub": "service-2"}, "scope": "write:keys"}),
    );
    let verified = world
        .verify(&world.signer.token(&header(), &claims))
        .unwrap();
    assert_eq!(verified.actor(), Some("service-3"));
    assert_eq!(verified.kind(), TokenKind::User);
    assert_eq!(verified.scopes(), "read:account write:voxies");
}

#[test]
fn a_key_is_used_only_with_its_own_algorithms() {
    let signers = [
        (
            Signer::rsa(),
            vec!["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
        ),
        (Signer::p256(), vec!["ES256"]),
        (Signer::p384(), vec!["ES384"]),
        (Signer::p521(), vec!["ES512"]),
        (Signer::ed25519(), vec!["EdDSA", "Ed25519"]),
    ];
    let asymmetric = || {
        let public = |algorithm: &Algorithm| !algorithm.as_str().starts_with("HS");
        Algorithm::ALL.into_iter().filter(public)
    };
    let every = verifier(issuer().algorithms(asymmetric()));
    for (signer, names) in &signers {
        let keys = keys(&[signer.jwk("key-1")]);
        for algorithm in asymmetric() {
            let header = with(header(), "alg", algorithm.as_str());
            let result = every.verify(signer.token(&header, &claims()), &keys, now());
            let expected = if names.contains(&algorithm.as_str()) {
                None
            } else {
                Some(TokenError::KeyMismatch)
            };
            assert_eq!(result.err(), expected, "{algorithm:?} with {names:?}");
        }
    }
    // A key that names its algorithm is for that one alone: no swap of RS256, RS384 and PS256.
    let (rsa, names) = &signers[0];
    for own in names {
        let keys = keys(&[with(rsa.jwk("key-1"), "alg", *own)]);
        for used in names {
            let token = rsa.token(&with(header(), "alg", *used), &claims());
            assert_eq!(every.verify(token, &keys, now()).is_ok(), own == used);
        }
    }
}

#[test]
fn a_public_key_is_never_a_secret() {
    // The attacker signs with the public key, in every form in which a server may hold it.
    let rsa = Signer::rsa();
    let jwk = rsa.jwk("key-1");
    let keys = keys(core::slice::from_ref(&jwk));
    let every = verifier(issuer().algorithms(Algorithm::ALL));
    let modulus = jwk["n"].as_str().unwrap();
    for secret in [jwk.to_string().into_bytes(), modulus.as_bytes().to_vec()] {
        for algorithm in ["HS256", "HS384", "HS512"] {
            let forger = Signer::Secret(secret.clone());
            let token = forger.token(&with(header(), "alg", algorithm), &claims());
            assert_eq!(
                every.verify(token, &keys, now()).err(),
                Some(TokenError::KeyMismatch)
            );
        }
    }
    // Nor does a published secret count as one.
    let secret = Signer::Secret(random_secret(64));
    let set = key_set(&[jwk, with(secret.jwk("key-2"), "alg", "HS256")]);
    assert_eq!((set.len(), set.warnings().len()), (1, 1));
}

#[test]
fn secrets_must_be_given_and_be_long() {
    for (algorithm, length) in [
        (Algorithm::Hs256, 32),
        (Algorithm::Hs384, 48),
        (Algorithm::Hs512, 64),
    ] {
        let signer = Signer::Secret(random_secret(length));
        let Signer::Secret(secret) = &signer else {
            unreachable!()
        };
        let set = KeySet::from_secrets([("key-1", algorithm, secret.as_slice())]).unwrap();
        let keys = Keys::new().with(ISSUER, set);
        let token = signer.token(&with(header(), "alg", algorithm.as_str()), &claims());
        let verify = |issuer| verifier(issuer).verify(&token, &keys, now());
        assert!(verify(issuer().algorithms([algorithm])).is_ok());
        assert_eq!(verify(issuer()).err(), Some(TokenError::Algorithm));
        assert!(KeySet::from_secrets([("key-1", algorithm, &secret[1..])]).is_err());
    }
    assert!(KeySet::from_secrets([("key-1", Algorithm::Es256, [7; 64].as_slice())]).is_err());
}

#[test]
fn issuers_do_not_lend_each_other_their_keys() {
    let (one, two) = (Signer::p256(), Signer::p256());
    let other = "https://id.example.org";
    let kind = orbgate_token::KindRules::Always(TokenKind::Organisation);
    let second = Issuer::new(other, "second", kind).algorithms([Algorithm::Es256]);
    let verifier = orbgate_token::Verifier::new([issuer(), second]).unwrap();
    let keys = keys(&[one.jwk("key-1")]);
    let both = keys.clone().with(other, key_set(&[two.jwk("key-1")]));
    let theirs = with(with(claims(), "iss", other), "aud", "second");
    let verify = |signer: &Signer, claims: &Value, keys: &Keys| {
        let token = signer.token(&header(), claims);
        verifier
            .verify(token, keys, now())
            .map(|token| token.kind())
    };
    assert_eq!(verify(&one, &claims(), &both), Ok(TokenKind::User));
    assert_eq!(verify(&two, &theirs, &both), Ok(TokenKind::Organisation));
    assert_eq!(verify(&two, &claims(), &both), Err(TokenError::Signature));
    assert_eq!(verify(&one, &theirs, &both), Err(TokenError::Signature));
    assert_eq!(verify(&two, &theirs, &keys), Err(TokenError::NoKeys));
    let wrong_audience = with(theirs, "aud", AUDIENCE);
    assert_eq!(
        verify(&two, &wrong_audience, &both),
        Err(TokenError::Audience)
    );
}

#[test]
fn an_introspected_token_is_judged_as_every_other() {
    use TokenError::{
        Audience, BadClaims, BadTime, Bound, DuplicateMember, Expired, Inactive, Issuer,
    };
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

#[test]
fn nothing_of_a_token_or_key_is_shown() {
    let world = World::new();
    let secrets = ["user-7", "app-1", "token-1", "write:voxies", "key-1"];
    let token = world.signer.token(&header(), &claims());
    let verified = world.verify(&token).unwrap();
    let set = key_set(&[
        world.signer.jwk("key-1"),
        json!({"kty": "oct", "k": "c2VjcmV0"}),
    ]);
    let mut shown = format!(
        "{verified:?} {set:?} {:?} {}",
        world.keys,
        set.warnings()[0]
    );
    for error in TokenError::ALL {
        shown.push_str(&format!("{error} {error:?} "));
    }
    let x = world.signer.jwk("")["x"].as_str().unwrap().to_owned();
    for secret in secrets
        .into_iter()
        .chain([x.as_str()])
        .chain(token.split('.'))
    {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    let fingerprint = verified.fingerprint().to_string();
    assert_eq!(fingerprint.len(), 16);
    assert_eq!(
        world.verify(&token).unwrap().fingerprint(),
        verified.fingerprint()
    );
    assert!(!base64url(token).contains(&fingerprint));
}

#[test]
fn what_is_shared_between_threads_may_be() {
    fn check<T: Send + Sync>() {}
    check::<orbgate_token::Verifier>();
    check::<Keys>();
    check::<KeySet>();
    check::<VerifiedToken>();
}
