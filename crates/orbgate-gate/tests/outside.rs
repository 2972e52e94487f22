//! Signatures that the program checks, against those that are checked in place.

use std::collections::BTreeMap;

use orbgate_testing::signer::{ISSUER, Signer, base64url, claims, header, now, with};
use orbgate_token::{KeySet, Keys, SignatureCheck, TokenError, VerifiedToken};
use serde_json::{Value, json};

use crate::exchange::verifier;

fn keys(jwks: &Value) -> Keys {
    let set = KeySet::from_jwks(json!({"keys": [jwks]}).to_string().as_bytes());
    Keys::new().with(ISSUER, set.unwrap())
}

/// Checks a signature as a program would, with no more than the question has: in place, with the key that it names.
fn check(check: &SignatureCheck) -> bool {
    let jwk: Value = serde_json::from_str(check.key()).unwrap();
    let message = core::str::from_utf8(check.message()).unwrap();
    let token = format!("{message}.{}", base64url(check.signature()));
    let mut jwk = jwk;
    jwk["kid"] = "key-1".into();
    jwk["alg"] = check.algorithm().as_str().into();
    let result = verifier().verify(token, &keys(&jwk), now());
    !matches!(result, Err(TokenError::Signature | TokenError::KeyMismatch))
}

fn outside(token: &str, keys: &Keys) -> Result<VerifiedToken, TokenError> {
    let question = verifier().check(token, keys, now())?;
    let is_right = check(&question);
    question.finish(is_right, now())
}

/// A program that hashes the token gives it the same name in logs, and another hash another one.
#[test]
fn a_program_may_hash_the_token() {
    let signer = Signer::p256();
    let known = keys(&signer.jwk("key-1"));
    let token = signer.token(&header(), &claims());
    let question = || verifier().check(&token, &known, now()).unwrap();
    assert_eq!(question().token(), token.as_bytes());
    let verified = question().finish(true, now()).unwrap();
    let name = u64::from_str_radix(&verified.fingerprint().to_string(), 16).unwrap();
    for (hash, is_same) in [(name, true), (!name, false)] {
        let hashed = question().hashed(&hash.to_be_bytes()).finish(true, now());
        assert_eq!(hashed.unwrap() == verified, is_same);
    }
    let short = question().hashed(&[1; 7]).finish(true, now());
    assert_eq!(short.unwrap(), verified);
}

#[test]
fn every_algorithm_has_the_same_verdict_outside() {
    let signers: [(Signer, &[&str]); 5] = [
        (Signer::rsa(), &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
        (Signer::p256(), &["ES256"]),
        (Signer::p384(), &["ES384"]),
        (Signer::p521(), &["ES512"]),
        (Signer::ed25519(), &["EdDSA", "Ed25519"]),
    ];
    let mut count = 0;
    for (signer, algorithms) in &signers {
        let known = keys(&signer.jwk("key-1"));
        for algorithm in *algorithms {
            let token = signer.token(&with(header(), "alg", *algorithm), &claims());
            let (signed, signature) = token.rsplit_once('.').unwrap();
            let turned: String = signature.chars().rev().collect();
            let expired = signer.token(&with(header(), "alg", *algorithm), &with(claims(), "exp", 1));
            for (token, is_right) in [
                (token.clone(), true),
                (format!("{signed}.{turned}"), false),
                (format!("{signed}.{}", base64url([0; 64])), false),
                (format!("{signed}.{}", base64url([7])), false),
                (expired, false),
            ] {
                let here = verifier().verify(&token, &known, now());
                assert_eq!(outside(&token, &known), here, "{algorithm}");
                assert_eq!(here.is_ok(), is_right, "{algorithm}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 55);
}

#[test]
fn a_key_is_written_as_rfc_7638_has_it() {
    for signer in [Signer::rsa(), Signer::p256(), Signer::ed25519()] {
        let jwk = signer.jwk("key-1");
        let algorithm = match jwk["kty"].as_str().unwrap() {
            "RSA" => "RS256",
            "EC" => "ES256",
            _ => "EdDSA",
        };
        let token = signer.token(&with(header(), "alg", algorithm), &claims());
        let question = verifier().check(&token, &keys(&jwk), now()).unwrap();
        let members = jwk.as_object().unwrap().iter();
        // The required ones, in the order of the alphabet.
        let required: BTreeMap<_, _> = members.filter(|(name, _)| *name != "kid").collect();
        assert_eq!(question.key(), serde_json::to_string(&required).unwrap());
        let shown = format!("{question:?}");
        assert_eq!(shown, format!("SignatureCheck {{ algorithm: {:?}, .. }}", question.algorithm()));
    }
}

/// Libraries have taken a signature of two zeros for one of anything (CVE-2022-21449).
#[test]
fn what_cannot_be_a_signature_is_not_asked_about() {
    let signer = Signer::p256();
    let known = keys(&signer.jwk("key-1"));
    let token = signer.token(&header(), &claims());
    let (signed, _) = token.rsplit_once('.').unwrap();
    let half = [[0; 32], [1; 32]].concat();
    for signature in [vec![0; 64], half, vec![1; 63], vec![1; 65], vec![1; 72]] {
        let token = format!("{signed}.{}", base64url(&signature));
        let refused = verifier().check(&token, &known, now()).err();
        assert_eq!(refused, Some(TokenError::Signature), "{signature:?}");
    }
    let token = format!("{signed}.{}", base64url([1; 64]));
    assert!(verifier().check(&token, &known, now()).is_ok());
}

#[test]
fn what_is_wrong_before_the_signature_is_refused_unasked() {
    let signer = Signer::p256();
    let known = keys(&signer.jwk("key-1"));
    let table = [
        (with(header(), "alg", "none"), TokenError::Algorithm),
        (with(header(), "alg", "ES384"), TokenError::KeyMismatch),
        (with(header(), "alg", "HS256"), TokenError::KeyMismatch),
        (with(header(), "kid", "key-2"), TokenError::KeyUnknown),
        (with(header(), "typ", "JWT"), TokenError::Type),
        (with(header(), "crit", json!(["exp"])), TokenError::Extension),
    ];
    for (header, error) in table {
        let token = signer.token(&header, &claims());
        assert_eq!(verifier().check(&token, &known, now()).err(), Some(error), "{header}");
    }
    let revoked = known.revoke(ISSUER, "key-1");
    let token = signer.token(&header(), &claims());
    assert_eq!(verifier().check(&token, &revoked, now()).err(), Some(TokenError::KeyRevoked));
}
