//! Tokens of a real OpenID provider, from its discovery document to a decision.

use core::time::Duration;
use std::time::SystemTime;

use orbgate::{Decision, Engine, Grant, MissingStep, Request, TokenKind};
use orbgate_testing::provider::Provider;
use orbgate_token::{
    Algorithm, FetchError, FetchSettings, Issuer, KeyFetcher, KindRules, Opaque, SecretSource, TokenError,
    VerifiedToken, Verifier,
};

const EVERY: [Algorithm; 4] = [Algorithm::Es256, Algorithm::Rs256, Algorithm::Ps256, Algorithm::EdDsa];

fn fetcher(provider: &Provider, settings: FetchSettings) -> KeyFetcher {
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    let issuer = Issuer::new(&provider.issuer, &provider.audience, kind)
        .algorithms(EVERY)
        .require(["sub", "client_id", "iat", "jti"])
        .max_lifetime(Duration::from_secs(600));
    let verifier = Verifier::new([issuer]).unwrap();
    let tls = KeyFetcher::system_tls().unwrap();
    KeyFetcher::with(verifier, settings, tls).unwrap()
}

/// Why an engine allows or denies a call with this token.
fn reason(token: &VerifiedToken, method: &str, path: &str) -> &'static str {
    decide(token, method, path).reason().as_str()
}

/// The engine's decision on a call with this token.
fn decide(token: &VerifiedToken, method: &str, path: &str) -> Decision<'static> {
    let target = format!("/api/v1/external{path}");
    let request = Request {
        method: method.as_bytes(),
        target: target.as_bytes(),
        token: Some(token.token()),
        allow_bonus_orbs_use: false,
    };
    Engine::external().decide(&request)
}

#[tokio::test]
async fn an_organisation_and_a_user_get_what_their_tokens_carry() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let fetcher = fetcher(&provider, FetchSettings::default());
    for algorithm in ["ES256", "RS256", "PS256", "EdDSA"] {
        provider.rotate(algorithm);
        // A fetcher of its own: within the cooldown, the other one would not see the new key.
        let fetcher = self::fetcher(&provider, FetchSettings::default());
        let token = provider.organisation("read:account");
        let verified = fetcher.verify(&token, SystemTime::now()).await.unwrap();
        assert_eq!(verified.kind(), TokenKind::Organisation);
        assert_eq!((verified.subject(), verified.client()), (Some("org-1"), Some("org-1")));
        assert_eq!(reason(&verified, "GET", "/account"), "scope_held");
        assert_eq!(reason(&verified, "POST", "/voxies"), "scope_missing");
        let inference = Engine::external().decide_scope("read:inference", Some(verified.token()), false);
        assert_eq!(inference.reason().as_str(), "user_token_required");

        let token = provider.user("read:account write:voxies");
        let verified = fetcher.verify(&token, SystemTime::now()).await.unwrap();
        assert_eq!(verified.kind(), TokenKind::User);
        assert_eq!((verified.subject(), verified.client()), (Some("user-7"), Some("app-1")));
        assert_eq!(reason(&verified, "POST", "/voxies/prompt/run"), "scope_held");
        assert_eq!(verified.issuer(), provider.issuer);
        assert!(verified.id().is_some());
    }
    let id_token = provider.id_token();
    let error = fetcher.verify(&id_token, SystemTime::now()).await.unwrap_err();
    assert_eq!(error, TokenError::Type, "an ID token is not an access token");
}

#[tokio::test]
async fn a_scope_takes_both_steps() {
    use MissingStep::{Both, NotDeclared, NotRequested, TokenOlder};
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let fetcher = fetcher(&provider, FetchSettings::default());
    let engine = Engine::external();
    // The scopes declared in the Permissions tab, requested in `scope` and carried by the token,
    // and what `GET /account` then lacks.
    let table = [
        ("read:account", "read:account", "read:account", None),
        ("read:account", "", "", Some(NotRequested)),
        ("read:account", "read:keys", "", Some(NotRequested)),
        ("", "read:account", "", Some(NotDeclared)),
        ("read:keys", "read:account", "", Some(NotDeclared)),
        ("", "", "", Some(Both)),
        ("read:keys", "read:keys", "read:keys", Some(Both)),
        ("read:account read:keys", "write:keys read:account", "read:account", None),
    ];
    for (declared, requested, carried, missing) in table {
        provider.declare(declared);
        let grant = Grant::new(declared, requested);
        for token in [provider.organisation(requested), provider.user(requested)] {
            let verified = fetcher.verify(token, SystemTime::now()).await.unwrap();
            assert_eq!(verified.scopes(), carried, "{declared} and {requested}");
            assert_eq!(grant.scopes(engine), Some(engine.scopes(carried)));
            let decision = decide(&verified, "GET", "/account");
            assert_eq!(decision.is_allow(), missing.is_none());
            assert_eq!(grant.missing_step(&decision, carried), missing);
        }
    }
    // A token that is older than its grant does not carry the scope.
    provider.declare("read:keys");
    let older = provider.user("read:account read:keys");
    provider.declare("read:account read:keys");
    let grant = Grant::new("read:account read:keys", "read:account read:keys");
    let older = fetcher.verify(older, SystemTime::now()).await.unwrap();
    let decision = decide(&older, "GET", "/account");
    assert_eq!(grant.missing_step(&decision, older.scopes()), Some(TokenOlder));
}

#[tokio::test]
async fn a_token_ends_with_its_lifetime() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let fetcher = fetcher(&provider, FetchSettings::default());
    provider.lifetime(100);
    let token = provider.organisation("read:account");
    let verified = fetcher.verify(&token, SystemTime::now()).await.unwrap();
    for (offset, expected) in [(59, None), (60, Some(TokenError::Expired))] {
        let time = verified.expires() + Duration::from_secs(offset);
        assert_eq!(fetcher.verify(&token, time).await.err(), expected);
    }
    provider.lifetime(601);
    let token = provider.organisation("read:account");
    let error = fetcher.verify(&token, SystemTime::now()).await.unwrap_err();
    assert_eq!(error, TokenError::Lifetime);
}

#[tokio::test]
async fn a_rotation_is_seen_by_the_first_token() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let fetcher = fetcher(&provider, FetchSettings::default());
    let old = provider.user("read:account");
    assert!(fetcher.verify(&old, SystemTime::now()).await.is_ok());
    provider.rotate("ES256");
    let new = provider.organisation("read:account");
    assert!(fetcher.verify(&new, SystemTime::now()).await.is_ok());
    assert_eq!(
        fetcher.verify(&old, SystemTime::now()).await.err(),
        Some(TokenError::KeyUnknown),
        "the old key is gone"
    );
    assert_eq!(provider.requests(), 3, "the first token, and both keys that were not there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_unknown_keys_asks_the_provider_a_few_times() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let fetcher = fetcher(&provider, FetchSettings::default());
    let token = provider.organisation("read:account");
    // The first tokens of a cold start arrive together, and all wait for one fetch.
    let first = (0..100).map(|_| {
        let (fetcher, token) = (fetcher.clone(), token.clone());
        tokio::spawn(async move { fetcher.verify(token, SystemTime::now()).await.is_ok() })
    });
    for task in first.collect::<Vec<_>>() {
        assert!(task.await.unwrap());
    }
    assert_eq!(provider.requests(), 1);
    let storm = (0..10_000).map(|number| {
        let (fetcher, token) = (fetcher.clone(), with_kid(&token, &format!("kid-{number}")));
        tokio::spawn(async move { fetcher.verify(token, SystemTime::now()).await.err() })
    });
    for task in storm.collect::<Vec<_>>() {
        assert_eq!(task.await.unwrap(), Some(TokenError::KeyUnknown));
    }
    let burst: u64 = FetchSettings::default().burst.into();
    assert!(provider.requests() <= 1 + burst, "within one cooldown");
    assert!(fetcher.verify(&token, SystemTime::now()).await.is_ok());
}

#[tokio::test]
async fn keys_outlive_their_provider_for_a_while() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let settings = FetchSettings {
        ttl: Duration::from_millis(300),
        ttl_min: Duration::from_millis(300),
        max_stale: Duration::from_secs(5),
        cooldown: Duration::from_millis(50),
        retry: Duration::from_millis(50),
        ..FetchSettings::default()
    };
    let fetcher = fetcher(&provider, settings);
    let token = provider.organisation("read:account");
    assert!(fetcher.verify(&token, SystemTime::now()).await.is_ok());
    drop(provider);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let result = fetcher.verify(&token, SystemTime::now()).await;
    assert!(result.is_ok(), "stale keys while the provider is down");
    let failure = fetcher.status().remove(0).failure;
    assert!(matches!(failure, Some(FetchError::Unconnected(_))), "{failure:?}");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(fetcher.verify(&token, SystemTime::now()).await.err(), Some(TokenError::NoKeys), "not for ever");
    assert_eq!(fetcher.status().first().unwrap().keys, 0);
}

/// The token with another `kid` in its header.
fn with_kid(token: &str, kid: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let (_, rest) = token.split_once('.').unwrap();
    let header = serde_json::json!({"alg": "ES256", "typ": "at+jwt", "kid": kid});
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()))
}

/// Opaque tokens, which the provider is asked about: until it has revoked them, and not with a wrong secret.
#[tokio::test]
async fn opaque_tokens_mean_what_their_provider_says() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    provider.opaque();
    let opaque = |provider: &Provider, secret: &str| {
        let source = SecretSource::Env("PROVIDER_SECRET".to_owned());
        let endpoint = format!("{}/token/introspection", provider.issuer);
        let opaque = Opaque::new(endpoint, "org-1", source).max_cache(Duration::from_secs(1));
        let kind = KindRules::named_by("token_kind", "user", "organisation");
        let issuer = Issuer::new(&provider.issuer, &provider.audience, kind);
        let verifier = Verifier::new([issuer.opaque(opaque)]).unwrap();
        let verifier = verifier.with_secrets(|_| Ok(secret.as_bytes().to_vec()));
        let tls = KeyFetcher::system_tls().unwrap();
        KeyFetcher::with(verifier.unwrap(), FetchSettings::default(), tls).unwrap()
    };
    let fetcher = opaque(&provider, &provider.secret);
    fetcher.fetch().await;
    let token = provider.organisation("read:account");
    assert!(!token.contains('.'), "a JWT: {token}");
    let verified = fetcher.verify(&token, SystemTime::now()).await.unwrap();
    assert_eq!(verified.kind(), TokenKind::Organisation);
    assert_eq!(verified.client(), Some("org-1"));
    assert_eq!(reason(&verified, "GET", "/account"), "scope_held");
    assert_eq!(reason(&verified, "POST", "/voxies"), "scope_missing");
    let user = provider.user("read:account write:voxies");
    let verified = fetcher.verify(&user, SystemTime::now()).await.unwrap();
    assert_eq!(verified.kind(), TokenKind::User);
    assert_eq!(verified.subject(), Some("user-7"));
    assert_eq!(reason(&verified, "POST", "/voxies/prompt/run"), "scope_held");
    // Revocation is seen within the second for which an answer is kept.
    provider.revoke(&token);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let error = |token: String| {
        let fetcher = &fetcher;
        async move { fetcher.verify(token, SystemTime::now()).await.err() }
    };
    assert_eq!(error(token).await, Some(TokenError::Inactive));
    assert_eq!(error("no-such-token".to_owned()).await, Some(TokenError::Inactive));
    let wrong = opaque(&provider, "wrong");
    let refused = wrong.verify(&user, SystemTime::now()).await.err();
    assert_eq!(refused, Some(TokenError::Unanswered));
    let failure = wrong.status().remove(0).failure;
    assert_eq!(failure, Some(FetchError::Status(401)));
}
