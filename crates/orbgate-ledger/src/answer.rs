//! What a ledger answers: receipts, denials, balances and entries.

use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Moved, State};
use crate::value::{AccountId, Bucket, Id, Millis, Note, Orbs, words};

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "one for each command")]
pub enum Answer {
    /// To [`crate::Command::Grant`].
    Granted(Done<Granted>),
    /// To [`crate::Command::Revoke`].
    Revoked(Done<Revoked>),
    /// To [`crate::Command::Hold`].
    Hold(HoldAnswer),
    /// To [`crate::Command::Extend`].
    Extended(Done<Extended>),
    /// To [`crate::Command::Settle`].
    Settled(Done<Settled>),
    /// To [`crate::Command::Refund`].
    Refunded(Done<Refunded>),
    /// To [`crate::Command::Freeze`].
    Frozen(Done<Frozen>),
    /// To [`crate::Command::Balance`].
    Balance(Balance),
    /// To [`crate::Command::Holds`].
    Holds(Vec<Pending>),
}

/// A receipt, and whether the command had been done before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Done<R> {
    /// The receipt of the first time.
    #[serde(flatten)]
    pub receipt: R,
    /// Whether a command with this id and content had been done before.
    pub repeated: bool,
}

/// The receipt of a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Granted {
    /// The grant.
    pub id: Id,
    /// Its account.
    pub account: AccountId,
    /// The orbs.
    pub amount: Orbs,
    /// Whether they were paid for.
    pub bucket: Bucket,
    /// The time from which they can't be spent any more.
    pub expires_at: Option<Millis>,
    /// Whether it has opened the account.
    pub new_account: bool,
    /// The time of the command.
    pub at: Millis,
}

/// What a command line and a service answer to a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GrantAnswer {
    /// The receipt.
    #[serde(flatten)]
    pub done: Done<Granted>,
    /// If it has opened an account: others whose names differ only by case, spaces or invisible characters, at most 10. Perhaps the orbs
    /// are for one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<AccountId>,
}

impl Done<Granted> {
    /// Whether it has opened an account now, and not before.
    #[must_use]
    pub const fn opens(&self) -> bool {
        self.receipt.new_account && !self.repeated
    }

    /// The answer with the accounts whose names are like that of a new one.
    #[must_use]
    pub const fn with(self, similar: Vec<AccountId>) -> GrantAnswer {
        GrantAnswer { done: self, similar }
    }
}

/// The receipt of a revocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revoked {
    /// The command.
    pub id: Id,
    /// The account.
    pub account: AccountId,
    /// The grant.
    pub grant: Id,
    /// The orbs that were taken back.
    pub amount: Orbs,
    /// The time of the command.
    pub at: Millis,
}

/// The receipt of a refund.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refunded {
    /// The command.
    pub id: Id,
    /// The hold that was captured.
    pub hold: Id,
    /// The account.
    pub account: AccountId,
    /// The orbs that were given back.
    pub amount: Orbs,
    /// How many of them are bonus orbs.
    pub bonus: Orbs,
    /// The time at which orbs of grants that had expired expire now, if the command stated it.
    pub expires_at: Option<Millis>,
    /// The time of the command.
    pub at: Millis,
}

/// The receipt of a freeze, or of its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frozen {
    /// The command.
    pub id: Id,
    /// The account.
    pub account: AccountId,
    /// Whether new holds are denied from then on.
    pub frozen: bool,
    /// The time of the command.
    pub at: Millis,
}

/// The answer to a hold. A denial is a value: it isn't stored, and asking again checks again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "hold", rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a hold is admitted or denied")]
pub enum HoldAnswer {
    /// The orbs are held, or were when the hold came first.
    Held {
        /// The receipt of the first time.
        #[serde(flatten)]
        receipt: Held,
        /// Whether a hold with this id and content had been admitted before.
        repeated: bool,
        /// The state of the hold now. A repeated hold covers a call only if it is pending.
        state: State,
    },
    /// The account doesn't have enough.
    Denied(Denied),
}

/// The receipt of a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Held {
    /// The hold.
    pub id: Id,
    /// Its account.
    pub account: AccountId,
    /// The orbs.
    pub amount: Orbs,
    /// How many of them are bonus orbs.
    pub bonus: Orbs,
    /// The time at which the hold expires unless it is extended.
    pub expires_at: Millis,
    /// The time of the command.
    pub at: Millis,
}

/// A hold that wasn't admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Denied {
    /// The orbs that the hold needs.
    pub needed: Orbs,
    /// The orbs that it could use.
    pub available: Orbs,
    /// Why it can't have them.
    pub reason: Denial,
    /// For [`Denial::TemporarilyHeld`], the time at which the account's next hold expires.
    pub retry_at: Option<Millis>,
}

/// Why a hold is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "frozen: they are the details of a decision")]
pub enum Denial {
    /// The account has too few orbs.
    Insufficient,
    /// Bonus orbs would suffice, but the hold may not use them.
    BonusNotAllowed,
    /// There would be enough if other calls released what they hold.
    TemporarilyHeld,
    /// The account is frozen.
    Frozen,
}

words! { pub Denial {
    Insufficient: "insufficient",
    BonusNotAllowed: "bonus_not_allowed",
    TemporarilyHeld: "temporarily_held",
    Frozen: "frozen",
} }

/// The receipt of an extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extended {
    /// The command.
    pub id: Id,
    /// The hold.
    pub hold: Id,
    /// The time at which the hold expires now.
    pub expires_at: Millis,
    /// The time of the command.
    pub at: Millis,
}

/// The receipt of a settlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// The hold.
    pub hold: Id,
    /// Its account; null if the hold was voided before it came.
    pub account: Option<AccountId>,
    /// Captured or voided.
    pub state: State,
    /// The orbs to capture.
    pub requested: Orbs,
    /// The orbs that were spent.
    pub captured: Orbs,
    /// How many of those are bonus orbs.
    pub bonus: Orbs,
    /// The orbs that were requested but not there.
    pub shortfall: Orbs,
    /// Whether the hold had expired.
    pub late: bool,
    /// The time of the command.
    pub at: Millis,
}

/// The orbs of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Balance {
    /// The account.
    pub account: AccountId,
    /// Neither spent, expired nor revoked: `held` and `available`.
    pub posted: Orbs,
    /// Reserved for calls that are running.
    pub held: Orbs,
    /// Can be held: `paid` and `bonus`.
    pub available: Orbs,
    /// The available orbs that were paid for.
    pub paid: Orbs,
    /// The available bonus orbs.
    pub bonus: Orbs,
    /// Whether new holds are denied.
    pub frozen: bool,
}

/// A pending hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// The hold.
    pub id: Id,
    /// The orbs.
    pub amount: Orbs,
    /// How many of them are bonus orbs.
    pub bonus: Orbs,
    /// The time of the hold.
    pub at: Millis,
    /// The time at which it expires unless it is extended.
    pub expires_at: Millis,
    /// What it is for.
    pub note: Note,
}

/// A movement of orbs. Entries are written once and never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The account.
    pub account: AccountId,
    /// The number of the entry in its account: 1, 2, 3 and so on.
    pub seq: u64,
    /// The time of the movement. Within an account it never decreases, but for [`Cause::ClockReset`].
    pub at: Millis,
    /// What moved the orbs.
    pub cause: Cause,
    /// The id of the grant, revocation, hold, refund or freeze. That of a reset is the ledger's own.
    pub id: Id,
    /// The changes, one for each grant.
    pub lines: Vec<Line>,
    /// What the hold is for, or why the command was sent.
    pub note: Note,
    /// The author of a grant, revocation, refund or freeze, if it is known.
    pub author: Note,
    /// The hold of a refund.
    pub hold: Option<Id>,
    /// The account's available paid orbs after the movement.
    pub paid: Orbs,
    /// The account's available bonus orbs after the movement.
    pub bonus: Orbs,
    /// The account's held orbs after the movement.
    pub held: Orbs,
    /// The orbs of a capture that weren't there.
    pub shortfall: Orbs,
}

/// The change of one grant. What leaves `available` and `held` and isn't captured has expired or was revoked. What leaves `captured`, and
/// isn't available, is in a new grant of the same refund.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// The grant.
    pub grant: Id,
    /// Whether it was paid for.
    pub bucket: Bucket,
    /// The change of its available orbs.
    pub available: i64,
    /// The change of its held orbs.
    pub held: i64,
    /// The change of its captured orbs.
    pub captured: i64,
}

impl Line {
    /// One of the changes.
    pub(crate) const fn change(&self, moved: Moved) -> i64 {
        match moved {
            Moved::Available => self.available,
            Moved::Held => self.held,
            Moved::Captured => self.captured,
        }
    }
}

/// A part of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The entries, each with the cursor after it. Nothing can appear before a cursor later.
    pub entries: Vec<(Cursor, Entry)>,
    /// Entries that come after this page was read aren't earlier than this, unless a clock goes back. So once it has passed the end of
    /// a month, and the page is the last one, the month is complete.
    pub complete_until: Millis,
}

/// A part of the log in the answer of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Entries {
    /// The entries.
    pub entries: Vec<Entry>,
    /// The cursor after the last one; null without entries.
    pub next: Option<String>,
    /// Entries that come later aren't earlier than this, unless a clock goes back. After the last page, what is before it is complete.
    pub complete_until: Millis,
}

impl From<Page> for Entries {
    fn from(page: Page) -> Self {
        let next = page.entries.last().map(|(cursor, _)| cursor.0.clone());
        let complete_until = page.complete_until;
        Self { entries: page.entries.into_iter().map(|(_, entry)| entry).collect(), next, complete_until }
    }
}

/// What a command line answers once everything that has expired is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(clippy::exhaustive_structs, reason = "the command makes it")]
pub struct Complete {
    /// Entries that come later aren't earlier than this, unless a clock goes back.
    pub complete_until: Millis,
}

/// A ledger's clock, and what its times have done to accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClockState {
    /// The time of the ledger's clock.
    pub now: Millis,
    /// The time of the newest entry.
    pub newest: Option<Millis>,
    /// The time at which the clock was accepted last, or accounts were reset.
    pub accepted: Option<Millis>,
    /// Whether a program that opens the ledger now does no command, because the clock is over 30 days ahead of both.
    pub refused: bool,
    /// How many accounts have a time that is ahead of the clock.
    pub ahead: u64,
    /// The latest time of an account.
    pub latest: Option<Millis>,
    /// How many accounts were brought back now.
    pub reset: u64,
    /// How many pending holds were shortened now.
    pub shortened: u64,
    /// The grants whose orbs have expired before their time, also those that have been granted again since.
    pub early: Vec<Early>,
}

/// Orbs of a grant that have expired before its time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Early {
    /// The account.
    pub account: AccountId,
    /// The grant.
    pub grant: Id,
    /// Whether they were paid for.
    pub bucket: Bucket,
    /// The orbs that have expired.
    pub expired: Orbs,
    /// The time from which they couldn't have been spent.
    pub expires_at: Millis,
}

/// A position in the log of a store: what comes after it can be read later.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cursor(pub(crate) String);

impl Cursor {
    /// A cursor that an earlier run has printed. The empty string is the beginning.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The string of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
