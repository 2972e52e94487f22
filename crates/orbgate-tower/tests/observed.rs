//! What an operator sees: counters, spans, and an audit whose writer is slow or fails.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

mod support;

use core::cell::Cell;
use core::convert::Infallible;
use core::mem::replace;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeSet;
use std::io::{Error, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Once};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use orbgate::Engine;
use orbgate_tower::{AuditLog, Engines, GateLayer, KeyHolder, RequestBody};
use serde_json::Value;
use support::Tokens;
use tower::{Layer as _, ServiceExt as _, service_fn};
use tracing_subscriber::fmt::format::FmtSpan;

const WAITING: usize = 65_536;

async fn service(_: Request<RequestBody<Full<Bytes>>>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::default()))
}

/// The status of the answer: 200 where the service is reached.
async fn call(gate: &GateLayer<KeyHolder>, method: &str, target: &str, token: Option<&str>) -> u16 {
    let mut request = Request::builder().method(method).uri(target);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    answered(gate, request).await
}

async fn answered(gate: &GateLayer<KeyHolder>, request: http::request::Builder) -> u16 {
    let request = request.body(Full::<Bytes>::default()).unwrap();
    let answer = gate.layer(service_fn(service)).oneshot(request).await.unwrap();
    answer.status().as_u16()
}

const FILE: &str = "/api/v1/external/files/1";

/// The runtime of a test's calls. The log is set up first: a span that came earlier would never be logged.
fn runtime() -> tokio::runtime::Runtime {
    static LOGGING: Once = Once::new();
    LOGGING.call_once(|| {
        let subscriber =
            tracing_subscriber::fmt().with_span_events(FmtSpan::CLOSE).without_time().with_writer(|| Log).finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// All scopes but those that are left out.
fn scopes(keep: impl Fn(&str) -> bool) -> String {
    let scopes = Engine::external().scope_table().map(|scope| scope.name());
    scopes.filter(|scope| keep(scope)).collect::<Vec<_>>().join(" ")
}

/// A target of this template, each parameter with this value.
fn filled(template: &str, value: &str) -> String {
    let segments = template.split('/');
    let filled = segments.map(|segment| match segment.starts_with('{') {
        true => value,
        false => segment,
    });
    filled.collect::<Vec<_>>().join("/")
}

/// What the counter's series are labelled with, each as `decision reason route`.
fn series(metrics: &PrometheusHandle) -> BTreeSet<String> {
    let scrape = metrics.render();
    let lines = scrape.lines().filter_map(|line| line.strip_prefix("orbgate_decisions_total{"));
    let labels = lines.map(|line| {
        let values: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        values.join(" ")
    });
    labels.collect()
}

#[test]
fn the_counters_have_as_many_series_as_the_policy_has_answers() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let tokens = Tokens::new();
    let gate = GateLayer::outermost(Engines::external(), tokens.verifier());
    let runtime = runtime();
    let every = tokens.token("user", &scopes(|_| true));
    let none = tokens.token("user", "read:nothing");
    let ask = |method: &str, target: &str, token: Option<&str>| {
        runtime.block_on(call(&gate, method, target, token));
    };
    let mut expected = BTreeSet::new();
    metrics::with_local_recorder(&recorder, || {
        for route in Engine::external().routes() {
            let target = filled(route.template(), "7");
            for token in [&every, &none] {
                ask(route.method(), &target, Some(token));
            }
            ask("BREW", &target, Some(&every));
            expected.insert(format!("allow scope_held {}", route.as_str()));
            expected.insert(format!("deny scope_missing {}", route.as_str()));
            expected.insert(format!("deny method_not_declared {}", route.template()));
        }
        for (target, token) in
            [("//", Some(every.as_str())), (FILE, None), (FILE, Some("x")), ("/elsewhere", Some(&every))]
        {
            ask("GET", target, token);
        }
        for reason in ["malformed_request", "no_token", "invalid_token", "no_route"] {
            expected.insert(format!("deny {reason} "));
        }
        assert_eq!(series(&metrics), expected);
        // No made-up request adds a series.
        for number in 0..300 {
            let word = format!("x{number}");
            for route in ["/{}", "/api/v1/external/files/{}", "/api/v1/external/{}/1?q={}", "/{}//"] {
                let target = route.replace("{}", &word);
                for token in [Some(every.as_str()), Some(&none), Some(&word), None] {
                    ask(["GET", "DELETE", "BREW"][number % 3], &target, token);
                }
            }
        }
    });
    assert_eq!(series(&metrics), expected);
}

#[test]
fn a_span_has_reason_and_template_and_never_the_path() {
    let (log, logged) = channel();
    let tokens = Tokens::new();
    let gate = GateLayer::outermost(Engines::external(), tokens.verifier());
    let (right, wrong) = (tokens.token("user", "read:files"), tokens.token("user", "write:files"));
    let runtime = runtime();
    let file = r#"route="GET /api/v1/external/files/{fileId}""#;
    let table = [
        ("GET", FILE, Some(&right), format!(r#"decision="allow" reason="scope_held" {file}"#)),
        ("GET", FILE, Some(&wrong), format!(r#"decision="deny" reason="scope_missing" {file}"#)),
        (
            "PUT",
            FILE,
            Some(&right),
            r#"decision="deny" reason="method_not_declared" route="/api/v1/external/files/{fileId}""#.to_owned(),
        ),
        ("GET", "/files/1", Some(&right), r#"decision="deny" reason="no_route""#.to_owned()),
        ("GET", "/files//1", Some(&right), r#"decision="deny" reason="malformed_request""#.to_owned()),
        (
            "GET",
            FILE,
            None,
            r#"decision="deny" reason="no_token" about="GET /api/v1/external/files/{fileId}""#.to_owned(),
        ),
    ];
    let digest = Engine::external().digest();
    LOG.set(Some(log));
    // The layer states once how it charges, when it is applied.
    runtime.block_on(call(&gate, "GET", "/files/1", None));
    let text = String::from_utf8(logged.try_iter().flatten().collect()).unwrap();
    let charging = "WARN orbgate_tower::observe: charging: no ledger, so only the handlers can charge; routes that consume orbs: 14, ";
    assert!(text.contains(charging) && text.lines().count() == 2, "{text}");
    for (method, target, token, fields) in table {
        let token = token.map(String::as_str);
        runtime.block_on(call(&gate, method, target, token));
        let bytes: Vec<u8> = logged.try_iter().flatten().collect();
        let line = String::from_utf8(bytes).unwrap();
        let span = format!(" orbgate{{{fields} policy={digest}}}: ");
        assert!(line.contains(&span) && line.lines().count() == 1, "{line}{span}");
        assert!(!line.contains("files/1") && !line.contains("files//"), "{line}");
    }
    runtime.block_on(call(&gate, "GET", FILE, Some("x")));
    let bytes: Vec<u8> = logged.try_iter().flatten().collect();
    let line = String::from_utf8(bytes).unwrap();
    assert!(line.contains(r#"token_refused="not_compact""#), "{line}");
}

/// What the log says about a denial: method and path, and the explanation. It has no secret.
fn explanation(logged: &Receiver<Vec<u8>>, token: &str) -> Option<(String, Value)> {
    let bytes: Vec<u8> = logged.try_iter().flatten().collect();
    let text = String::from_utf8(bytes).unwrap();
    let mut secrets = ["secret", "nonsense", token].into_iter();
    assert!(!secrets.any(|it| text.contains(it)), "{text}");
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.split_once("a call is denied "))?.1;
    let (head, explanation) = line.split_once(" explanation=").unwrap();
    let explanation: String = serde_json::from_str(explanation).unwrap();
    Some((head.to_owned(), serde_json::from_str(&explanation).unwrap()))
}

#[test]
fn a_denial_is_explained_in_the_log_on_request() {
    let (log, logged) = channel();
    let tokens = Tokens::new();
    let gate = GateLayer::outermost(Engines::external(), tokens.verifier());
    let right = tokens.token("user", "read:files");
    let runtime = runtime();
    LOG.set(Some(log));
    let explain = |gate: &GateLayer<KeyHolder>, target: &str, token: Option<&str>, status| {
        assert_eq!(runtime.block_on(call(gate, "GET", target, token)), status, "{target}");
        explanation(&logged, &right)
    };
    let debug = gate.clone().debug();
    assert_eq!(explain(&gate, "/api/v1/external/file/1?secret", Some(&right), 404), None);
    assert_eq!(explain(&debug, FILE, Some(&right), 200), None);
    for (target, path, token, status, reason) in [
        ("/api/v1/external/file/1?secret", "/api/v1/external/file/1", Some(&*right), 404, "no_route"),
        ("/api/v1/external/keys?secret", "/api/v1/external/keys", Some(&right), 403, "scope_missing"),
        (FILE, FILE, Some("nonsense"), 401, "invalid_token"),
        (FILE, FILE, None, 401, "no_token"),
        ("/a//b?secret", "/a//b", Some(&right), 400, "malformed_request"),
    ] {
        let (head, explained) = explain(&debug, target, token, status).unwrap();
        assert_eq!(head, format!("method=GET path={path}"));
        // The same as the answer to the question.
        let kind = token.map(|token| if token == right { "user" } else { "unknown" });
        let scopes = if token == Some(&*right) { "read:files" } else { "" };
        let token = kind.map(|kind| serde_json::json!({ "kind": kind, "scopes": scopes }));
        let mut request = serde_json::json!({ "method": "GET", "target": path });
        if let Some(token) = token {
            request["token"] = token;
        }
        let arguments = serde_json::json!({ "request": request }).to_string();
        let answer = orbgate_analysis::ask(Engine::external(), "explain", &arguments).unwrap();
        assert_eq!(explained, serde_json::from_str::<Value>(&answer).unwrap());
        assert_eq!(explained["reason"], reason);
    }
}

/// `explain` gets neither headers nor the query, so it would answer `allow`, or another reason.
#[test]
fn a_denial_for_another_cause_is_logged_with_its_own_reason() {
    let (log, logged) = channel();
    let tokens = Tokens::new();
    let gate = GateLayer::outermost(Engines::external(), tokens.verifier()).debug();
    let token = tokens.token("user", "read:files");
    let runtime = runtime();
    LOG.set(Some(log));
    let long = format!("secret={}", "a".repeat(8192));
    for (path, query, header, detail) in [
        (FILE, "secret", "upgrade", "upgrade"),
        (FILE, "secret", "x-http-method-override", "method"),
        (FILE, &*long, "accept", "length"),
        ("/nowhere", &long, "accept", "length"),
        ("/a//b", "secret", "upgrade", "upgrade"),
        ("/a//b", &long, "accept", "length"),
    ] {
        let value = if header == "upgrade" { "h2c" } else { "DELETE" };
        let request = Request::get(format!("{path}?{query}")).header(header, value);
        let request = request.header("authorization", format!("Bearer {token}"));
        assert_eq!(runtime.block_on(answered(&gate, request)), 400);
        let (head, explained) = explanation(&logged, &token).unwrap();
        assert_eq!(head, format!("method=GET path={path}"));
        let decision = serde_json::json!({
            "decision": "deny", "status": 400, "reason": "malformed_request", "detail": detail, "api": null,
            "route": null, "scope": null, "orbs": null, "policy": Engine::external().digest().to_string(),
        });
        assert_eq!(explained, decision);
    }
}

/// The policy allows it, so `explain` would answer `allow`.
#[test]
fn a_misrouted_request_is_not_explained() {
    let (log, logged) = channel();
    let tokens = Tokens::new();
    let gate = GateLayer::axum(Engines::external(), tokens.verifier()).debug();
    let any = axum::routing::any(async || "any");
    let app = axum::Router::new().route("/{*path}", any).layer(gate);
    let token = tokens.token("user", "read:files");
    let request = Request::get(FILE).header("authorization", format!("Bearer {token}"));
    let request = request.body(axum::body::Body::empty()).unwrap();
    let runtime = runtime();
    LOG.set(Some(log));
    let answer = runtime.block_on(app.oneshot(request)).unwrap();
    assert_eq!(answer.status(), 404);
    let bytes: Vec<u8> = logged.try_iter().flatten().collect();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(r#"matched="/{*path}""#), "{text}");
    assert!(!text.contains("a call is denied"), "{text}");
}

/// Passes on what a test's own thread logs, if the test wants it.
struct Log;

thread_local! {
    static LOG: Cell<Option<Sender<Vec<u8>>>> = const { Cell::new(None) };
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let log = LOG.take();
        if let Some(log) = &log {
            log.send(bytes.to_vec()).map_err(Error::other)?;
        }
        LOG.set(log);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn lost(metrics: &PrometheusHandle) -> usize {
    let scrape = metrics.render();
    let mut counts = scrape.lines().filter_map(|line| line.strip_prefix("orbgate_audit_lost_total "));
    counts.next().map_or(0, |count| count.parse().unwrap())
}

/// Stops when it gets input, and says so, until the test lets it go on.
struct Held {
    given: SyncSender<()>,
    may: Receiver<()>,
}

impl Held {
    fn new() -> (Self, (Receiver<()>, Sender<()>)) {
        let (given, is_given) = sync_channel(0);
        let (go_on, may) = channel();
        (Self { given, may }, (is_given, go_on))
    }

    fn wait(&self) {
        let _ = self.given.send(());
        let _ = self.may.recv();
    }
}

struct Slow {
    held: Held,
    written: Sender<Vec<u8>>,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.wait();
        self.written.send(bytes.to_vec()).map_err(Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Takes most of its input and then fails, for as long as the test wants.
/// Panics at first.
struct Failing {
    held: Held,
    has_panicked: bool,
    fails: Arc<AtomicBool>,
    written: Sender<Vec<u8>>,
}

impl Write for Failing {
    #[expect(clippy::panic_in_result_fn, reason = "a writer that panics once")]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.wait();
        let fails = self.fails.load(Ordering::SeqCst);
        if fails && bytes.len() < 100 {
            assert!(replace(&mut self.has_panicked, true), "the disk is full");
            return Err(ErrorKind::StorageFull.into());
        }
        let taken = if fails { bytes.len() - 99 } else { bytes.len() };
        self.written.send(bytes[..taken].to_vec()).unwrap();
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The lines that are JSON, and how many others are not empty.
fn read_lines(written: &Receiver<Vec<u8>>) -> (Vec<Value>, usize) {
    let text = String::from_utf8(written.try_iter().flatten().collect()).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let read: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let others = lines.len() - read.len();
    (read, others)
}

/// Losses are counted on the thread that asks, and that thread has this test's recorder.
#[test]
fn nobody_waits_for_a_slow_writer_and_every_lost_line_is_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let (written, text) = channel();
    let (held, (is_given, go_on)) = Held::new();
    let audit = AuditLog::to_writer(Slow { held, written });
    let audit = audit.unwrap();
    let gate = GateLayer::outermost(Engines::external(), Tokens::new().verifier()).audit(audit.clone());
    let runtime = runtime();
    let ask = || runtime.block_on(call(&gate, "GET", FILE, None));
    metrics::with_local_recorder(&recorder, || {
        assert_eq!(ask(), 401);
        is_given.recv().unwrap(); // The writer has the first line, and waits.
        for _ in 0..WAITING {
            assert_eq!(ask(), 401);
        }
        assert_eq!(lost(&metrics), 0);
        for more in 1..=100 {
            assert_eq!(ask(), 401);
            assert_eq!(lost(&metrics), more);
        }
    });
    drop((go_on, is_given)); // From here on, it is fast.
    audit.flush();
    let (lines, others) = read_lines(&text);
    assert_eq!((lines.len(), others), (1 + WAITING, 0));
}

/// Losses are counted here on the writer's own thread, whose recorder is the program's.
#[test]
fn a_failing_writer_changes_no_decision_and_gets_the_next_lines_all_the_same() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();
    let (written, text) = channel();
    let fails = Arc::new(AtomicBool::new(true));
    let (held, (is_given, go_on)) = Held::new();
    let audit = AuditLog::to_writer(Failing { held, has_panicked: false, fails: Arc::clone(&fails), written });
    let audit = audit.unwrap();
    let tokens = Tokens::new();
    let gate = GateLayer::outermost(Engines::external(), tokens.verifier()).audit(audit.clone());
    let (right, wrong) = (tokens.token("user", "read:files"), tokens.token("user", "write:files"));
    let runtime = runtime();
    let ask = || {
        for (token, status) in [(Some(&right), 200), (Some(&wrong), 403), (None, 401)] {
            let answer = call(&gate, "GET", FILE, token.map(String::as_str));
            assert_eq!(runtime.block_on(answer), status);
        }
    };
    ask();
    is_given.recv().unwrap(); // The writer has the first; the others are written together.
    ask();
    drop((is_given, go_on));
    audit.flush();
    assert_eq!(lost(&metrics), 6, "all that was given is counted as lost");

    fails.store(false, Ordering::SeqCst);
    let (_, halves) = read_lines(&text);
    assert!(halves > 0, "some began to be written");
    ask();
    audit.flush();
    let (lines, others) = read_lines(&text);
    assert_eq!((lines.len(), others), (3, 0), "on lines of their own");
    assert_eq!(lines[2]["reason"], "no_token");
    assert_eq!(lost(&metrics), 6);
}
