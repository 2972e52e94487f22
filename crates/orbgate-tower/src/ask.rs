//! Drives a gate to its result, which is observed and audited.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use orbgate::{Decision, Detail, Engine, Grant};
use orbgate_analysis::{Shadowed, explain};
use orbgate_gate::{Answer, HoldId, McpCall, McpFault, McpRequest, Next, Request, Rules};
use tracing::{Instrument as _, Span};

use crate::charge::Charge;
use crate::engines::Engines;
use crate::observe;
use crate::settings::Settings;
use crate::verify::VerifyToken;

/// What is read of a request after its headers.
pub(crate) trait ReadBody {
    /// Whether an allowed request allows bonus orbs; `None` if the gate does not read it.
    async fn allows_bonus_orbs(&mut self, decision: &Decision<'_>) -> Option<bool>;

    /// Reads a message of MCP, up to this many bytes.
    async fn message(&mut self, most: usize) -> Result<(), McpFault>;

    fn whole(&self) -> Result<&[u8], McpFault>;

    fn headers(&self) -> &[(&[u8], &[u8])];
}

/// A request whose body isn't there.
pub(crate) struct NoBody;

impl ReadBody for NoBody {
    async fn allows_bonus_orbs(&mut self, _: &Decision<'_>) -> Option<bool> {
        None
    }

    async fn message(&mut self, _: usize) -> Result<(), McpFault> {
        Ok(())
    }

    fn whole(&self) -> Result<&[u8], McpFault> {
        Err(McpFault::Unreadable)
    }

    fn headers(&self) -> &[(&[u8], &[u8])] {
        &[]
    }
}

fn subject<'r, T>(request: &Request<'r>, answer: &'r Answer<'_, T>) -> (&'r [u8], &'r [u8]) {
    match answer.mcp.as_ref().and_then(McpCall::target) {
        Some(target) => (b"MCP", target.as_bytes()),
        None => (request.method, request.target),
    }
}

impl<V: VerifyToken> Settings<V> {
    /// Decides a request, and passes the result to `read`, with the engine that made it.
    ///
    /// For an allowed request, also reads whether it allows bonus orbs, and then holds the orbs that it consumes.
    pub(crate) async fn ask<R, C: Charge<V::Verified>>(
        &self,
        request: Request<'_>,
        body: impl ReadBody,
        charge: (&C, &HeaderMap),
        read: impl FnOnce(&Arc<Engine>, Answer<'_, V::Verified>, Option<C::Held>) -> R,
    ) -> R {
        let span = observe::span();
        self.ask_in(&span, request, body, charge, read).instrument(span.clone()).await
    }

    async fn ask_in<R, C: Charge<V::Verified>>(
        &self,
        span: &Span,
        mut request: Request<'_>,
        mut body: impl ReadBody,
        (charge, headers): (&C, &HeaderMap),
        read: impl FnOnce(&Arc<Engine>, Answer<'_, V::Verified>, Option<C::Held>) -> R,
    ) -> R {
        // One engine for the whole decision, even if the active engine is replaced while the
        // request waits.
        let mut engine = self.engines.load();
        let mut step = self.verifier.ask(&self.rules, &engine, &request);
        let next = loop {
            match step {
                ControlFlow::Break(next) => break next,
                ControlFlow::Continue(pending) => {
                    let pending = self.verifier.wait(pending).await;
                    engine = self.engines.load();
                    step = self.verifier.resume(&self.rules, &engine, &request, pending);
                }
            }
        };
        let mut answer = match next {
            Next::Answer(answer) => answer,
            Next::ReadBody(reading) => {
                let read = body.message(reading.most_bytes()).await;
                let whole = read.and_then(|()| body.whole());
                let message = McpRequest { headers: body.headers(), body: whole };
                // A client can take any time over its body: the policy of now decides.
                engine = self.engines.load();
                self.rules.decide_body(&engine, reading, message)
            }
        };
        if let Some(misrouted) = &answer.misrouted {
            observe::misrouted(&misrouted.allowed, &misrouted.matched, span);
        }
        let is_route = answer.decision.is_allow() && answer.mcp.is_none();
        let bonus = if is_route { body.allows_bonus_orbs(&answer.decision).await } else { None };
        if bonus == Some(true) {
            request.allow_bonus_orbs_use = true;
            answer = answer.allowing_bonus_orbs();
        }
        // Before the orbs are held: the candidate holds none, so only the policies are compared.
        let candidate = self.shadow.as_ref().map(|engines| (engines.load(), self.rules_of(engines)));
        let shadowed = candidate.as_ref().map(|(candidate, rules)| {
            let other = match answer.mcp.as_ref().filter(|call| call.target().is_some()) {
                // The same operation, without its body.
                Some(call) => call.decide(candidate, answer.credentials.token()),
                // The message was refused before any policy was asked about it.
                None if answer.mcp.is_some() && !answer.decision.is_allow() => answer.decision,
                None => match rules.open(candidate, &request).decide(answer.credentials.clone()) {
                    Next::Answer(other) => other.decision,
                    Next::ReadBody(_) => candidate.deny_malformed(Detail::Form),
                },
            };
            Shadowed { enforced: answer.decision, candidate: other }
        });
        let mut held = None;
        if answer.decision.is_allow() {
            match charge.hold(headers, &answer).await {
                Ok(orbs) => held = Some(orbs),
                Err(unpaid) => answer = self.rules.unpaid(answer, unpaid),
            }
        }
        let hold = held.as_ref().and_then(C::id);
        self.note(&answer, bonus.is_some(), hold, shadowed.as_ref(), span);
        // The policy allows a misrouted request, so there is nothing to explain.
        let (method, target) = subject(&request, &answer);
        if self.debug && !answer.decision.is_allow() && answer.misrouted.is_none() {
            observe::explained(&answer.decision, method, target, |target| {
                let call =
                    orbgate::Request { method, target, token: answer.credentials.token(), allow_bonus_orbs_use: false };
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
    #[cfg_attr(not(feature = "audit"), expect(unused_variables, reason = "only the audit has it"))]
    fn note(
        &self,
        answer: &Answer<'_, V::Verified>,
        reads_bonus_orbs: bool,
        hold: Option<HoldId>,
        shadowed: Option<&Shadowed<'_, '_>>,
        span: &Span,
    ) {
        observe::decided(&answer.decision, answer.refused(), span);
        if let Some(shadowed) = shadowed {
            observe::shadowed(shadowed, span);
        }
        #[cfg(feature = "audit")]
        if let Some(log) = &self.audit {
            log.write_down(&answer.decision, reads_bonus_orbs, hold, shadowed, (&answer.credentials).into());
        }
    }
}
