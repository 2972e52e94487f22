//! The next step of a request: its result, or work that the program must do first.

use core::fmt;

use orbgate_token::{Asked, Kept, SignatureCheck, Wait};

use crate::answer::Answer;
use crate::mcp::reading::Reading;
use crate::next::Next;
use crate::request::{Matched, Request};

/// The next step of a request, from a [`Gate`](crate::Gate).
#[derive(Debug)]
#[must_use = "a request that is not answered is not protected"]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
#[expect(clippy::large_enum_variant, reason = "nearly every request has an answer")]
pub enum Step<'e> {
    /// The result.
    Answer(Answer<'e>),
    /// The request needs keys. Fetch what [`Gate::next_fetch`](crate::Gate::next_fetch) returns, or wait for other
    /// fetches, and then [resume](crate::Gate::resume).
    Wait(Waiting),
    /// Check this signature, and [report](crate::Gate::proceed) whether it is valid.
    CheckSignature(Checking),
    /// Read the body, and [decide](crate::Rules::decide_body) by it.
    ReadBody(Reading),
}

impl<'e> From<Next<'e>> for Step<'e> {
    fn from(next: Next<'e>) -> Self {
        match next {
            Next::Answer(answer) => Self::Answer(answer),
            Next::ReadBody(reading) => Self::ReadBody(reading),
        }
    }
}

/// A request that waits for keys. You can drop it at any time.
pub struct Waiting {
    pub(crate) held: Held,
    pub(crate) token: Box<str>,
    pub(crate) presented: Option<Box<Kept>>,
    pub(crate) progress: Asked,
    pub(crate) wait: Wait,
}

impl Waiting {
    /// The end of the wait: call [`Gate::is_over`](crate::Gate::is_over) after each report of a
    /// fetch.
    #[must_use]
    pub const fn wait(&self) -> &Wait {
        &self.wait
    }
}

/// A request whose signature the program must check.
pub struct Checking {
    pub(crate) held: Held,
    pub(crate) check: SignatureCheck,
}

impl Checking {
    /// The signature to check.
    #[must_use]
    pub const fn check(&self) -> &SignatureCheck {
        &self.check
    }

    /// Sets the token's SHA-256 hash: see [`SignatureCheck::hashed`].
    #[must_use]
    pub fn hashed(mut self, hash: &[u8]) -> Self {
        self.check = self.check.hashed(hash);
        self
    }
}

/// The parts of a request that are kept until its result. Of its headers, only the origin is, because a request that they make
/// malformed is denied earlier.
pub(crate) struct Held {
    method: Box<[u8]>,
    target: Box<[u8]>,
    origin: Vec<Box<[u8]>>,
    matched: HeldMatch,
    allow_bonus_orbs_use: bool,
}

enum HeldMatch {
    Nothing,
    Template(Box<str>),
    Unknown,
}

impl Held {
    pub(crate) fn new(request: &Request<'_>) -> Self {
        Self {
            method: request.method.into(),
            target: request.target.into(),
            origin: request.origin.iter().map(|value| (*value).into()).collect(),
            matched: match request.matched {
                Matched::Nothing => HeldMatch::Nothing,
                Matched::Template(template) => HeldMatch::Template(template.into()),
                Matched::Unknown => HeldMatch::Unknown,
            },
            allow_bonus_orbs_use: request.allow_bonus_orbs_use,
        }
    }

    /// What follows for the request.
    pub(crate) fn with<R>(&self, then: impl FnOnce(&Request<'_>) -> R) -> R {
        let origin: Vec<_> = self.origin.iter().map(|value| &**value).collect();
        then(&Request {
            origin: &origin,
            method: &self.method,
            target: &self.target,
            matched: match &self.matched {
                HeldMatch::Nothing => Matched::Nothing,
                HeldMatch::Template(template) => Matched::Template(template),
                HeldMatch::Unknown => Matched::Unknown,
            },
            allow_bonus_orbs_use: self.allow_bonus_orbs_use,
            ..Request::default()
        })
    }
}

// Written by hand, so that the token isn't shown.
impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl fmt::Debug for Checking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checking").field("check", &self.check).finish_non_exhaustive()
    }
}
