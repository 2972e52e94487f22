//! How a policy file is followed, and which versions of it are accepted.

use core::time::Duration;

use orbgate::Digest;

use crate::adopt::{Candidate, Ending, Version};
use crate::engines::Engines;
use crate::load_error::LoadError;

/// How a policy file is followed. A [`Duration`] is the interval, with the other settings at their
/// defaults.
///
/// Every time must be greater than 0 and at most a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct WatchSettings {
    pub(super) interval: Duration,
    pub(super) deadline: Duration,
    require_end: bool,
    require_seal: bool,
    expected: Option<Digest>,
    refuse_wider: bool,
    pub(super) compare_first: bool,
}

impl WatchSettings {
    /// Reads the file once in every interval.
    pub const fn every(interval: Duration) -> Self {
        Self {
            interval,
            deadline: Duration::from_secs(10),
            require_end: false,
            require_seal: false,
            expected: None,
            refuse_wider: false,
            compare_first: false,
        }
    }

    /// How long reading and compiling a version can take. Default: 10 s. A version that takes longer is rejected,
    /// and tried again after growing pauses. Its thread runs to its end, because threads can't be stopped.
    pub const fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Rejects a version that doesn't end in YAML's end marker, a line `...`.
    ///
    /// Without this setting, the marker is required after a version with a marker was active.
    pub const fn require_end(self) -> Self {
        Self { require_end: true, ..self }
    }

    /// Rejects a version whose end marker has no seal, as `orbgate fmt --seal` writes it: `... # sha256:` and the
    /// digest of everything before that line. A wrong seal is always rejected.
    ///
    /// Without this setting, the seal is required after a version with a seal was active.
    pub const fn require_seal(self) -> Self {
        Self { require_seal: true, ..self }
    }

    /// Rejects every policy except the one with this digest, for a service that knows which policy it must
    /// get.
    pub const fn expect(self, digest: Digest) -> Self {
        Self { expected: Some(digest), ..self }
    }

    /// Rejects a version that allows a call that the active policy denies, or for fewer orbs. To activate such a
    /// version, watch the file again without this setting. The first version isn't compared with another, unless
    /// [`compare_first`](Self::compare_first) is set.
    pub const fn refuse_wider(self) -> Self {
        Self { refuse_wider: true, ..self }
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

    /// Rejects a version for its own contents or digest. `before` is how the active versions so far marked their
    /// end.
    pub(super) fn judge(&self, version: &Version, before: Ending) -> Result<(), LoadError> {
        if (self.require_end || before.marked) && !version.ending.marked {
            return Err(LoadError::Unfinished);
        }
        if (self.require_seal || before.sealed) && !version.ending.sealed {
            return Err(LoadError::Unsealed);
        }
        let digest = version.engine.digest();
        if self.expected.is_some_and(|expected| expected != digest) {
            return Err(LoadError::Unexpected(digest));
        }
        Ok(())
    }

    /// Rejects a version for its changes, which include those of the public routes.
    pub(super) fn judge_changes(&self, candidate: &Candidate, engines: &Engines) -> Result<(), LoadError> {
        if !self.refuse_wider {
            return Ok(());
        }
        if candidate.changes.widen() {
            return Err(LoadError::Wider(candidate.changes.to_string()));
        }
        if candidate.is_compared
            && let Some(public) = engines.public()
        {
            let checked = public.check_wider(&engines.load(), &candidate.version.engine);
            checked.map_err(|error| LoadError::Wider(error.to_string()))?;
        }
        Ok(())
    }
}

impl From<Duration> for WatchSettings {
    fn from(interval: Duration) -> Self {
        Self::every(interval)
    }
}
