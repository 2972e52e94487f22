//! Routes that need no token, for the calls in a log.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::guarded;
use crate::policy::Policy;
use crate::text::Text;

/// Routes that need no token, each a method and a template.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct PublicRoutes {
    routes: orbgate_gate::PublicRoutes,
}

#[pymethods]
impl PublicRoutes {
    /// Raises ValueError for every route that isn't valid in a policy.
    #[new]
    fn new(routes: Vec<String>) -> PyResult<Self> {
        guarded(|| {
            let routes = orbgate_gate::PublicRoutes::new(routes).map_err(refused)?;
            Ok(Self { routes })
        })
    }

    /// Raises ValueError if a path matches both one of these routes and a route of this policy.
    fn check(&self, policy: &Bound<'_, Policy>) -> PyResult<()> {
        guarded(|| self.routes.check(policy.get().engine()).map_err(refused))
    }

    /// The route of a request that needs no token, a method and a template; None if it needs one.
    fn route(&self, policy: &Bound<'_, Policy>, method: Text<'_>, target: Text<'_>) -> PyResult<Option<String>> {
        guarded(|| {
            let engine = policy.get().engine();
            let is_public = self.routes.decide(engine, &method.0, &target.0).is_some();
            let template = self.routes.template(engine, &method.0, &target.0);
            let method = core::str::from_utf8(&method.0).ok().filter(|_| is_public);
            Ok(method.zip(template).map(|(method, template)| format!("{method} {template}")))
        })
    }
}

pub(crate) fn refused(error: orbgate_gate::PublicRoutesError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
