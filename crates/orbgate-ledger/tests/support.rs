//! What the tests share.

use core::sync::atomic::{AtomicU64, Ordering};

use orbgate_ledger::{
    AccountId, Answer, Clock, Command, Cursor, Error, Faults, Grant, Hold, HoldAnswer, Id, Ledger, Millis, Note, Orbs,
    Page, Settle, Settlement, State, suite,
};
use std::sync::Arc;
use std::thread;

/// A clock that a test sets.
#[derive(Debug, Default)]
pub(crate) struct TestClock(pub(crate) AtomicU64);

impl Clock for TestClock {
    fn now(&self) -> Millis {
        millis(self.0.load(Ordering::SeqCst))
    }

    fn runs(&self) -> bool {
        false
    }
}

/// A durable ledger with a clock that the suite sets.
#[derive(Debug)]
pub(crate) struct Clocked<L> {
    pub(crate) ledger: L,
    pub(crate) clock: Arc<TestClock>,
}

impl<L> Clocked<L> {
    fn set(&self, now: Millis) {
        self.clock.0.store(now.get(), Ordering::SeqCst);
    }
}

impl<L: Ledger> suite::Subject for Clocked<L> {
    fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error> {
        self.set(now);
        self.ledger.run(command.clone())
    }

    fn expire(&mut self, now: Millis) -> Result<(), Error> {
        self.set(now);
        self.ledger.expire()
    }

    fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Page, Error> {
        self.set(now);
        if *after == Cursor::default() {
            numbered(&self.ledger);
        }
        self.ledger.entries(after, limit)
    }

    fn verify(&mut self) -> Result<Faults, Error> {
        self.ledger.verify()
    }
}

pub(crate) fn millis(milliseconds: u64) -> Millis {
    Millis::new(milliseconds).unwrap()
}

pub(crate) fn orbs(amount: u64) -> Orbs {
    Orbs::new(amount).unwrap()
}

pub(crate) fn id(id: impl Into<String>) -> Id {
    Id::new(id).unwrap()
}

pub(crate) fn account(name: &str) -> AccountId {
    AccountId::new(name).unwrap()
}

pub(crate) fn grant(name: &str, to: &str, amount: u64) -> Grant {
    Grant::new(id(name), account(to), orbs(amount))
}

pub(crate) fn hold(name: impl Into<String>, of: &str, amount: u64) -> Hold {
    let ttl = millis(3_600_000);
    Hold { id: id(name), account: account(of), amount: orbs(amount), bonus: false, ttl, note: Note::default() }
}

/// Waits until each committed entry can be read.
pub(crate) fn numbered(ledger: &(impl Ledger + ?Sized)) {
    while ledger.backlog().unwrap().unnumbered > 0 {
        thread::sleep(core::time::Duration::from_millis(5));
    }
}

/// Holds 10 orbs of `a` so many times, from as many threads, and returns how many were admitted.
pub(crate) fn hold_all(one: impl Fn(Hold) -> HoldAnswer + Sync, prefix: &str, threads: u64, each: u64) -> u64 {
    let admitted = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..threads {
            let (one, admitted) = (&one, &admitted);
            scope.spawn(move || {
                for index in 0..each {
                    let answer = one(hold(format!("{prefix}.{thread}.{index}"), "a", 10));
                    if let HoldAnswer::Held { state: State::Pending, repeated: false, .. } = answer {
                        admitted.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    admitted.into_inner()
}

pub(crate) fn capture(name: impl Into<String>, amount: u64) -> Settle {
    Settle { hold: id(name), settlement: Settlement::Capture(orbs(amount)) }
}

/// How much a test does: a variable says it, which `cargo xtask assure ledger` sets.
pub(crate) fn rounds(variable: &str, few: u64) -> u64 {
    std::env::var(variable).map_or(few, |rounds| rounds.parse().unwrap())
}
