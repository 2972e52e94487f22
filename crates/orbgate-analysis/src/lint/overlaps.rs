//! Templates that fit one path: routes that require something else there, and routes that are hidden there.

use std::collections::HashMap;

use orbgate::{Decision, Engine, Reason, Route};

use super::{Code, Found};
use crate::beside::fit_together;
use crate::questions::route_of;
use crate::templates::{Spelling, Template, Templates};

/// Looks at every pair of templates that overlap, at the most general path that fits both: whatever decides there
/// decides all paths that fit both.
pub(super) fn look(engine: &Engine, found: &mut Found) {
    let templates = Templates::of(engine);
    let spelling = Spelling::new([&templates, &templates]);
    let routes: Vec<_> = engine.routes().collect();
    let mut steps = routes.len().saturating_mul(20).saturating_add(200_000);
    for one in templates.list() {
        for two in templates.overlapping(one.shape(), &mut steps) {
            // Each pair once; literals that differ in case fit no path together.
            if one.routes() >= two.routes() || !fit_together(one.shape(), two.shape()) {
                continue;
            }
            let methods = one.methods().len().saturating_add(two.methods().len());
            steps = steps.saturating_sub(methods);
            if steps == 0 {
                break;
            }
            let target = spelling.of_both(one.shape(), two.shape());
            let pair = [one, two].map(|template| of_template(template, &routes));
            overlap(engine, &pair, &target, found);
            shadow(engine, &pair, &target, found);
        }
    }
    if steps == 0 {
        found.cut.extend([Code::Overlap, Code::ShadowedRoute]);
    }
}

/// The routes of a template.
fn of_template<'e>(template: &Template<'_>, routes: &[Route<'e>]) -> Vec<Route<'e>> {
    let places = template.routes().iter();
    let route = |place: &u32| routes.get(usize::try_from(*place).ok()?).copied();
    places.filter_map(route).collect()
}

/// Routes of one method, which both fit the target, under different scopes or orbs.
fn overlap(engine: &Engine, [one, two]: &[Vec<Route<'_>>; 2], target: &str, found: &mut Found) {
    let by_method: HashMap<_, _> = two.iter().map(|route| (route.method(), route)).collect();
    for route in one {
        let Some(other) = by_method.get(route.method()) else {
            continue;
        };
        if route.scope() == other.scope() && route.orbs() == other.orbs() {
            continue;
        }
        if !found.has_room(Code::Overlap) {
            return;
        }
        let decides = route_of(engine, route.method(), target);
        let decides = decides.map_or("none", |decides| decides.as_str());
        let mut pair = [route, other];
        pair.sort_by_key(|route| core::cmp::Reverse(route.place()));
        let [second, first] = pair;
        let message = format!(
            "`{}` overlaps `{}` (line {}), which needs another scope or other orbs: `{target}` is decided by `{decides}`",
            second.as_str(),
            first.as_str(),
            first.place().line
        );
        found.push_pair(Code::Overlap, [route.place(), other.place()], message);
    }
}

/// Routes of one template that the other, more specific one hides at the target: a template is chosen before its method.
fn shadow(engine: &Engine, pair: &[Vec<Route<'_>>; 2], target: &str, found: &mut Found) {
    let [one, two] = pair;
    for (hidden, hiding) in [(one, two), (two, one)] {
        let Some(winner) = hiding.first() else {
            continue;
        };
        for route in hidden {
            let Err(decision @ Decision::Deny(deny)) = route_of(engine, route.method(), target)
            else {
                continue;
            };
            let hides = deny.reason() == Reason::MethodNotDeclared
                && decision.route() == Some(winner.template());
            if !hides {
                continue;
            }
            if !found.has_room(Code::ShadowedRoute) {
                return;
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
        }
    }
}
