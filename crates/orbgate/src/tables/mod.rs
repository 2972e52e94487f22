//! A compiled policy as data. It imports nothing of ours.
//!
//! The same types hold an engine made at run time and one that is
//! `static` in the program; `compile` fills them and `codegen` writes them out.
//!
//! INVARIANT: every id in these tables indexes the table it names. Only `compile` makes them.

pub(crate) mod codes;
#[cfg(not(orbgate_bootstrap))] // as `cargo xtask external` builds, which writes it
#[rustfmt::skip]
pub(crate) mod external;
pub(crate) mod hash;
pub(crate) mod list;
pub(crate) mod reason;
pub(crate) mod route_id;
#[cfg(feature = "yaml")]
pub(crate) mod seeded;
pub(crate) mod terms;

use hash::{COLUMNS, Ends, Methods, PerfectHash};
use list::{List, Span, Text, index};
use terms::{Location, MAX_SEGMENTS, OrganisationRule, Profile};

/// No such id.
pub(crate) const NONE: u32 = u32::MAX;

/// No scope. A policy has at most 65,535 of them, so this is never an id.
pub(crate) const NO_SCOPE: u16 = u16::MAX;

/// Everything an engine knows.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// SHA-256 of the policy's canonical form.
    pub digest: [u8; 32],
    /// Which spellings of a target are accepted.
    pub profile: Profile,
    /// Whether all paths end in a slash.
    pub trailing_slash: bool,
    /// The policy's name.
    pub name: Option<Span>,
    /// What all templates start with.
    pub prefix: Prefix,
    /// The same if all paths end in a slash and the fast path can be taken. Then no path starts with `prefix`.
    pub slashed: Option<Prefix>,
    /// By position in a path: the literals there, as interning a segment reads them. From the second position after the longest
    /// template on there are no slots: such a path takes the slow way, and a program has fewer pointers to load.
    pub positions: [PerfectHash<Literal>; MAX_SEGMENTS],
    /// The rest about the literals, by their ids.
    pub literal_rows: List<LiteralRow>,
    /// How the templates spell their literals.
    pub spellings: List<Spelling>,
    /// Whether no template fits a path that does not start with the prefix: the literals of all positions have bits of their own in a
    /// key, so a key says exactly which literals it has, and paths do not end in a slash.
    pub needs_prefix: bool,
    /// By position: the bits in a key of the literals there.
    pub fields: List<u64>,
    /// The templates, by their keys.
    pub templates: PerfectHash<Template>,
    /// By number of segments: where the tuples of that length are.
    pub tuple_runs: List<Run>,
    /// The tuples; those of one number of segments are neighbours, the most specific first (rule P20).
    pub tuples: List<Tuple>,
    /// The methods that have a column.
    pub methods: Methods,
    /// The routes; those of one template are neighbours, sorted by method.
    pub routes: List<RouteRow>,
    /// The scopes, sorted by name.
    pub scopes: List<ScopeRow>,
    /// Scope ids by name. Looked up once for each scope of a token, not in decisions.
    pub scope_ids: PerfectHash<u16>,
    /// The scopes as each of their apis has them, sorted by name and by api.
    pub scopes_in_apis: List<ScopeInApiRow>,
    /// The ids of the routes of each scope in each api, in the order of the file.
    pub scope_routes: List<u32>,
    /// The apis, sorted by name.
    pub apis: List<ApiRow>,
    /// Scope groups without routes, in the order of the file.
    pub headings: List<Span>,
    /// Names and templates, end to end.
    pub text: Text,
}

impl Tables {
    /// The digest's first half: it marks ids and scope sets, to tell which policy they belong to.
    #[inline(always)]
    pub(crate) const fn policy_id(&self) -> u128 {
        match self.digest.first_chunk() {
            Some(half) => u128::from_ne_bytes(*half),
            None => 0,
        }
    }

    /// The method of a route.
    pub(crate) fn method(&self, row: &RouteRow) -> &str {
        let text = self.text.get(row.text);
        text.split_once(' ').map_or("", |(method, _)| method)
    }
}

/// A run of entries of another table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Where it starts.
    pub start: u32,
    /// How many entries it has.
    pub length: u32,
}

/// The entries of a run.
#[inline(always)]
pub(crate) fn slice<T>(items: &[T], run: Run) -> &[T] {
    let start = index(run.start);
    let items = items.get(start..start.saturating_add(index(run.length)));
    debug_assert!(items.is_some(), "a run of another table");
    items.unwrap_or_default()
}

/// The segments that all templates start with: literals, and as many as there are in common.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefix {
    /// `/base/path/`, with the slash after it.
    pub text: Span,
    /// Its first 16 bytes; zeros after its end.
    pub head: u128,
    /// All bits of the bytes that `head` has.
    pub head_mask: u128,
    /// Its last 16 bytes, where it has as many.
    pub tail: u128,
    /// How many segments it has.
    pub segments: u32,
}

/// A literal at its position, as interning reads it: letters of either case are one literal.
#[derive(Clone, Copy, Debug)]
pub struct Literal {
    /// What the key of a template that has it here is the sum of.
    pub part: u64,
    /// Its ends as it is spelt, and perhaps `COMPARE_TEXT` in its head.
    pub ends: Ends,
    /// Its length in bytes. A slot that no literal owns has one of no segment.
    pub length: u32,
    /// Its id, which indexes [`Tables::literal_rows`].
    pub id: u32,
}

/// The bits of a key that count segments.
pub(crate) const COUNT: u64 = 0x3f;

impl Default for Literal {
    fn default() -> Self {
        Self {
            part: 0,
            ends: Ends::default(),
            length: NONE,
            id: NONE,
        }
    }
}

/// The rest about a literal.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiteralRow {
    /// As in [`Literal::part`].
    pub part: u64,
    /// How templates spell it, in [`Tables::spellings`]: nearly always in one way.
    pub spellings: Run,
    /// How many literals from this one on have the same ends, length and position without regard to case. They are
    /// sorted by their text in small letters.
    pub alike: u32,
}

/// A literal as templates spell it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelling {
    /// Its text.
    pub text: Span,
    /// Bit `n - 1` is set where a template of `n` segments has it here.
    pub lengths: u32,
}

/// The segments of a template that are literals, as templates of one length have them (tuple space search:
/// Srinivasan, Suri and Varghese, 1999).
#[derive(Clone, Copy, Debug)]
pub struct Tuple {
    /// Bit `n` is set where segment `n` is a literal.
    pub literals: u32,
    /// The bits in a key of the literals there.
    pub fields: u64,
}

/// A path template, found by its key: what a decision reads, half a line of a cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Template {
    /// The number of its segments and the parts of its literals: no two templates have the same. A slot that no template owns has one that no path has.
    pub key: u64,
    /// The first of its routes in [`Tables::routes`].
    pub first_route: u32,
    /// For each column four bits, the lowest ones for the first: how many routes come before that method's, or
    /// 15 where none is declared, or too many come before it.
    pub ranks: u32,
    /// For each column the scope of that method's route; [`u16::MAX`] where there is no route, or one with an amount of orbs
    /// of its own.
    pub scopes: [u16; COLUMNS],
}

/// No rank.
pub(crate) const NO_RANK: u32 = 0xf;

/// Where the bits of a column's rank are.
#[inline(always)]
#[allow(clippy::as_conversions, reason = "a column is less than 8")]
pub(crate) const fn rank_bits(column: usize) -> u32 {
    (column as u32).wrapping_mul(4)
}

impl Template {
    /// The route of a column and its scope.
    #[inline(always)]
    pub(crate) fn column(&self, column: usize) -> (Option<u32>, u16) {
        let rank = self.ranks.wrapping_shr(rank_bits(column)) & NO_RANK;
        let route = (rank != NO_RANK).then(|| self.first_route.wrapping_add(rank));
        (route, self.scopes.get(column).copied().unwrap_or(NO_SCOPE))
    }
}

impl Default for Template {
    fn default() -> Self {
        Self {
            key: u64::MAX,
            first_route: NONE,
            ranks: u32::MAX,
            scopes: [NO_SCOPE; COLUMNS],
        }
    }
}

/// A route: method and path template.
#[derive(Clone, Copy, Debug)]
pub struct RouteRow {
    /// `METHOD /full/template`.
    pub text: Span,
    /// The template alone.
    pub template: Span,
    /// The routes of its template, which it is one of.
    pub siblings: Run,
    /// The scope it needs.
    pub scope: u16,
    /// Its api.
    pub api: u32,
    /// That scope's terms, except for an amount of the route's own.
    pub terms: Terms,
    /// Where it is in the policy file.
    pub location: Location,
}

/// On which terms a call is allowed, and what it consumes.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The scope token that it needs.
    pub scope: Span,
    /// What an organisation's token gets, where the scope applies only to a user's token.
    pub organisation: Option<OrganisationRule>,
    /// What a call consumes: an amount, 0 for nothing, or one of the two constants below.
    pub orbs: i64,
}

/// A scope.
#[derive(Clone, Copy, Debug)]
pub struct ScopeRow {
    /// What a decision about it reads.
    pub terms: Terms,
    /// The permitted action, where the policy states one.
    pub permits: Option<Span>,
    /// The apis that have it, in [`Tables::scopes_in_apis`]: nearly always one.
    pub apis: Run,
}

/// A scope as one api has it.
#[derive(Clone, Copy, Debug)]
pub struct ScopeInApiRow {
    /// The scope.
    pub scope: u16,
    /// The api.
    pub api: u32,
    /// The scope's routes in this api, in [`Tables::scope_routes`].
    pub routes: Run,
    /// Where the scope's name is in the policy file, in this api.
    pub location: Location,
}

/// Orbs are consumed; how many is not stated.
pub(crate) const ORBS_UNSTATED: i64 = -1;

/// The policy states no orb column.
pub(crate) const ORBS_UNKNOWN: i64 = i64::MIN;

/// An api.
#[derive(Clone, Copy, Debug)]
pub struct ApiRow {
    /// Its name.
    pub name: Span,
}
