//! The engine that decides now, swapped whole.

use core::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate::policy::PolicyFile;
use orbgate::{Digest, Engine, PolicyError};
use orbgate_gate::names;

use crate::adopt::{Candidate, Version};
use crate::load_error::LoadError;
use crate::observe;

/// The engine that decides now: cheap to clone, and the clones share it.
///
/// A reader takes the engine with [`Engines::load`] and keeps it for the whole of a decision, so each
/// decision comes from exactly one policy. Readers never wait.
#[derive(Clone)]
pub struct Engines {
    current: Arc<ArcSwap<Engine>>,
}

impl Engines {
    /// Decides with the specification's own table, which is compiled into the program.
    #[must_use]
    pub fn external() -> Self {
        Self::of(Engine::external())
    }

    /// Decides with an engine that is compiled into the program.
    #[must_use]
    pub fn of(engine: &'static Engine) -> Self {
        Self::new(engine.clone())
    }

    /// Decides with this engine.
    #[must_use]
    pub fn new(engine: impl Into<Arc<Engine>>) -> Self {
        let current = Arc::new(ArcSwap::new(engine.into()));
        Self { current }
    }

    /// Decides with the policy of a file as it is now. [`Engines::watch`] also follows its changes, and refuses
    /// a file that is being written.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, is not a regular file, or is not a valid policy.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let engine = Version::compile(PolicyFile::read(path)?.bytes())?.engine;
        Ok(Self::new(engine))
    }

    /// The current engine. It does not change when another one is stored.
    #[must_use]
    pub fn load(&self) -> Arc<Engine> {
        self.current.load_full()
    }

    /// Puts an engine in place of the current one: decisions that have begun still use the former.
    pub fn store(&self, engine: impl Into<Arc<Engine>>) {
        self.current.store(engine.into());
    }

    /// Puts the policy of this text in place of the current one, logs and counts what that makes wider and
    /// narrower and which routes vanish, and returns its digest.
    ///
    /// # Errors
    ///
    /// Every fault of the policy; the current engine stays.
    pub fn reload(&self, policy: &[u8]) -> Result<Digest, PolicyError> {
        let candidate = Candidate::new(policy, &self.load());
        let candidate = candidate.inspect_err(|_| observe::reloaded(names::LOAD_REFUSED))?;
        Ok(self.adopt(candidate))
    }

    /// Puts a version in force, and reports what that changes.
    pub(crate) fn adopt(&self, candidate: Candidate) -> Digest {
        let digest = candidate.version.engine.digest();
        self.store(candidate.version.engine);
        observe::reloaded(names::LOAD_LOADED);
        candidate.changes.say(digest);
        digest
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engines").field(&self.load()).finish()
    }
}
