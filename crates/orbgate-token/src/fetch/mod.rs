//! Fetching keys: who starts a fetch, and which keys verify tokens in the meantime.
#![allow(
    clippy::disallowed_methods,
    reason = "fetching keys is I/O with intervals; the time of a token is still an argument"
)]

mod client;
mod issuer;
mod settings;
mod state;
mod when;

use core::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use arc_swap::ArcSwap;
use hyper_rustls::ConfigBuilderExt as _;
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tokio::sync::{Mutex, OwnedMutexGuard};

pub use self::client::FetchError;
pub use self::settings::{FetchSettings, SettingsError};

use self::client::Client;
use self::issuer::{Fetched, fetch};
use self::state::{Snapshot, State};
use self::when::{Attempts, Cause, Due, Times};
use crate::error::TokenError;
use crate::keys::{KeyWarning, Keys};
use crate::verified::VerifiedToken;
use crate::verifier::Verifier;

/// A [`Verifier`] with the latest keys of its issuers, fetched as they are needed.
///
/// Keys are fetched by OIDC discovery or from the configured `jwks_uri`, over `https` (or from this very
/// machine), following no redirect. When 80 % of their time is over, the next token starts a fetch
/// and does not wait for it; when all of it is over, the next token waits. A token with an unknown
/// `kid` waits for a fetch, too; of these there are [`FetchSettings::burst`] at once and then in every
/// [`FetchSettings::cooldown`] for each issuer, and only one at a time. A fetch that fails, or
/// brings no key to work with, leaves the former keys in place until [`FetchSettings::max_stale`] is over,
/// and meanwhile nobody waits.
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
    /// All that is known at one time: a reader takes it whole.
    snapshot: ArcSwap<Snapshot>,
    /// Held during a fetch, one for each issuer.
    attempts: Vec<Arc<Mutex<Attempts>>>,
}

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
        Ok(Self::of(verifier, FetchSettings::DEFAULT, tls))
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
    ///
    /// # Errors
    ///
    /// Every setting that is out of range.
    pub fn with(
        verifier: Verifier,
        settings: FetchSettings,
        tls: ClientConfig,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self::of(verifier, settings, tls))
    }

    fn of(verifier: Verifier, settings: FetchSettings, tls: ClientConfig) -> Self {
        let count = verifier.issuers().count();
        let attempts = core::iter::repeat_with(Arc::default).take(count).collect();
        Self {
            shared: Arc::new(Shared {
                verifier,
                settings,
                client: Client::new(tls),
                snapshot: ArcSwap::from_pointee(Snapshot::of(count)),
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
        let snapshot = self.current(issuer, asked).await;
        let result = token.judge(&snapshot.keys, now);
        let (Err(TokenError::KeyUnknown), Some(kid)) = (&result, token.kid()) else {
            return result;
        };
        self.fetch_since(issuer, asked, &snapshot, Cause::UnknownKey(kid))
            .await;
        let snapshot = shared.snapshot.load_full();
        let result = token.judge(&snapshot.keys, now);
        if result == Err(TokenError::KeyUnknown)
            && let Some(attempts) = shared.attempts.get(issuer)
        {
            let mut attempts = attempts.lock().await;
            attempts.note_missing(kid, asked, snapshot.times(issuer), &shared.settings);
        }
        result
    }

    /// Fetches every issuer's keys now, as far as the settings allow: call it when a server starts, so that
    /// its first request need not wait.
    pub async fn fetch(&self) {
        let (snapshot, asked) = (self.shared.snapshot.load_full(), Instant::now());
        for issuer in 0..self.shared.attempts.len() {
            let cause = snapshot.cause(issuer);
            self.fetch_since(issuer, asked, &snapshot, cause).await;
        }
    }

    /// Never again uses this issuer's key with this `kid`, even if the issuer still publishes it: for a key
    /// whose private half was stolen. Holds from the next token on, until the program ends.
    ///
    /// Tokens that name the key are refused as [`TokenError::KeyRevoked`].
    pub fn revoke(&self, issuer: &str, kid: &str) {
        self.shared.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            next.keys = next.keys.revoke(issuer, kid);
            next
        });
    }

    /// Forgets the keys of this issuer: for an issuer that has withdrawn a key before it expired. The next
    /// token waits for a fetch, which starts at once; until it succeeds, every token of the issuer is
    /// refused.
    ///
    /// Waits for a fetch that is under way, because it may have begun before the issuer's change.
    pub async fn forget(&self, issuer: &str) {
        let place = self
            .shared
            .verifier
            .issuers()
            .position(|name| name == issuer);
        let attempts = place.and_then(|place| Some((place, self.shared.attempts.get(place)?)));
        if let Some((place, attempts)) = attempts {
            let mut attempts = attempts.lock().await;
            self.shared.drop_keys(place, |_| true);
            attempts.forget();
        }
    }

    /// The keys as they are, without waiting.
    #[must_use]
    pub fn keys(&self) -> Keys {
        self.shared.snapshot.load().keys.clone()
    }

    /// The state of each issuer's keys, for logs and health checks.
    #[must_use]
    pub fn status(&self) -> Vec<KeyStatus> {
        let snapshot = self.shared.snapshot.load();
        let issuers = self.shared.verifier.issuers().zip(&snapshot.issuers);
        let status = |(issuer, state): (&str, &State)| {
            let keys = snapshot.keys.of(issuer);
            KeyStatus {
                issuer: issuer.to_owned(),
                keys: snapshot.keys.count(issuer),
                fetched: state.times.map(|times| times.fetched),
                warnings: keys
                    .map(|keys| keys.warnings().to_vec())
                    .unwrap_or_default(),
                failure: state.failure.clone(),
            }
        };
        issuers.map(status).collect()
    }

    /// The snapshot to verify with: fetches first where an issuer's keys are missing or too old.
    async fn current(&self, issuer: usize, asked: Instant) -> Arc<Snapshot> {
        let snapshot = self.shared.snapshot.load_full();
        let is_failing = snapshot.is_failing(issuer);
        let due = match snapshot.times(issuer) {
            None => Due::Now,
            Some(times) if is_failing => times.due_while_failing(asked),
            Some(times) => times.due(asked),
        };
        if due == Due::Not {
            return snapshot;
        }
        let cause = snapshot.cause(issuer);
        // If the lock is held, a fetch is under way already. While the issuer fails, no call waits for that.
        if due == Due::Soon || is_failing {
            let attempts = self.shared.attempts.get(issuer).map(Arc::clone);
            if let Some(Ok(attempts)) = attempts.map(Mutex::try_lock_owned)
                && let Some(task) = self.start(issuer, attempts, cause)
                && due == Due::Now
            {
                let _ = task.await;
            }
            if due == Due::Soon {
                return snapshot;
            }
        } else {
            self.fetch_since(issuer, asked, &snapshot, cause).await;
        }
        let over = |times: Times| times.are_over(Instant::now());
        self.shared.drop_keys(issuer, over);
        self.shared.snapshot.load_full()
    }

    /// Fetches, unless another attempt was made since the caller took this snapshot.
    async fn fetch_since(&self, issuer: usize, asked: Instant, seen: &Snapshot, cause: Cause) {
        let Some(attempts) = self.shared.attempts.get(issuer) else {
            return;
        };
        let attempts = Arc::clone(attempts).lock_owned().await;
        let is_same = self.shared.snapshot.load().is_same(seen, issuer);
        if is_same
            && !attempts.is_any_since(asked)
            && let Some(task) = self.start(issuer, attempts, cause)
        {
            // An attempt that panicked has changed nothing.
            let _ = task.await;
        }
    }

    /// Starts an attempt in a task of its own, so that it goes on when the request that asked for it
    /// goes away; unless it is too early for one.
    fn start(
        &self,
        issuer: usize,
        mut attempts: OwnedMutexGuard<Attempts>,
        cause: Cause,
    ) -> Option<tokio::task::JoinHandle<()>> {
        if !attempts.may(cause, Instant::now(), &self.shared.settings) {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        Some(tokio::spawn(async move {
            let Some((rules, name)) = shared.verifier.issuer(issuer) else {
                return;
            };
            let fetched = fetch(&shared.client, rules, &shared.settings).await;
            shared.publish(issuer, name, fetched);
            drop(attempts); // only now: callers that wait for the lock must see the new snapshot
        }))
    }
}

impl Shared {
    /// Stores what was fetched; after a failure the keys stay, and the error is noted.
    fn publish(&self, issuer: usize, name: &str, fetched: Result<Fetched, FetchError>) {
        let now = Instant::now();
        let (fetched, failure) = match fetched {
            Ok(Fetched { keys, ttl }) => {
                let times = Times::new(now, ttl, &self.settings);
                (Some((Arc::new(keys), times)), None)
            }
            Err(failure) => (None, Some(failure)),
        };
        self.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            if let Some((keys, times)) = &fetched {
                next.keys = next.keys.with(name, Arc::clone(keys));
                next.set_times(issuer, *times);
            }
            next.set_failure(issuer, failure.clone());
            next
        });
    }

    /// Stops using an issuer's keys, if their times pass this test.
    fn drop_keys(&self, issuer: usize, are_so: impl Fn(Times) -> bool) {
        let is_so = |snapshot: &Snapshot| snapshot.times(issuer).is_some_and(&are_so);
        if !is_so(&self.snapshot.load()) {
            return;
        }
        let Some((_, name)) = self.verifier.issuer(issuer) else {
            return;
        };
        self.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            if is_so(snapshot) {
                next.keys = next.keys.without(name);
                next.set_times(issuer, None);
            }
            next
        });
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

/// The state of an issuer's keys.
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
