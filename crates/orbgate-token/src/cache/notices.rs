//! What operators should know of issuers, once for each change.

use core::time::Duration;
use std::sync::{MutexGuard, PoisonError};

use orbgate_yaml::quoted;

use super::KeyCache;
use super::snapshot::Noticed;

impl KeyCache {
    /// What has changed since the last call, one sentence each, to log: issuers that can't be fetched or asked, or can be again,
    /// and keys that were left out of a set. Call it at startup, and after each [`KeyCache::fetched`] that returns `None`.
    ///
    /// It quotes only names of issuers. Callers with invented tokens can make an introspection endpoint fail again and again,
    /// which is a notice at most once in every [`cooldown`](crate::FetchSettings::cooldown).
    pub fn notices(&self, now: Duration) -> Vec<String> {
        let mut notices = Vec::new();
        let mut noticed = self.noticed();
        for (status, known) in self.status().into_iter().zip(noticed.iter_mut()) {
            let (issuer, keys) = (quoted(&status.issuer), status.keys);
            let is_early = known.at.is_some_and(|at| now.saturating_sub(at) < self.settings.cooldown);
            if status.failure != known.failure && !(status.is_opaque && is_early) {
                notices.push(match (&status.failure, status.is_opaque) {
                    (Some(failure), true) => format!("opaque tokens of {issuer} cannot be asked about: {failure}"),
                    (None, true) => format!("opaque tokens of {issuer} are asked about again"),
                    (Some(failure), false) => format!("keys of {issuer} cannot be fetched, it has {keys}: {failure}"),
                    (None, false) => format!("keys of {issuer} are fetched again, it has {keys}"),
                });
                (known.failure, known.at) = (status.failure, Some(now));
            }
            if status.warnings != known.warnings {
                notices.extend(status.warnings.iter().map(|warning| format!("of the keys of {issuer}, {warning}")));
                known.warnings = status.warnings;
            }
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
    use crate::{SecretSource, Verifier};

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
            cache.notices(at(second)).join("\n")
        };
        assert_eq!(
            fetched(0, Err(FetchError::Timeout)),
            "keys of `https://a.example.com` cannot be fetched, it has 0: the issuer took too long to respond"
        );
        assert_eq!(fetched(1, Err(FetchError::Timeout)), "");
        assert_eq!(
            fetched(2, ok(include_bytes!("../../testdata/jwks.json"))),
            "keys of `https://a.example.com` are fetched again, it has 1"
        );
        let one = br#"{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"EC","crv":"P-256","kid":"1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
        let left_out = "of the keys of `https://a.example.com`, key 0 is left out: a secret";
        assert!(fetched(900, ok(one)).starts_with(left_out));
        assert_eq!(fetched(1800, ok(one)), "");
        // The next configuration's cache knows what was said.
        let next = KeyCache::new(verifier, FetchSettings::DEFAULT).unwrap().taking_over(&cache);
        assert!(next.notices(at(1800)).is_empty());
        let mut number = 0;
        let mut asked = |second, result| {
            number += 1;
            let now = super::super::Now { time: std::time::UNIX_EPOCH, monotonic: at(second) };
            let _ = cache.judge(format!("opaque-{number}"), &mut cache.ask(at(second)), now);
            let fetch = cache.next_fetch(at(second)).unwrap();
            assert!(cache.fetched(fetch.attempt, result, at(second)).is_none());
            cache.notices(at(second)).join("\n")
        };
        let page = "opaque tokens of `https://b.example.com` cannot be asked about: the issuer's response is not a JSON object";
        assert_eq!(asked(1801, ok(b"<html>")), page);
        // Anyone can make it fail again and again.
        assert_eq!(asked(1802, ok(b"{}")), "");
        assert_eq!(asked(1803, ok(b"<html>")), "");
        assert_eq!(asked(1831, ok(b"{}")), "opaque tokens of `https://b.example.com` are asked about again");
    }
}
