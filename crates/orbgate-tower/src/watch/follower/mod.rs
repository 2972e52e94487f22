//! Reads a policy file, loads its versions, and reports what happened.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use arc_swap::ArcSwapOption;
use core::time::Duration;
use orbgate::Engine;
use orbgate::policy::PolicyFile;
use orbgate_gate::{Ending, Follower, LoadError, LoadRules, Look, Version, names};

use super::attempt::Attempt;
use super::settings::WatchSettings;
use crate::engines::Engines;
use crate::observe;

pub(super) struct Following {
    path: PathBuf,
    engines: Engines,
    settings: WatchSettings,
    compile: Compile,
    follower: Follower,
    /// The zero of the follower's clock.
    start: Instant,
    /// The attempt that took too long, while its thread might still run.
    overdue: Option<Attempt<Result<Version, LoadError>>>,
    /// The contents of the active version.
    active: Arc<Text>,
}

/// The contents of the active version.
pub(super) type Text = ArcSwapOption<Vec<u8>>;

/// Compiles a version, and checks it.
type Compile = fn(&Engines, &[u8], Option<&Engine>, Ending, LoadRules) -> Result<Version, LoadError>;

impl Following {
    /// Follows a file of which no version has been checked.
    #[expect(clippy::disallowed_methods, reason = "pauses are measured, and nothing else depends on the time")]
    pub(super) fn new(path: PathBuf, engines: Engines, settings: WatchSettings, active: Arc<Text>) -> Self {
        let (follower, start) = (Follower::new(settings.interval), Instant::now());
        Self { path, engines, settings, compile: Engines::version, follower, start, overdue: None, active }
    }

    /// Takes the first version, once it has rested. If it is rejected for its changes, the active engine stays.
    pub(super) fn first(&mut self) -> Result<(), LoadError> {
        let text = self.rested()?;
        match self.version(&text) {
            Ok(version) if self.settings.compare_first => self.adopt(version, &text),
            Ok(version) => {
                self.took(&text, version.ending);
                self.engines.store(version.engine);
                observe::reloaded(names::LOAD_LOADED);
            }
            Err(refusal @ LoadError::Wider(_)) => self.refuse(&refusal, self.start.elapsed()),
            Err(refusal) => return Err(refusal),
        }
        Ok(())
    }

    /// Reads a file that isn't being written: it hasn't changed for a while, or rests while this waits for it.
    #[expect(clippy::disallowed_methods, reason = "a file rests in the time of the clock on the wall")]
    fn rested(&mut self) -> Result<Vec<u8>, LoadError> {
        let rest = self.settings.interval.min(Duration::from_secs(1));
        let begun = Instant::now();
        let mut file = PolicyFile::read(&self.path)?;
        let age = file.modified().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
        // Whoever had looked then would have seen the same bytes.
        self.start = begun.checked_sub(rest).filter(|_| age >= rest).unwrap_or(begun);
        let mut now = Duration::ZERO;
        loop {
            // The program waits, as an operator does.
            if self.follower.look(&[Some(file.bytes())], true, now) == Look::Load {
                return Ok(file.into_bytes());
            }
            if begun.elapsed() >= self.settings.deadline.max(rest) {
                return Err(LoadError::Changing);
            }
            if now > Duration::ZERO {
                thread::sleep(self.follower.pause());
                file = PolicyFile::read(&self.path)?;
            }
            now = self.start.elapsed();
        }
    }

    pub(super) fn is_current(&self) -> bool {
        self.follower.is_current()
    }

    fn took(&mut self, text: &[u8], ending: Ending) {
        self.follower.took(ending);
        self.active.store(Some(Arc::new(text.to_vec())));
    }

    fn adopt(&mut self, version: Version, text: &[u8]) {
        self.took(text, version.ending);
        self.engines.adopt(version);
    }

    fn refuse(&mut self, refusal: &LoadError, now: Duration) {
        self.follower.failed(refusal, now);
        observe::reloaded(refusal.result());
        let (file, policy) = (self.path.display(), self.engines.load().digest());
        tracing::error!(%file, %policy, "policy refused, the active one stays: {refusal}");
    }

    pub(super) fn follow(mut self, woken: &Receiver<()>) {
        loop {
            let is_told = match woken.recv_timeout(self.follower.pause()) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let read = PolicyFile::read(&self.path).map(PolicyFile::into_bytes);
            self.look(read, is_told, self.start.elapsed());
        }
    }

    /// Checks the file as it is now.
    fn look(&mut self, read: io::Result<Vec<u8>>, is_told: bool, now: Duration) {
        let look = self.follower.look(&[read.as_deref().ok()], is_told, now);
        match (look, &read) {
            (Look::Load, Ok(text)) => self.load(text, now),
            (Look::Unreadable, Err(error)) => {
                observe::reloaded(names::LOAD_UNREADABLE);
                let (file, policy) = (self.path.display(), self.engines.load().digest());
                tracing::error!(%file, %policy, %error, "policy unreadable, the active one stays");
            }
            (Look::Unchanged, _) => {
                let (file, policy) = (self.path.display(), self.engines.load().digest());
                tracing::info!(%file, %policy, "policy unchanged");
            }
            _ => {}
        }
        if read.is_ok() {
            let is_current = self.is_current();
            observe::policy_waiting(!is_current);
            if is_current {
                observe::policy_read();
            }
        }
    }

    /// Makes a version active, or reports why not. No second thread is started while the first still runs.
    fn load(&mut self, text: &[u8], now: Duration) {
        if self.overdue.as_ref().is_some_and(Attempt::goes_on) {
            return self.follower.postponed(now);
        }
        match self.version(text) {
            Ok(version) => self.adopt(version, text),
            Err(refusal) => self.refuse(&refusal, now),
        }
    }

    fn version(&mut self, text: &[u8]) -> Result<Version, LoadError> {
        let (compile, bytes, engines) = (self.compile, text.to_vec(), self.engines.clone());
        let (ending, rules) = (self.follower.ending(), self.settings.rules);
        let active = (self.settings.compare_first || self.active.load().is_some()).then(|| engines.load());
        let attempt = Attempt::start(move || compile(&engines, &bytes, active.as_deref(), ending, rules))?;
        let version = attempt.result_within(self.settings.deadline);
        self.overdue = version.is_err().then_some(attempt);
        version?
    }
}

#[cfg(all(test, feature = "metrics"))]
mod tests;
