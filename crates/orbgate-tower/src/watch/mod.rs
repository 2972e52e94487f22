//! Following a policy file.
//!
//! The file is read again at an interval. Notifications of the kernel would come sooner, but they miss
//! what policies live on: a mounted Kubernetes `ConfigMap` changes by a symbolic link two directories up,
//! editors rename a new file over the old one, and network file systems send no events. A policy is small.
//!
//! A file that is being written in place may be a valid policy at any moment, and a weaker one: its last
//! routes are missing. So a version must rest before it counts, and it may say where it ends.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::Instant;

use orbgate::policy::PolicyFile;

use crate::adopt::{Candidate, Version};
use crate::engines::{Engines, LoadError};
use crate::observe;

/// How a policy file is followed. A [`Duration`] is the interval, with the usual settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct WatchSettings {
    interval: Duration,
    deadline: Duration,
    require_end: bool,
    refuse_wider: bool,
}

impl WatchSettings {
    /// Reads the file once in every interval.
    pub const fn every(interval: Duration) -> Self {
        Self {
            interval,
            deadline: Duration::from_secs(10),
            require_end: false,
            refuse_wider: false,
        }
    }

    /// How long reading and compiling a version may take: 10 s unless it is set. A version that takes longer
    /// is refused; its thread goes on until it ends, because no thread can be stopped.
    pub const fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Refuses a version that does not end in YAML's end marker, a line `...`.
    ///
    /// Without this setting the marker is asked for as soon as one version with it was in force.
    pub const fn require_end(self) -> Self {
        Self {
            require_end: true,
            ..self
        }
    }

    /// Refuses a version that allows a caller what the policy in force denies, or for fewer orbs. Such a
    /// version takes a restart.
    pub const fn refuse_wider(self) -> Self {
        Self {
            refuse_wider: true,
            ..self
        }
    }
}

impl From<Duration> for WatchSettings {
    fn from(interval: Duration) -> Self {
        Self::every(interval)
    }
}

/// A policy file being followed; no longer once this is dropped.
#[derive(Debug)]
#[must_use = "the file is followed until this is dropped"]
pub struct Watch {
    _stop: Sender<()>,
}

impl Engines {
    /// Follows a policy file, by reading it at an interval on a thread of its own.
    ///
    /// The policy in the file is in force when this returns, and is compared with nothing. Later, a version of
    /// the file takes its place once it has rested, which means that it was read twice, an interval apart, and
    /// was the same; and if it is a valid policy that the [settings](WatchSettings) do not refuse. What it
    /// makes wider and narrower and which routes have vanished is logged and counted. Any other version is reported once as a
    /// `tracing` error, counted in `orbgate_policy_loads_total`, and changes nothing.
    ///
    /// Writers should write a new file and rename it over the old one. Where they cannot, a policy should end
    /// in a line `...`: once such a version was in force, none without that line is taken.
    ///
    /// This blocks for the interval, at most a second, where the file has changed within it, and longer, up
    /// to the deadline, while it goes on changing.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, is not a valid policy, or is refused now; or where no thread can be started.
    pub fn watch(
        &self,
        path: impl AsRef<Path>,
        settings: impl Into<WatchSettings>,
    ) -> Result<Watch, LoadError> {
        let (path, settings) = (path.as_ref().to_owned(), settings.into());
        let text = rested(&path, settings)?;
        let bytes = text.clone();
        let version = within(settings.deadline, move || Version::compile(&bytes))??;
        if settings.require_end && !version.ends {
            return Err(LoadError::Unfinished);
        }
        let ends = version.ends;
        self.store(version.engine);
        observe::reloaded("loaded");
        observe::policy_read();
        let follower = Follower {
            engines: self.clone(),
            path,
            settings,
            ends,
            judged: Some(text),
            in_force: true,
            resting: None,
        };
        let (stop, stopped) = channel();
        thread::Builder::new()
            .name("orbgate-watch".to_owned())
            .spawn(move || follower.follow(&stopped))?;
        Ok(Watch { _stop: stop })
    }
}

struct Follower {
    engines: Engines,
    path: PathBuf,
    settings: WatchSettings,
    /// A version with the end marker was in force, so the next one needs it, too.
    ends: bool,
    /// The version that was judged last; `None` after the file could not be read.
    judged: Option<Vec<u8>>,
    /// Whether that version is in force.
    in_force: bool,
    /// A version that is not judged before it has been read again.
    resting: Option<Vec<u8>>,
}

impl Follower {
    fn follow(mut self, stopped: &Receiver<()>) {
        while stopped.recv_timeout(self.settings.interval) == Err(RecvTimeoutError::Timeout) {
            match PolicyFile::read(&self.path) {
                Ok(file) => self.look(file.into_bytes()),
                Err(error) => self.unreadable(&error),
            }
        }
    }

    fn look(&mut self, text: Vec<u8>) {
        if self.judged.as_ref() == Some(&text) {
            self.resting = None;
        } else if self.resting.as_ref() == Some(&text) {
            self.resting = None;
            self.in_force = self.judge(&text);
            self.judged = Some(text);
        } else {
            self.resting = Some(text);
            return;
        }
        if self.in_force {
            observe::policy_read();
        }
    }

    /// Whether a version is in force from now on.
    fn judge(&mut self, text: &[u8]) -> bool {
        match self.candidate(text) {
            Ok(candidate) => {
                self.ends |= candidate.version.ends;
                candidate.adopt(&self.engines);
                true
            }
            Err(refusal) => {
                observe::reloaded(refusal.result());
                tracing::error!("policy refused, the former stays: {refusal}");
                false
            }
        }
    }

    fn candidate(&self, text: &[u8]) -> Result<Candidate, LoadError> {
        let (bytes, current) = (text.to_vec(), self.engines.load());
        let candidate = within(self.settings.deadline, move || {
            Candidate::new(&bytes, &current)
        })??;
        if (self.ends || self.settings.require_end) && !candidate.version.ends {
            return Err(LoadError::Unfinished);
        }
        if self.settings.refuse_wider && candidate.changes.widen() {
            return Err(LoadError::Wider(candidate.changes.to_string()));
        }
        Ok(candidate)
    }

    fn unreadable(&mut self, error: &std::io::Error) {
        self.resting = None;
        // Once, until it can be read again.
        if self.judged.take().is_some() {
            observe::reloaded("unreadable");
            tracing::error!(%error, "policy unreadable, the former stays");
        }
    }
}

/// Reads a file that is not being written: it has not changed for a while, or is the same when read twice.
#[expect(
    clippy::disallowed_methods,
    reason = "a file rests in the time of the clock on the wall"
)]
fn rested(path: &Path, settings: WatchSettings) -> Result<Vec<u8>, LoadError> {
    let rest = settings.interval.min(Duration::from_secs(1));
    let mut file = PolicyFile::read(path)?;
    let age = file.modified().and_then(|modified| modified.elapsed().ok());
    if age.is_some_and(|age| age >= rest) {
        return Ok(file.into_bytes());
    }
    let begun = Instant::now();
    while begun.elapsed() < settings.deadline.max(rest) {
        thread::sleep(rest);
        let again = PolicyFile::read(path)?;
        if again.bytes() == file.bytes() {
            return Ok(file.into_bytes());
        }
        file = again;
    }
    Err(LoadError::Changing)
}

/// Does work on a thread of its own, as long as it may take.
fn within<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LoadError> {
    let (done, result) = sync_channel(1);
    thread::Builder::new()
        .name("orbgate-policy".to_owned())
        .spawn(move || {
            // Nobody waits any more after the deadline.
            let _ = done.send(work());
        })?;
    result
        .recv_timeout(deadline)
        .map_err(|_| LoadError::Overdue(deadline))
}
