//! What a gate answers.

use std::borrow::Cow;

use orbgate::Decision;
use orbgate_token::VerifiedToken;

use crate::credentials::{Credentials, Verified};

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
    /// What is known of the caller: the token, or why it is refused.
    pub credentials: Credentials<T>,
    /// Set if the router has taken another route than the allowed one. Then the decision is a denial; count it as
    /// `orbgate_misrouted_total`.
    pub misrouted: Option<Misrouted<'e>>,
    /// The template of an allowed request that needs no token, because no route of the policy is named.
    pub public: Option<Box<str>>,
}

/// A request that would be allowed by one route, and has gone to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "both sides of a comparison")]
pub struct Misrouted<'e> {
    /// The allowed decision, which doesn't count.
    pub allowed: Decision<'e>,
    /// The router's template, empty if the router didn't give it.
    pub matched: String,
}

impl<T> Answer<'_, T> {
    /// The same answer to a request that allows bonus orbs, once its body is read: see
    /// [`allows_bonus_orbs`](crate::allows_bonus_orbs). It changes only the charge of an allow.
    pub const fn allowing_bonus_orbs(mut self) -> Self {
        self.decision = self.decision.allowing_bonus_orbs();
        self
    }

    /// What is known of the token, if it is valid.
    #[must_use]
    pub const fn token(&self) -> Option<&T> {
        match &self.credentials {
            Credentials::Token(token) => Some(token),
            _ => None,
        }
    }

    /// Why the token is refused: a code for logs and counters, which quotes nothing of it.
    #[must_use]
    pub fn refused(&self) -> Option<&'static str>
    where
        T: Verified,
    {
        self.credentials.refused()
    }
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
