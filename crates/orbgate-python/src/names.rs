//! The policy's names as Python strings, created once and shared by all decisions.

use std::collections::HashMap;

use orbgate::{Decision, Engine, Requirement, Route};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The names of every route, in the order of [`Engine::routes`], and the policy's digest.
#[derive(Debug)]
pub(crate) struct Names {
    routes: Vec<RouteNames>,
    pub(crate) digest: Py<PyString>,
}

#[derive(Debug)]
struct RouteNames {
    api: Py<PyString>,
    route: Py<PyString>,
    template: Py<PyString>,
    scope: Py<PyString>,
}

/// The alternatives of a requirement, each a set of scopes.
pub(crate) type Scopes = Vec<Vec<String>>;

/// The alternatives that a route needs.
pub(crate) fn scopes_of(needed: Requirement<'_>) -> Scopes {
    needed.alternatives().map(|scopes| scopes.map(|scope| scope.name().to_owned()).collect()).collect()
}

/// The alternatives as tuples.
pub(crate) fn tuples<'py>(py: Python<'py>, scopes: &Scopes) -> PyResult<Bound<'py, PyTuple>> {
    let alternatives: Vec<_> = scopes.iter().map(|scopes| PyTuple::new(py, scopes)).collect::<PyResult<_>>()?;
    PyTuple::new(py, alternatives)
}

/// The names in a decision.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) api: Option<Py<PyString>>,
    pub(crate) route: Option<Py<PyString>>,
    pub(crate) scope: Option<Py<PyString>>,
    pub(crate) scopes: Option<Scopes>,
    pub(crate) about: Option<Py<PyString>>,
}

impl Names {
    pub(crate) fn new(py: Python<'_>, engine: &Engine) -> Self {
        let mut shared: HashMap<&str, Py<PyString>> = HashMap::new();
        let mut share = |name| {
            let name = shared.entry(name).or_insert_with(|| PyString::new(py, name).unbind());
            name.clone_ref(py)
        };
        let routes = engine.routes().map(|route| RouteNames {
            api: share(route.api()),
            route: PyString::new(py, route.as_str()).unbind(),
            template: PyString::new(py, route.template()).unbind(),
            scope: share(route.scope().name()),
        });
        Self { routes: routes.collect(), digest: PyString::new(py, &engine.digest().to_string()).unbind() }
    }

    /// The names in a decision of this policy.
    pub(crate) fn of(&self, py: Python<'_>, decision: &Decision<'_>) -> Found {
        let route = decision.route();
        let names_of = |route: Route<'_>| self.routes.get(usize::try_from(route.index()).ok()?);
        let about = decision.about().and_then(names_of);
        let about = about.map(|names| names.route.clone_ref(py));
        let Some((route, names)) = route.zip(route.and_then(names_of)) else {
            // The decision is by scope, about a closed template, or found nothing that it may name.
            let new = |name: &str| PyString::new(py, name).unbind();
            return Found {
                api: decision.api().map(new),
                route: decision.route_name().map(new),
                scope: decision.scope().map(|scope| new(scope.name())),
                scopes: None,
                about,
            };
        };
        // The decision determines which of the route's names it shows.
        let shown = decision.route_name().map(|shown| {
            let whole = shown.len() == route.as_str().len();
            if whole { &names.route } else { &names.template }
        });
        Found {
            api: Some(names.api.clone_ref(py)),
            route: shown.map(|shown| shown.clone_ref(py)),
            scope: decision.scope().map(|_| names.scope.clone_ref(py)),
            scopes: decision.requirement().map(scopes_of),
            about,
        }
    }
}
