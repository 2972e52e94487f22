//! Times and durations as people write them.

use core::time::Duration;
use std::time::UNIX_EPOCH;

use orbgate_ledger::Millis;

/// A time such as `2027-01-01T00:00:00Z`, or the beginning of a day in UTC. The error is what is wrong.
pub(super) fn time(text: &str) -> Result<Millis, String> {
    let wrong = || format!("`{text}` is not a time such as `2027-01-01T00:00:00Z`");
    let day = (text.len() == "2027-01-01".len()).then(|| format!("{text}T00:00:00Z"));
    let time = humantime::parse_rfc3339(day.as_deref().unwrap_or(text)).map_err(|_| wrong())?;
    millis(time.duration_since(UNIX_EPOCH).map_err(|_| wrong())?).ok_or_else(wrong)
}

/// A duration such as `60s`. The error is what is wrong.
pub(super) fn duration(text: &str) -> Result<Millis, String> {
    let wrong = || format!("`{text}` is not a duration such as `60s` or `5m`");
    millis(humantime::parse_duration(text).map_err(|_| wrong())?).ok_or_else(wrong)
}

fn millis(duration: Duration) -> Option<Millis> {
    Millis::new(u64::try_from(duration.as_millis()).ok()?).ok()
}
