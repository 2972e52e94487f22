//! Which keys of a published set are used, and why others are not.

use orbgate_testing::expected::Expected;
use orbgate_testing::signer;
use orbgate_testing::signer::{Signer, base64url, claims, header, issuer, keys, now, verifier, with, without};
use orbgate_testing::unsound;
use orbgate_token::{Algorithm, KeySet, KeySetError, TokenError};
use serde_json::{Value, json};

/// The warning about the second of two keys has this word; `None` if both are used.
fn assert_warning(jwk: &Value, word: Option<&str>) {
    let good = Signer::p256().jwk("good");
    let set = json!({ "keys": [good, jwk] }).to_string();
    let set = KeySet::from_jwks(set.as_bytes()).unwrap();
    assert_eq!(set.len(), 2_usize.saturating_sub(set.warnings().len()));
    let warning = set.warnings().first();
    assert_eq!(warning.is_some(), word.is_some(), "{jwk}: {warning:?}");
    if let (Some(warning), Some(word)) = (warning, word) {
        assert_eq!(warning.index, 1);
        assert!(warning.message.contains(word), "{jwk}: {warning:?}");
    }
}

#[test]
fn a_key_is_used_if_it_is_sound_and_for_signatures() {
    let (ec, rsa, ed) = (Signer::p256(), Signer::rsa(), Signer::ed25519());
    let (ec, rsa, ed) = (ec.jwk("k"), rsa.jwk("k"), ed.jwk("k"));
    let use_is = Some("`use`");
    let ops = Some("`key_ops`");
    let algorithm = Some("`alg`");
    let length = Some("length");
    let bits = Some("8192 bits");
    let exponent = Some("too small");
    let large = Some("32 bits");
    let private = Some("private");
    let not_text = Some("string");
    let missing = Some("missing");
    let encoding = Some("base64url");
    let even = format!("{}A", &rsa["n"].as_str().unwrap()[..341]);
    // 2^8192 - 5 has no small divisor; all bits set would have 3.
    let modulus = |bytes: usize| {
        let number = [vec![0xff; bytes - 1], vec![0xfb]].concat();
        with(rsa.clone(), "n", base64url(number))
    };
    let table = [
        (ec.clone(), None),
        (rsa.clone(), None),
        (ed.clone(), None),
        (Signer::p384().jwk("k"), None),
        (Signer::p521().jwk("k"), None),
        (without(ec.clone(), "kid"), None),
        (with(ec.clone(), "use", "sig"), None),
        (with(ec.clone(), "use", "enc"), use_is),
        (with(ec.clone(), "use", "SIG"), use_is),
        (with(ec.clone(), "use", 1), not_text),
        (with(ec.clone(), "key_ops", json!(["verify"])), None),
        (with(ec.clone(), "key_ops", json!(["sign"])), ops),
        (with(ec.clone(), "key_ops", json!([])), ops),
        (with(ec.clone(), "key_ops", "verify"), ops),
        (with(ec.clone(), "alg", "ES256"), None),
        (with(ec.clone(), "alg", "ES384"), algorithm),
        (with(ec.clone(), "alg", "ECDH-ES"), algorithm),
        (with(ec.clone(), "alg", "none"), algorithm),
        (with(rsa.clone(), "alg", "PS512"), None),
        (with(rsa.clone(), "alg", "RSA-OAEP"), algorithm),
        (with(rsa.clone(), "alg", "HS256"), algorithm),
        (with(ed.clone(), "alg", "Ed25519"), None),
        (with(ed.clone(), "crv", "X25519"), Some("Ed25519")),
        (with(ed.clone(), "x", "AAAA"), length),
        (with(ec.clone(), "crv", "P-384"), length),
        (with(ec.clone(), "crv", "secp256k1"), Some("P-521")),
        (with(ec.clone(), "y", ec["x"].clone()), Some("point")),
        (without(ec.clone(), "y"), missing),
        (with(ec.clone(), "x", format!("{}=", ec["x"].as_str().unwrap())), encoding),
        (with(ec.clone(), "d", "AAAA"), private),
        (with(rsa.clone(), "d", "AAAA"), private),
        (with(rsa.clone(), "oth", json!([])), private),
        (with(ec.clone(), "k", "AAAA"), private),
        (modulus(128), bits),
        (modulus(255), bits),
        (modulus(1024), None),
        (modulus(1025), bits),
        (with(rsa.clone(), "n", ""), bits),
        (with(rsa.clone(), "n", even), Some("modulus")),
        (with(rsa.clone(), "e", "Aw"), exponent),
        (with(rsa.clone(), "e", "AQAA"), exponent),
        (with(rsa.clone(), "e", ""), exponent),
        // 2^32 - 1 and 2^32 + 1, 2^64 + 1.
        (with(rsa.clone(), "e", base64url([0xff; 4])), None),
        (with(rsa.clone(), "e", base64url([1, 0, 0, 0, 1])), large),
        (with(rsa.clone(), "e", base64url([1, 0, 0, 0, 0, 0, 0, 0, 1])), large),
        (json!({"kty": "oct", "k": base64url([7; 64]), "alg": "HS256"}), Some("secret")),
        (json!({"kty": "AKP"}), Some("OKP")),
        (json!({}), Some("no `kty`")),
        (json!({"kty": null}), not_text),
        (json!("RSA"), Some("object")),
    ];
    for (jwk, expected) in table {
        assert_warning(&jwk, expected);
    }
}

/// A modulus as the flawed generator makes it: the product of two primes of 1024 bits, each of the form
/// k·M + (65537^a mod M), where M is the product of the first 126 primes.
const FROM_FAULTY_GENERATOR: &str = "zBtQbzbgwcsep3kb-FyEHMxSU_e0IdkQz4b4GiABcBrtXzGHeB0pwXIXidDwOtQ-QhqDWMjQ\
    R2Kg5FS1aK7n4vkfRn3ab2jtm9pbvuyE_djYQ8lLt-25OM5yIpl3IPM_qH6q-Yth-Zo-uqVoZNBuwhw5WGoOVX2neA9Zehl2tPd3dncA52aC\
    sBnMH_Eyg6v1TYu9MvHCI8tZzn1y_QEDg-2MO2Hyttu8xDmE0tCLEYa3YBtPzSHgVS-_rRzR5C7G5dl0kxc824OpGQV2LEGXm0P_Spm8yUqz\
    x4omYYpJ-iW4o7tUrMO8Sph2nC9LrJWNc57_EENiijNbH8B8FDkdcw";

#[test]
fn a_key_of_the_invalid_generator_is_left_out() {
    let jwk = |modulus: &str| with(Signer::rsa().jwk("k"), "n", modulus);
    let invalid = Some("CVE-2017-15361");
    assert_warning(&jwk(FROM_FAULTY_GENERATOR), invalid);
    // Adding 18 changes the remainder of nearly every prime, and makes none zero.
    let other = FROM_FAULTY_GENERATOR.replacen("Dkdcw", "DkdhQ", 1);
    assert_ne!(other, FROM_FAULTY_GENERATOR);
    assert_warning(&jwk(&other), None);
}

/// Forged tokens, which a library accepts if it trusts the key.
#[test]
fn no_token_is_accepted_with_a_key_that_anyone_can_use() {
    use Algorithm::{EdDsa, Es256, Es384, Es512, Rs256};
    let verifier = verifier(issuer().algorithms([EdDsa, Rs256, Es256, Es384, Es512]));
    let good = Signer::p256();
    for key in unsound::keys() {
        let keys = keys(&[good.jwk("key-1"), key.jwk.clone()]);
        let token = key.token(&claims());
        let error = verifier.verify(&token, &keys, now()).unwrap_err();
        assert!(matches!(error, TokenError::KeyUnknown | TokenError::Signature), "{}: {error}", key.kid);
        if !key.left_out.is_empty() {
            assert_warning(&key.jwk, Some(key.left_out));
            // A host that checks signatures itself isn't asked.
            assert_eq!(verifier.check(&token, &keys, now()).err(), Some(TokenError::KeyUnknown));
        }
    }
    assert_eq!(unsound::keys().len(), 53);
}

/// The bound of NIST SP 800-89 is between two primes.
#[test]
fn a_modulus_with_a_small_prime_is_left_out() {
    for (divisor, word) in [(3_u32, Some("below 752")), (743, Some("below 752")), (751, Some("below 752")), (757, None)]
    {
        assert_warning(&unsound::rsa_divisible_by(divisor), word);
    }
}

#[test]
fn leading_zeros_of_a_modulus_do_not_count() {
    let rsa = Signer::rsa();
    let jwk = rsa.jwk("key-1");
    let modulus = jwk["n"].as_str().unwrap();
    // Three zero bytes are four more characters, and leave the rest as it is.
    let jwk = with(jwk.clone(), "n", format!("AAAA{modulus}"));
    let keys = keys(&[jwk]);
    let token = rsa.token(&with(header(), "alg", "RS256"), &claims());
    let verifier = verifier(issuer().algorithms([Algorithm::Rs256]));
    assert!(verifier.verify(token, &keys, now()).is_ok());
}

/// Two different keys that a token's header fits equally: that token is refused, and no other.
#[test]
fn of_two_keys_that_fit_none_is_used() {
    let (one, two, other) = (Signer::p256(), Signer::p256(), Signer::p256());
    let verifier = verifier(issuer());
    let same = [one.jwk("key-1"), two.jwk("key-1"), other.jwk("key-2")];
    let set = signer::key_set(&same);
    let left_out: Vec<_> = set.warnings().iter().map(|warning| warning.index).collect();
    assert_eq!((set.len(), left_out), (1, vec![0, 1]));
    let keys = keys(&same);
    for signer in [&one, &two, &other] {
        let verify = |header| verifier.verify(signer.token(&header, &claims()), &keys, now());
        assert_eq!(verify(header()).err(), Some(TokenError::KeyAmbiguous));
        // Three keys fit a token without a `kid`.
        assert_eq!(verify(without(header(), "kid")).err(), Some(TokenError::KeyIdMissing));
    }
    let token = other.token(&with(header(), "kid", "key-2"), &claims());
    assert!(verifier.verify(token, &keys, now()).is_ok());
    let only = json!({"keys": [one.jwk("a"), two.jwk("a"), other.jwk("a")]});
    let error = KeySet::from_jwks(only.to_string().as_bytes()).unwrap_err();
    let KeySetError::NoUsableKey(warnings) = &error else {
        panic!("{error}");
    };
    assert_eq!(warnings.len(), 3);
}

/// As Keycloak and ForgeRock list one key for several algorithms; and as RFC 7517 §4.5 lists keys of two types.
#[test]
fn one_name_can_have_several_keys_and_one_key_several_entries() {
    let (rsa, ec, second) = (Signer::rsa(), Signer::p256(), Signer::rsa());
    let all = [Algorithm::Rs256, Algorithm::Rs384, Algorithm::Rs512, Algorithm::Es256];
    let verifier = verifier(issuer().algorithms(all));
    let of = |signer: &Signer, alg: &str| with(signer.jwk("key-1"), "alg", alg);
    let three = [of(&rsa, "RS256"), of(&rsa, "RS384"), of(&rsa, "RS512")];
    let two = [of(&rsa, "RS256"), rsa.jwk("key-1")];
    let twice = [rsa.jwk("key-1"), rsa.jwk("key-1")];
    let leading = rsa.jwk("key-1")["n"].as_str().unwrap().to_owned();
    let spelled = [rsa.jwk("key-1"), with(rsa.jwk("key-1"), "n", format!("AAAA{leading}"))];
    let types = [rsa.jwk("key-1"), ec.jwk("key-1")];
    let names = [rsa.jwk("key-1"), rsa.jwk("key-2"), without(rsa.jwk("-"), "kid")];
    let partly = [rsa.jwk("key-1"), of(&second, "RS384")];
    let ambiguous = Some(TokenError::KeyAmbiguous);
    let mismatch = Some(TokenError::KeyMismatch);
    let missing = Some(TokenError::KeyIdMissing);
    // The keys, the signer, its algorithm, and the results for a token with the `kid` and for one without.
    type Row<'a> = (&'a [Value], &'a Signer, &'a str, Option<TokenError>, Option<TokenError>);
    let table: &[Row<'_>] = &[
        (&three, &rsa, "RS256", None, None),
        (&three, &rsa, "RS384", None, None),
        (&three, &rsa, "RS512", None, None),
        (&three[..2], &rsa, "RS512", mismatch, missing),
        (&two, &rsa, "RS512", None, None),
        (&twice, &rsa, "RS256", None, None),
        (&spelled, &rsa, "RS256", None, None),
        (&types, &rsa, "RS256", None, None),
        (&types, &ec, "ES256", None, None),
        (&names, &rsa, "RS256", None, None),
        // Only the algorithm of both is ambiguous, and a second key is never tried.
        (&partly, &rsa, "RS256", None, None),
        (&partly, &second, "RS256", Some(TokenError::Signature), Some(TokenError::Signature)),
        (&partly, &rsa, "RS384", ambiguous, missing),
        (&partly, &second, "RS384", ambiguous, missing),
    ];
    for (index, (jwks, signer, alg, named, unnamed)) in table.iter().enumerate() {
        let keys = keys(jwks);
        let header = with(header(), "alg", *alg);
        let verify = |header| verifier.verify(signer.token(&header, &claims()), &keys, now()).err();
        assert_eq!(verify(header.clone()), *named, "{index}");
        assert_eq!(verify(without(header, "kid")), *unnamed, "{index}, no kid");
    }
    let warnings = |jwks: &[Value]| signer::key_set(jwks).warnings().iter().map(|it| it.index).collect::<Vec<_>>();
    assert_eq!((warnings(&three), warnings(&types), warnings(&partly)), (vec![], vec![], vec![1]));
    assert_eq!(signer::key_set(&three).len(), 1);
}

#[test]
fn a_set_without_a_key_to_use_says_why_key_by_key() {
    let (ec, other, rsa) = (Signer::p256().jwk("a"), Signer::p256().jwk("a"), Signer::rsa().jwk("b"));
    let keys =
        [with(ec.clone(), "use", "enc"), with(rsa, "e", "Aw"), json!({"kty": "oct", "k": "c2VjcmV0"}), ec, other];
    let error = |keys: &[Value]| {
        let set = json!({ "keys": keys }).to_string();
        KeySet::from_jwks(set.as_bytes()).unwrap_err().to_string()
    };
    let mut expected = Expected::default();
    let lines = error(&keys).replace("; ", "\n");
    expected.add("five keys", [lines]);
    expected.add("no key", [error(&[])]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "keys: none to use");
}

#[test]
fn a_revoked_key_checks_nothing() {
    let (one, two) = (Signer::p256(), Signer::p256());
    let set = [one.jwk("key-1"), two.jwk("key-2")];
    let verifier = verifier(issuer());
    let verify = |signer: &Signer, header: &Value, keys: &orbgate_token::Keys| {
        verifier.verify(signer.token(header, &claims()), keys, now()).err()
    };
    let (first, second) = (header(), with(header(), "kid", "key-2"));
    let keys = keys(&set).revoke(signer::ISSUER, "key-1");
    assert_eq!(verify(&one, &first, &keys), Some(TokenError::KeyRevoked));
    assert_eq!(verify(&two, &second, &keys), None);
    // The issuer publishes it again.
    let keys = keys.with(signer::ISSUER, signer::key_set(&set));
    assert_eq!(verify(&one, &first, &keys), Some(TokenError::KeyRevoked));
    // Nor is it the one key that fits a token without a `kid`.
    let unnamed = without(header(), "kid");
    assert_eq!(verify(&one, &unnamed, &keys), Some(TokenError::Signature));
    assert_eq!(verify(&two, &unnamed, &keys), None);
    let keys = keys.revoke(signer::ISSUER, "key-2");
    assert_eq!(verify(&two, &unnamed, &keys), Some(TokenError::KeyIdMissing));
    // All keys of the name, whatever their type, and those keys under any other name.
    let rsa = Signer::rsa();
    let set = [one.jwk("key-1"), rsa.jwk("key-1"), one.jwk("key-3"), two.jwk("key-2"), without(one.jwk("-"), "kid")];
    let keys = signer::keys(&set).revoke(signer::ISSUER, "key-1");
    let verifier = orbgate_token::Verifier::new([issuer().algorithms([Algorithm::Es256, Algorithm::Rs256])]).unwrap();
    let verify = |signer: &Signer, header: &Value, keys: &orbgate_token::Keys| {
        verifier.verify(signer.token(header, &claims()), keys, now()).err()
    };
    let third = with(header(), "kid", "key-3");
    for keys in [keys.clone(), keys.with(signer::ISSUER, signer::key_set(&set[2..]))] {
        assert_eq!(verify(&one, &first, &keys), Some(TokenError::KeyRevoked));
        assert_eq!(verify(&rsa, &with(first.clone(), "alg", "RS256"), &keys), Some(TokenError::KeyRevoked));
        assert_eq!(verify(&one, &third, &keys), Some(TokenError::KeyRevoked));
        assert_eq!(verify(&one, &unnamed, &keys), Some(TokenError::Signature), "the other key is the only one");
        assert_eq!(verify(&two, &second, &keys), None);
    }
    // A name that is revoked before its key is known.
    let keys = orbgate_token::Keys::new().revoke(signer::ISSUER, "key-1").with(signer::ISSUER, signer::key_set(&set));
    assert_eq!(verify(&one, &third, &keys), Some(TokenError::KeyRevoked));
    let set = [one.jwk("key-1"), two.jwk("key-2")];
    // Another issuer's key of that name is another key.
    let keys = signer::keys(&set).revoke("https://other.example.com", "key-1");
    assert_eq!(verify(&one, &first, &keys), None);
}

#[test]
fn the_keys_of_one_issuer_go_alone() {
    const OTHER: &str = "https://other.example.com";
    let signer = Signer::p256();
    let set = [signer.jwk("key-1")];
    let keys = keys(&set).with(OTHER, signer::key_set(&set));
    let one = keys.clone().revoke(signer::ISSUER, "key-1").without(OTHER);
    assert!(one.of(OTHER).is_none() && one.of(signer::ISSUER).is_some());
    let verify = |keys: &orbgate_token::Keys| {
        let token = signer.token(&header(), &claims());
        verifier(issuer()).verify(token, keys, now()).err()
    };
    assert_eq!(verify(&one), Some(TokenError::KeyRevoked));
    assert_eq!(verify(&keys.clone().without(OTHER)), None);
    let none = keys.without(signer::ISSUER);
    assert!(none.of(OTHER).is_some());
    assert_eq!(verify(&none), Some(TokenError::NoKeys));
}

#[test]
fn a_key_set_has_limits() {
    let signer = Signer::p256();
    let set = |count: usize| {
        let keys: Vec<_> = (0..count).map(|kid| signer.jwk(&kid.to_string())).collect();
        json!({ "keys": keys }).to_string()
    };
    assert_eq!(KeySet::from_jwks(set(64).as_bytes()).unwrap().len(), 64);
    let error = |text: &str| KeySet::from_jwks(text.as_bytes()).unwrap_err();
    assert_eq!(error(&set(65)), KeySetError::TooManyKeys);
    let padded = |bytes: usize| {
        let set = set(1);
        let spaces = bytes.saturating_sub(set.len());
        set + &" ".repeat(spaces)
    };
    assert!(KeySet::from_jwks(padded(256 * 1024).as_bytes()).is_ok());
    assert_eq!(error(&padded(256 * 1024 + 1)), KeySetError::TooLarge);
    assert_eq!(error("[]"), KeySetError::NotAKeySet);
    assert_eq!(error(r#"{"keys":[{"kty":"EC","kty":"EC"}]}"#), KeySetError::DuplicateMember);
}
