//! Asking: from a request as it came to its answer, which is observed and audited.

use std::sync::Arc;

use orbgate::{Decision, Engine};
use orbgate_analysis::Shadowed;
use orbgate_gate::{Answer, Credentials, Request};
use tracing::{Instrument as _, Span};

#[cfg(feature = "audit")]
use crate::audit;
use crate::engines::Engines;
use crate::observe;
use crate::settings::Settings;
use crate::verify::{Refused, Verified, VerifyToken};

impl<V: VerifyToken> Settings<V> {
    /// Asks about a request, and reads the answer with the engine that gave it.
    ///
    /// An allowed request is asked about once more if it turns out to allow bonus orbs.
    pub(crate) async fn ask<R>(
        &self,
        request: Request<'_>,
        allows_bonus_orbs: impl AsyncFnOnce(&Decision<'_>) -> bool,
        read: impl FnOnce(&Arc<Engine>, Answer<'_, V::Verified>) -> R,
    ) -> R {
        let span = observe::span();
        let asked = self.ask_in(&span, request, allows_bonus_orbs, read);
        asked.instrument(span.clone()).await
    }

    async fn ask_in<R>(
        &self,
        span: &Span,
        mut request: Request<'_>,
        allows_bonus_orbs: impl AsyncFnOnce(&Decision<'_>) -> bool,
        read: impl FnOnce(&Arc<Engine>, Answer<'_, V::Verified>) -> R,
    ) -> R {
        let engine = self.engines.load();
        // One engine for the whole decision, even if another is swapped in while the token is verified.
        let (engine, credentials) = match self.rules.token(&engine, &request) {
            Err(known) => (engine, known),
            Ok(token) => {
                let verified = self.verifier.verify(token).await;
                (self.engines.load(), credentials(verified))
            }
        };
        let token = credentials.token(V::Verified::token);
        let mut decided = self.rules.decide(&engine, &request, token);
        if let Some(misrouted) = decided.misrouted {
            observe::misrouted(&misrouted.allowed, misrouted.matched, span);
        }
        if decided.decision.is_allow() && allows_bonus_orbs(&decided.decision).await {
            request.allow_bonus_orbs_use = true;
            decided = self.rules.decide(&engine, &request, token);
        }
        self.note(&request, &decided.decision, &credentials, span);
        read(&engine, self.rules.answer(decided, credentials))
    }

    /// Reports a decision: to the counters, the span, the candidate and the audit.
    fn note<T: Verified>(
        &self,
        request: &Request<'_>,
        decision: &Decision<'_>,
        credentials: &Credentials<T>,
        span: &Span,
    ) {
        observe::decided(decision, credentials.refused(), span);
        let candidate = self.shadow.as_ref().map(Engines::load);
        let token = credentials.token(T::token);
        let shadowed = candidate.as_ref().map(|candidate| Shadowed {
            enforced: *decision,
            candidate: self.rules.decide(candidate, request, token).decision,
        });
        if let Some(shadowed) = &shadowed {
            observe::shadowed(shadowed, span);
        }
        #[cfg(feature = "audit")]
        if let Some(log) = &self.audit {
            log.write_down(decision, shadowed.as_ref(), audit::token(credentials));
        }
    }
}

fn credentials<T>(verified: Result<T, Refused>) -> Credentials<T> {
    match verified {
        Ok(token) => Credentials::Token(token),
        Err(refused) => Credentials::Refused(refused.code()),
    }
}
