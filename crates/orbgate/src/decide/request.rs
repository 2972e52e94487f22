//! What is asked of an engine.

use super::token::Token;

/// One request: may this token make this call, and does it consume orbs?
///
/// Method and target are the bytes of the request line as they came over the wire, neither decoded
/// nor normalised: `req.url` in Node, `RequestURI` in Go, `raw_path` in ASGI, `OriginalUri` in axum.
///
/// Exhaustive on purpose: a field added later would be one that callers must think about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The method (RFC 9110 §9.1: case-sensitive).
    pub method: &'a [u8],
    /// The request target in origin form (RFC 9112 §3.2.1), with its query if it has one.
    pub target: &'a [u8],
    /// The verified token; `None` where none was supplied.
    pub token: Option<Token<'a>>,
    /// The request body's `allowBonusOrbsUse` (specification §2.1), false where it is absent.
    pub allow_bonus_orbs_use: bool,
}

impl Request<'_> {
    /// A copy that is made field by field. Of a plain copy the compiler would lend the original instead, and callers would have to keep
    /// it in memory for a call that is hardly ever made.
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
