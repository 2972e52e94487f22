//! What every durable store can do.

use core::fmt::Debug;
use std::sync::{OnceLock, mpsc};
use std::time::Instant;

use crate::answer::{
    Answer, Balance, Cursor, Done, Extended, Frozen, Granted, HoldAnswer, Page, Pending, Refunded, Revoked, Settled,
};
use crate::command::{Command, Extend, Freeze, Grant, Hold, Refund, Revoke, Settle};
use crate::error::Error;
use crate::people::{Listed, Listing, Part, Statement, Totals};
use crate::value::{AccountId, Millis};
use crate::verify::Faults;

/// The content of an answer of this kind.
macro_rules! expect {
    ($answer:expr, $kind:ident) => {
        match $answer? {
            Answer::$kind(content) => Ok(content),
            other => Err(Error::Unknown(format!("the ledger gave an answer to another command: {other:?}"))),
        }
    };
}

/// Receives the answer to a command, on a thread of the store. It must return soon, and must not panic.
pub type Reply = Box<dyn FnOnce(Result<Answer, Error>) + Send>;

/// A durable ledger. An answer comes only after everything that it depends on is durable.
pub trait Ledger: Debug + Send + Sync {
    /// Sends a command, and returns at once. If the store can't take it, the reply is [`Error::Busy`].
    fn submit(&self, command: Command, reply: Reply);

    /// The entries after a cursor, at most `limit`. Writes nothing: what has expired is written by the account's next command, or
    /// when the store is idle. In PostgreSQL, an entry is seen once a writer has numbered it, soon after its commit.
    ///
    /// # Errors
    ///
    /// [`Error::Cursor`] if the ledger hasn't given out this cursor, or has forgotten it because a backup was restored.
    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error>;

    /// The entries of one account after a cursor, at most `limit`; otherwise as [`Ledger::entries`]. None of an account that doesn't exist.
    ///
    /// # Errors
    ///
    /// As for [`Ledger::entries`].
    fn entries_of(&self, account: &AccountId, after: &Cursor, limit: usize) -> Result<Page, Error>;

    /// Accounts by their names, with their orbs. Like all that people read, it is what is true at one moment, expiries that aren't
    /// written included. It writes nothing and locks nothing. It takes a few reads by an index for each account.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn accounts(&self, listing: &Listing) -> Result<Vec<Listed>, Error>;

    /// A part of an account's statement: its balance, its grants, and its movements. After the last movement, the balance is that of
    /// [`Ledger::balance`].
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAccount`], or the store can't be read.
    fn statement(&self, part: &Part) -> Result<Statement, Error>;

    /// The orbs of all accounts at a time at least a minute ago; without one, a minute ago. Reads the whole ledger in pages, in one
    /// snapshot: with long ledgers, on a backup or a standby.
    ///
    /// # Errors
    ///
    /// [`Error::TooRecent`], or the store can't be read.
    fn totals(&self, at: Option<Millis>) -> Result<Totals, Error>;

    /// The names of accounts after this one, in the order of their bytes. It reads only their index and their rows.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn names(&self, after: &str, limit: usize) -> Result<Vec<AccountId>, Error>;

    /// Writes everything that has expired, and numbers every entry. Commands go first.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn expire(&self) -> Result<(), Error>;

    /// What has expired and isn't written yet, what readers don't see yet, and how many holds are pending.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn backlog(&self) -> Result<Backlog, Error>;

    /// Recomputes everything from the entries, and returns what differs. Commands can run at the same time.
    ///
    /// # Errors
    ///
    /// The store can't be read. Contradictions are no error.
    fn verify(&self) -> Result<Faults, Error>;

    /// Whether commands are done in the order in which they are submitted. Otherwise wait for one before you submit the next, if
    /// both concern one account.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Why the ledger has stopped for good, so that only opening it again helps. None while it works, and while it can come back by
    /// itself.
    fn stopped(&self) -> Option<String> {
        None
    }

    /// Does a command, and waits for the answer.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn run(&self, command: Command) -> Result<Answer, Error> {
        let (send, answer) = mpsc::sync_channel(1);
        self.submit(
            command,
            Box::new(move |answer| {
                // Whoever asked has gone.
                let _ = send.send(answer);
            }),
        );
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }

    /// Adds orbs to an account.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn grant(&self, command: Grant) -> Result<Done<Granted>, Error> {
        expect!(self.run(Command::Grant(command)), Granted)
    }

    /// Takes back what is left of a grant, or a part of it.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn revoke(&self, command: Revoke) -> Result<Done<Revoked>, Error> {
        expect!(self.run(Command::Revoke(command)), Revoked)
    }

    /// Reserves orbs before a call, if the account has enough: the check and the hold are one step.
    ///
    /// # Errors
    ///
    /// As [`Error`] says. A denial is no error.
    fn hold(&self, command: Hold) -> Result<HoldAnswer, Error> {
        expect!(self.run(Command::Hold(command)), Hold)
    }

    /// Gives a pending hold more time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn extend(&self, command: Extend) -> Result<Done<Extended>, Error> {
        expect!(self.run(Command::Extend(command)), Extended)
    }

    /// Captures or voids a hold after the call.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn settle(&self, command: Settle) -> Result<Done<Settled>, Error> {
        expect!(self.run(Command::Settle(command)), Settled)
    }

    /// Gives captured orbs back.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn refund(&self, command: Refund) -> Result<Done<Refunded>, Error> {
        expect!(self.run(Command::Refund(command)), Refunded)
    }

    /// Denies all new holds of an account, or no longer.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn freeze(&self, command: Freeze) -> Result<Done<Frozen>, Error> {
        expect!(self.run(Command::Freeze(command)), Frozen)
    }

    /// Reads the balance of an account. An unknown account has 0 orbs.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn balance(&self, account: AccountId) -> Result<Balance, Error> {
        expect!(self.run(Command::Balance(account)), Balance)
    }

    /// Lists the pending holds of an account, the oldest first.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn holds(&self, account: AccountId) -> Result<Vec<Pending>, Error> {
        expect!(self.run(Command::Holds(account)), Holds)
    }
}

/// What has expired and isn't written yet, what readers don't see yet, and how many holds are pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backlog {
    /// The accounts that have such holds or grants.
    pub accounts: u64,
    /// How long ago the first of them expired.
    pub age: Millis,
    /// The entries that no reader sees, because they have no number yet. In SQLite, each has one.
    pub unnumbered: u64,
    /// The holds that are neither settled nor released.
    pub pending: u64,
    /// The holds that this process has released since it opened the ledger, because they had expired.
    pub expired: u64,
}

/// The time of a store that has none of its own.
pub trait Clock: Debug + Send + Sync {
    /// The time now.
    fn now(&self) -> Millis;

    /// Whether the time passes by itself. Otherwise an idle store writes nothing that has expired, so that whoever sets the time says
    /// when that happens.
    fn runs(&self) -> bool {
        true
    }

    /// Another clock, which never leaps and counts from anywhere. A store compares both, and does no command at a time to which this
    /// clock has leapt. None if whoever sets the time means it.
    fn steady(&self) -> Option<Millis> {
        None
    }
}

/// What an operator knows about a ledger's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a store has to do each")]
pub enum ClockChange {
    /// Nothing: it is only shown.
    Nothing,
    /// It is right, although it has leapt.
    Accept,
    /// It is right again: each account whose time is ahead of it is brought back.
    Reset,
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "a store is the edge: this is its clock")]
    fn now(&self) -> Millis {
        let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let milliseconds = since.map(|since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        Millis::new(milliseconds.unwrap_or(0)).unwrap_or(Millis::MAX)
    }

    #[allow(clippy::disallowed_methods, reason = "a store is the edge: this is its clock")]
    fn steady(&self) -> Option<Millis> {
        static START: OnceLock<Instant> = OnceLock::new();
        let passed = START.get_or_init(Instant::now).elapsed().as_millis();
        Millis::new(u64::try_from(passed).unwrap_or(u64::MAX)).ok()
    }
}

pub(crate) fn gone() -> Error {
    Error::Unknown("the ledger has stopped".to_owned())
}
