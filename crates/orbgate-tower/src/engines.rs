//! The active engine, which is replaced as a whole.

use core::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use orbgate::policy::PolicyFile;
use orbgate::{Digest, Engine, Policy};
use orbgate_analysis::Summary;
use orbgate_gate::{
    Changes, Current, Ending, GateCharges, LoadError, LoadRules, Mcp, McpError, PublicRoutes, PublicRoutesError,
    Uncharged, Version, names,
};

use crate::observe;

/// The active engine. Cheap to clone; all clones share it.
///
/// A reader takes the engine with [`Engines::load`] and keeps it for a whole decision, so each
/// decision comes from exactly one policy. Readers never wait.
#[derive(Clone)]
pub struct Engines {
    current: Arc<ArcSwap<Engine>>,
    public: Option<Arc<PublicRoutes>>,
    /// The routes of the service, if it has stated them.
    served: Arc<ArcSwap<Vec<(String, String)>>>,
    /// The MCP endpoints of each layer.
    mcp: Arc<ArcSwap<Vec<Arc<Mcp>>>>,
    /// How each layer charges.
    charges: Arc<ArcSwap<Vec<GateCharges>>>,
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
            served: Arc::default(),
            mcp: Arc::default(),
            charges: Arc::default(),
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

    pub(crate) fn serves(&self, routes: Vec<(String, String)>) {
        self.served.store(Arc::new(routes));
    }

    /// Compiles a version, and checks it, also for routes without an amount if a layer has a ledger. `engine` is the active
    /// one, unless the version is the first.
    pub(crate) fn version(
        &self,
        policy: &[u8],
        engine: Option<&Engine>,
        ending: Ending,
        rules: LoadRules,
    ) -> Result<Version, LoadError> {
        let (served, mcp) = (self.served.load(), self.mcp());
        let mcp: Vec<_> = mcp.iter().map(AsRef::as_ref).collect();
        let (public, charges) = (self.public.as_deref(), self.charges.load());
        let current = Current { engine, public, mcp: &mcp, served: &served, charges: &charges, ending };
        rules.load(policy, &current, |old, new| {
            let Summary { wider, narrower, removed, widens, text, .. } = Summary::between(old, new);
            Changes { wider, narrower, removed, widens, text }
        })
    }

    /// From now on, rejects an engine that doesn't fit this MCP endpoint.
    pub(crate) fn require_mcp(&self, mcp: &Arc<Mcp>) -> Result<(), McpError> {
        self.mcp.rcu(|all| all.iter().chain([mcp]).cloned().collect::<Vec<_>>());
        mcp.check(&self.load())
    }

    pub(crate) fn mcp(&self) -> Arc<Vec<Arc<Mcp>>> {
        self.mcp.load_full()
    }

    /// Logs how a gate charges, and from now on whenever a policy is loaded, and rejects a policy whose calls the gate couldn't
    /// charge. Another gate that charges in the same way changes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the calls of the current engine couldn't be charged.
    #[doc(hidden)]
    pub fn charged(&self, charges: &GateCharges) -> Result<(), Uncharged> {
        let statement = charges.statement(&self.load())?;
        let before = self.charges.rcu(|all| match all.contains(charges) {
            true => Arc::clone(all),
            false => Arc::new(all.iter().chain([charges]).cloned().collect()),
        });
        if !before.contains(charges) {
            observe::charging(&statement);
        }
        Ok(())
    }

    /// Uses the policy that is in the file now. [`Engines::watch`] also follows the file's changes, and rejects
    /// a file that is still being written.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read, isn't a regular file, or isn't a valid policy.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let policy = Policy::from_bytes(PolicyFile::read(path)?.bytes())?;
        Ok(Self::new(Engine::new(&policy)))
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
        let version = self.version(policy, Some(&self.load()), Ending::default(), LoadRules::default());
        let version = version.inspect_err(|error| observe::reloaded(error.result()))?;
        Ok(self.adopt(version))
    }

    /// Makes a version active, and reports its changes.
    pub(crate) fn adopt(&self, version: Version) -> Digest {
        let (policy, Changes { wider, narrower, removed, .. }) = (version.engine.digest(), version.changes);
        self.store(version.engine);
        observe::reloaded(names::LOAD_LOADED);
        tracing::info!(%policy, wider, narrower, removed, "policy loaded");
        if !version.warning.is_empty() {
            tracing::warn!(%policy, "{}", version.warning);
        }
        version.charging.iter().for_each(observe::charging);
        observe::policy_changed(wider, narrower, removed);
        policy
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engines").field(&self.load()).finish()
    }
}
