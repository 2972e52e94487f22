//! A compiled policy as data. Imports nothing else of this crate.
//!
//! The same types represent an engine made at run time and one that is `static` in the program.
//! `compile` fills them, and `codegen` writes them as source.
//!
//! INVARIANT: every id in these tables indexes the table that its field names. Only `compile` makes them.

pub(crate) mod codes;
#[cfg(not(orbgate_bootstrap))] // `cargo xtask external` builds without it, because it writes it
#[rustfmt::skip]
pub(crate) mod external;
pub(crate) mod hash;
pub(crate) mod list;
pub(crate) mod reason;
pub(crate) mod route_id;
#[cfg(feature = "yaml")]
pub(crate) mod seeded;
pub mod sorted;
pub(crate) mod terms;

use hash::{COLUMNS, Ends, Methods, PerfectHash};
use list::{List, Span, Text, index};
use terms::{Location, MAX_SEGMENTS, OrganisationRule, Profile};

/// The value for "no id".
pub(crate) const NONE: u32 = u32::MAX;

/// The value for "no scope". A policy has at most 65,535 scopes, so it is never an id.
pub(crate) const NO_SCOPE: u16 = u16::MAX;

/// All tables of an engine.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// SHA-256 of the policy's canonical form.
    pub digest: [u8; 32],
    /// The accepted spellings of a target.
    pub profile: Profile,
    /// Whether all paths end in a slash.
    pub trailing_slash: bool,
    /// The policy's name.
    pub name: Option<Span>,
    /// The common prefix of all templates.
    pub prefix: Prefix,
    /// By position in a path, the literals there, as interning reads them. From the second position after the longest
    /// template on, there are no slots: such a path falls back to the slow path, and a compiled-in engine has fewer
    /// pointers to load.
    pub positions: [PerfectHash<Literal>; MAX_SEGMENTS],
    /// More data about the literals, by their ids.
    pub literal_rows: List<LiteralRow>,
    /// How the templates spell their literals.
    pub spellings: List<Spelling>,
    /// Whether a path without the prefix fits no template. True if literals at different positions have separate bits
    /// in a key, so that a key identifies its literals exactly.
    pub needs_prefix: bool,
    /// By position, the bits of a key that belong to the literals there.
    pub fields: List<u64>,
    /// The templates, by their keys.
    pub templates: PerfectHash<Template>,
    /// By number of segments, the run of tuples of that length.
    pub tuple_runs: List<Run>,
    /// The tuples. Those with the same number of segments are neighbours, the most specific first (rule P20).
    pub tuples: List<Tuple>,
    /// The methods that have a column.
    pub methods: Methods,
    /// The routes. Those of one template are neighbours, sorted by method.
    pub routes: List<RouteRow>,
    /// The closed templates. Their ids count on from that of the last route.
    pub closed: List<ClosedRow>,
    /// The scopes, sorted by name.
    pub scopes: List<ScopeRow>,
    /// Scope ids by name. Used once for each scope of a token, not in decisions.
    pub scope_ids: PerfectHash<u16>,
    /// The scopes as each api defines them, sorted by name and then by api.
    pub scopes_in_apis: List<ScopeInApiRow>,
    /// The ids of the routes of each scope in each api, in the order of the file.
    pub scope_routes: List<u32>,
    /// What some routes need instead of one scope: runs of the next table.
    pub requirements: List<Run>,
    /// The scopes of the requirements, with `NO_SCOPE` between two alternatives. The owner's alternative comes first, and
    /// begins with the owner.
    pub alternatives: List<u16>,
    /// The apis, sorted by name.
    pub apis: List<ApiRow>,
    /// Scope groups without routes, in the order of the file.
    pub headings: List<Span>,
    /// Names and templates, end to end.
    pub text: Text,
}

impl Tables {
    /// The digest's first half, which marks ids and scope sets with the policy that they belong to.
    #[inline(always)]
    pub(crate) const fn policy_id(&self) -> u128 {
        match self.digest.first_chunk() {
            Some(half) => u128::from_ne_bytes(*half),
            None => 0,
        }
    }

    /// The closed template with this id.
    pub(crate) fn closed(&self, id: u32) -> Option<&ClosedRow> {
        self.closed.get(index(id).checked_sub(self.routes.len())?)
    }

    /// What a token needs under these terms instead of one scope, as in [`Tables::alternatives`]; empty if it is one scope.
    pub(crate) fn requirement(&self, terms: &Terms) -> &[u16] {
        let alternatives = self.requirements.get(index(terms.requirement));
        slice(&self.alternatives, alternatives.copied().unwrap_or_default())
    }

    /// The template of a route, or the closed template, with this id.
    pub(crate) fn template_text(&self, id: u32) -> Option<Span> {
        let of_route = self.routes.get(index(id)).map(|row| row.template);
        of_route.or_else(|| Some(self.closed(id)?.template))
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
    /// The start.
    pub start: u32,
    /// The number of entries.
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

/// The leading segments that all templates share, all of them literals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefix {
    /// `/base/path/`, including the slash after it.
    pub text: Span,
    /// The first 16 bytes of the string, padded with zeros.
    pub head: u128,
    /// A mask of the bytes that `head` covers.
    pub head_mask: u128,
    /// The last 16 bytes of the string, if it has that many.
    pub tail: u128,
    /// The number of segments.
    pub segments: u32,
}

/// A literal at its position, as interning reads it. Spellings in different letter case are one literal.
#[derive(Clone, Copy, Debug)]
pub struct Literal {
    /// Its part: the key of a template is the sum of the parts of its literals.
    pub part: u64,
    /// The ends of its spelling, perhaps with `COMPARE_TEXT` set in the head.
    pub ends: Ends,
    /// Its length in bytes. An unused slot has a length that no segment has.
    pub length: u32,
    /// Its id, which indexes [`Tables::literal_rows`].
    pub id: u32,
}

/// The bits of a key that count the segments.
pub(crate) const COUNT: u64 = 0x3f;

impl Default for Literal {
    fn default() -> Self {
        Self { part: 0, ends: Ends::default(), length: NONE, id: NONE }
    }
}

/// More data about a literal.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiteralRow {
    /// As in [`Literal::part`].
    pub part: u64,
    /// Its spellings, in [`Tables::spellings`]; nearly always one.
    pub spellings: Run,
    /// The number of literals, from this one on, that have the same position, length and ends without regard to
    /// case. They are sorted by their lower-case strings.
    pub alike: u32,
}

/// A spelling of a literal in the templates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelling {
    /// The string.
    pub text: Span,
    /// Bit `n - 1` is set if a template of `n` segments has this spelling here.
    pub lengths: u32,
}

/// A set of positions that are literal in some template of one length (tuple space search: Srinivasan,
/// Suri and Varghese, 1999).
#[derive(Clone, Copy, Debug)]
pub struct Tuple {
    /// Bit `n` is set if segment `n` is a literal.
    pub literals: u32,
    /// The bits of a key that belong to the literals there.
    pub fields: u64,
}

/// A path template, found by its key. A decision reads only this row, which is half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Template {
    /// The sum of its number of segments and the parts of its literals. No two templates have the same key. An unused
    /// slot has a key that no path has.
    pub key: u64,
    /// The first of its routes in [`Tables::routes`]; of a closed template, its own id.
    pub first_route: u32,
    /// Four bits per column, the first column lowest: the number of routes before that method's route, or 15
    /// if the method isn't declared or if more routes come before it than fit.
    pub ranks: u32,
    /// For each column, the scope of that method's route. [`u16::MAX`] if there is no route, or if a call of it consumes
    /// other orbs than a call by scope, or needs more or other than the scope.
    pub scopes: [u16; COLUMNS],
}

/// The rank that means "no route in this column".
pub(crate) const NO_RANK: u32 = 0xf;

/// The position of a column's rank.
#[inline(always)]
#[allow(clippy::as_conversions, reason = "a column is less than 8")]
pub(crate) const fn rank_bits(column: usize) -> u32 {
    (column as u32).wrapping_mul(4)
}

impl Template {
    /// The route in a column, and its scope.
    #[inline(always)]
    pub(crate) fn column(&self, column: usize) -> (Option<u32>, u16) {
        let rank = self.ranks.wrapping_shr(rank_bits(column)) & NO_RANK;
        let route = (rank != NO_RANK).then(|| self.first_route.wrapping_add(rank));
        (route, self.scopes.get(column).copied().unwrap_or(NO_SCOPE))
    }
}

impl Default for Template {
    fn default() -> Self {
        Self { key: u64::MAX, first_route: NONE, ranks: u32::MAX, scopes: [NO_SCOPE; COLUMNS] }
    }
}

/// A route: method and path template.
#[derive(Clone, Copy, Debug)]
pub struct RouteRow {
    /// `METHOD /full/template`.
    pub text: Span,
    /// Only the template.
    pub template: Span,
    /// All routes of its template, including this one.
    pub siblings: Run,
    /// The scope that owns it, plus 65,536 if that isn't what it needs.
    pub needed: u32,
    /// Its api.
    pub api: u32,
    /// The terms of that scope, with the route's own orbs if it has any.
    pub terms: Terms,
    /// Its location in the policy file.
    pub location: Location,
}

/// A closed template: it declares no method.
#[derive(Clone, Copy, Debug)]
pub struct ClosedRow {
    /// The template.
    pub template: Span,
    /// Its api.
    pub api: u32,
    /// Its location in the policy file.
    pub location: Location,
}

/// The scope in such a number: [`RouteRow::needed`].
#[inline(always)]
#[allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "the mark is above the id")]
pub(crate) const fn scope_in(needed: u32) -> u16 {
    needed as u16
}

/// The terms on which a call is allowed, and what it consumes.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The scope that a token needs; empty if there is a requirement.
    pub scope: Span,
    /// What an organisation's token gets, if the scope applies only to a user's token.
    pub organisation: Option<OrganisationRule>,
    /// What a token needs instead of one scope, in [`Tables::requirements`]; `NONE` for nearly all routes.
    pub requirement: u32,
    /// The orbs that a call consumes: an amount, 0 for nothing, or one of the two constants below.
    pub orbs: i64,
}

/// A scope.
#[derive(Clone, Copy, Debug)]
pub struct ScopeRow {
    /// The part that decisions read, with the orbs of a call by scope.
    pub terms: Terms,
    /// The permitted action, if the policy states one.
    pub permits: Option<Span>,
    /// The apis that have it, in [`Tables::scopes_in_apis`]; nearly always one.
    pub apis: Run,
}

/// A scope as one api defines it.
#[derive(Clone, Copy, Debug)]
pub struct ScopeInApiRow {
    /// The scope.
    pub scope: u16,
    /// The api.
    pub api: u32,
    /// The scope's routes in this api, in [`Tables::scope_routes`].
    pub routes: Run,
    /// The location of the scope's name in this api in the policy file.
    pub location: Location,
}

/// Orbs are consumed, but the amount isn't stated.
pub(crate) const ORBS_UNSTATED: i64 = -1;

/// The policy doesn't state the orbs of a call by scope.
pub(crate) const ORBS_UNKNOWN: i64 = i64::MIN;

/// An api.
#[derive(Clone, Copy, Debug)]
pub struct ApiRow {
    /// Its name.
    pub name: Span,
}
