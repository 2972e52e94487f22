//! A gateway from its start to its end.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::admin::Admin;
use crate::authorizer::Authorizer;
use crate::authzen::Authzen;
use crate::connection::serve;
use crate::grpc::Grpc;
use crate::listen::{Address, Listener};
use crate::log;
use crate::mode::Mode;
use crate::reload::{self, Keeper};
use crate::sockets::Sockets;
use crate::state::{StartError, State};

/// Serves what a configuration file says, until the program is told to end (`SIGTERM`, `SIGINT`).
///
/// Then it accepts no more connections, and answers what is asked already, for as long as `limits.drain_seconds`. It takes the
/// log and the counters of the whole program.
///
/// # Errors
///
/// Why it cannot start.
pub fn run(file: &Path) -> Result<(), StartError> {
    log::start();
    // First, while the program has one thread: it takes the variables away.
    let sockets = Sockets::passed().map_err(StartError::Sockets)?;
    let runtime = Runtime::new().map_err(StartError::Runtime)?;
    runtime.block_on(serve_all(file, sockets))
}

/// Loads what a configuration file names, and serves nothing. What it returns are warnings, a sentence each.
///
/// # Errors
///
/// Why a gateway could not start with it.
pub fn check(file: &Path) -> Result<Vec<String>, StartError> {
    let runtime = Runtime::new().map_err(StartError::Runtime)?;
    let _inside = runtime.enter();
    Ok(State::look(file)?.warnings())
}

/// Raises the soft limit of open files as far as the connections need it, and as the hard one allows.
fn allow_open_files(needed: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return;
    }
    let raised = limit.maximum.map_or(needed, |most| most.min(needed));
    let raised = Rlimit {
        current: Some(raised),
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::error!(%error, "the limit of open files cannot be raised");
    }
}

async fn serve_all(file: &Path, mut sockets: Sockets) -> Result<(), StartError> {
    // The counters come first: loading the policy counts.
    let counted = counters();
    let state = State::start(file)?;
    let config = state.config.clone();
    let keeper = Keeper::start(&state)?;
    for warning in state.warnings() {
        tracing::warn!("{warning}");
    }
    allow_open_files(state.config.open_files());
    let (fetcher, limits) = (state.keys.fetcher.clone(), config.limits);
    let current = Arc::new(ArcSwap::from_pointee(state));
    let signals = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let [terminate, interrupt, hangup] = signals.map(signal);
    let mut terminate = terminate.map_err(StartError::Runtime)?;
    let mut interrupt = interrupt.map_err(StartError::Runtime)?;
    let hangup = hangup.map_err(StartError::Runtime)?;
    // All addresses are open before the first answer.
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
            _ => served.spawn(serve(position, listener, limits, stop)),
        };
    }
    if let Some(listener) = admin {
        let admin = Admin::new(Arc::clone(&current), counted);
        let limits = limits.of_operators();
        served.spawn(serve(Arc::new(admin), listener, limits, stopped.clone()));
    }
    served.spawn(reload::follow(
        file.into(),
        Arc::clone(&current),
        keeper,
        hangup,
        stopped,
    ));
    // Nobody waits for it: a question that needs keys does.
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

/// What counts for the whole program; a second gateway in one program counts with the first's.
fn counters() -> PrometheusHandle {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _ = metrics::set_global_recorder(recorder);
    handle
}
