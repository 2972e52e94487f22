//! The active engine, which is replaced as a whole.

use core::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate::policy::PolicyFile;
use orbgate::{Digest, Engine};
#[cfg(feature = "ledger")]
use orbgate_gate::{NoAmount, OrbRules, same_template};
use orbgate_gate::{PublicRoutes, PublicRoutesError, names};

use crate::adopt::{Candidate, Version};
use crate::load_error::LoadError;
use crate::observe;

/// The active engine. Cheap to clone; all clones share it.
///
/// A reader takes the engine with [`Engines::load`] and keeps it for a whole decision, so each
/// decision comes from exactly one policy. Readers never wait.
#[derive(Clone)]
pub struct Engines {
    current: Arc<ArcSwap<Engine>>,
    public: Option<Arc<PublicRoutes>>,
    /// The routes for which functions state the amount, of each layer with a ledger.
    #[cfg(feature = "ledger")]
    amounts: Arc<ArcSwap<Vec<Vec<String>>>>,
}

impl Engines {
    /// Uses the specification's own table, which is compiled into the program.
    #[must_use]
    pub fn external() -> Self {
        Self::of(Engine::external())
    }

    /// Uses an engine that is compiled into the program.
    #[must_use]
    pub fn of(engine: &'static Engine) -> Self {
        Self::new(engine.clone())
    }

    /// Uses this engine.
    #[must_use]
    pub fn new(engine: impl Into<Arc<Engine>>) -> Self {
        Self {
            current: Arc::new(ArcSwap::new(engine.into())),
            public: None,
            #[cfg(feature = "ledger")]
            amounts: Arc::default(),
        }
    }

    /// Allows requests of these routes without a token, for example a health check. Each is a method and a template,
    /// written as in a policy, with the whole path. `HEAD` is a separate method.
    ///
    /// Set them before you pass the engines to a layer. [`Engines::watch`] and [`Engines::reload`] reject a policy that
    /// overlaps them. [`Engines::store`] rejects nothing, but the policy's routes still need their scopes.
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
    /// Returns every public route that overlaps the current policy.
    pub fn public_routes(self, public: impl Into<Arc<PublicRoutes>>) -> Result<Self, PublicRoutesError> {
        let public = public.into();
        public.check(&self.load())?;
        Ok(self.with_public_routes(Some(public)))
    }

    /// The same, before there is a policy: [`Engines::watch`] checks the first one.
    #[doc(hidden)]
    #[must_use]
    pub fn with_public_routes(self, public: Option<Arc<PublicRoutes>>) -> Self {
        Self { public, ..self }
    }

    pub(crate) const fn public(&self) -> Option<&Arc<PublicRoutes>> {
        self.public.as_ref()
    }

    /// Rejects an engine that overlaps the public routes, or that has a route without an amount for a layer with a ledger.
    pub(crate) fn admits(&self, engine: &Engine) -> Result<(), LoadError> {
        let checked = self.public.as_ref().map(|public| public.check(engine));
        checked.unwrap_or(Ok(())).map_err(LoadError::Public)?;
        #[cfg(feature = "ledger")]
        for stated in self.amounts.load().iter() {
            check_amounts(engine, stated).map_err(LoadError::Amounts)?;
        }
        Ok(())
    }

    /// From now on, rejects an engine that consumes orbs on a route without an amount, unless it is one of these.
    #[cfg(feature = "ledger")]
    pub(crate) fn require_amounts(&self, stated: Vec<String>) -> Result<(), NoAmount> {
        self.amounts.rcu(|all| {
            let mut all = all.to_vec();
            all.push(stated.clone());
            all
        });
        check_amounts(&self.load(), &stated)
    }

    /// Uses the policy that is in the file now. [`Engines::watch`] also follows the file's changes, and rejects
    /// a file that is still being written.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read, isn't a regular file, or isn't a valid policy.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let engine = Version::compile(PolicyFile::read(path)?.bytes())?.engine;
        Ok(Self::new(engine))
    }

    /// The active engine. The returned engine doesn't change when another one is stored.
    #[must_use]
    pub fn load(&self) -> Arc<Engine> {
        self.current.load_full()
    }

    /// Replaces the active engine. Decisions that have started still use the previous one.
    pub fn store(&self, engine: impl Into<Arc<Engine>>) {
        self.current.store(engine.into());
    }

    /// Replaces the active engine with this policy, and returns its digest. Logs and counts which calls
    /// become wider or narrower, and which routes are removed.
    ///
    /// # Errors
    ///
    /// Returns every error of the policy, or every public route that it overlaps. The active engine
    /// then stays.
    pub fn reload(&self, policy: &[u8]) -> Result<Digest, LoadError> {
        let candidate = Candidate::new(policy, &self.load()).map_err(LoadError::Unsound);
        let admitted = candidate.and_then(|candidate| {
            self.admits(&candidate.version.engine)?;
            Ok(candidate)
        });
        let candidate = admitted.inspect_err(|_| observe::reloaded(names::LOAD_REFUSED))?;
        Ok(self.adopt(candidate))
    }

    /// Makes a version active, and reports its changes.
    pub(crate) fn adopt(&self, candidate: Candidate) -> Digest {
        let digest = candidate.version.engine.digest();
        self.store(candidate.version.engine);
        observe::reloaded(names::LOAD_LOADED);
        candidate.changes.say(digest);
        digest
    }
}

#[cfg(feature = "ledger")]
fn check_amounts(engine: &Engine, stated: &[String]) -> Result<(), NoAmount> {
    let is_stated = |route: &str| stated.iter().any(|stated| same_template(stated, route));
    OrbRules::check_amounts(engine, |route| is_stated(route.as_str()))
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engines").field(&self.load()).finish()
    }
}
