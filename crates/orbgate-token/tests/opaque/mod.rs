//! Opaque tokens, whose issuer is asked about them: by a simulated endpoint that is slow, lying, huge or down, and by clocks that are set.

mod bounds;

use core::time::Duration;
use std::time::SystemTime;

use orbgate::TokenKind;
use orbgate_testing::expected::Expected;
use orbgate_testing::signer::{Signer, claims, header, now, with};
use orbgate_token::{
    Asked, Fetch, FetchError, FetchSettings, Issuer, Judged, KeyCache, KeyFetcher, KindRules, Now, Opaque, Response,
    SecretSource, TokenError, VerifiedToken, Verifier,
};
use serde_json::{Value, json};

const ISSUER: &str = "https://id.example.com";
const ENDPOINT: &str = "https://id.example.com/introspect";
const API: &str = "https://api.example.com";

type Verdict = Result<VerifiedToken, TokenError>;

fn issuer(max_cache: u64) -> Issuer {
    let secret = SecretSource::Env("INTROSPECTION_SECRET".to_owned());
    let opaque = Opaque::new(ENDPOINT, "my-api", secret);
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    Issuer::new(ISSUER, API, kind).opaque(opaque.max_cache(Duration::from_secs(max_cache)))
}

fn cache(issuers: impl IntoIterator<Item = Issuer>) -> KeyCache {
    let verifier = Verifier::new(issuers).unwrap();
    let verifier = verifier.with_secrets(|_| Ok(b"s3cr3t\n".to_vec()));
    KeyCache::new(verifier.unwrap(), FetchSettings::default()).unwrap()
}

/// The response for a token that is active for ten minutes.
fn active() -> Value {
    json!({
        "active": true, "iss": ISSUER, "aud": API, "exp": seconds(now()) + 600, "sub": "user-7",
        "client_id": "app-1", "token_kind": "user", "scope": "read:orbs", "token_type": "Bearer",
    })
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_secs()
}

struct World {
    cache: KeyCache,
    ms: u64,
}

impl World {
    fn new(max_cache: u64) -> Self {
        let (cache, ms) = (cache([issuer(max_cache)]), 0);
        Self { cache, ms }
    }

    fn now(&self) -> Now {
        let monotonic = Duration::from_millis(self.ms);
        Now { time: now().checked_add(monotonic).unwrap(), monotonic }
    }

    fn fetch(&self) -> Option<Fetch> {
        self.cache.next_fetch(self.now().monotonic)
    }

    fn fetches(&self) -> Vec<Fetch> {
        core::iter::from_fn(|| self.fetch()).collect()
    }

    fn report(&self, fetch: &Fetch, status: u16, body: &[u8]) {
        let response = Response { status, cache_control: Some("max-age=86400"), body };
        let then = self.cache.fetched(fetch.attempt, Ok(response), self.now().monotonic);
        assert_eq!(then, None);
    }

    fn fail(&self, fetch: &Fetch, failure: FetchError) {
        let now = self.now().monotonic;
        assert_eq!(self.cache.fetched(fetch.attempt, Err(failure), now), None);
    }

    fn ask(&self, token: &str) -> (Asked, Option<Verdict>) {
        let mut progress = self.cache.ask(self.now().monotonic);
        let verdict = self.again(token, &mut progress);
        (progress, verdict)
    }

    fn again(&self, token: &str, progress: &mut Asked) -> Option<Verdict> {
        match self.cache.judge(token, progress, self.now()) {
            Judged::Verdict(verdict) => Some(verdict),
            Judged::Wait(_) => None,
            Judged::CheckSignature(_) => panic!("an opaque token has no signature"),
        }
    }

    /// The verdict on a token, if it is known without asking.
    fn known(&self, token: &str) -> Option<Verdict> {
        self.ask(token).1
    }

    /// The verdict on a token of which the endpoint says this.
    #[expect(clippy::panic_in_result_fn, reason = "a verdict is what it is about, not a failure of it")]
    fn verdict(&self, token: &str, status: u16, body: &[u8]) -> Verdict {
        let (mut progress, verdict) = self.ask(token);
        assert!(verdict.is_none(), "{verdict:?}");
        let fetches = self.fetches();
        assert_eq!(fetches.len(), 1);
        self.report(&fetches[0], status, body);
        self.again(token, &mut progress).unwrap()
    }

    fn says(&self, token: &str, body: &Value) -> Verdict {
        self.verdict(token, 200, body.to_string().as_bytes())
    }
}

#[test]
fn a_token_is_asked_about_once_and_its_claims_are_kept() {
    let mut world = World::new(60);
    let (mut first, verdict) = world.ask("opaque-1");
    let (mut second, none) = world.ask("opaque-1");
    assert!(verdict.is_none() && none.is_none());
    assert_eq!(world.cache.waiting(), 2);
    let fetch = world.fetch().unwrap();
    assert!(world.fetch().is_none(), "both wait for the same attempt");
    let post = fetch.post.as_ref().unwrap();
    assert_eq!(fetch.url, ENDPOINT);
    assert_eq!(post.authorization(), "Basic bXktYXBpOnMzY3IzdA==");
    assert_eq!(post.body(), "token=opaque-1&token_type_hint=access_token");
    let shown = format!("{fetch:?} {:?} {:?}", world.cache, cache([issuer(60)]));
    assert!(!shown.contains("opaque-1") && !shown.contains("bXk") && !shown.contains("s3cr3t"));
    world.ms = 300;
    world.report(&fetch, 200, active().to_string().as_bytes());
    for progress in [&mut first, &mut second] {
        let token = world.again("opaque-1", progress).unwrap().unwrap();
        assert_eq!((token.kind(), token.scopes()), (TokenKind::User, "read:orbs"));
        assert_eq!((token.issuer(), token.subject()), (ISSUER, Some("user-7")));
    }
    drop((first, second));
    assert_eq!(world.cache.waiting(), 0);
    // Counted from when the endpoint was asked, and not from its answer.
    for (ms, is_known) in [(1_000, true), (59_999, true), (60_000, false)] {
        world.ms = ms;
        assert_eq!(world.known("opaque-1").is_some(), is_known, "{ms}");
    }
}

#[test]
fn an_answer_is_judged_by_every_rule_and_a_refusal_lives_for_seconds() {
    let change = |name: &str, value: Value| with(active(), name, value);
    let without = |name: &str| {
        let mut answer = active();
        answer.as_object_mut().unwrap().remove(name);
        answer
    };
    let table = [
        (change("active", false.into()), TokenError::Inactive),
        (change("active", "true".into()), TokenError::Inactive),
        (without("active"), TokenError::Inactive),
        (json!({"active": false}), TokenError::Inactive),
        (change("iss", "https://evil.example".into()), TokenError::Issuer),
        (change("iss", 5.into()), TokenError::Issuer),
        (change("aud", "https://other.example".into()), TokenError::Audience),
        (without("aud"), TokenError::Audience),
        (without("exp"), TokenError::BadTime),
        (change("exp", (seconds(now()) - 61).into()), TokenError::Expired),
        (change("nbf", (seconds(now()) + 120).into()), TokenError::NotYetValid),
        (change("scope", json!(["a"])), TokenError::Scopes),
        (change("cnf", json!({"jkt": "a"})), TokenError::Bound),
        (change("token_type", "DPoP".into()), TokenError::Bound),
        (change("token_type", "Refresh".into()), TokenError::Type),
        (change("token_type", 1.into()), TokenError::Type),
    ];
    for (answer, error) in table {
        let mut world = World::new(60);
        assert_eq!(world.says("t", &answer), Err(error), "{answer}");
        world.ms = 4_999;
        assert_eq!(world.known("t"), Some(Err(error)), "{answer}");
        world.ms = 5_000;
        assert_eq!(world.known("t"), None, "{answer}");
    }
    let texts: [(&[u8], TokenError); 6] = [
        (br#"{"active":true,"active":true}"#, TokenError::DuplicateMember),
        (br#"{"active":false,"active":true}"#, TokenError::DuplicateMember),
        (b"<html>", TokenError::Unanswered),
        (b"", TokenError::Unanswered),
        (b"[true]", TokenError::Unanswered),
        (b"{\"active\":true\xff}", TokenError::Unanswered),
    ];
    for (text, error) in texts {
        assert_eq!(World::new(60).verdict("t", 200, text), Err(error));
    }
    // The endpoint is the issuer's own, so that it need not say whose.
    let token = World::new(60).says("t", &without("iss")).unwrap();
    assert_eq!(token.issuer(), ISSUER);
    let unknown = World::new(60).says("t", &without("token_kind")).unwrap();
    assert_eq!(unknown.kind(), TokenKind::Unknown);
}

#[test]
fn an_answer_is_not_used_beyond_the_tokens_end() {
    let mut world = World::new(600);
    let answer = with(active(), "exp", seconds(now()) + 10);
    let (mut progress, _) = world.ask("t");
    let fetch = world.fetch().unwrap();
    world.report(&fetch, 200, answer.to_string().as_bytes());
    world.ms = 9_999;
    assert!(world.known("t").unwrap().is_ok());
    world.ms = 10_000;
    assert!(world.known("t").is_none(), "`exp` counts, whatever the clocks allow");
    // The one that waited may use what the issuer said of it meanwhile, with the allowance for clocks.
    world.ms = 10_001;
    assert!(world.again("t", &mut progress).unwrap().is_ok());
}

#[test]
fn a_revoked_token_is_refused_within_the_stated_time() {
    let mut world = World::new(30);
    world.ms = 1_000;
    assert!(world.says("t", &active()).is_ok());
    // Revoked at once.
    world.ms = 30_999;
    assert!(world.known("t").unwrap().is_ok());
    world.ms = 31_000;
    assert_eq!(world.says("t", &json!({"active": false})), Err(TokenError::Inactive));
    assert_eq!(world.known("t"), Some(Err(TokenError::Inactive)));
    // A request from before both answers gets the later one.
    let mut world = World::new(1);
    let (mut before, _) = world.ask("t");
    let fetch = world.fetch().unwrap();
    world.report(&fetch, 200, active().to_string().as_bytes());
    world.ms = 1_000;
    assert_eq!(world.says("t", &json!({"active": false})), Err(TokenError::Inactive));
    assert_eq!(world.again("t", &mut before), Some(Err(TokenError::Inactive)));
    // An operator who can't wait has everything forgotten, and an answer that is under way is discarded.
    let mut world = World::new(3_600);
    assert!(world.says("t", &active()).is_ok());
    let (mut progress, _) = world.ask("u");
    let fetch = world.fetch().unwrap();
    assert!(world.cache.forget(ISSUER).is_some());
    assert!(world.known("t").is_none());
    world.report(&fetch, 200, active().to_string().as_bytes());
    world.ms = 1;
    assert_eq!(world.again("u", &mut progress), None, "it is asked about again");
    assert!(!world.fetches().is_empty());
}

#[test]
fn failures_are_401_at_once_and_an_endpoint_that_fails_is_left_alone() {
    let failures = [FetchError::Unreachable, FetchError::Timeout, FetchError::BadUrl];
    let statuses = [401, 302, 503, 404, 429].map(Ok);
    for failure in failures.into_iter().map(Err).chain(statuses) {
        let mut world = World::new(60);
        assert!(world.says("good", &active()).is_ok());
        for number in 0..4 {
            let token = format!("t{number}");
            let (mut progress, verdict) = world.ask(&token);
            assert_eq!(verdict, None);
            let fetch = world.fetch().unwrap();
            match &failure {
                Ok(status) => world.report(&fetch, *status, b"{}"),
                Err(failure) => world.fail(&fetch, failure.clone()),
            }
            assert_eq!(world.again(&token, &mut progress), Some(Err(TokenError::Unanswered)));
        }
        assert!(world.cache.status()[0].failure.is_some());
        // It rests for a second: nobody waits, and what is known stays.
        assert_eq!(world.known("u"), Some(Err(TokenError::Unanswered)));
        assert!(world.fetch().is_none());
        assert!(world.known("good").unwrap().is_ok());
        world.ms = 1_000;
        let (_one, verdict) = world.ask("u");
        assert_eq!(verdict, None);
        assert_eq!(world.known("v"), Some(Err(TokenError::Unanswered)), "one at a time");
        let fetch = world.fetch().unwrap();
        world.report(&fetch, 200, active().to_string().as_bytes());
        assert!(world.known("u").unwrap().is_ok());
        assert!(world.cache.status()[0].failure.is_none());
        assert_eq!(world.known("v"), None);
    }
}

/// Any caller can send a token that makes an endpoint fail.
#[test]
fn a_failure_that_a_token_may_cause_says_nothing_of_others() {
    let world = World::new(60);
    for number in 0..20 {
        let status = [400, 413, 414, 422, 431][number % 5];
        let verdict = world.verdict(&format!("t{number}"), status, b"");
        assert_eq!(verdict, Err(TokenError::Unanswered));
    }
    let huge = vec![b' '; (256 << 10) + 1];
    assert_eq!(world.verdict("huge", 200, &huge), Err(TokenError::Unanswered));
    for number in 0..5 {
        let verdict = world.verdict(&format!("page{number}"), 200, b"<html>");
        assert_eq!(verdict, Err(TokenError::Unanswered));
    }
    assert_eq!(world.cache.status()[0].failure, Some(FetchError::NotJson));
    assert!(world.says("good", &active()).is_ok());
    assert!(world.cache.status()[0].failure.is_none());
}

#[test]
fn each_issuer_gets_the_tokens_of_its_prefix_and_a_jwt_that_names_it() {
    let with_prefix = |name: &str, prefix: Option<&str>| {
        let kind = KindRules::Always(TokenKind::User);
        let secret = SecretSource::File("/run/secrets/a".to_owned());
        let opaque = Opaque::new(format!("{name}/introspect"), "api", secret);
        let opaque = match prefix {
            Some(prefix) => opaque.prefix(prefix),
            None => opaque,
        };
        Issuer::new(name, API, kind).opaque(opaque)
    };
    let signed = Issuer::new(ISSUER, API, KindRules::Always(TokenKind::User));
    let all = cache([
        with_prefix("https://a", Some("a_")),
        with_prefix("https://aa", Some("a_a")),
        with_prefix("https://rest", None),
        signed.clone(),
    ]);
    let only_prefix = cache([with_prefix("https://a", Some("a_")), signed]);
    let jwt = |issuer: &str| Signer::p256().token(&header(), &with(claims(), "iss", issuer));
    let cut = jwt("https://a").replace('.', "");
    for (cache, token, expected) in [
        (&all, "a_b".to_owned(), Ok("https://a/introspect")),
        (&all, "a_ab".to_owned(), Ok("https://aa/introspect")),
        (&all, "b".to_owned(), Ok("https://rest/introspect")),
        (&all, "v4.local.AAAA".to_owned(), Ok("https://rest/introspect")),
        (&all, cut, Ok("https://rest/introspect")),
        (&all, jwt("https://a"), Ok("https://a/introspect")),
        (&all, jwt(ISSUER), Ok("https://id.example.com/.well-known/openid-configuration")),
        // What is meant as another issuer's JWT is never sent to one that it doesn't name.
        (&all, jwt("https://b"), Err(TokenError::Issuer)),
        (&all, format!("{}=", jwt(ISSUER)), Err(TokenError::BadEncoding)),
        (&all, format!("{}.a.b", jwt("https://a")), Err(TokenError::NotCompact)),
        (&all, "a".repeat(16_385), Err(TokenError::TooLong)),
        (&only_prefix, "b".to_owned(), Err(TokenError::NotCompact)),
        (&only_prefix, "a_b".to_owned(), Ok("https://a/introspect")),
    ] {
        let now = Now { time: now(), monotonic: Duration::from_secs(100) };
        let judged = cache.judge(&token, &mut cache.ask(now.monotonic), now);
        let fetch = cache.next_fetch(now.monotonic);
        match expected {
            Ok(url) => assert_eq!(fetch.unwrap().url, url, "{token}"),
            Err(error) => {
                assert!(fetch.is_none(), "{token}");
                assert!(matches!(judged, Judged::Verdict(Err(it)) if it == error), "{token}");
            }
        }
    }
}

#[test]
fn a_signature_never_counts_for_an_issuer_that_is_asked() {
    let signer = Signer::p256();
    let verifier = Verifier::new([issuer(60)]).unwrap();
    let keys = orbgate_testing::signer::keys(&[signer.jwk("key-1")]);
    let token = signer.token(&header(), &with(claims(), "iss", ISSUER));
    assert_eq!(verifier.verify(&token, &keys, now()).unwrap_err(), TokenError::NoKeys);
}

#[test]
fn without_its_secret_nothing_begins() {
    let verifier = Verifier::new([issuer(60)]).unwrap();
    let sources: Vec<_> = verifier.missing_secrets().collect();
    assert_eq!(sources, [&SecretSource::Env("INTROSPECTION_SECRET".to_owned())]);
    let error = KeyCache::new(verifier.clone(), FetchSettings::default()).unwrap_err();
    let mut expected = Expected::default();
    expected.add("a cache of keys", [error]);
    let tls = KeyFetcher::system_tls().unwrap();
    let fetcher = KeyFetcher::with(verifier.clone(), FetchSettings::default(), tls);
    expected.add("a fetcher", [fetcher.unwrap_err()]);
    let denied = verifier.with_secrets(|_| Err(std::io::ErrorKind::PermissionDenied.into()));
    expected.add("without permission", [denied.unwrap_err()]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "opaque: without the secret");
}

#[test]
fn what_an_endpoint_says_is_explained() {
    let verifier = Verifier::new([issuer(60)]).unwrap();
    let jwt = Signer::p256().token(&header(), &with(claims(), "iss", ISSUER));
    for token in ["opaque-1", &jwt] {
        let explained = verifier.explain(token, None, now());
        assert_eq!(explained.refused, Some(TokenError::Unanswered));
        assert!(explained.hint.unwrap().contains(ENDPOINT));
        let explain = |answer: &Value| verifier.explain_introspected(token, answer.to_string(), now());
        let accepted = explain(&active());
        assert_eq!((accepted.refused, accepted.kind), (None, Some(TokenKind::User)));
        assert_eq!(accepted.scopes.as_deref(), Some("read:orbs"));
        for (name, value, error, hint) in [
            ("active", false.into(), TokenError::Inactive, "`active` is `false`"),
            ("aud", "a".into(), TokenError::Audience, "`https://api.example.com`"),
            ("iss", "a".into(), TokenError::Issuer, "`https://id.example.com`"),
            ("token_type", "Refresh".into(), TokenError::Type, "`token_type` is `Refresh`"),
            ("token_kind", Value::Null, TokenError::UnknownKind, "`token_kind`"),
        ] {
            let explained = explain(&with(active(), name, value));
            assert_eq!(explained.refused, Some(error));
            let actual = explained.hint.unwrap();
            assert!(actual.contains(hint), "{actual}");
        }
    }
}

/// A reload keeps what is known only where the rules are the same, and so nothing of another issuer configuration.
#[test]
fn answers_are_known_by_the_issuers_rules() {
    let world = World::new(60);
    assert!(world.says("t", &active()).is_ok());
    let known = |next: Issuer, secret: &str| {
        let verifier = Verifier::new([next]).unwrap();
        let verifier = verifier.with_secrets(|_| Ok(secret.as_bytes().to_vec())).unwrap();
        let cache = KeyCache::new(verifier, FetchSettings::default()).unwrap();
        let ms = 1;
        let world = World { cache: cache.taking_over(&world.cache), ms };
        world.known("t").is_some()
    };
    assert!(known(issuer(60), "s3cr3t"));
    assert!(!known(issuer(60), "another"));
    assert!(!known(issuer(61), "s3cr3t"));
    assert!(!known(issuer(60).require(["jti"]), "s3cr3t"));
    assert!(!known(issuer(60).or_audiences(["https://other.example"]), "s3cr3t"));
}

/// Answers to another secret may be those of another client.
#[test]
fn a_secret_that_changes_is_used_for_the_next_question() {
    let world = World::new(60);
    let read = |secret: &str| {
        let cache = &world.cache;
        cache.read_secrets(|_| Ok(secret.as_bytes().to_vec()))
    };
    assert!(world.says("t", &active()).is_ok());
    read("s3cr3t\n").unwrap();
    let denied = world.cache.read_secrets(|_| Err(std::io::ErrorKind::PermissionDenied.into()));
    assert_eq!(denied.unwrap_err().to_string(), "`client_secret_env` INTROSPECTION_SECRET: permission denied");
    assert!(world.known("t").is_some(), "nothing has changed");

    let (mut progress, _) = world.ask("u");
    let before = world.fetch().unwrap();
    read("another").unwrap();
    assert!(world.known("t").is_none(), "what was said is forgotten");
    let bodies: Vec<_> = world.fetches().into_iter().map(|it| it.post).collect();
    let [Some(post)] = bodies.as_slice() else {
        panic!("{bodies:?}");
    };
    // my-api:another
    assert_eq!(post.authorization(), "Basic bXktYXBpOmFub3RoZXI=");
    world.report(&before, 200, active().to_string().as_bytes());
    let verdict = world.again("u", &mut progress);
    assert!(verdict.is_none(), "it answered the former secret");
}
