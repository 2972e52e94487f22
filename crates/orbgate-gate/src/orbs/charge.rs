//! Which call holds orbs, how many, from which account, and the denial of a call that can't.

use core::fmt;
use core::time::Duration;

use orbgate::{Decision, Detail, Engine, Orbs, Reason, Route};

use crate::answer::Answer;
use crate::credentials::{Credentials, Verified};
use crate::mcp::call::McpCall;
use crate::mcp::fault::McpFault;
use crate::orbs::outcome::MOST_ORBS;
use crate::orbs::rules::OrbRules;
use crate::request::same_template;
use crate::rules::Rules;

/// The id of a hold, which the gate makes for each request. A host passes 16 random bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HoldId(pub(crate) [u8; 16]);

impl HoldId {
    /// The id with these bytes.
    #[must_use]
    pub const fn new(random: [u8; 16]) -> Self {
        Self(random)
    }
}

/// Orbs to hold before a handler runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HoldCommand {
    /// The id of the hold.
    pub id: HoldId,
    /// The account.
    pub account: String,
    /// The number of orbs, at least 1.
    pub amount: u64,
    /// Whether bonus orbs may be used.
    pub bonus: bool,
    /// The hold expires after this time, unless it is extended.
    pub ttl: Duration,
    /// The route and the policy's digest, so that a reload doesn't change what a hold was for.
    pub note: String,
}

impl HoldCommand {
    /// The command of a host that keeps its holds elsewhere than it decides.
    #[must_use]
    pub const fn new(id: HoldId, account: String, amount: u64, bonus: bool, ttl: Duration, note: String) -> Self {
        Self { id, account, amount, bonus, ttl, note }
    }
}

/// How a route's amount is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the policy states it, or a function")]
pub enum Amount {
    /// The policy states it.
    OfPolicy,
    /// A function has returned it. 0 holds nothing.
    Of(u64),
    /// The function has failed.
    Failed,
}

/// What must happen before the handler of an answered request runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a call that isn't held isn't charged"]
#[expect(clippy::exhaustive_enums, reason = "a host must handle each")]
pub enum Charging {
    /// Nothing: the request is denied, or consumes no orbs.
    Nothing,
    /// Hold these orbs.
    Hold(HoldCommand),
    /// Deny the request.
    Deny(Unpaid),
}

/// Why the orbs of an allowed call can't be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what a ledger and a gate can find")]
pub enum Unpaid {
    /// The token names no account.
    NoAccount,
    /// The amount can't be determined: neither the policy nor a function states it, or the function failed.
    NoAmount,
    /// The account doesn't have enough. `retry_after` is there if other calls hold the missing orbs.
    Insufficient {
        /// Why.
        detail: Detail,
        /// How long to wait.
        retry_after: Option<Duration>,
    },
    /// The call is in a session of an MCP endpoint that doesn't [charge](crate::Mcp::charge_sessions) in sessions.
    InSession,
    /// The ledger didn't answer in time, or too many settlements wait for it.
    Unavailable,
}

impl Unpaid {
    /// The account doesn't have enough. `expires_in` is the time until its next hold expires, if other calls hold the missing
    /// orbs.
    ///
    /// Calls end long before their holds expire, so the caller should come back soon; but not all at once, so the time
    /// depends on the hold's id, which is random.
    #[must_use]
    pub fn insufficient(detail: Detail, hold: HoldId, expires_in: Option<Duration>) -> Self {
        let [.., low, high] = hold.0;
        let part = RETRY_SOON.saturating_mul(u16::from_le_bytes([low, high]).into());
        let soon = part.checked_div(u16::MAX.into()).unwrap_or_default();
        Self::Insufficient { detail, retry_after: expires_in.map(|expires_in| expires_in.min(soon)) }
    }
}

/// The longest time after which callers that were denied because of other calls may come back.
const RETRY_SOON: Duration = Duration::from_secs(4);

/// How long a caller should wait for a ledger that doesn't answer.
const RETRY_UNAVAILABLE: u64 = 1;

/// The most bytes of an account's name and of a note, as ledgers take them.
const MOST_BYTES: usize = 512;

impl OrbRules {
    /// What must happen before the handler of this answer runs. Call it after the router was compared and the flag for
    /// bonus orbs was read, and never for a question that runs no handler, such as a shadow or a proxy's.
    ///
    /// Denials, preflights, public routes and routes that consume nothing hold nothing. `amount` is called only for a call
    /// that consumes.
    pub fn charge<T: Verified>(
        &self,
        answer: &Answer<'_, T>,
        amount: impl FnOnce(&Route<'_>, &T) -> Amount,
        random: [u8; 16],
    ) -> Charging {
        let Decision::Allow(allow) = &answer.decision else {
            return Charging::Nothing;
        };
        let (Some(charge), Some(route)) = (allow.charge(), allow.route()) else {
            return Charging::Nothing;
        };
        if !charge.consumes || answer.preflight {
            return Charging::Nothing;
        }
        let of_account = answer.token().and_then(|token| Some((token, token.account()?)));
        let Some((token, account)) = of_account.filter(|(_, account)| is_account(account)) else {
            return Charging::Deny(Unpaid::NoAccount);
        };
        let amount = match amount(&route, token) {
            Amount::OfPolicy => charge.amount,
            Amount::Of(amount) => Some(amount),
            Amount::Failed => None,
        };
        match amount {
            None => Charging::Deny(Unpaid::NoAmount),
            Some(0) => Charging::Nothing,
            Some(_) if answer.mcp.as_ref().is_some_and(McpCall::must_be_free) => Charging::Deny(Unpaid::InSession),
            // No account can have as many.
            Some(amount) if amount > MOST_ORBS => {
                Charging::Deny(Unpaid::Insufficient { detail: Detail::Insufficient, retry_after: None })
            }
            Some(amount) => Charging::Hold(HoldCommand {
                id: HoldId::new(random),
                account: account.to_owned(),
                amount,
                bonus: charge.bonus_allowed,
                ttl: self.ttl,
                note: note(route.as_str(), &answer.decision),
            }),
        }
    }

    /// Checks that each route that consumes orbs has an amount: in the policy, or from a function that is `stated` for the route.
    /// Call it at the start; [`Current::charges`](crate::Current::charges) does it for each new policy.
    ///
    /// # Errors
    ///
    /// Returns the routes without one.
    pub fn check_amounts(engine: &Engine, stated: &[String]) -> Result<(), NoAmount> {
        let is_stated = |route: &Route<'_>| stated.iter().any(|stated| same_template(stated, route.as_str()));
        let lacks = |route: &Route<'_>| route.orbs() == Orbs::Unstated && !is_stated(route);
        let routes: Vec<_> =
            engine.routes().filter(|route| lacks(route)).map(|route| route.as_str().to_owned()).collect();
        if routes.is_empty() { Ok(()) } else { Err(NoAmount { routes }) }
    }

    /// The first of these routes that an engine doesn't have: at the start, a function for it is a mistake.
    #[must_use]
    pub fn unknown_route<'s>(engine: &Engine, stated: &'s [String]) -> Option<&'s str> {
        let is_known = |name: &str| engine.routes().any(|route| same_template(name, route.as_str()));
        stated.iter().map(String::as_str).find(|name| !is_known(name))
    }
}

impl Rules {
    /// The denial of an allowed request whose orbs can't be held.
    pub fn unpaid<'e, T: Verified>(&self, answer: Answer<'e, T>, unpaid: Unpaid) -> Answer<'e, T> {
        let (reason, detail, retry_after) = match unpaid {
            Unpaid::NoAccount => (Reason::InvalidToken, None, None),
            Unpaid::NoAmount => (Reason::InsufficientOrbs, None, None),
            Unpaid::Insufficient { detail, retry_after } => {
                let detail = (detail.reason() == Reason::InsufficientOrbs).then_some(detail);
                (Reason::InsufficientOrbs, detail, retry_after.map(whole_seconds))
            }
            Unpaid::InSession => (Reason::MalformedRequest, Some(Detail::Form), None),
            Unpaid::Unavailable => (Reason::LedgerUnavailable, None, Some(RETRY_UNAVAILABLE)),
        };
        let credentials = match unpaid {
            Unpaid::NoAccount => Credentials::Refused("no_account"),
            _ => answer.credentials,
        };
        let mcp = match unpaid {
            Unpaid::InSession => answer.mcp.map(|call| call.with_fault(McpFault::Session)),
            _ => answer.mcp,
        };
        let mut denied = self.answer(answer.decision.denying_orbs(reason, detail), credentials, mcp);
        if let Some(denial) = &mut denied.denial {
            // A flat denial tells nothing.
            denial.retry_after = retry_after.filter(|_| matches!(denial.status, 402 | 503));
        }
        self.as_mcp(denied)
    }
}

/// At least 1: 0 would ask for a retry at once.
fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0)).max(1)
}

fn is_account(name: &str) -> bool {
    !name.is_empty() && name.len() <= MOST_BYTES && !name.contains(char::is_control)
}

/// A route and a policy's digest. Routes are ASCII; a very long one is cut.
fn note(route: &str, decision: &Decision<'_>) -> String {
    let digest = decision.policy().to_string();
    let room = MOST_BYTES.saturating_sub(digest.len()).saturating_sub(1);
    let route = route.get(..room).unwrap_or(route);
    format!("{route} {digest}")
}

/// Routes that consume orbs, without an amount in the policy and without a function for it. `Display` prints one line for
/// each.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", routes.iter().map(said).collect::<Vec<_>>().join("\n"))]
pub struct NoAmount {
    routes: Vec<String>,
}

impl NoAmount {
    /// The routes.
    #[must_use]
    pub fn routes(&self) -> &[String] {
        &self.routes
    }
}

fn said(route: &String) -> String {
    format!("`{route}` consumes orbs, but neither the policy nor a function states how many")
}

orbgate_yaml::debug_as_display!(NoAmount);

impl fmt::Display for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
