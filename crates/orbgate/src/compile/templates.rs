//! The routes of a policy with their full templates.

use std::collections::hash_map::Entry;

use super::entries::{at, id, runs, set};
use crate::policy::{Api, RouteRule, ScopeRule, common_segments, full_template, segments};
use crate::tables::hash::Ends;
use crate::tables::list::{Span, index};
use crate::tables::seeded::SeededMap;
use crate::tables::terms::{Location, Orbs};
use crate::tables::{NONE, ORBS_UNKNOWN, ORBS_UNSTATED, Run, Terms, slice};

/// A scope as one api defines it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'p> {
    /// The position of its name among all sorted names, so it is the same in every api that has the
    /// scope.
    pub(super) id: u16,
    /// The position of its api among all apis, sorted by name.
    pub(super) api_id: u32,
    pub(super) api: &'p Api,
    pub(super) rule: &'p ScopeRule,
}

/// The terms on which a scope's routes are called. `amount` is a route's own amount.
pub(super) fn terms(scope: Scope<'_>, name: Span, amount: Option<u64>) -> Terms {
    Terms {
        scope: name,
        organisation: scope.api.organisation(),
        requirement: NONE,
        orbs: match amount.map(Orbs::Amount).or(scope.rule.orbs()) {
            None => ORBS_UNKNOWN,
            Some(Orbs::Free) => 0,
            Some(Orbs::Unstated) => ORBS_UNSTATED,
            // The reader rejects an amount that doesn't fit.
            Some(Orbs::Amount(amount)) => i64::try_from(amount).unwrap_or(ORBS_UNSTATED),
        },
    }
}

/// A parameter in the segments of a template. Literals are numbered from 1.
pub(super) const PARAMETER: u32 = 0;

/// The routes of all scopes and the closed templates, with their full templates. The routes come first, sorted by
/// segments and method, then the closed templates, sorted by segments.
pub(super) struct Templates<'t> {
    pub(super) routes: Vec<Template<'t>>,
    /// The number of closed templates.
    pub(super) closed: usize,
    /// The run of routes of each template, and of each closed template.
    pub(super) runs: Vec<Run>,
    /// The literals of all templates, sorted by position and string. Each literal's number is its position
    /// in this list, from 1. So templates compare as their segments do, and a parameter comes before every
    /// literal.
    pub(super) literals: Vec<Literal<'t>>,
    /// The segments of all templates. The segments of one template are neighbours.
    segments: Vec<u32>,
}

/// A route or a closed template, with its api's base path prepended.
#[derive(Clone, Copy)]
pub(super) struct Template<'t> {
    /// Its position among the routes of all scopes, in their order.
    pub(super) position: u32,
    pub(super) api_id: u32,
    pub(super) location: Location,
    /// Its scope and its rule in the file; `None` if it is closed.
    pub(super) route: Option<(Scope<'t>, &'t RouteRule)>,
    /// `/base/path` and `/{parameter}`.
    pub(super) path: [&'t str; 2],
    /// Its run in the list of all segments.
    pub(super) segments: Run,
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
    pub(super) fn of(apis: &[&'t Api], scopes: &[Scope<'t>]) -> Self {
        let (mut routes, mut segments) = (Vec::new(), Vec::new());
        let mut literals = Literals::default();
        for scope in scopes {
            // An api without a base path has no routes.
            let base_path = scope.api.base_path().unwrap_or_default();
            for rule in scope.rule.routes() {
                let path = full_template(base_path, rule.template());
                routes.push(Template {
                    position: id(routes.len()),
                    api_id: scope.api_id,
                    location: rule.location(),
                    route: Some((*scope, rule)),
                    path,
                    segments: literals.number(path, &mut segments),
                });
            }
        }
        let open = routes.len();
        for (api_id, api) in (0..).zip(apis) {
            for rule in api.closed() {
                let path = full_template(api.base_path().unwrap_or_default(), rule.template());
                let segments = literals.number(path, &mut segments);
                let location = rule.location();
                routes.push(Template { position: NONE, api_id, location, route: None, path, segments });
            }
        }
        let closed = routes.len().saturating_sub(open);
        let literals = literals.sorted(&mut segments);
        let sorted = sorted(&routes, closed, &segments, literals.len());
        let own = |route: &Template<'_>| slice(&segments, route.segments);
        let of_each = sorted.chunk_by(|(start_of_a, a), (start_of_b, b)| start_of_a == start_of_b && own(a) == own(b));
        Self {
            closed,
            runs: runs(of_each.map(<[_]>::len)),
            routes: sorted.iter().map(|(_, route)| **route).collect(),
            literals,
            segments,
        }
    }

    /// The segments of a template: the number of a literal, or `PARAMETER`.
    pub(super) fn segments(&self, template: &Template<'_>) -> &[u32] {
        slice(&self.segments, template.segments)
    }

    /// The number of leading literals that all templates share and that are not the last segment of
    /// any.
    pub(super) fn common_segments(&self) -> usize {
        // The routes are sorted, so a prefix that the first and the last share is common to all. The first is also the
        // shortest of those that have only this prefix. Likewise for the closed templates.
        let (routes, closed) = self.routes.split_at(self.routes.len().saturating_sub(self.closed));
        let ends = [routes.first(), routes.last(), closed.first(), closed.last()].into_iter().flatten();
        let ends: Vec<_> = ends.map(|end| self.segments(end)).collect();
        let Some(first) = ends.first() else { return 0 };
        let alike = ends.iter().map(|end| {
            let pairs = first.iter().zip(*end);
            pairs.take_while(|(a, b)| a == b && **a != PARAMETER).count().min(end.len().saturating_sub(1))
        });
        alike.min().unwrap_or_default()
    }
}

impl Template<'_> {
    /// The method; empty for a closed template.
    pub(super) fn method(&self) -> &str {
        self.route.map_or("", |(_, rule)| rule.method())
    }
}

/// Sorts routes and then closed templates by segment numbers and then by method. No two routes are equal in both. Each sort key packs as many of the
/// first segments as fit into a word, so few comparisons need to read the rest.
fn sorted<'r, 't>(
    routes: &'r [Template<'t>],
    closed: usize,
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
    let (open, closed) = order.split_at_mut(routes.len().saturating_sub(closed));
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
    all: Vec<Literal<'t>>,
    numbers: SeededMap<(u64, &'t str), u32>,
    /// The previous template and its segments' run: neighbours often start alike.
    before: ([&'t str; 2], usize),
}

impl<'t> Literals<'t> {
    /// Adds a template's segments to the list of all, and returns their run.
    fn number(&mut self, path: [&'t str; 2], segments_of_all: &mut Vec<u32>) -> Run {
        // The root has no segment.
        let path = if path == ["", "/"] { ["", ""] } else { path };
        let start = segments_of_all.len();
        let (before, start_before) = core::mem::replace(&mut self.before, (path, start));
        let (alike, rest) = common_segments(before, path);
        segments_of_all.extend_from_within(start_before..start_before.saturating_add(alike));
        for part in rest {
            for (position, text) in (segments_of_all.len()..).zip(segments(part)) {
                segments_of_all.push(match text.starts_with('{') {
                    true => PARAMETER,
                    false => self.number_of(position.saturating_sub(start), text),
                });
            }
        }
        let own = segments_of_all.iter().skip(start);
        let length = own.len();
        let bit = 1_u32.wrapping_shl(id(length.saturating_sub(1)));
        for number in own {
            let position = index(*number).checked_sub(1);
            if let Some(literal) = position.and_then(|position| self.all.get_mut(position)) {
                literal.lengths |= bit;
            }
        }
        Run { start: id(start), length: id(length) }
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

    /// The sorted literals. Their numbers in the list of all segments are updated to match.
    fn sorted(self, segments_of_all: &mut [u32]) -> Vec<Literal<'t>> {
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
        for number in segments_of_all {
            *number = at(&positions, index(*number));
        }
        sorted.into_iter().map(|(_, literal)| literal).collect()
    }
}
