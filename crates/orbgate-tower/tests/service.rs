//! The example's service from the outside: every route, with tokens of a signer of our own and of a real
//! OpenID provider.

#[expect(dead_code, reason = "an example has a `main`")]
#[path = "../examples/service.rs"]
mod example;

use core::time::Duration;
use std::collections::HashMap;

use crate::support::{Answer, Tokens, raw, request, router, serve};
use orbgate::Engine;
use orbgate_contract::RunRecord;
use orbgate_testing::provider::Provider;
use orbgate_token::{Algorithm, FetchSettings, Issuer, KeyFetcher, KindRules, Verifier};
use orbgate_tower::{Engines, VerifyToken};

const RUN: &str = "/api/v1/external/voxies/prompt/run";
const BODY: &str = r#"{"prompt": "Answer questions", "stream": false, "allowBonusOrbsUse": true}"#;

/// Where tokens come from.
trait TokenMaker {
    fn user(&mut self, scopes: &str) -> String;
    fn organisation(&mut self, scopes: &str) -> String;
    fn expired(&mut self, scopes: &str) -> String;
}

impl TokenMaker for Tokens {
    fn user(&mut self, scopes: &str) -> String {
        self.token("user", scopes)
    }

    fn organisation(&mut self, scopes: &str) -> String {
        self.token("organisation", scopes)
    }

    fn expired(&mut self, scopes: &str) -> String {
        Self::expired(self, "user", scopes)
    }
}

impl TokenMaker for Provider {
    fn user(&mut self, scopes: &str) -> String {
        Self::user(self, scopes)
    }

    fn organisation(&mut self, scopes: &str) -> String {
        Self::organisation(self, scopes)
    }

    fn expired(&mut self, scopes: &str) -> String {
        self.lifetime(1);
        let token = Self::user(self, scopes);
        self.lifetime(600);
        std::thread::sleep(Duration::from_secs(3));
        token
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_with_tokens_of_our_own() {
    let mut tokens = Tokens::new();
    let verifier = tokens.verifier();
    every_route(&mut tokens, verifier).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_with_tokens_of_an_openid_provider() {
    let Some(mut provider) = Provider::start(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    provider.declare(&all_scopes(|_| true));
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    let issuer =
        Issuer::new(&provider.issuer, &provider.audience, kind).algorithms([Algorithm::Es256]).skew(Duration::ZERO);
    let verifier = Verifier::new([issuer]).unwrap();
    let tls = KeyFetcher::system_tls().unwrap();
    let fetcher = KeyFetcher::with(verifier, FetchSettings::default(), tls).unwrap();
    every_route(&mut provider, fetcher).await;
}

/// All routes × (right scope, wrong scopes, no token, expired), and an organisation on inference.
async fn every_route<V: VerifyToken + Clone>(source: &mut impl TokenMaker, verifier: V) {
    let gate = example::gate(Engines::external(), verifier.clone()).unwrap();
    let address = serve(example::app(gate)).await;
    let mut right: HashMap<&str, String> = HashMap::new();
    let mut wrong: HashMap<&str, String> = HashMap::new();
    let expired = source.expired(&all_scopes(|_| true));
    let mut count = 0;
    for route in Engine::external().routes() {
        let scope = route.scope().name();
        let right = right.entry(scope).or_insert_with(|| source.user(scope));
        let wrong = wrong.entry(scope).or_insert_with(|| source.user(&all_scopes(|other| other != scope)));
        let target = filled(route.template());
        let ask = async |token: Option<&str>| {
            let body = if target == RUN { BODY } else { "" };
            let request = request(route.method().as_bytes(), target.as_bytes(), token, body);
            raw(&address, &request).await
        };
        let name = route.as_str();
        let allowed = ask(Some(right)).await;
        assert_eq!(allowed.status, if target == RUN { 200 } else { 204 }, "{name}");
        for (token, status) in [(Some(wrong.as_str()), 403), (None, 401), (Some(&expired), 401)] {
            let denied = ask(token).await;
            assert_eq!(denied.status, status, "{name}");
            assert_eq!(denied.header("www-authenticate"), Some("Bearer"), "{name}");
            denied.assert_bare(name);
        }
        count += 1;
    }
    assert_eq!(count, 37);
    let right = &right["write:voxies"];
    run_endpoint(&address, right).await;
    organisation(source, verifier).await;
}

/// An organisation calls every route that a user does, but none of the inference API.
async fn organisation<V: VerifyToken>(source: &mut impl TokenMaker, verifier: V) {
    let policy = "
orbgate: 1
apis:
  inference: # the specification shows no route of it; this one is the test's
    base_path: /inference
    token: user
    organisation: deny
    scopes:
      read:inference: { orbs: true, routes: [GET /models] }
  external:
    base_path: /external
    scopes:
      read:account: { orbs: false, routes: [GET /account] }
";
    let engines = Engines::external();
    engines.reload(policy.as_bytes()).unwrap();
    let served = axum::routing::any(async || http::StatusCode::NO_CONTENT);
    let app = router(&engines.load(), "", &served);
    let gate = orbgate_tower::GateLayer::axum(engines, verifier);
    let address = serve(app.layer(gate)).await;
    let scopes = "read:inference read:account";
    let (user, organisation) = (source.user(scopes), source.organisation(scopes));
    for (target, token, status) in [
        ("/inference/models", &user, 204),
        ("/inference/models", &organisation, 403),
        ("/external/account", &user, 204),
        ("/external/account", &organisation, 204),
    ] {
        let answer = raw(&address, &request(b"GET", target.as_bytes(), Some(token), "")).await;
        assert_eq!(answer.status, status, "{target}");
    }
}

/// The run endpoint answers a record that an audit finds nothing in.
async fn run_endpoint(address: &str, token: &str) {
    let run = async |body: &str| -> Answer { raw(address, &request(b"POST", RUN.as_bytes(), Some(token), body)).await };
    let answer = run(BODY).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let record = RunRecord::from_json(&answer.body).unwrap();
    assert!(record.findings().is_empty(), "{:?}", record.findings());
    assert_eq!(record.input.input_content, "Answer questions");
    assert!(record.content.starts_with("This is a stand-in"));
    assert_eq!(record.metadata.unknown["bonus_allowed"], true);

    let streamed = BODY.replace("false", "true").replace("Use\": true", "Use\": false");
    let record = RunRecord::from_json(&run(&streamed).await.body).unwrap();
    assert!(record.content.contains("A stream was asked for"));
    assert_eq!(record.metadata.unknown["bonus_allowed"], false);

    assert_eq!(run(r#"{"prompt": 7}"#).await.status, 400);
    let text = request(b"POST", RUN.as_bytes(), Some(token), BODY);
    let text = String::from_utf8(text).unwrap();
    for (media_type, status) in
        [("text/plain", 415), ("application/jsonx", 415), ("application/json; charset=utf-8", 200)]
    {
        let text = text.replace("content-type: application/json", &format!("content-type: {media_type}"));
        assert_eq!(raw(address, text.as_bytes()).await.status, status, "{media_type}");
    }
}

fn all_scopes(keep: impl Fn(&str) -> bool) -> String {
    let scopes = Engine::external().scope_table().map(|scope| scope.name());
    scopes.filter(|scope| keep(scope)).collect::<Vec<_>>().join(" ")
}

/// A target of this template: each parameter with a value.
fn filled(template: &str) -> String {
    let segments = template.split('/').map(|segment| match segment.starts_with('{') {
        true => "0b7e",
        false => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}
