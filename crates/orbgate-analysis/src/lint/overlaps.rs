//! Finds templates that match the same path: routes with different requirements, and hidden routes.

use core::ops::ControlFlow;
use std::collections::{BTreeMap, HashMap};

use orbgate::sorted::sort;
use orbgate::{Engine, Orbs, Reason, Route};

use super::code::{Code, Level};
use super::finding::{Collector, Finding};
use crate::meetings::meetings;
use crate::questions::route_of;
use crate::templates::{Spelling, Template, Templates, shape};

/// The number of steps after which the search for hidden routes ends. A step tests one method that one of two
/// templates lacks, on one path. A policy of 500 routes always takes fewer steps.
const STEPS: usize = 1_000_000;

/// Checks every pair of overlapping templates on the most general path that matches both. The route that decides this
/// path decides all paths that match both.
pub(super) fn look(engine: &Engine, findings: &mut Collector) {
    let templates = Templates::of(engine);
    let spelling = Spelling::new([&templates, &templates]);
    overlaps(engine, &templates, &spelling, findings);
    shadows(engine, &templates, &spelling, findings);
}

/// Routes with the same method that match one path with different scopes or orbs.
fn overlaps(engine: &Engine, templates: &Templates<'_>, spelling: &Spelling<'_>, findings: &mut Collector) {
    let list: Vec<_> = templates.list().collect();
    let of = |locations: &[usize]| -> Vec<Route<'_>> {
        let templates = locations.iter().filter_map(|at| list.get(*at));
        let routes = templates.flat_map(|template| template.routes());
        routes.filter_map(|route| engine.route(*route)).collect()
    };
    let mut list_pair = |one: Route<'_>, two: Route<'_>| {
        if !findings.has_room(Code::Overlap) {
            return ControlFlow::Break(());
        }
        let pair = if one.location() <= two.location() { [one, two] } else { [two, one] };
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
        findings.push_pair(Code::Overlap, pair.map(|route| route.location()), message);
        ControlFlow::Continue(())
    };
    // If it ends early, `has_room` has recorded that findings are missing.
    let _ = meetings(&list, |one, two| differing(&of(one), &of(two), &mut list_pair));
}

/// What a call of a route needs, and its orbs: the scope, and the alternatives if it isn't just that.
type Needs = (u16, Vec<String>, Orbs);

/// Visits each pair of routes from both lists that have the same method and different requirements. Routes
/// with equal requirements, which are the great majority, are skipped.
fn differing<'e>(
    one: &[Route<'e>],
    two: &[Route<'e>],
    mut visit: impl FnMut(Route<'e>, Route<'e>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let needs = |route: &Route<'_>| -> Needs {
        let requirement = Some(route.requirement()).filter(|needs| !needs.is_one_scope());
        let alternatives = requirement.iter().flat_map(|needs| needs.alternatives());
        (route.scope().index(), alternatives.map(|scopes| scopes.to_string()).collect(), route.orbs())
    };
    let mut by_method: HashMap<&str, BTreeMap<Needs, Vec<Route<'e>>>> = HashMap::new();
    for route in two {
        let classes = by_method.entry(route.method()).or_default();
        classes.entry(needs(route)).or_default().push(*route);
    }
    for route in one {
        let classes = by_method.get(route.method()).into_iter().flatten();
        let own = needs(route);
        for (_, others) in classes.filter(|(others, _)| **others != own) {
            others.iter().try_for_each(|other| visit(*route, *other))?;
        }
    }
    ControlFlow::Continue(())
}

/// Routes of a template that a more specific template hides on some paths, because the template is chosen
/// before the method.
fn shadows(engine: &Engine, templates: &Templates<'_>, spelling: &Spelling<'_>, findings: &mut Collector) {
    let routes: Vec<_> = engine.routes().collect();
    let list: Vec<_> = templates.list().collect();
    let mut steps = STEPS;
    let of = |locations: &[usize]| -> Vec<&Template<'_>> {
        locations.iter().filter_map(|at| list.get(*at).copied()).collect()
    };
    let search = meetings(&list, |specific, general| {
        let (specific, general) = (by_methods(&of(specific)), of(general));
        for hidden in general {
            for (methods, hiding) in &specific {
                let is_shared = hidden.methods().iter().any(|method| methods.binary_search(method).is_ok());
                // Then the literal is one of the parameter's values. Otherwise it is the name of an action.
                let level = if is_shared { Level::Warning } else { Level::Note };
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
                        shadow(engine, **route, &target, winner, level, findings)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    });
    if search.is_break() {
        findings.cut.insert(Code::ShadowedRoute);
    }
}

fn first_route<'e>(template: &Template<'_>, routes: &[Route<'e>]) -> Option<Route<'e>> {
    let first = usize::try_from(*template.routes().first()?).ok()?;
    routes.get(first).copied()
}

/// Templates with the methods that they declare, sorted.
type WithMethods<'t, 'e> = (Vec<&'e str>, Vec<&'t Template<'e>>);

/// Groups the templates by their declared methods. Most templates of a policy declare the same few
/// methods.
fn by_methods<'t, 'e>(templates: &[&'t Template<'e>]) -> Vec<WithMethods<'t, 'e>> {
    let mut locations: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut classes: Vec<WithMethods<'t, 'e>> = Vec::new();
    for template in templates {
        let mut methods = template.methods().to_vec();
        sort(&mut methods);
        let at = *locations.entry(methods.clone()).or_insert(classes.len());
        match classes.get_mut(at) {
            Some((_, class)) => class.push(template),
            None => classes.push((methods, vec![template])),
        }
    }
    classes
}

/// Records a route that a template hides for the target, unless a third template decides the target. Ends the search
/// if there is no room.
fn shadow(
    engine: &Engine,
    route: Route<'_>,
    target: &str,
    winner: Route<'_>,
    level: Level,
    findings: &mut Collector,
) -> ControlFlow<()> {
    let hides = route_of(engine, route.method(), target).is_err_and(|decision| {
        decision.reason() == Reason::MethodNotDeclared && decision.route_name() == Some(winner.template())
    });
    if !hides {
        return ControlFlow::Continue(());
    }
    if !findings.has_room(Code::ShadowedRoute) {
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
    findings.record(Finding { level, ..Finding::new(Code::ShadowedRoute, route.location(), None, message) });
    ControlFlow::Continue(())
}
