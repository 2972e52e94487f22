//! Two threads on the same stream at once: what they get through together, against one.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::contest::Contestant;
use crate::stream::Ask;

/// What two threads do together, in what one does alone: 2 is perfect.
pub struct Scaling {
    pub contestant: String,
    /// Of each one's best rounds.
    pub best: f64,
    /// The median of the rounds.
    pub median: f64,
}

/// Passes that a thread makes at a stretch: long compared with its start, short compared with the time slices of other programs.
const PASSES: usize = 2;

/// Rounds of everybody in turn, alone and in two threads.
pub fn run(asks: &[Ask], contestants: &[Box<dyn Contestant>], rounds: usize) -> Vec<Scaling> {
    let mut alone = vec![Vec::new(); contestants.len()];
    let mut together = vec![Vec::new(); contestants.len()];
    for _ in 0..rounds {
        for (place, contestant) in contestants.iter().enumerate() {
            alone[place].push(seconds(asks, contestant.as_ref(), 1));
            together[place].push(seconds(asks, contestant.as_ref(), 2));
        }
    }
    let times = alone.iter().zip(&together);
    let rows = contestants.iter().zip(times).map(|(contestant, (alone, together))| {
        let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let ratios = alone.iter().zip(together).map(|(one, two)| 2.0 * one / two);
        Scaling {
            contestant: contestant.name(),
            best: 2.0 * best(alone) / best(together),
            median: crate::contest::median(ratios),
        }
    });
    rows.collect()
}

/// From the first thread's start to the last one's end.
fn seconds(asks: &[Ask], contestant: &dyn Contestant, threads: usize) -> f64 {
    let ready = AtomicUsize::new(0);
    let work = || {
        black_box(contestant.pass(asks));
        // They start together; a sleeping one would start late.
        ready.fetch_add(1, Ordering::SeqCst);
        while ready.load(Ordering::SeqCst) < threads {
            spin_loop();
        }
        let start = Instant::now();
        for _ in 0..PASSES {
            black_box(contestant.pass(asks));
        }
        (start, Instant::now())
    };
    let spans: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let spans = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        spans.collect()
    });
    let start = spans.iter().map(|(start, _)| *start).min().expect("a thread");
    let end = spans.iter().map(|(_, end)| *end).max().expect("a thread");
    (end - start).as_secs_f64()
}
