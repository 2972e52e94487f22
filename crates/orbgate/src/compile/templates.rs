//! The routes of a policy with their full templates.

use std::collections::hash_map::Entry;

use super::id;
use crate::policy::{Api, RouteRule, ScopeRule, common_segments, full_template, segments};
use crate::seeded::SeededMap;
use crate::tables::{Run, slice};

/// A scope, with the id and the rule of its api.
pub(super) type ScopeOf<'p> = (u32, &'p Api, &'p ScopeRule);

/// In the segments of a template: a parameter. Literals are numbered from 1.
pub(super) const PARAMETER: u32 = 0;

/// The routes of all scopes with their full templates, sorted by shape and method.
pub(super) struct Templates<'t> {
    pub(super) routes: Vec<Template<'t>>,
    /// The literals of all templates, sorted by position and text; each one's number is its place here,
    /// from 1. So templates compare as their segments do, and a parameter comes before every literal.
    pub(super) literals: Vec<Literal<'t>>,
    /// The segments of all templates, each template's together.
    segments: Vec<u32>,
}

/// A route, its api's base path prepended.
#[derive(Clone, Copy)]
pub(super) struct Template<'t> {
    /// Its place among the routes of all scopes, in their order.
    pub(super) place: u32,
    pub(super) scope: u16,
    pub(super) rule: &'t RouteRule,
    /// `METHOD /base/path/{parameter}`.
    pub(super) text: &'t str,
    /// Where its segments stand in the list of all.
    pub(super) segments: Run,
}

/// A literal at its position.
#[derive(Clone, Copy)]
pub(super) struct Literal<'t> {
    pub(super) position: usize,
    pub(super) text: &'t str,
    /// Bit `n - 1` is set where a template of `n` segments has it.
    pub(super) lengths: u32,
}

/// `METHOD /base/path/{parameter}` of every route in the order of the scopes.
pub(super) struct Texts {
    /// End to end.
    all: String,
    /// Where each one ends.
    ends: Vec<usize>,
}

impl Texts {
    pub(super) fn of(scopes: &[ScopeOf<'_>]) -> Self {
        let base = |api: &Api| api.base_path().map_or(0, str::len);
        let rules = || {
            let scopes = scopes.iter();
            scopes.flat_map(|(_, api, scope)| scope.routes().iter().map(move |rule| (*api, rule)))
        };
        let lengths = rules().map(|(api, rule)| base(api).saturating_add(rule.text.len()));
        let mut all = String::with_capacity(lengths.sum());
        let ends = rules().map(|(api, rule)| {
            let base = api.base_path().unwrap_or_default();
            let [base, template] = full_template(base, rule.template());
            all.extend([rule.method(), " ", base, template]);
            all.len()
        });
        let ends = ends.collect();
        Self { all, ends }
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let text = self.all.get(start..*end);
            start = *end;
            text.unwrap_or_default()
        })
    }
}

impl<'t> Templates<'t> {
    /// `texts` has the routes of these scopes.
    pub(super) fn of(scopes: &[ScopeOf<'t>], texts: &'t Texts) -> Self {
        let count = texts.ends.len();
        let mut routes = Vec::with_capacity(count);
        let rules = (0..)
            .zip(scopes)
            .flat_map(|(id, (_, _, scope))| scope.routes().iter().map(move |rule| (id, rule)));
        let mut literals = Literals::default();
        let mut segments = Vec::with_capacity(count.saturating_mul(8));
        for ((place, text), (scope, rule)) in (0..).zip(texts.iter()).zip(rules) {
            let mut template = Template {
                place,
                scope,
                rule,
                text,
                segments: Run::default(),
            };
            template.segments = literals.number(template.full(), &mut segments);
            routes.push(template);
        }
        let literals = literals.sorted(&mut segments);
        Self {
            routes: sorted(&routes, &segments, literals.len()),
            literals,
            segments,
        }
    }

    /// The segments of a template: the number of a literal, or `PARAMETER`.
    pub(super) fn segments(&self, run: Run) -> &[u32] {
        slice(&self.segments, run)
    }

    /// How many literals all templates start with in common, and are not the last of any.
    pub(super) fn common_segments(&self) -> usize {
        let Some((first, others)) = self.routes.split_first() else {
            return 0;
        };
        let first = self.segments(first.segments);
        let literals = first.iter().take_while(|number| **number != PARAMETER);
        let at_most = first.len().saturating_sub(1).min(literals.count());
        others.iter().fold(at_most, |common, other| {
            let segments = self.segments(other.segments);
            let pairs = first.iter().zip(segments).take(common);
            let alike = pairs.take_while(|(a, b)| a == b).count();
            alike.min(segments.len().saturating_sub(1))
        })
    }
}

impl<'t> Template<'t> {
    /// `/base/path/{parameter}`.
    pub(super) fn full(&self) -> &'t str {
        let behind_method = self.rule.method().len().saturating_add(1);
        self.text.get(behind_method..).unwrap_or_default()
    }
}

/// Sorted by the numbers of their segments, and then by method. No two routes are equal in both.
fn sorted<'t>(routes: &[Template<'t>], segments: &[u32], literals: usize) -> Vec<Template<'t>> {
    // The first segments, as many as fit side by side into a word: few comparisons have to look further.
    let greatest = u64::from(id(literals)).saturating_add(1);
    let bits = u64::BITS.saturating_sub(greatest.leading_zeros());
    let start = |route: &Template<'_>| {
        let mut numbers = slice(segments, route.segments).iter();
        (0..u64::BITS.checked_div(bits).unwrap_or_default()).fold(0_u64, |start, _| {
            // After the last segment nothing, which is less than a parameter.
            let number = numbers.next();
            let number = number.map_or(0, |number| u64::from(*number).saturating_add(1));
            start.wrapping_shl(bits) | number
        })
    };
    let mut order: Vec<_> = routes.iter().map(|route| (start(route), route)).collect();
    order.sort_unstable_by(|(start_of_a, a), (start_of_b, b)| {
        let segments = |route: &Template<'_>| slice(segments, route.segments);
        let starts = start_of_a.cmp(start_of_b);
        let shapes = starts.then_with(|| segments(a).cmp(segments(b)));
        shapes.then_with(|| a.rule.method().cmp(b.rule.method()))
    });
    order.into_iter().map(|(_, route)| *route).collect()
}

/// Gives numbers to literals as they come.
#[derive(Default)]
struct Literals<'t> {
    all: Vec<Literal<'t>>,
    numbers: SeededMap<(u64, &'t str), u32>,
    /// The template before, and where its segments stand: routes that stand together often start alike.
    before: (&'t str, usize),
}

impl<'t> Literals<'t> {
    /// Adds a template's segments to the list of all, and says where.
    fn number(&mut self, template: &'t str, segments_of_all: &mut Vec<u32>) -> Run {
        // The root has no segment.
        let template = if template == "/" { "" } else { template };
        let start = segments_of_all.len();
        let (before, start_before) = core::mem::replace(&mut self.before, (template, start));
        let (alike, length) = common_segments(before, template);
        segments_of_all.extend_from_within(start_before..start_before.saturating_add(alike));
        let rest = segments(template.get(length..).unwrap_or_default());
        for (position, text) in (alike..).zip(rest) {
            let number = match text.starts_with('{') {
                true => PARAMETER,
                false => self.number_of(position, text),
            };
            segments_of_all.push(number);
        }
        let own = segments_of_all.get(start..).unwrap_or_default();
        let length = 1_u32.wrapping_shl(id(own.len().saturating_sub(1)));
        for number in own {
            let place = crate::hash::index(*number).checked_sub(1);
            if let Some(literal) = place.and_then(|place| self.all.get_mut(place)) {
                literal.lengths |= length;
            }
        }
        Run {
            start: id(start),
            length: id(own.len()),
        }
    }

    fn number_of(&mut self, position: usize, text: &'t str) -> u32 {
        let there = u64::from(id(position));
        match self.numbers.entry((there, text)) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(free) => {
                self.all.push(Literal {
                    position,
                    text,
                    lengths: 0,
                });
                *free.insert(id(self.all.len()))
            }
        }
    }

    /// The literals in their order, with their numbers in the list of all segments changed to it.
    fn sorted(self, segments_of_all: &mut [u32]) -> Vec<Literal<'t>> {
        let mut sorted: Vec<_> = (1..).zip(self.all).collect();
        // By the first bytes as one number: few comparisons have to look further.
        sorted.sort_by_cached_key(|(_, literal)| {
            let mut first = [0; 8];
            let bytes = first.iter_mut().zip(literal.text.bytes());
            bytes.for_each(|(first, byte)| *first = byte);
            (literal.position, u64::from_be_bytes(first), literal.text)
        });
        let mut places = vec![PARAMETER; sorted.len().saturating_add(1)];
        for (place, (number, _)) in (1..).zip(&sorted) {
            if let Some(slot) = places.get_mut(crate::hash::index(*number)) {
                *slot = place;
            }
        }
        for number in segments_of_all {
            let place = places.get(crate::hash::index(*number));
            *number = place.copied().unwrap_or_default();
        }
        sorted.into_iter().map(|(_, literal)| literal).collect()
    }
}
