//! What the system says of a running process: Linux alone. By hand, because procfs builds on Linux alone, and xtask builds everywhere.

use core::time::Duration;
use std::fs;

/// A figure of `/proc/PID/status` in KiB: `VmRSS`, the memory that it has, or `VmHWM`, the most that it ever had.
pub(crate) fn memory_kib(process: u32, figure: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    kib(&status, figure)
}

fn kib(status: &str, figure: &str) -> Option<u64> {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'))?;
    value.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The processor time that it has taken, in hundredths of a second, which is what Linux counts for programs.
pub(crate) fn processor_centiseconds(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    ticks(&stat, 11)
}

/// The same of the processes that this one has started, and theirs, as far as they have ended. Nothing where the system does not say.
pub(crate) fn of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    Duration::from_millis(ticks(&stat, 13).unwrap_or_default().saturating_mul(10))
}

/// The process that started it.
pub(crate) fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    fields(&stat)?.nth(1)?.parse().ok()
}

/// The program's name, in brackets, may have spaces and brackets itself, so the fields are counted after it.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace())
}

/// The sum of two fields, from this one on: the time in the program and in the system.
fn ticks(stat: &str, first: usize) -> Option<u64> {
    let mut times = fields(stat)?.skip(first);
    let (user, system): (u64, u64) = (times.next()?.parse().ok()?, times.next()?.parse().ok()?);
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::{kib, ticks};

    #[test]
    fn figures_are_read_from_the_status() {
        let status = "VmPeak:\t 9000 kB\nVmHWM:\t    4312 kB\nVmRSS:\t 4000 kB\n";
        assert_eq!(kib(status, "VmHWM"), Some(4312));
        assert_eq!(kib(status, "VmRSS"), Some(4000));
        assert_eq!(kib("Name:\torbgate\n", "VmHWM"), None);
    }

    #[test]
    fn user_and_system_time_are_added_whatever_the_program_is_called() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 120 34 3 4 20 0 1 0 5 6 7\n";
        assert_eq!(ticks(stat, 11), Some(154));
        assert_eq!(ticks(stat, 13), Some(7));
        assert_eq!(ticks("7 (a", 11), None);
    }
}
