//! The order of a decision.

use crate::decision::{Decision, Subject};
use crate::inference;
use crate::list::index;
use crate::lookup::{self, Found};
use crate::reason::{Detail, Reason};
use crate::request::Request;
use crate::scopes;
use crate::tables::{NONE, ScopeRow, Tables, Template, Terms, slice};
use crate::target::{self, Path};
use crate::terms::MAX_TARGET_BYTES;
use crate::token::{Token, read_token};

impl Tables {
    /// See [`Engine::decide`](crate::Engine::decide).
    #[inline(always)]
    pub(crate) fn decide(&self, request: &Request<'_>) -> Decision<'_> {
        self.decide_found(request, lookup::find(self, request.target))
    }

    /// Decides after the fast path has read the target.
    #[inline(always)]
    pub(crate) fn decide_found<'e>(
        &'e self,
        request: &Request<'_>,
        found: Found<'e>,
    ) -> Decision<'e> {
        let (Some(column), true) = (
            self.methods.column(request.method),
            request.target.len() <= MAX_TARGET_BYTES,
        ) else {
            return self.decide_slowly(request, found);
        };
        let template = match found {
            Found::Template(template) => template,
            Found::Unknown => return self.decide_slowly(request, found),
            _ => return self.decide_otherwise(request, found),
        };
        let token = match read_token(request.token.as_ref()) {
            Ok(token) => token,
            Err(reason) => return self.deny_token(reason, Some(template), request.method),
        };
        let (Some(route), scope) = template.column(column) else {
            return self.decide_method(template, request, token);
        };
        // The scope's row is likelier to be cached than the route's, and has the same terms.
        let need = match self.scopes.get(usize::from(scope)) {
            Some(row) => Need {
                route,
                scope,
                terms: &row.terms,
            },
            None => match self.need(route) {
                Some(need) => need,
                None => return self.decide_method(template, request, token),
            },
        };
        self.decide_need(need, token, request.allow_bonus_orbs_use)
    }

    /// Decides what the fast path does not: tries every rule, in its order. A template that was found is not looked up again:
    /// the caller chooses the method, and could double the cost with one that has no column.
    #[cold]
    #[inline(never)]
    fn decide_slowly<'e>(&'e self, request: &Request<'_>, found: Found<'e>) -> Decision<'e> {
        let has_column = self.methods.column(request.method).is_some();
        if !has_column && !is_method(request.method) {
            return Decision::malformed(self, Detail::Method);
        }
        if !matches!(found, Found::Unknown) && request.target.len() <= MAX_TARGET_BYTES {
            return self.decide_otherwise(request, found);
        }
        let mut path = Path::default();
        match target::read(request.target, self.profile, &mut path) {
            Ok(()) => self.decide_otherwise(request, lookup::find_exactly(self, &path)),
            Err(detail) => Decision::malformed(self, detail),
        }
    }

    /// Decides once it is known what the target is, and the method need not have a column.
    #[inline(never)]
    fn decide_otherwise<'e>(&'e self, request: &Request<'_>, found: Found<'e>) -> Decision<'e> {
        let template = match found {
            Found::Template(template) => Some(template),
            _ => None,
        };
        match (read_token(request.token.as_ref()), found) {
            (Err(reason), _) => self.deny_token(reason, template, request.method),
            (Ok(token), Found::Template(template)) => self.decide_method(template, request, token),
            (Ok(_), Found::Refused(detail)) => Decision::malformed(self, detail),
            (Ok(_), _) => self.deny(Reason::NoRoute, Subject::NOTHING),
        }
    }

    /// Denies a call without a valid token. The decision does not name the route, because the caller may not learn it.
    #[cold]
    #[inline(never)]
    fn deny_token(
        &self,
        reason: Reason,
        template: Option<&Template>,
        method: &[u8],
    ) -> Decision<'_> {
        let route = template.and_then(|template| self.find_route_of(template, method));
        self.deny(reason, Subject::about(route.unwrap_or(NONE)))
    }

    /// Decides once the template is found, whether or not the method has a column.
    #[cold]
    #[inline(never)]
    fn decide_method(
        &self,
        template: &Template,
        request: &Request<'_>,
        token: &Token<'_>,
    ) -> Decision<'_> {
        let need = self
            .find_route_of(template, request.method)
            .and_then(|route| self.need(route));
        match need {
            Some(need) => self.decide_need(need, token, request.allow_bonus_orbs_use),
            None => {
                let subject = Subject::template(template.first_route);
                self.deny(Reason::MethodNotDeclared, subject)
            }
        }
    }

    /// What a route needs.
    #[inline(always)]
    pub(crate) fn need(&self, route: u32) -> Option<Need<'_>> {
        let row = self.routes.get(index(route))?;
        Some(Need {
            route,
            scope: row.scope,
            terms: &row.terms,
        })
    }

    /// The template's route of a method, whether or not it has a column.
    fn find_route_of(&self, template: &Template, method: &[u8]) -> Option<u32> {
        let first = template.first_route;
        let row = self.routes.get(index(first));
        debug_assert!(row.is_some(), "a template of another table");
        let at = slice(&self.routes, row?.siblings)
            .binary_search_by(|row| self.method(row).as_bytes().cmp(method))
            .ok()?;
        first.checked_add(u32::try_from(at).ok()?)
    }

    /// Decides the last step, once a route or scope is found and the token is valid: whether the token has the scope.
    #[inline(always)]
    pub(crate) fn decide_need<'e>(
        &'e self,
        need: Need<'e>,
        token: &Token<'_>,
        allow_bonus_orbs_use: bool,
    ) -> Decision<'e> {
        let held = scopes::hold(self, token.scopes, need.scope, need.terms);
        let reason = match need.terms.organisation {
            Some(rule) => inference::decide(token.kind, rule, held),
            None if held => Reason::ScopeHeld,
            None => Reason::ScopeMissing,
        };
        let subject = Subject {
            route: need.route,
            about: need.route,
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

/// What a call needs, found by its route or its scope.
#[derive(Clone, Copy)]
pub(crate) struct Need<'e> {
    /// [`NONE`] where it was found by its scope.
    pub(crate) route: u32,
    scope: u16,
    terms: &'e Terms,
}

impl<'e> Need<'e> {
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
fn is_method(method: &[u8]) -> bool {
    (1..=16).contains(&method.len()) && method.iter().all(u8::is_ascii_uppercase)
}
