//! Templates, tuples, methods and routes as they are looked up.

use std::collections::{BTreeMap, BTreeSet};

use super::hashes::{nth_seed, perfect_hash};
use super::literals::Literals;
use super::templates::{PARAMETER, ScopeOf, Templates};
use super::{TextPool, Unplaceable, column, id};
use crate::hash::{Method, Methods, PerfectHash, index};
use crate::list::Span;
use crate::tables::{COLUMNS, RouteRow, Run, Template, Terms, Tuple, slice};
use crate::terms::{MAX_SEGMENTS, Orbs};

/// The route rows, those of one template together.
pub(super) fn route_rows<'t>(
    templates: &Templates<'t>,
    scopes: &[ScopeOf<'t>],
    text: &mut TextPool<'t>,
) -> Vec<RouteRow> {
    let names: Vec<_> = scopes
        .iter()
        .map(|(_, _, scope)| text.span(scope.name()))
        .collect();
    let mut rows = Vec::with_capacity(templates.routes.len());
    for template in &templates.routes {
        let scope = usize::from(template.scope);
        let Some(((_, api, rule), name)) = scopes.get(scope).zip(names.get(scope)) else {
            continue;
        };
        let route = text.unique(template.text);
        let skipped = id(template.rule.method().len().saturating_add(1));
        let amount = template.rule.orbs().map(Orbs::Amount);
        rows.push(RouteRow {
            text: route,
            template: Span {
                start: route.start.saturating_add(skipped),
                length: route.length.saturating_sub(skipped),
            },
            scope: template.scope,
            terms: Terms {
                scope: *name,
                organisation: api.organisation(),
                orbs: column(amount.or(rule.orbs())),
            },
            place: template.rule.place(),
        });
    }
    rows
}

/// For each template, where its routes stand.
pub(super) fn template_routes(templates: &Templates<'_>) -> Vec<Run> {
    let of_templates = templates
        .routes
        .chunk_by(|a, b| templates.segments(a.segments) == templates.segments(b.segments));
    let mut start = 0_u32;
    let runs = of_templates.map(|routes| {
        let run = Run {
            start,
            length: id(routes.len()),
        };
        start = start.saturating_add(run.length);
        run
    });
    runs.collect()
}

/// The columns of the methods that most routes have.
pub(super) fn methods(templates: &Templates<'_>) -> Methods {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for route in &templates.routes {
        let count = counts.entry(route.rule.method()).or_default();
        *count = count.saturating_add(1);
    }
    let mut methods: Vec<_> = counts.into_iter().collect();
    methods.sort_by_key(|(_, count)| core::cmp::Reverse(*count));
    let methods = methods
        .iter()
        .filter_map(|(method, _)| Method::of(method.as_bytes()));
    let mut methods: Vec<_> = methods.take(COLUMNS).collect();
    // For eight methods one multiplier in 420 is good. If ever none is, the rarest method has no column.
    loop {
        let multipliers = (0..1 << 14).flat_map(|number| nth_seed(0, number).0);
        let mut found =
            multipliers.map(|multiplier| (multiplier, in_columns(&methods, multiplier)));
        if let Some((multiplier, Some(columns))) = found.find(|(_, columns)| columns.is_some()) {
            return Methods {
                multiplier,
                columns,
            };
        }
        methods.pop();
    }
}

/// The methods in their columns, if this multiplier tells them apart.
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
    runs: &[Run],
    methods: &Methods,
    rows: &[RouteRow],
) -> Result<PerfectHash<Template>, Unplaceable> {
    let mut entries = Vec::with_capacity(runs.len());
    for (template_id, run) in (0..).zip(runs) {
        let routes = slice(&templates.routes, *run);
        let segments = routes
            .first()
            .map_or(&[][..], |route| templates.segments(route.segments));
        let count = u64::from(id(segments.len()));
        let parts = segments.iter().map(|number| literals.part_of(*number));
        let mut entry = Template {
            key: parts.fold(count, u64::wrapping_add),
            id: template_id,
            ..Template::default()
        };
        for (route_id, route) in (run.start..).zip(routes) {
            let Some(column) = methods.column(route.rule.method().as_bytes()) else {
                continue;
            };
            if let (Some(of_route), Some(scope), Some(row)) = (
                entry.routes.get_mut(column),
                entry.scopes.get_mut(column),
                rows.get(index(route_id)),
            ) {
                *of_route = route_id;
                if route.rule.orbs().is_none() {
                    *scope = row.scope;
                }
            }
        }
        entries.push(entry);
    }
    perfect_hash(salt, &entries, |seed, template| seed.number(template.key))
}

/// The tuples of all templates, and where those of each number of segments stand.
pub(super) fn tuples(templates: &Templates<'_>, fields: &[u64]) -> (Vec<Run>, Vec<Tuple>) {
    let mut of_counts = vec![BTreeSet::new(); MAX_SEGMENTS.saturating_add(1)];
    for route in &templates.routes {
        let segments = templates.segments(route.segments);
        // The first segment is the highest bit: so a literal there counts most.
        let bits = segments.iter().fold(0_u32, |bits, number| {
            bits.wrapping_shl(1) | u32::from(*number != PARAMETER)
        });
        if let Some(of_count) = of_counts.get_mut(segments.len()) {
            of_count.insert(bits);
        }
    }
    let mut tuples = Vec::new();
    let mut runs = Vec::with_capacity(of_counts.len());
    for (count, of_count) in (0..).zip(of_counts) {
        let start = id(tuples.len());
        for bits in of_count.iter().rev() {
            let literals = bits
                .reverse_bits()
                .checked_shr(u32::BITS.saturating_sub(count));
            let literals = literals.unwrap_or_default();
            let own = (0..)
                .zip(fields)
                .filter(|(position, _)| literals.wrapping_shr(*position) & 1 == 1);
            tuples.push(Tuple {
                literals,
                fields: own.fold(0, |all, (_, field)| all | field),
            });
        }
        runs.push(Run {
            start,
            length: id(of_count.len()),
        });
    }
    (runs, tuples)
}
