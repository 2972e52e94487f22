//! A service with every route of the specification, behind the layer:
//!
//! ```sh
//! cargo run -p orbgate-tower --all-features --example service -- 127.0.0.1:8080 https://id.example.com https://api.example.com
//! ```
//!
//! The arguments: where to listen, the issuer of the tokens, their audience, and a policy file, which is followed.
//! Without a file, the specification's own policy decides. `GET /metrics` is what Prometheus scrapes.
//!
//! No model runs: the run endpoint answers a valid record with a placeholder for the model's text. The other routes,
//! whose payloads the specification does not show, answer 204.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program reads its arguments and the clock, and prints"
)]

use core::error::Error;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Bytes, to_bytes};
use axum::extract::{Extension, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use axum::{Router, serve};
use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate::Engine;
use orbgate_contract::{Message, Metrics, ProviderData, Role, RunInput, RunRecord, RunRequest, Timer};
use orbgate_token::{Issuer, KeyFetcher, KindRules, VerifiedToken, Verifier};
use orbgate_tower::{Allowed, Engines, GateLayer, InAxum, UnknownRoute, VerifyToken};
use serde_json::{Number, Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

const RUN: &str = "POST /api/v1/external/voxies/prompt/run";

/// The longest run request that is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (address, issuer, audience, policy) = match arguments.as_slice() {
        [address, issuer, audience] => (address, issuer, audience, None),
        [address, issuer, audience, policy] => (address, issuer, audience, Some(policy)),
        _ => return Err("usage: service ADDRESS ISSUER AUDIENCE [POLICY]".into()),
    };
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    let verifier = Verifier::new([Issuer::new(issuer, audience, kind)])?;
    let engines = Engines::external();
    let _watch = match policy {
        Some(policy) => Some(engines.watch(policy, Duration::from_secs(2))?),
        None => None,
    };
    // A policy that lacks a route of the service may decide its requests as another route.
    let external = Engine::external().routes();
    let served = external.map(|route| (route.method(), route.template()));
    if let Err(differ) = engines.check_routes(served) {
        eprintln!("{differ}");
    }
    let gate = gate(engines, KeyFetcher::new(verifier)?)?;

    let scrape = PrometheusBuilder::new().install_recorder()?;
    // Added after the layer, so outside it: the metrics are for the operator, and name no user.
    let app = app(gate).route("/metrics", get(async move || scrape.render()));
    serve(TcpListener::bind(address).await?, app).await?;
    Ok(())
}

/// The layer of this service.
pub(crate) fn gate<V: VerifyToken>(engines: Engines, verifier: V) -> Result<GateLayer<V, InAxum>, UnknownRoute> {
    GateLayer::axum(engines, verifier).bonus_from_body(RUN, LONGEST)
}

/// All routes of the specification, behind the layer.
pub(crate) fn app<V: VerifyToken>(gate: GateLayer<V, InAxum>) -> Router {
    routes().layer(gate)
}

pub(crate) fn routes() -> Router {
    // The policy writes templates as axum does.
    let routes = Engine::external().routes();
    routes.fold(Router::new(), |router, route| {
        let handler = handler(route.as_str(), route.method());
        router.route(route.template(), handler)
    })
}

fn handler(route: &str, method: &str) -> MethodRouter {
    let method = http::Method::from_bytes(method.as_bytes());
    let filter = method.ok().and_then(|method| MethodFilter::try_from(method).ok());
    match filter {
        None => MethodRouter::new(),
        Some(filter) if route == RUN => on(filter, run),
        Some(filter) => on(filter, async || StatusCode::NO_CONTENT),
    }
}

/// `POST /voxies/prompt/run`: all but the answer itself.
async fn run(
    allowed: Allowed,
    token: Option<Extension<VerifiedToken>>,
    request: Request,
) -> Result<Response, StatusCode> {
    let begun = SystemTime::now();
    if !is_json(request.headers()) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let limit = usize::try_from(LONGEST).unwrap_or(usize::MAX);
    let body = to_bytes(request.into_body(), limit).await;
    let body: Bytes = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    // The shape of an error's body is not shown, so there is none.
    let request = RunRequest::from_json(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let user = token.as_ref().and_then(|token| token.subject());
    let record = run_record(request, user.unwrap_or_default(), &allowed, begun);
    let json = serde_json::to_vec(&record).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

/// The record of a run that did nothing, and says so.
fn run_record(request: RunRequest, user: &str, allowed: &Allowed, begun: SystemTime) -> RunRecord {
    let mut content = "This is a stand-in: no model has been asked.".to_owned();
    if request.stream {
        content.push_str(" A stream was asked for, whose format is not shown: this is the whole answer.");
    }
    let created_at = begun.duration_since(UNIX_EPOCH).unwrap_or_default();
    let created_at = i64::try_from(created_at.as_secs()).unwrap_or_default();
    let message = |role, content: &str| Message {
        id: Uuid::new_v4().to_string(),
        role,
        content: content.to_owned(),
        add_to_agent_memory: true,
        created_at,
        ..Message::default()
    };
    let data = || ProviderData { id: Some("stand-in".to_owned()), ..ProviderData::default() };
    let messages = vec![
        Message { input: Some(request.prompt.clone()), ..message(Role::User, &request.prompt) },
        Message { provider_data: Some(Some(data())), ..message(Role::Assistant, &content) },
    ];
    let charge = allowed.charge();
    let metadata = json!({
        "role": "stand-in",
        "version": env!("CARGO_PKG_VERSION"),
        "bonus_allowed": charge.is_some_and(|charge| charge.bonus_allowed),
    });
    RunRecord {
        run_id: Uuid::new_v4().to_string(),
        agent_id: "stand-in".to_owned(),
        agent_name: "stand-in".to_owned(),
        session_id: request.session_id.unwrap_or_else(|| Uuid::new_v4().to_string()),
        user_id: user.to_owned(),
        input: RunInput { input_content: request.prompt, ..RunInput::default() },
        content,
        messages,
        metrics: metrics(begun),
        model: "stand-in".to_owned(),
        model_provider: "stand-in".to_owned(),
        model_provider_data: data(),
        metadata: serde_json::from_value(metadata).unwrap_or_default(),
        session_state: request.session_state.unwrap_or(Value::Null),
        created_at,
        ..RunRecord::default()
    }
}

/// The metrics of the run: some time, and no tokens.
fn metrics(begun: SystemTime) -> Metrics {
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let end = SystemTime::now();
    let seconds = |time: Duration| Number::from_f64(time.as_secs_f64()).unwrap_or_else(|| 0.into());
    let elapsed = seconds(end.duration_since(begun).unwrap_or_default());
    Metrics {
        duration: Some(elapsed.clone()),
        timer: Some(Timer {
            start_time: seconds(since(begun)),
            end_time: seconds(since(end)),
            elapsed_time: elapsed,
            unknown: serde_json::Map::new(),
        }),
        ..Metrics::default()
    }
}
