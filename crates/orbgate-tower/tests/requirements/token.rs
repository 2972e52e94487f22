//! What is required of tokens.

use orbgate::{Engine, Policy};
use orbgate_token::{Algorithm, FetchSettings, KeyFetcher, Keys, Verifier, rustls};
use orbgate_tower::{Engines, KeyHolder};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::Tokens;
use crate::{Gated, ORBS, bearing, get};
use orbgate_testing::signer::{self, ISSUER, header, with, without};

/// A layer, what signs for it, and the claims of a token that may call it.
pub(crate) fn world() -> (Gated<KeyHolder>, Tokens, Value) {
    let tokens = Tokens::new();
    let gated = Gated::new(tokens.verifier());
    (gated, tokens, claims())
}

fn claims() -> Value {
    with(Tokens::claims(600), "scope", "read:orbs")
}

#[tokio::test]
async fn t12_an_unknown_kind_may_nothing() {
    let (gated, tokens, claims) = world();
    let of_kind = |kind: Value| tokens.sign(&header(), &with(claims.clone(), "token_kind", kind));
    for kind in ["user", "organisation"] {
        assert_eq!(gated.present(&of_kind(json!(kind))).await, (204, None));
    }
    for kind in [json!("User"), json!("robot"), json!(["user"]), json!(null), json!(1)] {
        let outcome = gated.ask(bearing(get(ORBS), &of_kind(kind.clone()))).await;
        assert_eq!(outcome.status, 401, "{kind}");
        assert_eq!(outcome.record["reason"], "invalid_token");
        // The token itself is right: a verifier doesn't refuse an unknown kind, and the record says why the gate does.
        assert_eq!(outcome.record["token_refused"], "unknown_kind");
        assert_eq!(outcome.record["token_kind"], "unknown");
    }
    let nobody = tokens.sign(&header(), &without(claims.clone(), "token_kind"));
    assert_eq!(gated.present(&nobody).await, (401, Some("unknown_kind".to_owned())));
    let unsaid = "orbgate: 1\napis: { i: { token: user, scopes: { a: { routes: [] } } } }\n";
    let error = Policy::from_yaml(unsaid).unwrap_err().to_string();
    assert!(error.contains("organisation"), "{error}");
}

#[tokio::test]
async fn t14_keys_are_swapped_all_at_once() {
    fn check<T: Send + Sync>() {}
    check::<Verifier>();
    check::<Keys>();
    let (before, after) = (Tokens::new(), Tokens::new());
    let verifier = before.verifier();
    let gated = Gated::new(verifier.clone());
    let tokens = [&before, &after].map(|tokens| tokens.token("user", "read:orbs"));
    assert_eq!(gated.present(&tokens[0]).await, (204, None));
    gated.refuses([(tokens[1].clone(), "signature")]).await;
    verifier.store(signer::keys(&[after.signer.jwk("key-1")]));
    gated.refuses([(tokens[0].clone(), "signature")]).await;
    assert_eq!(gated.present(&tokens[1]).await, (204, None));
}

/// A fetcher for an issuer that closes every connection, and a token that says it is the issuer's.
async fn out_of_reach(tokens: &Tokens) -> (KeyFetcher, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let name = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok(stream) = listener.accept().await {
            drop(stream)
        }
    });
    let kind = orbgate_token::KindRules::named_by("token_kind", "user", "organisation");
    let issuer = orbgate_token::Issuer::new(&name, signer::AUDIENCE, kind);
    let verifier = signer::verifier(issuer.algorithms([Algorithm::Es256]));
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let fetcher = KeyFetcher::with(verifier, FetchSettings::default(), tls).unwrap();
    (fetcher, tokens.sign(&header(), &with(claims(), "iss", name)))
}

#[tokio::test]
async fn t15_without_keys_every_token_is_refused() {
    let (fetcher, token) = out_of_reach(&Tokens::new()).await;
    let gated = Gated::new(fetcher);
    for _ in 0..2 {
        gated.refuses([(token.clone(), "no_keys")]).await;
    }
}

#[tokio::test]
async fn t16_nothing_that_was_decided_is_remembered() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    // One token, two routes, two scopes.
    for _ in 0..2 {
        assert_eq!(gated.present(&token).await, (204, None));
        let account = gated.ask(bearing(get("/api/v1/external/account"), &token)).await;
        assert_eq!(account.status, 403);
    }
    // One token, two configurations of its issuer.
    let keys = || signer::keys(&[tokens.signer.jwk("key-1")]);
    let kind = orbgate_token::KindRules::named_by("token_kind", "user", "organisation");
    let elsewhere = orbgate_token::Issuer::new(ISSUER, "https://other.example.com", kind);
    let elsewhere = signer::verifier(elsewhere.algorithms([Algorithm::Es256]));
    let other = Gated::new(KeyHolder::new(elsewhere, keys()));
    for _ in 0..2 {
        other.refuses([(token.clone(), "audience")]).await;
        assert_eq!(gated.present(&token).await, (204, None));
    }
    // One token, another policy.
    let engines = Engines::external();
    let gated = Gated::with(engines.clone(), tokens.verifier());
    assert_eq!(gated.present(&token).await, (204, None));
    let policy = "orbgate: 1\napis: { a: { base_path: /api/v1/external, scopes: { \
                  read:balance: { orbs: true, routes: [GET /orbs] } } } }\n";
    engines.store(Engine::new(&Policy::from_yaml(policy).unwrap()));
    assert_eq!(gated.present(&token).await, (403, None));
}

#[tokio::test]
async fn t17_no_cryptography_is_installed_for_the_whole_process() {
    let (fetcher, token) = out_of_reach(&Tokens::new()).await;
    Gated::new(fetcher).refuses([(token, "no_keys")]).await;
    assert!(rustls::crypto::CryptoProvider::get_default().is_none());
}
