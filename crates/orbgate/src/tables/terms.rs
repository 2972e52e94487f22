//! Terms that policies, engines and decisions share.

use core::fmt;
use std::borrow::Cow;

use crate::codes;

/// The maximum length of a target, including its query, and of a template, in bytes (rule P2).
pub(crate) const MAX_TARGET_BYTES: usize = 8_192;

/// The maximum number of segments of a path and of a template (rule P2).
pub(crate) const MAX_SEGMENTS: usize = 32;

/// The maximum length of a segment of a target or template, in bytes, before decoding (rule P2).
pub(crate) const MAX_SEGMENT_BYTES: usize = 256;

/// Whether this is a valid method: 1 to 16 capital letters (rule P1).
#[doc(hidden)] // for Orbgate's own crates
#[must_use]
pub fn is_method(method: &[u8]) -> bool {
    (1..=16).contains(&method.len()) && method.iter().all(u8::is_ascii_uppercase)
}

/// Whether a scope must be earned: its name begins with `earned:`. The token layer adds it to a token that passes the tests
/// of `derive`, and drops it from the scopes that the issuer wrote. No client can request it.
///
/// If you verify tokens yourself, drop these names from the token's scopes ([`without_earned`]), and add only the ones that you
/// have checked.
///
/// ```
/// assert!(orbgate::is_earned("earned:mfa"));
/// assert!(!orbgate::is_earned("read:earned"));
/// ```
#[must_use]
pub fn is_earned(scope: impl AsRef<[u8]>) -> bool {
    scope.as_ref().starts_with(EARNED.as_bytes())
}

/// A scope string without the names that [must be earned](is_earned). It isn't copied if it has none.
///
/// ```
/// assert_eq!(orbgate::without_earned("read:orders earned:mfa"), "read:orders");
/// ```
#[must_use]
pub fn without_earned(scopes: &str) -> Cow<'_, str> {
    if !scopes.split(' ').any(is_earned) {
        return Cow::Borrowed(scopes);
    }
    let kept: Vec<_> = scopes.split(' ').filter(|scope| !is_earned(scope)).collect();
    Cow::Owned(kept.join(" "))
}

/// How the name of a scope begins that a token must earn.
#[doc(hidden)] // for Orbgate's own crates
pub const EARNED: &str = "earned:";

/// Whether a literal of a policy can contain this byte.
#[doc(hidden)] // for Orbgate's own crates
#[must_use]
pub fn is_literal(byte: u8) -> bool {
    LITERAL.get(usize::from(byte)) == Some(&true)
}

/// The bytes that a literal can contain. A table, because it is read for each byte of a policy's paths.
static LITERAL: [bool; 256] = {
    let mut table = [false; 256];
    let (mut rest, mut byte): (&mut [bool], u8) = (&mut table, 0);
    while let Some((first, others)) = rest.split_first_mut() {
        *first = matches!(
            byte,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'!' | b'$' | b'&'..=b'.' | b':' | b'=' | b'@' | b'_' | b'~'
        );
        (rest, byte) = (others, byte.wrapping_add(1));
    }
    table
};

/// A location in a policy file. Both numbers start at 1; the column counts characters, not bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

codes! {
    /// Which spellings of a request target are accepted. There are exactly two profiles.
    ///
    /// Exhaustive on purpose: a new profile would change the meaning of "accepted".
    #[derive(Default)]
    pub enum Profile {
        #[default]
        Strict: "strict", "no percent-encoding in a path";
        EncodedParams: "encoded_params", "percent-encoding is also accepted in parameter values (rules P13 to P19)";
    }
}

codes! {
    /// What an organisation's token gets in an api whose scopes apply only to a user's token.
    ///
    /// Exhaustive on purpose: the policy format has exactly these two rules.
    pub enum OrganisationRule {
        Deny: "deny", "an organisation's token is denied with `user_token_required`";
        AllowWithoutScope: "allow_without_scope",
            "an organisation's token is allowed, whatever scopes it has: `scope_not_applicable`";
    }
}

/// The orbs that a call consumes, as the policy states them.
///
/// Exhaustive on purpose: the policy format has exactly these three forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orbs {
    /// No orbs: `orbs: false`.
    Free,
    /// Orbs, but the amount isn't stated: `orbs: true`. The service that charges must supply the amount.
    Unstated,
    /// This many orbs, from 1 to `i64::MAX`.
    Amount(u64),
}

/// The SHA-256 digest of a policy's canonical form, printed as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub(crate) [u8; 32]);

impl Digest {
    /// The 32 bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        // Two writes instead of 32, because every decision in JSON includes a digest.
        let (halves, _) = self.0.as_chunks();
        let mut halves = halves.iter().map(|half| u128::from_be_bytes(*half));
        halves.try_for_each(|half| write!(f, "{half:032x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
