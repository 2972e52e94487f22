//! Policy → tables: the one code path behind engines made at run time and at compile time.
//!
//! Everything is numbered in an order that does not depend on the file's, so two spellings of one
//! policy give equal tables but for the places.

use std::collections::{BTreeMap, HashMap};

use phf_generator::ptrhash;

use crate::hash::{self, Ends, Method, PerfectHash};
use crate::list::{List, Span, Text};
use crate::policy::{Api, Policy, RouteRule, ScopeRule, full_template};
use crate::tables::{
    ApiRow, CLOSER, COLUMNS, Edge, MethodColumn, NONE, NOT_DECLARED, Node, ORBS_UNKNOWN,
    ORBS_UNSTATED, OtherWord, Prefix, RouteRow, Run, SEARCH, ScopeRow, Shape, Tables, Word,
    WordRow,
};
use crate::terms::{MAX_SEGMENTS, Orbs, OrganisationRule, Place};

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
    let common = templates.common_segments();
    let words = Words::of(&templates, common, &mut text);
    let by_position = position_shares(&words.symbols);
    let (routes, shapes) = lay_out_routes(&templates, common, &words, &mut text);
    let columns = method_columns(&routes);
    let (shape_slots, slot_of) = hash_shapes(&shapes, &routes, &columns, words.keys_fit);
    let tree = Tree::of(&shapes, &slot_of, &mut text);
    let (scope_rows, scope_routes) = lay_out_scopes(&scopes, &routes, &mut text);

    Tables {
        digest: *policy.digest().as_bytes(),
        profile: policy.target(),
        name: policy.name().map(|name| text.span(name)),
        prefix: prefix(&templates, common, &words.symbols, &mut text),
        words: words.hash,
        word_rows: words.rows.into(),
        others: words.others.into(),
        position_shares: collect(by_position.iter().skip(common).copied()),
        parameter_shares: parameter_shares(&templates, common, &by_position).into(),
        shapes: shape_slots,
        nodes: tree.nodes.into(),
        edges: tree.edges.into(),
        methods: hash_methods(&columns),
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

    fn get(&self, span: Span) -> &str {
        let start = hash::index(span.start);
        let end = start.saturating_add(hash::index(span.length));
        self.all.get(start..end).unwrap_or_default()
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
    organisation: Option<OrganisationRule>,
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

    /// How many literals all templates start with in common.
    fn common_segments(&self) -> usize {
        let Some((first, others)) = self.routes.split_first() else {
            return 0;
        };
        let literals: Vec<_> = first.literals().map_while(|literal| literal).collect();
        others.iter().fold(literals.len(), |common, other| {
            let pairs = literals.iter().zip(other.literals()).take(common);
            pairs.take_while(|(a, b)| *b == Some(**a)).count()
        })
    }
}

fn template<'p>(scope: u16, api: &Api, rule: &ScopeRule, route: &'p RouteRule) -> Template<'p> {
    let base = api.base_path().unwrap_or_default();
    let full = full_template(base, route.template());
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
        organisation: api.organisation(),
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

/// The literals by position, and what stands for each.
struct Words {
    hash: PerfectHash<Word>,
    rows: Vec<WordRow>,
    others: Vec<OtherWord>,
    /// By position and literal in lower case: symbol, and share of a shape's key.
    symbols: HashMap<(usize, String), (u32, u64)>,
    /// Whether the shares of all positions fit side by side into a key.
    keys_fit: bool,
}

/// What the lookup's hash sees of a word: tag and folded ends.
type Slot = (u32, u64, u64);

impl Words {
    fn of(templates: &Templates<'_>, common: usize, text: &mut TextPool) -> Self {
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
        let (shares, keys_fit) = shares(&places, common);
        let mut symbols = HashMap::with_capacity(places.len());
        let mut slots: BTreeMap<Slot, Vec<OtherWord>> = BTreeMap::new();
        for (symbol, ((place, spellings), share)) in (1..).zip(places.iter().zip(shares)) {
            symbols.insert(place.clone(), (symbol, share));
            for (literal, lengths) in spellings {
                let ends = Ends::of(literal.as_bytes()).folded();
                let tag = hash::tag(literal.len(), place.0);
                let text = text.span(literal);
                let slot = slots.entry((tag, ends.first, ends.last)).or_default();
                slot.push(OtherWord {
                    text,
                    lengths: *lengths,
                    symbol,
                });
            }
        }
        let mut words = Vec::with_capacity(slots.len());
        let mut rows = vec![WordRow::default(); places.len().saturating_add(1)];
        let mut others = Vec::new();
        let by_symbol: HashMap<u32, u64> = symbols.values().copied().collect();
        for ((tag, _, _), spellings) in slots {
            let Some((word, more)) = spellings.split_first() else {
                continue;
            };
            let Ends { first, last } = Ends::of(text.get(word.text).as_bytes());
            let share = by_symbol.get(&word.symbol).copied().unwrap_or_default();
            let ends_are_all = more.is_empty() && word.text.length <= 16;
            words.push(Word {
                first,
                last,
                key: share,
                tag: if ends_are_all { tag } else { tag | CLOSER },
                symbol: word.symbol,
            });
            if let Some(row) = rows.get_mut(hash::index(word.symbol)) {
                *row = WordRow {
                    text: word.text,
                    lengths: word.lengths,
                    others: Run {
                        start: id(others.len()),
                        length: id(more.len()),
                    },
                };
            }
            others.extend_from_slice(more);
        }
        let hash = perfect_hash(&words, &words, |word, seed| {
            hash::word_hash(
                seed,
                word.tag & !CLOSER,
                Ends {
                    first: word.first,
                    last: word.last,
                },
            )
        });
        Self {
            hash,
            rows,
            others,
            symbols,
            keys_fit,
        }
    }

    /// A template's symbols, 0 for each parameter, and the key of its shape.
    fn symbols(&self, template: &Template<'_>, common: usize) -> (Vec<u32>, u64) {
        let mut key = u64::from(id(template.segments.len().saturating_sub(common)));
        let mut symbols = Vec::with_capacity(template.segments.len());
        for (position, literal) in template.literals().enumerate() {
            let place = literal.map(|literal| (position, literal.to_ascii_lowercase()));
            let found = place.and_then(|place| self.symbols.get(&place).copied());
            let (symbol, share) = found.unwrap_or_default();
            symbols.push(symbol);
            key |= share;
        }
        (symbols, key)
    }
}

/// Each word's share of a shape's key: its number among the words of its position, each position with
/// bits of its own above the six that count the segments. So a key says exactly which words it has.
/// Words of the common prefix need no share.
fn shares(
    places: &BTreeMap<(usize, String), BTreeMap<&str, u32>>,
    common: usize,
) -> (Vec<u64>, bool) {
    let mut counts = [0_u64; 64];
    let count_of = |counts: &mut [u64; 64], position: usize| {
        let count = counts.get_mut(position).filter(|_| position >= common);
        count.map_or(0, |count| {
            *count = count.saturating_add(1);
            *count
        })
    };
    let numbers: Vec<_> = places
        .keys()
        .map(|(at, _)| (*at, count_of(&mut counts, *at)))
        .collect();
    let mut offsets = [0_u32; 64];
    let mut offset = 6_u32;
    for (slot, count) in offsets.iter_mut().zip(counts) {
        *slot = offset;
        offset = offset.saturating_add(u64::BITS.saturating_sub(count.leading_zeros()));
    }
    let share = |(at, number): (usize, u64)| {
        let offset = offsets.get(at).copied().unwrap_or(u64::BITS);
        number.checked_shl(offset).unwrap_or(0)
    };
    (
        numbers.into_iter().map(share).collect(),
        offset <= u64::BITS,
    )
}

fn prefix(
    templates: &Templates<'_>,
    common: usize,
    words: &HashMap<(usize, String), (u32, u64)>,
    text: &mut TextPool,
) -> Prefix {
    let Some(first) = templates.routes.first() else {
        return Prefix::default();
    };
    let end = common
        .checked_sub(1)
        .and_then(|last| first.segments.get(last));
    let literal = first
        .full
        .get(..end.map_or(0, |segment| segment.end))
        .unwrap_or_default();
    let ends = Ends::of(literal.as_bytes());
    let mut next = templates
        .routes
        .iter()
        .filter_map(|route| route.segments.get(common));
    let only_words = next.all(|segment| segment.is_literal);
    let at_first = words
        .iter()
        .filter(|((position, _), _)| *position == common);
    Prefix {
        text: text.span(literal),
        first: ends.first,
        last: ends.last,
        segments: id(common),
        first_share: match only_words {
            true => at_first.fold(0, |bits, (_, (_, share))| bits | share),
            false => u64::MAX,
        },
    }
}

/// By position, the shares of all words there.
fn position_shares(words: &HashMap<(usize, String), (u32, u64)>) -> Vec<u64> {
    let mut at_position = vec![0; MAX_SEGMENTS];
    for ((position, _), (_, share)) in words {
        if let Some(shares) = at_position.get_mut(*position) {
            *shares |= share;
        }
    }
    at_position
}

/// By the number of segments below the prefix, the shares of all words where a template of so many has
/// a parameter.
fn parameter_shares(templates: &Templates<'_>, common: usize, at_position: &[u64]) -> Vec<u64> {
    let mut by_count = vec![0; MAX_SEGMENTS.saturating_add(1)];
    for template in &templates.routes {
        let literals = template.literals().zip(at_position);
        let parameters = literals.filter(|(literal, _)| literal.is_none());
        let shares = parameters.fold(0, |shares, (_, share)| shares | share);
        let count = template.segments.len().saturating_sub(common);
        if let Some(of_count) = by_count.get_mut(count) {
            *of_count |= shares;
        }
    }
    by_count
}

/// A shape and its routes.
struct ShapeOf {
    symbols: Vec<u32>,
    key: u64,
    routes: Run,
    /// The literals as the templates spell them; those of one shape spell them alike.
    literals: Vec<Option<String>>,
}

/// The route rows, those of one shape together, and the shapes.
fn lay_out_routes(
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
        organisation: template.organisation,
        place: template.rule.place(),
    }
}

/// The methods that most routes have, those with a column first.
fn method_columns(routes: &[RouteRow]) -> Vec<MethodColumn> {
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
fn name(method: &[u8; 16]) -> &[u8] {
    method.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn hash_methods(columns: &[MethodColumn]) -> PerfectHash<MethodColumn> {
    perfect_hash(columns, columns, |column, seed| {
        hash::method_hash(seed, column.method)
    })
}

/// The shapes by their keys, and the slot of each. Where keys do not fit there is no hash, only slots,
/// and every path takes the tree.
fn hash_shapes(
    shapes: &[ShapeOf],
    routes: &[RouteRow],
    columns: &[MethodColumn],
    keys_fit: bool,
) -> (PerfectHash<Shape>, Vec<u32>) {
    let entries: Vec<_> = (0..)
        .zip(shapes)
        .map(|(id, shape)| Shape {
            key: shape.key,
            id,
            first_route: shape.routes.start,
            columns: lay_out_columns(shape.routes, routes, columns),
        })
        .collect();
    let hash = if keys_fit {
        let keys: Vec<_> = entries.iter().map(|shape| shape.key).collect();
        perfect_hash(&keys, &entries, |key, seed| hash::shape_hash(seed, *key))
    } else {
        PerfectHash {
            seed: 0,
            pilots: Vec::new().into(),
            slots: entries.into(),
        }
    };
    let mut slot_of = vec![NONE; shapes.len()];
    for (slot, shape) in (0..).zip(hash.slots.iter()) {
        if let Some(of) = slot_of.get_mut(hash::index(shape.id)) {
            *of = slot;
        }
    }
    (hash, slot_of)
}

/// Which of a shape's routes has the method of each column.
fn lay_out_columns(run: Run, routes: &[RouteRow], columns: &[MethodColumn]) -> [u8; COLUMNS] {
    let mut laid_out = [NOT_DECLARED; COLUMNS];
    let of_shape = crate::tables::slice(routes, run);
    for (at, route) in of_shape.iter().enumerate() {
        let method = Method::of(name(&route.method));
        let column = columns.iter().find(|column| Some(column.method) == method);
        let place = column.and_then(|column| laid_out.get_mut(usize::from(column.column)));
        if let Some(place) = place {
            *place = u8::try_from(at).unwrap_or(SEARCH).min(SEARCH);
        }
    }
    laid_out
}

/// The shapes as a tree.
struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Tree {
    fn of(shapes: &[ShapeOf], slot_of: &[u32], text: &mut TextPool) -> Self {
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

/// Lays out entries so that each key's entry stands in the one slot that the key's hash leads to.
/// No two keys may be equal; slots that no key leads to hold the default entry.
fn perfect_hash<K, T: Copy + Default>(
    keys: &[K],
    entries: &[T],
    hash: impl Fn(&K, u64) -> u64,
) -> PerfectHash<T> {
    if keys.is_empty() {
        // One empty slot, so that a probe always finds something to compare with.
        return PerfectHash {
            seed: 0,
            pilots: vec![0].into(),
            slots: vec![T::default()].into(),
        };
    }
    let state = ptrhash::generate_hash_with_hash_fn(keys, |key, seed| hash(key, *seed));
    let pilots: List<u32> = collect(state.pilots.iter().map(|byte| pilot(state.seed, *byte)));
    let mut slots = vec![T::default(); state.map.len().saturating_add(state.remap.len())];
    let mut is_taken = vec![false; slots.len()];
    let count = slots.len();
    for (key, entry) in keys.iter().zip(entries) {
        let hash = hash(key, state.seed);
        let pilot = pilots.get(hash::bucket(hash, pilots.len()));
        let slot = hash::slot(hash, pilot.copied().unwrap_or_default(), count);
        if let (Some(free), Some(taken)) = (slots.get_mut(slot), is_taken.get_mut(slot)) {
            // A lost key could let another route decide, so this must never go unseen. The generator's
            // version is pinned, because its layout is what the lookup computes.
            assert!(!*taken, "two keys of a perfect hash share a slot");
            *taken = true;
            *free = *entry;
        }
    }
    PerfectHash {
        seed: state.seed,
        pilots,
        slots: slots.into(),
    }
}

/// What phf's own lookup makes of a bucket's byte, done once here instead of at every probe.
fn pilot(seed: u64, byte: u8) -> u32 {
    let pilot = (seed ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    let [a, b, c, d, halves @ ..] = pilot.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes(halves)
}

/// A number of entries or bytes as an id. The limits on a policy keep every one far below 2³².
fn id(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
