//! Fetching keys from servers that are down, slow, huge, lying or not to be trusted.

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use crate::server::{Reply, Server, empty, ok};
use orbgate_testing::signer::{AUDIENCE, Signer, claims, header, now, with};
use orbgate_token::{
    Algorithm, FetchError, FetchSettings, Issuer, KeyFetcher, KeySetError, KeyWarning, KindRules, TokenError, Verifier,
    rustls,
};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::{Value, json};

const QUICK: FetchSettings = FetchSettings {
    ttl: Duration::from_secs(600),
    ttl_min: Duration::from_millis(100),
    ttl_max: Duration::from_secs(600),
    max_stale: Duration::from_secs(600),
    ahead_percent: 80,
    cooldown: Duration::from_millis(1),
    burst: 4,
    retry: Duration::from_millis(1),
    timeout: Duration::from_secs(2),
    max_waiting: 1024,
};

struct World {
    server: Server,
    signer: Signer,
    fetcher: KeyFetcher,
    issuer: String,
}

impl World {
    /// A world whose issuer has its keys at `/jwks`.
    async fn new(settings: FetchSettings) -> Self {
        let server = Server::start().await;
        let url = server.url("/jwks");
        Self::with(server, settings, |issuer| issuer.jwks_uri(url), "")
    }

    /// A world in which the keys are found by discovery.
    async fn discovering(path: &str) -> Self {
        let server = Server::start().await;
        Self::with(server, QUICK, |issuer| issuer, path)
    }

    fn with(server: Server, settings: FetchSettings, change: impl FnOnce(Issuer) -> Issuer, path: &str) -> Self {
        let issuer = server.url(path);
        let kind = KindRules::named_by("token_kind", "user", "organisation");
        let rules = change(Issuer::new(&issuer, AUDIENCE, kind).algorithms([Algorithm::Es256]));
        let verifier = Verifier::new([rules]).unwrap();
        let fetcher = KeyFetcher::with(verifier, settings, tls(RootCertStore::empty())).unwrap();
        let signer = Signer::p256();
        server.reply("/jwks", Reply::json(jwks(&signer, "key-1")));
        Self { server, signer, fetcher, issuer }
    }

    fn token(&self, kid: &str) -> String {
        let claims = with(claims(), "iss", self.issuer.as_str());
        self.signer.token(&with(header(), "kid", kid), &claims)
    }

    async fn verify(&self, kid: &str) -> Option<TokenError> {
        self.fetcher.verify(self.token(kid), now()).await.err()
    }

    fn failure(&self) -> Option<FetchError> {
        self.fetcher.status().remove(0).failure
    }
}

fn jwks(signer: &Signer, kid: &str) -> Value {
    json!({ "keys": [signer.jwk(kid)] })
}

fn tls(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_fetch_never_evicts_good_keys() {
    let keys = |count: usize| {
        let keys: Vec<_> = (0..count).map(|number| json!({"kty": "RSA", "kid": number.to_string()})).collect();
        Reply::json(json!({ "keys": keys }))
    };
    let html = "<html>we are down for maintenance</html>";
    let redirect = "HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
    let compressed = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n\x1f!";
    let set = FetchError::KeySet;
    let unusable = |count: usize| {
        let message = "a part of the key is missing";
        let warnings = (0..count).map(|index| KeyWarning { index, message });
        KeySetError::NoUsableKey(warnings.collect())
    };
    let table = [
        (Reply::Close, FetchError::Unconnected("connection closed before message completed".into())),
        (Reply::Raw("no http".to_owned()), FetchError::Unconnected("invalid HTTP version parsed".into())),
        (Reply::Silence, FetchError::Timeout),
        (Reply::Dribble, FetchError::Timeout),
        (Reply::Endless, FetchError::TooLarge),
        (Reply::json(" ".repeat(10 << 20)), FetchError::TooLarge),
        (Reply::Raw(redirect.to_owned()), FetchError::Status(302)),
        (Reply::status("500 Oops"), FetchError::Status(500)),
        (Reply::status("404 Not Found"), FetchError::Status(404)),
        (Reply::status("204 No Content"), FetchError::Status(204)),
        (Reply::Raw(ok("text/html", html)), set(KeySetError::NotAKeySet)),
        (Reply::Raw(compressed.to_owned()), set(KeySetError::NotAKeySet)),
        (Reply::json("[]"), set(KeySetError::NotAKeySet)),
        (Reply::json("{}"), set(KeySetError::NotAKeySet)),
        (Reply::json(r#"{"keys":{}}"#), set(KeySetError::NotAKeySet)),
        (Reply::json(r#"{"keys":[],"keys":[]}"#), set(KeySetError::DuplicateMember)),
        (keys(0), set(unusable(0))),
        (keys(64), set(unusable(64))),
        (keys(65), set(KeySetError::TooManyKeys)),
    ];
    let world = World::new(QUICK).await;
    let elsewhere = jwks(&Signer::p256(), "key-2");
    world.server.reply("/elsewhere", Reply::json(elsewhere));
    assert_eq!(world.verify("key-1").await, None);
    for (number, (reply, failure)) in table.into_iter().enumerate() {
        world.server.reply("/jwks", reply);
        tokio::time::sleep(QUICK.cooldown).await;
        let start = Instant::now();
        let kid = format!("unknown-{number}");
        assert_eq!(world.verify(&kid).await, Some(TokenError::KeyUnknown));
        assert!(start.elapsed() < Duration::from_secs(8), "{failure:?}");
        assert_eq!(world.failure(), Some(failure.clone()));
        assert_eq!(world.verify("key-1").await, None, "after {failure:?}");
    }
    let good = jwks(&world.signer, "key-2");
    world.server.reply("/jwks", Reply::json(good));
    tokio::time::sleep(QUICK.cooldown).await;
    assert_eq!(world.verify("key-2").await, None);
    assert_eq!(world.failure(), None);
    assert_eq!(world.verify("key-1").await, Some(TokenError::KeyUnknown));
}

#[tokio::test]
async fn discovery_must_be_of_the_configured_issuer() {
    const DISCOVERY: &str = "/tenant/.well-known/openid-configuration";
    let world = World::discovering("/tenant/").await;
    let (issuer, origin) = (&world.issuer, &world.server.origin);
    let keys = world.server.url("/jwks");
    let table = [
        (
            json!({"issuer": "https://evil.example", "jwks_uri": keys}),
            FetchError::WrongIssuer("https://evil.example".into()),
        ),
        (
            json!({"issuer": format!("{origin}/tenant"), "jwks_uri": keys}),
            FetchError::WrongIssuer(format!("{origin}/tenant").into()),
        ),
        (json!({"issuer": [issuer], "jwks_uri": keys}), FetchError::BadDiscovery),
        (json!({"issuer": issuer}), FetchError::BadDiscovery),
        (json!({"issuer": issuer, "jwks_uri": 7}), FetchError::BadDiscovery),
        (json!([issuer]), FetchError::BadDiscovery),
        (json!({"issuer": issuer, "jwks_uri": "http://keys.example.com/"}), FetchError::BadUrl),
        (json!({"issuer": issuer, "jwks_uri": "file:///etc/passwd"}), FetchError::BadUrl),
        (json!({"issuer": issuer, "jwks_uri": "/jwks"}), FetchError::BadUrl),
        (json!({"issuer": issuer, "jwks_uri": "https://exa mple/"}), FetchError::BadUrl),
    ];
    assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
    assert_eq!(world.failure(), Some(FetchError::Status(404)));
    for (document, failure) in table {
        world.server.reply(DISCOVERY, Reply::json(&document));
        tokio::time::sleep(QUICK.cooldown).await;
        assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
        assert_eq!(world.failure(), Some(failure), "{document}");
    }
    let honest = json!({"issuer": issuer, "jwks_uri": keys});
    world.server.reply(DISCOVERY, Reply::json(honest));
    tokio::time::sleep(QUICK.cooldown).await;
    assert_eq!(world.verify("key-1").await, None);
}

#[tokio::test]
async fn failures_count_for_the_next_attempt() {
    let settings = FetchSettings { cooldown: Duration::from_secs(30), retry: Duration::from_secs(30), ..QUICK };
    let world = World::new(settings).await;
    world.server.reply("/jwks", Reply::status("503 Busy"));
    for _ in 0..100 {
        assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
    }
    assert_eq!(world.server.hits(), 1);
}

#[tokio::test]
async fn an_issuer_that_comes_back_is_found_soon() {
    let settings = FetchSettings { cooldown: Duration::from_secs(600), retry: Duration::from_millis(300), ..QUICK };
    let world = World::new(settings).await;
    world.server.reply("/jwks", Reply::status("503 Busy"));
    assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
    let good = jwks(&world.signer, "key-1");
    world.server.reply("/jwks", Reply::json(good));
    let back = Instant::now();
    while world.verify("key-1").await.is_some() {
        assert!(back.elapsed() < Duration::from_secs(20), "{:?}", world.failure());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(world.server.hits() < 5);
}

#[tokio::test]
async fn nobody_waits_for_an_issuer_that_fails_but_who_asks_it() {
    let settings = QUICK;
    let world = World::new(settings).await;
    world.server.reply("/jwks", Reply::Silence);
    assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
    tokio::time::sleep(settings.retry).await;
    let begun = Instant::now();
    let waiting = async {
        assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
        assert!(begun.elapsed() >= settings.timeout);
    };
    let others = async {
        // All later callers are refused at once.
        tokio::time::sleep(Duration::from_millis(50)).await;
        for _ in 0..100 {
            assert_eq!(world.verify("key-1").await, Some(TokenError::NoKeys));
        }
        assert!(begun.elapsed() < settings.timeout);
    };
    tokio::join!(waiting, others);
}

#[tokio::test]
async fn a_forged_key_id_does_not_lock_the_next_key_out() {
    let settings = FetchSettings { cooldown: Duration::from_secs(1), ..QUICK };
    let world = World::new(settings).await;
    assert_eq!(world.verify("key-1").await, None);
    // An attacker knows the `kid` of the next key.
    assert_eq!(world.verify("key-2").await, Some(TokenError::KeyUnknown));
    let rotated = jwks(&world.signer, "key-2");
    world.server.reply("/jwks", Reply::json(rotated));
    tokio::time::sleep(settings.cooldown).await;
    assert_eq!(world.verify("key-2").await, None);
}

#[tokio::test]
async fn a_rotation_is_seen_at_once_beside_a_few_forged_tokens() {
    let settings = FetchSettings { cooldown: Duration::from_secs(600), ..QUICK };
    let world = World::new(settings).await;
    assert_eq!(world.verify("key-1").await, None);
    for kid in ["forged-1", "forged-1", "forged-2", "forged-3", "forged-3"] {
        assert_eq!(world.verify(kid).await, Some(TokenError::KeyUnknown));
    }
    assert_eq!(world.server.hits(), 4, "one for each of them");
    let rotated = jwks(&world.signer, "key-2");
    world.server.reply("/jwks", Reply::json(rotated));
    assert_eq!(world.verify("key-2").await, None);
    // That was the last of the burst.
    for number in 4..1000 {
        let kid = format!("forged-{number}");
        assert_eq!(world.verify(&kid).await, Some(TokenError::KeyUnknown));
    }
    assert_eq!(world.server.hits(), 5);
}

#[tokio::test]
async fn an_operator_revokes_a_key_and_forgets_an_issuer() {
    let settings = FetchSettings { cooldown: Duration::from_secs(600), retry: Duration::from_secs(600), ..QUICK };
    let world = World::new(settings).await;
    let (second, third) = (Signer::p256(), Signer::p256());
    let verify = async |signer: &Signer, kid: &str| {
        let claims = with(claims(), "iss", world.issuer.as_str());
        world.fetcher.verify(signer.token(&with(header(), "kid", kid), &claims), now()).await.err()
    };
    let both = json!({ "keys": [world.signer.jwk("key-1"), second.jwk("key-2")] });
    world.server.reply("/jwks", Reply::json(&both));
    assert_eq!(world.verify("key-1").await, None);
    let keys = |world: &World| world.fetcher.status().remove(0).keys;
    assert_eq!(keys(&world), 2);
    world.fetcher.revoke(&world.issuer, "key-1");
    assert_eq!(keys(&world), 1);
    assert_eq!(world.verify("key-1").await, Some(TokenError::KeyRevoked));
    assert_eq!(verify(&second, "key-2").await, None);
    assert_eq!(world.server.hits(), 1, "nobody asks for a revoked key");
    // The issuer has withdrawn a key, and its keys would still be good for minutes.
    let rest = json!({ "keys": [world.signer.jwk("key-1"), third.jwk("key-3"), world.signer.jwk("key-4")] });
    world.server.reply("/jwks", Reply::json(&rest));
    assert_eq!(verify(&second, "key-2").await, None);
    world.fetcher.forget(&world.issuer).await;
    assert_eq!(verify(&second, "key-2").await, Some(TokenError::KeyUnknown));
    assert_eq!(verify(&third, "key-3").await, None);
    assert_eq!(world.verify("key-4").await, Some(TokenError::KeyRevoked), "the same key under another name");
    assert_eq!(world.verify("key-1").await, Some(TokenError::KeyRevoked), "it stays revoked");
    world.fetcher.forget("https://nobody.example").await;
}

#[tokio::test]
async fn a_key_that_is_missing_is_asked_for_once_in_a_cooldown() {
    let settings = FetchSettings { cooldown: Duration::from_secs(600), ..QUICK };
    let world = World::new(settings).await;
    assert_eq!(world.verify("key-1").await, None);
    for (kid, hits) in [("a", 2), ("a", 2), ("b", 3), ("a", 3), ("b", 3), ("c", 4)] {
        assert_eq!(world.verify(kid).await, Some(TokenError::KeyUnknown));
        assert_eq!(world.server.hits(), hits, "{kid}");
    }
}

#[tokio::test]
async fn keys_are_refreshed_ahead_without_waiting() {
    // From 4 s on a token starts a fetch, from 5 s on a token would wait for it.
    let settings = FetchSettings { ttl: Duration::from_secs(5), ..QUICK };
    let world = World::new(settings).await;
    assert_eq!(world.verify("key-1").await, None);
    let late = ok("application/json", &jwks(&world.signer, "key-2").to_string());
    let delay = Duration::from_secs(1);
    world.server.reply("/jwks", Reply::Late(delay, late));
    tokio::time::sleep(Duration::from_millis(4050)).await;
    let start = Instant::now();
    assert_eq!(world.verify("key-1").await, None);
    assert!(start.elapsed() < delay, "the old keys serve meanwhile");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(world.verify("key-2").await, None);
    assert_eq!(world.server.hits(), 2);
}

#[tokio::test]
async fn a_slow_issuer_is_waited_for_once() {
    let settings = FetchSettings { ttl: QUICK.ttl_min, ..QUICK };
    let world = World::new(settings).await;
    assert_eq!(world.verify("key-1").await, None);
    world.server.reply("/jwks", Reply::Silence);
    for waits in [true, false, false] {
        tokio::time::sleep(settings.ttl).await;
        let start = Instant::now();
        assert_eq!(world.verify("key-1").await, None);
        assert_eq!(start.elapsed() >= settings.timeout, waits);
        assert_eq!(world.failure(), Some(FetchError::Timeout));
    }
    let good = jwks(&world.signer, "key-1");
    world.server.reply("/jwks", Reply::json(good));
    // The attempt that is under way still has to fail, and then one has to succeed.
    let recovery = Instant::now();
    while world.failure().is_some() && recovery.elapsed() < Duration::from_secs(20) {
        assert_eq!(world.verify("key-1").await, None);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(world.failure(), None);
}

#[tokio::test]
async fn who_waits_for_a_fetch_under_way_does_not_ask_again() {
    let world = World::new(QUICK).await;
    let good = jwks(&world.signer, "key-1").to_string();
    let late = Reply::Late(Duration::from_millis(400), ok("application/json", &good));
    world.server.reply("/jwks", late);
    let second = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        world.verify("key-1").await
    };
    assert_eq!(tokio::join!(world.verify("key-1"), second), (None, None));
    assert_eq!(world.server.hits(), 1);
}

/// The fetch under way began before they asked, so its failure is no answer to them. One more attempt
/// answers all of them.
#[tokio::test]
async fn those_who_wait_for_a_fetch_that_fails_ask_once_together() {
    let world = World::new(QUICK).await;
    let late = Reply::Late(Duration::from_millis(400), empty("503 Busy"));
    world.server.reply("/jwks", late);
    let later = async || {
        tokio::time::sleep(Duration::from_millis(100)).await;
        world.verify("key-1").await
    };
    let errors = tokio::join!(world.verify("key-1"), later(), later());
    let none = Some(TokenError::NoKeys);
    assert_eq!(errors, (none, none, none));
    assert_eq!(world.server.hits(), 2);
}

#[tokio::test]
async fn an_issuer_says_how_long_its_keys_are_good_for() {
    let world = World::new(QUICK).await;
    let body = jwks(&world.signer, "key-1").to_string();
    let short = ok("application/json", &body).replacen("\r\n", "\r\ncache-control: max-age=0\r\n", 1);
    world.server.reply("/jwks", Reply::Raw(short));
    assert_eq!(world.verify("key-1").await, None);
    tokio::time::sleep(QUICK.ttl_min).await;
    assert_eq!(world.verify("key-1").await, None);
    assert_eq!(world.server.hits(), 2);
}

#[tokio::test]
async fn a_fetch_goes_on_when_its_request_goes_away() {
    let settings = FetchSettings { cooldown: Duration::from_secs(30), retry: Duration::from_secs(30), ..QUICK };
    let world = World::new(settings).await;
    let late = ok("application/json", &jwks(&world.signer, "key-1").to_string());
    let reply = Reply::Late(Duration::from_millis(200), late);
    world.server.reply("/jwks", reply);
    let impatient = tokio::time::timeout(Duration::from_millis(50), world.verify("key-1"));
    assert!(impatient.await.is_err());
    assert_eq!(world.verify("key-1").await, None);
    assert_eq!(world.server.hits(), 1);
}

#[tokio::test]
async fn keys_can_be_fetched_before_the_first_token() {
    let world = World::new(QUICK).await;
    world.fetcher.fetch().await;
    let status = world.fetcher.status();
    let status = status.first().unwrap();
    assert_eq!((status.keys, status.failure.clone()), (1, None));
    assert!(status.fetched.is_some() && status.warnings.is_empty());
    let keys = world.fetcher.keys();
    assert!(keys.of(&world.issuer).is_some());
    // Tokens that are wrong in another way start no fetch.
    for token in ["", "a.b.c", "x", &world.token("key-1").replace('.', "")] {
        assert!(world.fetcher.verify(token, now()).await.is_err());
    }
    assert_eq!(world.server.hits(), 1);
    let shown = format!("{:?}", world.fetcher);
    let jwk = world.signer.jwk("key-1");
    assert!(!shown.contains(jwk["x"].as_str().unwrap()) && !shown.contains("key-1"));
}

#[tokio::test]
async fn https_is_only_with_who_is_trusted() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = certified.cert.der().clone();
    let key = certified.signing_key.serialize_der();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.try_into().unwrap())
        .unwrap();
    let server = Server::start_tls(config).await;
    let plain = Server::start().await;
    let (issuer, signer) = (server.origin.clone(), Signer::p256());
    for server in [&server, &plain] {
        server.reply("/jwks", Reply::json(jwks(&signer, "key-1")));
    }
    let discover = |keys: String| {
        let document = json!({"issuer": issuer, "jwks_uri": keys});
        server.reply("/.well-known/openid-configuration", Reply::json(document));
    };
    let mut trusting = RootCertStore::empty();
    trusting.add(certificate).unwrap();
    let table = [
        (
            RootCertStore::empty(),
            server.url("/jwks"),
            Some(FetchError::Unconnected("invalid peer certificate: UnknownIssuer".into())),
        ),
        (trusting.clone(), server.url("/jwks"), None),
        // A server elsewhere must not send us to an address of this machine.
        (trusting, plain.url("/jwks"), Some(FetchError::BadUrl)),
    ];
    for (roots, keys, failure) in table {
        discover(keys);
        let kind = KindRules::named_by("token_kind", "user", "organisation");
        let rules = Issuer::new(&issuer, AUDIENCE, kind).algorithms([Algorithm::Es256]);
        let verifier = Verifier::new([rules]).unwrap();
        let fetcher = KeyFetcher::with(verifier, FetchSettings::default(), tls(roots)).unwrap();
        let token = signer.token(&header(), &with(claims(), "iss", issuer.as_str()));
        let verified = fetcher.verify(token, now()).await;
        assert_eq!(fetcher.status().remove(0).failure, failure);
        assert_eq!(verified.is_ok(), failure.is_none());
    }
    assert_eq!(plain.hits(), 0);
}
