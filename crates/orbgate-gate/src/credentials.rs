//! The credentials of a request: none, a bearer token, or something unreadable.

use orbgate::{Scopes, Token, TokenKind};
use orbgate_token::{Login, Scheme, TokenError, VerifiedToken, bearer, bearer_or_dpop};

/// The credentials of a request, with the result of verifying its token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who judges tokens makes one of these")]
pub enum Credentials<T> {
    /// No credentials, or credentials of another scheme.
    None,
    /// An `Authorization` header that can't be read, or that has conflicting values.
    Unreadable,
    /// A rejected token, with a code for logs and counters.
    Refused(&'static str),
    /// A valid token.
    Token(T),
}

impl<T> Credentials<T> {
    /// The token to verify, from every value of `Authorization` as you received it, one item for each
    /// header line.
    ///
    /// # Errors
    ///
    /// Not an error, but the credentials of a request without a token: [`Credentials::None`] or
    /// [`Credentials::Unreadable`].
    pub fn bearer<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<&'a str, Self> {
        match bearer(values) {
            Ok(Some(token)) => Ok(token),
            Ok(None) => Err(Self::None),
            Err(_) => Err(Self::Unreadable),
        }
    }

    /// The same for a verifier that also takes tokens with the scheme `DPoP` (RFC 9449).
    ///
    /// # Errors
    ///
    /// As [`Credentials::bearer`].
    pub fn bearer_or_dpop<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<(Scheme, &'a str), Self> {
        match bearer_or_dpop(values) {
            Ok(Some(token)) => Ok(token),
            Ok(None) => Err(Self::None),
            Err(_) => Err(Self::Unreadable),
        }
    }

    /// Whether the header could be read.
    #[must_use]
    pub const fn is_readable(&self) -> bool {
        !matches!(self, Self::Unreadable)
    }

    /// The token in the form that an engine takes. A rejected token has an unknown kind, which is
    /// denied.
    pub fn token(&self) -> Option<Token<'_>>
    where
        T: Verified,
    {
        match self {
            Self::None => None,
            Self::Unreadable | Self::Refused(_) => Some(Token { kind: TokenKind::Unknown, scopes: Scopes::Text(b"") }),
            Self::Token(known) => Some(known.token()),
        }
    }

    /// The verified token, if it is valid.
    pub fn verified(self) -> Option<T> {
        match self {
            Self::Token(token) => Some(token),
            _ => None,
        }
    }

    /// Whether the token is valid, and what is missing or wrong is the proof that it is its sender's.
    pub(crate) fn is_unproved(&self) -> bool {
        match self {
            Self::Refused(code) => TokenError::from_code(code).is_some_and(TokenError::is_of_proof),
            _ => false,
        }
    }

    /// Why the token is rejected: a code of `orbgate_token::TokenError` or of another verifier, `authorization_header`,
    /// or `unknown_kind` for a valid token whose kind isn't known. Use it in logs and counters, but don't send it to
    /// callers.
    #[must_use]
    pub fn refused(&self) -> Option<&'static str>
    where
        T: Verified,
    {
        match self {
            Self::None => None,
            Self::Token(known) => match known.token().kind {
                TokenKind::Unknown => Some(TokenError::UnknownKind.as_str()),
                _ => None,
            },
            Self::Unreadable => Some("authorization_header"),
            Self::Refused(code) => Some(code),
        }
    }
}

/// The result of verifying a token.
pub trait Verified: Clone + Send + Sync + 'static {
    /// The token in the form that an engine takes.
    fn token(&self) -> Token<'_>;

    /// The account whose orbs the token's calls consume. A gate with a ledger denies calls that consume orbs without it.
    /// It has at most 512 bytes and no control characters.
    fn account(&self) -> Option<&str> {
        None
    }

    /// The login that would give the token all these [earned](orbgate::is_earned) scopes at once. `None` if no login
    /// does, or none that is known.
    fn login(&self, earned: &[&str]) -> Option<Login<'_>> {
        let _ = earned;
        None
    }

    /// Whether the token lacks these [earned](orbgate::is_earned) scopes only because it isn't bound to a key that its sender
    /// proves.
    fn lacks_proof(&self, earned: &[&str]) -> bool {
        let _ = earned;
        false
    }

    /// An id for the token in audits. It must reveal nothing about the token; a hash is suitable.
    fn fingerprint(&self) -> Option<String> {
        None
    }
}

impl Verified for VerifiedToken {
    fn token(&self) -> Token<'_> {
        Self::token(self)
    }

    fn account(&self) -> Option<&str> {
        Self::account(self)
    }

    fn login(&self, earned: &[&str]) -> Option<Login<'_>> {
        Self::login(self, earned.iter().copied())
    }

    fn lacks_proof(&self, earned: &[&str]) -> bool {
        Self::lacks_proof(self, earned.iter().copied())
    }

    fn fingerprint(&self) -> Option<String> {
        Some(Self::fingerprint(self).to_string())
    }
}

impl<T> From<Result<T, TokenError>> for Credentials<T> {
    fn from(verdict: Result<T, TokenError>) -> Self {
        match verdict {
            Ok(token) => Self::Token(token),
            Err(error) => Self::Refused(error.as_str()),
        }
    }
}
