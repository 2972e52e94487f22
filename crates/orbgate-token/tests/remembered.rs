//! Signatures that are remembered: every other rule holds for a token that comes again as for one that comes first.

use core::time::Duration;
use std::collections::BTreeMap;

use orbgate_testing::expected::Expected;
use orbgate_testing::random::Random;
use orbgate_testing::signer::{AUDIENCE, Signer, at, claims, header, issuer, with};
use orbgate_token::{
    Algorithm, FetchSettings, Issuer, Judged, KeyCache, KindRules, Now, Response, TokenError, VerifiedToken, Verifier,
};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);

fn cache(issuers: impl IntoIterator<Item = Issuer>) -> KeyCache {
    cache_with(issuers, 100)
}

fn cache_with(issuers: impl IntoIterator<Item = Issuer>, most: usize) -> KeyCache {
    let verifier = Verifier::new(issuers).unwrap().remember_signatures(most);
    KeyCache::new(verifier, FetchSettings::default()).unwrap()
}

/// Judges a token at these seconds of the day and of the other clock; the issuer publishes these keys.
fn judge(
    cache: &KeyCache,
    token: &str,
    jwks: &[Value],
    (seconds, monotonic): (u64, Duration),
) -> Result<VerifiedToken, TokenError> {
    let body = json!({ "keys": jwks }).to_string();
    let mut progress = cache.ask(monotonic);
    let time = at(seconds);
    loop {
        let judged = cache.judge(token, &mut progress, Now { time, monotonic });
        let mut next = cache.next_fetch(monotonic);
        while let Some(fetch) = next {
            let response = Response { status: 200, cache_control: None, body: body.as_bytes() };
            next = cache.fetched(fetch.attempt, Ok(response), monotonic);
        }
        match judged {
            Judged::Verdict(verdict) => return verdict,
            Judged::Wait(_) => {}
            Judged::CheckSignature(_) => unreachable!("signatures are checked in place"),
        }
    }
}

fn expiry() -> u64 {
    claims()["exp"].as_u64().unwrap()
}

#[test]
fn a_token_that_comes_again_is_judged_by_every_rule_but_its_signature() {
    let published = issuer().jwks_uri("https://id.example.com/keys").algorithms([
        Algorithm::Es256,
        Algorithm::Rs256,
        Algorithm::EdDsa,
    ]);
    let signers = [(Signer::p256(), "ES256"), (Signer::rsa(), "RS256"), (Signer::ed25519(), "EdDSA")];
    for (signer, algorithm) in signers {
        let header = with(header(), "alg", algorithm);
        let jwks = [signer.jwk("key-1")];
        let good = signer.token(&header, &claims());
        let (body, _) = good.rsplit_once('.').unwrap();
        let other = signer.token(&header, &with(claims(), "scope", "read:account"));
        let (_, other_signature) = other.rsplit_once('.').unwrap();
        let forged = format!("{body}.{other_signature}");
        let begin = expiry() - 100;

        let cache = cache([published.clone()]);
        let now = (begin, Duration::ZERO);
        let first = judge(&cache, &good, &jwks, now).unwrap();
        for _ in 0..3 {
            assert_eq!(judge(&cache, &good, &jwks, now).unwrap(), first);
            let refused = judge(&cache, &forged, &jwks, now).unwrap_err();
            assert_eq!(refused, TokenError::Signature);
        }
        // Its time is over, while its signature is still known.
        let later = (expiry() + 60, Duration::from_secs(20));
        assert_eq!(judge(&cache, &good, &jwks, later).unwrap_err(), TokenError::Expired);
        // And long after.
        let much_later = (begin, MINUTE * 2);
        assert_eq!(judge(&cache, &good, &jwks, much_later).unwrap(), first);
        // The key is no longer to be used.
        cache.revoke("https://id.example.com", "key-1");
        assert_eq!(judge(&cache, &good, &jwks, much_later).unwrap_err(), TokenError::KeyRevoked);
    }
}

#[test]
fn a_signature_is_remembered_of_the_key_that_made_it() {
    let (former, latter) = (Signer::p256(), Signer::p256());
    let published = issuer().jwks_uri("https://id.example.com/keys");
    let cache = cache([published]);
    let token = former.token(&header(), &claims());
    let begin = expiry() - 100;
    assert!(judge(&cache, &token, &[former.jwk("key-1")], (begin, Duration::ZERO)).is_ok());
    // Another key of the same name takes its place.
    cache.forget("https://id.example.com");
    let soon = (begin, Duration::from_secs(2));
    let jwks = [latter.jwk("key-1")];
    assert_eq!(judge(&cache, &token, &jwks, soon).unwrap_err(), TokenError::Signature);
    let token = latter.token(&header(), &claims());
    assert!(judge(&cache, &token, &jwks, soon).is_ok());
}

#[test]
fn every_verdict_is_the_one_without_it() {
    let urls = ["https://id.example.com", "https://other.example.com"];
    // The second issuer publishes a key of the first, and allows fewer algorithms.
    let issuers = || {
        let algorithms = [Algorithm::Es256, Algorithm::Rs256, Algorithm::Ps256];
        let first = issuer().jwks_uri("https://id.example.com/keys");
        let kind = KindRules::named_by("token_kind", "user", "organisation");
        let second = Issuer::new(urls[1], AUDIENCE, kind).algorithms([Algorithm::Es256]);
        [first.algorithms(algorithms), second.jwks_uri("https://other.example.com/keys")]
    };
    let signers = [Signer::p256(), Signer::p256(), Signer::rsa()];
    let algorithms: [&[&str]; 3] = [&["ES256"], &["ES256"], &["RS256", "PS256"]];
    let mut tokens = Vec::new();
    for (signer, algorithms) in signers.iter().zip(algorithms) {
        for algorithm in algorithms {
            for kid in ["key-1", "key-2"] {
                for url in urls {
                    let header = with(with(header(), "alg", *algorithm), "kid", kid);
                    let claims = with(claims(), "iss", url);
                    tokens.push(signer.token(&header, &claims));
                    tokens.push(signer.token(&header, &with(claims.clone(), "aud", "other")));
                    let soon = expiry() - 500;
                    tokens.push(signer.token(&header, &with(claims, "exp", soon)));
                }
            }
        }
    }
    // And each with the signature of another.
    let forged: Vec<_> = tokens
        .windows(2)
        .map(|pair| {
            let (body, _) = pair[0].rsplit_once('.').unwrap();
            let (_, signature) = pair[1].rsplit_once('.').unwrap();
            format!("{body}.{signature}")
        })
        .collect();
    tokens.extend(forged);
    for most in [1, 5, 100] {
        let (with_it, without) = (cache_with(issuers(), most), cache_with(issuers(), 0));
        let mut numbers = Random::new(u64::try_from(most).unwrap());
        let mut jwks = vec![signers[0].jwk("key-1")];
        let mut monotonic = Duration::ZERO;
        let mut seen = BTreeMap::new();
        for _ in 0..2_000 {
            match numbers.index(100) {
                0..3 => {
                    // Rotated, removed, or two of a name.
                    let keys = numbers.index(4);
                    let kids = ["key-1", "key-2"];
                    jwks = (0..keys).map(|_| signers[numbers.index(3)].jwk(kids[numbers.index(2)])).collect();
                }
                3 => {
                    let url = urls[numbers.index(2)];
                    with_it.forget(url);
                    without.forget(url);
                }
                4..20 => monotonic += Duration::from_secs(u64::try_from(numbers.index(40)).unwrap()),
                _ => {}
            }
            // The time of day goes as it likes.
            let day = expiry() - 600 + u64::try_from(numbers.index(300)).unwrap();
            // A token often comes again.
            let token = &tokens[numbers.index(tokens.len()) / (1 + numbers.index(8))];
            let [verdict, expected] = [&with_it, &without].map(|cache| judge(cache, token, &jwks, (day, monotonic)));
            assert_eq!(verdict, expected, "{most} {token}");
            let kind = verdict.map_or_else(|error| format!("{error:?}"), |_| "right".to_owned());
            *seen.entry(kind).or_insert(0) += 1;
        }
        // It has seen what there is to see.
        for kind in ["right", "Signature", "KeyUnknown", "Expired", "Audience", "Algorithm"] {
            assert!(seen.get(kind).is_some_and(|count| *count > 5), "{kind}: {seen:?}");
        }
        // A key that was stolen is not used for what is remembered, either.
        for url in urls {
            with_it.revoke(url, "key-1");
            without.revoke(url, "key-1");
        }
        for token in &tokens {
            let [verdict, expected] =
                [&with_it, &without].map(|cache| judge(cache, token, &jwks, (expiry() - 600, monotonic)));
            assert_eq!(verdict, expected);
        }
    }
}

#[test]
fn a_file_says_how_many_signatures_are_remembered() {
    let example = include_str!("../testdata/token.yaml");
    assert_eq!(Verifier::from_yaml(example).unwrap().remembered_signatures(), 10_000);
    let (yaml, _) = example.split_once("remember_signatures").unwrap();
    let with = |text: &str| Verifier::from_yaml(&format!("{yaml}{text}\n"));
    assert_eq!(with("").unwrap().remembered_signatures(), 0);
    for (text, number) in [("0", 0), ("1", 1), ("4096", 4096), ("1000000", 1_000_000)] {
        let verifier = with(&format!("remember_signatures: {text}")).unwrap();
        assert_eq!(verifier.remembered_signatures(), number);
    }
    let mut expected = Expected::default();
    for text in ["1000001", "-1", "yes"] {
        let refused = with(&format!("remember_signatures: {text}")).unwrap_err();
        expected.add(text, [refused]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "remembered signatures");
    let most = Verifier::new([issuer()]).unwrap().remember_signatures(usize::MAX);
    assert_eq!(most.remembered_signatures(), 1_000_000);
}
