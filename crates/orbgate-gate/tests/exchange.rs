//! From requests as they came to their answers.

use core::time::Duration;

use orbgate::{Detail, Engine, Policy, Reason, Scopes, Token, TokenKind};
use orbgate_gate::{Answer, Challenge, Credentials, FullChallenge, Gate, Matched, Request, Rules, Step, Verified};
use orbgate_testing::signer::{AUDIENCE, ISSUER, Signer, claims, header, now, with};
use orbgate_token::{
    Algorithm, Fetch, FetchError, FetchSettings, Issuer, KeyCache, KindRules, Now, Response, VerifiedToken, Verifier,
};
use serde_json::{Value, json};

use crate::answered;

const ORBS: &[u8] = b"/api/v1/external/orbs";

pub(crate) fn verifier() -> Verifier {
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    let algorithms = Algorithm::ALL;
    let issuer = Issuer::new(ISSUER, AUDIENCE, kind).algorithms(algorithms);
    Verifier::new([issuer]).unwrap()
}

fn at(seconds: u64) -> Now {
    Now { time: now(), monotonic: Duration::from_secs(seconds) }
}

/// The issuer answers a fetch and those that follow it, at this time: the URLs.
pub(crate) fn serve(gate: &Gate, first: Option<Fetch>, keys: &[Value], now: Duration) -> Vec<String> {
    let (mut urls, mut next) = (Vec::new(), first);
    while let Some(fetch) = next {
        let body = match fetch.url.ends_with("/jwks") {
            true => json!({ "keys": keys }),
            false => json!({"issuer": ISSUER, "jwks_uri": format!("{ISSUER}/jwks")}),
        };
        let body = body.to_string();
        let response = Response { status: 200, cache_control: None, body: body.as_bytes() };
        next = gate.fetched(fetch.attempt, Ok(response), now);
        urls.push(fetch.url);
    }
    urls
}

struct World {
    gate: Gate,
    signer: Signer,
}

impl World {
    fn new(rules: Rules) -> Self {
        let keys = KeyCache::new(verifier(), FetchSettings::default()).unwrap();
        let world = Self { gate: Gate::new(rules, keys), signer: Signer::p256() };
        assert_eq!(world.gate.warm(at(0).monotonic).len(), 1);
        world.serve();
        world
    }

    /// The issuer answers everything that is asked.
    fn serve(&self) -> Vec<String> {
        let first = self.gate.next_fetch(at(0).monotonic);
        serve(&self.gate, first, &[self.signer.jwk("key-1")], at(0).monotonic)
    }

    fn bearer(&self, scope: &str) -> String {
        let token = self.signer.token(&header(), &with(claims(), "scope", scope));
        format!("Bearer {token}")
    }

    fn ask(&self, request: &Request<'_>) -> Answer<'static> {
        match self.gate.ask(Engine::external(), request, at(1)) {
            Step::Answer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }
}

fn get<'a>(authorization: &'a [&'a [u8]]) -> Request<'a> {
    Request { method: b"GET", target: ORBS, authorization, ..Request::default() }
}

/// Status, `WWW-Authenticate`, `Allow`, the code of a refused token.
type Told = (u16, Option<String>, Option<String>, Option<&'static str>);

fn told(answer: &Answer<'_>) -> Told {
    let denial = answer.denial.clone();
    assert_eq!(denial.is_none(), answer.decision.is_allow());
    let (status, challenge, allow) =
        denial.map_or((200, None, None), |denial| (denial.status, denial.www_authenticate, denial.allow));
    (status, challenge.map(Into::into), allow, answer.refused())
}

fn expected(status: u16, challenge: &str, allow: &str, refused: &'static str) -> Told {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (status, text(challenge), text(allow), Some(refused).filter(|code| !code.is_empty()))
}

#[test]
fn a_request_gets_its_status_and_headers() {
    let world = World::new(Rules::new());
    let (right, wrong) = (world.bearer("read:orbs"), world.bearer("read:account"));
    let (right, wrong) = (right.as_bytes(), wrong.as_bytes());
    let forged = "Bearer a.b.c".as_bytes();
    let (allowed, missing, twice) = ([right], [wrong], [right, right]);
    let forged: [&[u8]; 1] = [forged];
    let right = get(&allowed);
    let table: [(&str, Request<'_>, Told); 16] = [
        ("allowed", right, expected(200, "", "", "")),
        ("no scope", get(&missing), expected(403, "Bearer", "", "")),
        ("no token", get(&[]), expected(401, "Bearer", "", "")),
        ("another scheme", get(&[b"Basic YTpi"]), expected(401, "Bearer", "", "")),
        ("no JWS", get(&forged), expected(401, "Bearer", "", "bad_encoding")),
        ("two values", get(&twice), expected(401, "Bearer", "", "authorization_header")),
        ("malformed", get(&[b"Bearer  x"]), expected(401, "Bearer", "", "authorization_header")),
        ("no route", Request { target: b"/nowhere", ..right }, expected(404, "", "", "")),
        ("method", Request { method: b"DELETE", ..right }, expected(405, "", "GET", "")),
        ("target", Request { target: b"/api//v1", ..right }, expected(400, "", "", "")),
        ("header", Request { header_names: &[b"X-HTTP-Method-Override"], ..right }, expected(400, "", "", "")),
        (
            "websocket",
            Request { upgrade: &[b"websocket"], header_names: &[b"HTTP2-Settings"], ..right },
            expected(200, "", "", ""),
        ),
        ("upgrade", Request { upgrade: &[b"websocket", b"foo, H2C"], ..right }, expected(400, "", "", "")),
        (
            "override",
            Request { method: b"POST", header_names: &[b"x_http_method"], ..right },
            expected(400, "", "", ""),
        ),
        (
            "as routed",
            Request { matched: Matched::Template("/api/v1/external/orbs"), ..right },
            expected(200, "", "", ""),
        ),
        ("unknown", Request { matched: Matched::Unknown, ..right }, expected(404, "", "", "")),
    ];
    for (name, request, expected) in table {
        assert_eq!(told(&world.ask(&request)), expected, "{name}");
    }
}

#[test]
fn an_allow_has_the_token_and_the_charge() {
    let world = World::new(Rules::new());
    let bearer = world.bearer("read:orbs write:voxies");
    let authorization: &[&[u8]] = &[bearer.as_bytes()];
    let request = Request { method: b"POST", target: b"/api/v1/external/voxies", ..get(authorization) };
    let answer = world.ask(&request);
    assert_eq!(answer.token().unwrap().scopes(), "read:orbs write:voxies");
    assert!(!answer.decision.charge().unwrap().bonus_allowed);
    // The body is read once the call is allowed, and the token is not verified again.
    let request = Request { allow_bonus_orbs_use: true, ..request };
    let known = answer.credentials.clone();
    let again = answered(world.gate.decide(Engine::external(), &request, known));
    assert!(again.decision.charge().unwrap().bonus_allowed);
    assert_eq!(again.denial, None);
    assert_eq!(answer.allowing_bonus_orbs(), again);
    let refused = Credentials::<VerifiedToken>::Refused("expired");
    let denied = answered(world.gate.decide(Engine::external(), &request, refused));
    assert_eq!(denied.clone().allowing_bonus_orbs(), denied);
}

/// A caller whose token is known.
#[derive(Clone, Debug, PartialEq)]
struct Said(TokenKind, &'static str);

impl Verified for Said {
    fn token(&self) -> Token<'_> {
        Token { kind: self.0, scopes: Scopes::Text(self.1.as_bytes()) }
    }
}

/// A gate finds the route before it knows the token, and must decide as the engine does with both.
#[test]
fn the_decision_is_the_engines_own() {
    let policy = "orbgate: 1\ntarget: encoded_params\napis:\n  a:\n    base_path: ''\n    token: user\n    organisation: deny\n    \
        scopes: { write:a: { orbs: true, routes: ['POST /a/{id}', 'POST /a/run', 'PROPFIND /a/{id}'] } }\n  b:\n    \
        base_path: ''\n    scopes: { read:b: { orbs: false, routes: ['GET /b', 'GET /{any}/{thing}'] } }\n";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    let gate = Gate::new(Rules::new(), ());
    let methods = ["GET", "POST", "PROPFIND", "DELETE", "get", ""];
    let targets = [
        "/a/1?x", "/a/run", "/a/%72un", "/a/RUN", "/A/1", "/a/a%20b", "/b", "/B", "/c", "/b/", "//b", "/x/y", "",
        "/a/1#f",
    ];
    let mut callers = vec![Credentials::None, Credentials::Unreadable, Credentials::Refused("expired")];
    for kind in [TokenKind::User, TokenKind::Organisation, TokenKind::Unknown] {
        callers.extend(["", "write:a", "read:b write:a"].map(|it| Credentials::Token(Said(kind, it))));
    }
    let requests = methods.iter().flat_map(|method| targets.map(|target| (method, target)));
    let cases = requests.flat_map(|(method, target)| callers.iter().map(move |caller| (method, target, caller)));
    for (method, target, caller) in cases {
        for allow_bonus_orbs_use in [false, true] {
            let request = Request {
                method: method.as_bytes(),
                target: target.as_bytes(),
                allow_bonus_orbs_use,
                ..Request::default()
            };
            let answer = answered(gate.decide(&engine, &request, caller.clone()));
            let decision = engine.decide(&orbgate::Request {
                method: request.method,
                target: request.target,
                token: caller.token(),
                allow_bonus_orbs_use,
            });
            assert_eq!(answer.decision, decision, "{method} {target} {caller:?}");
            assert_eq!(answer.denial.is_none(), decision.is_allow());
        }
    }
}

#[test]
fn a_router_that_goes_elsewhere_is_not_followed() {
    let world = World::new(Rules::new());
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { read:a: { orbs: false, \
        routes: ['GET /users/{id}'] } } } }\n";
    let engine = Engine::new(&Policy::from_yaml(policy).unwrap());
    let bearer = world.bearer("read:a");
    let authorization: &[&[u8]] = &[bearer.as_bytes()];
    let ask = |matched, target| {
        let request = Request { target, matched, ..get(authorization) };
        match world.gate.ask(&engine, &request, at(1)) {
            Step::Answer(answer) => (answer.decision.reason(), answer.misrouted.map(|it| it.matched)),
            other => panic!("{other:?}"),
        }
    };
    let (held, none) = (Reason::ScopeHeld, Reason::NoRoute);
    assert_eq!(ask(Matched::Template("/users/{user}"), b"/users/1"), (held, None));
    let elsewhere = ask(Matched::Template("/users/export"), b"/users/export");
    assert_eq!(elsewhere, (none, Some("/users/export".to_owned())));
    assert_eq!(ask(Matched::Unknown, b"/users/1"), (none, Some(String::new())));
    // What is denied anyway is not called misrouted.
    assert_eq!(ask(Matched::Unknown, b"/nowhere"), (none, None));
}

/// Every denial, as its status, its challenge and its methods; and the same under each setting that hides the reason.
#[test]
fn a_flat_answer_tells_nothing_apart() {
    let rules = |change: fn(&mut Rules)| {
        let mut rules = Rules::new();
        change(&mut rules);
        World::new(rules)
    };
    let full = rules(|rules| rules.challenge = Challenge::Full(FullChallenge::new().realm("orbs").unwrap()));
    let flat = rules(|rules| rules.flat_403 = true);
    let none = rules(|rules| rules.challenge = Challenge::None);
    let both = rules(|rules| (rules.flat_403, rules.challenge) = (true, Challenge::None));
    let realm = |rest: &str| format!("Bearer realm=\"orbs\"{rest}");
    let insufficient = realm(", error=\"insufficient_scope\", scope=\"read:orbs\"");
    type Bearer = fn(&World) -> Option<String>;
    let held: Bearer = |world| Some(world.bearer("read:orbs"));
    // Each with its bearer; its status, full challenge and methods.
    type Row = (Request<'static>, Bearer, u16, Option<String>, Option<&'static str>);
    let table: [Row; 9] = [
        (Request { target: b"//", ..get(&[]) }, held, 400, None, None),
        (Request { upgrade: &[b"h2c"], ..get(&[]) }, held, 400, None, None),
        (get(&[]), |_| None, 401, Some(realm("")), None),
        (get(&[]), |_| Some("Bearer a.b.c".to_owned()), 401, Some(realm(", error=\"invalid_token\"")), None),
        (Request { target: b"/nowhere", ..get(&[]) }, held, 404, None, None),
        (Request { matched: Matched::Template("/elsewhere"), ..get(&[]) }, held, 404, None, None),
        (Request { matched: Matched::Unknown, ..get(&[]) }, held, 404, None, None),
        (Request { method: b"PUT", ..get(&[]) }, held, 405, None, Some("GET")),
        (get(&[]), |world| Some(world.bearer("read:keys")), 403, Some(insufficient), None),
    ];
    for (request, bearer, status, challenge, methods) in &table {
        let denied = |world: &World| {
            let bearer = bearer(world);
            let bearer: Vec<_> = bearer.iter().map(|bearer| bearer.as_bytes()).collect();
            let denial = world.ask(&Request { authorization: &bearer, ..*request }).denial.unwrap();
            (denial.status, denial.www_authenticate.map(String::from), denial.allow)
        };
        assert_eq!(denied(&full), (*status, challenge.clone(), methods.map(str::to_owned)));
        assert_eq!(denied(&flat), (403, Some("Bearer".to_owned()), None), "{status}");
        assert_eq!(denied(&none), (403, None, None), "{status}");
        assert_eq!(denied(&both), (403, None, None), "{status}");
    }
    let unreadable = full.ask(&get(&[b"Bearer"])).denial.unwrap();
    assert_eq!(unreadable.www_authenticate.as_deref(), Some("Bearer realm=\"orbs\", error=\"invalid_request\""));
}

#[test]
fn the_first_request_waits_for_keys_and_the_next_does_not() {
    let keys = KeyCache::new(verifier(), FetchSettings::default()).unwrap();
    let world = World { gate: Gate::new(Rules::new(), keys), signer: Signer::p256() };
    let bearer = world.bearer("read:orbs");
    let authorization: &[&[u8]] = &[bearer.as_bytes()];
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let Step::Wait(wait) = world.gate.ask(Engine::external(), &get(authorization), at(0)) else {
            panic!("there are no keys yet");
        };
        assert!(!format!("{wait:?}").contains(&bearer[7..40]));
        waiting.push(wait);
    }
    assert_eq!(waiting[0].wait(), waiting[1].wait(), "both wait for one attempt");
    let urls = world.serve();
    assert_eq!(urls, [format!("{ISSUER}/.well-known/openid-configuration"), format!("{ISSUER}/jwks")]);
    for waiting in waiting {
        assert!(world.gate.is_over(waiting.wait(), at(0).monotonic));
        let Step::Answer(answer) = world.gate.resume(Engine::external(), waiting, at(0)) else {
            panic!("the keys are there");
        };
        assert_eq!(told(&answer), expected(200, "", "", ""));
    }
    assert!(world.serve().is_empty());
}

/// Keys change nothing about a malformed request, so it doesn't wait for them, and no fetch begins. Nothing of its token is read.
#[test]
fn a_malformed_request_is_denied_before_keys_are_awaited() {
    let keys = || KeyCache::new(verifier(), FetchSettings::default()).unwrap();
    let signer = Signer::p256();
    let bearer = format!("Bearer {}", signer.token(&header(), &claims()));
    for authorization in [&[bearer.as_bytes()][..], &[], &[b"Bearer x", b"Bearer y"]] {
        let table: [(Request<'_>, &str); 5] = [
            (Request { upgrade: &[b"h2c"], ..get(authorization) }, "upgrade"),
            (Request { header_names: &[b"x-method-override"], ..get(authorization) }, "method"),
            (Request { method: b"get", ..get(authorization) }, "method"),
            (Request { target: b"/api//v1", ..get(authorization) }, "empty_segment"),
            (Request { target: b"", ..get(authorization) }, "length"),
        ];
        for (request, detail) in table {
            let world = World { gate: Gate::new(Rules::new(), keys()), signer: Signer::p256() };
            let answer = world.ask(&request);
            assert_eq!(answer.decision.reason(), Reason::MalformedRequest);
            assert_eq!(answer.decision.detail().map(Detail::as_str), Some(detail));
            assert_eq!((answer.refused(), answer.token()), (None, None));
            assert_eq!(world.serve(), Vec::<String>::new(), "{detail}");
        }
    }
}

/// The details that only gates give, each with a request that gets it with any token.
#[test]
fn every_detail_of_gates_has_an_exchange() {
    let world = World::new(Rules::new());
    let upgrade = Request { upgrade: &[b"h2c"], ..get(&[]) };
    let table = [("upgrade", upgrade)];
    // Those of ledgers are in `orbs`.
    let of_gates = Detail::ALL.into_iter().filter(|it| !it.is_of_target() && it.reason() == Reason::MalformedRequest);
    let names = table.map(|(name, _)| name);
    assert_eq!(of_gates.map(Detail::as_str).collect::<Vec<_>>(), names);
    for (name, request) in table {
        let answer = world.ask(&request);
        assert_eq!(answer.decision.detail().map(Detail::as_str), Some(name));
        let again = answered(world.gate.decide(Engine::external(), &request, Credentials::None));
        assert_eq!(again, answer);
    }
}

#[test]
fn an_override_that_nothing_follows_is_ignored_on_request() {
    let mut rules = Rules::new();
    rules.ignore_method_override = true;
    let world = World::new(rules);
    let bearer = world.bearer("read:orbs");
    let authorization: &[&[u8]] = &[bearer.as_bytes()];
    let request = Request { header_names: &[b"X-HTTP-Method-Override"], ..get(authorization) };
    assert_eq!(told(&world.ask(&request)), expected(200, "", "", ""));
    // Nothing makes an upgrade harmless.
    let request = Request { upgrade: &[b"h2c"], ..request };
    assert_eq!(told(&world.ask(&request)), expected(400, "", "", ""));
}

#[test]
fn an_issuer_that_is_down_makes_no_5xx() {
    let keys = KeyCache::new(verifier(), FetchSettings::default()).unwrap();
    let world = World { gate: Gate::new(Rules::new(), keys), signer: Signer::p256() };
    let bearer = world.bearer("read:orbs");
    let authorization: &[&[u8]] = &[bearer.as_bytes()];
    let Step::Wait(waiting) = world.gate.ask(Engine::external(), &get(authorization), at(0)) else {
        panic!("there are no keys yet");
    };
    let fetch = world.gate.next_fetch(Duration::ZERO).unwrap();
    let next = world.gate.fetched(fetch.attempt, Err(FetchError::Unreachable), Duration::ZERO);
    assert_eq!(next, None);
    let Step::Answer(answer) = world.gate.resume(Engine::external(), waiting, at(0)) else {
        panic!("nothing to wait for");
    };
    assert_eq!(told(&answer), expected(401, "Bearer", "", "no_keys"));
}
