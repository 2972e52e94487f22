//! Loads a new configuration without a restart: when the configuration file, the file of issuers, a secret or a certificate
//! changes, or on `SIGHUP`.
//!
//! `orbgate-tower` follows the policy file. The signal is passed on to it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use orbgate_gate::{Ending, Follower, Look};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

use crate::authorize::INTERVAL;
use crate::authorize::state::State;
use crate::authorize::tokenless::{Tokenless, accepted_in};
use crate::config::error::StartError;
use crate::config::files;

/// What is in each file, or why it can't be read.
type Texts = Vec<(PathBuf, io::Result<Vec<u8>>)>;

/// Follows the files until it is asked to stop.
///
/// A [`Follower`] decides when the files' contents count. Files that a new version names are followed before it counts.
#[expect(clippy::disallowed_methods, reason = "a pause is measured, and nothing else depends on the time")]
pub(crate) async fn follow(
    file: Arc<Path>,
    current: Arc<ArcSwap<State>>,
    mut keeper: Keeper,
    mut hangup: Signal,
    mut stop: watch::Receiver<bool>,
) {
    let (mut follower, start) = (Follower::new(INTERVAL), Instant::now());
    let mut files = named(&file, &current.load());
    let texts = read(&files).await;
    look(&mut follower, &texts, false, start);
    // What has changed since the start is a version to load.
    if current.load().is_of(&texts) {
        follower.took(Ending::default());
    }
    loop {
        let is_told = tokio::select! {
            _ = stop.changed() => return,
            _ = hangup.recv() => true,
            () = tokio::time::sleep(follower.pause()) => false,
        };
        let mut texts = read(&files).await;
        match look(&mut follower, &texts, is_told, start) {
            Look::Wait => {}
            Look::Unreadable => refuse(&current, &why_unreadable(&file, &current, &texts).await),
            Look::Load | Look::Unchanged => {
                let loaded;
                (loaded, texts) = reload(&file, &current, texts).await;
                match loaded {
                    Loaded::Active => {
                        files = named(&file, &current.load());
                        texts.retain(|(path, _)| files.contains(path));
                        look(&mut follower, &texts, false, start);
                        follower.took(Ending::default());
                    }
                    Loaded::Names(more) => {
                        files = more;
                        look(&mut follower, &read(&files).await, is_told, start);
                    }
                    Loaded::Refused => follower.refused(),
                    Loaded::Changing => follower.postponed(start.elapsed()),
                }
            }
        }
        if is_told {
            current.load().read_policy();
            current.load().open_audit_again();
        }
        keeper.keep(&current.load());
        orbgate_tower::log_notices(&current.load().keys.fetcher);
    }
}

fn look(follower: &mut Follower, texts: &Texts, is_told: bool, start: Instant) -> Look {
    let texts: Vec<_> = texts.iter().map(|(_, text)| text.as_deref().ok()).collect();
    follower.look(&texts, is_told, start.elapsed())
}

/// Why files can't be read. Loading them names the setting of each.
async fn why_unreadable(file: &Arc<Path>, current: &ArcSwap<State>, texts: &Texts) -> String {
    let (path, former) = (Arc::clone(file), current.load_full());
    let load = move || State::again(&path, &former).err().map(|error| error.to_string());
    // A file that is there again by now is read at the next look.
    tokio::task::spawn_blocking(load).await.ok().flatten().unwrap_or_else(|| {
        let errors =
            texts.iter().filter_map(|(file, text)| Some(format!("{}: {}", file.display(), text.as_ref().err()?)));
        errors.collect::<Vec<_>>().join("\n")
    })
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

/// How an attempt to load the files has ended.
enum Loaded {
    Active,
    /// It names files that haven't rested yet. These are all of its files.
    Names(Vec<PathBuf>),
    Refused,
    /// They have changed since they were judged.
    Changing,
}

/// Loads these versions of the files, or reports why the previous ones stay active.
async fn reload(file: &Arc<Path>, current: &ArcSwap<State>, texts: Texts) -> (Loaded, Texts) {
    let (path, former) = (Arc::clone(file), current.load_full());
    // Compiling a policy takes time, and its file might have to rest.
    let load = move || {
        let state = State::again(&path, &former);
        // The files are read again to load them. Other contents than those that have rested don't count.
        let is_same =
            |(file, text): &(PathBuf, io::Result<Vec<u8>>)| text.as_ref().ok() == files::read(file).ok().as_ref();
        let is_rested = texts.iter().all(is_same) && state.as_ref().map_or(true, |state| state.is_of(&texts));
        (state, is_rested, texts)
    };
    let refused = match tokio::task::spawn_blocking(load).await {
        Ok((_, false, texts)) => return (Loaded::Changing, texts),
        Ok((Ok(state), true, texts)) => {
            let files = named(file, &state);
            if files.iter().any(|file| texts.iter().all(|(followed, _)| followed != file)) {
                return (Loaded::Names(files), texts);
            }
            // A removed issuer is dropped at once, however long the others take to return their keys.
            let fetcher = state.keys.fetcher.clone();
            let policy = state.policy().1.digest();
            state.state_charging();
            current.store(Arc::new(state));
            count("loaded");
            tracing::info!(%policy, "configuration loaded");
            // Fetches now so that the first request for a new issuer needn't wait.
            tokio::spawn(async move { fetcher.fetch().await });
            return (Loaded::Active, texts);
        }
        Ok((Err(error), true, texts)) => (error.to_string(), texts),
        Err(panic) => (panic.to_string(), Texts::new()),
    };
    refuse(current, &refused.0);
    (Loaded::Refused, refused.1)
}

fn refuse(current: &ArcSwap<State>, why: &str) {
    let policy = current.load().policy().1.digest();
    count("refused");
    tracing::error!(%policy, "configuration refused, the active one stays: {why}");
}

fn count(result: &'static str) {
    metrics::counter!("orbgate_gateway_loads_total", "result" => result).increment(1);
}

/// All files that are followed, the configuration first.
fn named(file: &Path, state: &State) -> Vec<PathBuf> {
    let mut files = vec![file.to_owned()];
    for named in state.files() {
        if !files.iter().any(|file| file == named) {
            files.push(named.to_owned());
        }
    }
    files
}

async fn read(files: &[PathBuf]) -> Texts {
    let files = files.to_vec();
    let read = move || files.into_iter().map(|file| (file.clone(), files::read(&file))).collect();
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}
