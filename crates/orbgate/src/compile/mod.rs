//! Policy → tables: the one code path behind engines made at run time and at compile time.
//!
//! Everything is numbered in an order that does not depend on the file's, so two spellings of one
//! policy give equal tables but for the places.

mod displaced;
mod names;
mod outlines;
mod perfect;
mod shapes;
mod templates;
mod words;

use std::collections::hash_map::Entry;

use crate::hash::{self, PerfectHash};
use crate::keyed::{Key, KeyedMap};
use crate::list::{List, Span, Text};
use crate::policy::{Api, Policy};
use crate::tables::{ApiRow, NONE, ORBS_UNKNOWN, ORBS_UNSTATED, Run, ScopeRow, Tables, Terms};
use crate::terms::Orbs;

use names::hash_names;
use outlines::outlines;
use shapes::{
    Tree, hash_methods, hash_shapes, method_columns, method_words, route_rows, shape_entries,
    shapes,
};
use templates::{ScopeOf, Templates, Texts};
use words::{Words, parameter_shares, position_shares, prefix};

/// Compiles a policy. Time and memory are linear in the size of its templates; the time is so unless somebody has chosen
/// the words of a policy to defeat one seed of a hash after the other, which costs another pass each.
pub(crate) fn compile(policy: &Policy) -> Tables {
    let mut apis: Vec<_> = policy.apis().iter().collect();
    apis.sort_by_key(|api| api.name());
    let mut scopes: Vec<_> = (0..)
        .zip(&apis)
        .flat_map(|(id, api)| api.scopes().iter().map(move |scope| (id, *api, scope)))
        .collect();
    scopes.sort_by_key(|(_, _, scope)| scope.name());

    let route_texts = Texts::of(&scopes);
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
    let scope_rows = scope_rows(&scopes, &mut text);

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
        scope_routes: scope_routes(&templates).into(),
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

/// Names and templates, end to end; equal names are kept once.
struct TextPool<'t> {
    all: String,
    spans: KeyedMap<&'t str, Span>,
}

impl<'t> TextPool<'t> {
    /// With room for the texts of these templates and scopes.
    fn with_room(templates: &Templates<'_>, scopes: usize) -> Self {
        let routes = templates.routes.iter().map(|route| route.text.len());
        let names = templates.literals.len().saturating_add(scopes);
        Self {
            all: String::with_capacity(routes.sum()),
            spans: KeyedMap::with_capacity_and_hasher(names, Key::default()),
        }
    }

    /// A name.
    fn span(&mut self, name: &'t str) -> Span {
        match self.spans.entry(name) {
            Entry::Occupied(span) => *span.get(),
            Entry::Vacant(free) => *free.insert(push(&mut self.all, name)),
        }
    }

    /// A text that is no other's.
    fn unique(&mut self, text: &str) -> Span {
        push(&mut self.all, text)
    }
}

fn push(all: &mut String, text: &str) -> Span {
    let span = Span {
        start: id(all.len()),
        length: id(text.len()),
    };
    all.push_str(text);
    span
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

fn scope_rows<'t>(scopes: &[ScopeOf<'t>], text: &mut TextPool<'t>) -> Vec<ScopeRow> {
    let mut start = 0_u32;
    let rows = scopes.iter().map(|(api, api_of, scope)| {
        let routes = Run {
            start,
            length: id(scope.routes().len()),
        };
        start = start.saturating_add(routes.length);
        ScopeRow {
            terms: Terms {
                scope: text.span(scope.name()),
                organisation: api_of.organisation(),
                orbs: column(scope.orbs()),
            },
            permits: scope.permits().map(|permits| text.span(permits)),
            api: *api,
            routes,
            place: scope.place(),
        }
    });
    rows.collect()
}

/// The ids of the routes in the order of the scopes and, within each, of the file.
fn scope_routes(templates: &Templates<'_>) -> Vec<u32> {
    let mut ids = vec![NONE; templates.routes.len()];
    for (id, template) in (0..).zip(&templates.routes) {
        if let Some(slot) = ids.get_mut(hash::index(template.place)) {
            *slot = id;
        }
    }
    ids
}

fn scope_ids(scopes: &[ScopeOf<'_>]) -> PerfectHash<u16> {
    let names: Vec<_> = scopes
        .iter()
        .map(|(_, _, scope)| scope.name().as_bytes())
        .collect();
    let ids: Vec<u16> = (0..).zip(scopes).map(|(id, _)| id).collect();
    hash_names(&names, &ids, |name, seed| hash::scope_hash(seed, name))
}

/// A number of entries or bytes as an id. The limits on a policy keep every one far below 2³².
fn id(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
