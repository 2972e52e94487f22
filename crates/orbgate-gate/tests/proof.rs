//! Tokens that only their holder can use, from requests as they came to their answers.

use core::time::Duration;

use orbgate::{Engine, Reason};
use orbgate_gate::{Answer, Challenge, FullChallenge, Gate, Request, Rules, Step};
use orbgate_testing::holder::Holder;
use orbgate_testing::signer::{ISSUER, NOW, Signer, claims, header, issuer, now};
use orbgate_token::{FetchSettings, KeyCache, Now, ProofMethod, ProofRules, Verifier};
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
    let claims = orbgate_testing::signer::with(claims(), "cnf", json!({"x5t#S256": x5t}));
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
