//! Fetching keys with tokio and hyper: drives a [`KeyCache`].
#![allow(
    clippy::disallowed_methods,
    reason = "fetching keys is I/O with intervals; the time of a token is still an argument"
)]

mod client;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hyper_rustls::ConfigBuilderExt as _;
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tokio::sync::watch;

use self::client::Client;
use crate::cache::{
    Fetch, FetchSettings, Judged, KeyCache, KeyStatus, Now, Response, SettingsError, Wait,
};
use crate::error::TokenError;
use crate::keys::Keys;
use crate::opaque::SecretSource;
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
/// About the tokens of an [opaque](crate::Issuer::opaque) issuer it asks the introspection endpoint, about 32 at once. Its answers are kept
/// no longer than the token's `exp` and [`Opaque::max_cache`](crate::Opaque::max_cache), and that a token is refused for 5 s.
///
/// Cheap to clone; the clones share their keys. It needs a running tokio with time and I/O.
#[derive(Clone)]
pub struct KeyFetcher {
    shared: Arc<Shared>,
}

struct Shared {
    cache: KeyCache,
    client: Arc<Client>,
    /// When the cache's time began.
    start: Instant,
    /// Changes whenever an attempt is over.
    ended: watch::Sender<()>,
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
        Self::with(verifier, FetchSettings::DEFAULT, tls).map_err(std::io::Error::other)
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
    /// Every setting that is out of range, and every secret of an opaque issuer's client that can't be read.
    pub fn with(
        verifier: Verifier,
        settings: FetchSettings,
        tls: ClientConfig,
    ) -> Result<Self, SettingsError> {
        Ok(Self {
            shared: Arc::new(Shared {
                cache: KeyCache::new(with_secrets(verifier)?, settings)?,
                client: Arc::new(Client::new(tls)),
                start: Instant::now(),
                ended: watch::Sender::default(),
            }),
        })
    }

    /// A fetcher with the same settings for another configuration. It keeps the keys of the issuers whose rules are the same, so that
    /// their callers need not wait.
    ///
    /// # Errors
    ///
    /// A secret of an opaque issuer's client that can't be read.
    pub fn replaced_by(&self, verifier: Verifier) -> Result<Self, SettingsError> {
        let Shared {
            cache,
            client,
            start,
            ..
        } = &*self.shared;
        let next = KeyCache::new(with_secrets(verifier)?, *cache.settings())?;
        Ok(Self {
            shared: Arc::new(Shared {
                cache: next.taking_over(cache),
                client: Arc::clone(client),
                start: *start,
                ended: watch::Sender::default(),
            }),
        })
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
        let shared = &self.shared;
        let mut asked = shared.cache.ask(shared.elapsed());
        loop {
            let now = Now {
                time: now,
                monotonic: shared.elapsed(),
            };
            let judged = shared.cache.judge(token.as_ref(), &mut asked, now);
            self.start_fetches();
            match judged {
                Judged::Verdict(result) => return result,
                Judged::Wait(wait) => self.wait_for(&wait).await,
                // Nobody else could check it: it is checked in place.
                Judged::CheckSignature(check) => return check.finish(false, now.time),
            }
        }
    }

    /// Fetches every issuer's keys now, all at once, as far as the settings allow: call it when a server starts, so that
    /// its first request need not wait.
    pub async fn fetch(&self) {
        let shared = &self.shared;
        let waits = shared.cache.warm(shared.elapsed());
        self.start_fetches();
        for wait in waits {
            self.wait_for(&wait).await;
        }
    }

    /// How many tokens wait for keys now.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.shared.cache.waiting()
    }

    /// Never again uses this issuer's key with this `kid`, even if the issuer still publishes it: for a key
    /// whose private half was stolen. Holds from the next token on, until the program ends.
    ///
    /// Tokens that name the key are refused as [`TokenError::KeyRevoked`].
    pub fn revoke(&self, issuer: &str, kid: &str) {
        self.shared.cache.revoke(issuer, kid);
    }

    /// Forgets the keys of this issuer: for an issuer that has withdrawn a key before it expired. The next
    /// token waits for a fetch, which starts at once; until it succeeds, every token of the issuer is
    /// refused.
    ///
    /// Waits for a fetch that is under way, because it may have begun before the issuer's change.
    pub async fn forget(&self, issuer: &str) {
        if let Some(wait) = self.shared.cache.forget(issuer) {
            self.wait_for(&wait).await;
        }
    }

    /// The keys as they are, without waiting.
    #[must_use]
    pub fn keys(&self) -> Keys {
        self.shared.cache.keys()
    }

    /// The state of each issuer's keys, for logs and health checks.
    #[must_use]
    pub fn status(&self) -> Vec<KeyStatus> {
        let instant = |fetched| self.shared.start.checked_add(fetched);
        let status = |status: KeyStatus<Duration>| KeyStatus {
            issuer: status.issuer,
            is_opaque: status.is_opaque,
            keys: status.keys,
            fetched: status.fetched.and_then(instant),
            warnings: status.warnings,
            failure: status.failure,
        };
        self.shared.cache.status().into_iter().map(status).collect()
    }

    /// The keys, for a driver of its own: such as one of a gate, which asks [`KeyCache::judge`] at the time [`KeyFetcher::now`], starts
    /// fetches after each call, and waits with [`KeyFetcher::wait_for`].
    #[must_use]
    pub fn cache(&self) -> &KeyCache {
        &self.shared.cache
    }

    /// The time, by the clocks that these keys have.
    #[must_use]
    pub fn now(&self) -> Now {
        Now {
            time: SystemTime::now(),
            monotonic: self.shared.elapsed(),
        }
    }

    /// Waits until an attempt is over.
    pub async fn wait_for(&self, wait: &Wait) {
        let shared = &self.shared;
        let mut ended = shared.ended.subscribe(); // before the first look, so that no end is missed
        while !shared.cache.is_over(wait, shared.elapsed()) {
            let left = wait.until.saturating_sub(shared.elapsed());
            let _ = tokio::time::timeout(left, ended.changed()).await;
        }
    }

    /// Fetches in tasks of their own what there is to fetch, so that it goes on when the request that asked for it
    /// goes away.
    pub fn start_fetches(&self) {
        while let Some(fetch) = self.shared.cache.next_fetch(self.shared.elapsed()) {
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move { shared.fetch_on(fetch).await });
        }
    }
}

/// With the secrets of the clients that ask about opaque tokens, read from this system.
fn with_secrets(verifier: Verifier) -> Result<Verifier, SettingsError> {
    let verifier = verifier.with_secrets(SecretSource::read);
    verifier.map_err(|error| SettingsError::of_secrets(&error))
}

impl Shared {
    /// The cache's time.
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Fetches what an attempt needs, and then what has waited for its turn.
    async fn fetch_on(&self, first: Fetch) {
        let mut next = Some(first);
        while let Some(fetch) = next {
            self.fetch(fetch).await;
            next = self.cache.next_fetch(self.elapsed());
        }
    }

    /// Fetches what an attempt needs, to its end.
    async fn fetch(&self, first: Fetch) {
        let mut next = Some(first);
        while let Some(fetch) = next {
            let answer = self.client.send(&fetch).await;
            let response = answer.as_ref().map_err(Clone::clone);
            let response = response.map(|answer| Response {
                status: answer.status,
                cache_control: answer.cache_control.as_deref(),
                body: &answer.body,
            });
            next = self.cache.fetched(fetch.attempt, response, self.elapsed());
        }
        self.ended.send_replace(());
    }
}

impl fmt::Debug for KeyFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFetcher")
            .field("settings", self.shared.cache.settings())
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
