//! How a gate charges: what its log states at the start and for each new policy, and the contradiction that it refuses.

use core::fmt::Write as _;

use orbgate::{Engine, Orbs, Route};
use orbgate_token::{IssuerAccounts, NoticeLevel};

use crate::orbs::charge::NoAmount;
use crate::orbs::rules::OrbRules;
use crate::request::same_template;

/// What charges the calls of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are these three")]
pub enum ChargedBy {
    /// The gate, in a ledger. Functions state the amounts of these routes, named as in the policy.
    Ledger(Vec<String>),
    /// Only the handlers behind the gate.
    Handlers,
    /// Only the service behind a proxy, which asks the gate.
    Service,
}

/// How a gate charges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateCharges {
    by: ChargedBy,
    accounts: Vec<String>,
    /// For an issuer whose tokens have an account, and for one whose tokens have none.
    some_have: bool,
    some_lack: bool,
}

/// A line of a gate's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a host logs both")]
pub struct Statement {
    /// Its level.
    pub level: NoticeLevel,
    /// One sentence.
    pub text: String,
}

/// Why a gate with a ledger would deny calls that it should charge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a call needs an amount and an account")]
pub enum Uncharged {
    /// Routes have no amount.
    #[error(transparent)]
    NoAmount(NoAmount),
    /// No token has an account.
    #[error(transparent)]
    NoAccount(NoAccount),
}

/// Routes consume orbs in a ledger, but no token can have an account.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no issuer of the token configuration has `account`, so a gate with a ledger would deny each call that consumes orbs (routes: \
     {routes}, such as `{first}`): add `account` to each issuer whose users or clients pay, for example `account: subject`"
)]
pub struct NoAccount {
    routes: usize,
    first: String,
}

/// The most issuers that a statement names.
const MOST_ISSUERS: usize = 20;

impl GateCharges {
    /// Of a gate whose tokens another verifier reads.
    #[must_use]
    pub const fn new(by: ChargedBy) -> Self {
        // Whether their tokens have accounts isn't known.
        Self { by, accounts: Vec::new(), some_have: true, some_lack: false }
    }

    /// The same of a gate with these issuers.
    #[must_use]
    pub fn with_accounts<'v>(mut self, accounts: impl Iterator<Item = IssuerAccounts<'v>>) -> Self {
        (self.some_have, self.some_lack) = (false, false);
        for of in accounts {
            let are_stated = of.are_stated();
            self.some_have |= are_stated;
            self.some_lack |= !are_stated;
            self.accounts.push(format!("of `{}`: {of}", of.issuer()));
        }
        self
    }

    /// What the log states at the start, and for each new policy.
    ///
    /// # Errors
    ///
    /// Fails if routes consume orbs in a ledger, but one has no amount, or no issuer's tokens have an account. If only some
    /// issuers' tokens have none, it is a warning, because the others' calls can be charged.
    pub fn statement(&self, engine: &Engine) -> Result<Statement, Uncharged> {
        if let ChargedBy::Ledger(stated) = &self.by {
            OrbRules::check_amounts(engine, stated).map_err(Uncharged::NoAmount)?;
        }
        let consumes = |route: &Route<'_>| route.orbs() != Orbs::Free;
        let mut routes = engine.routes().filter(consumes);
        let first = routes.next().map(|route| route.as_str().to_owned());
        let count = routes.count().saturating_add(usize::from(first.is_some()));
        let (how, mut is_warning) = match (&self.by, &first) {
            (ChargedBy::Ledger(_), Some(first)) if !self.some_have => {
                return Err(Uncharged::NoAccount(NoAccount { routes: count, first: first.clone() }));
            }
            (ChargedBy::Ledger(_), first) => ("in a ledger", first.is_none() || self.some_lack),
            (ChargedBy::Handlers, Some(_)) => ("no ledger, so only the handlers can charge", true),
            (ChargedBy::Handlers, None) => ("no ledger", false),
            (ChargedBy::Service, _) => ("only by the service behind the proxy", false),
        };
        let mut text = format!("charging: {how}; routes that consume orbs: {count}");
        // A string can always be written to.
        if let Some(first) = first {
            let _ = write!(text, ", such as `{first}`");
        }
        if let ChargedBy::Ledger(stated) = &self.by {
            let is_free =
                |name: &&String| engine.routes().any(|route| same_template(name, route.as_str()) && !consumes(&route));
            for name in stated.iter().filter(is_free) {
                let _ = write!(text, "; a function states the amount of `{name}`, which consumes none");
                is_warning = true;
            }
        }
        // The service behind a proxy makes accounts of its own.
        if !self.accounts.is_empty() && self.by != ChargedBy::Service {
            let named: Vec<_> = self.accounts.iter().take(MOST_ISSUERS).map(String::as_str).collect();
            let _ = write!(text, "; account {}", named.join("; "));
            match self.accounts.len().saturating_sub(MOST_ISSUERS) {
                0 => {}
                more => {
                    let _ = write!(text, "; and of {more} more issuers");
                }
            }
        }
        Ok(Statement { level: if is_warning { NoticeLevel::Warning } else { NoticeLevel::Info }, text })
    }
}

orbgate_yaml::debug_as_display!(NoAccount);
