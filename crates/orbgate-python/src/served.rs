//! Compares the routes of a service with the routes of its policy.

use pyo3::prelude::*;

use crate::error::guarded;
use crate::gate::Gate;
use crate::policy::Policy;

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
        let routes = routes.iter().map(|(method, template)| (method.as_str(), template.as_str()));
        let differ = orbgate_gate::check_routes(policy.get().engine(), gate.get().public(), routes).err();
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
