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
            Self::Grant(Grant { id, .. }) | Self::Hold(Hold { id, .. }) | Self::Settle(Settle { hold: id, .. }) => {
                [Some(id), None]
            }
            Self::Revoke(Revoke { id, grant: other, .. }) | Self::Extend(Extend { id, hold: other, .. }) => {
                [Some(id), Some(other)]
            }
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
            | Self::Balance(account)
            | Self::Holds(account) => Some(account),
            Self::Extend(_) | Self::Settle(_) => None,
        }
    }

    /// The hold that it is about.
    pub(crate) const fn of_hold(&self) -> Option<&Id> {
        match self {
            Self::Hold(Hold { id: hold, .. })
            | Self::Extend(Extend { hold, .. })
            | Self::Settle(Settle { hold, .. }) => Some(hold),
            Self::Grant(_) | Self::Revoke(_) | Self::Balance(_) | Self::Holds(_) => None,
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
}

/// Takes back the rest of a grant.
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
