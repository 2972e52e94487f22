//! How often and how patiently keys are fetched.

use core::fmt;
use core::time::Duration;

#[cfg(feature = "fetch")]
use crate::config_error::ConfigError;
use crate::opaque::SecretSource;

/// How often and how patiently keys are fetched. The defaults suit every provider that we know of.
///
/// No time may be 0 or longer than a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// How long keys are good for where the issuer sends no usable `Cache-Control`: 600 s.
    pub ttl: Duration,
    /// The least that an issuer may say: 60 s.
    pub ttl_min: Duration,
    /// The most that an issuer may say: 3,600 s.
    pub ttl_max: Duration,
    /// After how much of that time a token starts a fetch without waiting for it, in percent: 80.
    pub ahead_percent: u8,
    /// How long keys are used beyond their time while no fresh ones can be fetched: 3,600 s. After that,
    /// every token of the issuer is refused.
    pub max_stale: Duration,
    /// The time from one attempt to the next, also where it succeeds: 30 s for each issuer. For as long, a
    /// key that the issuer did not have is not asked for again.
    pub cooldown: Duration,
    /// How many attempts tokens with unknown keys may start at once, and then in every cooldown, evenly: 4,
    /// which is one every 7.5 s. So a new key of the issuer is found soon, even while somebody keeps asking
    /// for keys that do not exist.
    pub burst: u32,
    /// The time from one attempt to the next while there are no keys, so that every token is refused: 1 s.
    pub retry: Duration,
    /// How long one attempt may take altogether: 5 s. No token waits for longer.
    pub timeout: Duration,
    /// How many tokens may wait for keys at once: 1,024. Anyone can send a token with an unknown `kid`, so a slow issuer would
    /// otherwise hold a whole server. Half as many more may wait for an introspection endpoint. Half of them may wait for `timeout`, the others for a second, and only for an issuer that
    /// didn't fail slowly before: in a second or more. Past that, a token is judged with the keys that there are.
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

    /// Checks that every setting is in range.
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
        if diagnostics.is_empty() {
            Ok(())
        } else {
            Err(SettingsError {
                about: "fetching keys: ",
                diagnostics,
            })
        }
    }

    /// How long keys are good for, from the `Cache-Control` that they came with (RFC 9111 §5.2.2).
    pub(super) fn ttl_of(&self, cache_control: Option<&str>) -> Duration {
        let directives = cache_control.unwrap_or_default().split(',');
        let mut ttl = None;
        for directive in directives {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            let said = match name.trim().to_ascii_lowercase().as_str() {
                "no-store" | "no-cache" => Some(Duration::ZERO),
                "max-age" => value
                    .trim()
                    .trim_matches('"')
                    .parse()
                    .ok()
                    .map(Duration::from_secs),
                _ => None,
            };
            // If there are several, the shortest counts.
            ttl = [ttl, said].into_iter().flatten().min();
        }
        ttl.unwrap_or(self.ttl).min(self.ttl_max).max(self.ttl_min)
    }
}

/// Settings that are out of range, or secrets that are missing: every error in them.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// What the settings are for; a secret names its own key.
    about: &'static str,
    diagnostics: Vec<String>,
}

impl SettingsError {
    /// The error for secrets that haven't been read.
    pub(super) fn of_missing<'s>(
        missing: impl Iterator<Item = &'s SecretSource>,
    ) -> Result<(), Self> {
        let says =
            |source| format!("{source} has not been read: this gate can't ask about opaque tokens");
        let diagnostics: Vec<String> = missing.map(says).collect();
        match diagnostics.is_empty() {
            true => Ok(()),
            false => Err(Self {
                about: "",
                diagnostics,
            }),
        }
    }

    /// The error for secrets that can't be read.
    #[cfg(feature = "fetch")]
    pub(crate) fn of_secrets(error: &ConfigError) -> Self {
        let diagnostics = error.diagnostics().iter();
        Self {
            about: "",
            diagnostics: diagnostics.map(ToString::to_string).collect(),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.about, self.diagnostics.join(", "))
    }
}

/// As `Display`: `main` shows it so, and `unwrap`.
impl fmt::Debug for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for SettingsError {}

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
            (
                FetchSettings {
                    max_stale: zero,
                    ..good
                },
                "",
            ),
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
            (
                FetchSettings {
                    cooldown: zero,
                    ..good
                },
                "`cooldown` is 0, `retry` is longer than `cooldown`",
            ),
            (
                FetchSettings {
                    retry: zero,
                    timeout: zero,
                    ..good
                },
                "`retry` is 0, `timeout` is 0",
            ),
            (FetchSettings { ttl: zero, ..good }, "`ttl` is 0"),
            (
                FetchSettings {
                    max_waiting: 1,
                    ..good
                },
                "",
            ),
            (
                FetchSettings {
                    max_waiting: 0,
                    ..good
                },
                "`max_waiting` is not 1 to 1,000,000",
            ),
            (
                FetchSettings {
                    max_waiting: 1_000_001,
                    ..good
                },
                "`max_waiting` is not 1 to 1,000,000",
            ),
            (
                FetchSettings {
                    ttl_min: zero,
                    ..good
                },
                "`ttl_min` is 0",
            ),
            (
                FetchSettings {
                    ttl_max: Duration::from_secs(59),
                    ..good
                },
                "`ttl_min` is longer than `ttl_max`",
            ),
            (
                FetchSettings {
                    max_stale: Duration::from_secs(86_401),
                    ..good
                },
                "`max_stale` is longer than a day",
            ),
            (
                FetchSettings {
                    ttl: Duration::MAX,
                    ..good
                },
                "`ttl` is longer than a day",
            ),
            (
                FetchSettings {
                    ahead_percent: 0,
                    burst: 0,
                    ..good
                },
                "`ahead_percent` is not 1 to 100, `burst` is not 1 to 100",
            ),
            (
                FetchSettings {
                    ahead_percent: 101,
                    burst: 101,
                    ..good
                },
                "`ahead_percent` is not 1 to 100, `burst` is not 1 to 100",
            ),
        ];
        for (settings, diagnostics) in table {
            let said = settings
                .check()
                .err()
                .map_or_else(String::new, |error| error.to_string());
            let expected = if diagnostics.is_empty() {
                String::new()
            } else {
                format!("fetching keys: {diagnostics}")
            };
            assert_eq!(said, expected);
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
        for (said, seconds) in table {
            let ttl = FetchSettings::default().ttl_of(said);
            assert_eq!(ttl, Duration::from_secs(seconds), "{said:?}");
        }
    }
}
