//! Tokens that only their holder can use, from requests as they came to their answers.

use core::time::Duration;

use orbgate::{Detail, Engine, Policy, Reason};
use orbgate_gate::{Answer, Challenge, FullChallenge, Gate, Matched, Mcp, McpRequest, Metadata, Request, Rules, Step};
use orbgate_testing::holder::Holder;
use orbgate_testing::signer::{ISSUER, NOW, Signer, claims, header, issuer, now, with};
use orbgate_token::{ClaimTest, Derived, FetchSettings, KeyCache, Now, ProofMethod, ProofRules, Verifier};
use serde_json::json;

use crate::exchange::serve;

const TARGET: &[u8] = b"/api/v1/external/account?a=b";
const URL: &str = "https://api.example.com/api/v1/external/account";
const ALGS: &str = r#"algs="PS256 ES256 EdDSA Ed25519""#;

struct World {
    gate: Gate,
    signer: Signer,
    holder: Holder,
}

const fn at() -> Duration {
    Duration::from_secs(1)
}

fn time() -> Now {
    Now { time: now(), monotonic: at() }
}

impl World {
    fn new(rules: Rules, proof: ProofRules) -> Self {
        let world = Self::cold(rules, proof, |keys| keys);
        assert_eq!(world.gate.warm(at()).len(), 1);
        world.fetch();
        world
    }

    fn cold(rules: Rules, proof: ProofRules, with: impl FnOnce(KeyCache) -> KeyCache) -> Self {
        let verifier = Verifier::new([issuer().proof(proof)]).unwrap();
        let verifier = verifier.public_urls(["https://api.example.com"]).unwrap().taking_proofs();
        let keys = with(KeyCache::new(verifier, FetchSettings::default()).unwrap());
        Self { gate: Gate::new(rules, keys), signer: Signer::p256(), holder: Holder::new(Signer::p256()) }
    }

    fn fetch(&self) {
        let urls = serve(&self.gate, self.gate.next_fetch(at()), &[self.signer.jwk("key-1")], at());
        assert!(urls.iter().all(|url| url.starts_with(ISSUER)));
    }

    fn bound(&self) -> String {
        self.holder.bound(&self.signer)
    }

    fn proof(&self, token: &str, id: &str) -> String {
        self.holder.proof_at(token, NOW, &json!({"htu": URL, "jti": id}))
    }

    fn step(&self, authorization: &str, proof: Option<&str>) -> Step<'static> {
        let proofs: Vec<_> = proof.iter().map(|proof| proof.as_bytes()).collect();
        self.gate.ask(Engine::external(), &request(&[authorization.as_bytes()], &proofs), time())
    }

    fn ask(&self, authorization: &str, proof: Option<&str>) -> Answer<'static> {
        answer(self.step(authorization, proof))
    }
}

fn request<'a>(authorization: &'a [&'a [u8]], dpop: &'a [&'a [u8]]) -> Request<'a> {
    Request { method: b"GET", target: TARGET, authorization, dpop, ..Request::default() }
}

fn answer(step: Step<'_>) -> Answer<'_> {
    match step {
        Step::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// The code, the status and the challenge of a denial.
fn denied(answer: &Answer<'_>) -> (Option<&'static str>, u16, String) {
    let denial = answer.denial.as_ref().unwrap();
    (answer.refused(), denial.status, denial.www_authenticate.as_deref().unwrap_or_default().to_owned())
}

fn dpop() -> ProofRules {
    ProofRules::required([ProofMethod::Dpop])
}

#[test]
fn a_bound_token_needs_its_proof_once() {
    let world = World::new(Rules::new(), dpop());
    let (token, plain) = (world.bound(), world.signer.token(&header(), &claims()));
    let (bearer, bound) = (format!("Bearer {token}"), format!("DPoP {token}"));
    let proof = world.proof(&token, "first");
    let allowed = world.ask(&bound, Some(&proof));
    assert_eq!((allowed.decision.reason(), allowed.denial), (Reason::ScopeHeld, None));
    let refused =
        |code: &'static str, error: &str| (Some(code), 401, format!("Bearer, DPoP error=\"{error}\", {ALGS}"));
    for (authorization, proof, code, error) in [
        (&*bound, Some(&*proof), "proof_replayed", "invalid_dpop_proof"),
        (&bound, None, "proof_missing", "invalid_dpop_proof"),
        (&bound, Some("x"), "proof_form", "invalid_dpop_proof"),
        (&bearer, Some(&proof), "scheme", "invalid_token"),
        (&bearer, None, "scheme", "invalid_token"),
        (&format!("DPoP {plain}"), Some(&proof), "scheme", "invalid_token"),
        (&format!("Bearer {plain}"), None, "unbound", "invalid_token"),
        ("DPoP x", Some(&proof), "not_compact", "invalid_token"),
    ] {
        let answer = world.ask(authorization, proof);
        assert_eq!(answer.decision.reason(), Reason::InvalidToken);
        assert_eq!(answer.decision.detail(), (code != "not_compact").then_some(Detail::Proof), "{code}");
        assert_eq!(denied(&answer), refused(code, error), "{authorization}");
    }
    let none = world.gate.ask(Engine::external(), &request(&[], &[]), time());
    assert_eq!(denied(&answer(none)), (None, 401, format!("Bearer, DPoP {ALGS}")));
    // Not for a request that is denied regardless of its token.
    let (second, target) = (world.proof(&token, "second"), b"/api/v1/external//account");
    let (authorization, dpop) = ([bound.as_bytes()], [second.as_bytes()]);
    let malformed = Request { target, ..request(&authorization, &dpop) };
    let malformed = answer(world.gate.ask(Engine::external(), &malformed, time()));
    assert_eq!(malformed.decision.reason(), Reason::MalformedRequest);
    assert_eq!(world.gate.keys().replays().len(), 1);
    assert_eq!(world.ask(&bound, Some(&second)).denial, None);
}

#[test]
fn each_401_with_a_challenge_has_that_for_dpop() {
    let full = Challenge::Full(FullChallenge::new().realm("orbs").unwrap());
    for (challenge, expected) in [
        (full, format!("Bearer realm=\"orbs\", error=\"invalid_token\", DPoP error=\"invalid_dpop_proof\", {ALGS}")),
        (Challenge::Minimal, format!("Bearer, DPoP error=\"invalid_dpop_proof\", {ALGS}")),
        (Challenge::None, String::new()),
    ] {
        let mut rules = Rules::new();
        rules.challenge = challenge;
        let world = World::new(rules, dpop());
        let (_, _, value) = denied(&world.ask(&format!("DPoP {}", world.bound()), None));
        assert_eq!(value, expected);
    }
    // Without proofs, the scheme is unknown as before.
    let verifier = Verifier::new([issuer()]).unwrap().taking_proofs();
    let gate = Gate::new(Rules::new(), KeyCache::new(verifier, FetchSettings::default()).unwrap());
    let unknown = answer(gate.ask(Engine::external(), &request(&[b"DPoP abc"], &[]), time()));
    assert_eq!(denied(&unknown), (None, 401, "Bearer".to_owned()));
}

#[test]
fn a_request_that_waits_is_proved_once_at_its_end() {
    let world = World::cold(Rules::new(), dpop(), |keys| keys);
    let token = world.bound();
    let (bound, proof) = (format!("DPoP {token}"), world.proof(&token, "first"));
    let waiting = || match world.step(&bound, Some(&proof)) {
        Step::Wait(waiting) => waiting,
        other => panic!("{other:?}"),
    };
    let (first, second) = (waiting(), waiting());
    world.fetch();
    assert!(world.gate.keys().replays().is_empty());
    assert_eq!(answer(world.gate.resume(Engine::external(), first, time())).denial, None);
    let replayed = answer(world.gate.resume(Engine::external(), second, time()));
    assert_eq!(replayed.refused(), Some("proof_replayed"));
}

#[test]
fn a_host_that_checks_signatures_is_asked_about_both() {
    let world = World::cold(Rules::new(), dpop(), KeyCache::signatures_outside);
    world.gate.warm(at());
    world.fetch();
    let token = world.bound();
    let (bound, proof) = (format!("DPoP {token}"), world.proof(&token, "first"));
    let checking = |step: Step<'static>| match step {
        Step::CheckSignature(checking) => checking,
        other => panic!("{other:?}"),
    };
    let ask = || checking(world.step(&bound, Some(&proof)));
    let proceed = |checking, is_right| world.gate.proceed(Engine::external(), checking, is_right, time());
    assert_eq!(answer(proceed(ask(), false)).refused(), Some("signature"));
    assert_eq!(answer(proceed(checking(proceed(ask(), true)), false)).refused(), Some("proof_signature"));
    assert_eq!(answer(proceed(checking(proceed(ask(), true)), true)).denial, None);
    assert_eq!(answer(proceed(checking(proceed(ask(), true)), true)).refused(), Some("proof_replayed"));
    // A host that knows of one signature gets no bound token.
    let old = crate::answered(world.gate.checked(Engine::external(), ask(), true, time()));
    assert_eq!(old.refused(), Some("proof_missing"));
}

#[test]
fn a_certificate_proves_a_token_of_its_own() {
    let world = World::new(Rules::new(), ProofRules::when_bound([ProofMethod::Mtls]));
    let x5t = orbgate_testing::holder::sha256("der");
    let claims = with(claims(), "cnf", json!({"x5t#S256": x5t}));
    let bearer = format!("Bearer {}", world.signer.token(&header(), &claims));
    let ask = |der: Option<&[u8]>| {
        let authorization = [bearer.as_bytes()];
        let certificate = der.map(orbgate_token::Certificate::Der);
        let request = Request { certificate, ..request(&authorization, &[]) };
        answer(world.gate.ask(Engine::external(), &request, time()))
    };
    assert_eq!(ask(Some(b"der")).denial, None);
    for wrong in [None, Some(&b"other"[..]), Some(b"")] {
        assert_eq!(denied(&ask(wrong)), (Some("certificate"), 401, "Bearer".to_owned()));
    }
}

#[test]
fn a_route_can_demand_a_bound_token() {
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { \
        read:a: { orbs: false, and: earned:proved, routes: [GET /a] }, \
        read:b: { orbs: false, and: earned:proved earned:mfa, routes: [GET /b] }, \
        read:c: { orbs: false, routes: [GET /c] }, earned:proved: { routes: [] }, earned:mfa: { routes: [] } } } }\n";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    let derive = || {
        [
            Derived::new("earned:proved", [ClaimTest::proof(ProofMethod::Dpop)]),
            Derived::new("earned:mfa", [ClaimTest::equals("acr", "mfa")]),
        ]
    };
    let of = |rules: Rules| {
        let mut world = World::new(rules.clone(), dpop());
        let issuer = issuer().proof(ProofRules::when_bound([ProofMethod::Dpop])).derive(derive());
        let jwks = json!({"keys": [world.signer.jwk("key-1")]}).to_string().into_bytes();
        let verifier = Verifier::new([issuer.jwks_file("/keys.json")]).unwrap();
        let verifier = verifier.with_secrets(|_| Ok(jwks.clone())).unwrap();
        let verifier = verifier.public_urls(["https://api.example.com"]).unwrap().taking_proofs();
        world.gate = Gate::new(rules, KeyCache::new(verifier, FetchSettings::default()).unwrap());
        world
    };
    let ask = |world: &World, target: &str, scopes: &str, is_bound: bool| {
        let claims = with(claims(), "scope", scopes);
        let cnf = json!({"jkt": world.holder.jkt()});
        let token = world.signer.token(&header(), &if is_bound { with(claims, "cnf", cnf) } else { claims });
        let authorization = format!("{} {token}", if is_bound { "DPoP" } else { "Bearer" });
        let htu = format!("https://api.example.com{target}");
        let proof = world.holder.proof_at(&token, NOW, &json!({"htu": htu, "jti": target}));
        let (authorization, dpop) = ([authorization.as_bytes()], [proof.as_bytes()]);
        let dpop = if is_bound { &dpop[..] } else { &[] };
        let request = Request { target: target.as_bytes(), ..request(&authorization, dpop) };
        let answer = answer(world.gate.ask(&engine, &request, time()));
        let denial =
            answer.denial.map(|denial| (denial.status, denial.www_authenticate.unwrap_or_default().into_owned()));
        (answer.decision.reason(), answer.decision.detail(), denial)
    };
    let world = of(Rules::new());
    let invalid = |start: &str| Some((401, format!("{start}, DPoP error=\"invalid_token\", {ALGS}")));
    assert_eq!(ask(&world, "/a", "read:a", true), (Reason::ScopeHeld, None, None));
    assert_eq!(ask(&world, "/a", "read:a", false), (Reason::ScopeMissing, None, invalid("Bearer")));
    assert_eq!(ask(&world, "/c", "read:c", false), (Reason::ScopeHeld, None, None));
    // A client can't claim it.
    assert_eq!(ask(&world, "/a", "read:a earned:proved", false).2, invalid("Bearer"));
    // If something else is missing, too, a bound token isn't enough.
    let missing = |header: &str| (Reason::ScopeMissing, None, Some((403, header.to_owned())));
    assert_eq!(ask(&world, "/a", "read:c", false), missing("Bearer"));
    assert_eq!(ask(&world, "/b", "read:b", false), missing("Bearer"));
    let mut full = Rules::new();
    full.challenge = Challenge::Full(FullChallenge::new());
    assert_eq!(ask(&of(full), "/a", "read:a", false).2, invalid("Bearer error=\"invalid_token\""));
    let mut flat = Rules::new();
    flat.flat_403 = true;
    assert_eq!(ask(&of(flat), "/a", "read:a", false), missing("Bearer"));
}

/// The operation that demands a bound token is in the body, which the gate's keys aren't asked about any more.
#[test]
fn a_401_that_a_body_decides_has_the_challenge() {
    let policy = "orbgate: 1\napis: { a: { base_path: /mcp, scopes: { read:a: { orbs: false, and: earned:proved, \
        routes: [MCP /tools/call/a] }, earned:proved: { routes: [] } } } }\n";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let ask = |method: ProofMethod, change: fn(&mut Rules)| {
        let proof = ProofRules::when_bound([method]);
        let mut world = World::new(Rules::new(), dpop());
        let derived = Derived::new("earned:proved", [ClaimTest::proof(method)]);
        let jwks = json!({"keys": [world.signer.jwk("key-1")]}).to_string().into_bytes();
        let verifier = Verifier::new([issuer().proof(proof).derive([derived]).jwks_file("/keys.json")]).unwrap();
        let verifier = verifier.with_secrets(|_| Ok(jwks.clone())).unwrap();
        let verifier = verifier.public_urls(["https://api.example.com"]).unwrap().taking_proofs();
        let mut rules = Rules::new();
        rules.mcp = Some(std::sync::Arc::new(Mcp::new("/mcp").unwrap()));
        change(&mut rules);
        world.gate = Gate::new(rules, KeyCache::new(verifier, FetchSettings::default()).unwrap());
        let authorization = format!("Bearer {}", world.signer.token(&header(), &with(claims(), "scope", "read:a")));
        let authorization = [authorization.as_bytes()];
        let request = Request { method: b"POST", target: b"/mcp", ..request(&authorization, &[]) };
        let Step::ReadBody(reading) = world.gate.ask(&engine, &request, time()) else { panic!("its body isn't read") };
        let rules = world.gate.rules();
        let headers: &[(&[u8], &[u8])] = &[(b"content-type", b"application/json")];
        let answer = rules.decide_body(&engine, reading, McpRequest { headers, body: Ok(call) });
        // Also when the operation is decided once more.
        let mcp = answer.mcp.as_ref().unwrap();
        let again = rules.decide_operation(&engine, mcp, answer.credentials.clone(), Matched::Nothing);
        assert_eq!(again, answer);
        let (_, status, challenge) = denied(&answer);
        (status, challenge)
    };
    let bearer = "Bearer error=\"invalid_token\"";
    assert_eq!(ask(ProofMethod::Dpop, |_| ()), (401, format!("{bearer}, DPoP error=\"invalid_token\", {ALGS}")));
    assert_eq!(ask(ProofMethod::Mtls, |_| ()), (401, bearer.to_owned()));
    assert_eq!(ask(ProofMethod::Dpop, |rules| rules.flat_403 = true), (403, "Bearer".to_owned()));
}

#[test]
fn the_metadata_says_how_tokens_are_bound() {
    let metadata = |rules: &[Option<ProofRules>]| {
        let issuers = rules.iter().zip(["https://a.example", "https://b.example"]).map(|(rules, name)| {
            let issuer = orbgate_token::Issuer::new(
                name,
                "https://mcp.example/mcp",
                orbgate_token::KindRules::Always(orbgate::TokenKind::User),
            );
            match rules {
                Some(rules) => issuer.proof(rules.clone()),
                None => issuer,
            }
        });
        let mut rules = Rules::new();
        let verifier = Verifier::new(issuers).unwrap();
        rules.metadata = Some(std::sync::Arc::new(Metadata::new("https://mcp.example/mcp", &verifier, "").unwrap()));
        let gate = Gate::new(rules, World::new(Rules::new(), dpop()).gate);
        let target = b"/.well-known/oauth-protected-resource";
        let request = Request { method: b"GET", target, ..Request::default() };
        let opened = gate.rules().open(Engine::external(), &request);
        let answer = crate::answered(opened.decide(orbgate_gate::Credentials::<orbgate_token::VerifiedToken>::None));
        let document: serde_json::Value = serde_json::from_slice(&answer.denial.unwrap().body.unwrap()).unwrap();
        let member = |name: &str| document.get(name).cloned();
        [
            member("dpop_signing_alg_values_supported"),
            member("dpop_bound_access_tokens_required"),
            member("tls_client_certificate_bound_access_tokens"),
        ]
    };
    let usual = Some(json!(["PS256", "ES256", "EdDSA", "Ed25519"]));
    let (yes, no) = (Some(json!(true)), Some(json!(false)));
    let both = ProofRules::required([ProofMethod::Dpop, ProofMethod::Mtls]);
    let when_bound = ProofRules::when_bound([ProofMethod::Dpop]);
    assert_eq!(metadata(&[None]), [None, None, None]);
    assert_eq!(metadata(&[Some(dpop())]), [usual.clone(), yes.clone(), None]);
    assert_eq!(metadata(&[Some(dpop()), None]), [usual.clone(), no.clone(), None]);
    assert_eq!(metadata(&[Some(when_bound)]), [usual.clone(), no.clone(), None]);
    assert_eq!(metadata(&[Some(both)]), [usual, no, yes.clone()]);
    assert_eq!(metadata(&[Some(ProofRules::required([ProofMethod::Mtls]))]), [None, None, yes]);
}
