//! A caller leaves a paid call at any await: its future, or the body of its answer, is dropped after each number of polls.
//! `ORBGATE_LEAVING` is the number of calls.

use core::convert::Infallible;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::post;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use orbgate::{Engine, Policy, TokenKind};
use orbgate_ledger::{Cause, Cursor, Grant, Id, Ledger, Orbs, Sqlite};
use orbgate_token::TestIssuer;
use orbgate_tower::{Amounts, Engines, GateLayer, InAxum, KeyHolder, Mcp, McpOrbs, OnCancelled, OrbLedger};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::service::{account, rules};

const POLICY: &str = "\
orbgate: 1
apis: { a: { base_path: '', scopes: { run: { orbs: 5, routes: [POST /run, MCP /mcp/tools/call/run] } } } }
";

/// What a call does. A pause is an await at which its caller can leave.
#[derive(Clone, Debug)]
struct Plan {
    is_mcp: bool,
    asks: Vec<Step>,
    /// The handler's, before it answers.
    pauses: u64,
    is_events: bool,
    /// A body of one piece has a length.
    answers: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Pause,
    Piece(Bytes),
    Fail,
}

/// Numbers below a bound, the same for the same seed: SplitMix64.
fn random_of(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}

impl Plan {
    fn new(seed: u64) -> Self {
        let mut random = random_of(seed);
        let mut steps = |text: &str, fails: bool| {
            let (mut steps, mut rest) = (Vec::new(), Bytes::copy_from_slice(text.as_bytes()));
            while !rest.is_empty() {
                let most = rest.len() as u64;
                let piece = rest.split_to(if random(3) == 0 { most } else { random(most + 1) } as usize);
                steps.extend((0..random(3)).map(|_| Step::Pause).chain([Step::Piece(piece)]));
                if fails && random(4) == 0 {
                    steps.push(Step::Fail);
                    return steps;
                }
            }
            steps.extend((0..random(2)).map(|_| Step::Pause));
            steps
        };
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "run", "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
        } });
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}"#;
        let (is_mcp, is_events) = (seed.is_multiple_of(2), seed % 4 < 2);
        let answer = if is_events { format!("event: message\ndata: {result}\n\n") } else { result.to_owned() };
        let (asks, answers) = (steps(&question.to_string(), false), steps(&answer, seed.is_multiple_of(3)));
        Self { is_mcp, asks, pauses: random(3), is_events, answers }
    }
}

/// A call, and how far it came.
#[derive(Debug)]
struct Call {
    plan: Plan,
    has_begun: AtomicBool,
    has_passed: AtomicBool,
    has_failed: AtomicBool,
}

/// A body, step by step.
struct Steps {
    steps: VecDeque<Step>,
    call: Option<Arc<Call>>,
}

impl http_body::Body for Steps {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Pause) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Piece(piece)) => {
                if let Some(call) = self.call.as_ref().filter(|_| !piece.is_empty()) {
                    call.has_passed.store(true, Ordering::Relaxed);
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Some(Step::Fail) => {
                if let Some(call) = &self.call {
                    call.has_failed.store(true, Ordering::Relaxed);
                }
                Poll::Ready(Some(Err(std::io::Error::other("the answer fails"))))
            }
        }
    }
}

async fn answer(request: Request) -> Response {
    let call = Arc::clone(request.extensions().get::<Arc<Call>>().unwrap());
    call.has_begun.store(true, Ordering::Relaxed);
    for _ in 0..call.plan.pauses {
        tokio::task::yield_now().await;
    }
    let kind = if call.plan.is_events { "text/event-stream" } else { "application/json" };
    let body = match &call.plan.answers[..] {
        [Step::Piece(whole)] => Body::from(whole.clone()),
        steps => Body::new(Steps { steps: steps.iter().cloned().collect(), call: Some(Arc::clone(&call)) }),
    };
    Response::builder().header("content-type", kind).body(body).unwrap()
}

/// Polls at most this often; `None` if its caller has left before it was ready.
async fn polled<T>(left: &mut u64, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
    poll_fn(|context| {
        let Some(fewer) = left.checked_sub(1) else {
            return Poll::Ready(None);
        };
        *left = fewer;
        match poll(context) {
            Poll::Ready(ready) => Poll::Ready(Some(ready)),
            Poll::Pending if *left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// How a call ended for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Left,
    /// After the head of the answer.
    LeftBody,
    Failed,
    Whole,
}

struct World {
    app: Router,
    issuer: TestIssuer,
    ledger: Arc<Sqlite>,
    orbs: OrbLedger,
    on_cancelled: u64,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(on_cancelled: OnCancelled) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Arc::new(Sqlite::open(folder.path().join("orbs.db")).unwrap());
        let mut rules = rules();
        rules.on_cancelled = on_cancelled;
        rules.mcp = Some(McpOrbs { on_tool_error: OnCancelled::Void, on_input_required: OnCancelled::Void });
        let orbs = OrbLedger::start(Arc::clone(&ledger) as Arc<dyn Ledger>, rules).unwrap();
        let issuer = TestIssuer::new("https://issuer.test").unwrap();
        let verifier = KeyHolder::new(issuer.verifier().unwrap(), issuer.keys().unwrap());
        let engines = Engines::new(Engine::new(&Policy::from_yaml(POLICY).unwrap()));
        let gate: GateLayer<KeyHolder, InAxum> = GateLayer::axum(engines, verifier);
        let gate = gate.mcp(Mcp::new("/mcp").unwrap()).unwrap().ledger(&orbs, Amounts::of_policy()).unwrap();
        let app = Router::new().route("/run", post(answer)).route("/mcp", post(answer)).layer(gate);
        let on_cancelled = if on_cancelled == OnCancelled::Capture { 5 } else { 0 };
        Self { app, issuer, ledger, orbs, on_cancelled, _folder: folder }
    }

    /// Makes a call whose caller leaves after some polls.
    async fn call(&self, user: &str, plan: &Plan, mut polls: u64) -> (Arc<Call>, End) {
        let claims = Map::from_iter([("sub".to_owned(), Value::from(user))]);
        let token = self.issuer.token_with(TokenKind::User, "run", &claims, SystemTime::now());
        let (id, amount) = (Id::new(user).unwrap(), Orbs::new(20).unwrap());
        let grant = Grant::new(id, account(user), amount);
        self.ledger.grant(grant).unwrap();
        let call = Arc::new(Call {
            plan: plan.clone(),
            has_begun: AtomicBool::new(false),
            has_passed: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        });
        let mut request = Request::post(if plan.is_mcp { "/mcp" } else { "/run" })
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .extension(Arc::clone(&call));
        if plan.is_mcp {
            for (name, value) in
                [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "run")]
            {
                request = request.header(name, value);
            }
        }
        let body = Body::new(Steps { steps: plan.asks.iter().cloned().collect(), call: None });
        let response = {
            let mut future = pin!(self.app.clone().oneshot(request.body(body).unwrap()));
            polled(&mut polls, |context| future.as_mut().poll(context)).await
        };
        let Some(Ok::<_, Infallible>(response)) = response else {
            return (call, End::Left);
        };
        assert_eq!(response.status(), 200, "{user}: {plan:?}");
        let mut body = response.into_body();
        loop {
            match polled(&mut polls, |context| Pin::new(&mut body).poll_frame(context)).await {
                None => return (call, End::LeftBody),
                Some(None) => return (call, End::Whole),
                Some(Some(Err(_))) => return (call, End::Failed),
                Some(Some(Ok(_))) => {}
            }
        }
    }

    /// What the call costs; `None` if the MCP response that was passed until its caller left decides it.
    fn cost(&self, call: &Call, end: End) -> Option<u64> {
        let is_whole = matches!(call.plan.answers[..], [Step::Piece(_)]);
        Some(match end {
            End::Left if call.has_begun.load(Ordering::Relaxed) => self.on_cancelled,
            End::Left => 0,
            End::Failed | End::LeftBody if call.plan.is_mcp => return None,
            End::Failed if call.has_passed.load(Ordering::Relaxed) => self.on_cancelled,
            End::Failed => 0,
            End::LeftBody if is_whole => 5,
            End::LeftBody => self.on_cancelled,
            End::Whole => 5,
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_caller_leaves_at_every_await_and_its_call_is_settled_once() {
    let calls = std::env::var("ORBGATE_LEAVING").map_or(600, |calls| calls.parse().unwrap());
    for on_cancelled in [OnCancelled::Void, OnCancelled::Capture] {
        let world = Arc::new(World::new(on_cancelled));
        let mut made: Vec<(String, Arc<Call>, End)> = Vec::new();
        let mut seeds = 0..;
        while made.len() < calls / 2 {
            let mut together = JoinSet::new();
            for seed in seeds.by_ref().take(8) {
                let world = Arc::clone(&world);
                together.spawn(async move {
                    let plan = Plan::new(seed);
                    let mut made = Vec::new();
                    for polls in 0.. {
                        let user = format!("user-{seed}-{polls}");
                        let (call, end) = world.call(&user, &plan, polls).await;
                        made.push((user, call, end));
                        if !matches!(end, End::Left | End::LeftBody) {
                            break;
                        }
                    }
                    made
                });
            }
            made.extend(together.join_all().await.into_iter().flatten());
        }
        world.orbs.flush();
        let mut causes: BTreeMap<String, Vec<Cause>> = BTreeMap::new();
        let mut cursor = Cursor::default();
        loop {
            let page = world.ledger.entries(&cursor, 1_000).unwrap();
            let Some((last, _)) = page.entries.last() else { break };
            cursor = last.clone();
            for (_, entry) in page.entries {
                causes.entry(entry.account.to_string()).or_default().push(entry.cause);
            }
        }
        let mut ends = BTreeMap::new();
        for (user, call, end) in &made {
            let balance = world.ledger.balance(account(user)).unwrap();
            assert_eq!(balance.held.get(), 0, "{user}: {end:?} {call:?}");
            let cost = 20 - balance.available.get();
            let expected = world.cost(call, *end);
            assert!(expected.unwrap_or(cost) == cost && [0, 5].contains(&cost), "{user}: {cost}: {end:?} {call:?}");
            // What never ran may never have been held.
            let causes = &causes[account(user).as_str()][1..];
            let settled: &[Cause] = &[Cause::Hold, if cost == 0 { Cause::Void } else { Cause::Capture }];
            let was_held = causes == settled;
            assert!(was_held || causes.is_empty() && !call.has_begun.load(Ordering::Relaxed), "{user}: {causes:?}");
            *ends.entry(format!("{end:?} {was_held} {cost}")).or_insert(0) += 1;
        }
        assert!(world.ledger.verify().unwrap().found.is_empty());
        let kinds = ["Left false 0", "Left true 0", "LeftBody true 5", "Whole true 5"];
        assert!(kinds.iter().all(|kind| ends.contains_key(*kind)), "{ends:?}");
        println!("{on_cancelled:?}: {} calls: {ends:?}", made.len());
    }
}
