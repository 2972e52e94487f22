//! Loads a new configuration without a restart: when the configuration file, the file of issuers or a certificate
//! changes, or on `SIGHUP`.
//!
//! `orbgate-tower` follows the policy file. The signal is passed on to it.

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::signal::unix::Signal;
use tokio::sync::watch;

use crate::authorize::INTERVAL;
use crate::authorize::state::State;
use crate::authorize::tokenless::{Tokenless, accepted_in};
use crate::config::error::StartError;
use crate::config::files;

/// The contents of the files; `None` for a file that can't be read.
type Texts = Vec<Option<Vec<u8>>>;

/// The first of them, the configuration and the file of issuers, can be sealed.
const SEALABLE: usize = 2;

/// How long a version must rest if an operator waits for it.
const SHORT_REST: Duration = Duration::from_secs(1);

/// Follows the files until it is asked to stop.
///
/// A version takes effect after it has rested: it was read twice, an interval apart, without a change. After the signal
/// it rests for a second, or not at all if each changed file has a seal. A version that names other files is read once
/// more, because those might have changed in the meantime.
pub(crate) async fn follow(
    file: Arc<Path>,
    current: Arc<ArcSwap<State>>,
    mut keeper: Keeper,
    mut hangup: Signal,
    mut stop: watch::Receiver<bool>,
) {
    let mut judged = texts(&file, &current).await;
    let mut resting = None;
    let mut is_awaited = false;
    loop {
        let pause = if is_awaited { SHORT_REST } else { INTERVAL };
        let is_told = tokio::select! {
            _ = stop.changed() => return,
            _ = hangup.recv() => true,
            () = tokio::time::sleep(pause) => false,
        };
        is_awaited |= is_told;
        let now = texts(&file, &current).await;
        if counts(is_awaited, resting.as_ref(), &now, &judged) {
            (resting, is_awaited) = (None, false);
            judged = now;
            reload(&file, &current).await;
        } else {
            resting = (is_awaited || now != judged).then_some(now);
        }
        if is_told {
            current.load().read_policy();
            current.load().open_audit_again();
        }
        keeper.keep(&current.load());
        orbgate_tower::log_notices(&current.load().keys.fetcher);
    }
}

/// Whether a version takes effect now, or has to rest first.
fn counts(is_awaited: bool, resting: Option<&Texts>, now: &Texts, judged: &Texts) -> bool {
    let has_rested = resting == Some(now);
    match is_awaited {
        true => has_rested || are_whole(now, judged),
        false => has_rested && now != judged,
    }
}

/// Whether each file is unchanged, or has a seal that shows that it is complete. If only one of a certificate and its
/// key has changed, they don't match.
fn are_whole(now: &Texts, judged: &Texts) -> bool {
    let is_whole = |(at, text): (usize, &Option<Vec<u8>>)| {
        let is_sealed = |text: &Vec<u8>| orbgate_yaml::is_sealed(text);
        at >= SEALABLE || judged.get(at) == Some(text) || text.as_ref().is_some_and(is_sealed)
    };
    now.iter().enumerate().all(is_whole)
}

/// Stores the active policy, and the list of requests that need no token, for the next start.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    kept: Option<(Arc<Vec<u8>>, Tokenless)>,
}

impl Keeper {
    /// Stores it for the first time. A gateway that can't doesn't start.
    pub(crate) fn start(state: &State) -> Result<Self, StartError> {
        let mut keeper = Self::default();
        match keeper.write(state) {
            Some((file, Err(error))) => Err(StartError::State(file, error)),
            _ => Ok(keeper),
        }
    }

    fn keep(&mut self, state: &State) {
        if let Some((file, Err(error))) = self.write(state) {
            let file = file.display();
            tracing::error!(%file, %error, "the accepted policy cannot be kept");
        }
    }

    /// Writes it, unless it is already stored.
    fn write(&mut self, state: &State) -> Option<(PathBuf, io::Result<()>)> {
        let (folder, text, tokenless) = state.accepted()?;
        if let Some((kept, before)) = &self.kept
            && Arc::ptr_eq(kept, &text)
            && before == tokenless
        {
            return None;
        }
        let file = accepted_in(folder);
        let written = tokenless.keep(folder);
        let written = written.and_then(|()| files::replace(&file, &text));
        // After an error, it isn't tried again until the contents change.
        self.kept = Some((text, tokenless.clone()));
        Some((file, written))
    }
}

/// Loads the current configuration, or reports why the previous one stays active.
async fn reload(file: &Arc<Path>, current: &ArcSwap<State>) {
    let (path, former) = (Arc::clone(file), current.load_full());
    // Compiling a policy takes time, and its file might have to rest.
    let load = move || State::again(&path, &former);
    let loaded = tokio::task::spawn_blocking(load).await;
    let refused = match loaded {
        Ok(Ok(state)) => {
            // A removed issuer is dropped at once, however long the others take to return their keys.
            let fetcher = state.keys.fetcher.clone();
            current.store(Arc::new(state));
            tracing::info!("configuration loaded");
            count("loaded");
            // Fetches now so that the first request for a new issuer needn't wait.
            tokio::spawn(async move { fetcher.fetch().await });
            return;
        }
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic.to_string(),
    };
    tracing::error!("configuration refused, the active one stays: {refused}");
    count("refused");
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

#[cfg(test)]
mod tests {
    use super::{Texts, counts};

    /// The configuration, the file of issuers, and a certificate.
    fn texts(files: [&str; 3]) -> Texts {
        files.map(|text| Some(text.as_bytes().to_vec())).to_vec()
    }

    #[test]
    fn a_version_counts_once_it_has_rested_or_is_whole() {
        let sealed = orbgate_yaml::seal("b: 1\n");
        let judged = texts(["a", "a", "a"]);
        let half = texts(["b", "a", "a"]);
        let certificate = texts(["a", "a", "b"]);
        let whole = texts([&sealed, "a", "b"]);
        let sealed_and_half = texts([&sealed, "b", "a"]);
        let table = [
            (false, None, &judged, false),
            (false, Some(&judged), &judged, false),
            (false, None, &half, false),
            (false, Some(&certificate), &half, false),
            (false, Some(&half), &half, true),
            (false, None, &whole, false),
            (true, None, &judged, true),
            (true, None, &half, false),
            (true, Some(&half), &half, true),
            (true, None, &certificate, true),
            (true, None, &whole, true),
            (true, None, &sealed_and_half, false),
        ];
        for (at, (is_awaited, resting, now, expected)) in table.into_iter().enumerate() {
            let actual = counts(is_awaited, resting, now, &judged);
            assert_eq!(actual, expected, "{at}");
        }
    }
}
