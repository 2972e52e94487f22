//! A service whose handlers end as a request tells them, and its callers.

use core::future::pending;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body::Frame;
use orbgate::{Engine, Policy, TokenKind};
use orbgate_ledger::{AccountId, Balance, Bucket, Cause, Cursor, Entry, Grant, Id, Ledger, Orbs};
use orbgate_token::{TestIssuer, VerifiedToken};
use orbgate_tower::{
    ActualOrbs, Amounts, CorsPreflight, Engines, GateLayer, KeyHolder, OnCancelled, OrbLedger, OrbRules, PublicRoutes,
    VerifyToken,
};
use serde_json::{Map, Value};

pub(crate) const POLICY: &str = "\
orbgate: 1
name: orbs
apis:
  a:
    base_path: ''
    scopes:
      free: { orbs: false, routes: [GET /free] }
      run: { orbs: 10, routes: [POST /run, GET /run, HEAD /run] }
      open: { orbs: true, routes: ['POST /open/{id}'] }
";

pub(crate) const OPEN: &str = "POST /open/{id}";

pub(crate) fn engines() -> Engines {
    let engine = Engine::new(&Policy::from_yaml(POLICY).unwrap());
    let public = PublicRoutes::new(["GET /healthz"]).unwrap();
    Engines::new(engine).public_routes(public).unwrap()
}

/// The amount of a call of [`OPEN`]: a header states it.
pub(crate) fn amounts() -> Amounts<VerifiedToken> {
    Amounts::of_policy().with(OPEN, |headers: &HeaderMap, token: &VerifiedToken| {
        assert!(token.account().is_some(), "it is known before");
        match headers.get("x-orbs").map(|orbs| orbs.to_str().unwrap()) {
            Some("panic") => panic!("as a function can"),
            Some(orbs) => orbs.parse().map_err(|_| "`x-orbs` isn't a number"),
            None => Err("`x-orbs` is missing"),
        }
    })
}

pub(crate) const fn rules() -> OrbRules {
    let mut rules = OrbRules::new(OnCancelled::Void);
    // No test depends on it: the machine can be slow.
    rules.timeout = Duration::from_secs(20);
    rules
}

pub(crate) struct World<V = KeyHolder> {
    pub(crate) address: String,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) issuer: Arc<TestIssuer>,
    pub(crate) ran: Arc<AtomicU64>,
    pub(crate) gate: GateLayer<V>,
    _runtime: tokio::runtime::Runtime,
}

impl World {
    pub(crate) fn new(ledger: Arc<dyn Ledger>, rules: OrbRules) -> Self {
        Self::with(ledger, rules, |gate| gate)
    }

    pub(crate) fn with(
        ledger: Arc<dyn Ledger>,
        rules: OrbRules,
        set: impl FnOnce(GateLayer<KeyHolder>) -> GateLayer<KeyHolder>,
    ) -> Self {
        let holder = |issuer: &TestIssuer| KeyHolder::new(issuer.verifier().unwrap(), issuer.keys().unwrap());
        Self::verified_by(ledger, rules, holder, set)
    }
}

impl<V: VerifyToken<Verified = VerifiedToken> + Clone> World<V> {
    pub(crate) fn verified_by(
        ledger: Arc<dyn Ledger>,
        rules: OrbRules,
        verifier: impl FnOnce(&TestIssuer) -> V,
        set: impl FnOnce(GateLayer<V>) -> GateLayer<V>,
    ) -> Self {
        let issuer = TestIssuer::new("https://issuer.test").unwrap();
        let verifier = verifier(&issuer);
        let ran = Arc::new(AtomicU64::new(0));
        let gate = GateLayer::outermost(engines(), verifier).cors_preflight(CorsPreflight::Pass);
        let gate = set(gate.bonus_from_body("POST /run", 1_000).unwrap());
        let orbs = OrbLedger::start(Arc::clone(&ledger), rules).unwrap();
        let layer = gate.clone().ledger(&orbs, amounts()).unwrap();
        let app = Router::new()
            .route("/free", get(async || "free"))
            .route("/healthz", get(async || "fine"))
            .route("/run", post(run).get(run).options(async || "preflight"))
            .route("/open/{id}", post(run))
            .with_state(Arc::clone(&ran));
        let service = tower::ServiceBuilder::new().layer(layer).service(app);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = hyper_util::service::TowerToHyperService::new(service.clone());
                let stream = hyper_util::rt::TokioIo::new(stream);
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(stream, service));
            }
        });
        Self { address, ledger, issuer: Arc::new(issuer), ran, gate, _runtime: runtime }
    }

    pub(crate) fn token(&self, user: &str) -> String {
        let claims = Map::from_iter([("sub".to_owned(), Value::from(user))]);
        self.issuer.token_with(TokenKind::User, "free run open", &claims, SystemTime::now())
    }

    pub(crate) fn grant(&self, user: &str, amount: u64, bucket: Bucket) {
        let id = Id::new(format!("{user}-{amount}-{bucket:?}")).unwrap();
        let amount = Orbs::new(amount).unwrap();
        self.ledger.grant(Grant { bucket, ..Grant::new(id, account(user), amount) }).unwrap();
    }

    /// Sends a request, and reads the whole answer; none if the connection ends without one.
    pub(crate) fn call(&self, user: &str, line: &str, headers: &[(&str, &str)], body: &str) -> Option<Answer> {
        let mut stream = self.send(user, line, headers, body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&bytes)
    }

    pub(crate) fn send(&self, user: &str, line: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        send(&self.address, &self.token(user), line, headers, body)
    }

    pub(crate) fn balance(&self, user: &str) -> Balance {
        self.ledger.balance(account(user)).unwrap()
    }

    /// Waits until nothing is held, and returns what the account has left.
    pub(crate) fn left(&self, user: &str) -> u64 {
        wait(|| self.balance(user).held == Orbs::default());
        self.balance(user).available.get()
    }

    pub(crate) fn entries(&self, user: &str) -> Vec<Entry> {
        // In PostgreSQL, a reader sees an entry a moment after its commit.
        wait(|| self.ledger.backlog().unwrap().unnumbered == 0);
        let page = self.ledger.entries(&Cursor::default(), 10_000).unwrap();
        let entries = page.entries.into_iter().map(|(_, entry)| entry);
        entries.filter(|entry| entry.account == account(user)).collect()
    }

    pub(crate) fn causes(&self, user: &str) -> Vec<Cause> {
        self.entries(user).iter().map(|entry| entry.cause).filter(|cause| *cause != Cause::Grant).collect()
    }

    pub(crate) fn ran(&self) -> u64 {
        self.ran.load(Ordering::SeqCst)
    }
}

pub(crate) fn account(user: &str) -> AccountId {
    AccountId::new(format!("https://issuer.test#{user}")).unwrap()
}

/// Waits for something that comes in a moment.
pub(crate) fn wait(mut is_there: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if is_there() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("it never comes");
}

pub(crate) fn send(address: &str, token: &str, line: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut text = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    if !token.is_empty() {
        text.push_str(&format!("authorization: Bearer {token}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().unwrap();
        Some(Self { status, head: head.to_owned(), body: body.to_owned() })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// Does what the header `x-do` says.
async fn run(
    State(ran): State<Arc<AtomicU64>>,
    method: Method,
    Extension(actual): Extension<ActualOrbs>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    ran.fetch_add(1, Ordering::SeqCst);
    let header = |name: &str| headers.get(name).map_or("", |value| value.to_str().unwrap());
    let grpc = |steps: Vec<Step>| {
        let mut response = Response::new(Body::new(Steps(steps.into())));
        response.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
        response
    };
    let status = |status: &str| Step::Trailers(status.parse().unwrap());
    match header("x-do") {
        "404" => StatusCode::NOT_FOUND.into_response(),
        "500" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        "panic" => panic!("as a handler can"),
        "hang" => pending().await,
        "state" => {
            let is_held = actual.state(header("x-state").parse().unwrap());
            format!("{is_held}").into_response()
        }
        "stream" => Response::new(Body::new(Steps(vec![Step::Data, Step::Data].into()))),
        "stream that states" => {
            let steps = vec![Step::Data, Step::State(actual, 3), Step::Data];
            Response::new(Body::new(Steps(steps.into())))
        }
        "stream that fails" => Response::new(Body::new(Steps(vec![Step::Data, Step::Fail].into()))),
        "stream that fails at once" => Response::new(Body::new(Steps(vec![Step::Fail].into()))),
        "stream that panics" => Response::new(Body::new(Steps(vec![Step::Data, Step::Panic].into()))),
        "stream that states and hangs" => {
            let steps = vec![Step::State(actual, 3), Step::Data, Step::Hang];
            Response::new(Body::new(Steps(steps.into())))
        }
        "stream that hangs" => Response::new(Body::new(Steps(vec![Step::Data, Step::Hang].into()))),
        "grpc 0" => grpc(vec![Step::Data, status("0")]),
        "grpc 7" => grpc(vec![Step::Data, status("7")]),
        "grpc without status" => grpc(vec![Step::Data]),
        "grpc head 5" => {
            let mut response = grpc(vec![]);
            response.headers_mut().insert("grpc-status", "5".parse().unwrap());
            response
        }
        // The caller needn't read it.
        "large" => "x".repeat(64 * 1024 * 1024).into_response(),
        _ => format!("{method} {}", body.len()).into_response(),
    }
}

/// A stream, step by step.
struct Steps(VecDeque<Step>);

enum Step {
    Data,
    State(ActualOrbs, u64),
    Trailers(u32),
    Fail,
    Panic,
    Hang,
}

impl http_body::Body for Steps {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        while let Some(Step::State(actual, orbs)) = self.0.front() {
            assert!(actual.state(*orbs));
            self.0.pop_front();
        }
        let frame = match self.0.pop_front() {
            // A statement is made above.
            None | Some(Step::State(..)) => return Poll::Ready(None),
            Some(Step::Data) => Ok(Frame::data(Bytes::from_static(b"data"))),
            Some(Step::Trailers(status)) => {
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", status.into());
                Ok(Frame::trailers(trailers))
            }
            Some(Step::Fail) => Err(std::io::Error::other("the stream fails")),
            Some(Step::Panic) => panic!("as a stream can"),
            Some(Step::Hang) => {
                self.0.push_front(Step::Hang);
                return Poll::Pending;
            }
        };
        Poll::Ready(Some(frame))
    }
}
