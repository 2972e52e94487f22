//! What is refused at the start and on reload, and what an operator sees.

use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::fs::{self, File};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate::{Engine, Policy, TokenKind};
use orbgate_ledger::{Bucket, Cause, Grant, Ledger, Sqlite};
use orbgate_token::{TestIssuer, Verifier};
use orbgate_tower::{
    Amounts, AmountsError, AuditLog, CheckDispatch, Engines, GateLayer, KeyHolder, LoadError, OnCancelled, OrbLedger,
    OrbRules, RequestBody, Uncharged,
};
use serde_json::Value;
use tower::{Layer as _, ServiceExt as _, service_fn};

use crate::service::{OPEN, POLICY, World, account, amounts, engines, rules, wait};

fn gate() -> GateLayer<KeyHolder> {
    let issuer = TestIssuer::new("https://issuer.test").unwrap();
    GateLayer::outermost(engines(), KeyHolder::new(issuer.verifier().unwrap(), issuer.keys().unwrap()))
}

fn orbs() -> (tempfile::TempDir, OrbLedger) {
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    (folder, OrbLedger::start(ledger, rules()).unwrap())
}

#[test]
fn a_route_without_an_amount_is_refused_at_the_start_and_on_reload() {
    let (_folder, orbs) = orbs();
    let error = gate().ledger(&orbs, Amounts::of_policy()).unwrap_err();
    let AmountsError::Uncharged(Uncharged::NoAmount(error)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.routes(), [OPEN]);
    let unknown = amounts().with("POST /opne/{id}", |_, _| Ok::<_, String>(1));
    let error = gate().ledger(&orbs, unknown).unwrap_err();
    assert!(error.to_string().starts_with("the policy has no route `POST /opne/{id}`"), "{error}");

    let gate = gate();
    let engines = gate.engines().clone();
    let _layer = gate.ledger(&orbs, amounts()).unwrap();
    let before = engines.load().digest();
    let refused = engines.reload(POLICY.replace("orbs: 10", "orbs: true").as_bytes()).unwrap_err();
    assert!(matches!(refused, LoadError::Uncharged(_)), "{refused}");
    assert_eq!(refused.to_string().lines().count(), 3);
    assert_eq!(engines.load().digest(), before);
    // The parameter's name doesn't matter, and neither does another amount.
    engines.reload(POLICY.replace("{id}", "{name}").replace("orbs: 10", "orbs: 11").as_bytes()).unwrap();
    assert_ne!(engines.load().digest(), before);
}

/// A gate without a ledger needs no account, and an issuer with one is enough.
#[test]
fn a_ledger_without_an_account_is_refused_at_the_start_and_on_reload() {
    let issuer = TestIssuer::new("https://issuer.test").unwrap();
    let tokens = issuer.tokens_yaml().replace(r#""account":"subject","#, "");
    assert_ne!(tokens, issuer.tokens_yaml());
    let gate = |policy: &str| {
        let engines = Engines::new(Engine::new(&Policy::from_yaml(policy).unwrap()));
        let verifier = Verifier::from_yaml(&tokens).unwrap();
        GateLayer::outermost(engines, KeyHolder::new(verifier, issuer.keys().unwrap()))
    };
    let (_folder, orbs) = orbs();
    let service = service_fn(|_: Request<RequestBody<Full<Bytes>>>| async {
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    });
    let _uncharged = gate(POLICY).layer(service);
    let error = gate(POLICY).ledger(&orbs, amounts()).unwrap_err();
    assert!(matches!(error, AmountsError::Uncharged(Uncharged::NoAccount(_))), "{error}");
    let free = POLICY.split("    scopes:").next().unwrap().to_owned() + "    scopes: {}\n...\n";
    let gate = gate(&free);
    let engines = gate.engines().clone();
    let _layer = gate.ledger(&orbs, Amounts::of_policy()).unwrap();
    let refused = engines.reload(POLICY.replace("orbs: true", "orbs: 7").as_bytes()).unwrap_err();
    assert!(matches!(refused, LoadError::Uncharged(Uncharged::NoAccount(_))), "{refused}");
    engines.reload(free.as_bytes()).unwrap();
}

#[test]
fn rules_that_can_charge_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    let mut rules = OrbRules::new(OnCancelled::Void);
    rules.timeout = Duration::ZERO;
    let error = OrbLedger::start(ledger, rules).unwrap_err();
    assert_eq!(error.to_string(), "`timeout` is 0, or over a third of `ttl`");
}

#[test]
fn an_operator_sees_what_was_denied_and_charged() {
    let scrape = PrometheusBuilder::new().install_recorder().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let audit = AuditLog::to_writer(File::create(&log).unwrap()).unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    let world = World::with(ledger, rules(), |gate| gate.audit(audit.clone()).shadow(engines()));
    world.grant("rich", 100, Bucket::Paid);
    for (user, status) in [("poor", 402), ("rich", 200)] {
        assert_eq!(world.call(user, "POST /run", &[], "").unwrap().status, status);
    }
    // An organisation without an account.
    let claims = serde_json::Map::from_iter([("sub".to_owned(), Value::Null)]);
    let now = std::time::SystemTime::now();
    let token = world.issuer.token_with(TokenKind::Organisation, "run", &claims, now);
    let stream = crate::service::send(&world.address, &token, "POST /run", &[], "");
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut &stream, &mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("www-authenticate: Bearer\r\n"), "{answer}");
    assert_eq!((world.left("rich"), world.ran()), (90, 1));
    audit.flush();
    let lines = fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |line: &Value| {
        ["decision", "reason", "detail", "route", "about", "token_refused"]
            .map(|key| line[key].as_str().unwrap_or("-").to_owned())
            .join(" ")
    };
    assert_eq!(
        lines.iter().map(told).collect::<Vec<_>>(),
        [
            "deny insufficient_orbs insufficient POST /run POST /run -",
            "allow scope_held - POST /run POST /run -",
            "deny invalid_token - - POST /run no_account",
        ]
    );
    let held = world.entries("rich").iter().find(|entry| entry.cause == Cause::Hold).map(|entry| entry.id.to_string());
    let names: Vec<_> = lines.iter().map(|line| line["hold_id"].as_str().map(str::to_owned)).collect();
    assert_eq!(names, [None, held, None]);
    // A handler that states far too much.
    let over = world.call("rich", "POST /run", &[("x-do", "state"), ("x-state", "1000")], "").unwrap();
    assert_eq!((over.status, world.left("rich")), (200, 80));
    // A settlement comes after its answer.
    let mut text = String::new();
    wait(|| {
        text = scrape.render();
        text.contains("result=\"captured\"} 2") && text.contains("orbgate_settlements_waiting 0")
    });
    for counter in [
        "orbgate_holds_total{result=\"held\"}",
        "orbgate_holds_total{result=\"denied\"}",
        "orbgate_settlements_total{result=\"captured\"} 2",
        "orbgate_orbs_captured_total 20",
        "orbgate_over_ceiling_total 1",
        "orbgate_orbs_over_ceiling_total 990",
        "orbgate_settlements_waiting 0",
        // A candidate is compared by policy: the same one denies nobody for an empty account.
        "orbgate_shadow_decisions_total{result=\"same\"} 4",
        "orbgate_decisions_total{decision=\"deny\",reason=\"insufficient_orbs\",route=\"POST /run\"}",
    ] {
        assert!(text.contains(counter), "{counter}: {text}");
    }
}

/// A WebSocket is charged at its handshake, whatever flows afterwards.
#[test]
fn a_handshake_is_charged_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    let world = World::new(ledger.clone(), rules());
    world.grant("a", 100, Bucket::Paid);
    let orbs = OrbLedger::start(ledger, rules()).unwrap();
    let layer = world.gate.clone().ledger(&orbs, amounts()).unwrap();
    let handshake = service_fn(async |_: Request<RequestBody<Full<Bytes>>>| {
        let mut response = Response::new(Full::<Bytes>::default());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        Ok::<_, Infallible>(response)
    });
    let request = Request::get("/run").header("upgrade", "websocket");
    let request = request.header("authorization", format!("Bearer {}", world.token("a")));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let response = runtime.block_on(layer.layer(handshake).oneshot(request.body(Full::default()).unwrap())).unwrap();
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    orbs.flush();
    assert_eq!(world.ledger.balance(account("a")).unwrap().available.get(), 90);
    drop(response);
}

/// The tutorial's program does what its page says.
#[tokio::test(flavor = "multi_thread")]
async fn the_tutorial_s_service_answers_as_its_page_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial/charge.md");
    let page = fs::read_to_string(page).unwrap();
    let policy = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let engines = Engines::new(Engine::new(&Policy::from_yaml(policy).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    let issuer = TestIssuer::new("https://issuer.test").unwrap();
    let app = crate::charge::app(engines, ledger.clone(), &issuer).unwrap();
    let token = issuer.token(TokenKind::User, "write:prompts", std::time::SystemTime::now());
    let call = async || {
        let request = Request::post("/prompts").header("authorization", format!("Bearer {token}"));
        let answer = app.clone().oneshot(request.body(axum::body::Body::empty()).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        drop(axum::body::to_bytes(answer.into_body(), 1_000).await.unwrap());
        status
    };
    assert_eq!(call().await, 402);
    let (id, amount) = (orbgate_ledger::Id::new("invoice-1").unwrap(), orbgate_ledger::Orbs::new(50).unwrap());
    assert!(page.contains("grant 'https://issuer.test#subject' 50 --id invoice-1"));
    let account = account("subject");
    ledger.grant(Grant::new(id, account.clone(), amount)).unwrap();
    assert_eq!(call().await, 200);
    wait(|| ledger.balance(account.clone()).unwrap().held.get() == 0);
    assert!(page.contains("because 20 orbs are left"));
    assert_eq!(ledger.balance(account).unwrap().available.get(), 20);
    assert_eq!(call().await, 402);
}

/// A service that isn't ready, and whose caller leaves.
#[derive(Clone)]
struct NotReady(Arc<AtomicBool>);

impl<B> tower::Service<Request<B>> for NotReady {
    type Response = Response<http_body_util::Empty<Bytes>>;
    type Error = Infallible;
    type Future = core::future::Pending<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.store(true, Ordering::SeqCst);
        Poll::Pending
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        panic!("it isn't ready");
    }
}

#[test]
fn a_handler_that_never_ran_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    let mut capturing = rules();
    capturing.on_cancelled = OnCancelled::Capture;
    let world = World::new(Arc::clone(&ledger), capturing.clone());
    world.grant("a", 100, Bucket::Paid);
    let orbs = OrbLedger::start(ledger, capturing).unwrap();
    let is_asked = Arc::new(AtomicBool::new(false));
    let service = world.gate.clone().ledger(&orbs, amounts()).unwrap().layer(NotReady(Arc::clone(&is_asked)));
    let request = Request::post("/run").header("authorization", format!("Bearer {}", world.token("a")));
    let call = service.oneshot(request.body(Full::<Bytes>::default()).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let call = runtime.spawn(call);
    wait(|| is_asked.load(Ordering::SeqCst));
    call.abort();
    assert_eq!(world.left("a"), 100);
    assert_eq!(world.causes("a"), [Cause::Hold, Cause::Void]);
}

/// The router sends the call to a handler that the policy doesn't know: the handler doesn't run, and its hold is voided.
#[test]
fn a_call_that_is_misrouted_behind_the_gate_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
    let mut capturing = rules();
    capturing.on_cancelled = OnCancelled::Capture;
    let world = World::new(Arc::clone(&ledger), capturing.clone());
    world.grant("a", 100, Bucket::Paid);
    let orbs = OrbLedger::start(ledger, capturing).unwrap();
    let ran = Arc::new(AtomicBool::new(false));
    let handler = {
        let ran = Arc::clone(&ran);
        async move || ran.store(true, Ordering::SeqCst)
    };
    let router = axum::Router::new().route("/{anything}", axum::routing::post(handler)).layer(CheckDispatch);
    let service = world.gate.clone().ledger(&orbs, amounts()).unwrap().layer(router);
    let request = Request::post("/run").header("authorization", format!("Bearer {}", world.token("a")));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(service.oneshot(request.body(axum::body::Body::empty()).unwrap())).unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    drop(answer);
    assert_eq!(world.left("a"), 100);
    assert_eq!(world.causes("a"), [Cause::Hold, Cause::Void]);
    assert!(!ran.load(Ordering::SeqCst));
}
