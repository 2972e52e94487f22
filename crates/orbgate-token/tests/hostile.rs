//! Tokens whose form or header must be refused, each for its own reason, and similar tokens that are
//! accepted.

use orbgate::TokenKind;
use orbgate_testing::signer;
use orbgate_testing::signer::{
    ISSUER, NOW, Signer, World, base64url, claims, header, issuer, key_set, keys, now, verifier, with, without,
};
use orbgate_token::{KeySet, Keys, TokenError, VerifiedToken};
use serde_json::{Value, json};

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
    assert_eq!(verified.expires(), signer::at(NOW + 600));
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
    let [head, body, signature] = parts[..] else { unreachable!() };
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
        (token.replacen('.', "~.", 1), BadEncoding),
        (json!({"payload": body, "protected": head, "signature": signature}).to_string(), NotCompact),
        ("a".repeat(16_385), TooLong),
    ];
    for (token, error) in table {
        assert_eq!(world.verify(&token).err(), Some(error), "{token}");
    }
    assert!(world.verify(&token).is_ok());
}

#[test]
fn a_token_has_16384_bytes_at_most_or_as_many_as_configured() {
    let world = World::new();
    // No number of bytes is encoded in 4n + 1 characters, so the header may have to grow, too.
    let of_length = |length: usize| {
        let fill = |bytes: usize| "x".repeat(bytes);
        let token = |header_fill, claims_fill| {
            let header = with(header(), "fill", fill(header_fill));
            let claims = with(claims(), "fill", fill(claims_fill));
            world.signer.token(&header, &claims)
        };
        let claims_fill = (length - token(0, 0).len()) * 3 / 4;
        let near = (0..4).flat_map(|header| (0..4).map(move |claims| (header, claims)));
        let mut tokens = near.map(|(header, claims)| token(header, claims_fill - 4 + claims));
        tokens.find(|token| token.len() == length).unwrap()
    };
    for most in [None, Some(8_192), Some(65_536), Some(usize::MAX)] {
        let verifier = match most {
            None => verifier(issuer()),
            Some(most) => verifier(issuer()).max_token_bytes(most),
        };
        let most = most.unwrap_or(16_384).min(65_536);
        assert_eq!(verifier.longest_token(), most);
        let keys = keys(&[world.signer.jwk("key-1")]);
        let verify = |length: usize| {
            let token = of_length(length);
            let verified = verifier.verify(&token, &keys, now()).err();
            let checked = verifier.check(&token, &keys, now()).err();
            assert_eq!(verified, checked);
            verified
        };
        assert_eq!(verify(most - 1), None);
        assert_eq!(verify(most), None);
        assert_eq!(verify(most + 1), Some(TokenError::TooLong));
    }
}

#[test]
fn a_key_id_has_256_bytes_at_most() {
    let signer = Signer::p256();
    let verify = |bytes: usize| {
        let kid = "k".repeat(bytes);
        let token = signer.token(&with(header(), "kid", kid.as_str()), &claims());
        verifier(issuer()).verify(token, &keys(&[signer.jwk(&kid)]), now()).err()
    };
    assert_eq!(verify(256), None);
    assert_eq!(verify(257), Some(TokenError::BadHeader));
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
        (with(with(header.clone(), "crit", json!(["b64"])), "b64", false), Some(Extension)),
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
        (with(header.clone(), "alg", json!(["ES256"])), Some(BadHeader)),
        (without(header.clone(), "alg"), Some(BadHeader)),
        (with(header.clone(), "typ", "JWT"), Some(Type)),
        (with(header.clone(), "typ", "id+jwt"), Some(Type)),
        (with(header.clone(), "typ", "logout+jwt"), Some(Type)),
        (with(header.clone(), "typ", "dpop+jwt"), Some(Type)),
        (with(header.clone(), "typ", "at+jwt "), Some(Type)),
        (with(header.clone(), "typ", ""), Some(Type)),
        (with(header.clone(), "typ", json!(7)), Some(BadHeader)),
        (without(header.clone(), "typ"), Some(Type)),
        (with(header.clone(), "typ", "AT+JWT"), None),
        (with(header.clone(), "typ", "application/at+jwt"), None),
        (with(header.clone(), "kid", "key-2"), Some(KeyUnknown)),
        (with(header.clone(), "kid", "KEY-1"), Some(KeyUnknown)),
        (with(header.clone(), "kid", "key-1 "), Some(KeyUnknown)),
        (with(header.clone(), "kid", "key-1\r\nforged: line"), Some(KeyUnknown)),
        (with(header.clone(), "kid", ""), Some(KeyUnknown)),
        (with(header.clone(), "kid", "../key-1"), Some(KeyUnknown)),
        (with(header.clone(), "kid", "k".repeat(257)), Some(BadHeader)),
        (with(header.clone(), "kid", json!(1)), Some(BadHeader)),
        (without(header.clone(), "kid"), None), // there is one key only
        // A token that brings its own key is checked with ours.
        (with(header.clone(), "jku", "https://evil.example/jwks"), None),
        (with(header.clone(), "x5u", "https://evil.example/x5u"), None),
        (with(header.clone(), "x5c", json!(["MIIB"])), None),
        (with(header.clone(), "jwk", Signer::p256().jwk("key-1")), None),
    ];
    for (header, expected) in table {
        assert_eq!(world.header(&header), expected, "{header}");
    }
    let other = Signer::p256();
    for (name, value) in [
        ("jwk", other.jwk("key-1")),
        ("jku", json!("https://evil.example/jwks")),
        ("x5u", json!("https://evil.example/x5u")),
        ("x5c", json!(["MIIB"])),
    ] {
        let forged = other.token(&with(header.clone(), name, value), &claims());
        assert_eq!(world.verify(&forged).err(), Some(TokenError::Signature), "{name}");
    }
    let two = keys(&[world.signer.jwk("key-1"), other.jwk("key-2")]);
    let named = world.signer.token(&with(header.clone(), "kid", "key-2"), &claims());
    assert_eq!(verifier(issuer()).verify(&named, &two, now()).err(), Some(TokenError::Signature));
    let nameless = world.signer.token(&without(header, "kid"), &claims());
    assert_eq!(verifier(issuer()).verify(&nameless, &two, now()).err(), Some(KeyIdMissing));
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
        assert_eq!(world.claims_text(&more(twice)), Some(TokenError::DuplicateMember), "{twice}");
    }
    assert_eq!(world.claims_text(&more(r#""deep":{"a":1,"b":{"a":1}}"#)), None);
    for twice in [
        r#"{"alg":"ES256","alg":"ES256","typ":"at+jwt","kid":"key-1"}"#,
        r#"{"alg":"none","typ":"at+jwt","kid":"key-1","alg":"ES256"}"#,
        r#"{"alg":"ES256","typ":"at+jwt","kid":"key-1","kid":"key-1"}"#,
    ] {
        let token = world.signer.token_of(twice, &text);
        assert_eq!(world.verify(&token).err(), Some(TokenError::DuplicateMember));
    }
}

#[test]
fn nothing_of_a_token_or_key_is_shown() {
    let world = World::new();
    let secrets = ["user-7", "app-1", "token-1", "write:voxies", "key-1"];
    let token = world.signer.token(&header(), &claims());
    let verified = world.verify(&token).unwrap();
    let set = key_set(&[world.signer.jwk("key-1"), json!({"kty": "oct", "k": "c2VjcmV0"})]);
    let mut shown = format!("{verified:?} {set:?} {:?} {}", world.keys, set.warnings()[0]);
    for error in TokenError::ALL {
        shown.push_str(&format!("{error} {error:?} "));
    }
    let x = world.signer.jwk("")["x"].as_str().unwrap().to_owned();
    for secret in secrets.into_iter().chain([x.as_str()]).chain(token.split('.')) {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    let fingerprint = verified.fingerprint().to_string();
    assert_eq!(fingerprint.len(), 16);
    assert_eq!(world.verify(&token).unwrap().fingerprint(), verified.fingerprint());
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
