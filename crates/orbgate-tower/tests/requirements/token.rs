//! What is required of tokens.

use core::time::Duration;

use orbgate::{Engine, Policy};
use orbgate_token::{Algorithm, FetchSettings, KeyFetcher, KeySet, Keys, TokenError, Verifier, rustls};
use orbgate_tower::{Engines, KeyHolder};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::Tokens;
use crate::{Gated, ORBS, bearing, get, value};
use orbgate_testing::signer::{self, ISSUER, NOW, Signer, header, issuer, with, without};

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
async fn t01_the_token_comes_in_one_authorization_header_and_nowhere_else() {
    let (gated, tokens, _) = world();
    let token = tokens.token("user", "read:orbs");
    let t = token.as_str();
    let (none, unreadable) = ("Bearer", "Bearer error=\"invalid_request\"");
    let one = |text: String| vec![("authorization", text)];
    let two = |first: String, second: String| vec![("authorization", first), ("authorization", second)];
    let bearer = || format!("Bearer {t}");
    type Headers<'a> = Vec<(&'a str, String)>;
    let table: Vec<(Headers<'_>, u16, &str)> = vec![
        (one(bearer()), 204, ""),
        (one(format!("bearer {t}")), 204, ""),
        (one(format!("BEARER {t}")), 204, ""),
        (vec![], 401, none),
        (one(String::new()), 401, none),
        (one("Basic dXNlcjpwYXNz".to_owned()), 401, none),
        (one(format!("DPoP {t}")), 401, none),
        (one(format!("BearerX {t}")), 401, none),
        (one(format!("Token {t}")), 401, none),
        (one(t.to_owned()), 401, none),
        (one(format!(" Bearer {t}")), 401, none),
        (one("Bearer".to_owned()), 401, unreadable),
        (one("Bearer ".to_owned()), 401, unreadable),
        (one(format!("Bearer  {t}")), 401, unreadable),
        (one(format!("Bearer\t{t}")), 401, unreadable),
        (one(format!("Bearer {t} ")), 401, unreadable),
        (one(format!("Bearer {t} {t}")), 401, unreadable),
        (one(format!("Bearer \"{t}\"")), 401, unreadable),
        (one(format!("Bearer:{t}")), 401, unreadable),
        (one(format!("Bearer {t}é")), 401, unreadable),
        // Envoy joins lines of one name with a comma; others add a space.
        (one(format!("{},{}", bearer(), bearer())), 401, unreadable),
        (one(format!("{}, {}", bearer(), bearer())), 401, unreadable),
        (one(format!("Basic YQ==,{}", bearer())), 401, unreadable),
        (one(format!("Basic YQ==, {}", bearer())), 401, unreadable),
        (one(format!("{},Basic YQ==", bearer())), 401, unreadable),
        (two(bearer(), bearer()), 401, unreadable),
        (two("Basic YQ==".to_owned(), bearer()), 401, unreadable),
        (two(bearer(), String::new()), 401, unreadable),
        (vec![("cookie", format!("access_token={t}"))], 401, none),
        (vec![("proxy-authorization", bearer())], 401, none),
        (vec![("x-forwarded-authorization", bearer())], 401, none),
        (vec![("x-access-token", t.to_owned())], 401, none),
    ];
    for (headers, status, challenge) in table {
        let mut request = get(ORBS);
        for (name, text) in &headers {
            request = request.header(*name, value(text));
        }
        let outcome = gated.ask(request).await;
        let found = (outcome.status, outcome.challenge.as_str());
        assert_eq!(found, (status, challenge), "{headers:?}");
        let refused = &outcome.record["token_refused"];
        assert_eq!(refused == "authorization_header", challenge == unreadable);
    }
    let query = gated.ask(get(&format!("{ORBS}?access_token={t}"))).await;
    assert_eq!((query.status, query.challenge.as_str()), (401, none));
}

#[tokio::test]
async fn t02_a_token_is_a_compact_jws_and_has_one_spelling() {
    let (gated, tokens, claims) = world();
    let token = tokens.sign(&header(), &claims);
    assert_eq!(gated.present(&token).await, (204, None));
    let parts: Vec<&str> = token.split('.').collect();
    let (head, body, signature) = (parts[0], parts[1], parts[2]);
    let table = [
        (format!("{head}.{body}"), "not_compact"),
        (format!("{head}.{body}."), "not_compact"),
        (format!("{head}..{signature}"), "not_compact"),
        (format!(".{body}.{signature}"), "not_compact"),
        (format!("{token}.a"), "not_compact"),
        (format!("{token}.a.b"), "not_compact"), // as many parts as a JWE
        (format!("{token}="), "bad_encoding"),
        (token.replacen('.', "+.", 1), "bad_encoding"),
        (token.replacen('.', "~.", 1), "bad_encoding"),
        (format!("a{}", "a".repeat(8192)), "too_long"),
    ];
    gated.refuses(table).await;
    // A JSON serialisation is no `b64token`, so it never gets as far.
    let json = json!({"payload": body, "protected": head, "signature": signature}).to_string();
    let refused = Some("authorization_header".to_owned());
    assert_eq!(gated.present(&json).await, (401, refused));
}

#[tokio::test]
async fn t03_a_header_neither_extends_nor_repeats_nor_brings_a_key() {
    let (gated, tokens, claims) = world();
    let more = |name: &str, value: Value| with(header(), name, value);
    let refused = [
        more("crit", json!(["x"])),
        more("crit", json!([])),
        more("b64", json!(true)),
        more("zip", json!("DEF")),
        more("enc", json!("A128GCM")),
    ];
    let refused = refused.map(|header| (tokens.sign(&header, &claims), "extension"));
    gated.refuses(refused).await;
    let twice = r#"{"alg":"ES256","typ":"at+jwt","kid":"key-1","alg":"ES256"}"#;
    let twice = tokens.signer.token_of(twice, &claims.to_string());
    gated.refuses([(twice, "duplicate_member")]).await;
    let other = Signer::p256();
    for (name, value) in [
        ("jwk", other.jwk("key-1")),
        ("jku", json!("https://evil.example/keys")),
        ("x5u", json!("https://evil.example/x5u")),
        ("x5c", json!(["MIIB"])),
    ] {
        let header = more(name, value);
        let ours = tokens.sign(&header, &claims);
        assert_eq!(gated.present(&ours).await, (204, None), "{name}");
        let theirs = other.token(&header, &claims);
        gated.refuses([(theirs, "signature")]).await;
    }
}

#[tokio::test]
async fn t04_an_algorithm_is_the_issuers_and_the_keys() {
    let (rsa, p256, p384) = (Signer::rsa(), Signer::p256(), Signer::p384());
    let rs256_only = with(rsa.jwk("rs256"), "alg", "RS256");
    let public = rsa.jwk("rs256")["n"].as_str().unwrap().to_owned();
    let keys = signer::keys(&[rs256_only, p256.jwk("p256"), p384.jwk("p384")]);
    let issuer = issuer().algorithms([Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::Hs256]);
    let gated = Gated::new(KeyHolder::new(signer::verifier(issuer), keys));
    let token = |signer: &Signer, kid: &str, algorithm: &str| {
        let header = with(with(header(), "kid", kid), "alg", algorithm);
        signer.token(&header, &claims())
    };
    for (signer, kid, algorithm) in [(&rsa, "rs256", "RS256"), (&p256, "p256", "ES256")] {
        let right = token(signer, kid, algorithm);
        assert_eq!(gated.present(&right).await, (204, None), "{algorithm}");
    }
    let forger = Signer::Secret(public.into_bytes());
    let table = [
        (token(&forger, "rs256", "HS256"), "key_mismatch"),
        (token(&rsa, "rs256", "PS256"), "key_mismatch"),
        (token(&p384, "p384", "ES256"), "key_mismatch"),
        (token(&p384, "p384", "ES384"), "algorithm"),
        (token(&rsa, "rs256", "none"), "algorithm"),
        (token(&rsa, "rs256", "rs256"), "algorithm"),
    ];
    gated.refuses(table).await;
    // Secrets are configured, never published, and are at least as long as the hash.
    let short = [("kid", Algorithm::Hs256, [7; 31].as_slice())];
    assert!(KeySet::from_secrets(short).is_err());
}

#[tokio::test]
async fn t05_of_a_key_set_only_sound_public_keys_count() {
    let tokens = Tokens::new();
    let [private, encrypting, one, two] = [(); 4].map(|()| Signer::p256());
    let secret = Signer::Secret(signer::random_secret(64));
    let weak = with(Signer::rsa().jwk("weak"), "n", signer::base64url([0xff; 128]));
    let set = json!({"keys": [
        tokens.signer.jwk("key-1"),
        with(secret.jwk("secret"), "alg", "HS256"),
        with(private.jwk("private"), "d", "AAAA"),
        with(encrypting.jwk("encrypting"), "use", "enc"),
        weak,
        one.jwk("same"),
        two.jwk("same"),
    ]});
    let set = KeySet::from_jwks(set.to_string().as_bytes()).unwrap();
    let left_out: Vec<usize> = set.warnings().iter().map(|warning| warning.index).collect();
    assert_eq!(left_out, [1, 2, 3, 4, 5, 6]);
    let issuer = issuer().algorithms([Algorithm::Es256, Algorithm::Hs256]);
    let keys = Keys::new().with(ISSUER, set);
    let gated = Gated::new(KeyHolder::new(signer::verifier(issuer), keys));
    let token = |signer: &Signer, kid: &str| signer.token(&with(header(), "kid", kid), &claims());
    let hmac = with(with(header(), "kid", "secret"), "alg", "HS256");
    let table = [
        (secret.token(&hmac, &claims()), "key_unknown"),
        (token(&private, "private"), "key_unknown"),
        (token(&encrypting, "encrypting"), "key_unknown"),
        (token(&one, "same"), "key_ambiguous"),
        (token(&two, "same"), "key_ambiguous"),
    ];
    gated.refuses(table).await;
    assert_eq!(gated.present(&token(&tokens.signer, "key-1")).await, (204, None));
}

#[tokio::test]
async fn t06_a_key_is_found_by_the_exact_bytes_of_its_name() {
    let (one, two) = (Signer::p256(), Signer::p256());
    let verifier = signer::verifier(issuer());
    let keys = signer::keys(&[one.jwk("key-1"), two.jwk("key-2")]);
    let gated = Gated::new(KeyHolder::new(verifier.clone(), keys));
    let named = |kid: &str| one.token(&with(header(), "kid", kid), &claims());
    let nameless = one.token(&without(header(), "kid"), &claims());
    let table = [
        (named("KEY-1"), "key_unknown"),
        (named("key-1 "), "key_unknown"),
        (named(""), "key_unknown"),
        (named("../key-1"), "key_unknown"),
        (named("key-1\r\nforged: line"), "key_unknown"),
        (named("key-2"), "signature"),
        (named(&"k".repeat(257)), "bad_header"),
        (nameless.clone(), "key_id_missing"),
    ];
    gated.refuses(table).await;
    assert_eq!(gated.present(&named("key-1")).await, (204, None));
    let only = Gated::new(KeyHolder::new(verifier, signer::keys(&[one.jwk("key-1")])));
    assert_eq!(only.present(&nameless).await, (204, None));
}

#[tokio::test]
async fn t07_a_token_is_of_the_type_of_access_tokens() {
    let (gated, tokens, claims) = world();
    let typed = |typ: &str| tokens.sign(&with(header(), "typ", typ), &claims);
    for right in ["at+jwt", "AT+JWT", "application/at+jwt"] {
        assert_eq!(gated.present(&typed(right)).await, (204, None), "{right}");
    }
    let wrong = ["JWT", "id+jwt", "logout+jwt", "dpop+jwt", "", "at+jwt "];
    gated.refuses(wrong.map(|typ| (typed(typ), "type"))).await;
    let untyped = tokens.sign(&without(header(), "typ"), &claims);
    gated.refuses([(untyped, "type")]).await;
}

#[tokio::test]
async fn t08_issuer_and_audience_are_the_configured_texts() {
    let (gated, tokens, claims) = world();
    let evil = "https://evil.example";
    let with = |name: &str, value: Value| tokens.sign(&header(), &with(claims.clone(), name, value));
    let without = |name: &str| tokens.sign(&header(), &without(claims.clone(), name));
    let audience = claims["aud"].clone();
    let several = with("aud", json!([evil, audience]));
    assert_eq!(gated.present(&several).await, (204, None));
    let table = [
        (without("iss"), "issuer"),
        (with("iss", json!(evil)), "issuer"),
        (with("iss", json!(format!("{ISSUER}/"))), "issuer"),
        (with("iss", json!([ISSUER])), "issuer"),
        (with("iss", json!([evil, ISSUER])), "issuer"),
        (with("iss", json!({"a": ISSUER})), "issuer"),
        (without("aud"), "audience"),
        (with("aud", json!(evil)), "audience"),
        (with("aud", json!(7)), "audience"),
        (with("aud", json!([])), "audience"),
        (with("aud", json!([audience, 7])), "audience"),
    ];
    gated.refuses(table).await;
}

#[tokio::test]
async fn t09_a_token_has_its_time() {
    let (gated, tokens, claims) = world();
    let with = |name: &str, value: Value| tokens.sign(&header(), &with(claims.clone(), name, value));
    let now = claims["exp"].as_u64().unwrap() - 600;
    let table = [
        (tokens.expired("user", "read:orbs"), "expired"),
        (with("nbf", json!(now + 600)), "not_yet_valid"),
        (with("iat", json!(now + 600)), "not_yet_valid"),
        (tokens.sign(&header(), &without(claims.clone(), "exp")), "bad_time"),
        (with("exp", json!("never")), "bad_time"),
        (with("exp", json!(1e18)), "bad_time"),
        (with("exp", json!(-1)), "bad_time"),
        (with("exp", json!(u64::MAX)), "bad_time"),
        (with("exp", Value::Null), "bad_time"), // how JSON writes NaN
    ];
    gated.refuses(table).await;
    // To the second, with a clock that is stopped: 60 s of allowance.
    let verifier = signer::verifier(issuer());
    let keys = signer::keys(&[tokens.signer.jwk("key-1")]);
    for (expires, expected) in [(NOW - 59, None), (NOW - 60, Some(TokenError::Expired))] {
        let claims = signer::with(signer::claims(), "exp", expires);
        let found = verifier.verify(tokens.sign(&header(), &claims), &keys, signer::now());
        assert_eq!(found.err(), expected, "{expires}");
    }
    assert!(Verifier::new([issuer().skew(Duration::from_secs(301))]).is_err());
}

#[tokio::test]
async fn t10_no_claim_comes_twice() {
    let (gated, tokens, claims) = world();
    let text = claims.to_string();
    let twice = [
        r#""scope":"read:orbs write:keys""#,
        r#""exp":9999999999"#,
        r#""s\u0063ope":"write:keys""#,
        r#""deep":{"a":[{"b":1,"b":1}]}"#,
    ];
    let twice = twice.map(|member| {
        let text = format!("{},{member}}}", text.trim_end_matches('}'));
        let token = tokens.signer.token_of(&header().to_string(), &text);
        (token, "duplicate_member")
    });
    gated.refuses(twice).await;
}

#[tokio::test]
async fn t11_scopes_are_in_one_claim_of_one_form() {
    let (gated, tokens, claims) = world();
    let with = |name: &str, value: Value| with(without(claims.clone(), "scope"), name, value);
    let sign = |claims: &Value| tokens.sign(&header(), claims);
    let elsewhere = [
        without(claims.clone(), "scope"),
        with("permissions", json!(["read:orbs"])),
        with("roles", json!("read:orbs")),
        with("scope", json!("")),
        with("scope", json!("read:account,read:orbs")),
    ];
    for claims in &elsewhere {
        assert_eq!(gated.present(&sign(claims)).await, (403, None), "{claims}");
    }
    let wrong = [
        json!(["read:orbs"]),
        json!(7),
        json!(" read:orbs"),
        json!("read:orbs "),
        json!("read:account  read:orbs"),
        json!("read:orbs\tread:account"),
        json!("read:orbs\n"),
        json!("read:orbs \"x\""),
        json!("read:orbs é"),
    ];
    let wrong = wrong.map(|scope| (sign(&with("scope", scope)), "scopes"));
    gated.refuses(wrong).await;
    let both = signer::with(claims.clone(), "scp", json!("read:orbs"));
    gated.refuses([(sign(&both), "scopes")]).await;
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
async fn t13_a_bound_token_is_refused_and_an_actor_widens_nothing() {
    let (gated, tokens, claims) = world();
    let with = |name: &str, value: Value| tokens.sign(&header(), &with(claims.clone(), name, value));
    let bound = [(with("cnf", json!({"jkt": "x"})), "bound"), (with("cnf", Value::Null), "bound")];
    gated.refuses(bound).await;
    let actor = json!({"sub": "service-3", "scope": "read:account", "token_kind": "organisation"});
    let acting = with("act", actor);
    assert_eq!(gated.present(&acting).await, (204, None));
    let account = gated.ask(bearing(get("/api/v1/external/account"), &acting)).await;
    assert_eq!(account.status, 403);
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
