//! The processor time of a step's processes, only on Linux. Our own code, because procfs builds only on Linux, and
//! xtask builds everywhere.

use core::time::Duration;
use std::fs;

/// The processor time of this process's ended children and their descendants. Zero if the system doesn't report it.
pub(crate) fn of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Linux counts programs' time in hundredths of a second.
    Duration::from_millis(ticks(&stat).unwrap_or_default().saturating_mul(10))
}

/// The children's time in user mode and in the kernel. The program's name, in brackets, can itself contain spaces and
/// brackets, so the fields after it are counted.
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
