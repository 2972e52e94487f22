//! What a gate answers.

use std::borrow::Cow;

use orbgate::Decision;
use orbgate_token::VerifiedToken;

/// The answer to a request: its decision, and what to do about it.
///
/// Where there is no [`denial`](Self::denial), pass the request on, with what is known of its token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an answer that nobody reads protects nothing"]
#[non_exhaustive]
pub struct Answer<'e, T = VerifiedToken> {
    /// The decision: reason, route, scope, and for an allow the charge.
    pub decision: Decision<'e>,
    /// What to answer the caller; `None` for an allow.
    pub denial: Option<Denial>,
    /// What is known of the token, if it is right.
    pub token: Option<T>,
    /// Why the token is refused: a code for logs and counters, which quotes nothing of it.
    pub refused: Option<&'static str>,
    /// If the router has taken another route than the allowed one, the template of that route, or an empty text where it
    /// did not say. Then the decision is a denial; count it as `orbgate_misrouted_total`.
    pub misrouted: Option<String>,
}

/// The answer to a denied request: a status, at most two headers, no body and no content type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The HTTP status.
    pub status: u16,
    /// The value of `WWW-Authenticate`.
    pub www_authenticate: Option<Cow<'static, str>>,
    /// The value of `Allow`.
    pub allow: Option<String>,
}
