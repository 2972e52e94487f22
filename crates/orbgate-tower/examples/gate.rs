//! The gate program of Rust: the layer around an axum router, whose service says what it saw. The driver of
//! `policy/cases/gate` starts it; by hand:
//!
//! ```sh
//! cargo xtask gate rust --listen 127.0.0.1:8080 --policy policy/external.yaml --tokens tokens.yaml
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program reads its arguments and files, and prints"
)]

use core::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

use axum::extract::{Extension, OriginalUri};
use axum::http::{Method, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Router, serve};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use orbgate::{Engine, Policy, TokenKind};
use orbgate_token::{KeyFetcher, SecretSource, VerifiedToken, Verifier};
use orbgate_tower::{Allowed, Engines, GateLayer, LoadError, PublicRoutes};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;

/// What is given on the command line.
#[derive(Default)]
struct Arguments {
    listen: String,
    policy: String,
    tokens: String,
    public: Vec<String>,
    ungated: bool,
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
    let Arguments { listen, policy, tokens, public, ungated } = arguments()?;
    let engines = Engines::from_file(&policy)?;
    let engines = engines.public_routes(PublicRoutes::new(public.clone())?)?;
    let verifier = Verifier::from_yaml(&fs::read_to_string(tokens)?)?;
    let scrape = PrometheusBuilder::new().install_recorder()?;
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();

    let app = routes(&engines.load(), &public);
    let keys = KeyFetcher::new(verifier)?;
    let app = match ungated {
        true => app,
        false => app.layer(GateLayer::axum(engines.clone(), keys.clone())),
    };
    let listener = TcpListener::bind(listen).await?;
    println!("listening {}", listener.local_addr()?);
    tokio::spawn(obey(engines, keys, policy, scrape));
    serve(listener, app).await?;
    Ok(())
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "--ungated" => {
                found.ungated = true;
                continue;
            }
            "--listen" => &mut found.listen,
            "--policy" => &mut found.policy,
            "--tokens" => &mut found.tokens,
            "--public" => {
                found.public.extend(words.next());
                continue;
            }
            _ => return Err(format!("what is `{word}`?")),
        };
        *value = words.next().ok_or(format!("`{word}` has no value"))?;
    }
    Ok(found)
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
    router.fallback(say_what_came)
}

async fn say_what_came(
    method: Method,
    OriginalUri(target): OriginalUri,
    allowed: Option<Extension<Allowed>>,
    token: Option<Extension<VerifiedToken>>,
) -> Response {
    let route = allowed.as_ref().and_then(|allowed| allowed.route());
    let scope = allowed.as_ref().and_then(|allowed| allowed.scope());
    let charge = allowed.as_ref().and_then(|allowed| allowed.charge());
    let saw = json!({
        "method": method.as_str(),
        "target": target.to_string(),
        "route": route.map(|route| route.as_str()),
        "scope": scope.map(|scope| scope.name()),
        "kind": token.map(|token| TokenKind::as_str(token.token().kind)),
        "consumes": charge.map(|charge| charge.consumes),
    });
    let saw = saw.to_string();
    say(&saw);
    ([(header::CONTENT_TYPE, "application/json")], saw).into_response()
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

/// The counters of a scrape, each by its first label: `orbgate_decisions_total{decision="allow",…} 3`.
fn counted(scrape: &str) -> Value {
    let mut found: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for line in scrape.lines() {
        let Some((series, count)) = line.rsplit_once(' ') else {
            continue;
        };
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let label = labels.split('"').nth(1).unwrap_or_default();
        let count: u64 = count.parse().unwrap_or_default();
        let sum = found.entry(name).or_default().entry(label).or_default();
        *sum = sum.saturating_add(count);
    }
    let misrouted = found.get("orbgate_misrouted_total");
    let misrouted: u64 = misrouted.map_or(0, |labels| labels.values().sum());
    let mut all: Map<String, Value> = Map::new();
    for name in ["orbgate_decisions_total", "orbgate_tokens_refused_total"] {
        all.insert(name.to_owned(), json!(found.get(name)));
    }
    all.insert("orbgate_misrouted_total".to_owned(), json!(misrouted));
    Value::Object(all)
}

/// A whole line at once, so that lines of threads do not mix.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
