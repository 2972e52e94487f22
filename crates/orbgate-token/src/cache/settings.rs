//! The intervals and time limits of fetches.

use core::time::Duration;

use orbgate_yaml::quoted;

#[cfg(feature = "fetch")]
use crate::config::error::ConfigError;
use crate::opaque::SecretSource;
use crate::verifier::Verifier;

/// The intervals and time limits of fetches. The defaults suit every provider that we know of.
///
/// Each time must be greater than 0 and at most a day. Only [`max_stale`](Self::max_stale) may also be 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// How long keys are fresh if the issuer sends no usable `Cache-Control`. Default: 600 s.
    pub ttl: Duration,
    /// The shortest time that an issuer can set. Default: 60 s.
    pub ttl_min: Duration,
    /// The longest time that an issuer can set. Default: 3,600 s.
    pub ttl_max: Duration,
    /// The part of that time, in percent, after which a token starts a fetch without waiting for it. Default: 80.
    pub ahead_percent: u8,
    /// How long stale keys are used if new ones can't be fetched. Default: 3,600 s. After that, every token of the issuer is
    /// rejected. With 0, stale keys are never used.
    pub max_stale: Duration,
    /// The time between two attempts for the same issuer, even if the first one succeeds. Default: 30 s. A key that the issuer
    /// doesn't have isn't requested again during this time.
    pub cooldown: Duration,
    /// How many attempts tokens with unknown keys can start at once, and again in every cooldown, evenly. Default: 4, which is
    /// one every 7.5 s. So a new key of the issuer is found soon, even if a client keeps sending tokens with keys that don't
    /// exist.
    pub burst: u32,
    /// The time between two attempts while there are no keys and every token is rejected. Default: 1 s.
    pub retry: Duration,
    /// The time limit for one attempt. No token waits longer. Default: 5 s.
    pub timeout: Duration,
    /// How many tokens can wait for keys at the same time. Default: 1,024. Anyone can send a token with an unknown `kid`, so
    /// without this limit, a slow issuer could block a whole server. Half as many tokens can also wait for an introspection
    /// endpoint. Half of the waiting tokens can wait for `timeout`. The others can wait for a second, and only if the issuer's
    /// last attempt didn't fail after a second or more. Beyond the limit, a token is verified with the current keys, and an
    /// opaque token is rejected with [`TokenError::Unanswered`](crate::TokenError::Unanswered).
    pub max_waiting: u32,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl FetchSettings {
    pub(crate) const DEFAULT: Self = Self {
        ttl: Duration::from_secs(600),
        ttl_min: Duration::from_secs(60),
        ttl_max: Duration::from_secs(3600),
        ahead_percent: 80,
        max_stale: Duration::from_secs(3600),
        cooldown: Duration::from_secs(30),
        burst: 4,
        retry: Duration::from_secs(1),
        timeout: Duration::from_secs(5),
        max_waiting: 1024,
    };

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let times = [
            ("ttl", self.ttl),
            ("ttl_min", self.ttl_min),
            ("ttl_max", self.ttl_max),
            ("max_stale", self.max_stale),
            ("cooldown", self.cooldown),
            ("retry", self.retry),
            ("timeout", self.timeout),
        ];
        let mut diagnostics = Vec::new();
        for (name, time) in times {
            // 0 is fine here: then no key is used beyond its time.
            if time.is_zero() && name != "max_stale" {
                diagnostics.push(format!("`{name}` is 0"));
            }
            if time > DAY {
                diagnostics.push(format!("`{name}` is longer than a day"));
            }
        }
        if self.ttl_min > self.ttl_max {
            diagnostics.push("`ttl_min` is longer than `ttl_max`".to_owned());
        }
        if self.retry > self.cooldown {
            diagnostics.push("`retry` is longer than `cooldown`".to_owned());
        }
        if !(1..=100).contains(&self.ahead_percent) {
            diagnostics.push("`ahead_percent` is not 1 to 100".to_owned());
        }
        if !(1..=100).contains(&self.burst) {
            diagnostics.push("`burst` is not 1 to 100".to_owned());
        }
        if !(1..=1_000_000).contains(&self.max_waiting) {
            diagnostics.push("`max_waiting` is not 1 to 1,000,000".to_owned());
        }
        if diagnostics.is_empty() { Ok(()) } else { Err(SettingsError { about: "fetching keys: ", diagnostics }) }
    }

    /// How long keys are fresh, from the `Cache-Control` of their response (RFC 9111 §5.2.2).
    pub(super) fn ttl_of(&self, cache_control: Option<&str>) -> Duration {
        let directives = cache_control.unwrap_or_default().split(',');
        let mut ttl = None;
        for directive in directives {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            let lifetime = match name.trim().to_ascii_lowercase().as_str() {
                "no-store" | "no-cache" => Some(Duration::ZERO),
                "max-age" => value.trim().trim_matches('"').parse().ok().map(Duration::from_secs),
                _ => None,
            };
            // If there are several, the shortest counts.
            ttl = [ttl, lifetime].into_iter().flatten().min();
        }
        ttl.unwrap_or(self.ttl).min(self.ttl_max).max(self.ttl_min)
    }
}

/// All settings that are out of range, or all issuers whose keys can't be fetched and secrets that are missing or can't be read.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{about}{}", diagnostics.join(if about.is_empty() { "\n" } else { ", " }))]
pub struct SettingsError {
    /// The purpose of the settings; empty for errors of the configuration, which name their own keys.
    about: &'static str,
    diagnostics: Vec<String>,
}

impl SettingsError {
    /// The error of a gate with [issuers whose keys can't be fetched](Verifier::unfetchable).
    ///
    /// # Errors
    ///
    /// Fails if there are such issuers.
    #[doc(hidden)] // for Orbgate's own crates
    pub fn of_issuers(verifier: &Verifier) -> Result<(), Self> {
        Self::of(Self::unfetchable(verifier).collect())
    }

    fn unfetchable(verifier: &Verifier) -> impl Iterator<Item = String> {
        verifier.unfetchable().map(|issuer| {
            format!(
                "the keys of {} can never be fetched: its tokens would all be refused. Write a `jwks_uri` that starts with \
                 `https://` or leads to this very machine, or a `jwks_file`",
                quoted(issuer)
            )
        })
    }

    fn of(diagnostics: Vec<String>) -> Result<(), Self> {
        if diagnostics.is_empty() { Ok(()) } else { Err(Self { about: "", diagnostics }) }
    }

    /// The error for issuers whose keys can't be fetched, and for secrets that haven't been read.
    pub(super) fn of_verifier(verifier: &Verifier) -> Result<(), Self> {
        let says = |source: &SecretSource| match source {
            SecretSource::Keys(_) => format!("{source} has not been read: every token of its issuer would be refused"),
            _ => format!("{source} has not been read: this gate can't ask about opaque tokens"),
        };
        let unprovable = verifier.unprovable().map(|issuer| {
            format!(
                "the tokens of {} need `proof`, and this gate passes no proofs on: it would refuse them",
                quoted(issuer)
            )
        });
        let uncertified = verifier.uncertified().map(|issuer| {
            format!(
                "the `proof` of {} names `mtls`, and this gate sees no certificate of a client: it would refuse each token that is \
                 bound to one",
                quoted(issuer)
            )
        });
        let lacks_urls = verifier.lacks_urls().then(|| "`public_urls` is missing: no proof could fit".to_owned());
        let secrets = verifier.missing_secrets().map(says);
        Self::of(
            Self::unfetchable(verifier).chain(secrets).chain(unprovable).chain(uncertified).chain(lacks_urls).collect(),
        )
    }

    /// The error for secrets that can't be read.
    #[cfg(feature = "fetch")]
    pub(crate) fn of_secrets(error: &ConfigError) -> Self {
        let diagnostics = error.diagnostics().iter();
        Self { about: "", diagnostics: diagnostics.map(ToString::to_string).collect() }
    }
}

orbgate_yaml::debug_as_display!(SettingsError);

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::FetchSettings;

    #[test]
    fn settings_that_cannot_be_are_refused_all_at_once() {
        let good = FetchSettings::DEFAULT;
        let zero = Duration::ZERO;
        let table = [
            (good, ""),
            (FetchSettings { max_stale: zero, ..good }, ""),
            // Each at its largest valid value.
            (
                FetchSettings {
                    ttl_min: good.ttl_max,
                    max_stale: Duration::from_secs(86_400),
                    cooldown: good.retry,
                    ahead_percent: 100,
                    burst: 100,
                    ..good
                },
                "",
            ),
            (FetchSettings { cooldown: zero, ..good }, "`cooldown` is 0, `retry` is longer than `cooldown`"),
            (FetchSettings { retry: zero, timeout: zero, ..good }, "`retry` is 0, `timeout` is 0"),
            (FetchSettings { ttl: zero, ..good }, "`ttl` is 0"),
            (FetchSettings { max_waiting: 1, ..good }, ""),
            (FetchSettings { max_waiting: 0, ..good }, "`max_waiting` is not 1 to 1,000,000"),
            (FetchSettings { max_waiting: 1_000_001, ..good }, "`max_waiting` is not 1 to 1,000,000"),
            (FetchSettings { ttl_min: zero, ..good }, "`ttl_min` is 0"),
            (FetchSettings { ttl_max: Duration::from_secs(59), ..good }, "`ttl_min` is longer than `ttl_max`"),
            (FetchSettings { max_stale: Duration::from_secs(86_401), ..good }, "`max_stale` is longer than a day"),
            (FetchSettings { ttl: Duration::MAX, ..good }, "`ttl` is longer than a day"),
            (
                FetchSettings { ahead_percent: 0, burst: 0, ..good },
                "`ahead_percent` is not 1 to 100, `burst` is not 1 to 100",
            ),
            (
                FetchSettings { ahead_percent: 101, burst: 101, ..good },
                "`ahead_percent` is not 1 to 100, `burst` is not 1 to 100",
            ),
        ];
        for (settings, diagnostics) in table {
            let actual = settings.check().err().map_or_else(String::new, |error| error.to_string());
            let expected = if diagnostics.is_empty() { String::new() } else { format!("fetching keys: {diagnostics}") };
            assert_eq!(actual, expected);
        }
    }

    #[test]
    fn an_issuer_says_how_long_its_keys_are_good_for_within_limits() {
        let table = [
            (None, 600),
            (Some(""), 600),
            (Some("public"), 600),
            (Some("max-age=900"), 900),
            (Some("public, Max-Age=\"900\", must-revalidate"), 900),
            (Some("max-age=1"), 60),
            (Some("max-age=99999999999"), 3600),
            (Some("max-age=-1"), 600),
            (Some("max-age=9e9"), 600),
            (Some("max-age"), 600),
            (Some("no-store"), 60),
            (Some("no-cache, max-age=900"), 60),
            (Some("max-age=900, max-age=120"), 120),
        ];
        for (cache_control, seconds) in table {
            let ttl = FetchSettings::default().ttl_of(cache_control);
            assert_eq!(ttl, Duration::from_secs(seconds), "{cache_control:?}");
        }
    }
}
