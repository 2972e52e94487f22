//! A compiled policy as data. The same types hold an engine made at run time and one that is
//! `static` in the program; `compile` fills them and `codegen` writes them out.
//!
//! INVARIANT: every id in these tables indexes the table it names. Only `compile` makes them.

use crate::hash::PerfectHash;
use crate::list::{List, Span, Text};
use crate::terms::{OrganisationRule, Place, Profile};

/// Most segments of a path (rule P2).
pub(crate) const MAX_SEGMENTS: usize = 32;

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
    /// The literals of all templates, each with its position in the path.
    pub words: PerfectHash<Word>,
    /// Spellings of literals that differ in case from one at the same position elsewhere. Sorted by symbol.
    pub variants: List<Variant>,
    /// The shapes of all templates, by their symbols.
    pub shapes: PerfectHash<Shape>,
    /// The symbols of the shapes, end to end.
    pub symbols: List<u32>,
    /// The same shapes as a tree, for paths whose parameters equal words. The root is first.
    pub nodes: List<Node>,
    /// The tree's literal branches; those of one node stand together, sorted by symbol.
    pub edges: List<Edge>,
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

/// A literal at a position of a path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    /// Its first 8 bytes, as the hash reads them.
    pub first: u64,
    /// Its last 8 bytes.
    pub last: u64,
    /// The whole of it.
    pub text: Span,
    /// What stands for it in a shape: the same for every spelling that differs only in case; never 0.
    /// A slot that no word owns has 0.
    pub symbol: u32,
    /// Bit `n - 1` is set where a template of `n` segments has it here.
    pub lengths: u32,
    /// Its position, from 0.
    pub position: u8,
    /// Whether another spelling that differs only in case stands at this position elsewhere.
    pub has_variants: bool,
}

/// A further spelling of a word at its position.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The word's symbol.
    pub symbol: u32,
    /// The spelling.
    pub text: Span,
    /// As in [`Word::lengths`].
    pub lengths: u32,
}

/// The shape of one or more templates: a symbol for each literal, 0 for each parameter.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its symbols, in [`Tables::symbols`].
    pub symbols: Run,
    /// Its id, or [`u32::MAX`] in a slot that no shape owns.
    pub id: u32,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            symbols: Run::default(),
            id: NONE,
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
    /// The shape that ends here, or [`u32::MAX`].
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
    /// What a call consumes, as in [`ScopeRow::orbs`].
    pub orbs: i64,
    /// The scope it needs.
    pub scope: u16,
    /// Where it stands in the policy file.
    pub place: Place,
}

/// A scope.
#[derive(Clone, Copy, Debug)]
pub struct ScopeRow {
    /// The scope token.
    pub name: Span,
    /// The permitted action, where the policy states one.
    pub permits: Option<Span>,
    /// Its api.
    pub api: u32,
    /// What a call consumes: an amount, 0 for nothing, or one of the two constants below.
    pub orbs: i64,
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
    /// The path before its routes, where the policy states one.
    pub base_path: Option<Span>,
    /// What an organisation's token gets, where the api's scopes apply only to a user's token.
    pub organisation: Option<OrganisationRule>,
}
