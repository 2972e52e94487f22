//! Policy → tables, at run time and at compile time. This module doesn't know about requests.
//!
//! Numbering doesn't depend on the order of the file, so two spellings of one policy give equal
//! tables, except for the locations.

mod entries;
mod hashes;
mod literals;
mod requirements;
mod routes;
mod templates;

use crate::policy::{Api, Policy, segments};
use crate::tables::hash::PerfectHash;
use crate::tables::list::{Span, Text, index};
use crate::tables::sorted::sort_by;
use crate::tables::{ApiRow, NO_SCOPE, NONE, ORBS_UNKNOWN, Prefix, ScopeInApiRow, ScopeRow, Tables};

use hashes::Unplaceable;

use entries::{TextPool, id, runs, set};
use literals::Literals;
use requirements::Requirements;
use routes::{closed_rows, methods, route_rows, templates_by_key, tuples};
use templates::{Scope, Templates, orbs_of_scope, terms};

/// How often all hashes are tried with new seeds. The chance that one round fails is far below one in a million.
const ROUNDS: u64 = 8;

/// Compiles a policy. The expected time and the memory are linear in the size of its templates. The search for hashes
/// is bounded. It depends on the policy's digest, so an attacker can't choose strings that defeat it.
///
/// # Errors
///
/// Fails if no hash separates the policy's strings. The chance is below 2⁻²⁰⁰.
pub fn compile(policy: &Policy) -> Result<Tables, Unplaceable> {
    let digest = policy.digest();
    let salt = digest.as_bytes().first_chunk();
    let salt = salt.map_or(0, |salt| u64::from_le_bytes(*salt));
    let mut rounds = (0..ROUNDS).map(|round| compile_once(policy, salt.wrapping_add(round)));
    rounds.find(Result::is_ok).unwrap_or(Err(Unplaceable))
}

fn compile_once(policy: &Policy, salt: u64) -> Result<Tables, Unplaceable> {
    let mut apis: Vec<_> = policy.apis().iter().collect();
    sort_by(&mut apis, |one, other| one.name().cmp(other.name()));
    let scopes = scopes_in_apis(&apis);
    let by_name: Vec<_> = scopes.chunk_by(|a, b| a.id == b.id).collect();

    let templates = Templates::of(&apis, &scopes);
    let mut text = TextPool::with_room(templates.literals.len().saturating_add(scopes.len()));
    let api_names = apis.iter().map(|api| text.span(api.name()));
    let api_rows: Vec<_> = api_names.map(|name| ApiRow { name }).collect();
    let common = templates.common_segments();
    let literals = Literals::of(salt, &templates, common, &mut text);
    let names = || by_name.iter().filter_map(|apis| Some(apis.first()?.rule.name()));
    let spans: Vec<_> = names().map(|name| text.span(name)).collect();
    let slash = policy.trailing_slash();
    let names: Vec<_> = names().map(str::as_bytes).collect();
    let mut requirements = Requirements::default();
    let routes = route_rows(&templates, &mut requirements, (&spans, &names), slash, &mut text);
    let closed = closed_rows(&templates, slash, &mut text);
    let methods = methods(&templates);
    let by_key = templates_by_key(salt, &templates, &literals, &methods)?;
    let (tuple_runs, tuples) = tuples(&templates, &literals.fields);
    let scope_rows = scope_rows(&by_name, &spans, &mut text);
    let name = policy.name().map(|name| text.span(name));
    let prefix = prefix(&templates, common, &mut text).filter(|_| literals.is_packed);
    // No path starts with this prefix, so the fast path needs no further check.
    let nothing = Prefix { head: 1, segments: id(common), ..Prefix::default() };

    Ok(Tables {
        digest: *policy.digest().as_bytes(),
        profile: policy.target(),
        name,
        trailing_slash: slash,
        prefix: prefix.unwrap_or(nothing),
        positions: literals.positions(salt, &templates)?,
        literal_rows: literals.rows.into(),
        spellings: literals.spellings.into(),
        needs_prefix: literals.is_packed,
        fields: literals.fields.into(),
        templates: by_key,
        tuple_runs: tuple_runs.into(),
        tuples: tuples.into(),
        methods,
        routes: routes.into(),
        closed: closed.into(),
        scopes: scope_rows.into(),
        scope_ids: scope_ids(salt, &names)?,
        scopes_in_apis: in_api_rows(&scopes).into(),
        scope_routes: scope_routes(&templates).into(),
        requirements: requirements.rows.into(),
        alternatives: requirements.scopes.into(),
        apis: api_rows.into(),
        headings: policy.headings().iter().map(|heading| text.span(heading)).collect::<Vec<_>>().into(),
        text: Text::Owned(text.all.into_boxed_str()),
    })
}

/// The scopes of these apis, sorted by name and then by api.
fn scopes_in_apis<'p>(apis: &[&'p Api]) -> Vec<Scope<'p>> {
    let mut scopes = Vec::new();
    for (api_id, api) in (0..).zip(apis) {
        let rules = api.scopes().iter();
        scopes.extend(rules.map(|rule| Scope { id: 0, api_id, api, rule, orbs: ORBS_UNKNOWN }));
    }
    // The sort is stable: scopes with the same name keep the order of the apis.
    sort_by(&mut scopes, |one, other| one.rule.name().cmp(other.rule.name()));
    // Rows first: `zip` stops before the id overflows after 65,535 scopes.
    for (apis, id) in scopes.chunk_by_mut(|a, b| a.rule.name() == b.rule.name()).zip(0..) {
        let orbs = orbs_of_scope(apis);
        apis.iter_mut().for_each(|scope| (scope.id, scope.orbs) = (id, orbs));
    }
    scopes
}

/// The prefix of all templates.
fn prefix(templates: &Templates<'_>, common: usize, text: &mut TextPool<'_>) -> Option<Prefix> {
    let first = templates.routes.first()?;
    let mut prefix = String::from("/");
    for segment in first.path.into_iter().flat_map(segments).take(common) {
        prefix.extend([segment, "/"]);
    }
    let (mut head, mut mask) = ([0; 16], [0; 16]);
    for ((head, mask), byte) in head.iter_mut().zip(&mut mask).zip(prefix.bytes()) {
        (*head, *mask) = (byte, u8::MAX);
    }
    Some(Prefix {
        text: text.push(&[&prefix]),
        head: u128::from_le_bytes(head),
        head_mask: u128::from_le_bytes(mask),
        tail: prefix.as_bytes().last_chunk().map_or(0, |tail| u128::from_le_bytes(*tail)),
        segments: id(common),
    })
}

/// The scopes as each api defines them. Their settings are equal in all apis, and at most one api states `permits`.
fn scope_rows<'t>(scopes: &[&[Scope<'t>]], names: &[Span], text: &mut TextPool<'t>) -> Vec<ScopeRow> {
    let apis = runs(scopes.iter().map(|apis| apis.len()));
    let rows = scopes.iter().zip(names).zip(apis);
    let rows = rows.filter_map(|((in_apis, name), apis)| {
        let first = in_apis.first()?;
        let permits = in_apis.iter().find_map(|scope| scope.rule.permits());
        Some(ScopeRow {
            terms: terms(first, *name, first.orbs),
            permits: permits.map(|permits| text.span(permits)),
            apis,
        })
    });
    rows.collect()
}

fn in_api_rows(scopes: &[Scope<'_>]) -> Vec<ScopeInApiRow> {
    let routes = runs(scopes.iter().map(|scope| scope.rule.routes().len()));
    let rows = scopes.iter().zip(routes).map(|(scope, routes)| ScopeInApiRow {
        scope: scope.id,
        api: scope.api_id,
        routes,
        location: scope.rule.location(),
    });
    rows.collect()
}

/// The ids of scopes that are sorted by name.
fn scope_ids(salt: u64, names: &[&[u8]]) -> Result<PerfectHash<u16>, Unplaceable> {
    let ids: Vec<_> = (0..NO_SCOPE).take(names.len()).collect();
    let name = |id: u16| names.get(usize::from(id)).copied().unwrap_or_default();
    hashes::perfect_hash(salt, &ids, |seed, id| seed.text(name(*id)))
}

/// The ids of the routes, in the order of the scopes and, within each scope, of the file.
fn scope_routes(templates: &Templates<'_>) -> Vec<u32> {
    let (routes, _) = templates.open_and_closed();
    let mut ids = vec![NONE; routes.len()];
    for (id, template) in (0..).zip(routes) {
        set(&mut ids, index(template.position), id);
    }
    ids
}
