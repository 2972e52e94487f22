//! Verifies bearer tokens. You can plug in any verifier.

use core::future::{Future, ready};
use core::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use orbgate::Engine;
#[cfg(feature = "fetch")]
use orbgate_gate::Step;
use orbgate_gate::{ChargedBy, Credentials, Gate, GateCharges, Next, Request, Rules, Verified, Waiting};
#[cfg(feature = "fetch")]
use orbgate_token::NoticeLevel;
use orbgate_token::{Keys, TokenError, VerifiedToken, Verifier};

/// Verifies the bearer tokens of requests.
pub trait VerifyToken: Send + Sync + 'static {
    /// The result for a valid token. Services find it in the request's extensions.
    type Verified: Verified;

    /// Verifies the token, which is the string after `Bearer`.
    ///
    /// # Errors
    ///
    /// Why it is rejected. The caller gets a 401 without the reason.
    fn verify(&self, token: &str) -> impl Future<Output = Result<Self::Verified, Refused>> + Send;

    /// How a gate charges whose tokens this verifies.
    #[doc(hidden)]
    fn charges(&self, by: ChargedBy) -> GateCharges {
        GateCharges::new(by)
    }

    /// Starts a request: returns its result, or the step that must come first.
    #[doc(hidden)]
    fn ask<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
    ) -> ControlFlow<Next<'e, Self::Verified>, Pending<'r, Self::Verified>> {
        let opened = rules.open(engine, request);
        match opened.token() {
            Ok(token) => ControlFlow::Continue(Pending::Token(token)),
            Err(known) => ControlFlow::Break(opened.decide(known)),
        }
    }

    /// Waits for the step that must come first.
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

    /// Resumes a request after its wait.
    #[doc(hidden)]
    fn resume<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
        pending: Pending<'r, Self::Verified>,
    ) -> ControlFlow<Next<'e, Self::Verified>, Pending<'r, Self::Verified>> {
        match pending {
            Pending::Judged(known) => ControlFlow::Break(Gate::new(rules, ()).decide(engine, request, known)),
            other => ControlFlow::Continue(other),
        }
    }
}

/// The step that must precede a request's result.
#[doc(hidden)]
#[derive(Debug)]
pub enum Pending<'r, T> {
    Keys(Waiting),
    /// Another verifier's result for a token.
    Token(&'r str),
    /// Nothing: the result is here.
    Judged(Credentials<T>),
}

/// Why a token is rejected: a code for logs and metrics, which quotes nothing from the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{code}")]
pub struct Refused {
    code: &'static str,
}

impl Refused {
    /// Rejected with this code, such as `expired`. Use only a few codes, because each one is a time series of a
    /// counter.
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

impl From<TokenError> for Refused {
    fn from(error: TokenError) -> Self {
        Self::new(error.as_str())
    }
}

/// A [`Verifier`] with fixed keys, without a network. Cheap to clone; all clones share their keys.
#[derive(Clone, Debug)]
pub struct KeyHolder {
    verifier: Verifier,
    keys: Arc<ArcSwap<Keys>>,
}

impl KeyHolder {
    /// Verifies with these keys.
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

    fn charges(&self, by: ChargedBy) -> GateCharges {
        GateCharges::new(by).with_accounts(self.verifier.accounts())
    }
}

#[cfg(feature = "fetch")]
impl VerifyToken for orbgate_token::KeyFetcher {
    type Verified = VerifiedToken;

    async fn verify(&self, token: &str) -> Result<VerifiedToken, Refused> {
        Ok(Self::verify(self, token, now()).await?)
    }

    fn charges(&self, by: ChargedBy) -> GateCharges {
        GateCharges::new(by).with_accounts(self.cache().accounts())
    }

    fn ask<'e, 'r>(
        &self,
        rules: &'r Rules,
        engine: &'e Engine,
        request: &'r Request<'r>,
    ) -> ControlFlow<Next<'e>, Pending<'r, VerifiedToken>> {
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
    ) -> ControlFlow<Next<'e>, Pending<'r, VerifiedToken>> {
        let gate = Gate::new(rules, self.cache());
        match pending {
            Pending::Keys(waiting) => {
                let step = gate.resume(engine, waiting, self.now());
                stepped(self, &gate, engine, step)
            }
            // From another verifier.
            Pending::Judged(_) | Pending::Token(_) => {
                ControlFlow::Break(gate.decide(engine, request, Credentials::Unreadable))
            }
        }
    }
}

/// Logs what has changed about the issuers. The layer does it when tokens come; call it in between, so that the log doesn't wait
/// for a token.
#[cfg(feature = "fetch")]
pub fn log_notices(fetcher: &orbgate_token::KeyFetcher) {
    for notice in fetcher.notices() {
        match notice.level {
            NoticeLevel::Info => tracing::info!("{notice}"),
            NoticeLevel::Warning => tracing::warn!("{notice}"),
            NoticeLevel::Error => tracing::error!("{notice}"),
        }
    }
}

/// Starts the fetches that a step needs. Signatures are checked in place, so none remains to be checked.
#[cfg(feature = "fetch")]
fn stepped<'e, 'r>(
    fetcher: &orbgate_token::KeyFetcher,
    gate: &Gate<&Rules, &orbgate_token::KeyCache>,
    engine: &'e Engine,
    step: Step<'e>,
) -> ControlFlow<Next<'e>, Pending<'r, VerifiedToken>> {
    fetcher.start_fetches();
    log_notices(fetcher);
    match step {
        Step::Answer(answer) => ControlFlow::Break(Next::Answer(answer)),
        Step::ReadBody(reading) => ControlFlow::Break(Next::ReadBody(reading)),
        Step::Wait(waiting) => ControlFlow::Continue(Pending::Keys(waiting)),
        Step::CheckSignature(checking) => ControlFlow::Break(gate.checked(engine, checking, false, fetcher.now())),
    }
}

#[expect(clippy::disallowed_methods, reason = "the verifier takes the time as an argument; a server reads its clock")]
fn now() -> SystemTime {
    SystemTime::now()
}
