//! What a caller asks of a ledger.

use serde::{Deserialize, Serialize};

use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs};

/// A command. It touches one account, and is done entirely or not at all.
///
/// Each command is idempotent by its id, which belongs to its kind: the same id with the same content gives the first
/// receipt and changes nothing, and other content is [`crate::Error::Conflict`]. A hold's id also identifies its settlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a store has to do every command")]
pub enum Command {
    /// Adds orbs to an account.
    Grant(Grant),
    /// Takes back the part of a grant that is neither held nor spent.
    Revoke(Revoke),
    /// Reserves orbs before a call, if the account has enough.
    Hold(Hold),
    /// Gives a pending hold more time.
    Extend(Extend),
    /// Captures or voids a hold after the call.
    Settle(Settle),
    /// Gives captured orbs back.
    Refund(Refund),
    /// Denies all new holds of an account, or no longer.
    Freeze(Freeze),
    /// Reads the balance of an account.
    Balance(AccountId),
    /// Lists the pending holds of an account.
    Holds(AccountId),
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Command {
    /// The name of its kind, such as `hold`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Grant(_) => "grant",
            Self::Revoke(_) => "revoke",
            Self::Hold(_) => "hold",
            Self::Extend(_) => "extend",
            Self::Settle(_) => "settle",
            Self::Refund(_) => "refund",
            Self::Freeze(_) => "freeze",
            Self::Balance(_) => "balance",
            Self::Holds(_) => "holds",
        }
    }

    /// Whether it writes nothing.
    #[cfg(feature = "sqlite")]
    pub(crate) const fn only_reads(&self) -> bool {
        matches!(self, Self::Balance(_) | Self::Holds(_))
    }

    /// The ids that it names.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &Id> {
        let ids = match self {
            Self::Grant(Grant { id, .. })
            | Self::Hold(Hold { id, .. })
            | Self::Settle(Settle { hold: id, .. })
            | Self::Freeze(Freeze { id, .. }) => [Some(id), None],
            Self::Revoke(Revoke { id, grant: other, .. })
            | Self::Extend(Extend { id, hold: other, .. })
            | Self::Refund(Refund { id, hold: other, .. }) => [Some(id), Some(other)],
            Self::Balance(_) | Self::Holds(_) => [None, None],
        };
        ids.into_iter().flatten()
    }

    /// The account that it names.
    pub(crate) const fn account(&self) -> Option<&AccountId> {
        match self {
            Self::Grant(Grant { account, .. })
            | Self::Revoke(Revoke { account, .. })
            | Self::Hold(Hold { account, .. })
            | Self::Freeze(Freeze { account, .. })
            | Self::Balance(account)
            | Self::Holds(account) => Some(account),
            Self::Extend(_) | Self::Settle(_) | Self::Refund(_) => None,
        }
    }

    /// The hold that it is about.
    pub(crate) const fn of_hold(&self) -> Option<&Id> {
        match self {
            Self::Hold(Hold { id: hold, .. })
            | Self::Extend(Extend { hold, .. })
            | Self::Settle(Settle { hold, .. })
            | Self::Refund(Refund { hold, .. }) => Some(hold),
            Self::Grant(_) | Self::Revoke(_) | Self::Freeze(_) | Self::Balance(_) | Self::Holds(_) => None,
        }
    }
}

/// Orbs for an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The id of the grant.
    pub id: Id,
    /// The account, which the first grant opens.
    pub account: AccountId,
    /// The number of orbs, at least 1.
    pub amount: Orbs,
    /// Whether they were paid for.
    pub bucket: Bucket,
    /// The time from which they can't be spent any more.
    #[serde(default)]
    pub expires_at: Option<Millis>,
    /// The account must exist already, so that a slip in its name grants nothing. Not part of the content.
    #[serde(default)]
    pub existing: bool,
    /// What it is for. Not part of the content.
    #[serde(default)]
    pub note: Note,
    /// The author. Not part of the content, nor of a message: a service knows it by the secret.
    #[serde(skip)]
    pub author: Note,
}

impl Grant {
    /// Paid orbs that don't expire, for a new account or an existing one.
    #[must_use]
    pub fn new(id: Id, account: AccountId, amount: Orbs) -> Self {
        let (note, author) = (Note::default(), Note::default());
        Self { id, account, amount, bucket: Bucket::Paid, expires_at: None, existing: false, note, author }
    }
}

/// Takes back what is left of a grant, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    /// The id of this command.
    pub id: Id,
    /// The account of the grant.
    pub account: AccountId,
    /// The id of the grant.
    pub grant: Id,
    /// So many orbs, at least 1. All that are neither held nor spent, if it isn't stated.
    #[serde(default)]
    pub amount: Option<Orbs>,
    /// What it is for. Not part of the content.
    #[serde(default)]
    pub note: Note,
    /// The author. Not part of the content, nor of a message: a service knows it by the secret.
    #[serde(skip)]
    pub author: Note,
}

impl Revoke {
    /// All orbs of a grant that are neither held nor spent.
    #[must_use]
    pub fn new(id: Id, account: AccountId, grant: Id) -> Self {
        Self { id, account, grant, amount: None, note: Note::default(), author: Note::default() }
    }
}

/// Gives captured orbs back to their grants, in the reverse of the order in which orbs are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refund {
    /// The id of this command: at most 122 characters, because it names new grants.
    pub id: Id,
    /// The id of the hold that was captured.
    pub hold: Id,
    /// So many orbs, at least 1. All that were captured and not refunded yet, if it isn't stated.
    #[serde(default)]
    pub amount: Option<Orbs>,
    /// Orbs of a grant that has expired come back as a new grant, which expires at this time. It is required for these.
    #[serde(default)]
    pub expires_at: Option<Millis>,
    /// What it is for. Not part of the content.
    #[serde(default)]
    pub note: Note,
    /// The author. Not part of the content, nor of a message: a service knows it by the secret.
    #[serde(skip)]
    pub author: Note,
}

impl Refund {
    /// All that was captured and not refunded yet.
    #[must_use]
    pub fn new(id: Id, hold: Id) -> Self {
        Self { id, hold, amount: None, expires_at: None, note: Note::default(), author: Note::default() }
    }

    /// The id of the grant that has the orbs of grants of this bucket that have expired. None if the id is too long.
    pub(crate) fn grant(&self, bucket: Bucket) -> Option<Id> {
        Id::new(format!("{}/{}", self.id, bucket.name())).ok()
    }
}

/// Denies all new holds of an account, or no longer. Those that are pending settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Freeze {
    /// The id of this command.
    pub id: Id,
    /// The account, which must exist.
    pub account: AccountId,
    /// Whether new holds are denied.
    pub frozen: bool,
    /// What it is for. Not part of the content.
    #[serde(default)]
    pub note: Note,
    /// The author. Not part of the content, nor of a message: a service knows it by the secret.
    #[serde(skip)]
    pub author: Note,
}

impl Freeze {
    /// Denies all new holds, or no longer.
    #[must_use]
    pub fn new(id: Id, account: AccountId, frozen: bool) -> Self {
        Self { id, account, frozen, note: Note::default(), author: Note::default() }
    }
}

/// Orbs to reserve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// The id of the hold.
    pub id: Id,
    /// The account.
    pub account: AccountId,
    /// The number of orbs, at least 1.
    pub amount: Orbs,
    /// Whether bonus orbs may be used.
    pub bonus: bool,
    /// After this time the hold expires, and its orbs are released. At least 1 millisecond.
    pub ttl: Millis,
    /// What the hold is for.
    #[serde(default)]
    pub note: Note,
}

/// More time for a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extend {
    /// The id of this command.
    pub id: Id,
    /// The id of the hold.
    pub hold: Id,
    /// The hold expires this long after now, or when it would have expired, whichever is later. At least 1 millisecond.
    pub ttl: Millis,
}

/// The end of a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Settle {
    /// The id of the hold.
    pub hold: Id,
    /// How it ends.
    pub settlement: Settlement,
}

/// How a hold ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a store has to know every settlement")]
pub enum Settlement {
    /// Spends this many orbs. What was held beyond that is released. If it is more than was held, or if the hold has
    /// expired, the rest is taken from what is available, as far as that goes; what is missing is the shortfall.
    Capture(Orbs),
    /// Releases all of it. A void of an unknown hold is stored, and refuses the hold if it comes later.
    Void,
}
