//! Why a token is refused.

use core::fmt;

orbgate::codes! {
    /// Why a token is refused, for an audit log; the caller of a service learns none of it.
    ///
    /// A reason names the broken rule and quotes nothing of the token, so it can be logged as it is. Strings are
    /// frozen: a later release may add one, never rename or remove one.
    #[non_exhaustive]
    pub enum TokenError {
        TooLong: "too_long", "the token has more than 8192 bytes";
        /// None of the parts may be empty (RFC 7515 §7.1). This is also every encrypted token.
        NotCompact: "not_compact", "the token is not a compact JWS: three parts between dots";
        /// Or not in its one spelling.
        BadEncoding: "bad_encoding", "a part of the token is not base64url without padding";
        /// It is not a JSON object, or a member of it has the wrong type.
        BadHeader: "bad_header", "the token's header is not what RFC 7515 says";
        BadClaims: "bad_claims", "the token's claims are not a JSON object";
        /// In any object within it.
        DuplicateMember: "duplicate_member", "the token names a member twice";
        /// Extensions change what the token means.
        Extension: "extension", "the token's header has `crit`, `b64`, `zip` or `enc`";
        /// `none` never is.
        Algorithm: "algorithm", "the token's algorithm is not one of its issuer's";
        /// Nor is the header's `typ` one that the configuration adds.
        Type: "type", "the token's type is not that of an access token";
        Issuer: "issuer", "the token is from no configured issuer";
        /// They may not have been fetched yet.
        NoKeys: "no_keys", "there are no keys of the token's issuer";
        KeyIdMissing: "key_id_missing", "the token names no key, and not exactly one key fits";
        /// After a rotation, fresh keys may have it.
        KeyUnknown: "key_unknown", "the token names a key that its issuer does not have";
        KeyAmbiguous: "key_ambiguous", "the token names a key that its issuer has twice";
        /// See [`Keys::revoke`](crate::Keys::revoke).
        KeyRevoked: "key_revoked", "the token names a key that is revoked";
        KeyMismatch: "key_mismatch", "the token's key is not for its algorithm";
        Signature: "signature", "the token's signature is wrong";
        /// Or for none.
        Audience: "audience", "the token is for another audience";
        /// One of `exp`, `nbf` and `iat`.
        BadTime: "bad_time", "a time in the token is missing or not a time";
        Expired: "expired", "the token has expired";
        /// By `nbf` or `iat`.
        NotYetValid: "not_yet_valid", "the token is not valid yet";
        /// See the issuer's `max_lifetime`.
        Lifetime: "lifetime", "the token is valid for longer than its issuer may say";
        /// One that the configuration requires, or one for the audit.
        Claim: "claim", "a claim of the token is missing or not what it must be";
        /// The claim has the wrong type, a character or separator that RFC 6749 §3.3 does not allow, more than 256 scopes or 4,096
        /// bytes; or both `scope` and `scp` are there.
        Scopes: "scopes", "the token's scopes are not written as configured";
        /// By `cnf`: a plain bearer cannot prove to have that key.
        Bound: "bound", "the token is bound to a key of its holder";
        /// The issuer's introspection endpoint says so, or does not say that it is.
        Inactive: "inactive", "the token is not active";
        Clock: "clock", "the clock is before 1970";
        /// By the issuer's rules: neither a user's nor an organisation's, or both. The token itself is right.
        UnknownKind: "unknown_kind", "the token is neither a user's nor an organisation's";
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.explanation())
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
             not_yet_valid lifetime claim scopes bound inactive clock unknown_kind"
        );
    }
}
