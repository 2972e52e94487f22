//! What the layer answers and passes on, without a network.

use core::convert::Infallible;
use core::future::{Future, ready};
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::task::{Context, Poll};
use std::io::{PipeReader, pipe, read_to_string};
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full};
use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate::{Engine, Policy, Token, TokenKind};
use orbgate_tower::{
    Allowed, AuditLog, Challenge, CorsPreflight, Engines, FullChallenge, GateLayer, LoadError, PublicRoutes, Refused,
    RequestBody, Verified, VerifyToken,
};
use serde_json::Value;
use tower::{Layer as _, ServiceExt as _, service_fn};

/// Believes what a token says, such as `user.read_orbs+read_files`. Verifying has tests of its own.
#[derive(Clone)]
struct Spoken;

#[derive(Clone)]
struct Said(TokenKind, String);

impl VerifyToken for Spoken {
    type Verified = Said;

    fn verify(&self, token: &str) -> impl Future<Output = Result<Said, Refused>> + Send {
        let parts = token.split_once('.');
        let token =
            parts.map(|(kind, scope)| Said(TokenKind::from_name(kind), scope.replace('_', ":").replace('+', " ")));
        ready(token.ok_or(Refused::new("unspoken")))
    }
}

impl Verified for Said {
    fn token(&self) -> Token<'_> {
        Token { kind: self.0, scopes: self.1.as_str().into() }
    }

    fn fingerprint(&self) -> Option<String> {
        Some("0123456789abcdef".to_owned())
    }
}

fn layer() -> GateLayer<Spoken> {
    GateLayer::outermost(Engines::external(), Spoken)
}

type Answer = Response<Full<Bytes>>;

/// Calls a service inside the layer, which answers with what its request's extensions say.
async fn ask(gate: &GateLayer<Spoken>, method: &str, path: &str, token: &str) -> Answer {
    let service = service_fn(async |request: Request<RequestBody<Full<Bytes>>>| {
        let allowed = request.extensions().get::<Allowed>().unwrap();
        let spoken = request.extensions().get::<Said>().unwrap();
        let text = format!("{} {:?}", allowed.route().unwrap().as_str(), spoken.0);
        Ok::<_, Infallible>(Response::new(Full::from(text)))
    });
    let mut request = Request::builder().method(method).uri(format!("/api/v1/external{path}"));
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Full::default()).unwrap();
    gate.layer(service).oneshot(request).await.unwrap()
}

/// Status, challenge and `Allow`.
async fn refusal(gate: &GateLayer<Spoken>, method: &str, path: &str, token: &str) -> String {
    let answer = ask(gate, method, path, token).await;
    let header = |name: &str| {
        let value = answer.headers().get(name);
        value.map_or("-", |value| value.to_str().unwrap()).to_owned()
    };
    let text = format!("{} {} {}", answer.status().as_u16(), header("www-authenticate"), header("allow"));
    assert_eq!(header("cache-control"), "no-store");
    assert!(answer.headers().len() <= 2, "{:?}", answer.headers());
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "");
    text
}

#[tokio::test]
async fn a_service_learns_the_decision_and_the_token() {
    let answer = ask(&layer(), "GET", "/orbs", "user.read_orbs").await;
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "GET /api/v1/external/orbs User");
}

#[tokio::test]
async fn a_public_route_needs_no_token() {
    let public = PublicRoutes::new(["GET /healthz", "GET /docs/{page}"]).unwrap();
    let engines = Engines::external().public_routes(public).unwrap();
    let gate = GateLayer::outermost(engines.clone(), Spoken);
    let call = async |gate: &GateLayer<Spoken>, method: &str, target: &str, headers: &[_]| {
        let service = service_fn(async |request: Request<RequestBody<Full<Bytes>>>| {
            let allowed = request.extensions().get::<Allowed>().unwrap();
            assert!(request.extensions().get::<Said>().is_none());
            let nothing = (allowed.route(), allowed.scope(), allowed.charge());
            assert_eq!(nothing, (None, None, None));
            let text = allowed.reason().as_str();
            Ok::<Answer, Infallible>(Response::new(Full::from(text)))
        });
        let request = Request::builder().method(method).uri(target);
        let request =
            headers.iter().fold(request, |request, (name, value): &(&str, &str)| request.header(*name, *value));
        let request = request.body(Full::<Bytes>::default()).unwrap();
        gate.layer(service).oneshot(request).await.unwrap().status().as_u16()
    };
    let bearer = [("authorization", "Bearer nobody")];
    assert_eq!(call(&gate, "GET", "/healthz", &[]).await, 200);
    assert_eq!(call(&gate, "GET", "/docs/a?b", &bearer).await, 200);
    assert_eq!(call(&gate, "POST", "/healthz", &bearer).await, 401);
    assert_eq!(call(&gate, "GET", "/api/v1/external/orbs", &[]).await, 401);

    let preflight = [("origin", "https://app.example"), ("access-control-request-method", "GET")];
    let target = "/api/v1/external/orbs";
    assert_eq!(call(&gate, "OPTIONS", target, &preflight).await, 401);
    let passing = gate.cors_preflight(CorsPreflight::Pass);
    assert_eq!(call(&passing, "OPTIONS", target, &preflight).await, 200);

    // A policy that overlaps is refused, and the current one stays.
    let before = engines.load().digest();
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [GET /docs/a] } } } }\n";
    let refused = engines.reload(policy.as_bytes()).unwrap_err();
    assert!(matches!(refused, LoadError::Public(_)), "{refused}");
    assert_eq!(engines.load().digest(), before);
    let overlaps = PublicRoutes::new(["GET /api/v1/external/{any}"]).unwrap();
    assert!(Engines::external().public_routes(overlaps).is_err());
}

#[tokio::test]
async fn every_denial_is_bare_and_has_its_status() {
    let table = [
        ("GET", "//orbs", "user.read_orbs", ["400 - -", "400 - -"]),
        ("GET", "/orbs", "", ["401 Bearer -", "401 Bearer -"]),
        ("GET", "/orbs", "nobody", ["401 Bearer -", "401 Bearer error=\"invalid_token\" -"]),
        ("GET", "/orbs", "robot.read_orbs", ["401 Bearer -", "401 Bearer error=\"invalid_token\" -"]),
        ("GET", "/orbs", "a b", ["401 Bearer -", "401 Bearer error=\"invalid_request\" -"]),
        ("GET", "/orbits", "user.read_orbs", ["404 - -", "404 - -"]),
        ("PUT", "/voxies/1", "user.read_orbs", ["405 - DELETE, GET, PATCH", "405 - DELETE, GET, PATCH"]),
        ("HEAD", "/orbs", "user.read_orbs", ["405 - GET", "405 - GET"]),
        (
            "GET",
            "/orbs",
            "user.write_orbs",
            ["403 Bearer -", "403 Bearer error=\"insufficient_scope\", scope=\"read:orbs\" -"],
        ),
    ];
    let full = layer().challenge(Challenge::Full(FullChallenge::new()));
    let flat = layer().flat_403();
    let none = layer().challenge(Challenge::None);
    for (method, path, token, [minimal_says, full_says]) in table {
        let case = format!("{method} {path} {token}");
        assert_eq!(refusal(&layer(), method, path, token).await, minimal_says, "{case}");
        assert_eq!(refusal(&full, method, path, token).await, full_says, "{case}");
        assert_eq!(refusal(&flat, method, path, token).await, "403 Bearer -", "{case}");
        assert_eq!(refusal(&none, method, path, token).await, "403 - -", "{case}");
    }
}

/// Counts how often it is asked whether it has capacity.
#[derive(Clone, Default)]
struct Limited(Arc<AtomicU64>);

impl tower::Service<Request<RequestBody<Full<Bytes>>>> for Limited {
    type Response = Answer;
    type Error = Infallible;
    type Future = core::future::Ready<Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody<Full<Bytes>>>) -> Self::Future {
        let bearers = request.headers().get_all("authorization").iter();
        assert!(bearers.into_iter().all(http::HeaderValue::is_sensitive));
        ready(Ok(Response::new(Full::default())))
    }
}

#[tokio::test]
async fn only_an_allowed_request_takes_capacity_of_the_service() {
    let public = PublicRoutes::new(["GET /healthz"]).unwrap();
    let gate = GateLayer::outermost(Engines::external().public_routes(public).unwrap(), Spoken);
    let limited = Limited::default();
    let service = gate.layer(limited.clone());
    for (target, tokens, status, taken) in [
        ("/api/v1/external/orbs", &["forged"][..], 401, 0),
        ("/api/v1/external/orbs", &["user.read_account"], 403, 0),
        ("/api/v1/external/orbs", &["user.read_orbs"], 200, 1),
        ("/healthz", &["first", "second"], 200, 2),
    ] {
        let mut request = Request::get(target);
        for token in tokens {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let answer = service.clone().oneshot(request.body(Full::default()).unwrap()).await.unwrap();
        assert_eq!((answer.status().as_u16(), limited.0.load(Ordering::Relaxed)), (status, taken), "{target}");
    }
}

#[tokio::test]
async fn bonus_orbs_are_read_after_a_parameter_is_renamed() {
    let policy = |name: &str| {
        let route = format!("POST /run/{{{name}}}");
        let text = format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ w: {{ orbs: true, routes: ['{route}'] }} }} }} }}\n"
        );
        Engine::new(&Policy::from_yaml(&text).unwrap())
    };
    let engines = Engines::new(policy("id"));
    let (written, sheet) = pipe().unwrap();
    let gate = GateLayer::outermost(engines.clone(), Spoken).bonus_from_body("POST /run/{id}", 100).unwrap();
    let gate = gate.audit(AuditLog::to_writer(sheet).unwrap());
    for (name, body, allows) in [
        ("id", r#"{"allowBonusOrbsUse": true}"#, true),
        ("runId", r#"{"allowBonusOrbsUse": true}"#, true),
        ("id", "{}", false),
    ] {
        engines.store(policy(name));
        let service = service_fn(move |request: Request<RequestBody<Full<Bytes>>>| async move {
            let charge = request.extensions().get::<Allowed>().unwrap().charge().unwrap();
            assert_eq!(charge.bonus_allowed, allows);
            Ok::<_, Infallible>(Answer::default())
        });
        let request = Request::post("/run/7").header("authorization", "Bearer user.w");
        let answer = gate.layer(service).oneshot(request.body(Full::from(body)).unwrap()).await.unwrap();
        assert_eq!(answer.status(), 200, "{name}");
    }
    drop(gate);
    let text = read_to_string(written).unwrap();
    let audited = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["orbs"]["bonus_allowed"].take());
    assert_eq!(audited.collect::<Vec<_>>(), [true, true, false]);
}

const RUN: &str = "POST /api/v1/external/voxies/prompt/run";

/// The frames of a body, and what the layer and the service make of it.
async fn bonus(frames: &[&'static str], limit: Option<u64>) -> (Option<bool>, String) {
    let gate = match limit {
        Some(limit) => layer().bonus_from_body(RUN, limit).unwrap(),
        None => layer(),
    };
    let service = service_fn(async |request: Request<RequestBody<_>>| {
        let allowed = request.extensions().get::<Allowed>().unwrap();
        let bonus = allowed.charge().map(|charge| charge.bonus_allowed);
        let body = request.into_body().collect().await.unwrap();
        assert_eq!(body.trailers().unwrap()["x-sum"], "7");
        let mut response = Response::new(Full::new(body.to_bytes()));
        response.extensions_mut().insert(bonus);
        Ok::<_, Infallible>(response)
    });
    let trailers =
        http::HeaderMap::from_iter([(http::HeaderName::from_static("x-sum"), http::HeaderValue::from_static("7"))]);
    let frames = frames.iter().map(|text| Frame::data(Bytes::from_static(text.as_bytes())));
    let frames: Vec<_> = frames.chain([Frame::trailers(trailers)]).collect();
    let body = Frames(frames.into_iter());
    let request = Request::builder()
        .method("POST")
        .uri("/api/v1/external/voxies/prompt/run")
        .header("authorization", "Bearer user.write_voxies");
    let answer = gate.layer(service).oneshot(request.body(body).unwrap()).await.unwrap();
    let bonus = *answer.extensions().get::<Option<bool>>().unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (bonus, String::from_utf8(body.to_vec()).unwrap())
}

/// A body whose frames are all ready.
struct Frames(std::vec::IntoIter<Frame<Bytes>>);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

#[tokio::test]
async fn bonus_orbs_are_read_where_it_is_set_and_the_body_passes_intact() {
    type Row = (&'static [&'static str], Option<u64>, bool);
    let table: &[Row] = &[
        (&[r#"{"allowBonusOrbsUse": true}"#], Some(100), true),
        (&[r#"{"allowBonus"#, "", r#"OrbsUse": true}"#], Some(100), true),
        (&[r#"{"allowBonusOrbsUse": true}"#], Some(27), true),
        (&[r#"{"allowBonusOrbsUse": true}"#], Some(26), false),
        (&[r#"{"allowBonusOrbsUse":"#, "true", "}"], Some(22), false),
        (&[r#"{"allowBonusOrbsUse": true}"#], None, false),
        (&[r#"{"allowBonusOrbsUse": false}"#], Some(100), false),
        (&[r#"{"allowBonusOrbsUse": "true"}"#], Some(100), false),
        (&[r#"{"allowBonusOrbsUse": true, "allowBonusOrbsUse": true}"#], Some(100), false),
        (&[r#"{"a": {"allowBonusOrbsUse": true}}"#], Some(100), false),
        (&["{}"], Some(100), false),
        (&["[true]"], Some(100), false),
        (&[" \n", r#"{"allowBonusOrbsUse": true}"#], Some(100), true),
        (&["not JSON"], Some(100), false),
        (&[], Some(100), false),
    ];
    for (frames, limit, allowed) in table {
        let expected = (Some(*allowed), frames.concat());
        assert_eq!(bonus(frames, *limit).await, expected, "{frames:?} {limit:?}");
    }
    let error = layer().bonus_from_body("POST /voxies/prompt/run", 1).unwrap_err();
    assert!(error.to_string().contains("no route `POST /voxies/prompt/run`"));
}

#[tokio::test]
async fn a_body_that_is_not_utf8_allows_no_bonus_orbs() {
    for (body, expected) in [
        (&b"{\"a\": \"\xc3\xa9\", \"allowBonusOrbsUse\": true}"[..], true),
        (b"{\"a\": \"\xe9\", \"allowBonusOrbsUse\": true}", false),
        (b"{\"\xff\": 1, \"allowBonusOrbsUse\": true}", false),
        (b"{\"a\": [\"\xed\xa0\x80\"], \"allowBonusOrbsUse\": true}", false),
    ] {
        let frames = Frames(vec![Frame::data(Bytes::from_static(body))].into_iter());
        let gate = layer().bonus_from_body(RUN, 100).unwrap();
        let service = service_fn(async |request: Request<RequestBody<Frames>>| {
            let allowed = request.extensions().get::<Allowed>().unwrap();
            let bonus = allowed.charge().unwrap().bonus_allowed;
            let mut response = Response::new(Full::<Bytes>::default());
            response.extensions_mut().insert(bonus);
            Ok::<_, Infallible>(response)
        });
        let request = Request::builder()
            .method("POST")
            .uri("/api/v1/external/voxies/prompt/run")
            .header("authorization", "Bearer user.write_voxies");
        let request = request.body(frames).unwrap();
        let answer = gate.layer(service).oneshot(request).await.unwrap();
        let bonus = answer.extensions().get::<bool>();
        assert_eq!(bonus, Some(&expected), "{}", body.escape_ascii());
    }
}

#[test]
fn a_body_in_single_bytes_takes_no_more_memory_than_in_one_piece() {
    const LENGTH: usize = 1 << 20;
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.unwrap();
    let text: &'static [u8] = vec![b' '; LENGTH].leak();
    let frames = text.chunks(1).map(|byte| Frame::data(Bytes::from_static(byte)));
    let body = Frames(frames.collect::<Vec<_>>().into_iter());
    let gate = layer().bonus_from_body(RUN, 2 << 20).unwrap();
    let service = service_fn(async |request: Request<RequestBody<Frames>>| {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body.len(), LENGTH);
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    });
    let request = Request::builder()
        .method("POST")
        .uri("/api/v1/external/voxies/prompt/run")
        .header("authorization", "Bearer user.write_voxies");
    let request = request.body(body).unwrap();
    let used = allocation_counter::measure(|| {
        let answer = runtime.block_on(gate.layer(service).oneshot(request));
        assert_eq!(answer.unwrap().status(), 200);
    });
    assert!(used.bytes_max < 5 << 20, "{used:?}");
}

/// Two policies with the same route under different scopes and amounts.
fn policies() -> [String; 2] {
    [("a", 1), ("b", 2)].map(|(scope, orbs)| {
        format!(
            "orbgate: 1
apis:
  api:
    base_path: /api
    scopes:
      {scope}: {{ orbs: true, routes: [{{ route: GET /all, orbs: {orbs} }}] }}
"
        )
    })
}

fn compiled() -> [Engine; 2] {
    policies().map(|text| Engine::new(&Policy::from_yaml(&text).unwrap()))
}

/// Everything in a decision that comes from its policy.
fn says(allowed: &Allowed) -> (String, String, Option<u64>) {
    let scope = allowed.scope().unwrap().name().to_owned();
    let amount = allowed.charge().unwrap().amount;
    (allowed.policy().to_string(), scope, amount)
}

#[test]
fn each_decision_during_ten_thousand_swaps_is_of_one_policy() {
    let [first, second] = compiled().map(|engine| engine.digest().to_string());
    let right = [(first, "a".to_owned(), Some(1)), (second, "b".to_owned(), Some(2))];
    let engines = Engines::external();
    engines.reload(policies()[0].as_bytes()).unwrap();
    let gate = GateLayer::outermost(engines.clone(), Spoken);
    let (done, decided) = (AtomicBool::new(false), AtomicU64::new(0));
    let shared = compiled().map(Arc::new);
    let reader = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.unwrap();
        let mut seen = [0_u64; 2];
        while !done.load(Ordering::Relaxed) {
            let service = service_fn(async |request: Request<RequestBody<Full<Bytes>>>| {
                let mut response = Response::new(Full::<Bytes>::default());
                let allowed = request.extensions().get::<Allowed>();
                response.extensions_mut().insert(says(allowed.unwrap()));
                Ok::<_, Infallible>(response)
            });
            let request = Request::get("/api/all").header("authorization", "Bearer user.a+b");
            let request = request.body(Full::<Bytes>::default()).unwrap();
            let answer = gate.layer(service).oneshot(request);
            let answer = runtime.block_on(answer).unwrap();
            assert_eq!(answer.status(), 200);
            let decision = answer.extensions().get::<(String, String, Option<u64>)>();
            let policy = right.iter().position(|right| Some(right) == decision);
            seen[policy.expect("a decision of one policy")] += 1;
            decided.fetch_add(1, Ordering::Relaxed);
        }
        seen
    };
    let seen = thread::scope(|scope| {
        let readers: Vec<_> = (0..32).map(|_| scope.spawn(reader)).collect();
        let mut swaps = 0;
        // Many swaps while readers decide all the time: a swap is much shorter than a decision.
        while swaps < 10_000 || decided.load(Ordering::Relaxed) < 10_000 {
            for engine in &shared {
                engines.store(Arc::clone(engine));
                swaps += 1;
            }
        }
        done.store(true, Ordering::Relaxed);
        let seen = readers.into_iter().map(|reader| reader.join().unwrap());
        seen.collect::<Vec<_>>()
    });
    for policy in 0..2 {
        assert!(seen.iter().map(|seen| seen[policy]).sum::<u64>() > 0, "{seen:?}");
    }
}

#[test]
fn a_scrape_has_reasons_and_templates_and_no_path() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    metrics::with_local_recorder(&recorder, || {
        runtime.unwrap().block_on(async {
            for (method, path, token) in CALLS {
                let gate = layer().shadow(Engines::external());
                ask(&gate, method, path, token).await;
            }
        });
        Engines::external().reload(b"orbgate: 2").unwrap_err();
    });
    let scrape = recorder.handle().render();
    for line in [
        r#"orbgate_decisions_total{decision="allow",reason="scope_held",route="GET /api/v1/external/voxies/{voxieId}"} 2"#,
        r#"orbgate_decisions_total{decision="deny",reason="scope_missing",route="GET /api/v1/external/orbs"} 1"#,
        r#"orbgate_decisions_total{decision="deny",reason="no_route",route=""} 1"#,
        r#"orbgate_decisions_total{decision="deny",reason="method_not_declared",route="/api/v1/external/voxies/{voxieId}"} 1"#,
        r#"orbgate_tokens_refused_total{reason="unspoken"} 1"#,
        r#"orbgate_shadow_decisions_total{result="same"} 6"#,
        r#"orbgate_policy_loads_total{result="refused"} 1"#,
    ] {
        assert!(scrape.contains(line), "{line}\n{scrape}");
    }
    assert!(!scrape.contains("secret"), "{scrape}");
}

/// Calls with a word in path and token that must appear nowhere else.
const CALLS: [(&str, &str, &str); 6] = [
    ("GET", "/voxies/secret-1", "user.read_voxies+secret"),
    ("GET", "/voxies/secret-2?secret=3", "organisation.read_voxies+secret"),
    ("GET", "/orbs?secret=1", "user.secret"),
    ("GET", "/secret", "user.secret"),
    ("PUT", "/voxies/secret", "user.secret"),
    ("GET", "/orbs", "secret"),
];

#[tokio::test]
async fn the_audit_has_a_line_for_each_decision_and_nothing_of_tokens() {
    let (written, sheet) = pipe().unwrap();
    let audit = AuditLog::to_writer(sheet).unwrap();
    let gate = layer().audit(audit);
    for (method, path, token) in CALLS {
        ask(&gate, method, path, token).await;
    }
    drop(gate);
    let text = read_to_string(written).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), CALLS.len());
    let digest = Engine::external().digest().to_string();
    for line in &lines {
        assert_eq!(line["policy"], digest);
        assert!(line["time_ms"].as_u64() > Some(1_700_000_000_000), "{line}");
    }
    assert_eq!(lines[1]["reason"], "scope_held");
    assert_eq!(lines[1]["orbs"]["bonus_allowed"], Value::Null);
    assert_eq!(lines[1]["token_kind"], "organisation");
    assert_eq!(lines[1]["token"], "0123456789abcdef");
    assert_eq!(lines[1]["route"], "GET /api/v1/external/voxies/{voxieId}");
    assert_eq!(lines[1]["about"], lines[1]["route"]);
    assert_eq!(lines[5]["reason"], "invalid_token");
    assert_eq!(lines[5]["route"], Value::Null);
    assert_eq!(lines[5]["about"], "GET /api/v1/external/orbs");
    assert_eq!(lines[5]["token_refused"], "unspoken");
    assert_eq!(lines[5]["token_kind"], Value::Null);
}

/// Another policy: it lacks most routes, and `GET /voxies` takes another scope.
const CANDIDATE: &str = "
orbgate: 1
apis:
  external:
    base_path: /api/v1/external
    scopes:
      read:orbs: { orbs: false, routes: ['GET /voxies/{voxieId}'] }
      read:voxies: { orbs: 7, routes: [GET /orbs] }
";

#[tokio::test]
async fn a_question_without_a_service_gets_the_answer_of_the_layer_and_its_line_in_the_audit() {
    let lines = |text: String| -> Vec<Value> {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .map(|mut line: Value| {
                line["time_ms"] = Value::Null;
                line
            })
            .collect()
    };
    let [(with_service, at_service), (alone, at_alone)] = [(); 2].map(|()| {
        let (written, sheet) = pipe().unwrap();
        let audit = AuditLog::to_writer(sheet).unwrap();
        (layer().audit(audit), written)
    });
    for (method, path, token) in CALLS {
        let answered = ask(&with_service, method, path, token).await;
        let (target, bearer) = (format!("/api/v1/external{path}"), format!("Bearer {token}"));
        let bearer = [bearer.as_bytes()];
        let question = orbgate_gate::Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            authorization: if token.is_empty() { &[] } else { &bearer },
            ..orbgate_gate::Request::default()
        };
        let status = alone.ask(question, |answer| {
            assert_eq!(answer.decision.is_allow(), answer.denial.is_none());
            answer.denial.map_or(200, |denial| denial.status)
        });
        assert_eq!(status.await, answered.status().as_u16(), "{method} {path}");
    }
    drop((with_service, alone));
    let read = |written: PipeReader| lines(read_to_string(written).unwrap());
    let (one, two) = (read(at_service), read(at_alone));
    assert_eq!(one.len(), CALLS.len());
    assert_eq!(one, two);
}

#[tokio::test]
async fn a_candidate_is_heard_and_not_obeyed() {
    let (written, sheet) = pipe().unwrap();
    let audit = AuditLog::to_writer(sheet).unwrap();
    let candidate = Engines::external();
    candidate.reload(CANDIDATE.as_bytes()).unwrap();
    let gate = layer().audit(audit).shadow(candidate.clone());
    let (plain, mut statuses) = (layer(), Vec::new());
    for (method, path, token) in CALLS {
        let answer = ask(&gate, method, path, token).await;
        let alone = ask(&plain, method, path, token).await;
        assert_eq!(answer.status(), alone.status());
        assert_eq!(answer.headers(), alone.headers());
        statuses.push(answer.status());
    }
    drop(gate);
    let text = read_to_string(written).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), CALLS.len());
    let digest = candidate.load().digest().to_string();
    let shadows: Vec<_> = lines
        .iter()
        .map(|line| {
            let shadow = line.get("shadow")?;
            assert_eq!(shadow["policy"], digest);
            Some((shadow["disagreement"].as_str()?, shadow["decision"].as_str()?))
        })
        .collect();
    assert_eq!(shadows[0], Some(("narrower", "deny")), "{text}");
    assert!(shadows.contains(&None), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn a_candidate_has_its_own_public_routes_or_those_of_the_layer() {
    let engines = |route: Option<&str>| match route {
        Some(route) => Engines::external().public_routes(PublicRoutes::new([route]).unwrap()).unwrap(),
        None => Engines::external(),
    };
    for (active, own, expected) in [
        (Some("GET /healthz"), None, None),
        (None, Some("GET /healthz"), Some("wider")),
        (Some("GET /healthz"), Some("GET /version"), Some("narrower")),
    ] {
        let (written, sheet) = pipe().unwrap();
        let audit = AuditLog::to_writer(sheet).unwrap();
        let gate = GateLayer::outermost(engines(active), Spoken).audit(audit).shadow(engines(own));
        let request = orbgate_gate::Request { method: b"GET", target: b"/healthz", ..orbgate_gate::Request::default() };
        let is_allowed = gate.ask(request, |answer| answer.decision.is_allow()).await;
        assert_eq!(is_allowed, active.is_some());
        drop(gate);
        let line: Value = serde_json::from_reader(written).unwrap();
        let actual = line.get("shadow").map(|shadow| shadow["disagreement"].as_str().unwrap());
        assert_eq!(actual, expected, "{active:?} {own:?}");
    }
}

#[tokio::test]
async fn what_may_be_printed_has_nothing_of_a_token() {
    let gate = layer();
    let shown = format!("{gate:?} {:?} {:?}", gate.layer(()), Refused::new("expired"));
    assert!(!shown.contains("Spoken"), "{shown}");
}
