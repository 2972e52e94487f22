//! The tokens that wait for keys: a bounded number, and fewer of them for long.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::sync::Arc;

/// How long each of the others waits. An issuer that is well answers by then.
pub(super) const BRIEF: Duration = Duration::from_secs(1);

/// How many tokens wait now.
#[derive(Debug, Default)]
pub(super) struct Places {
    all: AtomicU32,
    long: AtomicU32,
    /// Of those that hold a thread, those that wait for long.
    threads: AtomicU32,
}

/// A place among those who wait. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Ticket {
    of: Arc<Places>,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Brief,
    Long,
    LongThread,
}

impl Places {
    /// A place, of so many at most; `None` if all are taken. Half of them are for as long as a fetch may take. How many threads
    /// a host has isn't known here, so only one may be held for that long.
    pub(super) fn enter(self: &Arc<Self>, most: u32, holds_thread: bool) -> Option<Ticket> {
        if !take(&self.all, most) {
            return None;
        }
        let span = match holds_thread {
            true if take(&self.threads, 1) => Span::LongThread,
            false if take(&self.long, most.div_ceil(2)) => Span::Long,
            _ => Span::Brief,
        };
        let of = Arc::clone(self);
        Some(Ticket { of, span })
    }

    /// How many tokens wait.
    pub(super) fn taken(&self) -> u32 {
        self.all.load(Ordering::SeqCst)
    }
}

impl Ticket {
    pub(super) fn is_brief(&self) -> bool {
        self.span == Span::Brief
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let give_back = |count: &AtomicU32| count.fetch_sub(1, Ordering::SeqCst);
        give_back(&self.of.all);
        match self.span {
            Span::Brief => {}
            Span::Long => drop(give_back(&self.of.long)),
            Span::LongThread => drop(give_back(&self.of.threads)),
        }
    }
}

fn take(count: &AtomicU32, most: u32) -> bool {
    let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
    let next = |count: u32| count.checked_add(1).filter(|next| *next <= most);
    count.fetch_update(set, fetch, next).is_ok()
}
