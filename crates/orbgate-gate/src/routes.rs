//! Compares the routes of a service with the routes of its policy.

use std::collections::HashSet;

use orbgate::{Engine, Request, Token};

use crate::mcp::endpoint::Mcp;
use crate::public::PublicRoutes;
use crate::request::is_parameter;

/// Compares the routes of a service, each a method and a template, with the routes of a policy and the public routes.
/// Call it when a service starts, and in its tests. Parameters are written `{name}`, wildcards `{*name}`.
///
/// A gate doesn't protect a route that the policy lacks. For example, a policy with
/// `GET /users/{id}` lets callers of that route call `GET /users/export`. The names of parameters
/// needn't match. The endpoint of MCP counts as declared, and the operations below it as served.
///
/// ```
/// use orbgate::Engine;
///
/// let engine = Engine::external();
/// let error = orbgate_gate::check_routes(engine, None, &[], [("GET", "/api/v1/external/voxies/export")]).unwrap_err();
/// let export = &error.undeclared()[0];
/// assert_eq!(export.route, "GET /api/v1/external/voxies/export");
/// assert_eq!(export.decided_as.as_deref(), Some("GET /api/v1/external/voxies/{voxieId}"));
/// assert_eq!(error.unserved().len(), engine.routes().len());
/// ```
///
/// # Errors
///
/// Returns every route that only the service has, and every route that only the policy or the public
/// routes have.
pub fn check_routes<'a>(
    engine: &Engine,
    public: Option<&PublicRoutes>,
    mcp: &[&Mcp],
    routes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), RoutesDiffer> {
    let routes: Vec<_> = routes.into_iter().collect();
    let value = value(engine);
    let known = || {
        let public = public.into_iter().flat_map(|public| public.routes(engine));
        let routes = engine.routes().chain(public);
        routes.map(|route| (route.method(), route.template()))
    };
    let declared = known().map(|(method, template)| (method, key(template)));
    let declared: HashSet<_> = declared.collect();
    let undeclared = routes.iter().filter(|(method, template)| {
        let is_endpoint = mcp.iter().any(|mcp| mcp.is_endpoint(engine, method, template));
        !is_endpoint && !declared.contains(&(*method, key(template)))
    });
    let undeclared = undeclared.map(|(method, template)| {
        // Wildcards also get one value.
        let target = filled(&template.replace("{*", "{"), &value);
        let decision = engine.decide(&Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token: Some(Token::user("")),
            allow_bonus_orbs_use: false,
        });
        let decided_as = decision.about();
        Undeclared {
            route: format!("{method} {template}"),
            decided_as: decided_as.map(|route| route.as_str().to_owned()),
        }
    });
    let served = routes.iter().map(|(method, template)| (*method, key(template)));
    let served: HashSet<_> = served.collect();
    let unserved = known().filter(|(method, template)| {
        let is_served = mcp.iter().any(|mcp| mcp.serves(method, template));
        !is_served && !served.contains(&(*method, key(template)))
    });
    let differ = RoutesDiffer {
        undeclared: undeclared.collect(),
        unserved: unserved.map(|(method, template)| format!("{method} {template}")).collect(),
    };
    if differ.undeclared.is_empty() && differ.unserved.is_empty() { Ok(()) } else { Err(differ) }
}

fn key(template: &str) -> String {
    filled(template, "{}")
}

/// A template with this value in place of each parameter.
fn filled(template: &str, value: &str) -> String {
    let segments = template.split('/');
    let filled = segments.map(|segment| if is_parameter(segment) { value } else { segment });
    filled.collect::<Vec<_>>().join("/")
}

/// A value that isn't a literal of the policy.
fn value(engine: &Engine) -> String {
    let segments = engine.routes().flat_map(|route| route.template().split('/'));
    let taken: HashSet<_> = segments.collect();
    let mut values = (1..=u64::MAX).map(|number| number.to_string());
    let value = values.find(|value| !taken.contains(value.as_str()));
    value.unwrap_or_default()
}

/// The routes of a service and of its policy differ.
///
/// `Display` prints one line for each difference.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the service and its policy have different routes{}",
    self.lines().map(|line| format!("\n{line}")).collect::<String>()
)]
pub struct RoutesDiffer {
    undeclared: Vec<Undeclared>,
    unserved: Vec<String>,
}

/// A route that the policy lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undeclared {
    /// The route, for example `GET /users/export`.
    pub route: String,
    /// The policy's route that decides its requests; `None` if they are denied.
    pub decided_as: Option<String>,
}

impl RoutesDiffer {
    /// The routes that only the service has.
    #[must_use]
    pub fn undeclared(&self) -> &[Undeclared] {
        &self.undeclared
    }

    /// The routes that only the policy has. This is harmless if several services share a policy.
    #[must_use]
    pub fn unserved(&self) -> &[String] {
        &self.unserved
    }
}

impl RoutesDiffer {
    /// One line for each difference.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let undeclared = self.undeclared.iter().map(|Undeclared { route, decided_as }| match decided_as {
            Some(other) => format!("the policy has no `{route}`, and decides it as `{other}`"),
            None => format!("the policy has no `{route}`"),
        });
        undeclared.chain(self.unserved.iter().map(|route| format!("the service has no `{route}`")))
    }
}

orbgate_yaml::debug_as_display!(RoutesDiffer);
