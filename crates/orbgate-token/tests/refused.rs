//! Tokens that are refused for their key or signature: the issuer may have other keys under the same names by now, so they start a
//! fetch, for which none waits.

use core::time::Duration;

use orbgate_testing::signer::{
    ISSUER, Signer, base64url, claims, header, issuer, keys as signer_keys, now, verifier, with, without,
};
use orbgate_token::{Algorithm, Fetch, FetchError, FetchSettings, Judged, KeyCache, Now, Response, TokenError};
use serde_json::{Value, json};

struct World {
    cache: KeyCache,
}

/// The time, in milliseconds.
fn at(milliseconds: u64) -> Now {
    Now { time: now(), monotonic: Duration::from_millis(milliseconds) }
}

impl World {
    /// A cache with these keys, fetched at 0. If signatures are checked outside, by another verifier here.
    fn new(keys: &[Value], outside: bool) -> Self {
        let issuer = issuer().algorithms([Algorithm::Es256, Algorithm::Rs256]).jwks_uri(format!("{ISSUER}/jwks"));
        let cache = KeyCache::new(verifier(issuer), FetchSettings::default()).unwrap();
        let cache = if outside { cache.signatures_outside() } else { cache };
        let world = Self { cache };
        assert_eq!(world.cache.warm(at(0).monotonic).len(), 1);
        let fetch = world.fetch(0).unwrap();
        world.serve(&fetch, keys, 0);
        world
    }

    fn fetch(&self, now: u64) -> Option<Fetch> {
        self.cache.next_fetch(at(now).monotonic)
    }

    fn serve(&self, fetch: &Fetch, keys: &[Value], now: u64) {
        let body = json!({ "keys": keys }).to_string();
        let response = Response { status: 200, cache_control: None, body: body.as_bytes() };
        assert_eq!(self.cache.fetched(fetch.attempt, Ok(response), at(now).monotonic), None);
    }

    /// The verdict at once; a wait is a panic.
    fn verdict(&self, token: &str, now: u64) -> Option<TokenError> {
        let judged = self.cache.judge(token, &mut self.cache.ask(at(now).monotonic), at(now));
        assert_eq!(self.cache.waiting(), 0);
        match judged {
            Judged::Verdict(verdict) => verdict.err(),
            Judged::CheckSignature(check) => {
                let key: Value = serde_json::from_str(check.key()).unwrap();
                let known = ["key-1", "key-2"].map(|kid| with(key.clone(), "kid", kid));
                let known = signer_keys(&known);
                let message = core::str::from_utf8(check.message()).unwrap();
                let token = format!("{message}.{}", base64url(check.signature()));
                let rules = issuer().algorithms([check.algorithm()]);
                let error = verifier(rules).verify(token, &known, at(now).time).err();
                check.finish(error != Some(TokenError::Signature), at(now).time).err()
            }
            Judged::Wait(wait) => panic!("waits {wait:?}"),
        }
    }
}

fn forged(kid: Option<&str>) -> String {
    let header = match kid {
        Some(kid) => with(header(), "kid", kid),
        None => without(header(), "kid"),
    };
    Signer::p256().token(&header, &claims())
}

/// As some issuers do: the new key gets the name of the old one, or none has a name.
#[test]
fn new_key_material_under_an_old_name_is_accepted_after_one_fetch() {
    let (old, new, rsa) = (Signer::p256(), Signer::p256(), Signer::rsa());
    let nameless = |signer: &Signer| without(signer.jwk("-"), "kid");
    let es = header();
    let rs = with(header(), "alg", "RS256");
    let table = [
        (old.jwk("key-1"), new.jwk("key-1"), &new, es.clone(), TokenError::Signature),
        (nameless(&old), nameless(&new), &new, without(es.clone(), "kid"), TokenError::Signature),
        (old.jwk("key-1"), rsa.jwk("key-1"), &rsa, rs.clone(), TokenError::KeyMismatch),
        (nameless(&old), nameless(&rsa), &rsa, without(rs, "kid"), TokenError::KeyIdMissing),
    ];
    for outside in [false, true] {
        for (before, after, signer, header, error) in &table {
            let world = World::new(core::slice::from_ref(before), outside);
            let token = signer.token(header, &claims());
            assert_eq!(world.verdict(&token, 1_000), Some(*error), "{outside}");
            assert!(world.cache.may_fetch());
            let fetch = world.fetch(1_000).unwrap();
            assert_eq!(world.verdict(&token, 1_050), Some(*error), "the fetch is under way");
            assert_eq!(world.fetch(1_050), None, "one at a time");
            world.serve(&fetch, core::slice::from_ref(after), 1_100);
            assert_eq!(world.verdict(&token, 1_100), None, "{outside} {error}");
        }
    }
    // Two keys that fit, of which one goes.
    let world = World::new(&[old.jwk("key-1"), new.jwk("key-1"), rsa.jwk("key-2")], false);
    let token = new.token(&es, &claims());
    assert_eq!(world.verdict(&token, 1_000), Some(TokenError::KeyAmbiguous));
    let fetch = world.fetch(1_000).unwrap();
    world.serve(&fetch, &[new.jwk("key-1")], 1_100);
    assert_eq!(world.verdict(&token, 1_100), None);
}

/// 10,000 forgeries in 30 s: one fetch, no place among those that wait, and no delay for a key that is new.
#[test]
fn forgeries_cause_one_fetch_in_a_cooldown_and_delay_nothing() {
    for outside in [false, true] {
        let (old, next) = (Signer::p256(), Signer::p256());
        let keys = [old.jwk("key-1")];
        let world = World::new(&keys, outside);
        let right = old.token(&header(), &claims());
        let rotated = next.token(&with(header(), "kid", "key-2"), &claims());
        let (named, unnamed) = (forged(Some("key-1")), forged(None));
        let mut fetches = Vec::new();
        let mut rotated_at = None;
        for number in 0..10_000_u64 {
            let now = 100 + number * 3;
            let token = if number % 2 == 0 { &named } else { &unnamed };
            // Two keys fit a token without a `kid` once the second one is known.
            let error = world.verdict(token, now).unwrap();
            assert!(matches!(error, TokenError::Signature | TokenError::KeyIdMissing), "{error:?}");
            // The first one isn't answered for two seconds: the issuer is slow.
            fetches.extend(world.fetch(now).map(|fetch| (now, fetch)));
            if number % 1_000 == 0 {
                assert_eq!(world.verdict(&right, now), None);
            }
            if number == 500 {
                // A token of a new key begins its own attempt at once, although the other is under way.
                let mut progress = world.cache.ask(at(now).monotonic);
                let judged = world.cache.judge(&rotated, &mut progress, at(now));
                assert!(matches!(judged, Judged::Wait(_)), "{judged:?}");
                let fetch = world.fetch(now).unwrap();
                assert_ne!(fetch.attempt, fetches[0].1.attempt);
                world.serve(&fetch, &[old.jwk("key-1"), next.jwk("key-2")], now);
                drop(progress);
                assert_eq!(world.verdict(&rotated, now), None);
                rotated_at = Some(now);
            }
            if number == 700 {
                // It began earlier, so it may know less.
                world.serve(&fetches[0].1, &keys, now);
                assert_eq!(world.verdict(&rotated, now), None, "newer keys stay");
            }
        }
        assert!(rotated_at.is_some());
        let at: Vec<_> = fetches.iter().map(|(now, _)| *now).collect();
        assert_eq!(at, [100], "{outside}");
        assert_eq!(world.verdict(&named, 30_100), Some(TokenError::Signature));
        assert!(world.fetch(30_100).is_some(), "after the cooldown");
    }
}

/// The attempt fails: what is known stays, and tokens whose key is new still begin their own.
#[test]
fn an_attempt_for_a_forgery_that_fails_changes_nothing() {
    let (signer, next) = (Signer::p256(), Signer::p256());
    let world = World::new(&[signer.jwk("key-1")], false);
    let right = signer.token(&header(), &claims());
    let forged = forged(Some("key-1"));
    assert_eq!(world.verdict(&forged, 1_000), Some(TokenError::Signature));
    let fetch = world.fetch(1_000).unwrap();
    let failure = Err(FetchError::Status(500));
    assert_eq!(world.cache.fetched(fetch.attempt, failure, at(1_100).monotonic), None);
    assert_eq!(world.verdict(&right, 1_100), None);
    assert_eq!(world.cache.status()[0].failure, Some(FetchError::Status(500)));
    // Nor does one that is never reported.
    assert_eq!(world.verdict(&forged, 31_000), Some(TokenError::Signature));
    let fetch = world.fetch(31_000).unwrap();
    let token = next.token(&with(header(), "kid", "key-2"), &claims());
    for (now, known) in [(35_999, false), (36_000, true)] {
        let judged = world.cache.judge(&token, &mut world.cache.ask(at(now).monotonic), at(now));
        assert!(matches!(judged, Judged::Wait(_)), "{judged:?}");
        if let (Some(own), true) = (world.fetch(now), known) {
            world.serve(&own, &[signer.jwk("key-1"), next.jwk("key-2")], now);
        }
    }
    world.serve(&fetch, &[], 36_100);
    assert_eq!(world.verdict(&right, 36_100), None);
    // Forgetting an issuer's keys forgets the attempt, whose keys might be older.
    let world = World::new(&[signer.jwk("key-1")], false);
    assert_eq!(world.verdict(&forged, 1_000), Some(TokenError::Signature));
    let fetch = world.fetch(1_000).unwrap();
    assert_eq!(world.cache.forget(ISSUER), None);
    world.serve(&fetch, &[signer.jwk("key-1")], 1_100);
    assert_eq!(world.cache.status()[0].keys, 0);
}
