//! What operators should know of issuers, once for each change.

use core::fmt;
use core::time::Duration;
use std::sync::{MutexGuard, PoisonError};

use orbgate_yaml::quoted;

use super::KeyCache;
use super::snapshot::Noticed;

/// What operators should know of an issuer or of proofs, to log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// How bad it is.
    pub level: NoticeLevel,
    /// One sentence, without its end. It quotes only names of issuers.
    pub text: String,
}

/// How bad a [`Notice`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeLevel {
    /// Tokens are accepted again.
    Info,
    /// Tokens are still accepted, but some keys are left out, or those that are there aren't renewed.
    Warning,
    /// No token of the issuer is accepted.
    Error,
}

impl NoticeLevel {
    /// `info`, `warning` or `error`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl KeyCache {
    /// What has changed since the last call, to log: issuers that can't be fetched or asked, or can be again, keys that were left
    /// out of a set, and how many proofs were refused for want of [room](crate::Replays). Call it at startup, and after each [`KeyCache::fetched`] that returns `None`.
    ///
    /// Callers with invented tokens can make an introspection endpoint fail again and again, which is a notice at most once in
    /// every [`cooldown`](crate::FetchSettings::cooldown). A failure that may be due to one token is a warning.
    pub fn notices(&self, now: Duration) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut noticed = self.noticed();
        for (status, known) in self.status().into_iter().zip(noticed.iter_mut()) {
            let (issuer, keys) = (quoted(&status.issuer), status.keys);
            let is_early = known.at.is_some_and(|at| now.saturating_sub(at) < self.settings.cooldown);
            if status.failure != known.failure && !(status.is_opaque && is_early) {
                let text = match (&status.failure, status.is_opaque) {
                    (Some(failure), true) => format!("opaque tokens of {issuer} cannot be asked about: {failure}"),
                    (None, true) => format!("opaque tokens of {issuer} are asked about again"),
                    (Some(failure), false) => format!("keys of {issuer} cannot be fetched, it has {keys}: {failure}"),
                    (None, false) => format!("keys of {issuer} are fetched again, it has {keys}"),
                };
                let level = match &status.failure {
                    None => NoticeLevel::Info,
                    Some(failure) if status.is_opaque && failure.is_of_token() || keys > 0 => NoticeLevel::Warning,
                    Some(_) => NoticeLevel::Error,
                };
                notices.push(Notice { level, text });
                (known.failure, known.at) = (status.failure, Some(now));
            }
            if status.warnings != known.warnings {
                let left_out = |warning| format!("of the keys of {issuer}, {warning}");
                let left_out = status.warnings.iter().map(left_out);
                notices.extend(left_out.map(|text| Notice { level: NoticeLevel::Warning, text }));
                known.warnings = status.warnings;
            }
        }
        let refused = self.replays.newly_refused();
        if refused > 0 {
            let text = format!(
                "{refused} DPoP proofs were refused (`proofs_full`), because their key, subject or client had its share of the \
                 memory of used proofs"
            );
            notices.push(Notice { level: NoticeLevel::Warning, text });
        }
        notices
    }

    /// A thread that panicked has left it whole: each change is one assignment.
    pub(super) fn noticed(&self) -> MutexGuard<'_, Vec<Noticed>> {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::{FetchError, FetchSettings, KeyCache, Response};
    use super::Notice;
    use crate::{SecretSource, Verifier};

    /// A line for each notice.
    fn lines(notices: &[Notice]) -> String {
        let lines = notices.iter().map(|notice| format!("{}: {notice}", notice.level.as_str()));
        lines.collect::<Vec<_>>().join("\n")
    }

    const TOKENS: &str = "orbgate_token: 1\nissuers:\n  - { issuer: https://a.example.com, audience: x, kind: user, jwks_uri: https://a.example.com/jwks }\n  \
        - { issuer: https://b.example.com, audience: x, kind: user, opaque: { endpoint: https://b.example.com/ask, client_id: c, client_secret_env: S } }\n";

    fn ok(body: &[u8]) -> Result<Response<'_>, FetchError> {
        Ok(Response { status: 200, cache_control: None, body })
    }

    #[test]
    fn each_change_is_said_once() {
        let verifier = Verifier::from_yaml(TOKENS).unwrap();
        let verifier = verifier.with_secrets(|_: &SecretSource| Ok(b"secret".to_vec())).unwrap();
        let cache = KeyCache::new(verifier.clone(), FetchSettings::DEFAULT).unwrap();
        let at = Duration::from_secs;
        assert!(cache.notices(at(0)).is_empty());
        let fetched = |second, result| {
            cache.warm(at(second));
            let fetch = cache.next_fetch(at(second)).unwrap();
            assert!(cache.fetched(fetch.attempt, result, at(second)).is_none());
            lines(&cache.notices(at(second)))
        };
        assert_eq!(
            fetched(0, Err(FetchError::Timeout)),
            "error: keys of `https://a.example.com` cannot be fetched, it has 0: the issuer took too long to respond"
        );
        assert_eq!(fetched(1, Err(FetchError::Timeout)), "");
        assert_eq!(
            fetched(2, ok(include_bytes!("../../testdata/jwks.json"))),
            "info: keys of `https://a.example.com` are fetched again, it has 1"
        );
        let one = br#"{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"EC","crv":"P-256","kid":"1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
        let left_out = "warning: of the keys of `https://a.example.com`, key 0 is left out: a secret";
        assert!(fetched(900, ok(one)).starts_with(left_out));
        assert_eq!(fetched(1800, ok(one)), "");
        let kept =
            "warning: keys of `https://a.example.com` cannot be fetched, it has 1: the issuer took too long to respond";
        assert_eq!(fetched(2700, Err(FetchError::Timeout)), kept);
        // The next configuration's cache knows what was said.
        let next = KeyCache::new(verifier, FetchSettings::DEFAULT).unwrap().taking_over(&cache);
        assert!(next.notices(at(2700)).is_empty());
        let mut number = 0;
        let mut answered = |second, result| {
            number += 1;
            let now = super::super::Now { time: std::time::UNIX_EPOCH, monotonic: at(second) };
            let _ = cache.judge(format!("opaque-{number}"), &mut cache.ask(at(second)), now);
            let fetch = cache.next_fetch(at(second)).unwrap();
            assert!(cache.fetched(fetch.attempt, result, at(second)).is_none());
            lines(&cache.notices(at(second)))
        };
        let page = "warning: opaque tokens of `https://b.example.com` cannot be asked about: the issuer's response is not a JSON object";
        assert_eq!(answered(2701, ok(b"<html>")), page);
        // Anyone can make it fail again and again.
        assert_eq!(answered(2702, ok(b"{}")), "");
        assert_eq!(answered(2703, ok(b"<html>")), "");
        assert_eq!(answered(2731, ok(b"{}")), "info: opaque tokens of `https://b.example.com` are asked about again");
        let down = "error: opaque tokens of `https://b.example.com` cannot be asked about: the issuer responded with status 503";
        assert_eq!(answered(2762, Ok(Response { status: 503, cache_control: None, body: b"" })), down);
    }
}
