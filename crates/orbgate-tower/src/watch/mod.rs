//! Following a policy file.
//!
//! The file is read again at an interval. The kernel's notifications would come sooner, but they miss common ways to
//! change a policy: a mounted Kubernetes `ConfigMap` changes by a symbolic link two directories up, editors rename a
//! new file over the old one, and network file systems send no events. A policy is small.
//!
//! A file that is being written in place may be a valid policy at any moment, and a weaker one, because its last routes
//! are missing. So a version must rest before it counts, and it can mark its end.

mod attempt;
mod follower;
mod settings;

use core::time::Duration;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

use orbgate::policy::PolicyFile;
use orbgate_gate::names;

use crate::adopt::{Candidate, Ending};
use crate::engines::Engines;
use crate::load_error::LoadError;
use crate::observe;
use attempt::Attempt;
use follower::{Follower, Text, Verdict};
pub use settings::WatchSettings;

/// A policy file that is followed until this is dropped.
#[derive(Debug)]
#[must_use = "the file is followed until this is dropped"]
pub struct Watch {
    wake: Sender<()>,
    text: Arc<Text>,
}

impl Watch {
    /// Reads the file at once, for an operator who has changed it. A version with a seal takes effect at once. Any other must
    /// rest first, for the interval or a second, because it might be half written. One that was refused is judged again, and
    /// reported again. This does not wait for that.
    pub fn read_now(&self) {
        // The thread that reads ends with this alone.
        let _ = self.wake.send(());
    }

    /// The text of the version of the file that decides now. `None` if the engine was there before, because each version so far was
    /// refused ([`WatchSettings::compare_first`]).
    #[must_use]
    pub fn text(&self) -> Option<Arc<Vec<u8>>> {
        self.text.load_full()
    }
}

impl Engines {
    /// Follows a policy file, by reading it at an interval on a thread of its own.
    ///
    /// The policy in the file is in force when this returns, and is compared with none, unless
    /// [`compare_first`](WatchSettings::compare_first) is set. Later, a version of the file
    /// takes its place if it is a valid policy that the [settings](WatchSettings) do not refuse, and has rested: it was
    /// read twice, an interval apart, and was the same. What it makes wider and narrower and which routes it removes
    /// is logged and counted. Any other version is reported once as a `tracing` error, counted in
    /// `orbgate_policy_loads_total`, and changes nothing. One that took too long, or whose compilation panicked, is
    /// tried again after growing pauses, of at most ten minutes.
    ///
    /// Writers should write a new file and rename it over the old one. Where they cannot, a policy should end in a line
    /// `...` with a seal: once such a version was in force, one without a seal is refused. The line alone is not enough
    /// where a version is written over a longer one: the old end is there all the time.
    ///
    /// If the file has just changed, this blocks for the interval, at most a second; and longer, up to the deadline,
    /// while the file keeps changing.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, is not a valid policy, or is refused now; where the settings are invalid; or
    /// where no thread can be started.
    pub fn watch(
        &self,
        path: impl AsRef<Path>,
        settings: impl Into<WatchSettings>,
    ) -> Result<Watch, LoadError> {
        let (path, settings) = (path.as_ref().to_owned(), settings.into());
        settings.check()?;
        let text = rested(&path, settings)?;
        let bytes = text.clone();
        let former = settings.compare_first.then(|| self.load());
        let candidate = Attempt::start(move || match former {
            Some(former) => Candidate::new(&bytes, &former),
            None => Candidate::first(&bytes),
        })?;
        let candidate = candidate.result_within(settings.deadline)??;
        settings.judge(&candidate.version, Ending::default())?;
        self.admits(&candidate.version.engine)?;
        let in_force = Arc::new(Text::empty());
        let mut follower = Follower::new(path, self.clone(), settings, Arc::clone(&in_force));
        match settings.judge_changes(&candidate) {
            Ok(()) if settings.compare_first => follower.adopt(candidate, text),
            Ok(()) => {
                follower.took(candidate.version.ending, text);
                self.store(candidate.version.engine);
                observe::reloaded(names::LOAD_LOADED);
            }
            Err(refusal) => {
                follower.refuse(&refusal);
                follower.judged(text, Verdict::Refused);
            }
        }
        observe::policy_read();
        observe::policy_waiting(!follower.is_current());
        let text = in_force;
        let (wake, woken) = channel();
        thread::Builder::new()
            .name("orbgate-watch".to_owned())
            .spawn(move || follower.follow(&woken))?;
        Ok(Watch { wake, text })
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
