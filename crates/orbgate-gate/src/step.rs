//! What comes of a question: an answer, or what the program must do first.

use core::fmt;

use orbgate_token::{Asked, SignatureCheck, Wait};

use crate::answer::Answer;
use crate::matched::Matched;
use crate::request::Request;

/// What comes of a question to a [`Gate`](crate::Gate).
#[derive(Debug)]
#[must_use = "a request that is not answered is not protected"]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Step<'e> {
    /// The answer.
    Answer(Answer<'e>),
    /// Keys must come first. Fetch what [`Gate::next_fetch`](crate::Gate::next_fetch) has, or wait for those who do, and then
    /// [resume](crate::Gate::resume).
    Wait(Waiting),
    /// Check this signature, and [say](crate::Gate::checked) whether it is right.
    CheckSignature(Checking),
}

/// A request that waits for keys. It is a value: dropping it leaves nothing.
pub struct Waiting {
    pub(crate) held: Held,
    pub(crate) token: Box<str>,
    pub(crate) asked: Asked,
    pub(crate) wait: Wait,
}

impl Waiting {
    /// Until when: ask [`Gate::is_over`](crate::Gate::is_over) after each report of a fetch.
    #[must_use]
    pub const fn wait(&self) -> &Wait {
        &self.wait
    }
}

/// A request whose signature is to be checked by the program.
pub struct Checking {
    pub(crate) held: Held,
    pub(crate) check: SignatureCheck,
}

impl Checking {
    /// What to check.
    #[must_use]
    pub const fn check(&self) -> &SignatureCheck {
        &self.check
    }

    /// Says the token's SHA-256: see [`SignatureCheck::hashed`].
    #[must_use]
    pub fn hashed(mut self, hash: &[u8]) -> Self {
        self.check = self.check.hashed(hash);
        self
    }
}

/// What is kept of a request until its answer. Nothing of its headers: a request that these make malformed is denied before.
pub(crate) struct Held {
    method: Box<[u8]>,
    target: Box<[u8]>,
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
            matched: match request.matched {
                Matched::Nothing => HeldMatch::Nothing,
                Matched::Template(template) => HeldMatch::Template(template.into()),
                Matched::Unknown => HeldMatch::Unknown,
            },
            allow_bonus_orbs_use: request.allow_bonus_orbs_use,
        }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            method: &self.method,
            target: &self.target,
            matched: match &self.matched {
                HeldMatch::Nothing => Matched::Nothing,
                HeldMatch::Template(template) => Matched::Template(template),
                HeldMatch::Unknown => Matched::Unknown,
            },
            allow_bonus_orbs_use: self.allow_bonus_orbs_use,
            ..Request::default()
        }
    }
}

// Written by hand: neither shows the token.
impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting")
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Checking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checking")
            .field("check", &self.check)
            .finish_non_exhaustive()
    }
}
