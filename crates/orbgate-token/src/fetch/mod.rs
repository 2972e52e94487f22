//! Fetches keys with tokio and hyper: drives a [`KeyCache`].
#![allow(
    clippy::disallowed_methods,
    reason = "fetching keys is I/O with intervals; the time of a token is still an argument"
)]

mod client;

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hyper_rustls::ConfigBuilderExt as _;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::watch;

use self::client::Client;
use crate::cache::notices::Notice;
use crate::cache::{Fetch, FetchSettings, Judged, KeyCache, KeyStatus, Now, Response, SettingsError, Wait};
use crate::error::TokenError;
use crate::keys::Keys;
use crate::opaque::SecretSource;
use crate::proof::presented::Presented;
use crate::verified::VerifiedToken;
use crate::verifier::Verifier;

/// A [`Verifier`] with the latest keys of its issuers, which are fetched when they are needed.
///
/// Keys are fetched through OIDC discovery or from the configured `jwks_uri`, over `https` or from a loopback address, without
/// following redirects. When 80 % of the keys' time is over, the next token starts a fetch and doesn't wait for it. When all
/// of it is over, the next token waits. A token with an unknown `kid` also waits for a fetch. Such tokens can start
/// [`FetchSettings::burst`] fetches at once, and again in every [`FetchSettings::cooldown`], for each issuer, and only one
/// fetch at a time. If a fetch fails or returns no usable key, the previous keys stay in use until
/// [`FetchSettings::max_stale`] is over, and tokens don't wait meanwhile.
///
/// For an [opaque](crate::Issuer::opaque) issuer, the introspection endpoint is asked about at most 32 tokens at the same time.
/// Its responses are kept until the token's `exp`, but at most for [`Opaque::max_cache`](crate::Opaque::max_cache);
/// rejections are kept for at most 5 s.
///
/// Cheap to clone; all clones share their keys. Requires a running tokio runtime with time and I/O enabled.
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
    /// There might be notices.
    has_news: AtomicBool,
}

impl KeyFetcher {
    /// Fetches with the default settings, and trusts the system's root certificates.
    ///
    /// Nothing is fetched before the first token, unless you call [`KeyFetcher::fetch`].
    ///
    /// # Errors
    ///
    /// Fails if the system has no root certificates and an issuer needs them, or if a client's secret for an opaque issuer
    /// can't be read.
    pub fn new(verifier: Verifier) -> std::io::Result<Self> {
        let tls = Self::tls_for(&verifier)?;
        Self::with(verifier, FetchSettings::DEFAULT, tls).map_err(std::io::Error::other)
    }

    /// TLS that trusts the system's root certificates; none if the system has none and every issuer is fetched from this very
    /// machine without TLS, or has its keys in a file.
    ///
    /// # Errors
    ///
    /// Fails if an issuer needs root certificates and the system has none.
    pub fn tls_for(verifier: &Verifier) -> std::io::Result<ClientConfig> {
        match Self::system_tls() {
            Err(_) if !verifier.needs_roots() => {
                let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
                let tls = tls.with_safe_default_protocol_versions().map_err(std::io::Error::other)?;
                Ok(tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
            }
            tls => tls,
        }
    }

    /// TLS that trusts the system's root certificates.
    ///
    /// # Errors
    ///
    /// Fails if the system has no root certificates.
    pub fn system_tls() -> std::io::Result<ClientConfig> {
        Ok(ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(std::io::Error::other)?
            .with_native_roots()?
            .with_no_client_auth())
    }

    /// Fetches with these settings and this TLS configuration, for example with your own root certificates. It uses the
    /// cryptography provider of that configuration.
    ///
    /// # Errors
    ///
    /// Returns every setting that is out of range, or every client's secret for an opaque issuer that can't be read.
    pub fn with(verifier: Verifier, settings: FetchSettings, tls: ClientConfig) -> Result<Self, SettingsError> {
        Ok(Self {
            shared: Arc::new(Shared {
                cache: KeyCache::new(with_secrets(verifier)?, settings)?,
                client: Arc::new(Client::new(tls)),
                start: Instant::now(),
                ended: watch::Sender::default(),
                has_news: AtomicBool::new(true),
            }),
        })
    }

    /// A fetcher with the same settings for another configuration, and this TLS configuration, whose roots may be newer. It keeps
    /// the keys of issuers whose rules are the same, so that their callers needn't wait.
    ///
    /// # Errors
    ///
    /// Returns every client's secret for an opaque issuer that can't be read.
    pub fn replaced_by(&self, verifier: Verifier, tls: ClientConfig) -> Result<Self, SettingsError> {
        let Shared { cache, start, .. } = &*self.shared;
        let next = KeyCache::new(with_secrets(verifier)?, *cache.settings())?;
        Ok(Self {
            shared: Arc::new(Shared {
                cache: next.taking_over(cache),
                client: Arc::new(Client::new(tls)),
                start: *start,
                ended: watch::Sender::default(),
                has_news: AtomicBool::new(true),
            }),
        })
    }

    /// Verifies a token at this time, after fetching its issuer's keys if necessary.
    ///
    /// Waits for the network only if a fetch is due; see [`KeyFetcher`].
    ///
    /// # Errors
    ///
    /// The same as those of [`Verifier::verify`]. An opaque token can also give [`TokenError::Inactive`] or
    /// [`TokenError::Unanswered`].
    pub async fn verify(&self, token: impl AsRef<[u8]>, now: SystemTime) -> Result<VerifiedToken, TokenError> {
        self.verify_presented(token, &Presented::default(), now).await
    }

    /// The same for a token that can be bound to a key of its holder, with what the request presents for it: see
    /// [`Verifier::verify_presented`].
    ///
    /// # Errors
    ///
    /// The same as those of [`KeyFetcher::verify`], and then the first rule that the proof breaks.
    pub async fn verify_presented(
        &self,
        token: impl AsRef<[u8]>,
        presented: &Presented<'_>,
        now: SystemTime,
    ) -> Result<VerifiedToken, TokenError> {
        let shared = &self.shared;
        let mut progress = shared.cache.ask(shared.elapsed());
        loop {
            let now = Now { time: now, monotonic: shared.elapsed() };
            let judged = shared.cache.judge_presented(token.as_ref(), presented, &mut progress, now);
            self.start_fetches();
            match judged {
                Judged::Verdict(result) => return result,
                Judged::Wait(wait) => self.wait_for(&wait).await,
                // Unreachable: the cache checks signatures itself.
                Judged::CheckSignature(check) => return check.finish(false, now.time),
            }
        }
    }

    /// Fetches every issuer's keys at once, as far as the settings allow, and waits for them. Call it when a server starts, so
    /// that its first request needn't wait.
    pub async fn fetch(&self) {
        let shared = &self.shared;
        let waits = shared.cache.warm(shared.elapsed());
        self.start_fetches();
        for wait in waits {
            self.wait_for(&wait).await;
        }
    }

    /// The number of tokens that now wait for keys or for an introspection endpoint.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.shared.cache.waiting()
    }

    /// Never uses this issuer's key with this `kid` again, even if the issuer still publishes it. Call it if a private key was
    /// stolen. Takes effect with the next token, and lasts until the program ends.
    ///
    /// Tokens that name the key are rejected with [`TokenError::KeyRevoked`].
    pub fn revoke(&self, issuer: &str, kid: &str) {
        self.shared.cache.revoke(issuer, kid);
    }

    /// Forgets the keys of this issuer. Call it if the issuer has withdrawn a key before it expired. The next token starts a
    /// fetch and waits for it; until a fetch succeeds, every token of the issuer is rejected.
    ///
    /// Waits for a running fetch, which might have begun before the issuer's change.
    pub async fn forget(&self, issuer: &str) {
        if let Some(wait) = self.shared.cache.forget(issuer) {
            self.wait_for(&wait).await;
        }
    }

    /// The current keys, without waiting.
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

    /// What has changed about the issuers since the last call, to log: see [`KeyCache::notices`]. Without a change, it costs a
    /// comparison.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        match self.shared.has_news.swap(false, Ordering::SeqCst) {
            true => self.shared.cache.notices(self.shared.elapsed()),
            false => Vec::new(),
        }
    }

    /// The keys, for your own driver, such as that of a gate. It calls [`KeyCache::judge`] at the time [`KeyFetcher::now`], then
    /// [`KeyFetcher::start_fetches`], and waits with [`KeyFetcher::wait_for`].
    #[must_use]
    pub fn cache(&self) -> &KeyCache {
        &self.shared.cache
    }

    /// The current time on the clocks of these keys.
    #[must_use]
    pub fn now(&self) -> Now {
        Now { time: SystemTime::now(), monotonic: self.shared.elapsed() }
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

    /// Starts all pending fetches in separate tasks, so that a fetch continues if the request that caused it is cancelled.
    pub fn start_fetches(&self) {
        while let Some(fetch) = self.shared.cache.next_fetch(self.shared.elapsed()) {
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move { shared.fetch_on(fetch).await });
        }
    }
}

/// Adds the secrets of the clients that ask about opaque tokens, read from this system.
fn with_secrets(verifier: Verifier) -> Result<Verifier, SettingsError> {
    let verifier = verifier.with_secrets(SecretSource::read);
    verifier.map_err(|error| SettingsError::of_secrets(&error))
}

impl Shared {
    /// The cache's time.
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Performs all fetches of an attempt, and then the fetches that have waited for their turn.
    async fn fetch_on(&self, first: Fetch) {
        let mut next = Some(first);
        while let Some(fetch) = next {
            self.fetch(fetch).await;
            next = self.cache.next_fetch(self.elapsed());
        }
    }

    /// Performs all fetches of an attempt.
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
        self.has_news.store(true, Ordering::SeqCst);
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
