//! The ledger in a SQLite file: one writer, group commit, and no answer before the commit.

mod backup;
mod clock;
mod open;
mod people;
mod rows;
mod verify;
mod writer;

use core::fmt::{self, Debug};
use core::sync::atomic::{AtomicU64, Ordering};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::answer::{ClockState, Cursor, Entry, Page};
use crate::command::Command;
use crate::error::Error;
use crate::feed::Place;
use crate::ledger::{Backlog, Clock, ClockChange, Ledger, Reply, SystemClock, gone};
use crate::people::read::{accounts, statement, totals};
use crate::people::{Listed, Listing, Part, Statement, Totals};
use crate::plan::Stop;
use crate::sqlite::rows::Rows;
use crate::sqlite::writer::{Job, Writer};
use crate::value::{AccountId, Millis, Order};
use crate::verify::Faults;

/// How many commands can wait for the writer. More are [`Error::Busy`].
const QUEUE: usize = 4096;

/// A ledger in a SQLite file, which this process and others can open at the same time.
///
/// Commands of many threads share a commit. The file is in WAL mode with `synchronous=FULL`. After an error while writing,
/// the ledger stops: every command fails until the file is opened again.
pub struct Sqlite {
    path: PathBuf,
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    writes: bool,
    stopped: Arc<OnceLock<String>>,
    /// How many holds the writer has released.
    expired: Arc<AtomicU64>,
}

impl Debug for Sqlite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sqlite").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Sqlite {
    /// Opens a ledger, or creates one with the default [`Order`].
    ///
    /// # Errors
    ///
    /// The file can't be opened or isn't a ledger, or the SQLite library can corrupt files that two processes write.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path.as_ref(), None, Arc::new(SystemClock))
    }

    /// Opens a ledger, or creates one with this order; with another clock than the system's.
    ///
    /// # Errors
    ///
    /// As for [`Sqlite::open`], or the ledger was created with another order.
    pub fn open_with(path: &Path, order: Option<Order>, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let (connection, order) = open::writer(path, order)?;
        Self::start(path, (connection, true), order, clock)
    }

    /// Opens a ledger that is there, for whoever only reads: it writes nothing, also not what has expired, and refuses commands that
    /// write. A file of an older version is brought up to date first.
    ///
    /// # Errors
    ///
    /// The file can't be opened, or isn't a ledger.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_to_read_with(path.as_ref(), Arc::new(SystemClock))
    }

    /// The same with another clock than the system's.
    ///
    /// # Errors
    ///
    /// As for [`Sqlite::open_to_read`].
    pub fn open_to_read_with(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let connection = open::only_reader(path)?;
        // It takes no orbs, so their order doesn't matter.
        Self::start(path, (connection, false), Order::default(), clock)
    }

    fn start(
        path: &Path,
        (connection, writes): (Connection, bool),
        order: Order,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let stopped = Arc::new(OnceLock::new());
        let expired = Arc::default();
        let told = (Arc::clone(&stopped), Arc::clone(&expired));
        let work = move || Writer::new((connection, writes), order, clock, queue, told).work();
        let thread = thread::Builder::new().name("orbs".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Error::Unknown(format!("cannot start a thread: {error}")))?;
        Ok(Self { path: path.to_owned(), jobs: Some(jobs), thread: Some(thread), writes, stopped, expired })
    }

    /// Copies the ledger into a new file while commands run. The copy is durable and complete, and has every command that
    /// was answered before. Until then its name ends with `.part`; what a killed backup has left there is replaced.
    ///
    /// # Errors
    ///
    /// The file exists or can't be written, or another backup writes it now.
    pub fn backup(&self, to: &Path) -> Result<(), Error> {
        self.wait(|done| Job::Backup(to.to_owned(), done))
    }

    /// Accepts the clock or resets accounts, if asked to, and returns what is true then. Other processes that do no command because the clock has
    /// leapt notice it.
    ///
    /// # Errors
    ///
    /// The file can't be read or written, or accounts would be brought back to a time before 2026.
    pub fn clock(&self, change: ClockChange) -> Result<ClockState, Error> {
        self.wait(|done| Job::Clock(change, done))
    }

    /// A page of entries, and until when they are complete.
    fn page(&self, read: impl FnOnce(&mut Rows<'_>) -> Result<Vec<(Place, Entry)>, Stop>) -> Result<Page, Error> {
        // Before the entries are read, so that none is missed.
        let now = self.wait(Job::Time)?;
        let mut connection = open::reader(&self.path)?;
        let snapshot = connection.transaction().map_err(|error| Stop::from(error).error())?;
        let mut rows = Rows::new(&snapshot);
        let due = rows.first_due().map_err(Stop::error)?;
        let entries = read(&mut rows).map_err(Stop::error)?;
        let entries = entries.into_iter().map(|(place, entry)| (place.cursor(), entry));
        Ok(Page { entries: entries.collect(), complete_until: due.map_or(now, |due| due.min(now)) })
    }

    /// The time for people. Whoever only reads doesn't know whether another process writes, and shows what is committed now.
    fn time(&self) -> Result<Millis, Error> {
        self.wait(if self.writes { Job::Time } else { Job::Now })
    }

    fn wait<A: Send + 'static>(&self, job: impl FnOnce(SyncSender<Result<A, Error>>) -> Job) -> Result<A, Error> {
        let (done, wait) = mpsc::sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job(done)).map_err(|_| gone())?;
        wait.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Ledger for Sqlite {
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

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.page(|rows| rows.number_of(after).and_then(|after| rows.entries(after, limit)))
    }

    fn entries_of(&self, account: &AccountId, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.page(|rows| people::entries_of(rows, account, after, limit))
    }

    fn accounts(&self, listing: &Listing) -> Result<Vec<Listed>, Error> {
        people::read(&self.path, self.time()?, |rows| accounts(rows, listing))
    }

    fn statement(&self, part: &Part) -> Result<Statement, Error> {
        people::read(&self.path, self.time()?, |rows| statement(rows, part))
    }

    fn totals(&self, at: Option<Millis>) -> Result<Totals, Error> {
        people::read(&self.path, self.time()?, |rows| totals(rows, at))
    }

    fn names(&self, after: &str, limit: usize) -> Result<Vec<AccountId>, Error> {
        people::names(&self.path, after, limit)
    }

    fn expire(&self) -> Result<(), Error> {
        self.wait(Job::Expire)
    }

    fn backlog(&self) -> Result<Backlog, Error> {
        // What hasn't expired without a leap waits for nothing.
        let now = self.wait(Job::Now)?;
        let connection = open::reader(&self.path)?;
        let rows = Rows::new(&connection);
        let accounts = rows.count_due(now).map_err(Stop::error)?;
        let first = rows.first_due().map_err(Stop::error)?;
        let age = first.and_then(|first| now.minus(first)).unwrap_or_default();
        let pending = rows.count_pending().map_err(Stop::error)?;
        Ok(Backlog { accounts, age, unnumbered: 0, pending, expired: self.expired.load(Ordering::Relaxed) })
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn stopped(&self) -> Option<String> {
        self.stopped.get().cloned()
    }

    fn verify(&self) -> Result<Faults, Error> {
        verify::verify(&open::reader(&self.path)?).map_err(Stop::error)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // The writer ends when it has done what is queued.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
