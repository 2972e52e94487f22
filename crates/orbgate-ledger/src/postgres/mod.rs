//! The ledger in PostgreSQL, for more than one machine: group commit as in SQLite, with the database's clock and row locks.

mod client;
mod clock;
mod columns;
mod failed;
mod feed;
mod named;
mod number;
mod numberer;
mod open;
mod password;
mod people;
mod rows;
mod settings;
mod tls;
mod verify;
mod watched;
mod worker;
mod write;
mod writer;

use core::fmt::{self, Debug};
use core::sync::atomic::{AtomicU64, Ordering};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use crate::answer::{ClockState, Cursor, Page};
use crate::command::Command;
use crate::error::Error;
use crate::ledger::{Backlog, Clock, ClockChange, Ledger, Reply, gone};
use crate::people::read::{accounts, statement, totals};
use crate::people::{Listed, Listing, Part, Statement, Totals};
use crate::postgres::numberer::Numbers;
use crate::postgres::open::Connection;
use crate::postgres::settings::Settings;
use crate::postgres::worker::{Job, Worker};
use crate::value::{AccountId, Millis, Order};
use crate::verify::Faults;

/// How many commands can wait. More are [`Error::Busy`].
const QUEUE: usize = 4096;

/// A ledger in a PostgreSQL database, in its schema `orbs`. It needs version 13 or newer.
///
/// The time is the database's. A commit is never cancelled. If an answer gets lost, the same command is sent again, for some
/// seconds; then it is [`Error::Unknown`].
pub struct Postgres {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// For reads that take little time.
    reader: Shared<Connection>,
    /// For those of the whole ledger, which others don't wait for. It connects with the first one.
    long: Shared<Connection>,
    /// How many holds the thread has released.
    expired: Arc<AtomicU64>,
}

impl Debug for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Postgres").finish_non_exhaustive()
    }
}

impl Postgres {
    /// Whether this names a database, and not a file: a URL, or pairs of `keyword=value` in any order, also with keywords
    /// of other drivers, which are refused: as a file's name, they would show a password. A file with such a name is written `./name`.
    #[must_use]
    pub fn is_url(db: &str) -> bool {
        let keyword = db.split_once('=').map_or("", |(keyword, _)| keyword.trim());
        db.starts_with("postgres:")
            || db.starts_with("postgresql:")
            || db.contains("://")
            || !keyword.is_empty() && keyword.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    /// Connects to a ledger, or creates it, such as `host=/run/postgresql user=orbs dbname=orbs`. A host that is neither a Unix
    /// socket nor a loopback address needs `sslmode`: the [README](crate#connections) has the keywords, and where a password can be.
    ///
    /// # Errors
    ///
    /// The connection string is invalid, the database can't be reached, or its schema `orbs` isn't a ledger that this version knows.
    pub fn open(url: &str) -> Result<Self, Error> {
        Self::open_with(url, None, None)
    }

    /// The same, for whoever only reads: while no command comes, it writes nothing. The database can be a standby, and the user can
    /// have the privilege to select only: on the schema `orbs` and its tables.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::open`].
    pub fn open_to_read(url: &str) -> Result<Self, Error> {
        Self::connect(Settings::new(url, None, &variable)?, None, None, false)
    }

    /// The same with a password that is the only line of a file. The file is read for each connection.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::open`], the connection string also has a password, or the file can't be read.
    pub fn open_with_password(url: &str, file: &Path) -> Result<Self, Error> {
        Self::connect(Settings::new(url, Some(file.to_owned()), &variable)?, None, None, true)
    }

    /// Checks a connection string, without a connection. The error doesn't contain a password.
    ///
    /// # Errors
    ///
    /// The connection string is invalid, or would need `sslmode`.
    pub fn check(url: &str) -> Result<(), Error> {
        Settings::new(url, None, &variable).map(drop)
    }

    /// The same, and reads the files that a connection would read: of a password, if `file` names it or the connection string does, and
    /// of certificates.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::check`], or a file can't be used.
    pub fn check_files(url: &str, file: Option<&Path>) -> Result<(), Error> {
        Settings::new(url, file.map(Path::to_owned), &variable)?.files().map(drop)
    }

    /// Accepts the database's clock or resets accounts, if asked to, and returns what is true then. Other processes that do no command because the
    /// clock has leapt notice it.
    ///
    /// # Errors
    ///
    /// The database can't be read or written, or accounts would be brought back to a time before 2026.
    pub fn clock(&self, change: ClockChange) -> Result<ClockState, Error> {
        clock::change(&mut *self.reader.lock().map_err(|_| gone())?, change)
    }

    /// Opens a ledger with an order for a new one, and with another clock than the database's: for tests.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::open`], or the ledger was created with another order.
    pub fn open_with(url: &str, order: Option<Order>, clock: Option<Arc<dyn Clock>>) -> Result<Self, Error> {
        Self::connect(Settings::new(url, None, &variable)?, order, clock, true)
    }

    fn connect(
        settings: Settings,
        order: Option<Order>,
        clock: Option<Arc<dyn Clock>>,
        is_writer: bool,
    ) -> Result<Self, Error> {
        let mut reader = Connection::new(settings.another(), clock.clone());
        reader.prepare(order)?;
        let (jobs, queue) = mpsc::sync_channel::<Job>(QUEUE);
        let (numbers, numberer) = Numbers::start(Connection::new(settings.another(), clock.clone()), is_writer)?;
        let long = Shared::new(Connection::new(settings.another(), clock.clone()));
        let connection = Connection::new(settings, clock);
        let expired = Arc::clone(&connection.expired);
        let work = move || {
            Worker::new(connection, numbers, queue, is_writer).work();
            // It ends once what was written here has numbers.
            let _ = numberer.join();
        };
        let thread = thread::Builder::new().name("orbs".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Error::Unknown(format!("cannot start a thread: {error}")))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), reader: Shared::new(reader), long, expired })
    }
}

#[allow(clippy::disallowed_methods, reason = "a store is the edge: its password can be a variable")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[allow(clippy::disallowed_types, reason = "the readers of a store share its connection")]
type Shared<T> = std::sync::Mutex<T>;

impl Ledger for Postgres {
    fn submit(&self, command: Command, reply: Reply) {
        let Some(jobs) = &self.jobs else {
            return reply(Err(gone()));
        };
        match jobs.try_send(Job::Run(Box::new(command), reply)) {
            Ok(()) => {}
            Err(TrySendError::Full(Job::Run(_, reply))) => reply(Err(Error::Busy)),
            Err(TrySendError::Disconnected(Job::Run(_, reply))) => reply(Err(gone())),
            Err(_) => {}
        }
    }

    fn expire(&self) -> Result<(), Error> {
        let (done, wait) = mpsc::sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(Job::Expire(done)).map_err(|_| gone())?;
        wait.recv().unwrap_or_else(|_| Err(gone()))
    }

    fn backlog(&self) -> Result<Backlog, Error> {
        let backlog = self.reader.lock().map_err(|_| gone())?.backlog()?;
        Ok(Backlog { expired: self.expired.load(Ordering::Relaxed), ..backlog })
    }

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.reader.lock().map_err(|_| gone())?.entries(None, after, limit)
    }

    fn entries_of(&self, account: &AccountId, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.reader.lock().map_err(|_| gone())?.entries(Some(account), after, limit)
    }

    fn accounts(&self, listing: &Listing) -> Result<Vec<Listed>, Error> {
        self.reader.lock().map_err(|_| gone())?.read(|rows| accounts(rows, listing))
    }

    fn statement(&self, part: &Part) -> Result<Statement, Error> {
        self.reader.lock().map_err(|_| gone())?.read(|rows| statement(rows, part))
    }

    fn totals(&self, at: Option<Millis>) -> Result<Totals, Error> {
        self.long.lock().map_err(|_| gone())?.read(|rows| totals(rows, at))
    }

    fn names(&self, after: &str, limit: usize) -> Result<Vec<AccountId>, Error> {
        self.reader.lock().map_err(|_| gone())?.names(after, limit)
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn verify(&self) -> Result<Faults, Error> {
        let mut reader = self.long.lock().map_err(|_| gone())?;
        verify::verify(&mut reader)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The thread ends when it has done what is queued.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // The client runs a loop of its own to close its connection, which can't be inside another.
        for reader in [&mut self.reader, &mut self.long] {
            thread::scope(|scope| drop(scope.spawn(|| reader.get_mut().map(Connection::close)).join()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Postgres;

    #[test]
    fn a_database_is_never_taken_for_a_file() {
        for db in [
            "postgres://orbs@localhost/orbs",
            "postgresql:///orbs",
            "postgres:/orbs",
            "host=/run/postgresql user=orbs",
            "user=orbs host=/run/postgresql",
            "dbname = orbs",
            "sslmode=require host=db",
            "mysql://orbs",
            "Host=db.test;Username=orbs;Password=hunter2",
        ] {
            assert!(Postgres::is_url(db), "{db}");
        }
        for file in ["orbs.db", "./user=orbs", "/var/lib/orbs=1.db", "=", ""] {
            assert!(!Postgres::is_url(file), "{file}");
        }
    }
}
