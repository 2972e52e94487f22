//! The thread that writes: it takes the commands that wait, does them in one transaction, and answers after the commit.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use rusqlite::{Connection, ErrorCode};

use crate::answer::Answer;
use crate::command::Command;
use crate::error::Error;
use crate::ledger::{Clock, Reply};
use crate::plan::{self, Stop};
use crate::sqlite::rows::Rows;
use crate::sqlite::unknown;
use crate::value::Order;

/// The most commands of a commit.
const BATCH: usize = 200;

pub(crate) enum Job {
    Run(Box<Command>, Reply),
    /// Writes everything that has expired.
    Expire(SyncSender<Result<(), Error>>),
    /// Copies the ledger into a new file.
    Backup(PathBuf, SyncSender<Result<(), Error>>),
}

pub(crate) struct Writer {
    pub(crate) connection: Rc<Connection>,
    order: Order,
    clock: Arc<dyn Clock>,
    queue: Receiver<Job>,
    /// Why the ledger has stopped.
    stopped: Option<String>,
}

/// A command that was done, but isn't durable yet.
type Done = (Reply, Result<Answer, Error>);

impl Writer {
    pub(crate) fn new(connection: Connection, order: Order, clock: Arc<dyn Clock>, queue: Receiver<Job>) -> Self {
        Self { connection: Rc::new(connection), order, clock, queue, stopped: None }
    }

    /// Works until the ledger is dropped.
    pub(crate) fn work(&mut self) {
        while let Ok(job) = self.queue.recv() {
            self.start(job);
        }
    }

    /// Does the jobs that wait now.
    pub(crate) fn catch_up(&mut self) {
        while let Ok(job) = self.queue.try_recv() {
            self.start(job);
        }
    }

    fn start(&mut self, job: Job) {
        match job {
            Job::Run(command, reply) => {
                let mut batch = vec![(command, reply)];
                let mut next = None;
                while batch.len() < BATCH && next.is_none() {
                    match self.queue.try_recv() {
                        Ok(Job::Run(command, reply)) => batch.push((command, reply)),
                        Ok(other) => next = Some(other),
                        Err(_) => break,
                    }
                }
                self.batch(batch);
                if let Some(job) = next {
                    self.start(job);
                }
            }
            Job::Expire(done) => {
                let expired = self.expire();
                let _ = done.send(expired);
            }
            Job::Backup(to, done) => {
                let copied = match self.stopped.clone() {
                    Some(why) => Err(Error::Unknown(why)),
                    None => self.backup(&to),
                };
                let _ = done.send(copied);
            }
        }
    }

    /// Does some commands in one transaction.
    fn batch(&mut self, commands: Vec<(Box<Command>, Reply)>) {
        if let Some(why) = &self.stopped {
            return commands.into_iter().for_each(|(_, reply)| reply(Err(Error::Unknown(why.clone()))));
        }
        let mut done: Vec<Done> = Vec::with_capacity(commands.len());
        let mut commands = commands.into_iter();
        let result = self.transaction(|connection, now| {
            let mut rows = Rows::new(connection);
            for (command, reply) in commands.by_ref() {
                match plan::run(&mut rows, self.order, &command, now.now()) {
                    Ok(answer) => done.push((reply, Ok(answer))),
                    Err(Stop::Refused(error)) => done.push((reply, Err(error))),
                    Err(broken @ Stop::Broken(_)) => {
                        done.push((reply, Err(Error::Busy)));
                        return Err(broken);
                    }
                }
            }
            Ok(())
        });
        match result {
            Ok(()) => done.into_iter().for_each(|(reply, answer)| reply(answer)),
            Err(error) => {
                let all = done.into_iter().map(|(reply, _)| reply).chain(commands.map(|(_, reply)| reply));
                all.for_each(|reply| reply(Err(error.clone())));
                self.stop(error);
            }
        }
    }

    /// Writes what has expired in every account, one transaction for each.
    fn expire(&mut self) -> Result<(), Error> {
        if let Some(why) = &self.stopped {
            return Err(Error::Unknown(why.clone()));
        }
        let now = self.clock.now();
        let mut before = None;
        loop {
            let due = Rows::new(&self.connection).due(now, 1).map_err(unknown)?;
            let Some(account) = due.into_iter().next() else {
                return Ok(());
            };
            // Never for ever: what is still due after its expiry was written is left to the next command.
            let this = (account.key, account.next_due);
            if before.replace(this) == Some(this) {
                return Ok(());
            }
            let expired = self.transaction(|connection, _| {
                let mut rows = Rows::new(connection);
                // Another process might have written since it was read.
                let account = plan::Tables::account_of(&mut rows, account.key)?;
                plan::expire(&mut rows, account, now)
            });
            if let Err(error) = expired {
                self.stop(error.clone());
                return Err(error);
            }
        }
    }

    /// Runs a transaction. [`Error::Busy`] if another process writes for too long, before anything was done.
    fn transaction(&self, work: impl FnOnce(&Connection, &dyn Clock) -> Result<(), Stop>) -> Result<(), Error> {
        match self.connection.execute_batch("BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => return Err(Error::Busy),
            Err(error) => return Err(unknown(error.into())),
        }
        let done = work(&self.connection, &*self.clock).map_err(unknown);
        let done = done.and_then(|()| self.connection.execute_batch("COMMIT").map_err(|error| unknown(error.into())));
        if done.is_err() && !self.connection.is_autocommit() {
            // The error is what counts.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    /// Stops the ledger after an error, unless nothing was done.
    fn stop(&mut self, error: Error) {
        if let Error::Unknown(why) = error {
            self.stopped = Some(format!("the ledger has stopped: {why}"));
        }
    }
}
