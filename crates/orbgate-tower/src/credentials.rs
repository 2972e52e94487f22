//! What a request says of its caller: nothing, a token, or something else.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use orbgate::{Scopes, Token, TokenKind};
use orbgate_token::bearer;

#[cfg(feature = "audit")]
use crate::audit::TokenFacts;
use crate::verify::{Refused, Verified, VerifyToken};

/// What a request says of its caller.
pub(crate) enum Credentials<T> {
    None,
    /// An `Authorization` that cannot be read, or says two things.
    Unreadable(Refused),
    Refused(Refused),
    Token(T),
}

impl<T: Verified> Credentials<T> {
    pub(crate) async fn read<V>(verifier: &V, headers: &HeaderMap) -> Self
    where
        V: VerifyToken<Verified = T>,
    {
        let values = headers.get_all(AUTHORIZATION);
        match bearer(values.iter().map(HeaderValue::as_bytes)) {
            Err(_) => Self::Unreadable(Refused::new("authorization_header")),
            Ok(None) => Self::None,
            Ok(Some(token)) => match verifier.verify(token).await {
                Ok(token) => Self::Token(token),
                Err(refused) => Self::Refused(refused),
            },
        }
    }

    /// The token as an engine takes it. A refused token is of unknown kind, which denies.
    pub(crate) fn token(&self) -> Option<Token<'_>> {
        match self {
            Self::None => None,
            Self::Unreadable(_) | Self::Refused(_) => Some(Token {
                kind: TokenKind::Unknown,
                scopes: Scopes::Text(b""),
            }),
            Self::Token(token) => Some(token.token()),
        }
    }

    pub(crate) const fn refused(&self) -> Option<Refused> {
        match self {
            Self::None | Self::Token(_) => None,
            Self::Unreadable(refused) | Self::Refused(refused) => Some(*refused),
        }
    }

    #[cfg(feature = "audit")]
    pub(crate) fn facts(&self) -> TokenFacts {
        let (kind, fingerprint) = match self {
            Self::Token(token) => (Some(token.token().kind), token.fingerprint()),
            _ => (None, None),
        };
        TokenFacts {
            kind,
            fingerprint,
            refused: self.refused(),
        }
    }
}
