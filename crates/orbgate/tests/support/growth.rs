//! How the time of some work grows with its size.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test takes the time and fails by panicking"
)]

use core::time::Duration;
use std::time::Instant;

/// Fails where four times as much to do takes more than ten times as long. Work that is quadratic takes sixteen
/// times. What else the machine does only adds time, so the least of several runs counts.
pub(crate) fn check_linear(what: &str, size: usize, prepare: impl Fn(usize) -> Box<dyn Fn()>) {
    let (small, large) = (prepare(size), prepare(size * 4));
    let mut least = [Duration::MAX; 2];
    for _ in 0..10 {
        for (work, least) in [&small, &large].into_iter().zip(&mut least) {
            let start = Instant::now();
            work();
            *least = start.elapsed().min(*least);
        }
        // A clock and a cold start say little of less than that.
        if least[1] <= least[0] * 10 + Duration::from_millis(2) {
            return;
        }
    }
    let [small, large] = least;
    panic!("{what}: {size} took {small:?}, and four times as much took {large:?}");
}

#[test]
#[should_panic(expected = "four times as much")]
fn quadratic_work_is_noticed() {
    check_linear("pairs", 1_000, |size| {
        Box::new(move || {
            for pair in 0..size * size {
                core::hint::black_box(pair);
            }
        })
    });
}
