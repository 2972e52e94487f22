//! Which key checks which token: algorithms, secrets and issuers do not mix.

use orbgate::TokenKind;
use orbgate_testing::signer::{
    AUDIENCE, ISSUER, Signer, claims, header, issuer, key_set, keys, now, random_secret, verifier, with,
};
use orbgate_token::{Algorithm, Issuer, KeySet, Keys, TokenError};
use serde_json::Value;

#[test]
fn a_key_is_used_only_with_its_own_algorithms() {
    let signers = [
        (Signer::rsa(), vec!["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
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
            let expected = if names.contains(&algorithm.as_str()) { None } else { Some(TokenError::KeyMismatch) };
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
            assert_eq!(every.verify(token, &keys, now()).err(), Some(TokenError::KeyMismatch));
        }
    }
    // Nor does a published secret count as one.
    let secret = Signer::Secret(random_secret(64));
    let set = key_set(&[jwk, with(secret.jwk("key-2"), "alg", "HS256")]);
    assert_eq!((set.len(), set.warnings().len()), (1, 1));
    let token = secret.token(&with(with(header(), "alg", "HS256"), "kid", "key-2"), &claims());
    let keys = Keys::new().with(ISSUER, set);
    assert_eq!(every.verify(token, &keys, now()).err(), Some(TokenError::KeyUnknown));
}

#[test]
fn secrets_must_be_given_and_be_long() {
    for (algorithm, length) in [(Algorithm::Hs256, 32), (Algorithm::Hs384, 48), (Algorithm::Hs512, 64)] {
        let signer = Signer::Secret(random_secret(length));
        let Signer::Secret(secret) = &signer else { unreachable!() };
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
        verifier.verify(token, keys, now()).map(|token| token.kind())
    };
    assert_eq!(verify(&one, &claims(), &both), Ok(TokenKind::User));
    assert_eq!(verify(&two, &theirs, &both), Ok(TokenKind::Organisation));
    assert_eq!(verify(&two, &claims(), &both), Err(TokenError::Signature));
    assert_eq!(verify(&one, &theirs, &both), Err(TokenError::Signature));
    assert_eq!(verify(&two, &theirs, &keys), Err(TokenError::NoKeys));
    let wrong_audience = with(theirs, "aud", AUDIENCE);
    assert_eq!(verify(&two, &wrong_audience, &both), Err(TokenError::Audience));
}
