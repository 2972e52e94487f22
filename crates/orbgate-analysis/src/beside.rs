//! Other templates that match paths of a route.

use orbgate::sorted::sort_by_key;
use orbgate::{Engine, Route};

use crate::questions::route_of;
use crate::templates::{Spelling, Template, Templates, fit_together};

/// Another template that matches some paths of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Beside<'e> {
    /// A route of that template: the one with the same method or, if the template doesn't declare the method, any of
    /// its routes.
    pub route: Route<'e>,
    /// A target that both templates match.
    pub target: String,
    /// The route that decides calls with this method and target. `None` if they are denied with 405, because the
    /// more specific template doesn't declare the method.
    pub decides: Option<Route<'e>>,
}

/// The other templates that match some paths of a route, in the order of the policy file: templates that declare its
/// method, and templates that hide it on those paths. Time is linear in the number of routes.
///
/// ```
/// use orbgate::{Engine, Policy};
///
/// let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: ['GET /{id}', POST /x] } } } }\n";
/// let engine = Engine::new(&Policy::from_yaml(text).unwrap());
/// let beside = orbgate_analysis::routes_beside(&engine, engine.routes().next().unwrap());
/// assert_eq!(beside[0].route.as_str(), "POST /x");
/// assert_eq!((&*beside[0].target, beside[0].decides), ("/x", None)); // `GET /x` is denied with 405
/// ```
#[must_use]
pub fn routes_beside<'e>(engine: &'e Engine, route: Route<'e>) -> Vec<Beside<'e>> {
    let templates = Templates::of(engine);
    let spelling = Spelling::new([&templates, &templates]);
    let own = |template: &&Template<'_>| template.routes().contains(&route.index());
    let Some(template) = templates.list().find(own) else {
        return Vec::new();
    };
    let routes: Vec<_> = engine.routes().collect();
    let others = templates.list();
    let others = others.filter(|other| !own(other) && fit_together(template.shape(), other.shape()));
    let beside = others.filter_map(|other| {
        let target = spelling.of_both(template.shape(), other.shape());
        let decides = route_of(engine, route.method(), &target).ok();
        let of_other = other.routes().iter();
        let mut of_other = of_other.filter_map(|at| routes.get(usize::try_from(*at).ok()?));
        let first = of_other.clone().next()?;
        let same_method = of_other.find(|other| other.method() == route.method());
        let route = match (same_method, decides) {
            (Some(same_method), _) => same_method,
            (None, None) => first,
            // It doesn't declare the method, so it decides nothing here.
            (None, Some(_)) => return None,
        };
        Some(Beside { route: *route, target, decides })
    });
    let mut beside: Vec<_> = beside.collect();
    sort_by_key(&mut beside, |beside| beside.route.location());
    beside
}
