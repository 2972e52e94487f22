//! The order of a decision, for every way that a target can be looked at.

use core::marker::PhantomData;

use crate::condense::Condensed;
use crate::decision::{Decision, Subject};
use crate::engine::Engine;
use crate::hash::{Method, index, method_column, method_hash};
use crate::inference;
use crate::matcher;
use crate::outline::{First, Found, Target, Tried};
use crate::reason::{Detail, Reason};
use crate::request::Request;
use crate::scan::wide::{PLACES, Steps, Wide};
use crate::scan::{Mask, Narrow, Search};
use crate::tables::{COLUMNS, NONE, Outline, Outlines, RouteRow, ScopeRow, Shape, Terms, slice};
use crate::token::{Scopes, Token, TokenKind};

impl Engine {
    /// Decides with wide registers, for targets of two lengths and tables of two depths.
    #[inline(always)]
    pub(crate) fn decide_apart(&self, wide: impl Wide, request: &Request<'_>) -> Decision<'_> {
        let is_deep = self.tables.outlines.depth > 1;
        match (request.target.len(), is_deep) {
            (1..64, false) => wide.apart(Decide::<u64, 1>(self, request, PhantomData)),
            (1..64, true) => wide.apart(Decide::<u64, 2>(self, request, PhantomData)),
            (64..128, false) => wide.apart(Decide::<u128, 1>(self, request, PhantomData)),
            (64..128, true) => wide.apart(Decide::<u128, 2>(self, request, PhantomData)),
            _ => wide.apart(DecideLong(self, request)),
        }
    }

    /// The column of a method that is common in the policy; beyond the last of any other.
    #[inline(always)]
    fn wide_column(&self, wide: impl Wide, method: &[u8]) -> usize {
        if method.len() > 7 {
            return COLUMNS;
        }
        let word = wide.word(method);
        let column = method_column(self.tables.method_factor, word);
        match self.tables.method_words.get(column) {
            Some(other) if *other == word => column,
            _ => COLUMNS,
        }
    }

    /// Decides with wide registers what is found of a target.
    #[inline(always)]
    pub(crate) fn decide_wide<'e>(
        &'e self,
        wide: impl Wide,
        request: &Request<'_>,
        found: Found<'e, Outline>,
    ) -> Decision<'e> {
        let column = self.wide_column(wide, request.method);
        if column >= COLUMNS {
            return self.decide_closer(request);
        }
        let outline = match found {
            Found::This(outline) => Some(outline),
            Found::Nothing => None,
            Found::Malformed(detail) => return Decision::malformed(self, detail),
            Found::Closer => return self.decide_closer(request),
        };
        if outline.is_some_and(|outline| outline.has_amounts) {
            return wide.rarely(DecideAmounts(self, request, outline, column));
        }
        self.decide_found(wide, request, outline, |outline| {
            // The scope's row is nearer than the route's, and has the same terms.
            let scope = outline.scopes.get(column).copied().unwrap_or_default();
            let row = self.tables.scopes.get(index(u32::from(scope)));
            let route = outline.routes.get(column).copied().unwrap_or(NONE);
            let need = row.filter(|_| route != NONE).map(|row| Need {
                route,
                ..Need::scope(scope, row)
            });
            need.ok_or(outline.first_route)
        })
    }

    /// Decides what wide registers are no help with. A call, so that it costs what is common nothing.
    #[cold]
    #[inline(never)]
    fn decide_closer(&self, request: &Request<'_>) -> Decision<'_> {
        self.decide_narrow(request)
    }

    /// Decides with the registers that every processor has.
    #[inline]
    pub(crate) fn decide_narrow(&self, request: &Request<'_>) -> Decision<'_> {
        let column = self.column(request.method);
        if column.is_none() && !is_method(request.method) {
            return Decision::malformed(self, Detail::Method);
        }
        let shape = match matcher::find(&self.tables, request.target) {
            Err(detail) => return Decision::malformed(self, detail),
            Ok(shape) => shape,
        };
        let column = |shape: &Shape| match column {
            Some(column) => shape.columns.get(usize::from(column)).copied(),
            None => self.search_method(shape, request.method),
        };
        self.decide_found(Narrow, request, shape, |shape| {
            let route = column(shape).unwrap_or(NONE);
            self.need(route).ok_or(shape.first_route)
        })
    }

    /// Decides once it is known what fits the target, if anything does, and which need its route of the
    /// method has; or one of its routes, if it has none of the method.
    #[inline(always)]
    fn decide_found<'e, S: Search, T>(
        &'e self,
        search: S,
        request: &Request<'_>,
        found: Option<T>,
        need_of: impl FnOnce(T) -> Result<Need<'e>, u32>,
    ) -> Decision<'e> {
        let token = match read_token(request.token) {
            Err(reason) => return self.deny(reason, Subject::NOTHING),
            Ok(token) => token,
        };
        match found.map(need_of) {
            None => self.deny(Reason::NoRoute, Subject::NOTHING),
            Some(Err(route)) => self.deny(Reason::MethodNotDeclared, Subject::shape(route)),
            Some(Ok(need)) => self.decide_need(search, need, token, request.allow_bonus_orbs_use),
        }
    }

    /// What a route needs.
    #[inline(always)]
    pub(crate) fn need(&self, route: u32) -> Option<Need<'_>> {
        let row = self.tables.routes.get(index(route))?;
        Some(Need::route(route, row))
    }

    /// The column of a method that is common in the policy.
    #[inline(always)]
    fn column(&self, method: &[u8]) -> Option<u8> {
        let method = Method::of(method)?;
        let methods = &self.tables.methods;
        let found = methods.probe(method_hash(methods.seed, method))?;
        // A perfect hash sends strangers to some slot: the whole method is compared.
        (found.method == method).then_some(found.column)
    }

    /// The shape's route of a method without a column.
    #[cold]
    fn search_method(&self, shape: &Shape, method: &[u8]) -> Option<u32> {
        let mut key = [0; 16];
        let letters = key.iter_mut().zip(method);
        letters.for_each(|(slot, byte)| *slot = *byte);
        let run = self.tables.shape_routes.get(index(shape.id)).copied()?;
        let routes = slice(&self.tables.routes, run);
        let at = routes.binary_search_by_key(&key, |row| row.method).ok()?;
        run.start.checked_add(u32::try_from(at).ok()?)
    }

    /// Decides what is left once a route or scope is found and the token is one: the scope.
    #[inline(always)]
    pub(crate) fn decide_need<'e, S: Search>(
        &'e self,
        search: S,
        need: Need<'e>,
        token: Token<'_>,
        allow_bonus_orbs_use: bool,
    ) -> Decision<'e> {
        match token.scopes {
            Scopes::Set(set) => {
                let held = set.holds(self.fingerprint(), need.scope);
                self.decide_held(need, token.kind, held, allow_bonus_orbs_use)
            }
            Scopes::Text(text) => search.aside(SearchText {
                engine: self,
                need,
                kind: token.kind,
                text,
                allow_bonus_orbs_use,
            }),
        }
    }

    /// Decides once it is known whether the token carries the scope.
    #[inline(always)]
    const fn decide_held(
        &self,
        need: Need<'_>,
        kind: TokenKind,
        held: bool,
        allow_bonus_orbs_use: bool,
    ) -> Decision<'_> {
        let reason = match need.terms.organisation {
            Some(rule) => inference::decide(kind, rule, held),
            None if held => Reason::ScopeHeld,
            None => Reason::ScopeMissing,
        };
        let subject = Subject {
            route: need.route,
            scope: need.scope,
            orbs: need.terms.orbs,
        };
        Decision::new(self, reason, subject, allow_bonus_orbs_use)
    }

    #[inline(always)]
    pub(crate) const fn deny(&self, reason: Reason, subject: Subject) -> Decision<'_> {
        Decision::new(self, reason, subject, false)
    }
}

/// How many times four segments below the prefix an outline has at most.
const MOST_FOURS: usize = PLACES / 4;

/// A decision with wide registers, about a target of fewer bytes than the mask has bits, and of at most so many
/// times four segments below the prefix, or it is taken again.
struct Decide<'e, 'r, M, const FOURS: usize>(&'e Engine, &'r Request<'r>, PhantomData<M>);

impl<'e, W: Wide, M: Mask, const FOURS: usize> Steps<W> for Decide<'e, '_, M, FOURS> {
    type Result = Decision<'e>;

    #[inline(always)]
    fn take(self, wide: W) -> Decision<'e> {
        let Self(engine, request, _) = self;
        let target = Target::<W, M>::of(wide, request.target);
        if target.is_odd() {
            return wide.rarely(DecideOdd::<M, FOURS>(engine, request, PhantomData));
        }
        match target.look::<FOURS>(&engine.tables.outlines) {
            First::This(outline) => engine.decide_wide(wide, request, Found::This(outline)),
            First::Nothing => engine.decide_wide(wide, request, Found::Nothing),
            First::Other(tried) => wide.rarely(DecideOther::<M, FOURS>(engine, request, tried)),
            First::Closer if FOURS < MOST_FOURS => {
                wide.rarely(Decide::<M, MOST_FOURS>(engine, request, PhantomData))
            }
            First::Closer => engine.decide_closer(request),
        }
    }
}

/// The same after a first look, which did not find it.
struct DecideOther<'e, 'r, M, const FOURS: usize>(&'e Engine, &'r Request<'r>, Tried<'e, M>);

impl<'e, W: Wide, M: Mask, const FOURS: usize> Steps<W> for DecideOther<'e, '_, M, FOURS> {
    type Result = Decision<'e>;

    #[inline(always)]
    fn take(self, wide: W) -> Decision<'e> {
        let Self(engine, request, tried) = self;
        let target = Target::<W, M>::of(wide, request.target);
        let found = target.look_on::<FOURS>(&engine.tables.outlines, &tried);
        engine.decide_wide(wide, request, found)
    }
}

/// The same about a target that is odd.
struct DecideOdd<'e, 'r, M, const FOURS: usize>(&'e Engine, &'r Request<'r>, PhantomData<M>);

impl<'e, W: Wide, M: Mask, const FOURS: usize> Steps<W> for DecideOdd<'e, '_, M, FOURS> {
    type Result = Decision<'e>;

    #[inline(always)]
    fn take(self, wide: W) -> Decision<'e> {
        let Self(engine, request, _) = self;
        let mut target = Target::<W, M>::of(wide, request.target);
        if let Some(found) = target.read_odd(engine.tables.profile) {
            return engine.decide_wide(wide, request, found);
        }
        let found = find::<W, M, FOURS>(&target, &engine.tables.outlines);
        engine.decide_wide(wide, request, found)
    }
}

/// A decision about a target of any other length.
struct DecideLong<'e, 'r>(&'e Engine, &'r Request<'r>);

impl<'e, W: Wide> Steps<W> for DecideLong<'e, '_> {
    type Result = Decision<'e>;

    #[inline(always)]
    fn take(self, wide: W) -> Decision<'e> {
        let Self(engine, request) = self;
        let outlines = &engine.tables.outlines;
        // A literal that is longer than an outline looks like a value.
        let condensed = Condensed::of(wide, request.target, outlines.lengths);
        let Some(condensed) = condensed.filter(|_| outlines.is_complete) else {
            return engine.decide_closer(request);
        };
        let target = Target::<W, u128>::of(wide, condensed.path());
        let found = find::<W, u128, MOST_FOURS>(&target, outlines);
        engine.decide_wide(wide, request, found)
    }
}

/// What is found of a target that is not odd, however many looks it takes.
#[inline(always)]
fn find<'e, W: Wide, M: Mask, const FOURS: usize>(
    target: &Target<'_, W, M>,
    outlines: &'e Outlines,
) -> Found<'e, Outline> {
    match target.look::<FOURS>(outlines) {
        First::This(outline) => Found::This(outline),
        First::Nothing => Found::Nothing,
        First::Other(tried) => target.look_on::<FOURS>(outlines, &tried),
        First::Closer => Found::Closer,
    }
}

/// What is left of a decision when an outline is found of which a route has an amount of orbs of its own.
struct DecideAmounts<'e, 'r>(&'e Engine, &'r Request<'r>, Option<&'e Outline>, usize);

impl<'e, W: Wide> Steps<W> for DecideAmounts<'e, '_> {
    type Result = Decision<'e>;

    #[inline(always)]
    fn take(self, wide: W) -> Decision<'e> {
        let Self(engine, request, outline, column) = self;
        engine.decide_found(wide, request, outline, |outline| {
            let route = outline.routes.get(column).copied().unwrap_or(NONE);
            engine.need(route).ok_or(outline.first_route)
        })
    }
}

/// What is left of a decision when the token's scopes are text.
struct SearchText<'e, 't> {
    engine: &'e Engine,
    need: Need<'e>,
    kind: TokenKind,
    text: &'t [u8],
    allow_bonus_orbs_use: bool,
}

impl<'e, S: Search> Steps<S> for SearchText<'e, '_> {
    type Result = Decision<'e>;

    #[inline(always)]
    fn take(self, search: S) -> Decision<'e> {
        let Self { engine, need, .. } = self;
        let name = engine.tables.text.bytes(need.terms.scope);
        let held = search.has_piece(self.text, name);
        engine.decide_held(need, self.kind, held, self.allow_bonus_orbs_use)
    }
}

/// The token, if it is one that can be allowed anything.
#[inline(always)]
pub(crate) fn read_token(token: Option<Token<'_>>) -> Result<Token<'_>, Reason> {
    match token {
        None => Err(Reason::NoToken),
        Some(token) if token.kind == TokenKind::Unknown => Err(Reason::InvalidToken),
        Some(token) => Ok(token),
    }
}

/// What a call needs, found by its route or its scope.
#[derive(Clone, Copy)]
pub(crate) struct Need<'e> {
    /// [`NONE`] where it was found by its scope.
    route: u32,
    scope: u16,
    terms: &'e Terms,
}

impl<'e> Need<'e> {
    #[inline(always)]
    const fn route(id: u32, row: &'e RouteRow) -> Self {
        Self {
            route: id,
            scope: row.scope,
            terms: &row.terms,
        }
    }

    #[inline(always)]
    pub(crate) const fn scope(id: u16, row: &'e ScopeRow) -> Self {
        Self {
            route: NONE,
            scope: id,
            terms: &row.terms,
        }
    }
}

/// P1: a method is 1 to 16 capital letters.
#[inline(always)]
fn is_method(method: &[u8]) -> bool {
    (1..=16).contains(&method.len()) && method.iter().all(u8::is_ascii_uppercase)
}
