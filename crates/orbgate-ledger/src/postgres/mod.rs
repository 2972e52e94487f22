//! The ledger in PostgreSQL, for more than one machine: group commit as in SQLite, with the database's clock and row locks.

mod failed;
mod feed;
mod open;
mod password;
mod rows;
mod settings;
mod tls;
mod verify;
mod writer;

use core::fmt::{self, Debug};
use core::mem;
use core::time::Duration;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use crate::answer::{Cursor, Page};
use crate::command::Command;
use crate::error::Error;
use crate::ledger::{Backlog, Clock, Ledger, Reply, gone};
use crate::postgres::open::Connection;
use crate::postgres::rows::BATCH;
use crate::postgres::settings::Settings;
use crate::value::Order;
use crate::verify::Faults;

/// How many commands can wait. More are [`Error::Busy`].
const QUEUE: usize = 4096;

/// How long the thread is idle before it looks again for what has expired.
const IDLE: Duration = Duration::from_secs(1);

/// So many batches of commands go first while something has expired.
const FIRST: usize = 16;

/// So many commands wait for the backlogs of their accounts. More stay in the queue.
const MOST_WAITING: usize = 4096;

/// A ledger in a PostgreSQL database, in its schema `orbs`. It needs version 13 or newer.
///
/// The time is the database's. A commit is never cancelled. If an answer gets lost, the same command is sent again, for some
/// seconds; then it is [`Error::Unknown`].
pub struct Postgres {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// For entries and verification.
    reader: Shared<Connection>,
}

enum Job {
    Run(Box<Command>, Reply),
    /// Writes everything that has expired.
    Expire(SyncSender<Result<(), Error>>),
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

    /// The same with a password that is the only line of a file. The file is read for each connection.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::open`], the connection string also has a password, or the file can't be read.
    pub fn open_with_password(url: &str, file: &Path) -> Result<Self, Error> {
        Self::connect(Settings::new(url, Some(file.to_owned()), &variable)?, None, None)
    }

    /// Checks a connection string, without a connection. The error doesn't contain a password.
    ///
    /// # Errors
    ///
    /// The connection string is invalid, or would need `sslmode`.
    pub fn check(url: &str) -> Result<(), Error> {
        Settings::new(url, None, &variable).map(drop)
    }

    /// The same with an order for a new ledger, and with another clock than the database's: for tests.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::open`], or the ledger was created with another order.
    pub fn open_with(url: &str, order: Option<Order>, clock: Option<Arc<dyn Clock>>) -> Result<Self, Error> {
        Self::connect(Settings::new(url, None, &variable)?, order, clock)
    }

    fn connect(settings: Settings, order: Option<Order>, clock: Option<Arc<dyn Clock>>) -> Result<Self, Error> {
        let mut reader = Connection::new(settings.another(), clock.clone());
        reader.prepare(order)?;
        let (jobs, queue) = mpsc::sync_channel::<Job>(QUEUE);
        let connection = Connection::new(settings, clock);
        let work = move || Worker { connection, queue, waiting: Vec::new(), expiring: Vec::new() }.work();
        let thread = thread::Builder::new().name("orbs".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Error::Unknown(format!("cannot start a thread: {error}")))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), reader: Shared::new(reader) })
    }
}

#[allow(clippy::disallowed_methods, reason = "a store is the edge: its password can be a variable")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The thread that does commands, and writes what has expired when none waits.
struct Worker {
    connection: Connection,
    queue: Receiver<Job>,
    /// The commands whose accounts have a backlog, in their order. They come again in each batch.
    waiting: Vec<(Box<Command>, Reply)>,
    /// The callers that wait until nothing that has expired is left.
    expiring: Vec<SyncSender<Result<(), Error>>>,
}

impl Worker {
    fn work(&mut self) {
        let (mut more, mut since) = (true, 0_usize);
        loop {
            let wait = if more || !self.waiting.is_empty() { Duration::ZERO } else { IDLE };
            let job = match self.queue.recv_timeout(wait) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) if self.waiting.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => None,
            };
            let is_idle = job.is_none() && self.waiting.is_empty();
            self.start(job);
            since = since.saturating_add(1);
            if is_idle || since >= FIRST || !self.expiring.is_empty() {
                since = 0;
                more = self.expire_some();
            }
        }
    }

    /// One batch at a time: what waits meanwhile is the next one.
    fn start(&mut self, mut job: Option<Job>) {
        let mut batch = mem::take(&mut self.waiting);
        let most = batch.len().saturating_add(BATCH).min(MOST_WAITING);
        while let Some(next) = job {
            match next {
                Job::Run(command, reply) => batch.push((command, reply)),
                Job::Expire(done) => self.expiring.push(done),
            }
            job = if batch.len() < most { self.queue.try_recv().ok() } else { None };
        }
        if batch.is_empty() {
            return;
        }
        let (commands, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let mut replies: Vec<Option<Reply>> = replies.into_iter().map(Some).collect();
        self.connection.run(&commands, &mut |at, answer| {
            if let Some(reply) = replies.get_mut(at).and_then(Option::take) {
                reply(answer);
            }
        });
        let waiting = commands.into_iter().zip(replies);
        self.waiting.extend(waiting.filter_map(|(command, reply)| Some((command, reply?))));
    }

    /// Writes a batch of what has expired, if the time passes by itself or a caller waits for it. Whether there is more.
    fn expire_some(&mut self) -> bool {
        if self.expiring.is_empty() && !self.connection.runs() {
            return false;
        }
        let expired = match self.connection.expire() {
            // Accounts that are locked elsewhere come again.
            Ok(Some(writes)) => return writes,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.expiring.drain(..).for_each(|done| drop(done.send(expired.clone())));
        false
    }
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
        self.reader.lock().map_err(|_| gone())?.backlog()
    }

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.reader.lock().map_err(|_| gone())?.entries(after, limit)
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn verify(&self) -> Result<Faults, Error> {
        let mut reader = self.reader.lock().map_err(|_| gone())?;
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
        thread::scope(|scope| drop(scope.spawn(|| self.reader.get_mut().map(Connection::close)).join()));
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
