//! What a request says of its caller: nothing, a token, or something else.

use orbgate::{Scopes, Token, TokenKind};
use orbgate_token::{TokenError, bearer};

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

    /// The token as an engine takes it, from what is known of it. A refused one is of unknown kind, which denies.
    pub fn token<'t>(&'t self, token: impl FnOnce(&'t T) -> Token<'t>) -> Option<Token<'t>> {
        match self {
            Self::None => None,
            Self::Unreadable | Self::Refused(_) => Some(Token {
                kind: TokenKind::Unknown,
                scopes: Scopes::Text(b""),
            }),
            Self::Token(known) => Some(token(known)),
        }
    }

    /// Why the token is refused: a code of `orbgate_token::TokenError` or of another verifier, or
    /// `authorization_header`. For logs and counters; a caller learns none of it.
    #[must_use]
    pub const fn refused(&self) -> Option<&'static str> {
        match self {
            Self::None | Self::Token(_) => None,
            Self::Unreadable => Some("authorization_header"),
            Self::Refused(code) => Some(code),
        }
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
