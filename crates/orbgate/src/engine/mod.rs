//! An engine and the questions that it answers. An engine is a compiled, immutable policy: the policy decision point.

pub(crate) mod batch;
pub(crate) mod grant;
#[cfg(feature = "serde")]
pub(crate) mod table;

use core::fmt;

use crate::decide::Need;
use crate::decide::decision::{Decision, Denial, Subject};
use crate::decide::lookup::{self, KeyOf};
use crate::decide::request::Request;
use crate::decide::token::{ScopeSet, Token, read_token};
use crate::decide::vector::Native;
use crate::listing::{Closed, Route, Scope, ScopeInApi};
use crate::tables::reason::{Detail, Reason};
use crate::tables::route_id::RouteId;
use crate::tables::sorted::sort_by_key;
use crate::tables::terms::{Digest, Profile};
use crate::tables::{NONE, ScopeRow, Tables};

/// A compiled, immutable policy.
///
/// Deciding is a pure function: no I/O, clock, allocation, lock or panic. An engine is `Send + Sync`: share it by
/// reference or in an `Arc`. To load a new policy, replace the whole engine. A clone of an engine that is compiled
/// into the program shares its tables; a clone of any other engine copies them.
#[derive(Clone)]
pub struct Engine {
    pub(crate) tables: Tables,
    /// Chosen once, so that a policy whose paths end in a slash costs the others nothing.
    key_of: KeyOf,
}

impl Engine {
    /// Makes an engine from the tables that `compile` returned.
    #[doc(hidden)]
    #[must_use]
    pub const fn from_tables(tables: Tables) -> Self {
        let key_of = match tables.trailing_slash {
            true => lookup::key::<Native, true>,
            false => lookup::key::<Native, false>,
        };
        Self { tables, key_of }
    }

    /// The engine of the specification's own table (§4.1 and §4.2), compiled into the program.
    /// Using it needs no parsing, allocation or initialisation.
    #[cfg(not(orbgate_bootstrap))]
    #[must_use]
    pub const fn external() -> &'static Self {
        static EXTERNAL: Engine = Engine::from_tables(crate::tables::external::EXTERNAL);
        &EXTERNAL
    }

    /// Decides a request: which scope it needs, whether the token allows the call, what the call
    /// consumes, and why. Every input gets a decision. Doesn't allocate; the cost is bounded by the
    /// target's length and the policy's limits.
    ///
    /// ```
    /// use orbgate::{Engine, Request, Token};
    ///
    /// let decision = Engine::external().decide(&Request {
    ///     method: b"POST",
    ///     target: b"/api/v1/external/voxies/prompt/run",
    ///     token: Some(Token::user("write:voxies")),
    ///     allow_bonus_orbs_use: false,
    /// });
    /// assert!(decision.is_allow());
    /// assert_eq!(decision.charge().map(|charge| charge.consumes), Some(true));
    /// ```
    #[inline(always)]
    pub fn decide(&self, request: &Request<'_>) -> Decision<'_> {
        let key = (self.key_of)(&self.tables, request.target);
        let found = lookup::find(&self.tables, key);
        self.tables.decide_found(request, found)
    }

    /// Decides by route, for a server that has already matched the route. Reads no string.
    ///
    /// Reasons are tried in the same order as in [`Engine::decide`], starting with `no_token`. A route of another
    /// policy gives `no_route`.
    ///
    /// ```
    /// # use orbgate::{Engine, Token};
    /// let engine = Engine::external();
    /// let route = engine.find_route("GET", "/api/v1/external/orbs").map(|route| route.id());
    /// let decision = engine.decide_route(route.unwrap(), Some(Token::user("read:orbs")), false);
    /// assert!(decision.is_allow());
    /// ```
    #[inline]
    pub fn decide_route(&self, route: RouteId, token: Option<Token<'_>>, allow_bonus_orbs_use: bool) -> Decision<'_> {
        let route = route.index_in(self.tables.policy_id());
        let need = route.and_then(|route| self.tables.need(route));
        self.decide_found_need(need, token, allow_bonus_orbs_use)
    }

    /// Decides whether a token has a scope, without a route.
    ///
    /// Use this if your service knows which scope a call needs, but the call isn't a route of the
    /// policy. The inference API works this way (specification §4.2).
    ///
    /// Reasons are tried in the same order as in [`Engine::decide`], starting with `no_token`. If the policy doesn't
    /// define the scope, the reason is `no_route`. The charge is that of [`Scope::orbs`].
    pub fn decide_scope(
        &self,
        scope: impl AsRef<[u8]>,
        token: Option<Token<'_>>,
        allow_bonus_orbs_use: bool,
    ) -> Decision<'_> {
        let scope = self.scope_row(scope.as_ref());
        let need = scope.map(|(scope, row)| Need { route: NONE, needed: u32::from(scope), terms: &row.terms });
        self.decide_found_need(need, token, allow_bonus_orbs_use)
    }

    /// The denial of a request that a gate rejects as malformed, for a rule that an engine can't check.
    #[doc(hidden)]
    pub const fn deny_malformed(&self, detail: Detail) -> Decision<'_> {
        Decision::denied(&self.tables, Denial::malformed(detail))
    }

    /// The denial of an allowed request that the server routed to a different route than the decision named.
    #[doc(hidden)]
    pub const fn deny_misrouted(&self) -> Decision<'_> {
        self.tables.without_charge(Reason::NoRoute, Subject::NOTHING)
    }

    /// The allow of a request that a gate passes without a token.
    #[doc(hidden)]
    pub const fn allow_public(&self) -> Decision<'_> {
        self.tables.without_charge(Reason::PublicRoute, Subject::NOTHING)
    }

    /// Decides without a target: checks the token first, then the route or scope.
    #[inline(always)]
    fn decide_found_need<'e>(
        &'e self,
        need: Option<Need<'e>>,
        token: Option<Token<'_>>,
        allow_bonus_orbs_use: bool,
    ) -> Decision<'e> {
        match (read_token(token.as_ref()), need) {
            (Err(reason), need) => {
                let about = need.map_or(NONE, |need| need.route);
                self.tables.without_charge(reason, Subject::about(about))
            }
            (Ok(_), None) => self.tables.without_charge(Reason::NoRoute, Subject::NOTHING),
            (Ok(token), Some(need)) => self.tables.decide_need(need, token, allow_bonus_orbs_use),
        }
    }

    /// Interns a token's scopes, separated by spaces, for use in many decisions. Allocates only if
    /// the policy has more than 128 scopes.
    ///
    /// ```
    /// # use orbgate::{Engine, Request, Token};
    /// let engine = Engine::external();
    /// let scopes = engine.scopes("read:orbs write:voxies");
    /// let token = Token::user(&scopes);
    /// ```
    #[must_use]
    pub fn scopes(&self, text: impl AsRef<[u8]>) -> ScopeSet {
        self.scope_set(text.as_ref().split(|byte| *byte == b' '))
    }

    /// Interns scopes from a list, such as a JSON array. Each item is one scope; an item that contains a space matches
    /// nothing.
    #[must_use]
    pub fn scope_set<S: AsRef<[u8]>>(&self, scopes: impl IntoIterator<Item = S>) -> ScopeSet {
        let mut set = ScopeSet::empty(self.tables.policy_id(), self.tables.scopes.len());
        for scope in scopes {
            if let Some((id, _)) = self.scope_row(scope.as_ref()) {
                set.insert(id);
            }
        }
        set
    }

    /// All routes. The order is the same for every spelling of a policy.
    pub fn routes(&self) -> impl ExactSizeIterator<Item = Route<'_>> {
        let rows = self.tables.routes.iter().zip(0..NONE);
        rows.map(|(row, id)| Route::new(&self.tables, id, row))
    }

    /// The closed templates, which declare no method. The order is the same for every spelling of a policy.
    pub fn closed(&self) -> impl Iterator<Item = Closed<'_>> {
        let ids = (0..NONE).skip(self.tables.routes.len());
        ids.map_while(|id| Closed::at(&self.tables, id))
    }

    /// The closed template with this index, which counts on from that of the last route.
    #[doc(hidden)] // for Orbgate's own crates
    #[must_use]
    pub fn closed_at(&self, index: u32) -> Option<Closed<'_>> {
        Closed::at(&self.tables, index)
    }

    /// The route at this position of [`Engine::routes`].
    #[must_use]
    pub fn route(&self, index: u32) -> Option<Route<'_>> {
        Route::at(&self.tables, index)
    }

    /// The route with exactly this method and template, including the api's base path. Searches all
    /// routes, so call it when a server starts, not for each request.
    #[must_use]
    pub fn find_route(&self, method: impl AsRef<[u8]>, template: impl AsRef<[u8]>) -> Option<Route<'_>> {
        let (method, template) = (method.as_ref(), template.as_ref());
        self.routes().find(|route| route.template().as_bytes() == template && route.method().as_bytes() == method)
    }

    /// The number of scopes.
    #[must_use]
    pub fn scope_count(&self) -> usize {
        self.tables.scopes.len()
    }

    /// The scope with this [index](Scope::index).
    #[must_use]
    pub fn scope(&self, index: u16) -> Option<Scope<'_>> {
        let there = usize::from(index) < self.tables.scopes.len();
        there.then_some(Scope::new(&self.tables, index))
    }

    /// The scope with this name.
    ///
    /// ```
    /// # use orbgate::Engine;
    /// let scope = Engine::external().find_scope("delete:keys").unwrap();
    /// let routes: Vec<_> = scope.routes().map(|route| route.template()).collect();
    /// assert_eq!(routes, ["/api/v1/external/keys/{keyId}"]);
    /// ```
    #[must_use]
    pub fn find_scope(&self, name: impl AsRef<[u8]>) -> Option<Scope<'_>> {
        let (id, _) = self.scope_row(name.as_ref())?;
        Some(Scope::new(&self.tables, id))
    }

    /// All scopes with their orb column and routes, in the order of the policy file: the table of specification
    /// §4.2, and the scopes without routes. A scope of several apis appears once, at its first position.
    pub fn scope_table(&self) -> impl ExactSizeIterator<Item = Scope<'_>> {
        // Scopes first: `zip` stops before the `u16` overflows.
        let ids = self.tables.scopes.iter().zip(0..);
        let mut scopes: Vec<_> = ids.map(|(_, id)| Scope::new(&self.tables, id)).collect();
        sort_by_key(&mut scopes, Scope::location);
        scopes.into_iter()
    }

    /// The scopes of each api, in the order of the policy file. Scopes of the same api are neighbours.
    pub fn scopes_in_apis(&self) -> impl ExactSizeIterator<Item = ScopeInApi<'_>> {
        let rows = self.tables.scopes_in_apis.iter();
        let mut scopes: Vec<_> = rows.map(|row| ScopeInApi::new(&self.tables, row)).collect();
        sort_by_key(&mut scopes, ScopeInApi::location);
        scopes.into_iter()
    }

    /// The scope groups without routes, in the order of the policy file.
    pub fn headings(&self) -> impl ExactSizeIterator<Item = &str> {
        let headings = self.tables.headings.iter();
        headings.map(|span| self.tables.text.get(*span))
    }

    /// The policy's name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.tables.name.map(|span| self.tables.text.get(span))
    }

    /// The spellings of a request target that the policy accepts.
    #[must_use]
    pub const fn target(&self) -> Profile {
        self.tables.profile
    }

    /// Whether every accepted path ends in a slash.
    #[must_use]
    pub const fn trailing_slash(&self) -> bool {
        self.tables.trailing_slash
    }

    /// The policy's digest, which every decision includes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        Digest(self.tables.digest)
    }

    /// The scope with this name.
    fn scope_row(&self, scope: &[u8]) -> Option<(u16, &ScopeRow)> {
        let ids = &self.tables.scope_ids;
        let id = *ids.get(ids.seed.text(scope))?;
        let row = self.tables.scopes.get(usize::from(id))?;
        // A perfect hash maps an unknown key to an arbitrary slot, so the whole name is compared.
        (self.tables.text.bytes(row.terms.scope) == scope).then_some((id, row))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("name", &self.name())
            .field("digest", &self.digest())
            .field("routes", &self.tables.routes.len())
            .field("scopes", &self.tables.scopes.len())
            .finish()
    }
}

#[cfg(feature = "yaml")]
impl Engine {
    /// Compiles a policy at run time. The expected time and the memory are linear in the size of its templates.
    ///
    /// If no hash separates the policy's strings (the chance is below 2⁻²⁰⁰), the engine has no routes and denies
    /// every request.
    #[must_use]
    pub fn new(policy: &crate::policy::Policy) -> Self {
        let tables = crate::compile::compile(policy);
        debug_assert!(tables.is_ok(), "no hash was found");
        Self::from_tables(
            tables.unwrap_or_else(|_| Tables { digest: *policy.digest().as_bytes(), ..Tables::default() }),
        )
    }
}
