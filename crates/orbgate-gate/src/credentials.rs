//! What a request says of its caller: nothing, a token, or something else.

use orbgate::{Scopes, Token, TokenKind};
use orbgate_token::{TokenError, VerifiedToken, bearer};

/// What a request says of its caller, with what is known of its token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "who judges tokens makes one of these"
)]
pub enum Credentials<T> {
    /// Nothing, or something that is not for us.
    None,
    /// An `Authorization` that cannot be read, or says two things.
    Unreadable,
    /// A token that is refused, with a code for logs and counters.
    Refused(&'static str),
    /// A token that is right.
    Token(T),
}

impl<T> Credentials<T> {
    /// The token to judge, from every value of `Authorization` as it came, one item a line of the header.
    ///
    /// # Errors
    ///
    /// Not an error: what is known without a token. [`Credentials::None`] or [`Credentials::Unreadable`].
    pub fn bearer<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<&'a str, Self> {
        match bearer(values) {
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

    /// The token as an engine takes it. A refused one is of unknown kind, which denies.
    pub fn token(&self) -> Option<Token<'_>>
    where
        T: Verified,
    {
        match self {
            Self::None => None,
            Self::Unreadable | Self::Refused(_) => Some(Token {
                kind: TokenKind::Unknown,
                scopes: Scopes::Text(b""),
            }),
            Self::Token(known) => Some(known.token()),
        }
    }

    /// What is known of the token, if it is valid.
    pub fn verified(self) -> Option<T> {
        match self {
            Self::Token(token) => Some(token),
            _ => None,
        }
    }

    /// Why the token is refused: a code of `orbgate_token::TokenError` or of another verifier, or
    /// `authorization_header`; `unknown_kind` for a token that is right and of no known kind. For logs and counters; a caller learns none
    /// of it.
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

/// What is known of a verified token.
pub trait Verified: Clone + Send + Sync + 'static {
    /// The token as an engine takes it.
    fn token(&self) -> Token<'_>;

    /// A name for the token in the audit, which must reveal nothing of the token: a hash, say.
    fn fingerprint(&self) -> Option<String> {
        None
    }
}

impl Verified for VerifiedToken {
    fn token(&self) -> Token<'_> {
        Self::token(self)
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
