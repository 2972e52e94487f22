//! Compares the routes of a service with those of its policy, and knows those that need no token.

use pyo3::prelude::*;

use crate::error::{self, guarded};
use crate::gate::Gate;
use crate::policy::Policy;
use crate::text::Text;

/// The differences: the routes that only the service has, each with the policy's route that decides it; the routes that
/// only the policy has; and a message with both.
type Differ = (Vec<(String, Option<String>)>, Vec<String>, String);

/// Compares the routes of a service, each a method and a template, with the routes of a policy and a gate's public
/// routes.
#[pyfunction]
pub(crate) fn check_routes(
    gate: &Bound<'_, Gate>,
    policy: &Bound<'_, Policy>,
    routes: Vec<(String, String)>,
) -> PyResult<Option<Differ>> {
    guarded(|| {
        let stated = routes.iter().map(|(method, template)| (method.as_str(), template.as_str()));
        let differ =
            orbgate_gate::check_routes(policy.get().engine(), gate.get().public(), gate.get().mcp().as_slice(), stated)
                .err();
        gate.get().serves(routes);
        Ok(differ.map(|differ| {
            let undeclared = differ.undeclared().iter();
            let undeclared = undeclared.map(|one| (one.route.clone(), one.decided_as.clone()));
            let unserved = differ.unserved().to_vec();
            (undeclared.collect(), unserved, differ.to_string())
        }))
    })
}

/// Whether the whole body is a JSON object that contains `"allowBonusOrbsUse": true`.
#[pyfunction]
pub(crate) fn allows_bonus_orbs(body: &[u8]) -> bool {
    orbgate_gate::allows_bonus_orbs(body)
}

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
            let routes = orbgate_gate::PublicRoutes::new(routes).map_err(error::value)?;
            Ok(Self { routes })
        })
    }

    /// Raises ValueError if a path matches both one of these routes and a route of this policy.
    fn check(&self, policy: &Bound<'_, Policy>) -> PyResult<()> {
        guarded(|| self.routes.check(policy.get().engine()).map_err(error::value))
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
