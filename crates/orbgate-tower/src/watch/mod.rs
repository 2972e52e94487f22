//! Follows a policy file: reads it at an interval, and loads its versions on another thread. `orbgate_gate::Follower`
//! decides what counts.

mod attempt;
mod follower;
mod settings;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use orbgate_gate::LoadError;

use crate::engines::Engines;
use crate::observe;
use follower::{Following, Text};
pub use settings::WatchSettings;

/// A policy file that is followed until this value is dropped.
#[derive(Debug)]
#[must_use = "the file is followed until this is dropped"]
pub struct Watch {
    wake: Sender<()>,
    text: Arc<Text>,
}

impl Watch {
    /// Reads the file at once, for an operator who has changed it, and doesn't wait for the result. A version with a valid
    /// seal takes effect at once. Any other version must rest first, because it might be half written: for the interval
    /// or at most a second since its bytes were first seen, however often this is called. A version that was rejected is
    /// checked and reported again, and an active one is reported.
    pub fn read_now(&self) {
        // If this fails, the reading thread has ended.
        let _ = self.wake.send(());
    }

    /// The contents of the file's active version. `None` if the engine didn't come from the file, because every version
    /// so far was rejected ([`WatchSettings::compare_first`]).
    #[must_use]
    pub fn text(&self) -> Option<Arc<Vec<u8>>> {
        self.text.load_full()
    }
}

impl Engines {
    /// Follows a policy file by reading it at an interval on a separate thread.
    ///
    /// When this returns, the policy in the file is active. It isn't compared with another policy, unless
    /// [`compare_first`](WatchSettings::compare_first) is set.
    ///
    /// Later, a version of the file becomes active if it is a valid policy that the [settings](WatchSettings) accept,
    /// and if it has rested: its bytes were first seen an interval ago, and no others since. One with a valid seal needn't
    /// rest. The log and the counters show which calls become wider or narrower, and which routes are removed.
    ///
    /// Any other version is reported once as a `tracing` error, counted in `orbgate_policy_loads_total`, and changes
    /// nothing. A version that took too long, or whose compilation panicked, is tried again after growing pauses of at
    /// most ten minutes.
    ///
    /// Writers should write a new file and rename it over the old one. If they can't, the policy should end in a line
    /// `...` with a seal: after such a version was active, a version without a seal is rejected. The line without a
    /// seal isn't enough if a version is written over a longer one, because the old end is present all the time.
    ///
    /// If the file has just changed, this blocks for the interval, at most a second. While the file keeps changing,
    /// it blocks for longer, up to the deadline.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read, isn't a valid policy or is rejected now, if the settings are invalid, or
    /// if no thread can be started.
    pub fn watch(&self, path: impl AsRef<Path>, settings: impl Into<WatchSettings>) -> Result<Watch, LoadError> {
        let (path, settings) = (path.as_ref().to_owned(), settings.into());
        settings.check()?;
        let active = Arc::new(Text::empty());
        let mut follower = Following::new(path, self.clone(), settings, Arc::clone(&active));
        follower.first()?;
        observe::policy_read();
        observe::policy_waiting(!follower.is_current());
        let text = active;
        let (wake, woken) = channel();
        thread::Builder::new().name("orbgate-watch".to_owned()).spawn(move || follower.follow(&woken))?;
        Ok(Watch { wake, text })
    }
}
