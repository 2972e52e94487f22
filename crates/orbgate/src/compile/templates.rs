//! The routes of a policy with their full templates.

use std::collections::hash_map::Entry;

use super::entries::{at, id, runs, set};
use crate::policy::{Api, ClosedRule, RouteRule, ScopeRule, common_segments, full_template, segments};
use crate::tables::hash::Ends;
use crate::tables::list::{Span, index};
use crate::tables::seeded::SeededMap;
use crate::tables::terms::Orbs;
use crate::tables::{NONE, ORBS_UNKNOWN, ORBS_UNSTATED, Run, Terms, slice};

/// A scope as one api defines it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'p> {
    /// The position of its name among all sorted names, so it is the same in every api that has the scope.
    pub(super) id: u16,
    /// The position of its api among all apis, sorted by name.
    pub(super) api_id: u32,
    pub(super) api: &'p Api,
    pub(super) rule: &'p ScopeRule,
    /// The orbs of a call by scope, in the encoding of the tables.
    pub(super) orbs: i64,
}

/// The terms on which a scope is asked for, or a route of it is called, with these orbs.
pub(super) const fn terms(scope: &Scope<'_>, name: Span, orbs: i64) -> Terms {
    Terms { scope: name, organisation: scope.api.organisation(), requirement: NONE, orbs }
}

/// The orbs of a call by route: the route's own, or else its scope's.
pub(super) fn orbs_of_route(scope: &ScopeRule, route: &RouteRule) -> i64 {
    column(route.orbs().or(scope.orbs()))
}

/// The orbs of a call by scope, which are the scope's own. Unknown, not free, if they are `false` although a route is paid.
pub(super) fn orbs_of_scope(in_apis: &[Scope<'_>]) -> i64 {
    let routes = in_apis.iter().flat_map(|scope| scope.rule.routes());
    let has_paid = || routes.filter_map(RouteRule::orbs).any(|orbs| orbs != Orbs::Free);
    // Equal in all apis.
    match in_apis.first().and_then(|scope| scope.rule.orbs()) {
        Some(Orbs::Free) if has_paid() => ORBS_UNKNOWN,
        orbs => column(orbs),
    }
}

fn column(orbs: Option<Orbs>) -> i64 {
    match orbs {
        None => ORBS_UNKNOWN,
        Some(Orbs::Free) => 0,
        Some(Orbs::Unstated) => ORBS_UNSTATED,
        // The reader rejects an amount that doesn't fit.
        Some(Orbs::Amount(amount)) => i64::try_from(amount).unwrap_or(ORBS_UNSTATED),
    }
}

/// A parameter in the segments of a template. Literals are numbered from 1.
pub(super) const PARAMETER: u32 = 0;

/// The routes of all scopes and the closed templates, with their full templates. The routes come first, sorted by
/// segments and method, then the closed templates, sorted by segments.
pub(super) struct Templates<'t> {
    pub(super) routes: Vec<Template<'t>>,
    /// The number of routes that aren't closed templates.
    open: usize,
    /// The run of routes of each template, and of each closed template.
    pub(super) runs: Vec<Run>,
    /// The literals of all templates, sorted by position and string. Each literal's number is its position in this
    /// list, from 1. So templates compare as their segments do, and a parameter comes before every literal.
    pub(super) literals: Vec<Literal<'t>>,
    /// The segments of all templates. The segments of one template are neighbours.
    segments: Vec<u32>,
}

/// A route or a closed template, with its api's base path prepended.
#[derive(Clone, Copy)]
pub(super) struct Template<'t> {
    /// Its position among the routes of all scopes, in their order.
    pub(super) position: u32,
    pub(super) rule: Rule<'t>,
    /// `/base/path` and `/{parameter}`.
    pub(super) path: [&'t str; 2],
    /// Its run in the list of all segments.
    pub(super) segments: Run,
}

/// What the file says about a template.
#[derive(Clone, Copy)]
pub(super) enum Rule<'t> {
    Route(&'t Scope<'t>, &'t RouteRule),
    /// With the id of its api.
    Closed(u32, &'t ClosedRule),
}

/// A literal at its position.
#[derive(Clone, Copy)]
pub(super) struct Literal<'t> {
    pub(super) position: usize,
    pub(super) text: &'t str,
    /// Bit `n - 1` is set if a template of `n` segments has this literal here.
    pub(super) lengths: u32,
}

impl<'t> Templates<'t> {
    pub(super) fn of(apis: &[&'t Api], scopes: &'t [Scope<'t>]) -> Self {
        let (mut routes, mut literals) = (Vec::new(), Literals::default());
        for scope in scopes {
            for rule in scope.rule.routes() {
                let position = id(routes.len());
                routes.push(literals.template(position, scope.api, rule.template(), Rule::Route(scope, rule)));
            }
        }
        let open = routes.len();
        for (api_id, api) in (0..).zip(apis) {
            let closed = api.closed().iter();
            routes.extend(closed.map(|rule| literals.template(NONE, api, rule.template(), Rule::Closed(api_id, rule))));
        }
        let (literals, segments) = literals.sorted();
        let sorted = sorted(&routes, open, &segments, literals.len());
        let own = |route: &Template<'_>| slice(&segments, route.segments);
        let of_each = sorted.chunk_by(|(start_of_a, a), (start_of_b, b)| start_of_a == start_of_b && own(a) == own(b));
        Self {
            open,
            runs: runs(of_each.map(<[_]>::len)),
            routes: sorted.iter().map(|(_, route)| **route).collect(),
            literals,
            segments,
        }
    }

    /// The routes, and the closed templates.
    pub(super) fn open_and_closed(&self) -> (&[Template<'t>], &[Template<'t>]) {
        self.routes.split_at_checked(self.open).unwrap_or_default()
    }

    /// The segments of a template: the number of a literal, or `PARAMETER`.
    pub(super) fn segments(&self, template: &Template<'_>) -> &[u32] {
        slice(&self.segments, template.segments)
    }

    /// The number of leading literals that all templates share and that are not the last segment of any.
    pub(super) fn common_segments(&self) -> usize {
        // Sorted, so a prefix that the first and the last share is common to all. The first is also the shortest of those
        // that have only this prefix.
        let (open, closed) = self.open_and_closed();
        let ends = [open.first(), open.last(), closed.first(), closed.last()];
        let ends = ends.into_iter().flatten().map(|end| self.segments(end));
        let first = ends.clone().next().unwrap_or_default();
        let alike = ends.map(|end| {
            let pairs = first.iter().zip(end);
            pairs.take_while(|(a, b)| a == b && **a != PARAMETER).count().min(end.len().saturating_sub(1))
        });
        alike.min().unwrap_or_default()
    }
}

impl Template<'_> {
    /// The method; empty for a closed template.
    pub(super) fn method(&self) -> &str {
        match self.rule {
            Rule::Route(_, rule) => rule.method(),
            Rule::Closed(..) => "",
        }
    }
}

/// Sorts the open routes and then the closed templates, by segment numbers and then by method. No two are equal in both.
/// Each sort key packs as many of the first segments as fit into a word, so few comparisons need to read the rest.
fn sorted<'r, 't>(
    routes: &'r [Template<'t>],
    open: usize,
    all: &[u32],
    literals: usize,
) -> Vec<(u64, &'r Template<'t>)> {
    let bits = id(literals).saturating_add(1).ilog2().saturating_add(1);
    let count = index(u64::BITS.checked_div(bits).unwrap_or(1));
    let start = |route: &Template<'_>| {
        let numbers = slice(all, route.segments).iter().take(count);
        let rest = id(count.saturating_sub(numbers.len())).saturating_mul(bits);
        let numbers = numbers.map(|number| u64::from(*number).saturating_add(1));
        let start = numbers.fold(0_u64, |start, number| start.wrapping_shl(bits) | number);
        // The value after the last segment is less than a parameter.
        start.checked_shl(rest).unwrap_or_default()
    };
    let mut order: Vec<_> = routes.iter().map(|route| (start(route), route)).collect();
    let (open, closed) = order.split_at_mut(open);
    for order in [open, closed] {
        order.sort_unstable_by(|(start_of_a, a), (start_of_b, b)| {
            let segments = |route: &Template<'_>| slice(all, route.segments);
            let starts = start_of_a.cmp(start_of_b);
            let templates = starts.then_with(|| segments(a).cmp(segments(b)));
            templates.then_with(|| a.method().cmp(b.method()))
        });
    }
    order
}

/// Numbers literals in the order in which they occur.
#[derive(Default)]
struct Literals<'t> {
    /// The segments of all templates.
    segments: Vec<u32>,
    all: Vec<Literal<'t>>,
    numbers: SeededMap<(u64, &'t str), u32>,
    /// The previous template and its segments' run: neighbours often start alike.
    before: ([&'t str; 2], usize),
}

impl<'t> Literals<'t> {
    /// A template, whose segments are added to those of all.
    #[inline(always)] // nearly all calls are for routes
    fn template(&mut self, position: u32, api: &'t Api, template: &'t str, rule: Rule<'t>) -> Template<'t> {
        // An api without a base path has no routes.
        let path = full_template(api.base_path().unwrap_or_default(), template);
        // The root has no segment.
        let named = if path == ["", "/"] { ["", ""] } else { path };
        let start = self.segments.len();
        let (before, start_before) = core::mem::replace(&mut self.before, (named, start));
        let (alike, rest) = common_segments(before, named);
        self.segments.extend_from_within(start_before..start_before.saturating_add(alike));
        for part in rest {
            for (position, text) in (self.segments.len()..).zip(segments(part)) {
                let number = match text.starts_with('{') {
                    true => PARAMETER,
                    false => self.number_of(position.saturating_sub(start), text),
                };
                self.segments.push(number);
            }
        }
        let own = self.segments.iter().skip(start);
        let length = own.len();
        let bit = 1_u32.wrapping_shl(id(length.saturating_sub(1)));
        for number in own {
            let position = index(*number).checked_sub(1);
            if let Some(literal) = position.and_then(|position| self.all.get_mut(position)) {
                literal.lengths |= bit;
            }
        }
        Template { position, rule, path, segments: Run { start: id(start), length: id(length) } }
    }

    fn number_of(&mut self, position: usize, text: &'t str) -> u32 {
        let there = u64::from(id(position));
        match self.numbers.entry((there, text)) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(free) => {
                self.all.push(Literal { position, text, lengths: 0 });
                *free.insert(id(self.all.len()))
            }
        }
    }

    /// The sorted literals, and the segments of all templates with their new numbers.
    fn sorted(mut self) -> (Vec<Literal<'t>>, Vec<u32>) {
        let mut sorted: Vec<_> = (1..).zip(self.all).collect();
        // Sort by the first bytes as one number: few comparisons need to read the rest.
        sorted.sort_by_cached_key(|(_, literal)| {
            let first = Ends::of(literal.text.as_bytes()).head.swap_bytes();
            (literal.position, first, literal.text)
        });
        let mut positions = vec![PARAMETER; sorted.len().saturating_add(1)];
        for (position, (number, _)) in (1..).zip(&sorted) {
            set(&mut positions, index(*number), position);
        }
        for number in &mut self.segments {
            *number = at(&positions, index(*number));
        }
        (sorted.into_iter().map(|(_, literal)| literal).collect(), self.segments)
    }
}
