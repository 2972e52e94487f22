//! The thread of a ledger: it does commands, and writes what has expired.
#![allow(clippy::disallowed_methods, reason = "a store is the edge: its thread waits")]

use core::mem;
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use crate::command::Command;
use crate::ledger::Reply;
use crate::postgres::named::BATCH;
use crate::postgres::numberer::{Numbers, Waiter};
use crate::postgres::open::{Connection, IDLE};

/// How long a command may wait for what has expired in other accounts.
const SLICE: Duration = Duration::from_millis(20);

/// Commands have so many times as long as what comes between them.
const SHARE: u32 = 3;

/// So much of what has expired is written at least.
const LEAST: usize = 10;

/// So many commands wait for the backlogs of their accounts. More stay in the queue.
const MOST_WAITING: usize = 4096;

pub(crate) enum Job {
    Run(Box<Command>, Reply),
    /// Writes everything that has expired.
    Expire(Waiter),
}

/// The thread that does commands. When none waits, it writes what has expired.
pub(crate) struct Worker {
    connection: Connection,
    numbers: Numbers,
    queue: Receiver<Job>,
    /// The commands whose accounts have a backlog, in their order. They come again in each batch.
    waiting: Vec<(Box<Command>, Reply)>,
    /// The callers that wait until nothing that has expired is left, and every entry has a number.
    expiring: Vec<Waiter>,
    /// Otherwise it writes only what is asked for.
    is_writer: bool,
    /// When it looks for what has expired.
    look: Instant,
    /// How much of it is written at once, so that no command waits for long.
    most: usize,
}

impl Worker {
    pub(crate) fn new(connection: Connection, numbers: Numbers, queue: Receiver<Job>, is_writer: bool) -> Self {
        let (waiting, expiring, look) = (Vec::new(), Vec::new(), Instant::now());
        Self { connection, numbers, queue, waiting, expiring, is_writer, look, most: LEAST }
    }

    /// Works until the ledger is dropped, and everything that was queued is done.
    pub(crate) fn work(&mut self) {
        loop {
            let job = match self.queue.recv_timeout(self.rest()) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) if self.waiting.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => None,
            };
            let pauses = job.is_some() || !self.waiting.is_empty();
            self.start(job);
            // And then the commands that have come meanwhile.
            if self.looks() && self.look <= Instant::now() {
                self.expire_some(pauses);
            }
            if mem::take(&mut self.connection.has_written) {
                self.numbers.written();
            }
        }
    }

    const fn looks(&self) -> bool {
        self.is_writer || !self.expiring.is_empty()
    }

    /// How long the thread can wait for a job.
    fn rest(&self) -> Duration {
        if !self.waiting.is_empty() {
            return Duration::ZERO;
        }
        if self.looks() { self.look.saturating_duration_since(Instant::now()) } else { IDLE }
    }

    /// One batch at a time: what waits meanwhile is the next one.
    fn start(&mut self, mut job: Option<Job>) {
        let mut batch = mem::take(&mut self.waiting);
        let most = batch.len().saturating_add(BATCH).min(MOST_WAITING);
        while let Some(next) = job {
            match next {
                Job::Run(command, reply) => batch.push((command, reply)),
                Job::Expire(done) => {
                    self.expiring.push(done);
                    self.look = Instant::now();
                }
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

    /// Writes a batch of what has expired, if the time passes by itself or a caller waits for it.
    fn expire_some(&mut self, pauses: bool) {
        let start = Instant::now();
        let expired = match self.expiring.is_empty() && !self.connection.runs() {
            true => Ok(None),
            false => self.connection.expire(self.most),
        };
        let now = Instant::now();
        let took = now.saturating_duration_since(start);
        if took > SLICE {
            self.most = self.most.div_ceil(2).max(LEAST);
        } else if took.saturating_mul(2) < SLICE {
            self.most = self.most.saturating_mul(2).min(BATCH);
        }
        self.look = match expired {
            Ok(Some(true)) => after(now, took, pauses),
            _ => now.checked_add(IDLE).unwrap_or(now),
        };
        match expired {
            // Accounts that are locked elsewhere come again.
            Ok(Some(_)) => {}
            Ok(None) if self.expiring.is_empty() => {}
            Ok(None) => self.numbers.answer(mem::take(&mut self.expiring)),
            // Answers the callers that wait.
            Err(error) => self.expiring.drain(..).for_each(|waiter| drop(waiter.send(Err(error.clone())))),
        }
    }
}

/// When something that took so long continues: while commands come, they have most of the time.
fn after(now: Instant, took: Duration, pauses: bool) -> Instant {
    let pause = if pauses { took.saturating_mul(SHARE) } else { Duration::ZERO };
    now.checked_add(pause).unwrap_or(now)
}
