//! The input of a decision.

use super::token::Token;

/// One request: may this token make this call, and does it consume orbs?
///
/// Pass the method and target exactly as they arrived in the request line, neither decoded nor
/// normalised: `req.url` in Node, `RequestURI` in Go, `raw_path` in ASGI, `OriginalUri` in axum.
///
/// Exhaustive on purpose: callers would have to think about any new field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The method, which is case-sensitive (RFC 9110 §9.1).
    pub method: &'a [u8],
    /// The request target in origin form (RFC 9112 §3.2.1), including its query.
    pub target: &'a [u8],
    /// The verified token; `None` if the request has no token.
    pub token: Option<Token<'a>>,
    /// The request body's `allowBonusOrbsUse` (specification §2.1); false if it is absent.
    pub allow_bonus_orbs_use: bool,
}

impl Request<'_> {
    /// Copies field by field. With a derived copy, the compiler would pass the original by reference, and callers would
    /// have to keep it in memory for a call that rarely happens.
    #[inline(always)]
    #[allow(clippy::manual_map, reason = "that would be a plain copy")]
    pub(crate) const fn copy(&self) -> Self {
        Self {
            method: self.method,
            target: self.target,
            token: match self.token {
                Some(Token { kind, scopes }) => Some(Token { kind, scopes }),
                None => None,
            },
            allow_bonus_orbs_use: self.allow_bonus_orbs_use,
        }
    }
}
