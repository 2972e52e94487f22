//! Compares the routes of a service with the routes of the current policy.

#[cfg(feature = "axum")]
use axum::{Router, body::Body};
use orbgate_gate::RoutesDiffer;
#[cfg(feature = "axum")]
use tower_service::Service as _;

use crate::engines::Engines;

impl Engines {
    /// Compares the routes of a service, each a method and a template in axum's syntax, with the routes of
    /// the current policy and the public routes. Call it when a service starts, and in its tests. From then on, each new
    /// version of the policy is compared with them, and the log warns of new differences.
    ///
    /// The layer doesn't protect a route that the policy lacks. For example, a policy with
    /// `GET /users/{id}` lets callers of that route call `GET /users/export`. The names of parameters
    /// needn't match.
    ///
    /// ```
    /// use orbgate_tower::Engines;
    ///
    /// let engines = Engines::external();
    /// let error = engines.check_routes([("GET", "/api/v1/external/voxies/export")]).unwrap_err();
    /// let export = &error.undeclared()[0];
    /// assert_eq!(export.route, "GET /api/v1/external/voxies/export");
    /// assert_eq!(export.decided_as.as_deref(), Some("GET /api/v1/external/voxies/{voxieId}"));
    /// assert_eq!(error.unserved().len(), engines.load().routes().len());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns every route that only the service has, and every route that only the policy has.
    pub fn check_routes<'a>(&self, routes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), RoutesDiffer> {
        let routes: Vec<_> = routes.into_iter().collect();
        self.serves(routes.iter().map(|(method, template)| ((*method).to_owned(), (*template).to_owned())).collect());
        let mcp = self.mcp();
        let mcp: Vec<_> = mcp.iter().map(AsRef::as_ref).collect();
        orbgate_gate::check_routes(&self.load(), self.public().map(AsRef::as_ref), &mcp, routes)
    }
}

/// Marks a response that a gate made instead of the service.
#[derive(Clone, Copy)]
pub(crate) struct Answered;

/// The routes of an axum router that no [`GateLayer`](crate::GateLayer) protects, such as those added after
/// `Router::layer`.
///
/// axum lists neither routes nor layers. So this calls the router once for each given route (a method and a template in
/// axum's syntax), without a token. A gate responds to such a call itself. Without a gate, **the route's handler
/// runs**, so call this in a test of your service. Leave out public routes, whose handlers run without a token.
///
/// When a service starts, use a method that no handler serves, such as `ORBGATE`. Then only handlers of
/// `axum::routing::any` and fallbacks run, but a gate that is missing from one of a path's methods might not be
/// detected.
///
/// ```
/// use axum::{Router, routing::get};
/// use orbgate_tower::{Engines, GateLayer, ungated_routes};
///
/// # async fn test(verifier: impl orbgate_tower::VerifyToken) {
/// let app = Router::new()
///     .route("/orbs", get(async || "orbs"))
///     .layer(GateLayer::axum(Engines::external(), verifier))
///     .route("/late/{id}", get(async || "no gate"));
/// let ungated = ungated_routes(&app, [("GET", "/orbs"), ("GET", "/late/{id}")]).await;
/// assert_eq!(ungated, ["GET /late/{id}"]);
/// # }
/// ```
#[cfg(feature = "axum")]
pub async fn ungated_routes<'a>(router: &Router, routes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut ungated = Vec::new();
    for (method, template) in routes {
        let segments = template.split('/');
        let segments = segments.map(|segment| if segment.starts_with('{') { "0" } else { segment });
        let path = segments.collect::<Vec<_>>().join("/");
        let request = http::Request::builder().method(method).uri(path);
        let is_gated = match request.body(Body::empty()) {
            Ok(request) => {
                // A router is always ready.
                let Ok(response) = router.clone().call(request).await;
                response.extensions().get::<Answered>().is_some()
            }
            Err(_) => false,
        };
        if !is_gated {
            ungated.push(format!("{method} {template}"));
        }
    }
    ungated
}
