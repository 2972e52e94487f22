//! The processor time of what a step starts: Linux alone. By hand, because procfs builds on Linux alone, and xtask builds everywhere.

use core::time::Duration;
use std::fs;

/// The processor time of the processes that this one has started, and theirs, as far as they have ended. Nothing where the system
/// does not say.
pub(crate) fn of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Hundredths of a second is what Linux counts for programs.
    Duration::from_millis(ticks(&stat).unwrap_or_default().saturating_mul(10))
}

/// The children's time in programs and in the system. The program's name, in brackets, may have spaces and brackets itself, so the
/// fields are counted after it.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(13).take(2);
    times.map(|time| time.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn user_and_system_time_are_added_whatever_the_program_is_called() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 120 34 3 4 20 0 1 0 5 6 7\n";
        assert_eq!(super::ticks(stat), Some(7));
        assert_eq!(super::ticks("7 (a"), None);
    }
}
