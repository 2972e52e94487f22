//! The shapes of all templates: their routes, their perfect hash and their tree.

use std::collections::BTreeMap;

use super::perfect::perfect_hash;
use super::templates::{Template, Templates};
use super::words::Words;
use super::{TextPool, id};
use crate::hash::{self, Method, PerfectHash};
use crate::list::Span;
use crate::tables::{COLUMNS, Edge, MethodColumn, NONE, Node, RouteRow, Run, Shape};

/// A shape and its routes.
pub(super) struct ShapeOf {
    pub(super) symbols: Vec<u32>,
    pub(super) key: u64,
    pub(super) routes: Run,
    /// The literals as the templates spell them; those of one shape spell them alike.
    pub(super) literals: Vec<Option<String>>,
}

/// The route rows, those of one shape together, and the shapes.
pub(super) fn lay_out_routes(
    templates: &Templates<'_>,
    common: usize,
    words: &Words,
    text: &mut TextPool,
) -> (Vec<RouteRow>, Vec<ShapeOf>) {
    let mut rows = Vec::with_capacity(templates.routes.len());
    let mut shapes: Vec<ShapeOf> = Vec::new();
    for template in &templates.routes {
        let (symbols, key) = words.symbols(template, common);
        match shapes.last_mut() {
            Some(shape) if shape.symbols == symbols => {
                shape.routes.length = shape.routes.length.saturating_add(1);
            }
            _ => shapes.push(ShapeOf {
                symbols,
                key,
                routes: Run {
                    start: id(rows.len()),
                    length: 1,
                },
                literals: template
                    .literals()
                    .map(|literal| literal.map(str::to_owned))
                    .collect(),
            }),
        }
        rows.push(route_row(template, text));
    }
    (rows, shapes)
}

pub(super) fn route_row(template: &Template<'_>, text: &mut TextPool) -> RouteRow {
    let method = template.rule.method();
    let mut key = [0; 16];
    key.iter_mut()
        .zip(method.bytes())
        .for_each(|(slot, byte)| *slot = byte);
    let route = text.span(&format!("{method} {}", template.full));
    let skipped = id(method.len().saturating_add(1));
    RouteRow {
        method: key,
        text: route,
        template: Span {
            start: route.start.saturating_add(skipped),
            length: route.length.saturating_sub(skipped),
        },
        orbs: template.orbs,
        scope: template.scope,
        scope_name: text.span(template.scope_name),
        organisation: template.organisation,
        place: template.rule.place(),
    }
}

/// The methods that most routes have, those with a column first.
pub(super) fn method_columns(routes: &[RouteRow]) -> Vec<MethodColumn> {
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
    short
        .zip(0..)
        .take(COLUMNS)
        .map(|(method, column)| MethodColumn { method, column })
        .collect()
}

/// A method without the zeros that pad it.
pub(super) fn name(method: &[u8; 16]) -> &[u8] {
    method.split(|byte| *byte == 0).next().unwrap_or_default()
}

pub(super) fn hash_methods(columns: &[MethodColumn]) -> PerfectHash<MethodColumn> {
    perfect_hash(columns, columns, |column, seed| {
        hash::method_hash(seed, column.method)
    })
}

/// The columns' methods as words; after the last a word that is no method.
pub(super) fn method_words(columns: &[MethodColumn]) -> [u64; COLUMNS] {
    let mut words = [u64::MAX; COLUMNS];
    let all = words.iter_mut().zip(columns);
    all.for_each(|(word, column)| *word = method_word(column.method));
    words
}

/// A method as [`crate::scan::wide::Wide::word`] reads it; of 8 letters a word that it never reads.
fn method_word(method: Method) -> u64 {
    if method.length > 7 {
        return u64::MAX;
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
    pub(super) fn of(shapes: &[ShapeOf], slot_of: &[u32], text: &mut TextPool) -> Self {
        let empty = Node {
            edges: Run::default(),
            parameter: NONE,
            shape: NONE,
        };
        let mut nodes = vec![empty];
        // By parent and symbol: sorted, so the edges of one node come together and in order.
        let mut children: BTreeMap<(u32, u32), Edge> = BTreeMap::new();
        for (slot, shape) in slot_of.iter().zip(shapes) {
            let mut node = 0_u32;
            for (symbol, literal) in shape.symbols.iter().zip(&shape.literals) {
                let new = id(nodes.len());
                let child = match literal {
                    Some(literal) => {
                        let edge = Edge {
                            symbol: *symbol,
                            node: new,
                            text: text.span(literal),
                        };
                        children.entry((node, *symbol)).or_insert(edge).node
                    }
                    None => match nodes.get_mut(hash::index(node)) {
                        Some(parent) if parent.parameter == NONE => {
                            parent.parameter = new;
                            new
                        }
                        Some(parent) => parent.parameter,
                        None => NONE,
                    },
                };
                if child == new {
                    nodes.push(empty);
                }
                node = child;
            }
            if let Some(end) = nodes.get_mut(hash::index(node)) {
                end.shape = *slot;
            }
        }
        let mut edges: Vec<Edge> = Vec::with_capacity(children.len());
        for ((parent, _), edge) in children {
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
