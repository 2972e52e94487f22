//! The ledger in PostgreSQL, for more than one machine: each command is one call of a function, in a transaction of its own.

mod connection;
mod verify;

use core::fmt::{self, Debug};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use ::postgres::Config;

use crate::answer::{Answer, Cursor, Page};
use crate::command::Command;
use crate::error::Error;
use crate::ledger::{Clock, Ledger, Reply, gone};
use crate::postgres::connection::Connection;
use crate::value::Order;
use crate::verify::Faults;

/// How many commands can wait for a connection. More are [`Error::Busy`].
const QUEUE: usize = 4096;

/// A ledger in a PostgreSQL database, in its schema `orbs`. It needs version 13 or newer.
///
/// The time is the database's. A commit is never cancelled. If an answer gets lost, the same command is sent again, for some
/// seconds; then it is [`Error::Unknown`].
pub struct Postgres {
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// For entries and verification.
    reader: Shared<Connection>,
}

type Job = (Box<Command>, Reply);

impl Debug for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Postgres").field("connections", &self.threads.len()).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Whether this names a database, and not a file: a URL, or pairs of `keyword=value` in any order. A file with such a name
    /// is written `./name`.
    #[must_use]
    pub fn is_url(db: &str) -> bool {
        let keyword = db.split_once('=').map_or("", |(keyword, _)| keyword.trim());
        db.starts_with("postgres:")
            || db.starts_with("postgresql:")
            || db.contains("://")
            || !keyword.is_empty() && keyword.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    }

    /// Connects to a ledger with so many connections, or creates it, such as
    /// `host=/run/postgresql user=orbs dbname=orbs`. The connection isn't encrypted: use a Unix socket or a private network.
    ///
    /// # Errors
    ///
    /// The database can't be reached, or its schema `orbs` isn't a ledger that this version knows.
    pub fn open(url: &str, connections: usize) -> Result<Self, Error> {
        Self::open_with(url, connections, None, None)
    }

    /// The same with an order for a new ledger, and with another clock than the database's: for tests.
    ///
    /// # Errors
    ///
    /// As for [`Postgres::open`], or the ledger was created with another order.
    pub fn open_with(
        url: &str,
        connections: usize,
        order: Option<Order>,
        clock: Option<Arc<dyn Clock>>,
    ) -> Result<Self, Error> {
        let config: Config = url.parse().map_err(|error| Error::Unknown(format!("postgres: {error}")))?;
        let mut reader = Connection::new(config.clone(), clock.clone());
        reader.prepare(order)?;
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let queue = Arc::new(Shared::new(queue));
        let mut threads = Vec::with_capacity(connections);
        for _ in 0..connections.max(1) {
            let mut connection = Connection::new(config.clone(), clock.clone());
            let queue = Arc::clone(&queue);
            let work = move || work(&mut connection, &queue);
            let thread = thread::Builder::new().name("orbs".to_owned()).spawn(work);
            threads.push(thread.map_err(|error| Error::Unknown(format!("cannot start a thread: {error}")))?);
        }
        Ok(Self { jobs: Some(jobs), threads, reader: Shared::new(reader) })
    }
}

#[allow(clippy::disallowed_types, reason = "the threads of a store share its queue")]
type Shared<T> = std::sync::Mutex<T>;

fn work(connection: &mut Connection, queue: &Shared<Receiver<Job>>) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok((command, reply)) = job else {
            return;
        };
        reply(connection.run(&command));
    }
}

impl Ledger for Postgres {
    fn submit(&self, command: Command, reply: Reply) {
        let Some(jobs) = &self.jobs else {
            return reply(Err(gone()));
        };
        match jobs.try_send((Box::new(command), reply)) {
            Ok(()) => {}
            Err(TrySendError::Full((_, reply))) => reply(Err(Error::Busy)),
            Err(TrySendError::Disconnected((_, reply))) => reply(Err(gone())),
        }
    }

    fn entries(&self, after: &Cursor, limit: usize) -> Result<Page, Error> {
        self.reader.lock().map_err(|_| gone())?.entries(after, limit)
    }

    fn verify(&self) -> Result<Faults, Error> {
        let mut reader = self.reader.lock().map_err(|_| gone())?;
        verify::verify(&mut reader)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The threads end when they have done what is queued.
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// What the functions return.
pub(crate) type Returned = Result<Answer, Error>;

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
        ] {
            assert!(Postgres::is_url(db), "{db}");
        }
        for file in ["orbs.db", "./user=orbs", "/var/lib/orbs=1.db", "=", ""] {
            assert!(!Postgres::is_url(file), "{file}");
        }
    }
}
