//! Policy → tables: the one code path behind engines made at run time and at compile time.
//!
//! Everything is numbered in an order that does not depend on the file's, so two spellings of one
//! policy give equal tables but for the places.

use std::collections::{BTreeMap, HashMap};

use phf_generator::ptrhash;

use crate::hash::{Ends, PerfectHash, scope_hash, shape_hash, slot, word_hash};
use crate::list::{List, Span, Text};
use crate::policy::{Api, Policy, RouteRule, ScopeRule};
use crate::tables::{
    ApiRow, Edge, NONE, Node, ORBS_UNKNOWN, ORBS_UNSTATED, RouteRow, Run, ScopeRow, Shape, Tables,
    Variant, Word,
};
use crate::terms::{Orbs, Place};

/// Compiles a policy. Time and memory are linear in the size of its templates.
pub(crate) fn compile(policy: &Policy) -> Tables {
    let mut text = TextPool::default();
    let mut apis: Vec<_> = policy.apis().iter().collect();
    apis.sort_by_key(|api| api.name());
    let api_rows: Vec<_> = apis.iter().map(|api| api_row(api, &mut text)).collect();

    let mut scopes: Vec<_> = (0..)
        .zip(&apis)
        .flat_map(|(id, api)| api.scopes().iter().map(move |scope| (id, *api, scope)))
        .collect();
    scopes.sort_by_key(|(_, _, scope)| scope.name());

    let templates = Templates::of(&scopes);
    let words = Words::of(&templates, &mut text);
    let (routes, shapes) = lay_out_routes(&templates, &words, &mut text);
    let tree = Tree::of(&shapes, &words, &mut text);
    let (scope_rows, scope_routes) = lay_out_scopes(&scopes, &routes, &mut text);

    Tables {
        digest: *policy.digest().as_bytes(),
        profile: policy.target(),
        name: policy.name().map(|name| text.span(name)),
        scope_ids: scope_ids(&scopes),
        headings: policy
            .headings()
            .iter()
            .map(|heading| text.span(heading))
            .collect::<Vec<_>>()
            .into(),
        shape_routes: shapes
            .iter()
            .map(|shape| shape.routes)
            .collect::<Vec<_>>()
            .into(),
        symbols: shapes
            .iter()
            .flat_map(|shape| shape.symbols.iter().copied())
            .collect::<Vec<_>>()
            .into(),
        shapes: hash_shapes(&shapes),
        words: words.hash,
        variants: words.variants.into(),
        nodes: tree.nodes.into(),
        edges: tree.edges.into(),
        routes: routes.into(),
        scopes: scope_rows.into(),
        scope_routes: scope_routes.into(),
        apis: api_rows.into(),
        text: Text::Owned(text.all.into_boxed_str()),
    }
}

fn api_row(api: &Api, text: &mut TextPool) -> ApiRow {
    ApiRow {
        name: text.span(api.name()),
        base_path: api.base_path().map(|path| text.span(path)),
        organisation: api.organisation(),
    }
}

/// Names and templates, end to end; equal ones are kept once.
#[derive(Default)]
struct TextPool {
    all: String,
    spans: HashMap<String, Span>,
}

impl TextPool {
    fn span(&mut self, piece: &str) -> Span {
        if let Some(span) = self.spans.get(piece) {
            return *span;
        }
        let span = Span {
            start: id(self.all.len()),
            length: id(piece.len()),
        };
        self.all.push_str(piece);
        self.spans.insert(piece.to_owned(), span);
        span
    }
}

/// A scope, with the id and the rule of its api.
type ScopeOf<'p> = (u32, &'p Api, &'p ScopeRule);

/// The routes of all scopes with their full templates, sorted by shape and method.
struct Templates<'p> {
    routes: Vec<Template<'p>>,
}

/// A route, its api's base path prepended.
struct Template<'p> {
    scope: u16,
    rule: &'p RouteRule,
    orbs: i64,
    /// `/base/path/{parameter}`.
    full: String,
    /// Where the literals and parameters of `full` stand.
    segments: Vec<Segment>,
}

/// A segment of a template.
struct Segment {
    start: usize,
    end: usize,
    is_literal: bool,
}

impl Template<'_> {
    /// The segments in order: a literal, or `None` for a parameter.
    fn literals(&self) -> impl Iterator<Item = Option<&str>> {
        self.segments.iter().map(|segment| {
            let text = self.full.get(segment.start..segment.end);
            text.filter(|_| segment.is_literal)
        })
    }
}

impl<'p> Templates<'p> {
    fn of(scopes: &[ScopeOf<'p>]) -> Self {
        let mut routes: Vec<_> = (0..)
            .zip(scopes)
            .flat_map(|(id, (_, api, scope))| {
                scope
                    .routes()
                    .iter()
                    .map(move |rule| template(id, api, scope, rule))
            })
            .collect();
        routes.sort_by(|a, b| {
            let shapes = a.literals().cmp(b.literals());
            shapes.then_with(|| a.rule.method().cmp(b.rule.method()))
        });
        Self { routes }
    }
}

fn template<'p>(scope: u16, api: &Api, rule: &ScopeRule, route: &'p RouteRule) -> Template<'p> {
    let base = api.base_path().unwrap_or_default();
    let full = match (base, route.template()) {
        ("", template) => template.to_owned(),
        // `GET /` is the base path itself.
        (base, "/") => base.to_owned(),
        (base, template) => format!("{base}{template}"),
    };
    let mut segments = Vec::new();
    let mut start = 1_usize;
    for piece in full
        .get(1..)
        .unwrap_or_default()
        .split('/')
        .filter(|piece| !piece.is_empty())
    {
        let end = start.saturating_add(piece.len());
        segments.push(Segment {
            start,
            end,
            is_literal: !piece.starts_with('{'),
        });
        start = end.saturating_add(1);
    }
    let orbs = match route.orbs() {
        Some(amount) => column(Some(Orbs::Amount(amount))),
        None => column(rule.orbs()),
    };
    Template {
        scope,
        rule: route,
        orbs,
        full,
        segments,
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

/// The literals by position, and the symbol of each.
struct Words {
    hash: PerfectHash<Word>,
    variants: Vec<Variant>,
    symbols: HashMap<(usize, String), u32>,
}

impl Words {
    fn of(templates: &Templates<'_>, text: &mut TextPool) -> Self {
        // By position and folded literal: its spellings, each with the lengths of its templates.
        let mut places: BTreeMap<(usize, String), BTreeMap<&str, u32>> = BTreeMap::new();
        for template in &templates.routes {
            let length = 1_u32.wrapping_shl(id(template.segments.len().saturating_sub(1)));
            for (position, literal) in template.literals().enumerate() {
                let Some(literal) = literal else { continue };
                let spellings = places
                    .entry((position, literal.to_ascii_lowercase()))
                    .or_default();
                *spellings.entry(literal).or_default() |= length;
            }
        }
        let mut words = Vec::with_capacity(places.len());
        let mut variants = Vec::new();
        let mut symbols = HashMap::with_capacity(places.len());
        for (symbol, ((position, folded), spellings)) in (1..).zip(places) {
            let has_variants = spellings.len() > 1;
            let mut spellings = spellings.into_iter();
            if let Some((literal, lengths)) = spellings.next() {
                let Ends { first, last } = Ends::of(literal.as_bytes());
                words.push(Word {
                    first,
                    last,
                    text: text.span(literal),
                    symbol,
                    lengths,
                    position: u8::try_from(position).unwrap_or(u8::MAX),
                    has_variants,
                });
            }
            variants.extend(spellings.map(|(literal, lengths)| Variant {
                symbol,
                text: text.span(literal),
                lengths,
            }));
            symbols.insert((position, folded), symbol);
        }
        let keys: Vec<_> = words
            .iter()
            .map(|word| {
                let start = crate::hash::index(word.text.start);
                let end = start.saturating_add(crate::hash::index(word.text.length));
                let bytes = text.all.get(start..end).unwrap_or_default().as_bytes();
                (usize::from(word.position), bytes)
            })
            .collect();
        let hash = perfect_hash(&keys, &words, |(position, bytes), seed| {
            word_hash(seed, *position, bytes, Ends::of(bytes))
        });
        Self {
            hash,
            variants,
            symbols,
        }
    }

    /// The symbols of a template: 0 for each parameter.
    fn symbols(&self, template: &Template<'_>) -> Vec<u32> {
        let literals = template.literals().enumerate();
        literals
            .map(|(position, literal)| {
                let key = literal.map(|literal| (position, literal.to_ascii_lowercase()));
                key.and_then(|key| self.symbols.get(&key).copied())
                    .unwrap_or(0)
            })
            .collect()
    }
}

/// A shape and its routes.
struct ShapeOf {
    symbols: Vec<u32>,
    routes: Run,
    /// The literals as the templates spell them; those of one shape spell them alike.
    literals: Vec<Option<String>>,
}

/// The route rows, those of one shape together, and the shapes.
fn lay_out_routes(
    templates: &Templates<'_>,
    words: &Words,
    text: &mut TextPool,
) -> (Vec<RouteRow>, Vec<ShapeOf>) {
    let mut rows = Vec::with_capacity(templates.routes.len());
    let mut shapes: Vec<ShapeOf> = Vec::new();
    for template in &templates.routes {
        let symbols = words.symbols(template);
        match shapes.last_mut() {
            Some(shape) if shape.symbols == symbols => {
                shape.routes.length = shape.routes.length.saturating_add(1);
            }
            _ => shapes.push(ShapeOf {
                symbols,
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

fn route_row(template: &Template<'_>, text: &mut TextPool) -> RouteRow {
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
        place: template.rule.place(),
    }
}

fn hash_shapes(shapes: &[ShapeOf]) -> PerfectHash<Shape> {
    let mut start = 0_u32;
    let slots: Vec<_> = (0..)
        .zip(shapes)
        .map(|(id_of, shape)| {
            let symbols = Run {
                start,
                length: id(shape.symbols.len()),
            };
            start = start.saturating_add(symbols.length);
            Shape { symbols, id: id_of }
        })
        .collect();
    let keys: Vec<_> = shapes
        .iter()
        .map(|shape| shape.symbols.as_slice())
        .collect();
    perfect_hash(&keys, &slots, |symbols, seed| shape_hash(seed, symbols))
}

/// The shapes as a tree.
struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Tree {
    fn of(shapes: &[ShapeOf], words: &Words, text: &mut TextPool) -> Self {
        debug_assert!(words.variants.is_sorted_by_key(|variant| variant.symbol));
        let empty = Node {
            edges: Run::default(),
            parameter: NONE,
            shape: NONE,
        };
        let mut nodes = vec![empty];
        // By parent and symbol: sorted, so the edges of one node come together and in order.
        let mut children: BTreeMap<(u32, u32), Edge> = BTreeMap::new();
        for (shape_id, shape) in (0..).zip(shapes) {
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
                    None => match nodes.get_mut(crate::hash::index(node)) {
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
            if let Some(end) = nodes.get_mut(crate::hash::index(node)) {
                end.shape = shape_id;
            }
        }
        let mut edges: Vec<Edge> = Vec::with_capacity(children.len());
        for ((parent, _), edge) in children {
            if let Some(parent) = nodes.get_mut(crate::hash::index(parent)) {
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

fn lay_out_scopes(
    scopes: &[ScopeOf<'_>],
    routes: &[RouteRow],
    text: &mut TextPool,
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
        .map(|(scope_id, (api, _, scope))| {
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
    perfect_hash(&names, &ids, |name, seed| scope_hash(seed, name))
}

/// Lays out entries so that each key's entry stands in the one slot that the key's hash leads to.
/// No two keys may be equal; slots that no key leads to hold the default entry.
fn perfect_hash<K, T: Copy + Default>(
    keys: &[K],
    entries: &[T],
    hash: impl Fn(&K, u64) -> u64,
) -> PerfectHash<T> {
    let state = ptrhash::generate_hash_with_hash_fn(keys, |key, seed| hash(key, *seed));
    let pilots: List<u8> = state.pilots.into();
    let mut slots = vec![T::default(); state.map.len().saturating_add(state.remap.len())];
    let count = slots.len();
    for (key, entry) in keys.iter().zip(entries) {
        let hash = hash(key, state.seed);
        let bucket = crate::hash::bucket(hash, pilots.len());
        let pilot = pilots.get(bucket).copied().unwrap_or_default();
        if let Some(free) = slots.get_mut(slot(hash, state.seed, pilot, count)) {
            *free = *entry;
        }
    }
    PerfectHash {
        seed: state.seed,
        pilots,
        slots: slots.into(),
    }
}

/// A number of entries or bytes as an id. The limits on a policy keep every one far below 2³².
fn id(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
