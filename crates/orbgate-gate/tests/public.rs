//! Routes that need no token, and the questions of browsers before cross-origin requests.

use std::sync::Arc;

use orbgate::{Decision, Detail, Engine, Policy, Reason};
use orbgate_gate::{Answer, CorsPreflight, Credentials, Gate, Matched, PublicRoutes, Request, Rules, check_routes};
use orbgate_token::VerifiedToken;

use crate::answered;

const ROUTES: [&str; 3] = ["GET /healthz", "GET /docs/{page}", "POST /login"];

fn rules() -> Rules {
    let mut rules = Rules::new();
    rules.public = Some(Arc::new(PublicRoutes::new(ROUTES).unwrap()));
    rules
}

fn engine(target: &str) -> Engine {
    let text = format!(
        "orbgate: 1\ntarget: {target}\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: 1, routes: \
         ['GET /users/{{id}}', 'PUT /users/{{id}}', 'OPTIONS /options'] }} }} }} }}\n"
    );
    Engine::new(&Policy::from_yaml(&text).unwrap())
}

fn request<'r>(method: &'r str, target: &'r str) -> Request<'r> {
    Request { method: method.as_bytes(), target: target.as_bytes(), ..Request::default() }
}

/// The answer without a verifier: to a request that needs none, or without a token.
fn ask<'e>(rules: &Rules, engine: &'e Engine, request: &Request<'_>) -> Answer<'e> {
    let opened = rules.open(engine, request);
    let known = opened.token::<VerifiedToken>();
    answered(opened.decide(known.unwrap_err()))
}

#[test]
fn a_public_route_passes_before_the_token_is_read() {
    let (rules, engine) = (rules(), engine("strict"));
    let headers: [&[&[u8]]; 4] = [&[], &[b"Bearer x"], &[b"Basic x"], &[b"Bearer x", b"Bearer y"]];
    for authorization in headers {
        for (method, target, template) in [
            ("GET", "/healthz", "/healthz"),
            ("GET", "/healthz?x=1", "/healthz"),
            ("GET", "/docs/start", "/docs/{page}"),
            ("POST", "/login", "/login"),
        ] {
            let request = Request { authorization, ..request(method, target) };
            let answer = ask(&rules, &engine, &request);
            let Decision::Allow(allow) = answer.decision else {
                panic!("{method} {target}: {answer:?}");
            };
            assert_eq!(allow.reason(), Reason::PublicRoute);
            assert_eq!((allow.route(), allow.scope(), allow.charge()), (None, None, None));
            assert_eq!((answer.denial, answer.credentials), (None, Credentials::None));
            assert_eq!(answer.public.as_deref(), Some(template));
            assert_eq!(allow, allow);
        }
    }
}

#[test]
fn the_rules_of_paths_are_those_of_the_policy() {
    let rules = rules();
    let table = [
        ("HEAD", "/healthz", Reason::NoToken, None),
        ("POST", "/healthz", Reason::NoToken, None),
        ("GET", "/HEALTHZ", Reason::NoToken, None),
        ("GET", "/docs/a/b", Reason::NoToken, None),
        ("GET", "/users/7", Reason::NoToken, None),
        ("GET", "/healthz/", Reason::MalformedRequest, Some(Detail::EmptySegment)),
        ("GET", "/docs/..", Reason::MalformedRequest, Some(Detail::DotSegment)),
        ("get", "/healthz", Reason::MalformedRequest, Some(Detail::Method)),
    ];
    for target in ["strict", "encoded_params"] {
        let engine = engine(target);
        for (method, path, reason, detail) in table {
            let answer = ask(&rules, &engine, &request(method, path));
            let actual = (answer.decision.reason(), answer.decision.detail());
            assert_eq!(actual, (reason, detail), "{target}: {method} {path}");
            assert_eq!(answer.public, None);
        }
    }
    let escaped = request("GET", "/docs/a%20b");
    let [strict, encoded] = ["strict", "encoded_params"].map(|target| {
        let engine = engine(target);
        ask(&rules, &engine, &escaped).decision.reason()
    });
    assert_eq!((strict, encoded), (Reason::MalformedRequest, Reason::PublicRoute));
}

#[test]
fn public_paths_end_in_a_slash_if_the_policys_do() {
    for target in ["strict", "encoded_params"] {
        let (rules, engine) = (rules(), engine(&format!("{target}\ntrailing_slash: always")));
        for (path, reason, template) in [
            ("/healthz/", Reason::PublicRoute, Some("/healthz/")),
            ("/docs/start/?x=1", Reason::PublicRoute, Some("/docs/{page}/")),
            ("/healthz", Reason::NoToken, None),
            ("/docs/start", Reason::NoToken, None),
            ("/healthz//", Reason::MalformedRequest, None),
        ] {
            let mut request = request("GET", path);
            request.matched = Matched::Template(template.unwrap_or_default());
            let answer = ask(&rules, &engine, &request);
            assert_eq!(answer.decision.reason(), reason, "{target}: {path}");
            assert_eq!(answer.public.as_deref(), template, "{target}: {path}");
        }
        let overlaps = PublicRoutes::new(["GET /users/me"]).unwrap();
        assert!(overlaps.check(&engine).is_err());
        let public = rules.public.as_deref().unwrap();
        assert_eq!(public.check(&engine), Ok(()));
        let served = [
            ("GET", "/users/{id}/"),
            ("PUT", "/users/{id}/"),
            ("OPTIONS", "/options/"),
            ("GET", "/healthz/"),
            ("GET", "/docs/{page}/"),
            ("POST", "/login/"),
        ];
        assert!(check_routes(&engine, Some(public), &[], served).is_ok());
    }
}

/// A policy without routes, so that only public routes can differ.
#[test]
fn a_policy_that_spells_public_paths_otherwise_is_wider() {
    let spellings =
        ["strict", "encoded_params"].into_iter().flat_map(|target| ["never", "always"].map(|slash| (target, slash)));
    let spelled = |(target, slash)| {
        let text =
            format!("orbgate: 1\ntarget: {target}\ntrailing_slash: {slash}\napis: {{ a: {{ scopes: {{}} }} }}\n");
        Engine::new(&Policy::from_yaml(&text).unwrap())
    };
    let mut wider = 0;
    for route in ["GET /", "GET /healthz", "GET /docs/{page}"] {
        let public = PublicRoutes::new([route]).unwrap();
        for (active, new) in spellings.clone().flat_map(|active| spellings.clone().map(move |new| (active, new))) {
            let (old, young) = (spelled(active), spelled(new));
            let targets = ["/", "/healthz", "/docs/a", "/docs/a%20b"];
            let mut targets = targets.iter().flat_map(|target| [target.to_string(), format!("{target}/")]);
            let passes = |engine, target: &String| {
                let decision = public.decide(engine, b"GET", target.as_bytes());
                decision.is_some()
            };
            let is_wider = targets.any(|target| passes(&young, &target) && !passes(&old, &target));
            let checked = public.check_wider(&old, &young);
            assert_eq!(checked.is_err(), is_wider, "{route}: {active:?}, {new:?}");
            wider += usize::from(is_wider);
        }
    }
    assert_eq!(wider, 8 + 10);
}

#[test]
fn headers_that_make_a_request_malformed_do_so_on_public_routes() {
    let (rules, engine) = (rules(), engine("strict"));
    let upgrade = Request { upgrade: &[b"h2c"], ..request("GET", "/healthz") };
    let overridden = Request { header_names: &[b"x-http-method-override"], ..request("POST", "/login") };
    for (request, detail) in [(upgrade, Detail::Upgrade), (overridden, Detail::Method)] {
        let answer = ask(&rules, &engine, &request);
        assert_eq!(answer.decision.detail(), Some(detail));
    }
}

#[test]
fn a_router_that_goes_elsewhere_is_not_followed() {
    let (rules, engine) = (rules(), engine("strict"));
    let request = request("GET", "/docs/start");
    let table = [
        (Matched::Nothing, None),
        (Matched::Template("/docs/{name}"), None),
        (Matched::Template("/docs/start"), Some("/docs/start")),
        (Matched::Template("/users/{id}"), Some("/users/{id}")),
        (Matched::Unknown, Some("")),
    ];
    for (matched, expected) in table {
        let answer = ask(&rules, &engine, &Request { matched, ..request });
        let later = rules.routed(&engine, ask(&rules, &engine, &request), matched);
        assert_eq!(answer, later, "{matched:?}");
        let reason = match expected {
            None => Reason::PublicRoute,
            Some(_) => Reason::NoRoute,
        };
        assert_eq!(answer.decision.reason(), reason, "{matched:?}");
        assert_eq!(answer.denial.map(|it| it.status), expected.map(|_| 404));
        assert_eq!(answer.misrouted.map(|it| it.matched).as_deref(), expected);
        assert_eq!(answer.public.is_none(), expected.is_some());
    }
}

#[test]
fn a_policy_that_overlaps_is_refused_and_keeps_its_routes() {
    let engine = engine("strict");
    for (route, fits) in [
        ("GET /users/me", true),
        ("POST /users/{name}", true),
        ("GET /{any}/me", true),
        ("GET /USERS/me", true),
        ("GET /options", true),
        ("GET /users", false),
        ("GET /users/me/keys", false),
        ("GET /healthz", false),
        ("GET /", false),
    ] {
        let public = PublicRoutes::new([route]).unwrap();
        let checked = public.check(&engine);
        assert_eq!(checked.is_err(), fits, "{route}");
        if let Err(error) = checked {
            let template = route.split(' ').nth(1).unwrap();
            assert!(error.to_string().starts_with(&format!("public route `{template}`: ")));
        }
    }
    // A driver that doesn't check gives nothing away.
    let mut rules = Rules::new();
    rules.public = Some(Arc::new(PublicRoutes::new(["GET /users/{id}", "GET /{any}/me"]).unwrap()));
    for target in ["/users/7", "/users/me"] {
        let answer = ask(&rules, &engine, &request("GET", target));
        assert_eq!(answer.decision.reason(), Reason::NoToken);
    }
}

#[test]
fn routes_that_no_policy_could_have_are_refused_together() {
    let error = PublicRoutes::new(["GET /a", "get /b", "GET /{x", "GET /a"]).unwrap_err();
    let lines: Vec<_> = error.lines().iter().map(String::as_str).collect();
    for (line, route) in lines.iter().zip(["get /b", "GET /{x", "GET /a"]) {
        assert!(line.starts_with(&format!("public route `{route}`: ")), "{line}");
    }
    assert_eq!(lines.len(), 3, "{lines:?}");
    let none = PublicRoutes::new(<[&str; 0]>::default()).unwrap();
    assert_eq!(none.iter().count(), 0);
    assert_eq!(none.check(&engine("strict")), Ok(()));
    assert_eq!(none, none.clone());
    assert_ne!(none, PublicRoutes::new(ROUTES).unwrap());
}

#[test]
fn the_routes_of_a_service_are_compared_with_public_ones_too() {
    let (rules, engine) = (rules(), engine("strict"));
    let public = rules.public.as_deref();
    let served = [
        ("GET", "/users/{id}"),
        ("PUT", "/users/{id}"),
        ("OPTIONS", "/options"),
        ("GET", "/healthz"),
        ("GET", "/docs/{name}"),
    ];
    let differ = check_routes(&engine, public, &[], served).unwrap_err();
    assert_eq!((differ.undeclared().len(), differ.unserved()), (0, &["POST /login".to_owned()][..]));
    let differ = check_routes(&engine, None, &[], served).unwrap_err();
    let undeclared: Vec<_> = differ.undeclared().iter().map(|it| it.route.as_str()).collect();
    assert_eq!(undeclared, ["GET /healthz", "GET /docs/{name}"]);
}

#[test]
fn a_preflight_passes_for_declared_routes() {
    let engine = engine("strict");
    let preflight = |target: &'static str, methods: &'static [&'static [u8]]| Request {
        origin: &[b"https://app.example"],
        access_control_request_method: methods,
        ..request("OPTIONS", target)
    };
    let put: &[&[u8]] = &[b"PUT"];
    let passing = [(preflight("/users/7", put), "/users/{id}"), (preflight("/healthz", &[b"GET"]), "/healthz")];
    let others = [
        preflight("/users/7", &[b"DELETE"]),
        preflight("/users/7", &[b"put"]),
        preflight("/users/7", &[]),
        preflight("/users/7", &[b"PUT", b"PUT"]),
        preflight("/nowhere", put),
        // The policy declares this method itself.
        preflight("/options", &[b"OPTIONS"]),
        Request { origin: &[], ..preflight("/users/7", put) },
        Request { origin: &[b"https://a.example", b"https://b.example"], ..preflight("/users/7", put) },
        Request { method: b"DELETE", ..preflight("/users/7", put) },
    ];
    for cors_preflight in [CorsPreflight::Deny, CorsPreflight::Pass] {
        let mut rules = rules();
        rules.cors_preflight = cors_preflight;
        for (request, template) in passing {
            let answer = ask(&rules, &engine, &request);
            let expected = match cors_preflight {
                CorsPreflight::Pass => (Reason::PublicRoute, Some(template)),
                CorsPreflight::Deny => (Reason::NoToken, None),
            };
            assert_eq!((answer.decision.reason(), answer.public.as_deref()), expected);
            assert_eq!(answer.preflight, answer.decision.is_allow());
        }
        for request in others {
            let answer = ask(&rules, &engine, &request);
            assert!(!answer.decision.is_allow(), "{request:?}");
        }
    }
}

/// The handler of another route, or of none, would get it without a token.
#[test]
fn a_preflight_reaches_only_the_handler_of_its_route() {
    let (mut rules, engine) = (rules(), engine("strict"));
    rules.cors_preflight = CorsPreflight::Pass;
    let matched = [
        (Matched::Nothing, true),
        (Matched::Template("/users/{any}"), true),
        (Matched::Template("/users/export"), false),
        (Matched::Template("/healthz"), false),
        (Matched::Unknown, false),
    ];
    for (matched, is_allowed) in matched {
        let preflight = Request {
            origin: &[b"https://app.example"],
            access_control_request_method: &[b"PUT"],
            ..request("OPTIONS", "/users/7")
        };
        let before = ask(&rules, &engine, &Request { matched, ..preflight });
        let afterwards = rules.routed(&engine, ask(&rules, &engine, &preflight), matched);
        for answer in [before, afterwards] {
            let actual = (answer.decision.is_allow(), answer.preflight, answer.misrouted.is_none());
            assert_eq!(actual, (is_allowed, is_allowed, is_allowed), "{matched:?}");
            assert_eq!(answer.denial.map(|denial| denial.status), (!is_allowed).then_some(404));
        }
    }
}

/// A route of the policy needs its scope, even where nobody has checked whether a public route overlaps it.
#[test]
fn a_route_of_the_policy_is_never_public() {
    let public = PublicRoutes::new(["GET /users/{id}", "GET /users/me", "GET /healthz"]).unwrap();
    let mut rules = Rules::new();
    rules.public = Some(Arc::new(public.clone()));
    let engine = engine("strict");
    assert!(public.check(&engine).is_err());
    for (method, target, is_public) in [
        ("GET", "/users/7", false),
        ("GET", "/users/me", false),
        ("GET", "/healthz", true),
        ("GET", "//healthz", false),
        ("POST", "/users/7", false),
        ("POST", "/healthz", false),
    ] {
        let decided = public.decide(&engine, method.as_bytes(), target.as_bytes());
        let answer = ask(&rules, &engine, &request(method, target));
        assert_eq!(decided.map(|it| it.reason()), is_public.then_some(Reason::PublicRoute), "{method} {target}");
        assert_eq!(answer.decision.is_allow(), is_public, "{method} {target}");
    }
}

#[test]
fn credentials_change_nothing_of_a_public_route() {
    let engine = engine("strict");
    let gate = Gate::new(rules(), ());
    for known in [Credentials::None, Credentials::Unreadable, Credentials::Refused("expired")] {
        let answer = answered(gate.decide::<VerifiedToken>(&engine, &request("GET", "/healthz"), known));
        assert_eq!(answer.decision.reason(), Reason::PublicRoute);
        assert_eq!(answer.allowing_bonus_orbs().decision.charge(), None);
    }
}
