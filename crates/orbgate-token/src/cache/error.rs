//! Why keys could not be fetched.

use core::fmt;

use crate::keys::KeySetError;

/// Why keys could not be fetched. It quotes nothing of what was received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FetchError {
    /// The issuer is not a URL that keys may be fetched from: `https`, or a loopback address.
    BadUrl,
    /// No connection, an untrusted certificate, or an answer that is not HTTP or broke off.
    Unreachable,
    /// Any answer but 200; redirects are not followed.
    Status(u16),
    /// The answer has more than 256 KiB.
    TooLarge,
    /// It took too long altogether.
    Timeout,
    /// The discovery document is not a JSON object with `issuer` and `jwks_uri`.
    BadDiscovery,
    /// The discovery document is of another issuer.
    WrongIssuer,
    /// The fetched document is not a usable key set.
    KeySet(KeySetError),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadUrl => "keys are fetched over https or from this very machine only",
            Self::Unreachable => "the issuer cannot be reached, or is not trusted",
            Self::Status(status) => return write!(f, "the issuer answered {status}"),
            Self::TooLarge => "the issuer's answer has more than 262144 bytes",
            Self::Timeout => "the issuer took too long",
            Self::BadDiscovery => "the issuer's discovery document is not what OpenID Connect says",
            Self::WrongIssuer => "the discovery document is of another issuer",
            Self::KeySet(error) => return fmt::Display::fmt(error, f),
        })
    }
}

impl core::error::Error for FetchError {}

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
            FetchError::WrongIssuer,
        ];
        let words: HashSet<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), all.len());
        assert!(words.iter().all(|words| words.contains(' ')), "{words:?}");
    }
}
