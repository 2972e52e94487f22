//! Checks that a handler gets exactly the request that a gate allowed.

use core::task::{Context, Poll};
use std::sync::Once;

use http::header::CACHE_CONTROL;
use http::{Extensions, Method, Request, Response, StatusCode, Uri};
use tower_layer::Layer;
use tower_service::Service;

use crate::allowed::Allowed;
use crate::observe;
use crate::service::{GateFuture, NO_STORE};
use crate::target::is_rest;

/// A layer around handlers that passes a request only if an outer gate allowed exactly this request.
///
/// Use it inside [`GateLayer::outermost`](crate::GateLayer::outermost), whose decision can be bypassed: a middleware
/// between the gate and the router could rewrite the path or the method, and the router could have a route that the
/// policy lacks. This layer compares the method, the target and, with the feature `axum`, the router's template with
/// the decided ones.
///
/// A request that differs gets the gate's status for an unknown route, and counts in `orbgate_misrouted_total`. A
/// request that no gate has decided gets 500.
///
/// ```
/// use axum::{Router, routing::get};
/// use orbgate_tower::{CheckDispatch, Engines, GateLayer, VerifyToken};
/// use tower::Layer as _;
///
/// # fn app(verifier: impl VerifyToken) {
/// let router: Router = Router::new().route("/api/v1/external/orbs", get(async || "orbs")).layer(CheckDispatch);
/// let app = GateLayer::outermost(Engines::external(), verifier).layer(router);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no settings")]
pub struct CheckDispatch;

impl<S> Layer<S> for CheckDispatch {
    type Service = Dispatch<S>;

    fn layer(&self, inner: S) -> Dispatch<S> {
        Dispatch { inner }
    }
}

/// A service inside [`CheckDispatch`].
#[derive(Clone, Debug)]
pub struct Dispatch<S> {
    inner: S,
}

impl<S, B, R> Service<Request<B>> for Dispatch<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    R: Default + Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = GateFuture<Response<R>, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match check(request.method(), request.uri(), request.extensions()) {
            Ok(_) => Box::pin(self.inner.call(request)),
            Err(status) => {
                let mut response = Response::new(R::default());
                *response.status_mut() = status;
                response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
                Box::pin(async move { Ok(response) })
            }
        }
    }
}

/// The decision for exactly this request, or the status of the error response.
fn check<'r>(method: &Method, uri: &'r Uri, extensions: &'r Extensions) -> Result<&'r Allowed, StatusCode> {
    let Some(allowed) = extensions.get::<Allowed>() else {
        static SAID: Once = Once::new();
        SAID.call_once(|| {
            tracing::error!(
                "requests are refused: no gate is around a handler that needs one; add routes before the layer"
            );
        });
        return Err(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let decided = &allowed.decided_on;
    let route = allowed.route();
    let received = received(uri, extensions);
    let same = *method == decided.method
        && received.path_and_query() == decided.uri.path_and_query()
        && is_rest(uri, received);
    let matched = router_took(extensions);
    match matched {
        // A router doesn't report whether its handler takes only `OPTIONS`.
        _ if !same || decided.preflight => {}
        Some(taken) if !orbgate_gate::same_template(taken, allowed.template()) => {}
        _ => return Ok(allowed),
    }
    let route = route.map_or("", |route| route.as_str());
    observe::dispatched_otherwise(route, matched.unwrap_or_default());
    Err(decided.misrouted)
}

/// The URI as the outermost router received it. Nested routers strip prefixes from the request's
/// own URI.
#[cfg(feature = "axum")]
fn received<'r>(uri: &'r Uri, extensions: &'r Extensions) -> &'r Uri {
    let original = extensions.get::<axum::extract::OriginalUri>();
    original.map_or(uri, |original| &original.0)
}

#[cfg(not(feature = "axum"))]
const fn received<'r>(uri: &'r Uri, _: &Extensions) -> &'r Uri {
    uri
}

/// The template that a router chose; empty if it doesn't report one; `None` without a router.
#[cfg(feature = "axum")]
fn router_took(extensions: &Extensions) -> Option<&str> {
    extensions.get::<axum::extract::OriginalUri>()?;
    let matched = extensions.get::<axum::extract::MatchedPath>();
    Some(matched.map_or("", |matched| matched.as_str()))
}

#[cfg(not(feature = "axum"))]
const fn router_took(_: &Extensions) -> Option<&str> {
    None
}

/// Extraction fails in a handler that no gate protects, and if the request isn't the decided one.
#[cfg(feature = "axum")]
impl<S: Sync> axum::extract::FromRequestParts<S> for Allowed {
    type Rejection = (StatusCode, [(http::HeaderName, http::HeaderValue); 1]);

    async fn from_request_parts(parts: &mut http::request::Parts, _: &S) -> Result<Self, Self::Rejection> {
        let checked = check(&parts.method, &parts.uri, &parts.extensions).cloned();
        checked.map_err(|status| (status, [(CACHE_CONTROL, NO_STORE)]))
    }
}
