//! Properties of every token, of every changed token, and of every other text.

use std::sync::OnceLock;

use orbgate_testing::signer;
use orbgate_testing::signer::{Signer, base64url, claims, header, issuer, keys, now, verifier, with};
use orbgate_token::{Algorithm, KeySet, Keys, TokenError, Verifier, bearer};
use proptest::prelude::*;

struct World {
    verifier: Verifier,
    keys: Keys,
    /// A right token of each algorithm.
    tokens: Vec<String>,
    signer: Signer,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let signers = [
            (Signer::rsa(), vec!["RS256", "PS256"]),
            (Signer::p256(), vec!["ES256"]),
            (Signer::ed25519(), vec!["EdDSA"]),
        ];
        let jwks = (0..).zip(&signers).map(|(kid, (signer, _))| signer.jwk(&format!("key-{kid}")));
        let keys = keys(&jwks.collect::<Vec<_>>());
        let mut tokens = Vec::new();
        for (kid, (signer, algorithms)) in (0..).zip(&signers) {
            for algorithm in algorithms {
                let header = with(header(), "kid", format!("key-{kid}"));
                tokens.push(signer.token(&with(header, "alg", *algorithm), &claims()));
            }
        }
        let [_, (signer, _), _] = signers;
        let public = |algorithm: &Algorithm| !algorithm.as_str().starts_with("HS");
        World {
            verifier: verifier(issuer().algorithms(Algorithm::ALL.into_iter().filter(public))),
            keys,
            tokens,
            signer,
        }
    })
}

fn verify(token: impl AsRef<[u8]>) -> Option<TokenError> {
    let world = world();
    world.verifier.verify(token, &world.keys, now()).err()
}

#[test]
fn every_change_of_one_byte_is_refused() {
    // Not a sample: every byte of every token is changed, to its neighbours and to characters with
    // a meaning.
    for token in &world().tokens {
        assert_eq!(verify(token), None);
        for location in 0..token.len() {
            let byte = token.as_bytes()[location];
            for changed in [byte ^ 1, byte ^ 0x20, byte.wrapping_add(1), b'A', b'_', b'.', b'=', b' ', 0] {
                if changed != byte {
                    let mut token = token.clone().into_bytes();
                    token[location] = changed;
                    assert!(verify(&token).is_some(), "{location}: {byte} to {changed}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_other_change_is_refused(
        which in any::<prop::sample::Index>(),
        location in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        change in 0..6_u8,
    ) {
        let token = which.get(&world().tokens).as_bytes();
        let mut changed = token.to_vec();
        let (location, other) = (location.index(token.len()), other.index(token.len()));
        match change {
            0 => changed[location] = byte,
            1 => changed.insert(location, byte),
            2 => { changed.remove(location); }
            3 => changed.truncate(location),
            4 => changed.swap(location, other),
            _ => { changed.drain(location.min(other)..location.max(other)); }
        }
        prop_assert_eq!(verify(&changed).is_none(), changed == token);
    }

    #[test]
    fn parts_of_different_tokens_do_not_fit(
        parts in prop::collection::vec(any::<prop::sample::Index>(), 3),
    ) {
        let tokens = &world().tokens;
        let parts: Vec<_> = parts.iter().map(|part| part.index(tokens.len())).collect();
        let mixed: Vec<_> = (0..).zip(&parts).map(|(location, token)| tokens[*token].split('.').nth(location).unwrap()).collect();
        // All of them have the same claims, so the second part may come from any.
        prop_assert_eq!(verify(mixed.join(".")).is_none(), parts[0] == parts[2]);
    }

    #[test]
    fn no_text_panics(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        text in r#"[{}\[\]",:.a-z0-9 \\-]{0,80}"#,
    ) {
        prop_assert!(verify(&bytes).is_some());
        prop_assert!(verify(&text).is_some());
        let _ = bearer([bytes.as_slice()]);
        prop_assert!(KeySet::from_jwks(&bytes).is_err());
        prop_assert!(KeySet::from_jwks(text.as_bytes()).is_err());
        let _ = Verifier::from_yaml(&text);
    }

    #[test]
    fn no_header_or_claims_panic(
        header in json(),
        claims in json(),
    ) {
        // With a right signature, so that the checks after it are reached.
        let token = world().signer.token_of(&header, &claims);
        prop_assert!(verify(token).is_some());
        let right = signer::header();
        let right = with(right, "kid", "key-1").to_string();
        prop_assert!(verify(world().signer.token_of(&right, &claims)).is_some());
        let odd = with(signer::claims(), "scope", serde_json::from_str::<serde_json::Value>(&claims).unwrap_or_default());
        let result = verify(world().signer.token_of(&right, &odd.to_string()));
        prop_assert!(matches!(result, None | Some(TokenError::Scopes)));
        let set = format!("{{\"keys\":[{header}]}}");
        prop_assert!(KeySet::from_jwks(set.as_bytes()).is_err());
        prop_assert!(!base64url(header).contains('='));
    }
}

/// JSON with the names that count, and values of every type in them.
fn json() -> impl Strategy<Value = String> {
    use serde_json::{Map, Value};
    let names = [
        "alg", "kid", "typ", "crit", "iss", "aud", "exp", "nbf", "iat", "scope", "scp", "cnf", "act", "sub", "kty",
        "n", "e", "x", "crv",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["ES256", "at+jwt", "RSA", "EC", "P-256", signer::ISSUER, signer::AUDIENCE, "a b"])
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 16, 4, move |value| {
        let object = prop::collection::vec((prop::sample::select(names.to_vec()), value.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(value, 0..4).prop_map(Value::from),
            object.prop_map(|members| {
                let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::from(members.collect::<Map<_, _>>())
            }),
        ]
    });
    value.prop_map(|value| value.to_string())
}
