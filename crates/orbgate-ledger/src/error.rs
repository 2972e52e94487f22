//! Why a command wasn't done.

use core::error;
use core::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::answer::Settled;
use crate::cause::State;
use crate::value::{Millis, Orbs};

/// Why a command wasn't done. Nothing has changed, except after [`Error::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Error {
    /// The id belongs to a command with other content.
    Conflict,
    /// The hold is already settled otherwise, or was voided before it came: this is how.
    Settled(Settled),
    /// The hold isn't pending any more, so it can't be extended.
    NotPending(State),
    /// No hold has this id.
    UnknownHold,
    /// The account has no grant of this id.
    UnknownGrant,
    /// The account doesn't exist.
    UnknownAccount,
    /// The hold wasn't captured, so nothing of it can be refunded: this is its state.
    NotCaptured(State),
    /// A refund of more than was captured, or a revocation of more than is available: only so much is left.
    TooMuch(Orbs),
    /// A refund to a grant that has expired, without a new expiry.
    ExpiryNeeded,
    /// The id of a refund is over 122 characters, because it names new grants.
    LongId,
    /// An amount or a time to live of 0.
    Zero,
    /// A grant that has expired already.
    Expired,
    /// The account would have more than 2^53 − 1 orbs, or a time would be later than that.
    TooLarge,
    /// The ledger hasn't given out this cursor, or has forgotten it because a backup was restored. Go back to an earlier one.
    Cursor,
    /// Totals of a time that is less than a minute ago, or than a minute before what a standby has reached: movements of it might not be
    /// there yet. This is the latest time that has totals.
    TooRecent(Millis),
    /// The store is busy: the command hasn't reached it.
    Busy,
    /// The store's clock has leapt ahead, so no command is done until it is set or accepted. Then send the command again, with the same
    /// id. The text says what has happened, and how to accept it.
    Clock(String),
    /// The store has stopped after an error, or can't be reached: the command might have been done or not. Send it again,
    /// with the same id.
    Unknown(String),
}

impl Error {
    /// The code of it, the same in every language.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Settled(_) => "settled",
            Self::NotPending(_) => "not_pending",
            Self::UnknownHold => "unknown_hold",
            Self::UnknownGrant => "unknown_grant",
            Self::UnknownAccount => "unknown_account",
            Self::NotCaptured(_) => "not_captured",
            Self::TooMuch(_) => "too_much",
            Self::ExpiryNeeded => "expiry_needed",
            Self::LongId => "long_id",
            Self::Zero => "zero",
            Self::Expired => "expired",
            Self::TooLarge => "too_large",
            Self::Cursor => "cursor",
            Self::TooRecent(_) => "too_recent",
            Self::Busy => "busy",
            Self::Clock(_) => "clock",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// What a service answers to a command that wasn't done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Refusal {
    /// The code of the error. After `busy`, `clock` and `unknown`, send the command again with the same id.
    pub error: String,
    /// The error in words.
    pub message: String,
    /// How the hold was settled, after `settled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

impl Refusal {
    /// A code that isn't of [`Error`], such as `invalid`.
    #[must_use]
    pub fn new(code: &str, message: String) -> Self {
        Self { error: code.to_owned(), message, settled: None }
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        let settled = match error {
            Error::Settled(settled) => Some(settled.clone()),
            _ => None,
        };
        Self { error: error.code().to_owned(), message: error.to_string(), settled }
    }
}

/// The answer of a service to one of several commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[allow(clippy::exhaustive_enums, reason = "a command is done or not")]
pub enum Each<R> {
    /// It was done.
    Done(R),
    /// It wasn't.
    Refused(Refusal),
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Conflict => "the id belongs to a command with other content",
            Self::Settled(settled) => return write!(formatter, "the hold was already {}", settled.state.name()),
            Self::NotPending(state) => return write!(formatter, "the hold is {}, not pending", state.name()),
            Self::UnknownHold => "no hold has this id",
            Self::UnknownGrant => "the account has no grant of this id",
            Self::UnknownAccount => "the account doesn't exist",
            Self::NotCaptured(state) => return write!(formatter, "the hold is {}, not captured", state.name()),
            Self::TooMuch(left) => return write!(formatter, "only {left} orbs are left"),
            Self::ExpiryNeeded => "a grant of this hold has expired: state when the refunded orbs expire",
            Self::LongId => "the id of a refund has at most 122 characters",
            Self::Zero => "0 is neither an amount nor a time to live",
            Self::Expired => "the grant has expired already",
            Self::TooLarge => "the sum is over 9007199254740991",
            Self::Cursor => "the cursor isn't from this ledger, or from after the backup that was restored",
            Self::TooRecent(latest) => {
                let latest = latest.rfc3339();
                return write!(
                    formatter,
                    "the time is less than a minute ago, or later than a standby has reached: the latest with totals is {latest}"
                );
            }
            Self::Busy => "the ledger is busy",
            Self::Clock(why) | Self::Unknown(why) => return formatter.write_str(why),
        })
    }
}

impl error::Error for Error {}
