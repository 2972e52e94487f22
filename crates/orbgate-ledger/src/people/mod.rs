//! What support, accountants and customers read: accounts, the statement of one, and totals.

mod model;
pub(crate) mod read;

use serde::{Deserialize, Serialize};

use crate::answer::Balance;
use crate::cause::Cause;
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};

/// Which accounts to list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::exhaustive_structs, reason = "callers make it")]
pub struct Listing {
    /// The names of the accounts begin with this.
    pub prefix: String,
    /// Their names come after this one, in the order of their bytes.
    pub after: String,
    /// At most this many.
    pub limit: usize,
}

impl Default for Listing {
    /// The first 100 accounts.
    fn default() -> Self {
        Self { prefix: String::new(), after: String::new(), limit: usual_limit() }
    }
}

/// An account in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Listed {
    /// Its orbs.
    #[serde(flatten)]
    pub balance: Balance,
    /// The time of the last command that moved its orbs or froze it. Each account has one: the grant that opened it. Expiries don't count.
    pub last_used: Option<Millis>,
}

/// Accounts in the answer of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Accounts {
    /// The accounts.
    pub accounts: Vec<Listed>,
    /// There may be more: those after this name.
    pub next: Option<AccountId>,
}

impl Accounts {
    /// The answer with accounts of which at most so many were asked for.
    #[must_use]
    pub fn new(accounts: Vec<Listed>, limit: usize) -> Self {
        let last = accounts.last().filter(|_| accounts.len() >= limit);
        Self { next: last.map(|listed| listed.balance.account.clone()), accounts }
    }
}

/// The times from one to before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "callers make it")]
pub struct Period {
    /// At this time or later.
    pub from: Option<Millis>,
    /// Before this time.
    pub to: Option<Millis>,
}

impl Period {
    /// Whether it is all times.
    #[must_use]
    pub const fn is_all(self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Whether it has this time.
    #[must_use]
    pub fn has(self, at: Millis) -> bool {
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at < to)
    }
}

/// A part of an account's statement to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "callers make it")]
pub struct Part {
    /// The account.
    pub account: AccountId,
    /// Movements with a higher number than this, the lowest first. Without it, the newest ones.
    #[serde(default)]
    pub after: Option<u64>,
    /// Only movements with a lower number than this.
    #[serde(default)]
    pub before: Option<u64>,
    /// Only movements at this time or later.
    #[serde(default)]
    pub from: Option<Millis>,
    /// Only movements before this time.
    #[serde(default)]
    pub to: Option<Millis>,
    /// Only grants with a higher number than this.
    #[serde(default)]
    pub grants_after: u64,
    /// At most this many movements, and grants. So many movements are read, whatever their time.
    #[serde(default = "usual_limit")]
    pub limit: usize,
}

const fn usual_limit() -> usize {
    100
}

impl Part {
    /// The newest movements of an account, at most 100.
    #[must_use]
    pub const fn newest(account: AccountId) -> Self {
        let (after, before, from, to) = (None, None, None, None);
        Self { account, after, before, from, to, grants_after: 0, limit: usual_limit() }
    }

    /// The times of its movements.
    #[must_use]
    pub const fn period(&self) -> Period {
        Period { from: self.from, to: self.to }
    }
}

/// A part of an account's statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Statement {
    /// The time at which it was read.
    pub at: Millis,
    /// The balance then, as [`crate::Command::Balance`] gives it.
    pub balance: Balance,
    /// The grants that have available or held orbs then, in the order in which they were granted.
    pub grants: Vec<Left>,
    /// There may be more grants: those after this number.
    pub more_grants: Option<u64>,
    /// The movements, in their order.
    pub movements: Vec<Movement>,
    /// There may be earlier movements: those before this number.
    pub earlier: Option<u64>,
    /// There may be later movements: those after this number.
    pub later: Option<u64>,
}

/// What is left of a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Left {
    /// The grant.
    pub grant: Id,
    /// The number of its movement.
    pub seq: u64,
    /// Whether it was paid for.
    pub bucket: Bucket,
    /// The orbs that were granted.
    pub amount: Orbs,
    /// The time from which they can't be spent any more.
    pub expires_at: Option<Millis>,
    /// The time of the grant.
    pub at: Millis,
    /// Its orbs that can be held.
    pub available: Orbs,
    /// Its orbs that are reserved for calls that are running.
    pub held: Orbs,
}

/// A movement of orbs, as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Movement {
    /// Its number in the account: 1, 2, 3 and so on.
    pub seq: u64,
    /// Its time.
    pub at: Millis,
    /// What moved the orbs.
    pub cause: Cause,
    /// The id of the grant, revocation, hold, refund or freeze. That of a reset is the ledger's own.
    pub id: Id,
    /// The hold of a refund.
    pub hold: Option<Id>,
    /// The route of the call, if a gate held the orbs.
    pub route: Option<String>,
    /// The digest of the policy that decided the call, such as `sha256:…`.
    pub policy: Option<String>,
    /// What the hold is for, or why the command was sent.
    pub note: Note,
    /// The author of a grant, revocation, refund or freeze, if it is known.
    pub author: Note,
    /// The change of the account's paid orbs, held ones included: what is charged is negative.
    pub paid_change: i64,
    /// The same of its bonus orbs.
    pub bonus_change: i64,
    /// The change of its held orbs.
    pub held_change: i64,
    /// What a call cost. Negative for a refund.
    pub captured: i64,
    /// Orbs that left because their grant had expired, also those that a capture or a void released.
    pub expired: i64,
    /// The orbs after it, held ones included.
    pub posted: Orbs,
    /// The held orbs after it.
    pub held: Orbs,
    /// The available orbs after it: `paid` and `bonus`.
    pub available: Orbs,
    /// The available paid orbs after it.
    pub paid: Orbs,
    /// The available bonus orbs after it.
    pub bonus: Orbs,
    /// The orbs of a capture that weren't there.
    pub shortfall: Orbs,
    /// False if it has expired and will be written with the account's next command, or before.
    pub written: bool,
}

/// The orbs of all accounts at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Totals {
    /// Movements at this time or earlier are counted, those that have expired and aren't written too.
    pub at: Millis,
    /// Orbs that were neither spent, expired nor revoked.
    pub outstanding: u64,
    /// The paid orbs.
    pub paid: Sums,
    /// The bonus orbs.
    pub bonus: Sums,
}

/// The orbs of a bucket since the first movement. `granted` and `refunded` are together `captured`, `expired`, `revoked` and
/// `outstanding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Sums {
    /// Were granted.
    pub granted: u64,
    /// Were spent.
    pub captured: u64,
    /// Were spent and came back.
    pub refunded: u64,
    /// Have expired.
    pub expired: u64,
    /// Were revoked.
    pub revoked: u64,
    /// `available` and `held`.
    pub outstanding: u64,
    /// Can be held.
    pub available: u64,
    /// Are reserved for calls that are running.
    pub held: u64,
}
