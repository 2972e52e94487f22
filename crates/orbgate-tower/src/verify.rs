//! From a bearer token to what is known of it: any verifier can be plugged in.

use core::fmt;
use core::future::{Future, ready};
use core::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use orbgate::Engine;
#[cfg(feature = "fetch")]
use orbgate_gate::Step;
use orbgate_gate::{Answer, Credentials, Gate, Request, Rules, Verified, Waiting};
use orbgate_token::{Keys, TokenError, VerifiedToken, Verifier};

/// Verifies the bearer tokens of requests.
pub trait VerifyToken: Send + Sync + 'static {
    /// What is known of a token that is right. A service finds it in the request's extensions.
    type Verified: Verified;

    /// What is known of the token, which is the text after `Bearer`.
    ///
    /// # Errors
    ///
    /// Why it is refused: the caller gets a 401 and learns none of it.
    fn verify(&self, token: &str) -> impl Future<Output = Result<Self::Verified, Refused>> + Send;

    /// Begins a request: its answer, or what must come first.
    #[doc(hidden)]
    fn ask<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
    ) -> ControlFlow<Answer<'e, Self::Verified>, Pending<'r, Self::Verified>> {
        let opened = rules.open(engine, request);
        match opened.token() {
            Ok(token) => ControlFlow::Continue(Pending::Token(token)),
            Err(known) => ControlFlow::Break(opened.decide(known)),
        }
    }

    /// Waits for what must come first.
    #[doc(hidden)]
    fn wait<'r>(
        &self,
        pending: Pending<'r, Self::Verified>,
    ) -> impl Future<Output = Pending<'r, Self::Verified>> + Send {
        async move {
            match pending {
                Pending::Token(token) => Pending::Judged(match self.verify(token).await {
                    Ok(token) => Credentials::Token(token),
                    Err(refused) => Credentials::Refused(refused.code()),
                }),
                other => other,
            }
        }
    }

    /// Goes on with a request after its wait.
    #[doc(hidden)]
    fn resume<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
        pending: Pending<'r, Self::Verified>,
    ) -> ControlFlow<Answer<'e, Self::Verified>, Pending<'r, Self::Verified>> {
        match pending {
            Pending::Judged(known) => {
                ControlFlow::Break(Gate::new(rules, ()).decide(engine, request, known))
            }
            other => ControlFlow::Continue(other),
        }
    }
}

/// What must come before a request has its answer.
#[doc(hidden)]
#[derive(Debug)]
pub enum Pending<'r, T> {
    /// The issuers' keys.
    Keys(Waiting),
    /// Another verifier's verdict on a token.
    Token(&'r str),
    /// Nothing: that verdict is here.
    Judged(Credentials<T>),
}

/// Why a token is refused: a code for logs and metrics, which quotes nothing of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refused {
    code: &'static str,
}

impl Refused {
    /// Refused for the reason of this code, such as `expired`. Use few different codes, because each is a series of
    /// a counter.
    #[must_use]
    pub const fn new(code: &'static str) -> Self {
        Self { code }
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.code
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl core::error::Error for Refused {}

impl From<TokenError> for Refused {
    fn from(error: TokenError) -> Self {
        Self::new(error.as_str())
    }
}

/// A [`Verifier`] with keys that it already has: no network. Cheap to clone; the clones share their keys.
#[derive(Clone, Debug)]
pub struct KeyHolder {
    verifier: Verifier,
    keys: Arc<ArcSwap<Keys>>,
}

impl KeyHolder {
    /// Verifies under these keys.
    #[must_use]
    pub fn new(verifier: Verifier, keys: Keys) -> Self {
        let keys = Arc::new(ArcSwap::from_pointee(keys));
        Self { verifier, keys }
    }

    /// Replaces all keys at once.
    pub fn store(&self, keys: Keys) {
        self.keys.store(Arc::new(keys));
    }
}

impl VerifyToken for KeyHolder {
    type Verified = VerifiedToken;

    fn verify(&self, token: &str) -> impl Future<Output = Result<VerifiedToken, Refused>> + Send {
        let verified = self.verifier.verify(token, &self.keys.load(), now());
        ready(verified.map_err(Refused::from))
    }
}

#[cfg(feature = "fetch")]
impl VerifyToken for orbgate_token::KeyFetcher {
    type Verified = VerifiedToken;

    async fn verify(&self, token: &str) -> Result<VerifiedToken, Refused> {
        Ok(Self::verify(self, token, now()).await?)
    }

    fn ask<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
    ) -> ControlFlow<Answer<'e>, Pending<'r, VerifiedToken>> {
        let gate = Gate::new(rules, self.cache());
        stepped(self, &gate, engine, gate.ask(engine, request, self.now()))
    }

    async fn wait<'r>(&self, pending: Pending<'r, VerifiedToken>) -> Pending<'r, VerifiedToken> {
        if let Pending::Keys(waiting) = &pending {
            self.wait_for(waiting.wait()).await;
        }
        pending
    }

    fn resume<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
        pending: Pending<'r, VerifiedToken>,
    ) -> ControlFlow<Answer<'e>, Pending<'r, VerifiedToken>> {
        let gate = Gate::new(rules, self.cache());
        match pending {
            Pending::Keys(waiting) => {
                let step = gate.resume(engine, waiting, self.now());
                stepped(self, &gate, engine, step)
            }
            // Another verifier's.
            Pending::Judged(_) | Pending::Token(_) => {
                ControlFlow::Break(gate.decide(engine, request, Credentials::Unreadable))
            }
        }
    }
}

/// Starts the fetches that a step needs. Signatures are checked in place, so none is left to check.
#[cfg(feature = "fetch")]
fn stepped<'e, 'r>(
    fetcher: &orbgate_token::KeyFetcher,
    gate: &Gate<&Rules, &orbgate_token::KeyCache>,
    engine: &'e Engine,
    step: Step<'e>,
) -> ControlFlow<Answer<'e>, Pending<'r, VerifiedToken>> {
    fetcher.start_fetches();
    match step {
        Step::Answer(answer) => ControlFlow::Break(answer),
        Step::Wait(waiting) => ControlFlow::Continue(Pending::Keys(waiting)),
        Step::CheckSignature(checking) => {
            ControlFlow::Break(gate.checked(engine, checking, false, fetcher.now()))
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the verifier takes the time as an argument; a server reads its clock"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
