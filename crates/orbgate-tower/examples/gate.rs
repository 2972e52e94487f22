//! The gate program of Rust: the layer around an axum router, whose service says what it saw. The driver of
//! `policy/cases/gate` starts it; by hand:
//!
//! ```sh
//! cargo xtask gate rust --listen 127.0.0.1:8080 --policy policy/external.yaml --tokens tokens.yaml
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a program reads its arguments and files, and prints; its service panics if it is told to"
)]

#[path = "support/sdk.rs"]
mod sdk;

use core::error::Error;
use core::future::Future as _;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, OriginalUri};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, any_service};
use axum::{Router, serve};
use http_body::Frame;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use orbgate::{Engine, Policy, TokenKind};
use orbgate_ledger::{Ledger, Sqlite};
use orbgate_token::{KeyFetcher, SecretSource, VerifiedToken, Verifier};
use orbgate_tower::{
    ActualOrbs, Allowed, Amounts, AuditLog, Challenge, Engines, FullChallenge, GateLayer, LoadError, Mcp, McpOrbs,
    OnCancelled, OrbLedger, OrbRules, PublicRoutes, WatchSettings,
};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::time::{Instant, Sleep};

/// What is given on the command line.
#[derive(Default)]
struct Arguments {
    listen: String,
    policy: String,
    tokens: String,
    public: Vec<String>,
    challenge: String,
    ungated: bool,
    debug: bool,
    refuse_wider: bool,
    /// The milliseconds between two looks at the policy.
    watch: String,
    ledger: String,
    on_cancelled: String,
    on_broken: String,
    ceiling: String,
    /// The path of an MCP endpoint, and what only such a gate needs of a ledger.
    mcp: String,
    on_tool_error: String,
    on_input_required: String,
    charge_sessions: bool,
    /// The endpoint is the SDK's server, whose tools work at this URL.
    sdk: String,
    work: String,
    sdk_json: bool,
    mcp_origins: Vec<String>,
    /// The routes with a function for the amount.
    amounts: Vec<String>,
    bonus: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let given = arguments()?;
    let rules = rules(&given);
    let Arguments { listen, policy, tokens, public, challenge, ungated, ledger, mcp, amounts, bonus, .. } = given;
    let (debug, refuse_wider, watch) = (given.debug, given.refuse_wider, given.watch);
    let charge_sessions = given.charge_sessions;
    let engines = Engines::from_file(&policy)?;
    let engines = engines.public_routes(PublicRoutes::new(public.clone())?)?;
    let verifier = Verifier::from_yaml(&fs::read_to_string(tokens)?)?;
    let scrape = PrometheusBuilder::new().install_recorder()?;
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(tracing::Level::INFO).init();

    let app = match mcp.as_str() {
        "" => routes(&engines.load(), &public),
        mcp if given.sdk.is_empty() => Router::new().route(mcp, any(say_what_came)),
        mcp => Router::new().route(mcp, any_service(sdk::server(&given.work, given.sdk_json))),
    };
    let keys = KeyFetcher::new(verifier.taking_proofs())?;
    let gate = GateLayer::axum(engines.clone(), keys.clone()).audit(AuditLog::to_writer(Audited)?);
    let gate = match challenge.as_str() {
        "full" => gate.challenge(Challenge::Full(FullChallenge::new())),
        _ => gate,
    };
    let gate = if debug { gate.debug() } else { gate };
    let gate = bonus.iter().try_fold(gate, |gate, route| gate.bonus_from_body(route, 1000))?;
    let app = if ungated {
        app
    } else if ledger.is_empty() {
        app.layer(gate)
    } else {
        let store: Arc<dyn Ledger> = Arc::new(Sqlite::open(&ledger)?);
        let ledger = OrbLedger::start(store, rules)?;
        let of_header = |headers: &HeaderMap, _: &VerifiedToken| -> Result<u64, Box<dyn Error + Send + Sync>> {
            Ok(headers.get("x-orbs").ok_or("no header")?.to_str()?.parse()?)
        };
        let amounts = amounts.iter().fold(Amounts::of_policy(), |amounts, route| amounts.with(route, of_header));
        match mcp.as_str() {
            "" => app.layer(gate.ledger(&ledger, amounts)?),
            mcp => {
                let mcp = Mcp::new(mcp)?.charge_sessions(charge_sessions).origins(given.mcp_origins)?;
                app.layer(gate.mcp(mcp)?.ledger(&ledger, amounts)?)
            }
        }
    };
    let mut settings = WatchSettings::every(Duration::from_millis(watch.parse().unwrap_or(1)));
    if refuse_wider {
        settings = settings.refuse_wider();
    }
    let _watch = (!watch.is_empty()).then(|| engines.watch(&policy, settings)).transpose()?;
    let listener = TcpListener::bind(listen).await?;
    println!("listening {}", listener.local_addr()?);
    tokio::spawn(obey(engines, keys, policy, scrape));
    serve(listener, app).await?;
    Ok(())
}

fn rules(given: &Arguments) -> OrbRules {
    let costs = |value: &str| match value {
        "capture" => OnCancelled::Capture,
        "stated" => OnCancelled::Stated,
        _ => OnCancelled::Void,
    };
    let mut rules = OrbRules::new(costs(&given.on_cancelled));
    rules.on_broken = (!given.on_broken.is_empty()).then(|| costs(&given.on_broken));
    rules.ceiling = given.ceiling.parse().unwrap_or(1);
    if !given.on_tool_error.is_empty() {
        let (on_tool_error, on_input_required) = (costs(&given.on_tool_error), costs(&given.on_input_required));
        rules.mcp = Some(McpOrbs { on_tool_error, on_input_required });
    }
    rules
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "--ungated" | "--debug" | "--refuse-wider" | "--charge-sessions" | "--sdk-json" => {
                let flag = match word.as_str() {
                    "--ungated" => &mut arguments.ungated,
                    "--debug" => &mut arguments.debug,
                    "--charge-sessions" => &mut arguments.charge_sessions,
                    "--sdk-json" => &mut arguments.sdk_json,
                    _ => &mut arguments.refuse_wider,
                };
                *flag = true;
                continue;
            }
            "--watch" => &mut arguments.watch,
            "--listen" => &mut arguments.listen,
            "--policy" => &mut arguments.policy,
            "--tokens" => &mut arguments.tokens,
            "--challenge" => &mut arguments.challenge,
            "--ledger-db" => &mut arguments.ledger,
            "--on-cancelled" => &mut arguments.on_cancelled,
            "--on-broken" => &mut arguments.on_broken,
            "--ceiling" => &mut arguments.ceiling,
            "--mcp" => &mut arguments.mcp,
            "--sdk" => &mut arguments.sdk,
            "--work" => &mut arguments.work,
            "--on-tool-error" => &mut arguments.on_tool_error,
            "--on-input-required" => &mut arguments.on_input_required,
            // For programs that ask the ledger's service.
            "--ledger" | "--ledger-secret" => &mut String::new(),
            "--public" | "--amount" | "--bonus" | "--mcp-origin" => {
                let list = match word.as_str() {
                    "--public" => &mut arguments.public,
                    "--amount" => &mut arguments.amounts,
                    "--mcp-origin" => &mut arguments.mcp_origins,
                    _ => &mut arguments.bonus,
                };
                list.extend(words.next());
                continue;
            }
            _ => return Err(format!("what is `{word}`?")),
        };
        *value = words.next().ok_or(format!("`{word}` has no value"))?;
    }
    Ok(arguments)
}

/// Every template of the policy and of the public routes, and what the router does not know: all reach one handler.
fn routes(engine: &Engine, public: &[String]) -> Router {
    let of_policy = engine.routes().map(|route| route.template());
    let public = public.iter().filter_map(|route| route.split(' ').nth(1));
    let templates = of_policy.chain(public).map(|template| {
        // axum wants one name for all parameters at one place.
        let segments = template.split('/').enumerate();
        let segments = segments.map(|(at, segment)| match segment.starts_with('{') {
            true => format!("{{p{at}}}"),
            false => segment.to_owned(),
        });
        segments.collect::<Vec<_>>().join("/")
    });
    let templates: BTreeSet<String> = templates.collect();
    let router = Router::new().without_v07_checks();
    let router = templates.iter().fold(router, |router, template| router.route(template, any(say_what_came)));
    // axum applies a layer to a service at once, and to a handler with the first connection.
    router.fallback_service(any(say_what_came))
}

async fn say_what_came(
    method: Method,
    OriginalUri(target): OriginalUri,
    allowed: Option<Extension<Allowed>>,
    token: Option<Extension<VerifiedToken>>,
    orbs: Option<Extension<ActualOrbs>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let route = allowed.as_ref().and_then(|allowed| allowed.route());
    let scope = allowed.as_ref().and_then(|allowed| allowed.scope());
    let charge = allowed.as_ref().and_then(|allowed| allowed.charge());
    let mut record = json!({
        "method": method.as_str(),
        "target": target.to_string(),
        "route": route.map(|route| route.as_str()),
        "scope": scope.map(|scope| scope.name()),
        "kind": token.map(|token| TokenKind::as_str(token.token().kind)),
        "consumes": charge.map(|charge| charge.consumes),
    });
    let told = headers.get("x-do").and_then(|told| told.to_str().ok()).unwrap_or_default();
    let (first, told) = told.split_once(", ").unwrap_or((told, if told.starts_with("state ") { "" } else { told }));
    if let (Some(amount), Some(Extension(orbs))) = (first.strip_prefix("state "), orbs) {
        record["stated"] = orbs.state(amount.parse().unwrap_or_default()).into();
    }
    let told = told.to_owned();
    if told == "echo" {
        record["body"] = String::from_utf8_lossy(&body).into();
    }
    let record = record.to_string();
    say(&record);
    if told == "respond" {
        return responded(&body).unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response());
    }
    done(told, record).await
}

/// A response as the arguments of a call at an MCP endpoint describe it.
fn responded(body: &[u8]) -> Result<Response, Box<dyn Error>> {
    let row: Value = serde_json::from_slice(body)?;
    let row = &row["params"]["arguments"];
    let mut response = Response::builder().status(u16::try_from(row["status"].as_u64().ok_or("no status")?)?);
    for line in row["headers"].as_array().ok_or("no headers")? {
        let (name, value) = line.as_str().and_then(|line| line.split_once(": ")).ok_or("no header")?;
        response = response.header(name, value);
    }
    let text = row["body"].as_str().ok_or("no body")?.to_owned();
    let pause = Box::pin(tokio::time::sleep(Duration::ZERO));
    let told = if row["closed"] == true { "endless stream" } else { "stream" }.to_owned();
    Ok(response.body(Body::new(Pieces { told, text: text.into(), has_begun: false, is_mcp: true, pause }))?)
}

/// What the service does, as the header `x-do` says.
async fn done(told: String, record: String) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    match told.as_str() {
        "throw" => panic!("as it was told"),
        "large" => (json, record.repeat(20_000)).into_response(),
        told if told.contains("stream") => {
            let pause = Box::pin(tokio::time::sleep(Duration::ZERO));
            let pieces = Pieces { told: told.to_owned(), text: record.into(), has_begun: false, is_mcp: false, pause };
            Body::new(pieces).into_response()
        }
        told => {
            let status = told.parse().ok().and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or_default();
            (status, json, record).into_response()
        }
    }
}

/// A stream as the service is told to send it.
struct Pieces {
    told: String,
    text: Bytes,
    has_begun: bool,
    /// It goes on with comments.
    is_mcp: bool,
    /// Between two pieces.
    pause: Pin<Box<Sleep>>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.pause.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        let next = Instant::now() + Duration::from_millis(10);
        self.pause.as_mut().reset(next);
        let is_first = !core::mem::replace(&mut self.has_begun, true);
        let is_due = if is_first { self.told != "stream that fails at once" } else { self.told == "endless stream" };
        Poll::Ready(match is_due {
            true if self.is_mcp && !is_first => Some(Ok(Frame::data(Bytes::from_static(b":\n")))),
            true => Some(Ok(Frame::data(self.text.clone()))),
            false if self.told.contains("fails") => Some(Err("as it was told")),
            false => None,
        })
    }
}

/// Says each line of the audit.
struct Audited;

impl io::Write for Audited {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        String::from_utf8_lossy(lines).lines().for_each(|line| say(&format!("audited {line}")));
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is said on standard input.
async fn obey(engines: Engines, keys: KeyFetcher, policy: String, scrape: PrometheusHandle) {
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(command)) = commands.next_line().await {
        match command.as_str() {
            "reload" => match reload(&engines, &keys, &policy) {
                Ok(()) => say("reloaded"),
                Err(error) => {
                    eprintln!("{error}");
                    say("kept");
                }
            },
            "count" => say(&format!("counted {}", counted(&scrape.render()))),
            _ => eprintln!("what is `{command}`?"),
        }
    }
}

/// Takes a new version of the policy, if it is whole, and of the files with keys and secrets.
fn reload(engines: &Engines, keys: &KeyFetcher, file: &str) -> Result<(), Box<dyn Error>> {
    let text = fs::read(file)?;
    if !Policy::from_bytes(&text)?.has_end_marker() {
        return Err(LoadError::Unfinished.into());
    }
    keys.cache().read_secrets(SecretSource::read)?;
    engines.reload(&text)?;
    Ok(())
}

/// The counters of a scrape, each by its labels: `orbgate_decisions_total{decision="allow",…} 3`.
fn counted(scrape: &str) -> Value {
    let mut counters: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for line in scrape.lines() {
        let Some((series, count)) = line.rsplit_once(' ') else {
            continue;
        };
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels: Vec<_> = labels.split('"').skip(1).step_by(2).collect();
        let count: u64 = count.parse().unwrap_or_default();
        let sum = counters.entry(name).or_default().entry(labels.join(" ")).or_default();
        *sum = sum.saturating_add(count);
    }
    let misrouted = counters.get("orbgate_misrouted_total");
    let misrouted: u64 = misrouted.map_or(0, |labels| labels.values().sum());
    let mut all: Map<String, Value> = Map::new();
    let tokens = "orbgate_tokens_refused_total";
    for name in ["orbgate_decisions_total", tokens, "orbgate_policy_loads_total", "orbgate_over_ceiling_total"] {
        if let Some(counts) = counters.get(name) {
            all.insert(name.to_owned(), json!(counts));
        }
    }
    all.insert("orbgate_misrouted_total".to_owned(), json!(misrouted));
    Value::Object(all)
}

/// A whole line at once, so that lines of threads do not mix.
fn say(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}
