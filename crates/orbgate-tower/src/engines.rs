//! The engine that decides now, swapped whole.

use core::fmt;
use core::time::Duration;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate::policy::PolicyFile;
use orbgate::{Digest, Engine, PolicyError};

use crate::adopt::{Candidate, Version, faults};
use crate::observe;

/// The engine that decides now: cheap to clone, and the clones share it.
///
/// A reader takes the engine with [`Engines::load`] and keeps it for the whole of a decision, so each
/// decision comes from exactly one policy. Readers never wait.
#[derive(Clone)]
pub struct Engines {
    current: Arc<ArcSwap<Engine>>,
}

/// As [`Engine`].
#[deprecated(since = "0.1.0", note = "until 0.2: `orbgate::Engine`")]
pub type Loaded = Engine;

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

    /// Decides with the policy of a file as it is now; [`Engines::watch`] follows its changes, and takes no file
    /// that is being written.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, is not a regular file, or is not a valid policy.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let engine = Version::compile(PolicyFile::read(path)?.bytes())?.engine;
        Ok(Self::new(engine))
    }

    /// The engine of now. It stays as it is, whatever is stored.
    #[must_use]
    pub fn load(&self) -> Arc<Engine> {
        self.current.load_full()
    }

    /// As [`Engines::load`].
    #[must_use]
    #[deprecated(since = "0.1.0", note = "until 0.2: `load`")]
    pub fn current(&self) -> Arc<Engine> {
        self.load()
    }

    /// Puts an engine in place of the current one: decisions that have begun end with the former.
    pub fn store(&self, engine: impl Into<Arc<Engine>>) {
        self.current.store(engine.into());
    }

    /// As [`Engines::store`].
    #[deprecated(since = "0.1.0", note = "until 0.2: `store`")]
    pub fn swap(&self, engine: impl Into<Arc<Engine>>) {
        self.store(engine);
    }

    /// Puts the policy of this text in place of the current one, logs and counts what that makes wider and
    /// narrower and which routes vanish, and returns its digest.
    ///
    /// # Errors
    ///
    /// Every fault of the policy; the current engine stays.
    pub fn reload(&self, policy: &[u8]) -> Result<Digest, PolicyError> {
        let candidate = Candidate::new(policy, &self.load());
        let candidate = candidate.inspect_err(|_| observe::reloaded("refused"))?;
        Ok(candidate.adopt(self))
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engines").field(&self.load()).finish()
    }
}

/// Why a policy file is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be read.
    Unreadable(std::io::Error),
    /// It is not a valid policy: every fault of it. The text of this error has the first 20.
    Unsound(PolicyError),
    /// It is still being written.
    Changing,
    /// It does not end in a line `...`, as it must.
    Unfinished,
    /// It could not be compiled within this time.
    Overdue(Duration),
    /// It allows more than the policy in force, which the settings refuse: what it changes, in a few lines.
    Wider(String),
}

#[cfg(feature = "watch")]
impl LoadError {
    /// The label of the counter.
    pub(crate) const fn result(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Unsound(_) => "refused",
            Self::Changing => "changing",
            Self::Unfinished => "unfinished",
            Self::Overdue(_) => "overdue",
            Self::Wider(_) => "wider",
        }
    }
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<PolicyError> for LoadError {
    fn from(error: PolicyError) -> Self {
        Self::Unsound(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the policy file cannot be read: {error}"),
            Self::Unsound(error) => faults(error, f),
            Self::Changing => f.write_str("the policy file is still being written"),
            Self::Unfinished => f.write_str("the policy does not end in a line `...`"),
            Self::Overdue(time) => write!(f, "the policy could not be compiled within {time:?}"),
            Self::Wider(changes) => write!(f, "the policy allows more than the former: {changes}"),
        }
    }
}

impl core::error::Error for LoadError {}
