//! The routes of a service, compared with those of the current policy.

use orbgate_gate::RoutesDiffer;

use crate::engines::Engines;

impl Engines {
    /// Compares the routes of a service, each a method and a template as axum writes it, with those of the
    /// current policy: call it when a service starts, and in its tests.
    ///
    /// The layer does not protect a route that the policy lacks: a policy with `GET /users/{id}` lets
    /// callers of that route call `GET /users/export`. Names of parameters need not agree.
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
    /// Every route that only the service has, and every route that only the policy has.
    pub fn check_routes<'a>(
        &self,
        routes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), RoutesDiffer> {
        orbgate_gate::check_routes(&self.load(), routes)
    }
}
