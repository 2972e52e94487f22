//! What moves orbs, the states that it gives to holds, and all else that follows from it.

use serde::{Deserialize, Serialize};

use crate::value::words;

/// The state of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "the states of a hold")]
pub enum State {
    /// Orbs are held.
    Pending,
    /// Orbs were spent.
    Captured,
    /// All orbs were released.
    Voided,
    /// All orbs were released because the hold wasn't settled in time. It can still be captured or voided.
    Expired,
}

words! { pub State {
    Pending: "pending",
    Captured: "captured",
    Voided: "voided",
    Expired: "expired",
} }

/// What moved orbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "one for each command with an entry, and three for time")]
pub enum Cause {
    /// A grant.
    Grant,
    /// A revocation.
    Revoke,
    /// A hold.
    Hold,
    /// A hold was captured.
    Capture,
    /// A hold was voided.
    Void,
    /// A hold expired.
    HoldExpired,
    /// A grant expired.
    GrantExpired,
    /// A refund: one entry for each bucket.
    Refund,
    /// The account was frozen. No orbs move.
    Freeze,
    /// The account is no longer frozen. No orbs move.
    Unfreeze,
    /// The account's time was ahead of a clock that had been wrong, and went back. No orbs move.
    ClockReset,
}

words! { pub Cause {
    Grant: "grant",
    Revoke: "revoke",
    Hold: "hold",
    Capture: "capture",
    Void: "void",
    HoldExpired: "hold_expired",
    GrantExpired: "grant_expired",
    Refund: "refund",
    Freeze: "freeze",
    Unfreeze: "unfreeze",
    ClockReset: "clock_reset",
} }

/// What follows from a cause.
pub(crate) struct Row {
    /// What became of the grant, revocation or hold, in the id and the type of the event.
    pub(crate) event: &'static str,
    /// The change of a grant that the event tells. None if no orbs move.
    pub(crate) moved: Option<Moved>,
    /// The sum that a change of available orbs counts in.
    pub(crate) sum: Option<Sum>,
    /// The state that a hold has afterwards. Without one, the entry's id isn't that of a hold.
    pub(crate) hold: Option<State>,
    /// Whether new holds are denied from then on, if the entry changes it.
    pub(crate) frozen: Option<bool>,
    /// Whether time moved them, so that a batch may leave some for a later one.
    pub(crate) is_expiry: bool,
    /// Whether its command can have a note and an author.
    pub(crate) has_remark: bool,
}

/// One of the changes of a line.
#[derive(Clone, Copy)]
pub(crate) enum Moved {
    Available,
    Held,
    Captured,
}

/// A sum in what an account has got and lost.
#[derive(Clone, Copy)]
pub(crate) enum Sum {
    Granted,
    Revoked,
    /// What leaves the grants of a hold for a new one.
    Refunded,
}

impl Cause {
    /// Whether a command moves the orbs, and not the time or a clock.
    pub(crate) const fn is_command(self) -> bool {
        !self.row().is_expiry && !matches!(self, Self::ClockReset)
    }

    /// The words of those of commands.
    pub(crate) fn of_commands() -> Vec<&'static str> {
        Self::ALL.iter().filter(|cause| cause.is_command()).map(|cause| cause.name()).collect()
    }

    /// What follows from it.
    pub(crate) const fn row(self) -> Row {
        use Moved::{Available, Captured, Held};

        let (event, moved, sum, hold, frozen, is_expiry, has_remark) = match self {
            Self::Grant => ("granted", Some(Available), Some(Sum::Granted), None, None, false, true),
            Self::Revoke => ("revoked", Some(Available), Some(Sum::Revoked), None, None, false, true),
            Self::Hold => ("pending", Some(Held), None, Some(State::Pending), None, false, false),
            Self::Capture => ("captured", Some(Captured), None, Some(State::Captured), None, false, false),
            Self::Void => ("voided", Some(Held), None, Some(State::Voided), None, false, false),
            Self::HoldExpired => ("expired", Some(Held), None, Some(State::Expired), None, true, false),
            Self::GrantExpired => ("grant_expired", Some(Available), None, None, None, true, false),
            Self::Refund => ("refunded", Some(Available), Some(Sum::Refunded), None, None, false, true),
            Self::Freeze => ("frozen", None, None, None, Some(true), false, true),
            Self::Unfreeze => ("unfrozen", None, None, None, Some(false), false, true),
            Self::ClockReset => ("clock_reset", None, None, None, None, false, false),
        };
        Row { event, moved, sum, hold, frozen, is_expiry, has_remark }
    }
}
