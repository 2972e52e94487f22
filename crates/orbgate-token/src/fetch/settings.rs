//! How often and how patiently keys are fetched.

use core::time::Duration;

/// How often and how patiently keys are fetched. The defaults suit every provider that we know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// How long keys are good for where the issuer's `Cache-Control` says nothing: 600 s.
    pub ttl: Duration,
    /// The least that an issuer may say: 60 s.
    pub ttl_min: Duration,
    /// The most that an issuer may say: 3,600 s.
    pub ttl_max: Duration,
    /// How long keys are used beyond that while fresh ones cannot be had: 3,600 s. Then every token of
    /// the issuer is refused.
    pub max_stale: Duration,
    /// The least time from one attempt to the next, whatever tokens ask for and whether it succeeds:
    /// 30 s for each issuer.
    pub cooldown: Duration,
    /// How long one attempt may take altogether: 5 s.
    pub timeout: Duration,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(600),
            ttl_min: Duration::from_secs(60),
            ttl_max: Duration::from_secs(3600),
            max_stale: Duration::from_secs(3600),
            cooldown: Duration::from_secs(30),
            timeout: Duration::from_secs(5),
        }
    }
}

impl FetchSettings {
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
            // Of several, the shortest.
            ttl = [ttl, said].into_iter().flatten().min();
        }
        ttl.unwrap_or(self.ttl).min(self.ttl_max).max(self.ttl_min)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::FetchSettings;

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
