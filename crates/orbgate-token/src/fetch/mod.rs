//! Fetching keys: when, how often, and what tokens are verified with in the meantime.
#![allow(
    clippy::disallowed_methods,
    reason = "fetching keys is I/O with intervals; the time of a token is still an argument"
)]

mod client;
mod issuer;
mod settings;

use core::fmt;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use arc_swap::ArcSwap;
use hyper_rustls::ConfigBuilderExt as _;
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tokio::sync::{Mutex, OwnedMutexGuard};

pub use self::client::FetchError;
pub use self::settings::FetchSettings;

use self::client::Client;
use self::issuer::{Fetched, fetch};
use crate::error::TokenError;
use crate::keys::{KeyWarning, Keys};
use crate::verified::{Fingerprint, VerifiedToken};
use crate::verifier::Verifier;

/// A [`Verifier`] with the latest keys of its issuers, fetched as they are needed.
///
/// Keys are fetched by OIDC discovery or from the configured `jwks_uri`, over `https` (or from this very
/// machine), following no redirect. When 80 % of their time is over, the next token starts a fetch
/// and does not wait for it; when all of it is over, the next token waits. A token with an unknown
/// `kid` waits for a fetch, too, but attempts lie at least [`FetchSettings::cooldown`] apart for each
/// issuer, and there is only one at a time. A fetch that fails, or brings no key to work with, leaves
/// the former keys in place until [`FetchSettings::max_stale`] is over, and meanwhile nobody waits.
///
/// Cheap to clone; the clones share their keys. It needs a running tokio with time and I/O.
#[derive(Clone)]
pub struct KeyFetcher {
    shared: Arc<Shared>,
}

struct Shared {
    verifier: Verifier,
    settings: FetchSettings,
    client: Client,
    /// What is known at one time: readers take all of it at once.
    snapshot: ArcSwap<Snapshot>,
    /// Held by whoever fetches, one for each issuer.
    attempts: Vec<Arc<Mutex<Attempts>>>,
}

#[derive(Clone, Default)]
struct Snapshot {
    keys: Keys,
    issuers: Vec<State>,
}

/// What is known of one issuer's keys.
#[derive(Clone, Default)]
struct State {
    times: Option<Times>,
    failure: Option<FetchError>,
}

#[derive(Clone, Copy)]
struct Times {
    fetched: Instant,
    /// From here on, a token starts a fetch.
    ahead: Instant,
    /// From here on, a token waits for one.
    stale: Instant,
    /// From here on, the keys are not used.
    end: Instant,
}

#[derive(Default)]
struct Attempts {
    last: Option<Instant>,
    /// `kid`s that the issuer did not have when it was asked for them, as hashes; they ask for nothing
    /// until the keys are due anyway.
    missing: HashSet<Fingerprint>,
}

/// More missing `kid`s are not remembered.
const MISSING: usize = 1024;

impl KeyFetcher {
    /// Fetches with the usual settings, trusting the certificates that the system trusts.
    ///
    /// Nothing is fetched before the first token; see [`KeyFetcher::fetch`].
    ///
    /// # Errors
    ///
    /// Where the system has no certificates.
    pub fn new(verifier: Verifier) -> std::io::Result<Self> {
        let tls = Self::system_tls()?;
        Ok(Self::with(verifier, FetchSettings::default(), tls))
    }

    /// TLS that trusts the certificates that the system trusts.
    ///
    /// # Errors
    ///
    /// Where the system has no certificates.
    pub fn system_tls() -> std::io::Result<ClientConfig> {
        Ok(
            ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(std::io::Error::other)?
                .with_native_roots()?
                .with_no_client_auth(),
        )
    }

    /// Fetches with these settings and this TLS: for certificates of your own, say. The provider of
    /// its cryptography is the one that it was built with.
    #[must_use]
    pub fn with(verifier: Verifier, settings: FetchSettings, tls: ClientConfig) -> Self {
        let count = verifier.issuers().count();
        let snapshot = Snapshot {
            keys: Keys::new(),
            issuers: vec![State::default(); count],
        };
        let attempts = core::iter::repeat_with(Arc::default).take(count).collect();
        Self {
            shared: Arc::new(Shared {
                verifier,
                settings,
                client: Client::new(tls),
                snapshot: ArcSwap::from_pointee(snapshot),
                attempts,
            }),
        }
    }

    /// Verifies a token at this time, with fresh keys where it needs them.
    ///
    /// Waits for the network only where a fetch is due; see [`KeyFetcher`].
    ///
    /// # Errors
    ///
    /// As [`Verifier::verify`]'s.
    pub async fn verify(
        &self,
        token: impl AsRef<[u8]>,
        now: SystemTime,
    ) -> Result<VerifiedToken, TokenError> {
        let (shared, asked) = (&self.shared, Instant::now());
        let token = shared.verifier.open(token.as_ref())?;
        let issuer = token.index;
        let snapshot = self.current(issuer).await;
        let result = token.judge(&snapshot.keys, now);
        let (Err(TokenError::KeyUnknown), Some(kid)) = (&result, token.kid()) else {
            return result;
        };
        self.fetch_if(issuer, |attempts, seen| {
            seen.is_same(&snapshot, issuer) && !attempts.missing.contains(&kid)
        })
        .await;
        let result = token.judge(&shared.snapshot.load().keys, now);
        if result == Err(TokenError::KeyUnknown) {
            self.remember_missing(issuer, kid, asked).await;
        }
        result
    }

    /// Fetches every issuer's keys now, as far as the cooldown allows: for the start of a server, so
    /// that its first request need not wait.
    pub async fn fetch(&self) {
        for issuer in 0..self.shared.attempts.len() {
            self.fetch_if(issuer, |_, _| true).await;
        }
    }

    /// The keys as they are, without waiting.
    #[must_use]
    pub fn keys(&self) -> Keys {
        self.shared.snapshot.load().keys.clone()
    }

    /// How it stands with each issuer's keys, for logs and health checks.
    #[must_use]
    pub fn status(&self) -> Vec<KeyStatus> {
        let snapshot = self.shared.snapshot.load();
        let issuers = self.shared.verifier.issuers().zip(&snapshot.issuers);
        let status = |(issuer, state): (&str, &State)| {
            let keys = snapshot.keys.of(issuer);
            KeyStatus {
                issuer: issuer.to_owned(),
                keys: keys.map_or(0, |keys| keys.len()),
                fetched: state.times.map(|times| times.fetched),
                warnings: keys
                    .map(|keys| keys.warnings().to_vec())
                    .unwrap_or_default(),
                failure: state.failure,
            }
        };
        issuers.map(status).collect()
    }

    /// The snapshot to verify with: fetches first where an issuer's keys are missing or over their time.
    async fn current(&self, issuer: usize) -> Arc<Snapshot> {
        let snapshot = self.shared.snapshot.load_full();
        let now = Instant::now();
        if let Some(times) = snapshot.times(issuer) {
            if now < times.ahead {
                return snapshot;
            }
            // While the issuer fails, nobody waits for it as long as its keys may be used.
            let failing = snapshot.failure(issuer).is_some();
            if now < times.stale || (failing && now < times.end) {
                // Whoever holds the lock is fetching already.
                let attempts = self.shared.attempts.get(issuer).map(Arc::clone);
                if let Some(Ok(mut attempts)) = attempts.map(Mutex::try_lock_owned) {
                    attempts.missing.clear();
                    self.start(issuer, attempts);
                }
                return snapshot;
            }
        }
        self.fetch_if(issuer, |attempts, seen| {
            attempts.missing.clear();
            seen.is_same(&snapshot, issuer)
        })
        .await;
        self.drop_overdue(issuer);
        self.shared.snapshot.load_full()
    }

    /// Fetches, unless somebody just did, or the condition does not hold once it is our turn.
    async fn fetch_if(
        &self,
        issuer: usize,
        condition: impl FnOnce(&mut Attempts, &Snapshot) -> bool,
    ) {
        let Some(attempts) = self.shared.attempts.get(issuer) else {
            return;
        };
        let mut attempts = Arc::clone(attempts).lock_owned().await;
        if condition(&mut attempts, &self.shared.snapshot.load())
            && let Some(task) = self.start(issuer, attempts)
        {
            // An attempt that panicked leaves everything as it was.
            let _ = task.await;
        }
    }

    /// Starts an attempt in a task of its own, so that it goes on when the request that asked for it
    /// goes away; unless the last one is too close.
    fn start(
        &self,
        issuer: usize,
        mut attempts: OwnedMutexGuard<Attempts>,
    ) -> Option<tokio::task::JoinHandle<()>> {
        let now = Instant::now();
        let too_close = attempts
            .last
            .is_some_and(|last| now.duration_since(last) < self.shared.settings.cooldown);
        if too_close {
            return None;
        }
        attempts.last = Some(now);
        let shared = Arc::clone(&self.shared);
        Some(tokio::spawn(async move {
            let Some((rules, name)) = shared.verifier.issuer(issuer) else {
                return;
            };
            let fetched = fetch(&shared.client, rules, &shared.settings).await;
            shared.publish(issuer, name, fetched);
            drop(attempts); // only now: whoever waited sees the new snapshot
        }))
    }

    /// Stops using keys that nothing has renewed for too long.
    fn drop_overdue(&self, issuer: usize) {
        let snapshot = self.shared.snapshot.load();
        let overdue = |snapshot: &Snapshot| {
            let times = snapshot.times(issuer);
            times.is_some_and(|times| Instant::now() >= times.end)
        };
        if !overdue(&snapshot) {
            return;
        }
        let Some((_, name)) = self.shared.verifier.issuer(issuer) else {
            return;
        };
        self.shared.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            if overdue(snapshot) {
                next.keys = next.keys.without(name);
                next.set_times(issuer, None);
            }
            next
        });
    }

    /// Notes that the issuer was asked for a key after that time, and did not have it.
    async fn remember_missing(&self, issuer: usize, kid: Fingerprint, asked: Instant) {
        let Some(attempts) = self.shared.attempts.get(issuer) else {
            return;
        };
        let mut attempts = attempts.lock().await;
        let answered = self.shared.snapshot.load().times(issuer);
        let answered = answered.zip(attempts.last).is_some_and(|(times, last)| {
            // Not an earlier attempt, which cannot know of a key that came later.
            last >= asked && times.fetched >= last
        });
        if answered && attempts.missing.len() < MISSING {
            attempts.missing.insert(kid);
        }
    }
}

impl Shared {
    /// Puts what was fetched in the place of what there was; a failure only leaves a note.
    fn publish(&self, issuer: usize, name: &str, fetched: Result<Fetched, FetchError>) {
        let now = Instant::now();
        let (fetched, failure) = match fetched {
            Ok(Fetched { keys, ttl }) => (Some((Arc::new(keys), self.times(now, ttl))), None),
            Err(failure) => (None, Some(failure)),
        };
        self.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            if let Some((keys, times)) = &fetched {
                next.keys = next.keys.with(name, Arc::clone(keys));
                next.set_times(issuer, *times);
            }
            if let Some(state) = next.issuers.get_mut(issuer) {
                state.failure = failure;
            }
            next
        });
    }

    fn times(&self, fetched: Instant, ttl: core::time::Duration) -> Option<Times> {
        let stale = fetched.checked_add(ttl)?;
        Some(Times {
            fetched,
            ahead: fetched.checked_add(ttl.mul_f64(0.8))?,
            stale,
            end: stale.checked_add(self.settings.max_stale)?,
        })
    }
}

impl Snapshot {
    fn times(&self, issuer: usize) -> Option<Times> {
        self.issuers.get(issuer)?.times
    }

    fn failure(&self, issuer: usize) -> Option<FetchError> {
        self.issuers.get(issuer)?.failure
    }

    fn set_times(&mut self, issuer: usize, times: Option<Times>) {
        if let Some(state) = self.issuers.get_mut(issuer) {
            state.times = times;
        }
    }

    /// Whether an issuer's keys are still those of another snapshot.
    fn is_same(&self, other: &Self, issuer: usize) -> bool {
        let fetched = |snapshot: &Self| snapshot.times(issuer).map(|times| times.fetched);
        fetched(self) == fetched(other)
    }
}

impl fmt::Debug for KeyFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFetcher")
            .field("settings", &self.shared.settings)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// How it stands with an issuer's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStatus {
    /// The issuer.
    pub issuer: String,
    /// How many keys there are to use.
    pub keys: usize,
    /// When they were fetched.
    pub fetched: Option<Instant>,
    /// The keys that were left out, and why.
    pub warnings: Vec<KeyWarning>,
    /// Why the last attempt failed, if it did.
    pub failure: Option<FetchError>,
}
