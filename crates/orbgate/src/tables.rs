//! A compiled policy as data. The same types hold an engine made at run time and one that is
//! `static` in the program; `compile` fills them and `codegen` writes them out.
//!
//! INVARIANT: every id in these tables indexes the table it names. Only `compile` makes them.

use crate::hash::{DisplacedHash, HINTS, Method, PerfectHash};
use crate::list::{List, Span, Text};
use crate::terms::{OrganisationRule, Place, Profile};

/// No such id.
pub(crate) const NONE: u32 = u32::MAX;

/// Everything an engine knows.
#[derive(Debug)]
pub struct Tables {
    /// SHA-256 of the policy's canonical form.
    pub digest: [u8; 32],
    /// Which spellings of a target are accepted.
    pub profile: Profile,
    /// The policy's name.
    pub name: Option<Span>,
    /// What all templates start with.
    pub prefix: Prefix,
    /// The literals of all templates, each with its position in the path: what a lookup reads.
    pub words: PerfectHash<Word>,
    /// The rest about the words, by symbol; symbol 0 is no word.
    pub word_rows: List<WordRow>,
    /// Literals that share the slot of another word: see [`WordRow::others`].
    pub others: List<OtherWord>,
    /// By the position below the prefix: the bits in a key of the words there.
    pub position_shares: List<u64>,
    /// By the number of segments below the prefix: the bits in a key of the words at positions where a
    /// template of so many has a parameter. Only such a word can be taken for a parameter's value.
    pub parameter_shares: List<u64>,
    /// The shapes of all templates, by their keys.
    pub shapes: PerfectHash<Shape>,
    /// The same shapes by what they look like without the values of parameters.
    pub outlines: Outlines,
    /// The same shapes as a tree, for paths that a key does not settle. The root is first.
    pub nodes: List<Node>,
    /// The tree's literal branches; those of one node stand together, sorted by symbol.
    pub edges: List<Edge>,
    /// The columns of [`Shape::columns`].
    pub methods: PerfectHash<MethodColumn>,
    /// What the word of a method is multiplied with: the highest bits are its column.
    pub method_factor: u64,
    /// The methods of the columns in one word each: their letters, and their length on top.
    pub method_words: [u64; COLUMNS],
    /// Where the routes of each shape stand in `routes`, by shape id.
    pub shape_routes: List<Run>,
    /// The routes; those of one shape stand together, sorted by method.
    pub routes: List<RouteRow>,
    /// The scopes, sorted by name.
    pub scopes: List<ScopeRow>,
    /// Scope ids by name.
    pub scope_ids: PerfectHash<u16>,
    /// The ids of the routes of each scope, in the order of the file.
    pub scope_routes: List<u32>,
    /// The apis, sorted by name.
    pub apis: List<ApiRow>,
    /// Scope groups without routes, in the order of the file.
    pub headings: List<Span>,
    /// Names and templates, end to end.
    pub text: Text,
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
    let start = crate::hash::index(run.start);
    items
        .get(start..start.saturating_add(crate::hash::index(run.length)))
        .unwrap_or_default()
}

/// The segments that all templates start with: literals, and as many as there are in common.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefix {
    /// `/base/path`, or nothing.
    pub text: Span,
    /// Its first 8 bytes, as the hash reads them.
    pub first: u64,
    /// Its last 8 bytes.
    pub last: u64,
    /// How many segments it has.
    pub segments: u32,
    /// The bits in a key of the words right after it; all bits where a template has a parameter there.
    pub first_share: u64,
}

/// A literal at a position of a path, as a lookup reads it.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Its first 8 bytes, as the hash reads them.
    pub first: u64,
    /// Its last 8 bytes.
    pub last: u64,
    /// Its share of the key of every shape that has it.
    pub key: u64,
    /// Its length and position, as the hash has them, and perhaps `CLOSER`. A slot that no word owns
    /// has one of no word.
    pub tag: u32,
    /// What stands for it in the tree: the same for every spelling that differs only in case; never 0.
    pub symbol: u32,
}

/// The bits of a key that count the segments below the prefix.
pub(crate) const COUNT: u64 = 0x3f;

/// In a word's tag: equal ends are not enough, because the word has more than 16 bytes or another word
/// shares its slot. So the tag equals none that a lookup makes.
pub(crate) const CLOSER: u32 = 1 << 31;

impl Default for Word {
    fn default() -> Self {
        Self {
            first: 0,
            last: 0,
            key: 0,
            tag: NONE,
            symbol: 0,
        }
    }
}

/// The rest about a word.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordRow {
    /// The whole of it.
    pub text: Span,
    /// Bit `n - 1` is set where a template of `n` segments has it here.
    pub lengths: u32,
    /// Other words at this position that the hash cannot tell from it, in [`Tables::others`]: spellings
    /// that differ only in case, and long ones that differ in the middle.
    pub others: Run,
}

/// A further word in the slot of a word.
#[derive(Clone, Copy, Debug)]
pub struct OtherWord {
    /// As in [`WordRow::text`].
    pub text: Span,
    /// As in [`WordRow::lengths`].
    pub lengths: u32,
    /// As in [`Word::symbol`].
    pub symbol: u32,
}

/// How many methods have a column in a shape. A policy with more is legal; its rarer ones are searched.
pub(crate) const COLUMNS: usize = 8;

/// A method that has a column.
#[derive(Clone, Copy, Debug, Default)]
pub struct MethodColumn {
    /// The method.
    pub method: Method,
    /// Its column in [`Shape::columns`].
    pub column: u8,
}

/// The shape of one or more templates: which literal or parameter at each position.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The shares of its words and of its length: no two shapes have the same. A slot that no shape
    /// owns has one that no path has.
    pub key: u64,
    /// Its id, or [`u32::MAX`] in a slot that no shape owns.
    pub id: u32,
    /// Its first route.
    pub first_route: u32,
    /// For each column, the route of that method, or [`u32::MAX`].
    pub columns: [u32; COLUMNS],
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            key: u64::MAX,
            id: NONE,
            first_route: 0,
            columns: [NONE; COLUMNS],
        }
    }
}

/// The outlines of all templates of up to 16 segments below the prefix and 63 bytes of literals and slashes.
#[derive(Debug)]
pub struct Outlines {
    /// By the highest bits of a segment's hint: the positions below the prefix where a literal has it, as
    /// bits. One table, of a size that the compiler knows.
    pub hints: List<[u16; HINTS]>,
    /// How many segments below the prefix any of the templates has, in fours.
    pub depth: u32,
    /// The bytes of a target that can be slashes below the prefix.
    pub below: [u64; 2],
    /// The lengths that literals have, as bits; longer ones than 63 bytes are in no outline.
    pub lengths: u64,
    /// By the number of segments below the prefix.
    pub variants: List<Variants>,
    /// The outlines, found by the hints of their words.
    pub rows: DisplacedHash<Outline>,
    /// Outlines that have the same hints as one of these, found by their whole text without regard to case.
    pub others: DisplacedHash<Outline>,
    /// Whether every template has an outline here: one that is too long has none, nor has one of too many segments, nor
    /// those whose digests are equal.
    pub is_complete: bool,
}

/// Where the templates of so many segments have parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variants {
    /// The positions, as bits, the most specific first; 0 after the last.
    pub parameters: [u16; 16],
    /// Whether there are more than are listed.
    pub are_more: bool,
}

/// A template with its parameters left out. Its text is never across two lines of a cache, which would be
/// slower to read.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Outline {
    /// The literals and all slashes; zeros after the last.
    pub text: [u8; 64],
    /// As in [`Shape::columns`].
    pub routes: [u32; COLUMNS],
    /// The scopes that these need, here so that they need not be looked for; 0 where there is no route.
    pub scopes: [u16; COLUMNS],
    /// As in [`Shape::first_route`].
    pub first_route: u32,
    /// Whether a route has an amount of orbs of its own.
    pub has_amounts: bool,
    /// Whether no other has the same hints.
    pub is_alone: bool,
}

impl Default for Outline {
    fn default() -> Self {
        Self {
            text: [0; 64],
            routes: [NONE; COLUMNS],
            scopes: [0; COLUMNS],
            first_route: 0,
            has_amounts: false,
            is_alone: true,
        }
    }
}

/// A place in the tree of shapes.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its literal branches, in [`Tables::edges`].
    pub edges: Run,
    /// Where a parameter leads, or [`u32::MAX`].
    pub parameter: u32,
    /// The slot of the shape that ends here, or [`u32::MAX`].
    pub shape: u32,
}

/// A literal branch of the tree of shapes.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The literal's symbol.
    pub symbol: u32,
    /// Where it leads.
    pub node: u32,
    /// The literal as this template spells it.
    pub text: Span,
}

/// A route: method and path template.
#[derive(Clone, Copy, Debug)]
pub struct RouteRow {
    /// The method's bytes, padded with zeros.
    pub method: [u8; 16],
    /// `METHOD /full/template`.
    pub text: Span,
    /// The template alone.
    pub template: Span,
    /// The scope it needs.
    pub scope: u16,
    /// That scope's terms, but for an amount of the route's own.
    pub terms: Terms,
    /// Where it stands in the policy file.
    pub place: Place,
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
    /// Its api.
    pub api: u32,
    /// Its routes, in [`Tables::scope_routes`].
    pub routes: Run,
    /// Where its name stands in the policy file.
    pub place: Place,
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
