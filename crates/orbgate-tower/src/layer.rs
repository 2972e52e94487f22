//! The layer and its settings.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use http::HeaderMap;
use orbgate::{Decision, Engine};
use orbgate_analysis::Explanation;
use orbgate_gate::{Answer, Challenge, CorsPreflight, Credentials, Request, Verified, same_template};
use tower_layer::Layer;

use crate::ask::NoBody;
#[cfg(feature = "audit")]
use crate::audit::AuditLog;
use crate::charge::NoLedger;
use crate::engines::Engines;
use crate::observe;
use crate::service::Gate;
use crate::settings::Settings;
use crate::target::WireUri;
use crate::verify::VerifyToken;

/// Passes a request to a service only if its token allows the call: the policy enforcement point.
///
/// Works with every service for `http` requests: axum, tonic, hyper. See the [crate's page](crate). The layer's
/// position in a service is part of its type: [`InAxum`] or [`Outermost`].
///
/// When it is applied, the layer logs whether it charges, and how many routes consume orbs. axum applies layers with the first
/// connection if a router has only handlers for all methods.
pub struct GateLayer<V, W = Outermost> {
    pub(crate) settings: Arc<Settings<V>>,
    source: PhantomData<fn() -> W>,
}

/// The layer wraps everything that routes: see [`GateLayer::outermost`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a type without values")]
pub enum Outermost {}

/// The layer wraps the routes of an axum router: see [`GateLayer::axum`].
#[cfg(feature = "axum")]
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a type without values")]
pub enum InAxum {}

#[cfg(feature = "axum")]
impl<V> GateLayer<V, InAxum> {
    /// A layer inside an axum router (`Router::layer`), nested or not.
    ///
    /// Decides with these engines and this verifier, on axum's `OriginalUri`, because a nested router sees a
    /// URI without its prefix. A request without an `OriginalUri` didn't come through a router, and is denied.
    /// So is an otherwise allowed request that axum routed by a different template than the policy's
    /// (`MatchedPath`) or by none, as in a fallback and around `nest_service`: it could reach a route that the
    /// policy lacks. So is one whose path or query was rewritten inside the router.
    ///
    /// Use the layer only around axum's own routes: `Router::layer`, `Router::route_layer`, `MethodRouter::layer`. It
    /// can't wrap any other service, because that service might route again, and nothing would compare its route with
    /// the policy's. For example, below `/users/{id}`, it could serve its own `/users/export` to callers who may read
    /// one user.
    ///
    /// ```compile_fail
    /// # use axum::Router;
    /// # use orbgate_tower::{Engines, GateLayer, VerifyToken};
    /// # use tower::Layer as _;
    /// # fn app(verifier: impl VerifyToken, inner: Router) -> Router {
    /// let gate = GateLayer::axum(Engines::external(), verifier);
    /// Router::new().route_service("/users/{id}", gate.layer(inner))
    /// # }
    /// ```
    #[must_use]
    pub fn axum(engines: Engines, verifier: V) -> Self {
        Self::new(WireUri::OriginalUri, engines, verifier)
    }
}

impl<V> GateLayer<V, Outermost> {
    /// A layer around everything that routes: a hyper service, a tonic server, or a whole axum router.
    ///
    /// Decides with these engines and this verifier, on the request's URI, which nothing outside this layer
    /// may change. With the feature `axum`, which is on by default, a request that came through an axum router
    /// is denied.
    ///
    /// The layer can't see which route an inner router takes: see [`Engines::check_routes`].
    #[must_use]
    pub fn outermost(engines: Engines, verifier: V) -> Self {
        Self::new(WireUri::Outermost, engines, verifier)
    }
}

impl<V: VerifyToken> GateLayer<V, Outermost> {
    /// Decides a request without calling the inner service, and passes the result to `read`.
    ///
    /// Use this in a server that makes authorization decisions for another one, such as the authorizer behind a proxy.
    /// The decision is counted, traced and audited as if it came through the layer.
    ///
    /// Pass the method and target exactly as you received them. `ask` doesn't read a body: it uses
    /// [`allow_bonus_orbs_use`](Request::allow_bonus_orbs_use) as given and ignores [`GateLayer::bonus_from_body`].
    pub async fn ask<R>(&self, request: Request<'_>, read: impl FnOnce(Answer<'_, V::Verified>) -> R) -> R {
        let settings = &self.settings;
        let read = |_: &Arc<Engine>, answer: Answer<'_, V::Verified>, _| read(answer);
        // No handler runs, so nothing is held.
        settings.ask(request, NoBody, (&NoLedger, &HeaderMap::new()), read).await
    }

    /// Counts and audits a decision that your program made with the [engines](GateLayer::engines), for a caller that it
    /// identified in another way than from a request: for example, a decision by route, or one of a list.
    pub fn note<T: Verified>(&self, decision: &Decision<'_>, credentials: &Credentials<T>) {
        observe::decided(decision, credentials.refused(), &observe::span());
        #[cfg(feature = "audit")]
        if let Some(log) = &self.settings.audit {
            log.write_down(decision, false, None, None, credentials.into());
        }
    }

    /// With [`debug`](GateLayer::debug), logs why a decision that your program made is a denial. `explain` gets the target
    /// without its query, and must not use the query otherwise. If it has another reason or detail, only the decision is
    /// logged.
    pub fn explain<'e>(
        &self,
        decision: &Decision<'_>,
        method: &[u8],
        target: &[u8],
        explain: impl FnOnce(&[u8]) -> Explanation<'e>,
    ) {
        if self.settings.debug && !decision.is_allow() {
            observe::explained(decision, method, target, explain);
        }
    }

    /// The engines that decide.
    #[must_use]
    pub fn engines(&self) -> &Engines {
        &self.settings.engines
    }
}

impl<V, W> GateLayer<V, W> {
    fn new(source: WireUri, engines: Engines, verifier: V) -> Self {
        Self { settings: Arc::new(Settings::new(source, engines, verifier)), source: PhantomData }
    }

    /// The `WWW-Authenticate` header of denials. Default: [`Challenge::Minimal`].
    #[must_use]
    pub fn challenge(self, challenge: Challenge) -> Self {
        self.with(|settings| settings.rules.challenge = challenge)
    }

    /// Denies every request with 403, so that callers can't distinguish an unknown route from a
    /// missing scope.
    ///
    /// [`Challenge::None`] also does this; a full challenge would still name the error.
    #[must_use]
    pub fn flat_403(self) -> Self {
        self.with(|settings| settings.rules.flat_403 = true)
    }

    /// Uses the method of the request line, even if `X-HTTP-Method-Override` or a similar header overrides it.
    ///
    /// By default, such a request is denied as malformed, because it has two methods, and a service or an inner
    /// layer could follow the header. Set this if none of them does, but clients still send the header.
    #[must_use]
    pub fn ignore_method_override(self) -> Self {
        self.with(|settings| settings.rules.ignore_method_override = true)
    }

    /// Allows a CORS preflight without a token: `OPTIONS` with `Origin` and `Access-Control-Request-Method`, if the
    /// policy or the [public routes](Engines::public_routes) declare that method for the path. Respond to it inside
    /// this layer, for example with `tower_http`'s `CorsLayer`. A handler that takes [`Allowed`](crate::Allowed), and a
    /// route within [`CheckDispatch`](crate::CheckDispatch), refuses it, because a router doesn't report whether the
    /// handler is only for `OPTIONS`. Any other handler for all methods must reject `OPTIONS` itself. By default, a
    /// preflight is decided like any other request.
    #[must_use]
    pub fn cors_preflight(self, cors_preflight: CorsPreflight) -> Self {
        self.with(|settings| settings.rules.cors_preflight = cors_preflight)
    }

    /// Reads `allowBonusOrbsUse` in the bodies of this route's allowed requests, up to `limit` bytes. The
    /// service still gets the whole body. A longer body counts as not allowing bonus orbs.
    ///
    /// Name the route as the policy does: `POST /api/v1/external/voxies/prompt/run`. The service gets the request only
    /// when the whole body has arrived, however long the server lets the client take.
    ///
    /// # Errors
    ///
    /// Fails if the current policy doesn't have this route.
    pub fn bonus_from_body(self, route: &str, limit: u64) -> Result<Self, UnknownRoute> {
        let engine = self.settings.engines.load();
        if !engine.routes().any(|known| known.as_str() == route) {
            return Err(UnknownRoute(route.to_owned()));
        }
        Ok(self.with(|settings| {
            settings.bonus.retain(|(known, _)| !same_template(known, route));
            settings.bonus.push((route.to_owned(), limit));
        }))
    }

    /// Also decides with these engines, and reports every disagreement. Use it to find out what a new policy would
    /// change for real requests before you activate it. Only the layer's own engines determine the response.
    ///
    /// Each request counts in `orbgate_shadow_decisions_total`. If the two disagree, the span's `shadow` states how,
    /// and the audit log has both decisions. Without public routes of its own, the candidate has the layer's. Costs a
    /// second decision. Needs scopes as a string, as [`orbgate_token`] has them.
    #[must_use]
    pub fn shadow(self, candidate: Engines) -> Self {
        self.with(|settings| settings.shadow = Some(candidate))
    }

    /// Logs why a call is denied: an event `a call is denied` of level `INFO` with the method, the path without the query,
    /// and the JSON of `orbgate explain`, or only the decision if a header or the query causes the denial. It never
    /// contains the token. It costs time for each denial, linear in the number of routes, and responses don't contain it.
    #[must_use]
    pub fn debug(self) -> Self {
        self.with(|settings| settings.debug = true)
    }

    /// Writes a line for every decision. By default, none is written.
    #[cfg(feature = "audit")]
    #[must_use]
    pub fn audit(self, audit: AuditLog) -> Self {
        self.with(|settings| settings.audit = Some(audit))
    }

    pub(crate) fn with(mut self, set: impl FnOnce(&mut Settings<V>)) -> Self {
        set(Arc::make_mut(&mut self.settings));
        self
    }
}

impl<S, V: VerifyToken> Layer<S> for GateLayer<V, Outermost> {
    type Service = Gate<S, V>;

    fn layer(&self, inner: S) -> Gate<S, V> {
        self.settings.state_charging();
        Gate::new(inner, Arc::clone(&self.settings))
    }
}

// No other service, because it might be a router, and nothing would compare its routes with the
// policy's.
#[cfg(feature = "axum")]
impl<E, V: VerifyToken> Layer<axum::routing::Route<E>> for GateLayer<V, InAxum> {
    type Service = Gate<axum::routing::Route<E>, V>;

    fn layer(&self, route: axum::routing::Route<E>) -> Self::Service {
        self.settings.state_charging();
        Gate::new(route, Arc::clone(&self.settings))
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<V, W> Clone for GateLayer<V, W> {
    fn clone(&self) -> Self {
        Self { settings: Arc::clone(&self.settings), source: PhantomData }
    }
}

impl<V, W> fmt::Debug for GateLayer<V, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}

/// A setting names a route that the policy doesn't have.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the policy has no route `{0}`; a route is written with its method and base path, as in `GET /api/v1/external/orbs`"
)]
pub struct UnknownRoute(pub(crate) String);

/// The same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for UnknownRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
