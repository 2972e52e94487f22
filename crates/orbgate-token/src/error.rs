//! Why a token is refused.

use core::fmt;

/// Why a token is refused, for an audit log; the caller of a service learns none of it.
///
/// A reason says which rule was broken and never what the token says, so it can be logged as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenError {
    /// The token has more than 8,192 bytes.
    TooLong,
    /// Not three parts separated by dots, none of them empty (RFC 7515 §7.1): also every encrypted token.
    NotCompact,
    /// A part is not base64url without padding, in its one spelling.
    BadEncoding,
    /// The header is not a JSON object, or a member of it has the wrong type.
    BadHeader,
    /// The claims are not a JSON object.
    BadClaims,
    /// An object within the token names a member twice.
    DuplicateMember,
    /// The header has `crit`, `b64`, `zip` or `enc`: extensions that change what the token means.
    Extension,
    /// The issuer is not configured for the header's `alg`; `none` never is.
    Algorithm,
    /// The header's `typ` is not that of an access token, nor one that the configuration adds.
    Type,
    /// The token is from no configured issuer.
    Issuer,
    /// There are no keys of this issuer (yet).
    NoKeys,
    /// The header has no `kid`, and not exactly one key fits.
    KeyIdMissing,
    /// No key has the header's `kid`: after a rotation, fresh keys may have it.
    KeyUnknown,
    /// Several keys have the header's `kid`.
    KeyAmbiguous,
    /// The key is revoked: see [`Keys::revoke`](crate::Keys::revoke).
    KeyRevoked,
    /// The key is not for the header's `alg`.
    KeyMismatch,
    /// The signature is wrong.
    Signature,
    /// The audience is missing, or this service is not in it.
    Audience,
    /// `exp`, `nbf` or `iat` is missing where it is required, or not a time.
    BadTime,
    /// The token has expired.
    Expired,
    /// The token is not valid yet, by `nbf` or `iat`.
    NotYetValid,
    /// The token is valid for longer than the issuer's `max_lifetime`.
    Lifetime,
    /// A claim that the configuration requires is missing, or a claim for the audit has the wrong type.
    Claim,
    /// The scope claim has the wrong type, a character or separator that RFC 6749 §3.3 does not
    /// allow, more than 256 scopes or 4,096 bytes; or both `scope` and `scp` are there.
    Scopes,
    /// The token is bound to its holder's key (`cnf`), which a plain bearer cannot prove to have.
    Bound,
    /// The issuer's introspection endpoint says that the token is not active, or does not say that it is.
    Inactive,
    /// The clock is before 1970.
    Clock,
}

impl TokenError {
    /// Every reason.
    pub const ALL: [Self; 27] = [
        Self::TooLong,
        Self::NotCompact,
        Self::BadEncoding,
        Self::BadHeader,
        Self::BadClaims,
        Self::DuplicateMember,
        Self::Extension,
        Self::Algorithm,
        Self::Type,
        Self::Issuer,
        Self::NoKeys,
        Self::KeyIdMissing,
        Self::KeyUnknown,
        Self::KeyAmbiguous,
        Self::KeyRevoked,
        Self::KeyMismatch,
        Self::Signature,
        Self::Audience,
        Self::BadTime,
        Self::Expired,
        Self::NotYetValid,
        Self::Lifetime,
        Self::Claim,
        Self::Scopes,
        Self::Bound,
        Self::Inactive,
        Self::Clock,
    ];

    /// The reason's code: frozen, for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::NotCompact => "not_compact",
            Self::BadEncoding => "bad_encoding",
            Self::BadHeader => "bad_header",
            Self::BadClaims => "bad_claims",
            Self::DuplicateMember => "duplicate_member",
            Self::Extension => "extension",
            Self::Algorithm => "algorithm",
            Self::Type => "type",
            Self::Issuer => "issuer",
            Self::NoKeys => "no_keys",
            Self::KeyIdMissing => "key_id_missing",
            Self::KeyUnknown => "key_unknown",
            Self::KeyAmbiguous => "key_ambiguous",
            Self::KeyRevoked => "key_revoked",
            Self::KeyMismatch => "key_mismatch",
            Self::Signature => "signature",
            Self::Audience => "audience",
            Self::BadTime => "bad_time",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::Lifetime => "lifetime",
            Self::Claim => "claim",
            Self::Scopes => "scopes",
            Self::Bound => "bound",
            Self::Inactive => "inactive",
            Self::Clock => "clock",
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::TooLong => "the token has more than 8192 bytes",
            Self::NotCompact => "the token is not a compact JWS: three parts between dots",
            Self::BadEncoding => "a part of the token is not base64url without padding",
            Self::BadHeader => "the token's header is not what RFC 7515 says",
            Self::BadClaims => "the token's claims are not a JSON object",
            Self::DuplicateMember => "the token names a member twice",
            Self::Extension => "the token's header has `crit`, `b64`, `zip` or `enc`",
            Self::Algorithm => "the token's algorithm is not one of its issuer's",
            Self::Type => "the token's type is not that of an access token",
            Self::Issuer => "the token is from no configured issuer",
            Self::NoKeys => "there are no keys of the token's issuer",
            Self::KeyIdMissing => "the token names no key, and not exactly one key fits",
            Self::KeyUnknown => "the token names a key that its issuer does not have",
            Self::KeyAmbiguous => "the token names a key that its issuer has twice",
            Self::KeyRevoked => "the token names a key that is revoked",
            Self::KeyMismatch => "the token's key is not for its algorithm",
            Self::Signature => "the token's signature is wrong",
            Self::Audience => "the token is for another audience",
            Self::BadTime => "a time in the token is missing or not a time",
            Self::Expired => "the token has expired",
            Self::NotYetValid => "the token is not valid yet",
            Self::Lifetime => "the token is valid for longer than its issuer may say",
            Self::Claim => "a claim of the token is missing or of the wrong type",
            Self::Scopes => "the token's scopes are not written as configured",
            Self::Bound => "the token is bound to a key of its holder",
            Self::Inactive => "the token is not active",
            Self::Clock => "the clock is before 1970",
        }
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for TokenError {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::TokenError;

    #[test]
    fn each_reason_has_words_of_its_own() {
        let words: HashSet<_> = TokenError::ALL.map(|error| error.to_string()).into();
        assert_eq!(words.len(), TokenError::ALL.len());
        assert!(words.iter().all(|words| words.contains(' ')), "{words:?}");
    }

    #[test]
    fn codes_are_distinct_and_frozen() {
        let codes: Vec<_> = TokenError::ALL.iter().map(|error| error.as_str()).collect();
        assert_eq!(
            codes.join(" "),
            "too_long not_compact bad_encoding bad_header bad_claims duplicate_member extension algorithm type issuer \
             no_keys key_id_missing key_unknown key_ambiguous key_revoked key_mismatch signature audience bad_time expired \
             not_yet_valid lifetime claim scopes bound inactive clock"
        );
    }
}
