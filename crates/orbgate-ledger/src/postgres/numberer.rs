//! The thread that numbers entries. It has a connection of its own, so that no command waits for numbers.
#![allow(clippy::disallowed_methods, reason = "a store is the edge: its thread waits")]

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::error::Error;
use crate::postgres::number::Left;
use crate::postgres::open::{ATTEMPTS, Connection, IDLE, MOMENT};

/// How long entries wait, so that those that come meanwhile are numbered with them.
const SOON: Duration = Duration::from_millis(100);

/// A caller that waits until nothing that has expired is left, and every entry has a number.
pub(crate) type Waiter = SyncSender<Result<(), Error>>;

/// What wakes the thread.
enum Wake {
    /// Entries were written.
    Written,
    /// These wait until every entry has a number.
    Awaited(Vec<Waiter>),
}

/// What wakes the thread, which ends with it, once it has numbered what was written.
pub(crate) struct Numbers {
    wakes: Sender<Wake>,
    /// The thread knows that entries were written, and hasn't read them yet.
    knows: Arc<AtomicBool>,
}

impl Numbers {
    /// Starts the thread. One that `is_writer` also numbers what other processes have left.
    pub(crate) fn start(connection: Connection, is_writer: bool) -> Result<(Self, JoinHandle<()>), Error> {
        let (wakes, wait) = mpsc::channel();
        let knows = Arc::new(AtomicBool::new(false));
        let numberer = Numberer {
            connection,
            wait,
            knows: Arc::clone(&knows),
            waiters: Vec::new(),
            is_writer,
            has_unnumbered: false,
            // Another process might have been killed before it numbered.
            next: is_writer.then(Instant::now),
        };
        let thread = thread::Builder::new().name("orbs-numbers".to_owned()).spawn(move || numberer.work());
        let thread = thread.map_err(|error| Error::Unknown(format!("cannot start a thread: {error}")))?;
        Ok((Self { wakes, knows }, thread))
    }

    /// Entries were written: they get numbers soon.
    pub(crate) fn written(&self) {
        if !self.knows.swap(true, Ordering::SeqCst) {
            // The thread ends after this.
            let _ = self.wakes.send(Wake::Written);
        }
    }

    /// Answers these callers once every entry has a number.
    pub(crate) fn answer(&self, waiters: Vec<Waiter>) {
        let _ = self.wakes.send(Wake::Awaited(waiters));
    }
}

struct Numberer {
    connection: Connection,
    wait: Receiver<Wake>,
    knows: Arc<AtomicBool>,
    waiters: Vec<Waiter>,
    is_writer: bool,
    /// Entries were written here, and might have no number.
    has_unnumbered: bool,
    /// When it numbers, if there might be something without a number.
    next: Option<Instant>,
}

impl Numberer {
    fn work(mut self) {
        loop {
            let wake = match self.next {
                Some(next) => self.wait.recv_timeout(next.saturating_duration_since(Instant::now())),
                None => self.wait.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let now = Instant::now();
            match wake {
                Ok(Wake::Written) => {
                    self.has_unnumbered = true;
                    self.next = self.next.into_iter().chain(now.checked_add(SOON)).min();
                }
                Ok(Wake::Awaited(waiters)) => {
                    self.waiters.extend(waiters);
                    self.next = Some(now);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.rest(),
            }
            if self.next.is_some_and(|next| next <= now) {
                self.some();
            }
        }
    }

    /// Numbers a batch of entries.
    fn some(&mut self) {
        let start = Instant::now();
        // What is written from now on wakes it again.
        self.knows.store(false, Ordering::SeqCst);
        let left = self.connection.number();
        let now = Instant::now();
        self.next = match left {
            Ok(Left::Nothing) => self.is_writer.then(|| now.checked_add(IDLE)).flatten(),
            // Commands have as long, unless somebody waits.
            Ok(Left::More) if self.waiters.is_empty() => now.checked_add(now.saturating_duration_since(start)),
            Ok(Left::More) => Some(now),
            Ok(Left::Elsewhere) => now.checked_add(SOON),
            Err(_) => now.checked_add(IDLE),
        };
        let done = match left {
            Ok(Left::More | Left::Elsewhere) => return,
            Ok(Left::Nothing) => {
                self.has_unnumbered = false;
                Ok(())
            }
            Err(error) => Err(error),
        };
        self.waiters.drain(..).for_each(|waiter| drop(waiter.send(done.clone())));
    }

    /// Numbers what this process has written, when it ends. What can't be numbered now, the next writer does.
    fn rest(mut self) {
        let attempts = if self.has_unnumbered { ATTEMPTS } else { 0 };
        for _ in 0..attempts {
            match self.connection.number() {
                Ok(Left::Elsewhere) => thread::sleep(MOMENT),
                Ok(Left::More) => {}
                Ok(Left::Nothing) | Err(_) => return,
            }
        }
    }
}
