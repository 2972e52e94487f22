//! The result of verifying a token.

use core::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use orbgate::{Token, TokenKind};
use sha2::{Digest as _, Sha256};

use crate::derive::{self, Derived, Login};

/// A token whose signature, issuer, audience, times and type are valid.
///
/// It contains what decisions need and what audits can record. The token itself isn't kept. `Debug`
/// shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    pub(crate) kind: TokenKind,
    pub(crate) scopes: Box<str>,
    pub(crate) issuer: Arc<str>,
    pub(crate) subject: Option<Box<str>>,
    pub(crate) client: Option<Box<str>>,
    pub(crate) actor: Option<Box<str>>,
    pub(crate) id: Option<Box<str>>,
    pub(crate) account: Option<Box<str>>,
    pub(crate) expires: SystemTime,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) derived: Arc<[Derived]>,
}

impl VerifiedToken {
    /// The token in the form that an engine takes.
    ///
    /// Its kind can be [`TokenKind::Unknown`], which the engine denies.
    #[must_use]
    pub fn token(&self) -> Token<'_> {
        Token { kind: self.kind, scopes: self.scopes().into() }
    }

    /// Whether it is a user's or an organisation's token.
    #[must_use]
    pub const fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The scopes, separated by single spaces: those that the issuer wrote, without names that begin with `earned:`, and then
    /// those that [`Issuer::derive`](crate::Issuer::derive) gives the token now.
    ///
    /// Don't keep them beyond the request: a test of a date might fail for the next one.
    #[must_use]
    pub const fn scopes(&self) -> &str {
        &self.scopes
    }

    /// Whether the issuer derives these scopes, and each only from a [proof](crate::ClaimTest::proof): a token that is bound to a
    /// key would have them. False without a name.
    pub fn lacks_proof<'n>(&self, scopes: impl IntoIterator<Item = &'n str>) -> bool {
        let mut names = scopes.into_iter().peekable();
        let is_of_proof = |name| self.derived.iter().any(|derived| derived.name() == name && derived.is_of_proof());
        names.peek().is_some() && names.all(is_of_proof)
    }

    /// One login that gives the token all these scopes, which begin with `earned:`. `None` if its issuer doesn't derive one of
    /// them, or not from the login (`acr`, `auth_time`), or if no login gives all of them.
    #[must_use]
    pub fn login<'n>(&self, scopes: impl IntoIterator<Item = &'n str>) -> Option<Login<'_>> {
        derive::login(&self.derived, scopes)
    }

    /// The issuer, as configured.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The subject (`sub`). For an organisation's token, usually its client.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The client that the token was issued to, from the configured claim.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// The party that acts for the subject (`act`, RFC 8693 §4.1). Only for audits: it doesn't
    /// affect decisions.
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// The account whose orbs its calls consume: the issuer, `#` and what [`Issuer::account`](crate::Issuer::account)
    /// chose, such as `https://id.example.com#alice`. `%`, control characters and, in the issuer, `#` are escaped as in a
    /// URL, so no two pairs have the same account. `None` if the configuration doesn't state where its kind of token has
    /// it, or if the token lacks it.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    /// The token's own id (`jti`), for references in logs.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// When it expires, without the allowance for clock differences.
    #[must_use]
    pub const fn expires(&self) -> SystemTime {
        self.expires
    }

    /// An id that reveals nothing about the token, for logs of tokens without a `jti`.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl fmt::Debug for VerifiedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedToken")
            .field("kind", &self.kind)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

/// The first 8 bytes of a token's SHA-256, shown as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 8]);

impl Fingerprint {
    pub(crate) fn of(token: &[u8]) -> Self {
        Self::finish(Sha256::new_with_prefix(token))
    }

    /// The fingerprint of the hashed bytes.
    pub(crate) fn finish(hash: Sha256) -> Self {
        Self::from_hash(&hash.finalize()).unwrap_or(Self([0; 8]))
    }

    /// From the first bytes of a SHA-256 hash; `None` if there are fewer than 8.
    pub(crate) fn from_hash(hash: &[u8]) -> Option<Self> {
        hash.first_chunk().copied().map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
