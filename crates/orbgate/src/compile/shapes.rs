//! The shapes of all templates: their routes, their perfect hash and their tree.

use std::collections::BTreeMap;

use super::names::hash_names;
use super::perfect::perfect_hash;
use super::templates::{PARAMETER, ScopeOf, Template, Templates};
use super::words::{Sign, Words};
use super::{TextPool, column, id};
use crate::hash::{self, Method, PerfectHash};
use crate::list::Span;
use crate::tables::{COLUMNS, Edge, MethodColumn, NONE, Node, RouteRow, Run, Shape, Terms};
use crate::terms::Orbs;

/// A shape and its routes.
pub(super) struct ShapeOf {
    pub(super) key: u64,
    pub(super) routes: Run,
    /// Where its segments stand among those of all templates.
    pub(super) segments: Run,
}

/// The shapes of the templates, and for each which of the routes are its.
pub(super) fn shapes(templates: &Templates<'_>, common: usize, words: &Words) -> Vec<ShapeOf> {
    let segments = |template: &Template<'_>| templates.segments(template.segments);
    let of_shapes = templates.routes.chunk_by(|a, b| segments(a) == segments(b));
    let mut start = 0_u32;
    let mut shapes = Vec::with_capacity(templates.routes.len());
    for routes in of_shapes {
        let Some(first) = routes.first() else {
            continue;
        };
        let segments = segments(first);
        let routes = Run {
            start,
            length: id(routes.len()),
        };
        start = start.saturating_add(routes.length);
        shapes.push(ShapeOf {
            key: words.key(segments, common),
            routes,
            segments: first.segments,
        });
    }
    shapes
}

/// The route rows, those of one shape together.
pub(super) fn route_rows<'t>(
    templates: &Templates<'t>,
    scopes: &[ScopeOf<'t>],
    text: &mut TextPool<'t>,
) -> Vec<RouteRow> {
    let mut names = vec![None; scopes.len()];
    let mut rows = Vec::with_capacity(templates.routes.len());
    for template in &templates.routes {
        let scope = usize::from(template.scope);
        let Some(((_, api, rule), name)) = scopes.get(scope).zip(names.get_mut(scope)) else {
            continue;
        };
        let method = template.rule.method();
        let mut key = [0; 16];
        let letters = key.iter_mut().zip(method.bytes());
        letters.for_each(|(slot, byte)| *slot = byte);
        let route = text.unique(template.text);
        let skipped = id(method.len().saturating_add(1));
        let amount = template.rule.orbs().map(Orbs::Amount);
        rows.push(RouteRow {
            method: key,
            text: route,
            template: Span {
                start: route.start.saturating_add(skipped),
                length: route.length.saturating_sub(skipped),
            },
            scope: template.scope,
            terms: Terms {
                scope: *name.get_or_insert_with(|| text.span(rule.name())),
                organisation: api.organisation(),
                orbs: column(amount.or(rule.orbs())),
            },
            place: template.rule.place(),
        });
    }
    rows
}

/// The methods that most routes have, in columns that a multiplication with the factor tells apart.
pub(super) fn method_columns(routes: &[RouteRow]) -> (u64, Vec<MethodColumn>) {
    let mut counts: BTreeMap<[u8; 16], u32> = BTreeMap::new();
    for route in routes {
        let count = counts.entry(route.method).or_default();
        *count = count.saturating_add(1);
    }
    let mut methods: Vec<_> = counts.into_iter().collect();
    methods.sort_by_key(|(_, count)| core::cmp::Reverse(*count));
    let short = methods
        .iter()
        .filter_map(|(method, _)| Method::of(name(method)));
    let methods: Vec<_> = short.take(COLUMNS).collect();
    // For eight methods one factor in 420 is good; without one, methods are searched.
    let factors = (1..1 << 16).map(|number: u64| number.wrapping_mul(hash::K0) | 1);
    let found = factors.map(|factor| (factor, place_methods(&methods, factor)));
    let good = found
        .into_iter()
        .find_map(|(factor, columns)| Some((factor, columns?)));
    good.unwrap_or_default()
}

/// The columns of the methods, if this factor tells them apart.
fn place_methods(methods: &[Method], factor: u64) -> Option<Vec<MethodColumn>> {
    let mut taken = [false; COLUMNS];
    let columns = methods.iter().map(|method| {
        let column = hash::method_column(factor, method_word(*method));
        let is_free = !core::mem::replace(taken.get_mut(column)?, true);
        let column = u8::try_from(column).ok().filter(|_| is_free)?;
        Some(MethodColumn {
            method: *method,
            column,
        })
    });
    columns.collect()
}

/// A method without the zeros that pad it.
pub(super) fn name(method: &[u8; 16]) -> &[u8] {
    method.split(|byte| *byte == 0).next().unwrap_or_default()
}

pub(super) fn hash_methods(columns: &[MethodColumn]) -> PerfectHash<MethodColumn> {
    hash_names(columns, columns, |column, seed| {
        hash::method_hash(seed, column.method)
    })
}

/// The columns' methods as words; a word that is no method where there is none.
pub(super) fn method_words(columns: &[MethodColumn]) -> [u64; COLUMNS] {
    let mut words = [u64::MAX; COLUMNS];
    for column in columns {
        if let Some(word) = words.get_mut(usize::from(column.column)) {
            *word = method_word(column.method);
        }
    }
    words
}

/// A method as [`crate::scan::wide::Wide::word`] reads it; of 8 letters themselves, which it never reads.
fn method_word(method: Method) -> u64 {
    if method.length > 7 {
        return method.letters;
    }
    let last = usize::from(method.length).saturating_sub(2);
    let pairs = method.letters.to_le_bytes();
    let mut bytes = [0, 0, 0, 0, 0, 0, 0, method.length];
    for (at, pair) in (0..).step_by(2).zip(pairs.as_chunks::<2>().0) {
        let at = usize::min(at, last);
        if let Some(place) = bytes.get_mut(at..at.saturating_add(2)) {
            place.copy_from_slice(pair);
        }
    }
    u64::from_le_bytes(bytes)
}

/// The shapes as they are looked up, by id.
pub(super) fn shape_entries(
    shapes: &[ShapeOf],
    routes: &[RouteRow],
    columns: &[MethodColumn],
) -> Vec<Shape> {
    let entries = (0..).zip(shapes).map(|(id, shape)| Shape {
        key: shape.key,
        id,
        first_route: shape.routes.start,
        columns: lay_out_columns(shape.routes, routes, columns),
    });
    entries.collect()
}

/// The shapes by their keys, and the slot of each. Where keys do not fit there is no hash, only slots,
/// and every path takes the tree.
pub(super) fn hash_shapes(entries: &[Shape], keys_fit: bool) -> (PerfectHash<Shape>, Vec<u32>) {
    let hash = if keys_fit {
        let keys: Vec<_> = entries.iter().map(|shape| shape.key).collect();
        perfect_hash(&keys, entries, |key, seed| hash::shape_hash(seed, *key))
    } else {
        PerfectHash {
            seed: 0,
            pilots: Vec::new().into(),
            slots: entries.to_vec().into(),
        }
    };
    let mut slot_of = vec![NONE; entries.len()];
    for (slot, shape) in (0..).zip(hash.slots.iter()) {
        if let Some(of) = slot_of.get_mut(hash::index(shape.id)) {
            *of = slot;
        }
    }
    (hash, slot_of)
}

/// Which of a shape's routes has the method of each column.
pub(super) fn lay_out_columns(
    run: Run,
    routes: &[RouteRow],
    columns: &[MethodColumn],
) -> [u32; COLUMNS] {
    let mut laid_out = [NONE; COLUMNS];
    let of_shape = crate::tables::slice(routes, run);
    for (id, route) in (run.start..).zip(of_shape) {
        let method = Method::of(name(&route.method));
        let column = columns.iter().find(|column| Some(column.method) == method);
        let place = column.and_then(|column| laid_out.get_mut(usize::from(column.column)));
        if let Some(place) = place {
            *place = id;
        }
    }
    laid_out
}

/// The shapes as a tree.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

impl Tree {
    pub(super) fn of(
        templates: &Templates<'_>,
        words: &Words,
        shapes: &[ShapeOf],
        slot_of: &[u32],
    ) -> Self {
        let empty = Node {
            edges: Run::default(),
            parameter: NONE,
            shape: NONE,
        };
        let mut nodes = vec![empty];
        // By parent.
        let mut branches: Vec<(u32, Edge)> = Vec::new();
        // The segments of the shape before, and the node behind each. The shapes are sorted: what one
        // has in common with any before, it has in common with this one.
        let mut before: &[u32] = &[];
        let mut way = Vec::new();
        for (slot, shape) in slot_of.iter().zip(shapes) {
            let segments = templates.segments(shape.segments);
            let pairs = before.iter().zip(segments);
            way.truncate(pairs.take_while(|(before, own)| before == own).count());
            before = segments;
            let mut node = way.last().copied().unwrap_or(0);
            for number in segments.iter().skip(way.len()) {
                let new = id(nodes.len());
                if *number != PARAMETER {
                    let Sign { symbol, text, .. } = words.sign(*number);
                    let edge = Edge {
                        symbol,
                        node: new,
                        text,
                    };
                    branches.push((node, edge));
                } else if let Some(parent) = nodes.get_mut(hash::index(node)) {
                    parent.parameter = new;
                }
                nodes.push(empty);
                way.push(new);
                node = new;
            }
            if let Some(end) = nodes.get_mut(hash::index(node)) {
                end.shape = *slot;
            }
        }
        branches.sort_unstable_by_key(|(parent, edge)| {
            u64::from(*parent).wrapping_shl(32) | u64::from(edge.symbol)
        });
        let mut edges: Vec<Edge> = Vec::with_capacity(branches.len());
        for (parent, edge) in branches {
            if let Some(parent) = nodes.get_mut(hash::index(parent)) {
                if parent.edges.length == 0 {
                    parent.edges.start = id(edges.len());
                }
                parent.edges.length = parent.edges.length.saturating_add(1);
            }
            edges.push(edge);
        }
        Self { nodes, edges }
    }
}
