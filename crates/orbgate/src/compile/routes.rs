//! Builds the lookup tables of templates, tuples, methods and routes.

use std::collections::BTreeSet;

use super::entries::{TextPool, at, id, runs, set};
use super::hashes::{Unplaceable, nth_seed, perfect_hash};
use super::literals::Literals;
use super::requirements::Requirements;
use super::templates::{self, PARAMETER, Rule, Templates, orbs_of_route, terms};
use crate::tables::hash::{COLUMNS, Method, Methods, PerfectHash};
use crate::tables::list::Span;
use crate::tables::seeded::SeededMap;
use crate::tables::sorted::sort_by_key;
use crate::tables::terms::MAX_SEGMENTS;
use crate::tables::{ClosedRow, NO_RANK, RouteRow, Run, Template, Tuple, rank_bits, slice};

/// Marks a route that needs more or other than its scope. No scope set has a word for such a number, so it is tested for
/// only where the word is missing: an ordinary route costs nothing.
const REQUIRES: u32 = 1 << 16;

/// The route rows. The routes of one template are neighbours. `spans` and `names` are those of the scopes.
pub(super) fn route_rows<'t>(
    templates: &Templates<'t>,
    requirements: &mut Requirements<'t>,
    (spans, names): (&[Span], &[&[u8]]),
    slash: bool,
    text: &mut TextPool<'_>,
) -> Vec<RouteRow> {
    let mut rows = Vec::with_capacity(templates.routes.len());
    for siblings in &templates.runs {
        for route in slice(&templates.routes, *siblings) {
            let Rule::Route(scope, rule) = route.rule else { continue };
            let name = at(spans, usize::from(scope.id));
            let mut terms = terms(scope, name, orbs_of_route(scope.rule, rule));
            let mut needed = u32::from(scope.id);
            if let Some(requirement) = rule.requirement() {
                needed |= REQUIRES;
                terms.scope = Span::default();
                terms.requirement = requirements.number(requirement, names);
            }
            let method = text.push(&[rule.method(), " "]);
            let template = template_text(route, slash, text);
            rows.push(RouteRow {
                text: Span { start: method.start, length: method.length.saturating_add(template.length) },
                template,
                siblings: *siblings,
                needed,
                api: scope.api_id,
                terms,
                location: rule.location(),
            });
        }
    }
    rows
}

/// The rows of the closed templates.
pub(super) fn closed_rows(templates: &Templates<'_>, slash: bool, text: &mut TextPool<'_>) -> Vec<ClosedRow> {
    let (_, closed) = templates.open_and_closed();
    let rows = closed.iter().filter_map(|template| match template.rule {
        Rule::Route(..) => None,
        Rule::Closed(api, rule) => {
            Some(ClosedRow { template: template_text(template, slash, text), api, location: rule.location() })
        }
    });
    rows.collect()
}

fn template_text(route: &templates::Template<'_>, slash: bool, text: &mut TextPool<'_>) -> Span {
    let [base, below] = route.path;
    // The root already has its slash.
    let slash = if slash && route.path != ["", "/"] { "/" } else { "" };
    text.push(&[base, below, slash])
}

/// The columns of the most frequent methods.
pub(super) fn methods(templates: &Templates<'_>) -> Methods {
    let mut counts: SeededMap<&str, u32> = SeededMap::default();
    for route in templates.open_and_closed().0 {
        let count = counts.entry(route.method()).or_default();
        *count = count.saturating_add(1);
    }
    let mut methods: Vec<_> = counts.into_iter().collect();
    sort_by_key(&mut methods, |(method, count)| (core::cmp::Reverse(*count), *method));
    let methods = methods.iter().filter_map(|(method, _)| Method::of(method.as_bytes()));
    let mut methods: Vec<_> = methods.take(COLUMNS).collect();
    // For eight methods, about one multiplier in 420 works. If none works, the rarest method gets no column.
    loop {
        let multipliers = (0..1 << 14).flat_map(|number| nth_seed(0, number).0);
        let mut tried = multipliers.map(|multiplier| (multiplier, in_columns(&methods, multiplier)));
        if let Some((multiplier, Some(columns))) = tried.find(|(_, columns)| columns.is_some()) {
            return Methods { multiplier, columns };
        }
        methods.pop();
    }
}

/// The methods in their columns, if this multiplier gives each method its own column.
fn in_columns(methods: &[Method], multiplier: u64) -> Option<[Method; COLUMNS]> {
    let mut columns = [Method::default(); COLUMNS];
    for method in methods {
        let column = columns.get_mut(method.column(multiplier))?;
        if *column != Method::default() {
            return None;
        }
        *column = *method;
    }
    Some(columns)
}

/// The templates by their keys.
pub(super) fn templates_by_key(
    salt: u64,
    templates: &Templates<'_>,
    literals: &Literals,
    methods: &Methods,
) -> Result<PerfectHash<Template>, Unplaceable> {
    let entries = templates.runs.iter().map(|run| {
        let routes = slice(&templates.routes, *run);
        let segments = routes.first().map(|route| templates.segments(route));
        let segments = segments.unwrap_or_default();
        let parts = segments.iter().map(|number| literals.part_of(*number));
        let mut entry = Template {
            key: parts.fold(u64::from(id(segments.len())), u64::wrapping_add),
            first_route: run.start,
            ..Template::default()
        };
        for (rank, route) in (0..NO_RANK).zip(routes) {
            if let (Rule::Route(scope, rule), Some(column)) = (route.rule, methods.column(route.method().as_bytes())) {
                entry.ranks ^= (NO_RANK ^ rank).wrapping_shl(rank_bits(column));
                // The scope's row can't represent other orbs or a requirement.
                if orbs_of_route(scope.rule, rule) == scope.orbs && rule.requirement().is_none() {
                    set(&mut entry.scopes, column, scope.id);
                }
            }
        }
        entry
    });
    let entries: Vec<_> = entries.collect();
    perfect_hash(salt, &entries, |seed, template| seed.number(template.key))
}

/// The tuples of all templates, and the run of tuples for each number of segments.
pub(super) fn tuples(templates: &Templates<'_>, fields: &[u64]) -> (Vec<Run>, Vec<Tuple>) {
    let mut of_counts = vec![BTreeSet::new(); MAX_SEGMENTS.saturating_add(1)];
    for route in &templates.routes {
        let segments = templates.segments(route);
        // The first segment is the highest bit, so a literal there has the highest weight.
        let bits = core::iter::successors(Some(1_u32 << 31), |bit| Some(bit >> 1));
        let literals = segments.iter().zip(bits).filter(|(number, _)| **number != PARAMETER);
        let literals = literals.fold(0, |all, (_, bit)| all | bit);
        if let Some(of_count) = of_counts.get_mut(segments.len()) {
            of_count.insert(literals);
        }
    }
    let runs = runs(of_counts.iter().map(BTreeSet::len));
    let tuples = of_counts.iter().flat_map(|of_count| of_count.iter().rev());
    let tuples = tuples.map(|bits| {
        let literals = bits.reverse_bits();
        let own = (0..).zip(fields).filter(|(position, _)| literals.wrapping_shr(*position) & 1 == 1);
        Tuple { literals, fields: own.fold(0, |all, (_, field)| all | field) }
    });
    (runs, tuples.collect())
}
