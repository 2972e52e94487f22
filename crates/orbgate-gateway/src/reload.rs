//! A new configuration without a restart: when its file, that of the issuers or a certificate's changes, or at `SIGHUP`.
//!
//! The policy's file is followed by `orbgate-tower`, which is told of the signal.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate_token::{FetchError, KeyStatus};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

use crate::files;
use crate::state::{INTERVAL, State};

/// The files as they were read; `None` for one that cannot be.
type Texts = Vec<Option<Vec<u8>>>;

/// Follows the files until it is told to stop.
///
/// A version counts once it has rested: it was read twice, an interval apart, and was the same. At the signal it counts at once.
/// One that names other files is read once more, because those may have changed meanwhile.
pub(crate) async fn follow(
    file: Arc<Path>,
    current: Arc<ArcSwap<State>>,
    mut hangup: Signal,
    mut stop: watch::Receiver<bool>,
) {
    let mut judged = texts(&file, &current).await;
    let mut resting = None;
    let mut failing = Vec::new();
    loop {
        let is_told = tokio::select! {
            _ = stop.changed() => return,
            _ = hangup.recv() => true,
            () = tokio::time::sleep(INTERVAL) => false,
        };
        let now = texts(&file, &current).await;
        if is_told || (now != judged && resting.as_ref() == Some(&now)) {
            resting = None;
            judged = now;
            reload(&file, &current).await;
        } else {
            resting = (now != judged).then_some(now);
        }
        if is_told {
            current.load().read_policy();
            failing.clear();
        }
        failing = tell(&current.load().keys.fetcher.status(), &failing);
    }
}

/// Takes the configuration as it is now, or says why the former stays.
async fn reload(file: &Arc<Path>, current: &ArcSwap<State>) {
    let (path, former) = (Arc::clone(file), current.load_full());
    // Compiling a policy takes time, and its file may have to rest.
    let load = move || State::again(&path, &former);
    let loaded = tokio::task::spawn_blocking(load).await;
    let refused = match loaded {
        Ok(Ok(state)) => {
            // So that the first request of a new issuer need not wait. Until then it does.
            state.keys.fetcher.fetch().await;
            current.store(Arc::new(state));
            tracing::info!("configuration loaded");
            return count("loaded");
        }
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic.to_string(),
    };
    tracing::error!("configuration refused, the former stays: {refused}");
    count("refused");
}

/// An issuer, and why its keys cannot be fetched.
type Failing = (String, FetchError);

/// Says once of each issuer that its keys cannot be fetched, or that they can be again: a gateway without keys denies everybody.
fn tell(issuers: &[KeyStatus], before: &[Failing]) -> Vec<Failing> {
    let mut failing = Vec::new();
    for KeyStatus {
        issuer,
        keys,
        failure,
        ..
    } in issuers
    {
        let former = before.iter().find(|(it, _)| it == issuer);
        match (failure, former) {
            (Some(failure), Some((_, former))) if failure == former => {}
            (Some(failure), _) => {
                tracing::error!(issuer, keys, "keys cannot be fetched: {failure}");
            }
            (None, Some(_)) if *keys > 0 => tracing::info!(issuer, keys, "keys fetched again"),
            (None, _) => {}
        }
        failing.extend(failure.clone().map(|failure| (issuer.clone(), failure)));
    }
    failing
}

fn count(result: &'static str) {
    metrics::counter!("orbgate_gateway_loads_total", "result" => result).increment(1);
}

async fn texts(file: &Path, current: &ArcSwap<State>) -> Texts {
    let state = current.load_full();
    let named = state.files().map(Path::to_owned);
    let files: Vec<_> = core::iter::once(file.to_owned()).chain(named).collect();
    let read = move || files.iter().map(|file| files::read(file).ok()).collect();
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}
