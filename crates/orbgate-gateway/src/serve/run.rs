//! Runs a gateway from start to end.

use core::time::Duration;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::admin::Admin;
use super::connection::serve;
use super::listen::Listener;
use super::reload::{self, Keeper};
use super::sockets::Sockets;
use crate::authorize::measures;
use crate::authorize::state::State;
use crate::config::address::Address;
use crate::config::error::StartError;
use crate::config::mode::Mode;
use crate::protocols::authorizer::Authorizer;
use crate::protocols::authzen::Authzen;
use crate::protocols::grpc::Grpc;
use crate::protocols::ledger::LedgerService;

/// How often what was measured is summed up.
const UPKEEP: Duration = Duration::from_secs(5);

/// Serves a configuration file until the program is asked to end (`SIGTERM`, `SIGINT`).
///
/// Then it accepts no more connections, and finishes running requests for up to `limits.drain_seconds`. It uses the log
/// and the counters of the whole program.
///
/// # Errors
///
/// Returns why it can't start.
pub fn run(file: &Path) -> Result<(), StartError> {
    start_log();
    // First, while the program has only one thread, because it removes environment variables.
    let sockets = Sockets::passed().map_err(StartError::Sockets)?;
    let runtime = Runtime::new().map_err(StartError::Runtime)?;
    runtime.block_on(serve_all(file, sockets))
}

/// Logs JSON lines to standard error, once for the program. A line never contains a token or a query, and a path only
/// with `debug: true`.
fn start_log() {
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr)
        .with_filter(LevelFilter::INFO);
    // A second start in one program keeps the first log.
    let _ = tracing_subscriber::registry().with(lines).try_init();
}

/// What [`check`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The policy in words: its file, or that it is built in, its digest, and how many routes and scopes it has.
    pub policy: String,
    /// Settings that are probably mistakes, one sentence each.
    pub warnings: Vec<String>,
}

/// Loads everything that a configuration file names, without serving.
///
/// # Errors
///
/// Returns why a gateway couldn't start with it.
pub fn check(file: &Path) -> Result<Checked, StartError> {
    let runtime = Runtime::new().map_err(StartError::Runtime)?;
    let _inside = runtime.enter();
    let state = State::look(file)?;
    let (file, engine) = state.policy();
    let file = file.map_or_else(|| "built in".to_owned(), |file| file.display().to_string());
    let (routes, scopes) = (engine.routes().len(), engine.scope_count());
    let policy = format!("{file}: {}, routes: {routes}, scopes: {scopes}", engine.digest());
    Ok(Checked { policy, warnings: state.warnings() })
}

/// Raises the soft limit on open files as far as the connections need it and the hard limit allows.
fn allow_open_files(needed: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return;
    }
    let raised = limit.maximum.map_or(needed, |most| most.min(needed));
    let raised = Rlimit { current: Some(raised), ..limit };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::error!(%error, "the limit of open files cannot be raised");
    }
}

/// A gateway that only serves a ledger decides nothing.
fn log_policy(state: &State) {
    if !state.decides() {
        return;
    }
    let (file, engine) = state.policy();
    let file = file.map(|file| file.display().to_string());
    let (routes, scopes, digest) = (engine.routes().len(), engine.scope_count(), engine.digest());
    match file {
        Some(file) => tracing::info!(file, %digest, routes, scopes, "the policy"),
        None => {
            tracing::info!(%digest, routes, scopes, "the built-in policy, because the configuration has no `policy`")
        }
    }
}

async fn serve_all(file: &Path, mut sockets: Sockets) -> Result<(), StartError> {
    // The counters come first, because loading the policy increments some.
    let counted = counters();
    let state = State::start(file)?;
    let config = state.config.clone();
    let keeper = Keeper::start(&state)?;
    for warning in state.warnings() {
        tracing::warn!("{warning}");
    }
    log_policy(&state);
    state.state_charging();
    allow_open_files(state.config.open_files());
    let (fetcher, limits) = (state.keys.fetcher.clone(), config.limits);
    let current = Arc::new(ArcSwap::from_pointee(state));
    let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [terminate, interrupt, hangup] = signals.map(signal);
    let mut terminate = terminate.map_err(StartError::Runtime)?;
    let mut interrupt = interrupt.map_err(StartError::Runtime)?;
    let hangup = hangup.map_err(StartError::Runtime)?;
    // All addresses are open before the first response.
    let mut positions = Vec::new();
    for (index, listener) in config.listeners.iter().enumerate() {
        let position = Authorizer::new(index, listener, limits, Arc::clone(&current));
        positions.push((position, open(&listener.address, &mut sockets).await?));
    }
    let admin = match &config.admin {
        Some(address) => Some(open(address, &mut sockets).await?),
        None => None,
    };
    if let Some(address) = sockets.left() {
        return Err(StartError::Unasked(address.to_string()));
    }
    let (stop, stopped) = watch::channel(false);
    let mut served = JoinSet::new();
    for (position, listener) in positions {
        let (position, stop) = (Arc::new(position), stopped.clone());
        match position.mode() {
            Mode::EnvoyGrpc => {
                let service = Arc::new(Grpc::new(position, limits));
                served.spawn(serve(service, listener, limits, stop))
            }
            Mode::Authzen => {
                let service = Authzen::new(position, Arc::clone(&current), limits.idle);
                served.spawn(serve(Arc::new(service), listener, limits, stop))
            }
            Mode::Ledger => {
                let service = LedgerService::new(position, Arc::clone(&current), limits.idle);
                served.spawn(serve(Arc::new(service), listener, limits, stop))
            }
            _ => served.spawn(serve(position, listener, limits, stop)),
        };
    }
    tokio::spawn(keep_up(counted.clone()));
    if let Some(listener) = admin {
        let admin = Admin::new(Arc::clone(&current), counted);
        let limits = limits.of_operators();
        served.spawn(serve(Arc::new(admin), listener, limits, stopped.clone()));
    }
    served.spawn(reload::follow(file.into(), Arc::clone(&current), keeper, hangup, stopped));
    // Runs in the background. Only requests that need keys wait for it.
    tokio::spawn(async move { fetcher.fetch().await });
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("told to end");
    stop.send_replace(true);
    while served.join_next().await.is_some() {}
    let last = current.load_full();
    let _ = tokio::task::spawn_blocking(move || last.flush()).await;
    Ok(())
}

async fn open(address: &Address, sockets: &mut Sockets) -> Result<Listener, StartError> {
    let refuse = |error| StartError::listen(address, error);
    let passed = sockets.take(address).map_err(refuse)?;
    let is_passed = passed.is_some();
    let listener = match passed {
        Some(listener) => listener,
        None => Listener::open(address).await.map_err(refuse)?,
    };
    tracing::info!(%address, is_passed, "listening");
    Ok(listener)
}

/// The counters of the whole program. A second gateway in one program uses the same counters.
fn counters() -> PrometheusHandle {
    let latency = Matcher::Full(measures::SECONDS.to_owned());
    let recorder = PrometheusBuilder::new().set_buckets_for_metric(latency, &measures::BOUNDS);
    let recorder = recorder.unwrap_or_default().build_recorder();
    let handle = recorder.handle();
    let _ = metrics::set_global_recorder(recorder);
    measures::describe();
    handle
}

/// Sums up what was measured: otherwise each value stays in memory until a client reads the counters.
async fn keep_up(counted: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        counted.run_upkeep();
    }
}
