//! Why a token is rejected.

use core::fmt;

orbgate::codes! {
    /// Why a token is rejected. Write it to an audit log, but don't send it to callers.
    ///
    /// A reason names the broken rule and quotes nothing from the token, so you can log it unchanged. Strings
    /// are frozen: a later release can add one, but never renames or removes one.
    #[non_exhaustive]
    pub enum TokenError {
        TooLong: "too_long", "the token has more bytes than `max_token_bytes`";
        /// A part is empty (RFC 7515 §7.1), or there aren't three. Encrypted tokens also give this
        /// error.
        NotCompact: "not_compact", "the token is not a compact JWS: three parts between dots";
        /// Or the encoding isn't the one accepted spelling.
        BadEncoding: "bad_encoding", "a part of the token is not base64url without padding";
        /// It isn't a JSON object, or one of its members has the wrong type.
        BadHeader: "bad_header", "the token's header is not valid (RFC 7515)";
        BadClaims: "bad_claims", "the token's claims are not a JSON object";
        /// In any object of the token, at any depth.
        DuplicateMember: "duplicate_member", "the token names a member twice";
        /// Extensions change the meaning of a token.
        Extension: "extension", "the token's header has `crit`, `b64`, `zip` or `enc`";
        /// `none` is never accepted.
        Algorithm: "algorithm", "the token's algorithm is not allowed for its issuer";
        /// The configuration also doesn't add the header's `typ`.
        Type: "type", "the token's type is not that of an access token";
        Issuer: "issuer", "the token's issuer is not configured";
        /// They might not have been fetched yet.
        NoKeys: "no_keys", "there are no keys of the token's issuer";
        KeyIdMissing: "key_id_missing", "the token names no key, and its issuer does not have exactly one that fits";
        /// After a key rotation, a new fetch might return it.
        KeyUnknown: "key_unknown", "the token names a key that its issuer does not have";
        KeyAmbiguous: "key_ambiguous", "the token names a key that its issuer has twice";
        /// See [`Keys::revoke`](crate::Keys::revoke).
        KeyRevoked: "key_revoked", "the token names a key that is revoked";
        KeyMismatch: "key_mismatch", "the token's key is not for its algorithm";
        Signature: "signature", "the token's signature is wrong";
        /// Or it has no audience.
        Audience: "audience", "the token is for another audience";
        /// One of `exp`, `nbf` and `iat`.
        BadTime: "bad_time", "a time in the token is missing or invalid";
        Expired: "expired", "the token has expired";
        /// According to `nbf` or `iat`.
        NotYetValid: "not_yet_valid", "the token is not valid yet";
        /// See the issuer's `max_lifetime`.
        Lifetime: "lifetime", "the token is valid for longer than its issuer's `max_lifetime_seconds`";
        /// A claim that the configuration requires, or one that is recorded in audits.
        Claim: "claim", "a claim of the token is missing or has a wrong value";
        /// The claim has the wrong type, a character or separator that RFC 6749 §3.3 forbids, more than 256 scopes or
        /// more than 4,096 bytes. Or the token has both `scope` and `scp`.
        Scopes: "scopes", "the token's scopes do not have the configured format";
        /// It has `cnf`. A client that only presents a bearer token can't prove that it has the key.
        Bound: "bound", "the token is bound to a key of its holder";
        /// Its issuer's [`proof`](crate::Issuer::proof) requires that each token is.
        Unbound: "unbound", "the token is bound to no key, and its issuer's `proof` requires one";
        /// No member of `cnf` may be one that isn't proved.
        Confirmation: "confirmation", "the token's `cnf` is malformed, or has a member that its issuer's `proof` doesn't name";
        /// RFC 9449 §7.1: whoever ignores proofs would take a bound token for a plain one.
        Scheme: "scheme", "the token is bound to a key and was sent as `Bearer`, or it is not and was sent as `DPoP`";
        /// RFC 8705 §3.
        Certificate: "certificate", "the connection has not the certificate that the token is bound to";
        ProofMissing: "proof_missing", "the request has no DPoP proof, or several";
        ProofForm: "proof_form", "the proof is not a compact JWS of at most 8,192 bytes with a key in its header";
        ProofBinding: "proof_binding", "the proof's key is not the one that the token is bound to";
        ProofKey: "proof_key", "the proof's key is private, malformed or weak, or is not for its algorithm";
        ProofType: "proof_type", "the proof's type is not `dpop+jwt`, or its header has an extension";
        ProofAlgorithm: "proof_algorithm", "the proof's algorithm is not among those of its issuer's `proof_algorithms`";
        ProofMethod: "proof_method", "the proof is for another method";
        ProofUrl: "proof_url", "the proof is for a URL that `public_urls` and the request's target don't make";
        ProofTime: "proof_time", "the proof is too old, or from the future";
        ProofId: "proof_id", "the proof has no id of at most 256 bytes";
        ProofToken: "proof_token", "the proof is for another token";
        ProofSignature: "proof_signature", "the proof's signature is wrong";
        ProofReplayed: "proof_replayed", "the proof was used before";
        /// Of its key, of its token's subject or client, or of all. See [`Replays`](crate::Replays).
        ProofsFull: "proofs_full", "there is no room to remember that the proof was used";
        /// The issuer's introspection endpoint didn't return `"active": true`.
        Inactive: "inactive", "the token is not active";
        /// It failed, took too long, or too many tokens were waiting for it. Nothing is known of the token.
        Unanswered: "unanswered", "the issuer's introspection endpoint gave no usable answer";
        Clock: "clock", "the clock is before 1970";
        /// By the issuer's rules, it matches neither kind, or both. The token itself is valid.
        UnknownKind: "unknown_kind", "the token is neither a user's nor an organisation's";
    }
}

impl TokenError {
    /// Whether the token itself is valid, and what is missing or wrong is the proof that its sender is its holder.
    #[must_use]
    pub const fn is_of_proof(self) -> bool {
        matches!(
            self,
            Self::Unbound
                | Self::Scheme
                | Self::Certificate
                | Self::ProofMissing
                | Self::ProofForm
                | Self::ProofBinding
                | Self::ProofKey
                | Self::ProofType
                | Self::ProofAlgorithm
                | Self::ProofMethod
                | Self::ProofUrl
                | Self::ProofTime
                | Self::ProofId
                | Self::ProofToken
                | Self::ProofSignature
                | Self::ProofReplayed
                | Self::ProofsFull
        )
    }
}

impl TokenError {
    /// Whether the proof itself is wrong, which a challenge calls `invalid_dpop_proof` (RFC 9449 §7).
    #[must_use]
    pub const fn is_of_dpop_proof(self) -> bool {
        self.is_of_proof() && !matches!(self, Self::Unbound | Self::Scheme | Self::Certificate | Self::ProofBinding)
    }

    /// The error with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.as_str() == code)
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
    fn the_page_has_the_codes() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/codes.md");
        let rows = TokenError::ALL.map(|error| format!("| `{}` | {error} |\n", error.as_str()));
        let table = format!("| code | meaning |\n|---|---|\n{}", rows.concat());
        orbgate_testing::expected::keep_part(page, "tokens", &table);
    }

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
             not_yet_valid lifetime claim scopes bound unbound confirmation scheme certificate proof_missing \
             proof_form proof_binding proof_key proof_type proof_algorithm proof_method proof_url proof_time proof_id \
             proof_token proof_signature proof_replayed proofs_full inactive unanswered clock unknown_kind"
        );
    }
}
