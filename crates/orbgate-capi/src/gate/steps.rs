//! The steps of requests that aren't answered yet, by their handles.
//!
//! A handle is the index of a slot, and the slot's generation, which advances with each request. So a handle whose
//! request is over is refused, whoever uses it and whenever, even if its slot serves another request. A handle has at
//! most 53 bits, so that every language has a number for it. A slot whose generations are used up is retired.
#![expect(clippy::disallowed_types, reason = "steps change; the engine doesn't")]

use core::cell::{Cell, UnsafeCell};
use core::mem;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::progress::{Progress, State};
use super::wire::INVALID;
use crate::status::{OrStatus, OrbgateStatus};

/// The bits of a handle below its generation: the number of a shard, and above it the index within that shard.
const INDEX_BITS: u32 = 20;
const SHARD_BITS: u32 = 4;
const SHARDS: usize = 1 << SHARD_BITS;

/// The generations of a slot are 1 to this one.
const LAST_GENERATION: u64 = (1 << (53 - INDEX_BITS)) - 1;

/// The slots of a shard are allocated in blocks, each twice as large as the one before.
const FIRST_BLOCK: usize = 16;
const BLOCKS: usize = 12;

/// All steps. Threads begin theirs in different shards, and continue them in any.
pub(super) static STEPS: Steps = Steps { shards: [const { Shard::new() }; SHARDS], last: LAST_GENERATION };

pub(super) struct Steps {
    shards: [Shard; SHARDS],
    /// The last generation.
    last: u64,
}

struct Shard {
    blocks: [OnceLock<Box<[Slot]>>; BLOCKS],
    free: Mutex<Free>,
}

/// The free slots of a shard.
struct Free {
    /// The index of each slot that was used before.
    used: Vec<usize>,
    /// The slots from here on were never used.
    fresh: usize,
}

/// Whose turn it is to use the contents of a slot. It is in the lowest bits of a word, below the generation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The holder of the handle.
    Resting = 0,
    /// A running call.
    Running = 1,
    /// A running call, at whose end the step is over.
    Ending = 2,
    /// Whoever takes the slot from the list of free ones. The generation is the next one.
    Free = 3,
}

/// A generation, and whose turn it is.
const fn word(generation: u64, turn: Turn) -> u64 {
    #[expect(clippy::as_conversions, reason = "the number of a variant")]
    let turn = turn as u64;
    generation << 2 | turn
}

pub(super) struct Slot {
    word: AtomicU64,
    /// The gate that the step is bound to, or 0. Written while the slot is free.
    gate: AtomicU64,
    progress: UnsafeCell<Progress>,
}

// SAFETY: `progress` is only used by whom the word allows it. Each change of turns is a compare-and-exchange or a store
// by the one whose turn it is, and hands the contents over: release by one, acquire by the other.
unsafe impl Sync for Slot {}

/// A step that only this call uses. Dropped before it is released, the step is over, but a ledger's stays.
pub(super) struct Claim<'s> {
    steps: &'s Steps,
    slot: &'s Slot,
    /// 0: it was released.
    handle: u64,
    pub(super) progress: Progress,
}

/// Why a step can't be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is over.
    Over,
    /// Another call is running, or the step is another gate's. Nothing has changed.
    NotNow,
}

thread_local! {
    /// The shard of this thread.
    static SHARD: Cell<Option<usize>> = const { Cell::new(None) };
}

fn shard_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    SHARD.with(|shard| {
        let own = shard.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        shard.set(Some(own));
        own
    })
}

impl Steps {
    /// Stores a new step of this gate, and returns its handle. Refused if all slots are in use.
    pub(super) fn begin(&self, gate: u64, progress: Progress) -> OrStatus<u64> {
        let own = shard_of_thread();
        let mut shards = (0..SHARDS).map(|at| own.wrapping_add(at) % SHARDS);
        let (slot, place) = shards
            .find_map(|number| {
                let shard = self.shards.get(number)?;
                let index = shard.free()?;
                Some((shard.slot(index)?, index << SHARD_BITS | number))
            })
            .ok_or(OrbgateStatus::Full)?;
        let generation = slot.word.load(Ordering::Acquire) >> 2;
        slot.gate.store(gate, Ordering::Relaxed);
        // SAFETY: the slot was free, and nobody else has taken it from the list.
        unsafe { *slot.progress.get() = progress }
        slot.word.store(word(generation, Turn::Resting), Ordering::Release);
        let place = u64::try_from(place).map_err(|_| INVALID)?;
        // Either the gate's end sees this step, or its caller sees that the gate is over.
        fence(Ordering::SeqCst);
        Ok(generation << INDEX_BITS | place)
    }

    /// Ends the steps of a gate that is over, each at the end of its call if one is running.
    pub(super) fn end_all(&self, gate: u64) {
        fence(Ordering::SeqCst);
        for (handle, slot) in self.open() {
            // If another request has the slot by now, this handle is over, and changes nothing.
            if slot.gate.load(Ordering::Relaxed) == gate {
                self.end(handle);
            }
        }
    }

    /// The steps that aren't over. Walks all slots that were ever in use.
    pub(super) fn open(&self) -> impl Iterator<Item = (u64, &Slot)> {
        (0_u64..).zip(&self.shards).flat_map(|(number, shard)| {
            let slots = shard.blocks.iter().map_while(OnceLock::get).flatten();
            (0_u64..).zip(slots).filter_map(move |(index, slot)| {
                let generation = slot.open()?;
                Some((generation << INDEX_BITS | index << SHARD_BITS | number, slot))
            })
        })
    }

    pub(super) fn is_open(&self, handle: u64) -> bool {
        self.find(handle).is_some_and(|(slot, generation)| slot.open() == Some(generation))
    }

    /// Claims a step of this gate for a call.
    pub(super) fn claim(&self, handle: u64, gate: u64) -> Result<Claim<'_>, Refused> {
        let (slot, generation) = self.find(handle).ok_or(Refused::Over)?;
        let resting = word(generation, Turn::Resting);
        let seen = slot.word.load(Ordering::Acquire);
        if seen != resting {
            let is_running = seen == word(generation, Turn::Running);
            return Err(if is_running { Refused::NotNow } else { Refused::Over });
        }
        // If another request has the slot by now, this is its gate, but then the exchange fails.
        if slot.gate.load(Ordering::Relaxed) != gate {
            return Err(Refused::NotNow);
        }
        let running = word(generation, Turn::Running);
        match slot.word.compare_exchange(resting, running, Ordering::Acquire, Ordering::Relaxed) {
            // SAFETY: the word was at the holder's turn, and is at this call's.
            Ok(_) => Ok(Claim { steps: self, slot, handle, progress: unsafe { slot.take() } }),
            Err(seen) if seen == running => Err(Refused::NotNow),
            Err(_) => Err(Refused::Over),
        }
    }

    /// Ends a step, at the end of its call if one is running.
    pub(super) fn end(&self, handle: u64) {
        let Some((slot, generation)) = self.find(handle) else { return };
        let [resting, running, ending] =
            [Turn::Resting, Turn::Running, Turn::Ending].map(|turn| word(generation, turn));
        let ended = slot.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, |seen| match seen {
            _ if seen == resting => Some(running),
            _ if seen == running => Some(ending),
            _ => None,
        });
        if ended == Ok(resting) {
            // SAFETY: the word was at the holder's turn, and is at this call's.
            drop(unsafe { slot.take() });
            self.free(slot, handle);
        }
    }

    fn find(&self, handle: u64) -> Option<(&Slot, u64)> {
        let generation = handle >> INDEX_BITS;
        let place = place_in(handle);
        let slot = self.shards.get(place % SHARDS)?.slot(place >> SHARD_BITS)?;
        (generation <= self.last).then_some((slot, generation))
    }

    /// Gives a slot to its next request, whose generation is another one.
    fn free(&self, slot: &Slot, handle: u64) {
        let generation = handle >> INDEX_BITS;
        if generation >= self.last {
            // It is retired: nobody's turn comes again.
            slot.word.store(word(generation, Turn::Ending), Ordering::Release);
            return;
        }
        slot.word.store(word(generation.wrapping_add(1), Turn::Free), Ordering::Release);
        let place = place_in(handle);
        if let Some(shard) = self.shards.get(place % SHARDS) {
            shard.list().used.push(place >> SHARD_BITS);
        }
    }
}

/// The index and the shard of a handle.
fn place_in(handle: u64) -> usize {
    usize::try_from(handle & ((1 << INDEX_BITS) - 1)).unwrap_or(usize::MAX)
}

impl Shard {
    const fn new() -> Self {
        Self { blocks: [const { OnceLock::new() }; BLOCKS], free: Mutex::new(Free { used: Vec::new(), fresh: 0 }) }
    }

    /// A slot, if its block was allocated.
    fn slot(&self, index: usize) -> Option<&Slot> {
        let (block, at) = place_of(index)?;
        self.blocks.get(block)?.get()?.get(at)
    }

    fn list(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free slot; `None` if all are in use.
    fn free(&self) -> Option<usize> {
        let mut free = self.list();
        if let Some(index) = free.used.pop() {
            return Some(index);
        }
        let index = free.fresh;
        let (block, _) = place_of(index)?;
        self.blocks.get(block)?.get_or_init(|| (0..FIRST_BLOCK << block).map(|_| Slot::new()).collect());
        free.fresh = index.wrapping_add(1);
        Some(index)
    }
}

/// The block of a slot, and its place there.
fn place_of(index: usize) -> Option<(usize, usize)> {
    let count = index.checked_div(FIRST_BLOCK)?.checked_add(1)?;
    let block = count.ilog2();
    let before = FIRST_BLOCK.checked_mul((1_usize << block).checked_sub(1)?)?;
    let block = usize::try_from(block).ok().filter(|block| *block < BLOCKS)?;
    Some((block, index.checked_sub(before)?))
}

impl Slot {
    fn new() -> Self {
        Self { word: AtomicU64::new(word(1, Turn::Free)), gate: AtomicU64::new(0), progress: UnsafeCell::default() }
    }

    /// The generation, if its step isn't over.
    fn open(&self) -> Option<u64> {
        let seen = self.word.load(Ordering::Acquire);
        let generation = seen >> 2;
        [Turn::Resting, Turn::Running].iter().any(|turn| seen == word(generation, *turn)).then_some(generation)
    }

    /// Its contents.
    ///
    /// # Safety
    ///
    /// It is the caller's turn.
    unsafe fn take(&self) -> Progress {
        // SAFETY: nobody else uses it.
        mem::take(unsafe { &mut *self.progress.get() })
    }
}

impl Claim<'_> {
    /// Ends the call. Returns the step's handle, or 0 if it is over.
    pub(super) fn release(mut self) -> u64 {
        self.put_back()
    }

    /// Ends a call that has no answer, and with it the step. A ledger's stays, because it has the settlements of other requests.
    pub(super) fn fail(mut self) -> u64 {
        self.failed()
    }

    fn failed(&mut self) -> u64 {
        // An answer that nobody has read is lost with the question.
        let state = match self.progress.take() {
            State::Unread(kept) => kept.1,
            state => state,
        };
        match state {
            State::Orbs(_) => self.progress.state = state,
            _ => self.progress = Progress::default(),
        }
        self.put_back()
    }

    fn put_back(&mut self) -> u64 {
        let (slot, handle) = (self.slot, mem::take(&mut self.handle));
        let [running, resting] = [Turn::Running, Turn::Resting].map(|turn| word(handle >> INDEX_BITS, turn));
        let progress = mem::take(&mut self.progress);
        if !matches!(progress.state, State::Idle) {
            // SAFETY: it is this call's turn.
            unsafe { *slot.progress.get() = progress }
            if slot.word.compare_exchange(running, resting, Ordering::Release, Ordering::Relaxed).is_ok() {
                return handle;
            }
            // SAFETY: it was ended during the call, whose turn it is until it frees the slot.
            drop(unsafe { slot.take() });
        }
        self.steps.free(slot, handle);
        0
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.handle != 0 {
            self.failed();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::thread;

    use proptest::prelude::*;

    use super::*;
    use crate::gate::progress::Unread;

    const fn table(last: u64) -> Steps {
        Steps { shards: [const { Shard::new() }; SHARDS], last }
    }

    /// A step with a mark, by which it is known again.
    fn marked(mark: u8) -> Progress {
        let state = State::Unread(Box::new((Unread(vec![mark]), State::Idle)));
        Progress { state, ..Progress::default() }
    }

    fn mark(progress: &Progress) -> Option<u8> {
        match &progress.state {
            State::Unread(kept) => kept.0.0.first().copied(),
            _ => None,
        }
    }

    fn refused(steps: &Steps, handle: u64, gate: u64) -> Option<Refused> {
        steps.claim(handle, gate).err()
    }

    #[test]
    fn a_handle_is_refused_when_its_step_is_over() {
        let steps = table(LAST_GENERATION);
        let first = steps.begin(1, marked(1)).unwrap();
        let claim = steps.claim(first, 1).ok().unwrap();
        assert_eq!((mark(&claim.progress), claim.release()), (Some(1), first));
        let mut claim = steps.claim(first, 1).ok().unwrap();
        claim.progress = Progress::default();
        assert_eq!(claim.release(), 0);
        let second = steps.begin(1, marked(2)).unwrap();
        assert_eq!(place_in(first), place_in(second), "the slot is used again");
        assert_eq!(refused(&steps, first, 1), Some(Refused::Over));
        steps.end(first);
        assert_eq!(steps.claim(second, 1).ok().unwrap().release(), second);
        steps.end(second);
        steps.end(second);
        assert_eq!(refused(&steps, second, 1), Some(Refused::Over));
        let [one, two] = [3, 4].map(|mark| steps.begin(1, marked(mark)).unwrap());
        assert_ne!(place_in(one), place_in(two), "a slot that was freed twice is in the list once");
        for handle in [0, 1, u64::MAX, second ^ (1 << 19), 1 << INDEX_BITS] {
            assert_eq!(refused(&steps, handle, 1), Some(Refused::Over), "{handle:#x}");
            steps.end(handle);
        }
    }

    #[test]
    fn a_step_serves_one_call_of_its_gate_at_a_time() {
        let steps = table(LAST_GENERATION);
        let handle = steps.begin(1, marked(1)).unwrap();
        assert_eq!(refused(&steps, handle, 0), Some(Refused::NotNow));
        assert_eq!(refused(&steps, handle, 2), Some(Refused::NotNow));
        let claim = steps.claim(handle, 1).ok().unwrap();
        assert_eq!(refused(&steps, handle, 1), Some(Refused::NotNow));
        steps.end(handle);
        assert_eq!((mark(&claim.progress), refused(&steps, handle, 1)), (Some(1), Some(Refused::Over)));
        assert_eq!(claim.release(), 0, "it ends with its call");
        let next = steps.begin(2, marked(2)).unwrap();
        assert_eq!((place_in(next), refused(&steps, handle, 1)), (place_in(handle), Some(Refused::Over)));
        assert!(steps.claim(next, 2).is_ok());
        assert_eq!(refused(&steps, next, 2), Some(Refused::Over), "a call that failed");
    }

    #[test]
    fn a_slot_is_retired_when_its_generations_are_used_up() {
        let steps = table(3);
        let handles: Vec<_> = (0..10)
            .map(|mark| {
                let handle = steps.begin(0, marked(mark)).unwrap();
                steps.end(handle);
                handle
            })
            .collect();
        let expected = [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2), (1, 3)];
        let found = handles.iter().map(|handle| (handle >> INDEX_BITS, place_in(*handle) >> SHARD_BITS));
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert!(handles.iter().all(|handle| refused(&steps, *handle, 0) == Some(Refused::Over)));
    }

    #[test]
    #[cfg(not(miri))] // many numbers
    fn a_handle_has_53_bits() {
        let most = LAST_GENERATION << INDEX_BITS | ((1 << INDEX_BITS) - 1);
        assert_eq!(most, (1 << 53) - 1);
        // The places of a shard follow each other, and all of them have a number.
        let mut places = (0..).map_while(place_of);
        let mut count = 0_usize;
        for block in 0..BLOCKS {
            for at in 0..FIRST_BLOCK << block {
                assert_eq!(places.next(), Some((block, at)));
                count += 1;
            }
        }
        assert_eq!(places.next(), None);
        assert!(count <= 1 << (INDEX_BITS - SHARD_BITS));
    }

    #[test]
    #[cfg(not(miri))] // many steps
    fn a_full_table_refuses_another_step() {
        const MOST: usize = FIRST_BLOCK * ((1 << BLOCKS) - 1);
        let steps = table(LAST_GENERATION);
        steps.shards.iter().skip(1).for_each(|shard| shard.list().fresh = MOST);
        let handles: Vec<_> = (0..).map_while(|_| steps.begin(0, marked(0)).ok()).collect();
        assert_eq!(handles.len(), MOST);
        steps.end(handles[77]);
        assert!(steps.begin(0, marked(0)).is_ok());
        assert_eq!(steps.begin(0, marked(0)), Err(OrbgateStatus::Full));
        assert_eq!(steps.open().count(), MOST);
        steps.end_all(0);
        assert_eq!(steps.open().count(), 0);
        assert!(steps.begin(0, marked(0)).is_ok());
    }

    #[test]
    fn the_end_of_a_gate_ends_its_steps() {
        let steps = table(LAST_GENERATION);
        let handles: Vec<_> = (0..40).map(|mark| steps.begin(u64::from(mark % 4), marked(mark)).unwrap()).collect();
        let claim = steps.claim(handles[5], 1).ok().unwrap();
        assert_eq!(steps.open().count(), 40);
        steps.end_all(1);
        for (handle, gate) in handles.iter().zip([0, 1, 2, 3].into_iter().cycle()) {
            assert_eq!(steps.is_open(*handle), gate != 1, "{handle:#x}");
        }
        assert_eq!((mark(&claim.progress), claim.release()), (Some(5), 0), "at the end of its call");
        let open: HashMap<_, _> = steps.open().collect();
        assert!(open.len() == 30 && open.keys().all(|handle| handles.contains(handle)));
        steps.end_all(1);
        assert_eq!(steps.open().count(), 30);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 400 }, ..ProptestConfig::default() })]

        /// Compared with a map from handles to steps that never uses a handle again.
        #[test]
        fn no_step_has_a_handle_of_another(
            last in 1..6_u64,
            moves in prop::collection::vec((0..7_u8, any::<prop::sample::Index>(), 0..2_u64), 1..if cfg!(miri) { 40 } else { 200 }),
        ) {
            let steps = table(last);
            let (mut alive, mut all) = (HashMap::new(), Vec::new());
            for (at, (kind, which, gate)) in (0_u8..).zip(moves) {
                if kind == 0 || all.is_empty() {
                    let handle = steps.begin(gate, marked(at)).unwrap();
                    prop_assert!(alive.insert(handle, (gate, at)).is_none() && !all.contains(&handle));
                    all.push(handle);
                    continue;
                }
                if kind == 5 {
                    steps.end_all(gate);
                    alive.retain(|_, (own, _)| *own != gate);
                }
                let open: HashMap<_, _> = steps.open().collect();
                prop_assert!(open.len() == alive.len() && alive.keys().all(|handle| open.contains_key(handle)));
                let handle = *which.get(&all);
                let own = alive.get(&handle).copied();
                if kind == 1 {
                    steps.end(handle);
                    alive.remove(&handle);
                    continue;
                }
                match (steps.claim(handle, gate), own) {
                    (Err(Refused::Over), None) => {}
                    (Err(Refused::NotNow), Some((other, _))) => prop_assert_ne!(gate, other),
                    (Ok(mut claim), Some((own, at))) => {
                        prop_assert_eq!((own, mark(&claim.progress)), (gate, Some(at)));
                        if kind == 2 {
                            prop_assert_eq!(claim.release(), handle);
                            continue;
                        }
                        if kind == 3 {
                            claim.progress.state = State::Idle;
                            prop_assert_eq!(claim.release(), 0);
                        } else if kind == 6 {
                            steps.end_all(gate);
                            prop_assert_eq!(claim.release(), 0);
                            alive.retain(|_, (own, _)| *own != gate);
                        } else {
                            steps.end(handle);
                            prop_assert_eq!(claim.release(), 0);
                        }
                        alive.remove(&handle);
                    }
                    (claim, own) => prop_assert!(false, "{:?} for {own:?}", claim.err()),
                }
            }
        }
    }

    /// Threads use each other's handles, among them stale ones: no call sees another's step, and no step has two calls at once.
    #[test]
    fn threads_that_share_handles_never_share_a_step() {
        const ROUNDS: usize = if cfg!(miri) { 12 } else { 20_000 };
        let steps = table(50);
        let handles = Mutex::new(vec![(0, 0); 8]);
        let running: [AtomicUsize; 256] = [const { AtomicUsize::new(0) }; 256];
        thread::scope(|scope| {
            for thread in 0..4_usize {
                let (steps, handles, running) = (&steps, &handles, &running);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let at = (round * 7 + thread * 3) % 8;
                        let (handle, mark_of) = handles.lock().unwrap()[at];
                        let Ok(mut claim) = steps.claim(handle, 1) else {
                            if round % 4 == 0 {
                                let own = u8::try_from((thread << 6) | (round % 64)).unwrap();
                                let new = steps.begin(1, marked(own)).unwrap();
                                let old = mem::replace(&mut handles.lock().unwrap()[at], (new, own)).0;
                                steps.end(old);
                            }
                            continue;
                        };
                        assert_eq!(mark(&claim.progress), Some(mark_of));
                        let index = place_in(handle) % 256;
                        assert_eq!(running[index].fetch_add(1, Ordering::SeqCst), 0);
                        running[index].fetch_sub(1, Ordering::SeqCst);
                        match round % 3 {
                            0 => drop(claim),
                            1 => {
                                claim.progress.state = State::Idle;
                                claim.release();
                            }
                            _ => {
                                claim.release();
                            }
                        }
                    }
                });
            }
        });
    }
}
