//! Signatures that are remembered: every other rule holds for a token that comes again as for one that comes first.

use core::time::Duration;

use orbgate_testing::signer::{Signer, at, claims, header, issuer, with};
use orbgate_token::{
    Algorithm, FetchSettings, Issuer, Judged, KeyCache, Now, Response, TokenError, VerifiedToken,
    Verifier,
};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);

fn cache(issuers: impl IntoIterator<Item = Issuer>) -> KeyCache {
    let verifier = Verifier::new(issuers).unwrap().remember_signatures(100);
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
    let mut asked = cache.ask(monotonic);
    let time = at(seconds);
    loop {
        let judged = cache.judge(token, &mut asked, Now { time, monotonic });
        let mut next = cache.next_fetch(monotonic);
        while let Some(fetch) = next {
            let response = Response {
                status: 200,
                cache_control: None,
                body: body.as_bytes(),
            };
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
    let published = issuer()
        .jwks_uri("https://id.example.com/keys")
        .algorithms([Algorithm::Es256, Algorithm::Rs256, Algorithm::EdDsa]);
    let signers = [
        (Signer::p256(), "ES256"),
        (Signer::rsa(), "RS256"),
        (Signer::ed25519(), "EdDSA"),
    ];
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
        assert_eq!(
            judge(&cache, &good, &jwks, later).unwrap_err(),
            TokenError::Expired
        );
        // And long after.
        let much_later = (begin, MINUTE * 2);
        assert_eq!(judge(&cache, &good, &jwks, much_later).unwrap(), first);
        // The key is no longer to be used.
        cache.revoke("https://id.example.com", "key-1");
        assert_eq!(
            judge(&cache, &good, &jwks, much_later).unwrap_err(),
            TokenError::KeyRevoked
        );
    }
}

#[test]
fn a_signature_is_remembered_of_the_key_that_made_it() {
    let (former, latter) = (Signer::p256(), Signer::p256());
    let published = issuer().jwks_uri("https://id.example.com/keys");
    let cache = cache([published]);
    let token = former.token(&header(), &claims());
    let begin = expiry() - 100;
    assert!(
        judge(
            &cache,
            &token,
            &[former.jwk("key-1")],
            (begin, Duration::ZERO)
        )
        .is_ok()
    );
    // Another key of the same name takes its place.
    cache.forget("https://id.example.com");
    let soon = (begin, Duration::from_secs(2));
    let jwks = [latter.jwk("key-1")];
    assert_eq!(
        judge(&cache, &token, &jwks, soon).unwrap_err(),
        TokenError::Signature
    );
    let token = latter.token(&header(), &claims());
    assert!(judge(&cache, &token, &jwks, soon).is_ok());
}

#[test]
fn a_file_says_how_many_signatures_are_remembered() {
    let example = include_str!("../testdata/token.yaml");
    assert_eq!(
        Verifier::from_yaml(example)
            .unwrap()
            .remembered_signatures(),
        10_000
    );
    let (yaml, _) = example.split_once("remember_signatures").unwrap();
    let with = |text: &str| Verifier::from_yaml(&format!("{yaml}{text}\n"));
    assert_eq!(with("").unwrap().remembered_signatures(), 0);
    for (text, number) in [("0", 0), ("1", 1), ("4096", 4096), ("1000000", 1_000_000)] {
        let verifier = with(&format!("remember_signatures: {text}")).unwrap();
        assert_eq!(verifier.remembered_signatures(), number);
    }
    let line = yaml.lines().count() + 1;
    for (text, message) in [
        (
            "1000001",
            "`remember_signatures` is over 1000000, which is the limit",
        ),
        (
            "-1",
            "`remember_signatures` must be a plain whole number, not `-1`",
        ),
        (
            "yes",
            "`remember_signatures` must be a plain whole number, not `yes`",
        ),
    ] {
        let refused = with(&format!("remember_signatures: {text}")).unwrap_err();
        assert_eq!(refused.to_string(), format!("{line}:22: {message}"));
    }
    let most = Verifier::new([issuer()])
        .unwrap()
        .remember_signatures(usize::MAX);
    assert_eq!(most.remembered_signatures(), 1_000_000);
}
