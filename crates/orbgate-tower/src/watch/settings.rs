//! How a policy file is followed, and which versions of it are accepted.

use core::time::Duration;

use orbgate::Digest;
use orbgate_gate::{LoadError, LoadRules};

/// How a policy file is followed. A [`Duration`] is the interval, with the other settings at their
/// defaults.
///
/// Every time must be greater than 0 and at most a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct WatchSettings {
    pub(super) interval: Duration,
    pub(super) deadline: Duration,
    pub(super) rules: LoadRules,
    pub(super) compare_first: bool,
}

impl WatchSettings {
    /// Reads the file once in every interval.
    pub const fn every(interval: Duration) -> Self {
        Self { interval, deadline: Duration::from_secs(10), rules: LoadRules::new(), compare_first: false }
    }

    /// How long reading and compiling a version can take. Default: 10 s. A version that takes longer is rejected,
    /// and tried again after growing pauses. Its thread runs to its end, because threads can't be stopped.
    pub const fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Rejects a version that doesn't end in YAML's end marker, a line `...`.
    ///
    /// Without this setting, the marker is required after a version with a marker was active.
    pub const fn require_end(mut self) -> Self {
        self.rules.require_end = true;
        self
    }

    /// Rejects a version whose end marker has no seal, as `orbgate fmt --seal` writes it: `... # sha256:` and the
    /// digest of everything before that line. A wrong seal is always rejected.
    ///
    /// Without this setting, the seal is required after a version with a seal was active.
    pub const fn require_seal(mut self) -> Self {
        self.rules.require_seal = true;
        self
    }

    /// Rejects every policy except the one with this digest, for a service that knows which policy it must
    /// get.
    pub const fn expect(mut self, digest: Digest) -> Self {
        self.rules.expected = Some(digest);
        self
    }

    /// Rejects a version that allows a call that the active policy denies, or for fewer orbs. To activate such a
    /// version, watch the file again without this setting. The first version isn't compared with another, unless
    /// [`compare_first`](Self::compare_first) is set.
    pub const fn refuse_wider(mut self) -> Self {
        self.rules.refuse_wider = true;
        self
    }

    /// Compares the first version with the engine that is already active, as it does each later version. If the
    /// first version is rejected for its changes, that engine stays active, and the rejection is logged and
    /// counted.
    ///
    /// Use this in a service that stores which policy it accepted last (`Watch::text`), or whose settings change.
    pub const fn compare_first(self) -> Self {
        Self { compare_first: true, ..self }
    }

    /// Rejects invalid settings: for example, without an interval the file would be read all the
    /// time.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let times = [("interval", self.interval), ("deadline", self.deadline)];
        let diagnostics = times.iter().filter_map(|(name, time)| match *time {
            Duration::ZERO => Some(format!("`{name}` is 0")),
            time if time > DAY => Some(format!("`{name}` is longer than a day")),
            _ => None,
        });
        let diagnostics: Vec<_> = diagnostics.collect();
        if diagnostics.is_empty() { Ok(()) } else { Err(LoadError::Settings(diagnostics.join(", "))) }
    }
}

impl From<Duration> for WatchSettings {
    fn from(interval: Duration) -> Self {
        Self::every(interval)
    }
}
