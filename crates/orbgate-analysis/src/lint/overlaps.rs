//! Templates that fit one path: routes with other requirements there, and routes that are hidden there.

use core::ops::ControlFlow;
use std::collections::HashMap;

use orbgate::policy::meetings;
use orbgate::{Engine, Place, Policy, Reason, Route};

use super::{Code, Found};
use crate::questions::route_of;
use crate::templates::{Spelling, Template, Templates, shape};

/// Steps after which the search for hidden routes ends. A step asks for a method that one template lacks on one path.
/// Every policy of 500 routes takes fewer.
const STEPS: usize = 1_000_000;

/// Looks at every pair of templates that overlap, at the most general path that fits both: the route that decides there
/// decides all paths that fit both.
pub(super) fn look(policy: &Policy, engine: &Engine, found: &mut Found) {
    let templates = Templates::of(engine);
    let spelling = Spelling::new([&templates, &templates]);
    overlaps(policy, engine, &spelling, found);
    shadows(engine, &templates, &spelling, found);
}

/// The routes of one method that fit one path under different scopes or orbs, as `Policy::overlapping` finds them.
fn overlaps(policy: &Policy, engine: &Engine, spelling: &Spelling<'_>, found: &mut Found) {
    let overlaps = policy.overlapping();
    let routes: HashMap<Place, Route<'_>> = match overlaps.pairs.is_empty() {
        true => HashMap::new(),
        false => engine
            .routes()
            .map(|route| (route.place(), route))
            .collect(),
    };
    for places in overlaps.pairs {
        let [Some(first), Some(second)] = places.map(|place| routes.get(&place)) else {
            continue;
        };
        let target = spelling.of_both(&shape(first.template()), &shape(second.template()));
        let decides = route_of(engine, first.method(), &target);
        let decides = decides.map_or("none", |decides| decides.as_str());
        let message = format!(
            "`{}` overlaps `{}` (line {}), which needs another scope or other orbs: `{target}` is decided by `{decides}`",
            second.as_str(),
            first.as_str(),
            first.place().line
        );
        found.push_pair(Code::Overlap, places, message);
    }
    if !overlaps.complete {
        found.cut.insert(Code::Overlap);
    }
}

/// Routes of a template that a more specific one hides on some paths: a template is chosen before its method.
fn shadows(engine: &Engine, templates: &Templates<'_>, spelling: &Spelling<'_>, found: &mut Found) {
    let routes: Vec<_> = engine.routes().collect();
    let list: Vec<_> = templates.list().collect();
    let mut steps = STEPS;
    let of = |places: &[usize]| -> Vec<&Template<'_>> {
        places
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
                    .filter_map(|place| routes.get(usize::try_from(*place).ok()?))
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
    let mut places: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut classes: Vec<WithMethods<'t, 'e>> = Vec::new();
    for template in templates {
        let mut methods = template.methods().to_vec();
        methods.sort_unstable();
        let at = *places.entry(methods.clone()).or_insert(classes.len());
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
            && decision.route() == Some(winner.template())
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
        winner.place().line
    );
    found.push(Code::ShadowedRoute, route.place(), None, message);
    ControlFlow::Continue(())
}
