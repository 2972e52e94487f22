//! The decision: allow with a charge, or deny with a reason.

use core::fmt;

use crate::listing::{Closed, Requirement, Route, Scope, debug};
use crate::tables::reason::{Detail, Named, Reason};
use crate::tables::terms::{Digest, Location};
use crate::tables::{NO_SCOPE, NONE, ORBS_UNKNOWN, Tables};

/// An engine's decision. A denial is a result, not an error.
///
/// Exhaustive on purpose: there is no "no opinion".
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "a decision that nobody reads protects nothing"]
pub enum Decision<'e> {
    /// The call is allowed.
    Allow(Allow<'e>),
    /// The call is denied, and nothing may be charged.
    Deny(Deny<'e>),
}

/// Permission to make a call, with what the call consumes.
#[derive(Clone, Copy)]
pub struct Allow<'e> {
    tables: &'e Tables,
    /// [`NONE`] for a decision by scope without a route, and for a public route.
    route: u32,
    /// [`NO_SCOPE`] for a public route.
    scope: u16,
    reason: Reason,
    allow_bonus_orbs_use: bool,
    /// In the encoding of the tables.
    orbs: i64,
}

/// A denial, with its reason.
#[derive(Clone, Copy)]
pub struct Deny<'e> {
    tables: &'e Tables,
    /// [`NONE`] if no route was found or the decision was by scope; for `method_not_declared`, one of the
    /// template's routes, or a closed template.
    route: u32,
    /// [`NONE`] if the request matches no route.
    about: u32,
    /// [`NO_SCOPE`] if no scope was found.
    scope: u16,
    reason: Reason,
    detail: Option<Detail>,
}

/// The route and scope that were found before a decision was made.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    /// The route that the decision names.
    pub(crate) route: u32,
    /// The route that the request matches, even if the decision must not name it.
    pub(crate) about: u32,
    pub(crate) scope: u16,
    pub(crate) orbs: i64,
}

impl Subject {
    /// Nothing was found.
    pub(crate) const NOTHING: Self = Self { route: NONE, about: NONE, scope: NO_SCOPE, orbs: ORBS_UNKNOWN };

    /// A route was found, but the decision must not name it.
    pub(crate) const fn about(about: u32) -> Self {
        Self { about, ..Self::NOTHING }
    }
}

/// Why a request is denied before its route and scope are known. Small enough for two registers.
#[derive(Clone, Copy)]
pub(crate) struct Denial {
    reason: Reason,
    detail: Option<Detail>,
    route: u32,
    about: u32,
}

impl Denial {
    /// The request breaks this rule.
    pub(crate) const fn malformed(detail: Detail) -> Self {
        let detail = Some(detail);
        Self { detail, ..Self::about(Reason::MalformedRequest, NONE) }
    }

    /// A route was found, but the decision must not name it.
    pub(crate) const fn about(reason: Reason, about: u32) -> Self {
        Self { reason, detail: None, route: NONE, about }
    }

    /// A template was found (`route` is one of its routes), but it doesn't declare the method.
    pub(crate) const fn method(route: u32) -> Self {
        Self { route, ..Self::about(Reason::MethodNotDeclared, NONE) }
    }
}

/// What an allowed call consumes (specification §4.2 and §8). The charge is an obligation on the
/// service that allows the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Charge {
    /// Whether the call consumes the user's orbs.
    pub consumes: bool,
    /// The number of orbs. It is 0 if the call consumes nothing, and `None` if the policy states no
    /// amount. In that case, the service that charges must supply it.
    pub amount: Option<u64>,
    /// Whether bonus orbs may be used: the call consumes orbs, and the request allows bonus orbs.
    pub bonus_allowed: bool,
}

impl Charge {
    /// The charge of a call: a pure function of the policy's orb column, in the encoding of the tables,
    /// and the request's flag. `None` if the orbs are unknown.
    #[inline(always)]
    fn new(orbs: i64, allow_bonus_orbs_use: bool) -> Option<Self> {
        let consumes = orbs != 0;
        let charge =
            Self { consumes, amount: u64::try_from(orbs).ok(), bonus_allowed: consumes & allow_bonus_orbs_use };
        (orbs != ORBS_UNKNOWN).then_some(charge)
    }
}

impl<'e> Allow<'e> {
    /// The reason: `scope_held`, `scope_not_applicable` or, only from a gate, `public_route`.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The route. `None` for a decision by scope without a route, and for a public route.
    #[must_use]
    pub fn route(&self) -> Option<Route<'e>> {
        Route::at(self.tables, self.route)
    }

    /// The scope that owns the route, or that was asked for. The call needs it, or what [`Decision::requirement`] says.
    /// `None` for a public route.
    #[must_use]
    pub fn scope(&self) -> Option<Scope<'e>> {
        Scope::at(self.tables, self.scope)
    }

    /// What the call consumes. `None` for a public route, and if it is unknown, which it never is by route: [`Scope::orbs`].
    #[must_use]
    pub fn charge(&self) -> Option<Charge> {
        Charge::new(self.orbs, self.allow_bonus_orbs_use)
    }
}

impl<'e> Deny<'e> {
    /// The reason.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The rule that a malformed request breaks, or why orbs can't be held. `None` for every other reason.
    #[must_use]
    pub const fn detail(&self) -> Option<Detail> {
        self.detail
    }

    /// The HTTP status (see [`Reason::status`]), or [`Reason::DEFAULT_STATUS`] if the reason has none.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.reason.status().unwrap_or(Reason::DEFAULT_STATUS)
    }

    /// The route that the call would use. For `method_not_declared`, it is one of the routes with
    /// the path's template; [`Route::methods`] lists the methods that the template declares.
    #[must_use]
    pub fn route(&self) -> Option<Route<'e>> {
        Route::at(self.tables, self.route)
    }

    /// The scope that owns the route, or that was asked for, if one was found. The call needs it, or what
    /// [`Decision::requirement`] says.
    #[must_use]
    pub fn scope(&self) -> Option<Scope<'e>> {
        Scope::at(self.tables, self.scope)
    }
}

impl<'e> Decision<'e> {
    /// Makes the decision for a reason.
    #[inline(always)]
    pub(crate) const fn new(tables: &'e Tables, reason: Reason, subject: Subject, allow_bonus_orbs_use: bool) -> Self {
        let Subject { route, about, scope, orbs } = subject;
        if reason.is_allow() {
            Self::Allow(Allow { tables, route, scope, reason, allow_bonus_orbs_use, orbs })
        } else {
            Self::Deny(Deny { tables, route, about, scope, reason, detail: None })
        }
    }

    /// Makes a denial.
    #[inline(always)]
    pub(crate) const fn denied(tables: &'e Tables, denial: Denial) -> Self {
        let Denial { reason, detail, route, about } = denial;
        Self::Deny(Deny { tables, route, about, scope: NO_SCOPE, reason, detail })
    }

    /// The tables, and the ids of the route and the scope in them.
    #[inline(always)]
    const fn found(&self) -> (&'e Tables, u32, u16) {
        let (Self::Allow(Allow { tables, route, scope, .. }) | Self::Deny(Deny { tables, route, scope, .. })) = *self;
        (tables, route, scope)
    }

    /// The same decision for a request that allows bonus orbs. Only the charge of an allow changes.
    pub const fn allowing_bonus_orbs(self) -> Self {
        match self {
            Self::Allow(allow) => Self::Allow(Allow { allow_bonus_orbs_use: true, ..allow }),
            deny @ Self::Deny(_) => deny,
        }
    }

    /// The denial of an allowed call whose orbs can't be held. It names the same route and scope, if its reason names any.
    /// Only an allow changes.
    #[doc(hidden)] // for gates
    pub const fn denying_orbs(self, reason: Reason, detail: Option<Detail>) -> Self {
        match self {
            Self::Allow(Allow { tables, route, scope, .. }) if !reason.is_allow() => {
                let about = route;
                let (route, scope) = match reason.named() {
                    Named::Scope => (route, scope),
                    Named::Nothing | Named::Template => (NONE, NO_SCOPE),
                };
                Self::Deny(Deny { tables, route, about, scope, reason, detail })
            }
            other => other,
        }
    }

    /// The denial of a call whose token lacks only scopes that a login gives. Only a `scope_missing` changes.
    #[doc(hidden)] // for gates
    pub const fn denying_login(self) -> Self {
        match self {
            Self::Deny(deny) if matches!(deny.reason, Reason::ScopeMissing) => {
                Self::Deny(Deny { reason: Reason::InsufficientUserAuthentication, ..deny })
            }
            other => other,
        }
    }

    /// The denial of a call whose token is valid, but not proved to be its sender's. Only an `invalid_token` changes.
    #[doc(hidden)] // for gates
    pub const fn denying_unproved(self) -> Self {
        match self {
            Self::Deny(deny) if matches!(deny.reason, Reason::InvalidToken) => {
                Self::Deny(Deny { detail: Some(Detail::Proof), ..deny })
            }
            other => other,
        }
    }

    /// Whether the call is allowed.
    #[inline(always)]
    #[must_use]
    pub const fn is_allow(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// The reason.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Allow(allow) => allow.reason,
            Self::Deny(deny) => deny.reason,
        }
    }

    /// The rule that a malformed request breaks, or why orbs can't be held. `None` for every other reason.
    #[must_use]
    pub const fn detail(&self) -> Option<Detail> {
        match self {
            Self::Allow(_) => None,
            Self::Deny(deny) => deny.detail,
        }
    }

    /// The HTTP status of a denial. `None` for an allow.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Allow(_) => None,
            Self::Deny(deny) => Some(deny.status()),
        }
    }

    /// The api of the route. For a decision by scope, the scope's api ([the first](Scope::api) if there are several).
    /// For a closed template, its api. `None` if nothing was found.
    #[must_use]
    pub fn api(&self) -> Option<&'e str> {
        let of_scope = || self.scope().map(|scope| scope.api());
        let of_closed = || self.closed().map(|closed| closed.api());
        self.route().map(|route| route.api()).or_else(of_scope).or_else(of_closed)
    }

    /// The route, if one was found. For `method_not_declared`, it is one of the routes with the path's template; a
    /// [closed](Decision::closed) one has none.
    #[must_use]
    pub fn route(&self) -> Option<Route<'e>> {
        let (tables, route, _) = self.found();
        Route::at(tables, route)
    }

    /// The route as interfaces print it: `METHOD /template`. For `method_not_declared`, only the
    /// template, because the method wasn't found.
    #[must_use]
    pub fn route_name(&self) -> Option<&'e str> {
        let Some(route) = self.route() else {
            return self.closed().map(|closed| closed.template());
        };
        Some(match self.reason() {
            Reason::MethodNotDeclared => route.template(),
            _ => route.as_str(),
        })
    }

    /// The closed template that the request's path has, for a `method_not_declared` without a route.
    #[must_use]
    pub fn closed(&self) -> Option<Closed<'e>> {
        let (tables, route, _) = self.found();
        Closed::at(tables, route)
    }

    /// The scope that owns the route, or that was asked for, if one was found. It is the policy's row, not what the token
    /// holds: the call needs it, or what [`Decision::requirement`] says.
    #[must_use]
    pub fn scope(&self) -> Option<Scope<'e>> {
        let (tables, _, scope) = self.found();
        Scope::at(tables, scope)
    }

    /// What the call's route needs, if that isn't just [`Decision::scope`].
    #[must_use]
    pub fn requirement(&self) -> Option<Requirement<'e>> {
        self.scope()?;
        Some(self.route()?.requirement()).filter(|needs| !needs.is_one_scope())
    }

    /// The [index](Route::index) of the route, if one was found. For `method_not_declared`, it is the
    /// index of one of the routes with the path's template.
    #[inline]
    #[must_use]
    pub fn route_index(&self) -> Option<u32> {
        self.route().map(|route| route.index())
    }

    /// The index of the route or, past all routes, of the closed template.
    #[doc(hidden)] // for Orbgate's own crates
    #[inline]
    #[must_use]
    pub const fn row(&self) -> Option<u32> {
        let (_, route, _) = self.found();
        if route == NONE { None } else { Some(route) }
    }

    /// The route that has the request's path and method, even if [`Decision::route`] is `None` because the request
    /// has no valid token. It doesn't depend on the token, so logs can show which routes were called without one.
    /// Don't send it to callers: a caller without a token must not learn which routes exist. `None` if no route has
    /// the path and the method, for a malformed request, and for a decision by scope.
    ///
    /// ```
    /// # use orbgate::{Engine, Request};
    /// let decision = Engine::external().decide(&Request {
    ///     method: b"GET",
    ///     target: b"/api/v1/external/voxies/7",
    ///     token: None,
    ///     allow_bonus_orbs_use: false,
    /// });
    /// assert_eq!(decision.reason().as_str(), "no_token");
    /// assert_eq!(decision.route(), None);
    /// assert_eq!(decision.about().unwrap().as_str(), "GET /api/v1/external/voxies/{voxieId}");
    /// ```
    #[must_use]
    pub fn about(&self) -> Option<Route<'e>> {
        match self {
            Self::Allow(allow) => allow.route(),
            Self::Deny(deny) => Route::at(deny.tables, deny.about),
        }
    }

    /// The [index](Scope::index) of the scope that the call needs, if one was found.
    #[inline]
    #[must_use]
    pub const fn scope_index(&self) -> Option<u16> {
        let (_, _, scope) = self.found();
        if scope == NO_SCOPE { None } else { Some(scope) }
    }

    /// What the call consumes. Only an allow has a charge.
    #[must_use]
    pub fn charge(&self) -> Option<Charge> {
        match self {
            Self::Allow(allow) => allow.charge(),
            Self::Deny(_) => None,
        }
    }

    /// The digest of the policy that made the decision.
    #[must_use]
    pub const fn policy(&self) -> Digest {
        let (tables, ..) = self.found();
        Digest(tables.digest)
    }

    /// The location of the route in the policy file or, if there is no route, of the scope or closed template.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        let route = self.route().map(|route| route.location());
        let of_scope = || self.scope().map(|scope| scope.location());
        route.or_else(of_scope).or_else(|| self.closed().map(|closed| closed.location()))
    }
}

impl PartialEq for Allow<'_> {
    /// Equal if everything that a caller can read is equal.
    fn eq(&self, other: &Self) -> bool {
        self.reason == other.reason
            && self.route() == other.route()
            && self.scope() == other.scope()
            && self.charge() == other.charge()
    }
}

impl Eq for Allow<'_> {}

impl PartialEq for Deny<'_> {
    /// Equal if everything that a caller can read is equal.
    fn eq(&self, other: &Self) -> bool {
        self.reason == other.reason
            && self.detail == other.detail
            && self.route() == other.route()
            && Route::at(self.tables, self.about) == Route::at(other.tables, other.about)
            && Closed::at(self.tables, self.route) == Closed::at(other.tables, other.route)
            && self.scope() == other.scope()
    }
}

impl Eq for Deny<'_> {}

debug! {
    Allow { reason route charge }
    Deny { reason detail route }
}

impl fmt::Debug for Decision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow(allow) => allow.fmt(f),
            Self::Deny(deny) => deny.fmt(f),
        }
    }
}
