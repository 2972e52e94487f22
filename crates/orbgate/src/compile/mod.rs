//! Policy → tables: the one code path behind engines made at run time and at compile time.
//!
//! Everything is numbered in an order that does not depend on the file's, so two spellings of one
//! policy give equal tables but for the places.

mod outlines;
mod perfect;
mod shapes;
mod templates;
mod words;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::hash::{self, PerfectHash};
use crate::list::{List, Span, Text};
use crate::policy::{Api, Policy};
use crate::tables::{ApiRow, NONE, ORBS_UNKNOWN, ORBS_UNSTATED, RouteRow, Run, ScopeRow, Tables};
use crate::terms::{Orbs, Place};

use outlines::outlines;
use perfect::perfect_hash;
use shapes::{
    Tree, hash_methods, hash_shapes, method_columns, method_words, route_rows, shape_entries,
    shapes,
};
use templates::{ScopeOf, Templates};
use words::{Words, parameter_shares, position_shares, prefix};

/// Compiles a policy. Time and memory are linear in the size of its templates.
pub(crate) fn compile(policy: &Policy) -> Tables {
    let mut apis: Vec<_> = policy.apis().iter().collect();
    apis.sort_by_key(|api| api.name());
    let mut scopes: Vec<_> = (0..)
        .zip(&apis)
        .flat_map(|(id, api)| api.scopes().iter().map(move |scope| (id, *api, scope)))
        .collect();
    scopes.sort_by_key(|(_, _, scope)| scope.name());

    let route_texts = templates::texts(&scopes);
    let templates = Templates::of(&scopes, &route_texts);
    let mut text = TextPool::with_room(&templates, scopes.len());
    let api_rows: Vec<_> = apis.iter().map(|api| api_row(api, &mut text)).collect();
    let common = templates.common_segments();
    let words = Words::of(&templates, common, &mut text);
    let by_position = position_shares(&templates, &words);
    let shapes = shapes(&templates, common, &words);
    let routes = route_rows(&templates, &scopes, &mut text);
    let (method_factor, columns) = method_columns(&routes);
    let entries = shape_entries(&shapes, &routes, &columns);
    let (shape_slots, slot_of) = hash_shapes(&entries, words.keys_fit);
    let prefix = prefix(&templates, common, &by_position, &mut text);
    let outlines = outlines(&templates, &shapes, &entries, &routes, common, prefix.text);
    let tree = Tree::of(&templates, &words, &shapes, &slot_of);
    let (scope_rows, scope_routes) = lay_out_scopes(&scopes, &routes, &mut text);

    Tables {
        digest: *policy.digest().as_bytes(),
        profile: policy.target(),
        name: policy.name().map(|name| text.span(name)),
        prefix,
        words: words.hash,
        word_rows: words.rows.into(),
        others: words.others.into(),
        position_shares: collect(by_position.iter().skip(common).copied()),
        parameter_shares: parameter_shares(&templates, common, &by_position).into(),
        shapes: shape_slots,
        outlines,
        nodes: tree.nodes.into(),
        edges: tree.edges.into(),
        methods: hash_methods(&columns),
        method_factor,
        method_words: method_words(&columns),
        shape_routes: collect(shapes.iter().map(|shape| shape.routes)),
        routes: routes.into(),
        scopes: scope_rows.into(),
        scope_ids: scope_ids(&scopes),
        scope_routes: scope_routes.into(),
        apis: api_rows.into(),
        headings: collect(policy.headings().iter().map(|heading| text.span(heading))),
        text: Text::Owned(text.all.into_boxed_str()),
    }
}

fn collect<T>(items: impl Iterator<Item = T>) -> List<T> {
    items.collect::<Vec<_>>().into()
}

fn api_row<'t>(api: &'t Api, text: &mut TextPool<'t>) -> ApiRow {
    ApiRow {
        name: text.span(api.name()),
    }
}

/// Names and templates, end to end; equal ones are kept once.
struct TextPool<'t> {
    all: String,
    spans: HashMap<&'t str, Span>,
}

impl<'t> TextPool<'t> {
    /// With room for the texts of these templates and scopes.
    fn with_room(templates: &Templates<'_>, scopes: usize) -> Self {
        let routes = templates.routes.iter().map(|route| route.text.len());
        let pieces = templates
            .routes
            .len()
            .saturating_add(templates.literals.len());
        Self {
            all: String::with_capacity(routes.sum()),
            spans: HashMap::with_capacity(pieces.saturating_add(scopes)),
        }
    }

    fn span(&mut self, piece: &'t str) -> Span {
        match self.spans.entry(piece) {
            Entry::Occupied(span) => *span.get(),
            Entry::Vacant(free) => {
                let span = Span {
                    start: id(self.all.len()),
                    length: id(piece.len()),
                };
                self.all.push_str(piece);
                *free.insert(span)
            }
        }
    }
}

/// An orb column as the tables hold it. An amount that does not fit would be refused by the reader.
fn column(orbs: Option<Orbs>) -> i64 {
    match orbs {
        None => ORBS_UNKNOWN,
        Some(Orbs::Free) => 0,
        Some(Orbs::Unstated) => ORBS_UNSTATED,
        Some(Orbs::Amount(amount)) => i64::try_from(amount).unwrap_or(ORBS_UNSTATED),
    }
}

fn lay_out_scopes<'t>(
    scopes: &[ScopeOf<'t>],
    routes: &[RouteRow],
    text: &mut TextPool<'t>,
) -> (Vec<ScopeRow>, Vec<u32>) {
    let mut by_scope: Vec<(u16, Place, u32)> = (0..)
        .zip(routes)
        .map(|(id, row)| (row.scope, row.place, id))
        .collect();
    by_scope.sort_unstable();
    let mut rest = by_scope.as_slice();
    let mut start = 0_u32;
    let rows = (0..)
        .zip(scopes)
        .map(|(scope_id, (api, api_of, scope))| {
            let length = rest
                .iter()
                .take_while(|(scope, _, _)| *scope == scope_id)
                .count();
            rest = rest.get(length..).unwrap_or_default();
            let routes = Run {
                start,
                length: id(length),
            };
            start = start.saturating_add(routes.length);
            ScopeRow {
                name: text.span(scope.name()),
                organisation: api_of.organisation(),
                permits: scope.permits().map(|permits| text.span(permits)),
                api: *api,
                orbs: column(scope.orbs()),
                routes,
                place: scope.place(),
            }
        })
        .collect();
    (
        rows,
        by_scope.into_iter().map(|(_, _, route)| route).collect(),
    )
}

fn scope_ids(scopes: &[ScopeOf<'_>]) -> PerfectHash<u16> {
    let names: Vec<_> = scopes
        .iter()
        .map(|(_, _, scope)| scope.name().as_bytes())
        .collect();
    let ids: Vec<u16> = (0..).zip(scopes).map(|(id, _)| id).collect();
    perfect_hash(&names, &ids, |name, seed| hash::scope_hash(seed, name))
}

/// A number of entries or bytes as an id. The limits on a policy keep every one far below 2³².
fn id(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
