//! The thread that writes: it takes the commands that wait, does them in one transaction, and answers after the commit. When none
//! waits, it writes what has expired.

use core::cell::Cell;
use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, ErrorCode};

use crate::answer::{Answer, ClockState};
use crate::command::Command;
use crate::error::Error;
use crate::ledger::{Clock, ClockChange, Reply};
use crate::plan::{self, Stop, Waits};
use crate::sqlite::open::{self, PATIENCE};
use crate::sqlite::rows::Rows;
use crate::value::{Millis, Order};
use crate::watch::Watch;

/// The most commands of a commit, and the most that it writes of what has expired.
pub(crate) const BATCH: usize = 200;

/// How long the writer is idle before it looks again for what has expired.
const IDLE: Duration = Duration::from_secs(1);

/// So many commits of commands go first while something has expired.
const FIRST: usize = 16;

/// So many commands wait for the backlogs of their accounts. More stay in the queue.
const MOST_WAITING: usize = 4096;

pub(crate) enum Job {
    Run(Box<Command>, Reply),
    /// Writes everything that has expired.
    Expire(SyncSender<Result<(), Error>>),
    /// Reads the clock, without a leap.
    Now(SyncSender<Result<Millis, Error>>),
    /// Reads a time before which no later transaction writes.
    Time(SyncSender<Result<Millis, Error>>),
    /// Copies the ledger into a new file.
    Backup(PathBuf, SyncSender<Result<(), Error>>),
    /// Accepts the clock, resets accounts, or only shows both.
    Clock(ClockChange, SyncSender<Result<ClockState, Error>>),
}

pub(crate) struct Writer {
    pub(crate) connection: Rc<Connection>,
    order: Order,
    pub(crate) clock: Arc<dyn Clock>,
    /// What is known of the clock.
    pub(crate) watch: Cell<Watch>,
    queue: Receiver<Job>,
    /// The commands whose accounts have a backlog, in their order. They come again in each commit.
    waiting: Vec<(Box<Command>, Reply)>,
    /// The callers that wait until nothing that has expired is left.
    expiring: Vec<SyncSender<Result<(), Error>>>,
    /// How many commits of commands there were since something that has expired was written.
    since: usize,
    /// Whether it writes. Otherwise its connection only reads.
    writes: bool,
    /// Why the ledger has stopped.
    stopped: Arc<OnceLock<String>>,
    /// How many holds it has released, because they had expired.
    expired: Arc<AtomicU64>,
}

/// A command that was done, but isn't durable yet.
type Done = (Reply, Result<Answer, Error>);

impl Writer {
    pub(crate) fn new(
        (connection, writes): (Connection, bool),
        order: Order,
        clock: Arc<dyn Clock>,
        queue: Receiver<Job>,
        (stopped, expired): (Arc<OnceLock<String>>, Arc<AtomicU64>),
    ) -> Self {
        let (waiting, expiring, watch, since) = (Vec::new(), Vec::new(), Cell::default(), 0);
        let connection = Rc::new(connection);
        Self { connection, order, clock, watch, queue, waiting, expiring, since, writes, stopped, expired }
    }

    /// Works until the ledger is dropped.
    pub(crate) fn work(&mut self) {
        let mut wait = Duration::ZERO;
        loop {
            wait = match self.queue.recv_timeout(wait) {
                Ok(job) => {
                    self.start(job);
                    if self.since >= FIRST || !self.expiring.is_empty() {
                        self.expire_some();
                    }
                    Duration::ZERO
                }
                Err(RecvTimeoutError::Disconnected) if self.waiting.is_empty() => return,
                Err(_) => self.rest(),
            };
        }
    }

    /// Does what is left when no job waits, and returns for how long to wait for the next one.
    fn rest(&mut self) -> Duration {
        let waiting = mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.batch(waiting);
            return Duration::ZERO;
        }
        if self.expire_some() { Duration::ZERO } else { IDLE }
    }

    /// Does the jobs that wait now.
    pub(crate) fn catch_up(&mut self) {
        while let Ok(job) = self.queue.try_recv() {
            self.start(job);
        }
    }

    fn start(&mut self, job: Job) {
        match job {
            Job::Run(command, reply) if !self.writes && !command.only_reads() => reply(Err(only_read())),
            Job::Run(command, reply) => {
                let mut batch = mem::take(&mut self.waiting);
                let most = batch.len().saturating_add(BATCH);
                batch.push((command, reply));
                let mut next = None;
                while batch.len() < most.min(MOST_WAITING) && next.is_none() {
                    match self.queue.try_recv() {
                        Ok(Job::Run(command, reply)) if self.writes || command.only_reads() => {
                            batch.push((command, reply))
                        }
                        Ok(other) => next = Some(other),
                        Err(_) => break,
                    }
                }
                self.batch(batch);
                if let Some(job) = next {
                    self.start(job);
                }
            }
            Job::Expire(done) if !self.writes => drop(done.send(Err(only_read()))),
            Job::Expire(done) => self.expiring.push(done),
            Job::Time(done) => {
                let _ = done.send(self.time());
            }
            Job::Now(done) => {
                let _ = done.send(self.shown(self.clock.now()).map_err(Stop::error));
            }
            Job::Backup(to, done) => {
                let copied = match self.stopped.get() {
                    Some(why) => Err(Error::Unknown(why.clone())),
                    None => self.backup(&to),
                };
                let _ = done.send(copied);
            }
            Job::Clock(change, done) => {
                let changed = match self.stopped.get() {
                    Some(why) => Err(Error::Unknown(why.clone())),
                    None => self.change_clock(change),
                };
                if let Err(error) = &changed {
                    self.stop(error.clone());
                }
                let _ = done.send(changed);
            }
        }
    }

    /// Does some commands in one transaction. Those whose accounts have a backlog write a part of it, and wait.
    fn batch(&mut self, commands: Vec<(Box<Command>, Reply)>) {
        if let Some(why) = self.stopped.get() {
            return commands.into_iter().for_each(|(_, reply)| reply(Err(Error::Unknown(why.clone()))));
        }
        self.since = self.since.saturating_add(1);
        let mut done: Vec<Done> = Vec::with_capacity(commands.len());
        let mut waiting = Vec::new();
        let begin = match commands.iter().all(|(command, _)| command.only_reads()) {
            true => "BEGIN",
            false => "BEGIN IMMEDIATE",
        };
        let share = if commands.len() == 1 { 1 } else { 2 };
        let mut commands = commands.into_iter();
        let mut expired = 0;
        let result = self.transaction(begin, |connection, _| {
            let mut rows = Rows::bounded(connection, BATCH, share);
            let mut waits = Waits::default();
            for (command, reply) in commands.by_ref() {
                if waits.has(&command) {
                    let known = rows.falls_behind_with(&command);
                    waiting.push((command, reply));
                    known?;
                    continue;
                }
                // A command at a time to which the clock has leapt isn't done.
                match self.looked().and_then(|now| plan::run(&mut rows, self.order, &command, now)) {
                    Ok(answer) => done.push((reply, Ok(answer))),
                    Err(Stop::Refused(error)) => done.push((reply, Err(error))),
                    Err(Stop::Later(account)) => {
                        rows.falls_behind(account);
                        waits.add(&command);
                        waiting.push((command, reply));
                    }
                    Err(broken @ Stop::Broken(_)) => {
                        done.push((reply, Err(Error::Busy)));
                        return Err(broken);
                    }
                }
            }
            expired = rows.expired;
            Ok(())
        });
        match result {
            Ok(()) => {
                self.expired.fetch_add(expired, Ordering::Relaxed);
                self.waiting = waiting;
                done.into_iter().for_each(|(reply, answer)| reply(answer));
            }
            Err(error) => {
                let waiting = waiting.into_iter().map(|(_, reply)| reply);
                let all =
                    done.into_iter().map(|(reply, _)| reply).chain(commands.map(|(_, reply)| reply)).chain(waiting);
                // First, so that whoever is answered finds it stopped.
                self.stop(error.clone());
                all.for_each(|reply| reply(Err(error.clone())));
            }
        }
    }

    /// Writes a batch of what has expired, if the time passes by itself or a caller waits for it. Whether there is more.
    fn expire_some(&mut self) -> bool {
        self.since = 0;
        if !self.writes || self.expiring.is_empty() && !self.clock.runs() {
            return false;
        }
        let expired = match self.stopped.get() {
            Some(why) => Err(Error::Unknown(why.clone())),
            None => self.expire(),
        };
        match expired {
            Ok(true) => return true,
            Ok(false) => self.expiring.drain(..).for_each(|done| drop(done.send(Ok(())))),
            Err(error @ Error::Clock(_)) => {
                self.expiring.drain(..).for_each(|done| drop(done.send(Err(error.clone()))));
            }
            Err(error) => {
                self.stop(error.clone());
                self.expiring.drain(..).for_each(|done| drop(done.send(Err(error.clone()))));
            }
        }
        false
    }

    /// Writes a batch of what has expired. False if there was nothing.
    fn expire(&self) -> Result<bool, Error> {
        let now = self.looked().map_err(Stop::error)?;
        if Rows::new(&self.connection).first_due().map_err(Stop::error)?.is_none_or(|due| due > now) {
            return Ok(false);
        }
        let mut expired = 0;
        self.transaction("BEGIN IMMEDIATE", |connection, _| {
            let mut rows = Rows::new(connection);
            let mut left = BATCH;
            for account in rows.due(now, BATCH)? {
                let (_, entries) = plan::expire(&mut rows, account, now, left)?;
                // An account in which nothing has expired has changed, too.
                left = left.saturating_sub(entries.max(1));
                if left == 0 {
                    break;
                }
            }
            expired = rows.expired;
            Ok(())
        })?;
        self.expired.fetch_add(expired, Ordering::Relaxed);
        Ok(true)
    }

    /// The time, while no transaction runs: those that come later have a later one. If another process writes, that of what is
    /// committed: time continues from there. Whoever only reads can't know whether another process writes.
    fn time(&self) -> Result<Millis, Error> {
        if let Some(why) = self.stopped.get() {
            return Err(Error::Unknown(why.clone()));
        }
        let last = || {
            let last = Rows::new(&self.connection).last_time().map_err(Stop::error)?;
            Ok(last.unwrap_or_default().min(self.clock.now()))
        };
        if !self.writes {
            return last();
        }
        let failed = |error| Stop::from(error).error();
        self.connection.busy_timeout(Duration::ZERO).map_err(failed)?;
        let mut time = None;
        let probed = self.transaction("BEGIN IMMEDIATE", |_, clock| {
            time = Some(clock.now());
            Ok(())
        });
        self.connection.busy_timeout(PATIENCE).map_err(failed)?;
        match (probed, time) {
            (Ok(()), Some(time)) => self.shown(time).map_err(Stop::error),
            (Err(Error::Busy), _) => last(),
            (Err(error), _) => Err(error),
            (Ok(()), None) => Ok(Millis::ZERO),
        }
    }

    /// Runs a transaction. [`Error::Busy`] if another process writes for too long, before anything was done.
    pub(crate) fn transaction(
        &self,
        begin: &str,
        work: impl FnOnce(&Connection, &dyn Clock) -> Result<(), Stop>,
    ) -> Result<(), Error> {
        match self.connection.execute_batch(begin) {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => return Err(Error::Busy),
            Err(error) => return Err(Stop::from(error).error()),
        }
        let current = open::is_current(&self.connection);
        let done = current.and_then(|()| work(&self.connection, &*self.clock)).map_err(Stop::error);
        let done =
            done.and_then(|()| self.connection.execute_batch("COMMIT").map_err(|error| Stop::from(error).error()));
        if done.is_err() && !self.connection.is_autocommit() {
            // The error is what counts.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    /// Stops the ledger after an error, unless nothing was done.
    fn stop(&self, error: Error) {
        if let Error::Unknown(why) = error {
            // The first error is what counts.
            let _ = self.stopped.set(format!("the ledger has stopped: {why}"));
        }
    }
}

fn only_read() -> Error {
    Error::Unknown("the ledger is open only to read".to_owned())
}
