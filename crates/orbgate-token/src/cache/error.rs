//! Why keys can't be fetched.

use orbgate_yaml::quoted;

use crate::keys::KeySetError;

/// Why keys can't be fetched. Of the response, it quotes only the name of another issuer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is neither `https` nor a loopback address.
    #[error("only a URL with https or of this machine is fetched")]
    BadUrl,
    /// There is no connection, the certificate isn't trusted, or the response isn't HTTP or is incomplete.
    #[error("the issuer cannot be reached, or is not trusted")]
    Unreachable,
    /// The same, with the cause, from a `KeyFetcher`.
    #[error("the issuer cannot be reached, or is not trusted: {}", quoted(.0))]
    Unconnected(Box<str>),
    /// The status of the response isn't 200. Redirects aren't followed.
    #[error(
        "the issuer responded with status {0}{end}",
        end = if matches!(.0, 300..=399) { ", and redirects are not followed" } else { "" }
    )]
    Status(u16),
    /// The body is larger than 256 KiB.
    #[error("the issuer's response has more than 262144 bytes")]
    TooLarge,
    /// The attempt exceeded its time limit.
    #[error("the issuer took too long to respond")]
    Timeout,
    /// The discovery document isn't a JSON object with `issuer` and `jwks_uri`.
    #[error("the issuer's discovery document is not a JSON object with `issuer` and `jwks_uri`")]
    BadDiscovery,
    /// The discovery document belongs to this other issuer.
    #[error("the discovery document belongs to another issuer, {}", quoted(.0))]
    WrongIssuer(Box<str>),
    /// The introspection endpoint's response isn't a JSON object.
    #[error("the issuer's response is not a JSON object")]
    NotJson,
    /// The fetched document isn't a usable key set.
    #[error(transparent)]
    KeySet(KeySetError),
}

impl FetchError {
    /// Whether the failure of an introspection may be due to what a token is like. Then it doesn't count for other tokens, because
    /// any caller can invent one, and have a firewall answer it with a page.
    #[must_use]
    pub const fn is_of_token(&self) -> bool {
        matches!(self, Self::TooLarge | Self::NotJson | Self::Status(400 | 413 | 414 | 422 | 431))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::FetchError;

    #[test]
    fn each_failure_has_words_of_its_own() {
        let all = [
            FetchError::BadUrl,
            FetchError::Unreachable,
            FetchError::Status(503),
            FetchError::Status(301),
            FetchError::TooLarge,
            FetchError::Timeout,
            FetchError::BadDiscovery,
            FetchError::Unconnected("connection refused".into()),
            FetchError::WrongIssuer("https://b.example.com".into()),
            FetchError::NotJson,
        ];
        let words: HashSet<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), all.len());
        assert!(words.iter().all(|words| words.contains(' ')), "{words:?}");
        // They are also the errors of an introspection endpoint, which has no keys.
        assert!(!words.iter().any(|words| words.contains("keys")), "{words:?}");
    }
}
