//! The engine that decides now, swapped whole.

use core::fmt;
use core::ops::Deref;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate::{Digest, Engine, Policy, PolicyError};

use crate::observe;

/// The engine that decides now: cheap to clone, and the clones share it.
///
/// A reader takes the engine with [`Engines::current`] and keeps it for the whole of a decision, so each
/// decision comes from exactly one policy. Readers never wait.
#[derive(Clone)]
pub struct Engines {
    current: Arc<ArcSwap<Loaded>>,
}

/// One engine, as long as somebody uses it.
pub struct Loaded {
    engine: Origin,
}

enum Origin {
    Static(&'static Engine),
    Shared(Arc<Engine>),
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
        Self::begin(Origin::Static(engine))
    }

    /// Decides with this engine.
    #[must_use]
    pub fn new(engine: impl Into<Arc<Engine>>) -> Self {
        Self::begin(Origin::Shared(engine.into()))
    }

    /// Decides with the policy of a file; [`Engines::watch`] follows its changes.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or is no sound policy.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let engine = compile(&read(path.as_ref())?)?;
        Ok(Self::new(engine))
    }

    fn begin(engine: Origin) -> Self {
        let current = Arc::new(ArcSwap::from_pointee(Loaded { engine }));
        Self { current }
    }

    /// The engine of now. It stays as it is, whatever is swapped in.
    #[must_use]
    pub fn current(&self) -> Arc<Loaded> {
        self.current.load_full()
    }

    /// Puts an engine in the place of the current one: decisions that have begun end with the former.
    pub fn swap(&self, engine: impl Into<Arc<Engine>>) {
        let engine = Origin::Shared(engine.into());
        self.current.store(Arc::new(Loaded { engine }));
    }

    /// Puts the policy of this text in the place of the current one, and returns its digest.
    ///
    /// # Errors
    ///
    /// Every fault of the policy; the current engine stays.
    pub fn reload(&self, policy: &[u8]) -> Result<Digest, PolicyError> {
        let engine = compile(policy).inspect_err(|_| observe::reloaded("refused"))?;
        let digest = engine.digest();
        self.swap(engine);
        observe::reloaded("loaded");
        Ok(digest)
    }
}

impl Deref for Loaded {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        match &self.engine {
            Origin::Static(engine) => engine,
            Origin::Shared(engine) => engine,
        }
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engines").field(&self.current()).finish()
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loaded({})", self.digest())
    }
}

fn compile(policy: &[u8]) -> Result<Engine, PolicyError> {
    Ok(Engine::new(&Policy::from_bytes(policy)?))
}

/// A policy is at most this long (8 MiB), so no more of a file is read than shows that it is longer.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The bytes of a policy file.
#[expect(
    clippy::disallowed_methods,
    reason = "the core does no I/O; a server loads its policy"
)]
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(LONGEST.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Why a policy file is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be read.
    Unreadable(std::io::Error),
    /// It is no sound policy: every fault of it.
    Unsound(PolicyError),
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
            Self::Unsound(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LoadError {}
