//! Request → decision, in one order. This module doesn't know about policies.

pub(crate) mod decision;
mod inference;
#[cfg(feature = "serde")]
mod json;
pub(crate) mod lookup;
pub(crate) mod request;
pub(crate) mod scopes;
mod target;
pub(crate) mod token;
pub(crate) mod vector;

use crate::tables::list::index;
use crate::tables::reason::{Detail, Reason};
use crate::tables::terms::{MAX_TARGET_BYTES, is_method};
use crate::tables::{NONE, Tables, Template, Terms, scope_in, slice};
use decision::{Decision, Denial, Subject};
use lookup::Found;
use request::Request;
use target::Path;
use token::{Token, read_token};

impl Tables {
    /// Decides after the fast path has read the target: see [`Engine::decide`](crate::Engine::decide).
    #[inline(always)]
    pub(crate) fn decide_found<'e>(&'e self, request: &Request<'_>, found: Found<'e>) -> Decision<'e> {
        let token = read_token(request.token.as_ref());
        let column = self.methods.column(request.method);
        let is_short = request.target.len() <= MAX_TARGET_BYTES;
        let need = match (column, token, found) {
            (Some(column), Ok(_), Found::Template(template)) if is_short => self.need_of(template, column),
            // The most common denial.
            (Some(_), Ok(_), Found::Nothing) if is_short => {
                return self.without_charge(Reason::NoRoute, Subject::NOTHING);
            }
            _ => None,
        };
        let need = match need {
            Some(need) => Some(need),
            None => match self.find_route_slowly(&request.copy(), found, column.is_some()) {
                Ok(route) => self.need(route),
                Err(denial) => return Decision::denied(self, denial),
            },
        };
        match (need, token) {
            (Some(need), Ok(token)) => self.decide_need(need, token, request.allow_bonus_orbs_use),
            (_, Err(reason)) => self.without_charge(reason, Subject::NOTHING),
            (None, _) => self.without_charge(Reason::NoRoute, Subject::NOTHING),
        }
    }

    /// The scope and terms of the route in a column.
    #[inline(always)]
    fn need_of(&self, template: &Template, column: usize) -> Option<Need<'_>> {
        let (route, scope) = template.column(column);
        // The scope's row is likelier to be cached than the route's, and has the same terms.
        match self.scopes.get(usize::from(scope)) {
            Some(row) => Some(Need { route: route?, needed: u32::from(scope), terms: &row.terms }),
            None => self.need(route?),
        }
    }

    /// The route of a request that the fast path can't decide, or the reason to deny it. Tries every rule, in order. A
    /// template that was already found is not looked up again, because a caller could otherwise double the cost by
    /// choosing a method without a column. Doesn't return a [`Decision`], because callers would then have to keep it in
    /// memory.
    #[cold]
    #[inline(never)]
    fn find_route_slowly<'e>(
        &'e self,
        request: &Request<'_>,
        mut found: Found<'e>,
        has_column: bool,
    ) -> Result<u32, Denial> {
        if !has_column && !is_method(request.method) {
            return Err(Denial::malformed(Detail::Method));
        }
        if matches!(found, Found::Unknown) || request.target.len() > MAX_TARGET_BYTES {
            let mut path = Path::default();
            found = match target::read(request.target, self.profile, self.trailing_slash, &mut path) {
                Ok(()) if path.lacks_slash => Found::Nothing,
                Ok(()) => lookup::find_exactly(self, &path),
                Err(detail) => return Err(Denial::malformed(detail)),
            };
        }
        let template = match found {
            Found::Template(template) => Some(template),
            _ => None,
        };
        let route = template.and_then(|template| self.find_route_of(template, request.method));
        match (read_token(request.token.as_ref()), found, route) {
            // The denial doesn't name the route, because the caller must not learn it.
            (Err(reason), ..) => Err(Denial::about(reason, route.unwrap_or(NONE))),
            (Ok(_), Found::Template(_), Some(route)) => Ok(route),
            (Ok(_), Found::Template(template), None) => Err(Denial::method(template.first_route)),
            (Ok(_), Found::Refused(detail), _) => Err(Denial::malformed(detail)),
            (Ok(_), ..) => Err(Denial::about(Reason::NoRoute, NONE)),
        }
    }

    /// The scope and terms that a route needs.
    #[inline(always)]
    pub(crate) fn need(&self, route: u32) -> Option<Need<'_>> {
        let row = self.routes.get(index(route))?;
        Some(Need { route, needed: row.needed, terms: &row.terms })
    }

    /// The template's route for a method, even if the method has no column.
    fn find_route_of(&self, template: &Template, method: &[u8]) -> Option<u32> {
        let first = template.first_route;
        // A closed template has no route.
        let row = self.routes.get(index(first))?;
        let at =
            slice(&self.routes, row.siblings).binary_search_by(|row| self.method(row).as_bytes().cmp(method)).ok()?;
        first.checked_add(u32::try_from(at).ok()?)
    }

    /// Decides the last step, when a route or scope was found and the token is valid: whether the token has the
    /// scope, or what the route needs instead.
    #[inline(always)]
    pub(crate) fn decide_need<'e>(
        &'e self,
        need: Need<'e>,
        token: &Token<'_>,
        allow_bonus_orbs_use: bool,
    ) -> Decision<'e> {
        let held = scopes::hold(self, token.scopes, need.needed, need.terms);
        let reason = match need.terms.organisation {
            Some(rule) => inference::decide(token.kind, rule, held),
            None if held => Reason::ScopeHeld,
            None => Reason::ScopeMissing,
        };
        let subject =
            Subject { route: need.route, about: need.route, scope: scope_in(need.needed), orbs: need.terms.orbs };
        Decision::new(self, reason, subject, allow_bonus_orbs_use)
    }

    /// A decision that looks at no token's scopes and consumes nothing.
    #[inline(always)]
    pub(crate) const fn without_charge(&self, reason: Reason, subject: Subject) -> Decision<'_> {
        Decision::new(self, reason, subject, false)
    }
}

/// The requirements of a call, found by its route or its scope.
#[derive(Clone, Copy)]
pub(crate) struct Need<'e> {
    /// [`NONE`] if the call was looked up by scope.
    pub(crate) route: u32,
    /// As in [`RouteRow::needed`](crate::tables::RouteRow::needed).
    pub(crate) needed: u32,
    pub(crate) terms: &'e Terms,
}
