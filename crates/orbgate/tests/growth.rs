//! How the time of some work grows with its size.

use core::time::Duration;

/// The time that this thread has had a processor, which other programs don't change.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The time of day, where a thread's own isn't known.
#[cfg(not(unix))]
fn now() -> Duration {
    std::time::UNIX_EPOCH.elapsed().unwrap()
}

/// Fails where 16 times as much at once takes more than four times as long as 16 times one after the other. Work that
/// is quadratic takes 16 times as long. Both take about the same time, so that a busy machine is as hard on one as on
/// the other, and the least of several runs counts.
pub(crate) fn check_linear(what: &str, size: usize, prepare: impl Fn(usize) -> Box<dyn Fn()>) {
    let (small, large) = (prepare(size), prepare(size * 16));
    let time = |work: &dyn Fn(), times: usize| {
        let start = now();
        (0..times).for_each(|_| work());
        now() - start
    };
    let mut least = [Duration::MAX; 2];
    for _ in 0..10 {
        least[0] = least[0].min(time(&small, 16));
        least[1] = least[1].min(time(&large, 1));
        if least[1] <= least[0] * 4 {
            return;
        }
    }
    let [small, large] = least;
    panic!("{what}: 16 times {size} took {small:?}, and 16 times as much took {large:?}");
}

#[test]
#[should_panic(expected = "16 times as much")]
fn quadratic_work_is_noticed() {
    check_linear("pairs", 500, |size| {
        Box::new(move || {
            for pair in 0..size * size {
                core::hint::black_box(pair);
            }
        })
    });
}
