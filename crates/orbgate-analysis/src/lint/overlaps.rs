//! Templates that fit one path: routes with other requirements there, and routes that are hidden there.

use core::ops::ControlFlow;
use std::collections::{BTreeMap, HashMap};

use orbgate::{Engine, Orbs, Reason, Route};

use super::{Code, Found};
use crate::meetings::meetings;
use crate::questions::route_of;
use crate::templates::{Spelling, Template, Templates, shape};

/// Steps after which the search for hidden routes ends. A step asks for a method that one template lacks on one path.
/// Every policy of 500 routes takes fewer.
const STEPS: usize = 1_000_000;

/// Looks at every pair of templates that overlap, at the most general path that fits both: the route that decides there
/// decides all paths that fit both.
pub(super) fn look(engine: &Engine, found: &mut Found) {
    let templates = Templates::of(engine);
    let spelling = Spelling::new([&templates, &templates]);
    overlaps(engine, &templates, &spelling, found);
    shadows(engine, &templates, &spelling, found);
}

/// Routes of one method that fit one path under different scopes or orbs.
fn overlaps(
    engine: &Engine,
    templates: &Templates<'_>,
    spelling: &Spelling<'_>,
    found: &mut Found,
) {
    let list: Vec<_> = templates.list().collect();
    let of = |locations: &[usize]| -> Vec<Route<'_>> {
        let templates = locations.iter().filter_map(|at| list.get(*at));
        let routes = templates.flat_map(|template| template.routes());
        routes.filter_map(|route| engine.route(*route)).collect()
    };
    let mut list_pair = |one: Route<'_>, two: Route<'_>| {
        if !found.has_room(Code::Overlap) {
            return ControlFlow::Break(());
        }
        let mut pair = [one, two];
        pair.sort_by_key(Route::location);
        let [first, second] = pair;
        let target = spelling.of_both(&shape(first.template()), &shape(second.template()));
        let decides = route_of(engine, first.method(), &target);
        let decides = decides.map_or("none", |decides| decides.as_str());
        let message = format!(
            "`{}` overlaps `{}` (line {}), which needs another scope or other orbs: `{target}` is decided by `{decides}`",
            second.as_str(),
            first.as_str(),
            first.location().line
        );
        found.push_pair(Code::Overlap, pair.map(|route| route.location()), message);
        ControlFlow::Continue(())
    };
    // If it ends early, `has_room` has noted that findings are missing.
    let _ = meetings(&list, |one, two| {
        differing(&of(one), &of(two), &mut list_pair)
    });
}

/// What a route requires: its scope and orbs.
type Requirement = (u16, Orbs);

/// Visits each pair of routes of both lists that have one method and require something else. Routes with the
/// same requirement are skipped, because nearly all have it.
fn differing<'e>(
    one: &[Route<'e>],
    two: &[Route<'e>],
    mut visit: impl FnMut(Route<'e>, Route<'e>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let requirement = |route: &Route<'_>| (route.scope().index(), route.orbs());
    let mut by_method: HashMap<&str, BTreeMap<Requirement, Vec<Route<'e>>>> = HashMap::new();
    for route in two {
        let classes = by_method.entry(route.method()).or_default();
        classes.entry(requirement(route)).or_default().push(*route);
    }
    for route in one {
        let classes = by_method.get(route.method()).into_iter().flatten();
        for (_, others) in classes.filter(|(required, _)| **required != requirement(route)) {
            others.iter().try_for_each(|other| visit(*route, *other))?;
        }
    }
    ControlFlow::Continue(())
}

/// Routes of a template that a more specific one hides on some paths: a template is chosen before its method.
fn shadows(engine: &Engine, templates: &Templates<'_>, spelling: &Spelling<'_>, found: &mut Found) {
    let routes: Vec<_> = engine.routes().collect();
    let list: Vec<_> = templates.list().collect();
    let mut steps = STEPS;
    let of = |locations: &[usize]| -> Vec<&Template<'_>> {
        locations
            .iter()
            .filter_map(|at| list.get(*at).copied())
            .collect()
    };
    let search = meetings(&list, |specific, general| {
        let (specific, general) = (by_methods(&of(specific)), of(general));
        for hidden in general {
            for (methods, hiding) in &specific {
                let lacking: Vec<_> = hidden
                    .routes()
                    .iter()
                    .filter_map(|location| routes.get(usize::try_from(*location).ok()?))
                    .filter(|route| methods.binary_search(&route.method()).is_err())
                    .collect();
                steps = steps.saturating_sub(1);
                // If it declares all of them, it hides none.
                let hiding = hiding.iter().filter(|_| !lacking.is_empty());
                for hiding in hiding {
                    steps = steps.saturating_sub(lacking.len());
                    if steps == 0 {
                        return ControlFlow::Break(());
                    }
                    let Some(winner) = first_route(hiding, &routes) else {
                        continue;
                    };
                    let target = spelling.of_both(hidden.shape(), hiding.shape());
                    for route in &lacking {
                        shadow(engine, **route, &target, winner, found)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    });
    if search.is_break() {
        found.cut.insert(Code::ShadowedRoute);
    }
}

fn first_route<'e>(template: &Template<'_>, routes: &[Route<'e>]) -> Option<Route<'e>> {
    let first = usize::try_from(*template.routes().first()?).ok()?;
    routes.get(first).copied()
}

/// Templates with the methods that they declare, sorted.
type WithMethods<'t, 'e> = (Vec<&'e str>, Vec<&'t Template<'e>>);

/// The templates by the methods that they declare: most of a policy's declare the same few.
fn by_methods<'t, 'e>(templates: &[&'t Template<'e>]) -> Vec<WithMethods<'t, 'e>> {
    let mut locations: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut classes: Vec<WithMethods<'t, 'e>> = Vec::new();
    for template in templates {
        let mut methods = template.methods().to_vec();
        methods.sort_unstable();
        let at = *locations.entry(methods.clone()).or_insert(classes.len());
        match classes.get_mut(at) {
            Some((_, class)) => class.push(template),
            None => classes.push((methods, vec![template])),
        }
    }
    classes
}

/// Notes a route that a template hides at the target, unless a third one decides there. Ends the search if there is no
/// room.
fn shadow(
    engine: &Engine,
    route: Route<'_>,
    target: &str,
    winner: Route<'_>,
    found: &mut Found,
) -> ControlFlow<()> {
    let hides = route_of(engine, route.method(), target).is_err_and(|decision| {
        decision.reason() == Reason::MethodNotDeclared
            && decision.route_name() == Some(winner.template())
    });
    if !hides {
        return ControlFlow::Continue(());
    }
    if !found.has_room(Code::ShadowedRoute) {
        return ControlFlow::Break(());
    }
    let mut declared = winner.methods();
    let named: Vec<_> = declared.by_ref().take(5).collect();
    let more = match declared.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "`{}` does not decide `{} {target}`, which is denied with 405: `{}` fits better, and declares {}{more} alone (line {})",
        route.as_str(),
        route.method(),
        winner.template(),
        named.join(", "),
        winner.location().line
    );
    found.push(Code::ShadowedRoute, route.location(), None, message);
    ControlFlow::Continue(())
}
