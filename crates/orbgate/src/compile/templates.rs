//! The routes of a policy with their full templates.

use super::column;
use crate::policy::{Api, RouteRule, ScopeRule, full_template};
use crate::terms::{Orbs, OrganisationRule};

/// A scope, with the id and the rule of its api.
pub(super) type ScopeOf<'p> = (u32, &'p Api, &'p ScopeRule);

/// The routes of all scopes with their full templates, sorted by shape and method.
pub(super) struct Templates<'p> {
    pub(super) routes: Vec<Template<'p>>,
}

/// A route, its api's base path prepended.
pub(super) struct Template<'p> {
    pub(super) scope: u16,
    pub(super) scope_name: &'p str,
    pub(super) organisation: Option<OrganisationRule>,
    pub(super) rule: &'p RouteRule,
    pub(super) orbs: i64,
    /// `/base/path/{parameter}`.
    pub(super) full: String,
    /// Where the literals and parameters of `full` stand.
    pub(super) segments: Vec<Segment>,
}

/// A segment of a template.
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_literal: bool,
}

impl Template<'_> {
    /// The segments in order: a literal, or `None` for a parameter.
    pub(super) fn literals(&self) -> impl Iterator<Item = Option<&str>> {
        self.segments.iter().map(|segment| {
            let text = self.full.get(segment.start..segment.end);
            text.filter(|_| segment.is_literal)
        })
    }
}

impl<'p> Templates<'p> {
    pub(super) fn of(scopes: &[ScopeOf<'p>]) -> Self {
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
    pub(super) fn common_segments(&self) -> usize {
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

pub(super) fn template<'p>(
    scope: u16,
    api: &Api,
    rule: &'p ScopeRule,
    route: &'p RouteRule,
) -> Template<'p> {
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
        scope_name: rule.name(),
        organisation: api.organisation(),
        rule: route,
        orbs,
        full,
        segments,
    }
}
