//! The layer and its settings.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use tower_layer::Layer;

#[cfg(feature = "audit")]
use crate::audit::AuditLog;
use crate::challenge::Challenge;
use crate::engines::Engines;
use crate::service::Gate;
use crate::target::WireUri;

/// Lets a request through to a service only where its token may make the call: the policy enforcement point.
///
/// Works for every service of `http` requests: axum, tonic, hyper. See the [crate's page](crate).
pub struct GateLayer<V> {
    settings: Arc<Settings<V>>,
}

pub(crate) struct Settings<V> {
    pub(crate) source: WireUri,
    pub(crate) engines: Engines,
    pub(crate) verifier: Arc<V>,
    pub(crate) challenge: Challenge,
    pub(crate) flat_403: bool,
    pub(crate) ignore_method_override: bool,
    /// How many bytes to read for `allowBonusOrbsUse`, by route.
    pub(crate) bonus: HashMap<String, u64>,
    pub(crate) shadow: Option<Engines>,
    #[cfg(feature = "audit")]
    pub(crate) audit: Option<AuditLog>,
}

impl<V> GateLayer<V> {
    /// A layer inside an axum router (`Router::layer`), nested or not.
    ///
    /// Decides with these engines on tokens that this verifier verifies, and on axum's `OriginalUri`, because
    /// a nested router sees a URI without its prefix. A request without one did not come through a router,
    /// and is refused. So is an allowed request that axum has routed by another template than the policy's
    /// (`MatchedPath`): it would reach a route that the policy does not have.
    #[cfg(feature = "axum")]
    #[must_use]
    pub fn axum(engines: Engines, verifier: V) -> Self {
        Self::new(engines, verifier, WireUri::OriginalUri)
    }

    /// A layer around everything that routes: a hyper service, a tonic server, or a whole axum router.
    ///
    /// Decides with these engines on tokens that this verifier verifies, and on the request's URI, which
    /// nothing outside this layer may have changed. With the feature `axum`, which is on by default, a request
    /// that has come through an axum router is refused.
    ///
    /// The layer does not see which route a router further in takes: see [`Engines::check_routes`].
    #[must_use]
    pub fn outermost(engines: Engines, verifier: V) -> Self {
        Self::new(engines, verifier, WireUri::Outermost)
    }

    fn new(engines: Engines, verifier: V, source: WireUri) -> Self {
        let settings = Settings {
            source,
            engines,
            verifier: Arc::new(verifier),
            challenge: Challenge::default(),
            flat_403: false,
            ignore_method_override: false,
            bonus: HashMap::new(),
            shadow: None,
            #[cfg(feature = "audit")]
            audit: None,
        };
        Self {
            settings: Arc::new(settings),
        }
    }

    /// What a denied caller is told in `WWW-Authenticate`: [`Challenge::Minimal`] unless it is set.
    #[must_use]
    pub fn challenge(self, challenge: Challenge) -> Self {
        self.with(|settings| settings.challenge = challenge)
    }

    /// Answers every denial with 403, so that a caller cannot tell an unknown route from a missing scope.
    ///
    /// [`Challenge::None`] does so by itself; a full challenge would still name the error.
    #[must_use]
    pub fn flat_403(self) -> Self {
        self.with(|settings| settings.flat_403 = true)
    }

    /// Decides on a `POST` by its own method, whatever another one `X-HTTP-Method-Override` and its kin name.
    ///
    /// Unless this is set, such a `POST` has two methods, and is refused as malformed: a service, or a layer further
    /// in, may go by the other one. Set it where none does, and clients send the header all the same.
    #[must_use]
    pub fn ignore_method_override(self) -> Self {
        self.with(|settings| settings.ignore_method_override = true)
    }

    /// Reads `allowBonusOrbsUse` in the bodies of this route's allowed requests, as far as `limit` bytes; the
    /// service still gets the whole body. A longer body counts as one that does not allow bonus orbs.
    ///
    /// The route as the policy has it: `POST /api/v1/external/voxies/prompt/run`. The service waits for the
    /// whole body, as long as the server lets the client take.
    ///
    /// # Errors
    ///
    /// Where the current policy has no such route.
    pub fn bonus_from_body(self, route: &str, limit: u64) -> Result<Self, UnknownRoute> {
        let engine = self.settings.engines.load();
        if !engine.routes().any(|known| known.as_str() == route) {
            return Err(UnknownRoute(route.to_owned()));
        }
        Ok(self.with(|settings| {
            settings.bonus.insert(route.to_owned(), limit);
        }))
    }

    /// Decides with these engines, too, and reports every disagreement: what a new policy would change for the requests that
    /// come, before it is in force. The answer is the other engines' alone.
    ///
    /// Each request counts in `orbgate_shadow_decisions_total`; where the two disagree, the span has how in `shadow`, and
    /// the audit has both answers. Costs a second decision. It needs scopes as text, as [`orbgate_token`] has them.
    #[must_use]
    pub fn shadow(self, candidate: Engines) -> Self {
        self.with(|settings| settings.shadow = Some(candidate))
    }

    /// Writes a line for every decision; none is written unless this is set.
    #[cfg(feature = "audit")]
    #[must_use]
    pub fn audit(self, audit: AuditLog) -> Self {
        self.with(|settings| settings.audit = Some(audit))
    }

    fn with(mut self, set: impl FnOnce(&mut Settings<V>)) -> Self {
        set(Arc::make_mut(&mut self.settings));
        self
    }
}

impl<S, V> Layer<S> for GateLayer<V> {
    type Service = Gate<S, V>;

    fn layer(&self, inner: S) -> Gate<S, V> {
        Gate::new(inner, Arc::clone(&self.settings))
    }
}

// By hand: a derive would ask that the verifier can be cloned.
impl<V> Clone for GateLayer<V> {
    fn clone(&self) -> Self {
        let settings = Arc::clone(&self.settings);
        Self { settings }
    }
}

impl<V> Clone for Settings<V> {
    fn clone(&self) -> Self {
        Self {
            source: self.source,
            engines: self.engines.clone(),
            verifier: Arc::clone(&self.verifier),
            challenge: self.challenge.clone(),
            flat_403: self.flat_403,
            ignore_method_override: self.ignore_method_override,
            bonus: self.bonus.clone(),
            shadow: self.shadow.clone(),
            #[cfg(feature = "audit")]
            audit: self.audit.clone(),
        }
    }
}

impl<V> fmt::Debug for GateLayer<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}

impl<V> fmt::Debug for Settings<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("GateLayer");
        fields
            .field("source", &self.source)
            .field("engines", &self.engines)
            .field("challenge", &self.challenge)
            .field("flat_403", &self.flat_403)
            .field("ignore_method_override", &self.ignore_method_override)
            .field("bonus", &self.bonus)
            .field("shadow", &self.shadow);
        #[cfg(feature = "audit")]
        fields.field("audit", &self.audit);
        fields.finish_non_exhaustive()
    }
}

/// A setting names a route that the policy does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRoute(String);

impl fmt::Display for UnknownRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the policy has no route `{}`; a route is written with its method and base path, \
             as in `GET /api/v1/external/orbs`",
            self.0
        )
    }
}

impl core::error::Error for UnknownRoute {}
