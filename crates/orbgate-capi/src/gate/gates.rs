//! Gates, by their handles, which are never used again.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Cache};

use super::object::OrbgateGate;
use super::steps::STEPS;

type List = Vec<(u64, Arc<OrbgateGate>)>;

/// In the order of their handles. A process has few gates and asks them often, so that a change copies the list.
static GATES: ArcSwapOption<List> = ArcSwapOption::const_empty();

/// The gates as a thread has seen them, which stay until it looks again. A call that changes no list then changes nothing that
/// other threads read.
pub(super) struct Gates(Option<Cache<&'static ArcSwapOption<List>, Option<Arc<List>>>>);

impl Gates {
    pub(super) const NONE: Self = Self(None);

    /// As they are now.
    pub(super) fn now(&mut self) -> Seen<'_> {
        Seen(self.0.get_or_insert_with(|| Cache::new(&GATES)).load().as_deref())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Seen<'s>(Option<&'s List>);

impl<'s> Seen<'s> {
    pub(super) fn find(self, handle: u64) -> Option<&'s OrbgateGate> {
        let list = self.0?;
        let at = list.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        list.get(at).map(|(_, gate)| &**gate)
    }
}

/// Adds a gate, and returns its handle.
pub(super) fn add(gate: OrbgateGate) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let (handle, gate) = (NEXT.fetch_add(1, Ordering::Relaxed), Arc::new(gate));
    change(|list| {
        let at = list.partition_point(|(other, _)| *other < handle);
        list.insert(at, (handle, Arc::clone(&gate)));
    });
    handle
}

/// Removes a gate, and ends its steps. A running call is the last one that uses it.
pub(super) fn end(handle: u64) {
    if is_open(handle) {
        change(|list| list.retain(|(other, _)| *other != handle));
        STEPS.end_all(handle);
    }
}

pub(super) fn is_open(handle: u64) -> bool {
    Seen(GATES.load().as_deref()).find(handle).is_some()
}

fn change(change: impl Fn(&mut List)) {
    GATES.rcu(|now| {
        let mut list = now.as_deref().cloned().unwrap_or_default();
        change(&mut list);
        (!list.is_empty()).then(|| Arc::new(list))
    });
}
