//! The engine that decides now, swapped whole.

use core::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate::policy::PolicyFile;
use orbgate::{Digest, Engine};
use orbgate_gate::{PublicRoutes, PublicRoutesError, names};

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
    public: Option<Arc<PublicRoutes>>,
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
        Self {
            current: Arc::new(ArcSwap::new(engine.into())),
            public: None,
        }
    }

    /// Lets requests of these routes pass without a token: a health check, for example. Each is a method and a template, written as in
    /// a policy, with the whole path. `HEAD` is a method of its own.
    ///
    /// Set them before the engines get to a layer. A policy that overlaps them is refused by [`Engines::watch`] and
    /// [`Engines::reload`]. After [`Engines::store`], which refuses nothing, the policy's routes still need their scopes.
    ///
    /// ```
    /// use orbgate_tower::{Engines, PublicRoutes};
    ///
    /// let health = PublicRoutes::new(["GET /healthz", "HEAD /healthz"])?;
    /// let engines = Engines::external().public_routes(health)?;
    /// let voxies = PublicRoutes::new(["GET /api/v1/external/voxies/{id}"])?;
    /// assert!(engines.public_routes(voxies).is_err());
    /// # Ok::<(), orbgate_tower::PublicRoutesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Every public route that overlaps the current policy.
    pub fn public_routes(
        self,
        public: impl Into<Arc<PublicRoutes>>,
    ) -> Result<Self, PublicRoutesError> {
        let public = public.into();
        public.check(&self.load())?;
        Ok(self.with_public_routes(Some(public)))
    }

    /// The same before there is a policy: [`Engines::watch`] checks the first one.
    #[doc(hidden)]
    #[must_use]
    pub fn with_public_routes(self, public: Option<Arc<PublicRoutes>>) -> Self {
        Self { public, ..self }
    }

    pub(crate) const fn public(&self) -> Option<&Arc<PublicRoutes>> {
        self.public.as_ref()
    }

    /// Refuses an engine that overlaps the public routes.
    pub(crate) fn admits(&self, engine: &Engine) -> Result<(), LoadError> {
        let checked = self.public.as_ref().map(|public| public.check(engine));
        checked.unwrap_or(Ok(())).map_err(LoadError::Public)
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

    /// Puts an engine instead of the current one: decisions that have begun still use the former.
    pub fn store(&self, engine: impl Into<Arc<Engine>>) {
        self.current.store(engine.into());
    }

    /// Puts the policy of this text instead of the current one, logs and counts what that makes wider and
    /// narrower and which routes disappear, and returns its digest.
    ///
    /// # Errors
    ///
    /// Every error of the policy, or every public route that it overlaps; the current engine stays.
    pub fn reload(&self, policy: &[u8]) -> Result<Digest, LoadError> {
        let candidate = Candidate::new(policy, &self.load()).map_err(LoadError::Unsound);
        let admitted = candidate.and_then(|candidate| {
            self.admits(&candidate.version.engine)?;
            Ok(candidate)
        });
        let candidate = admitted.inspect_err(|_| observe::reloaded(names::LOAD_REFUSED))?;
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
