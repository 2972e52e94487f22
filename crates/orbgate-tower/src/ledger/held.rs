//! A call whose orbs are held, until its outcome settles them.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

use http::HeaderMap;
use orbgate_gate::{
    Answer, Charging, Excess, HandlerOutcome, HoldId, McpCall, McpResponse, Settlement, Unpaid, Verified,
};

use crate::charge::Charge;
use crate::ledger::amounts::Amounts;
use crate::ledger::driver::OrbLedger;
use crate::observe;

/// States how many orbs a call has consumed in fact, if that isn't the amount that is held: an extension of each request
/// that a [`ChargingLayer`](crate::ChargingLayer) passes.
///
/// ```
/// use axum::Extension;
/// use orbgate_tower::ActualOrbs;
///
/// async fn run(Extension(orbs): Extension<ActualOrbs>) -> &'static str {
///     orbs.state(12);
///     "answer"
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ActualOrbs {
    /// [`UNSTATED`], or the amount.
    stated: Arc<AtomicU64>,
    hold: Option<HoldId>,
}

/// No amount: the orbs that are held are charged. Amounts are stored plus 1.
const UNSTATED: u64 = 0;

impl ActualOrbs {
    /// Charges this amount instead of the held one, if the call succeeds: at most the hold times
    /// [`OrbRules::ceiling`](orbgate_gate::OrbRules::ceiling), and what the account has. The last statement before the handler, or
    /// its stream, ends counts.
    ///
    /// Returns false if nothing is held, so nothing can be charged: the route consumes nothing, or the function for its
    /// amount returned 0.
    #[allow(clippy::must_use_candidate, reason = "most handlers know that their route consumes")]
    pub fn state(&self, amount: u64) -> bool {
        self.stated.store(amount.saturating_add(1), Ordering::Release);
        self.hold.is_some()
    }

    /// The id of the hold in the ledger, for the service's own log; `None` if nothing is held.
    #[must_use]
    pub fn hold_id(&self) -> Option<String> {
        self.hold.map(|id| id.to_string())
    }

    fn stated(&self) -> Option<u64> {
        match self.stated.load(Ordering::Acquire) {
            UNSTATED => None,
            stated => Some(stated.saturating_sub(1)),
        }
    }
}

/// A held call. If it is dropped without an outcome, its handler never ran, was stopped midway, or panicked.
#[derive(Debug)]
pub(super) struct Held {
    orbs: OrbLedger,
    id: HoldId,
    amount: u64,
    pub(super) actual: ActualOrbs,
    /// What reads the response, if it settles.
    pub(super) response: Option<McpResponse>,
    handler: Handler,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handler {
    NotRun,
    Runs,
    Settled,
}

impl Held {
    /// From now on, the handler runs.
    pub(super) const fn run(&mut self) {
        self.handler = Handler::Runs;
    }

    pub(super) fn settle(mut self, outcome: HandlerOutcome) {
        self.end(outcome);
    }

    fn end(&mut self, outcome: HandlerOutcome) {
        if self.handler != Handler::Settled {
            self.handler = Handler::Settled;
            let (rules, stated) = (self.orbs.rules(), self.actual.stated());
            let response = self.response.as_ref().map(McpResponse::end);
            let settlement = rules.settlement(outcome, response, self.amount, stated);
            if let Some(Excess { orbs, statement }) = rules.excess(self.id, self.amount, stated, settlement) {
                tracing::warn!("{}", statement.text);
                observe::over_ceiling(orbs);
            }
            self.orbs.settle(self.id, settlement);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.end(match self.handler {
            Handler::NotRun => HandlerOutcome::NotRun,
            _ if thread::panicking() => HandlerOutcome::Failed,
            _ => HandlerOutcome::Cancelled,
        });
    }
}

/// A call that waits for its hold. If it is dropped, its caller has left, and no handler has run.
struct Waiting<'o> {
    orbs: &'o OrbLedger,
    id: HoldId,
    is_answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.orbs.settle(self.id, Settlement::Void);
        }
    }
}

/// A ledger, and the amounts of a layer.
pub(super) struct Ledgered<T> {
    pub(super) orbs: OrbLedger,
    pub(super) amounts: Amounts<T>,
}

impl<T: Verified> Charge<T> for Ledgered<T> {
    /// `None` if the call consumes nothing.
    type Held = Option<Held>;

    async fn hold(&self, headers: &HeaderMap, answer: &Answer<'_, T>) -> Result<Option<Held>, Unpaid> {
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            // Two calls with one id would be one hold.
            return Err(Unpaid::Unavailable);
        }
        let amount = |route: &orbgate::Route<'_>, token: &T| self.amounts.of(route, headers, token);
        let response = answer.mcp.as_ref().and_then(McpCall::response);
        let command = match self.orbs.rules().charge(answer, amount, random) {
            Charging::Nothing => return Ok(None),
            Charging::Deny(unpaid) => return Err(unpaid),
            Charging::Hold(command) => command,
        };
        let (id, amount) = (command.id, command.amount);
        let mut waiting = Waiting { orbs: &self.orbs, id, is_answered: false };
        let answer = self.orbs.hold(command).await;
        waiting.is_answered = true;
        // Without an answer, the thread has ended.
        answer.unwrap_or(Err(Unpaid::Unavailable))?;
        let actual = ActualOrbs { hold: Some(id), ..ActualOrbs::default() };
        Ok(Some(Held { orbs: self.orbs.clone(), id, amount, actual, response, handler: Handler::NotRun }))
    }

    fn id(held: &Option<Held>) -> Option<HoldId> {
        held.as_ref().map(|held| held.id)
    }
}
