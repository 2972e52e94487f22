//! Policy → tables: the one code path behind engines made at run time and at compile time.
//!
//! Everything is numbered in an order that does not depend on the file's, so two spellings of one
//! policy give equal tables but for the places.

mod hashes;
mod literals;
mod routes;
mod templates;

use std::collections::hash_map::Entry;

use crate::hash;
use crate::list::{List, Span, Text};
use crate::policy::{Api, Policy};
use crate::seeded::{RandomSeed, SeededMap};
use crate::tables::{
    ApiRow, NONE, ORBS_UNKNOWN, ORBS_UNSTATED, Prefix, Run, ScopeRow, Tables, Terms,
};
use crate::terms::Orbs;

use literals::Literals;
use routes::{methods, route_rows, template_routes, templates_by_key, tuples};
use templates::{ScopeOf, Templates, Texts};

/// No seed of those that were tried tells the texts of a policy apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unplaceable;

impl core::fmt::Display for Unplaceable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no hash was found that tells the texts of this policy apart; rename a scope or a segment")
    }
}

/// How often all hashes are tried with other seeds: each time fails by a chance far below one in a million.
const ROUNDS: u64 = 8;

/// Compiles a policy. The expected time and the memory are linear in the size of its templates. The search for hashes is
/// bounded, and it depends on the digest of the policy, so that nobody can choose texts against it.
pub(crate) fn compile(policy: &Policy) -> Result<Tables, Unplaceable> {
    let digest = policy.digest();
    let salt = digest.as_bytes().first_chunk();
    let salt = salt.map_or(0, |salt| u64::from_le_bytes(*salt));
    let mut rounds = (0..ROUNDS).map(|round| compile_once(policy, salt.wrapping_add(round)));
    rounds.find(Result::is_ok).unwrap_or(Err(Unplaceable))
}

fn compile_once(policy: &Policy, salt: u64) -> Result<Tables, Unplaceable> {
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
    let literals = Literals::of(salt, &templates, common, &mut text);
    let routes = route_rows(&templates, &scopes, &mut text);
    let methods = methods(&templates);
    let runs = template_routes(&templates);
    let by_key = templates_by_key(salt, &templates, &literals, &runs, &methods, &routes)?;
    let (tuple_runs, tuples) = tuples(&templates, &literals.fields);
    let scope_rows = scope_rows(&scopes, &mut text);
    let names: Vec<_> = scopes
        .iter()
        .map(|(_, _, scope)| scope.name().as_bytes())
        .collect();

    Ok(Tables {
        digest: *policy.digest().as_bytes(),
        profile: policy.target(),
        name: policy.name().map(|name| text.span(name)),
        prefix: prefix(&templates, common, literals.is_packed, &mut text),
        positions: literals.positions(salt)?,
        literal_rows: literals.rows.into(),
        spellings: literals.spellings.into(),
        is_packed: literals.is_packed,
        fields: literals.fields.into(),
        templates: by_key,
        tuple_runs: tuple_runs.into(),
        tuples: tuples.into(),
        methods,
        template_routes: runs.into(),
        routes: routes.into(),
        scopes: scope_rows.into(),
        scope_ids: hashes::scope_ids(salt, &names)?,
        scope_routes: scope_routes(&templates).into(),
        apis: api_rows.into(),
        headings: collect(policy.headings().iter().map(|heading| text.span(heading))),
        text: Text::Owned(text.all.into_boxed_str()),
    })
}

/// What all templates start with. Nothing starts with the prefix of tables whose keys do not say which literals they have, so
/// that the fast path asks no more.
fn prefix(
    templates: &Templates<'_>,
    common: usize,
    is_packed: bool,
    text: &mut TextPool<'_>,
) -> Prefix {
    let nothing = Prefix {
        head: 1,
        segments: id(common),
        ..Prefix::default()
    };
    let Some(first) = templates.routes.first().filter(|_| is_packed) else {
        return nothing;
    };
    // Each segment and the slash behind it, after the first slash.
    let segments = first.full().split_inclusive('/').skip(1).take(common);
    let length = segments.fold(1_usize, |length, segment| {
        length.saturating_add(segment.len())
    });
    let prefix = first.full().get(..length).unwrap_or_default();
    let (mut head, mut mask) = ([0; 16], [0; 16]);
    for ((head, mask), byte) in head.iter_mut().zip(&mut mask).zip(prefix.bytes()) {
        (*head, *mask) = (byte, u8::MAX);
    }
    Prefix {
        text: text.unique(prefix),
        head: u128::from_le_bytes(head),
        head_mask: u128::from_le_bytes(mask),
        tail: prefix
            .as_bytes()
            .last_chunk()
            .map_or(0, |tail| u128::from_le_bytes(*tail)),
        segments: id(common),
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
    spans: SeededMap<&'t str, Span>,
}

impl<'t> TextPool<'t> {
    /// With room for the texts of these templates and scopes.
    fn with_room(templates: &Templates<'_>, scopes: usize) -> Self {
        let routes = templates.routes.iter().map(|route| route.text.len());
        let names = templates.literals.len().saturating_add(scopes);
        Self {
            all: String::with_capacity(routes.sum()),
            spans: SeededMap::with_capacity_and_hasher(names, RandomSeed::default()),
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

/// A number of entries or bytes as an id. The limits on a policy keep every one far below 2³².
fn id(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
