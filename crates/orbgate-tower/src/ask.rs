//! Drives a gate to its result, which is observed and audited.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use orbgate::{Decision, Engine, Grant};
use orbgate_analysis::{Shadowed, explain};
use orbgate_gate::{Answer, Request, Rules};
use tracing::{Instrument as _, Span};

use crate::charge::Charge;
use crate::engines::Engines;
use crate::observe;
use crate::settings::Settings;
use crate::verify::VerifyToken;

impl<V: VerifyToken> Settings<V> {
    /// Decides a request, and passes the result to `read`, with the engine that made it.
    ///
    /// For an allowed request, also reads whether it allows bonus orbs, and then holds the orbs that it consumes.
    pub(crate) async fn ask<R, C: Charge<V::Verified>>(
        &self,
        request: Request<'_>,
        allows_bonus_orbs: impl AsyncFnOnce(&Decision<'_>) -> bool,
        charge: (&C, &HeaderMap),
        read: impl FnOnce(&Arc<Engine>, Answer<'_, V::Verified>, Option<C::Held>) -> R,
    ) -> R {
        let span = observe::span();
        let asked = self.ask_in(&span, request, allows_bonus_orbs, charge, read);
        asked.instrument(span.clone()).await
    }

    async fn ask_in<R, C: Charge<V::Verified>>(
        &self,
        span: &Span,
        mut request: Request<'_>,
        allows_bonus_orbs: impl AsyncFnOnce(&Decision<'_>) -> bool,
        (charge, headers): (&C, &HeaderMap),
        read: impl FnOnce(&Arc<Engine>, Answer<'_, V::Verified>, Option<C::Held>) -> R,
    ) -> R {
        // One engine for the whole decision, even if the active engine is replaced while the
        // request waits.
        let mut engine = self.engines.load();
        let mut step = self.verifier.ask(&self.rules, &engine, &request);
        let mut answer = loop {
            match step {
                ControlFlow::Break(answer) => break answer,
                ControlFlow::Continue(pending) => {
                    let pending = self.verifier.wait(pending).await;
                    engine = self.engines.load();
                    step = self.verifier.resume(&self.rules, &engine, &request, pending);
                }
            }
        };
        if let Some(misrouted) = &answer.misrouted {
            observe::misrouted(&misrouted.allowed, &misrouted.matched, span);
        }
        if answer.decision.is_allow() && allows_bonus_orbs(&answer.decision).await {
            request.allow_bonus_orbs_use = true;
            answer = answer.allowing_bonus_orbs();
        }
        // Before the orbs are held: the candidate holds none, so only the policies are compared.
        let candidate = self.shadow.as_ref().map(|engines| (engines.load(), self.rules_of(engines)));
        let shadowed = candidate.as_ref().map(|(candidate, rules)| {
            let opened = rules.open(candidate, &request);
            Shadowed { enforced: answer.decision, candidate: opened.decide(answer.credentials.clone()).decision }
        });
        let mut held = None;
        if answer.decision.is_allow() {
            match charge.hold(headers, &answer).await {
                Ok(orbs) => held = Some(orbs),
                Err(unpaid) => answer = self.rules.unpaid(answer, unpaid),
            }
        }
        self.note(&answer, shadowed.as_ref(), span);
        // The policy allows a misrouted request, so there is nothing to explain.
        if self.debug && !answer.decision.is_allow() && answer.misrouted.is_none() {
            observe::explained(&answer.decision, request.method, request.target, |target| {
                let call = orbgate::Request {
                    method: request.method,
                    target,
                    token: answer.credentials.token(),
                    allow_bonus_orbs_use: false,
                };
                explain(&engine, &call, &Grant::default())
            });
        }
        read(&engine, answer, held)
    }

    /// The rules for a candidate, with its own public routes, if it has any.
    fn rules_of(&self, candidate: &Engines) -> Cow<'_, Rules> {
        let mut rules = Cow::Borrowed(&self.rules);
        if let Some(public) = candidate.public() {
            rules.to_mut().public = Some(Arc::clone(public));
        }
        rules
    }

    /// Reports a result to the counters, the span and the audit.
    fn note(&self, answer: &Answer<'_, V::Verified>, shadowed: Option<&Shadowed<'_, '_>>, span: &Span) {
        observe::decided(&answer.decision, answer.refused(), span);
        if let Some(shadowed) = shadowed {
            observe::shadowed(shadowed, span);
        }
        #[cfg(feature = "audit")]
        if let Some(log) = &self.audit {
            log.write_down(&answer.decision, shadowed, (&answer.credentials).into());
        }
    }
}
