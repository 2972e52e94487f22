//! Decisions that callers pass back: what they refer to, and whether an engine can have made them.

use orbgate::{Closed, Detail, Named, OrganisationRule, Reason, Route, Scope};

use crate::decision::{ORBGATE_CHARGE_BONUS_ALLOWED, ORBGATE_CHARGE_CONSUMES, OrbgateDecision, effect, orb_column};
use crate::engine::OrbgateEngine;
use crate::names;
use crate::status::{OrStatus, OrbgateStatus};

/// The objects that a decision's numbers refer to.
pub(crate) struct Found<'e> {
    pub(crate) reason: Reason,
    pub(crate) detail: Option<Detail>,
    pub(crate) route: Option<Route<'e>>,
    /// The closed template, whose numbers are past those of the routes.
    pub(crate) closed: Option<Closed<'e>>,
    pub(crate) about: Option<Route<'e>>,
    pub(crate) scope: Option<Scope<'e>>,
}

impl<'e> Found<'e> {
    /// Looks up the objects in a decision. A decision that no engine of this policy can have made is an
    /// invalid argument.
    pub(crate) fn of(engine: &'e OrbgateEngine, decision: &OrbgateDecision) -> OrStatus<Self> {
        let objects = Self::named(engine, decision);
        let made = |objects: &Self| objects.decision(engine, decision).as_ref() == Some(decision);
        objects.filter(made).ok_or(OrbgateStatus::InvalidArgument)
    }

    /// Looks up the objects; `None` if a number is out of range.
    pub(crate) fn named(engine: &'e OrbgateEngine, decision: &OrbgateDecision) -> Option<Self> {
        let core = engine.engine();
        let row = decision.route.checked_sub(1);
        let route = row.and_then(|index| core.route(index));
        let closed = row.and_then(|index| core.closed_at(index));
        if row.is_some() && route.is_none() && closed.is_none() {
            return None;
        }
        Some(Self {
            reason: names::reason(decision.reason)?,
            detail: match decision.detail {
                0 => None,
                number => Some(names::detail(number)?),
            },
            route,
            closed,
            about: match decision.about.checked_sub(1) {
                None => None,
                Some(index) => Some(core.route(index)?),
            },
            scope: match decision.scope.checked_sub(1) {
                None => None,
                Some(index) => Some(core.scope(index)?),
            },
        })
    }

    /// The decision with everything that follows from its reason, detail, route and scope. Bonus orbs and, without a
    /// valid token, the route that the request matches are taken from the given decision. `None` if these are
    /// inconsistent.
    pub(crate) fn decision(&self, engine: &OrbgateEngine, decision: &OrbgateDecision) -> Option<OrbgateDecision> {
        let (charge, amount) = match self.reason.status() {
            Some(_) => (0, 0),
            None => self.charge(),
        };
        let bonus = match charge & ORBGATE_CHARGE_CONSUMES {
            0 => 0,
            _ => decision.charge & ORBGATE_CHARGE_BONUS_ALLOWED,
        };
        self.go_together().then_some(OrbgateDecision {
            effect: effect(self.reason.status().is_none()),
            charge: charge | bonus,
            http_status: self.reason.status().unwrap_or(0),
            about: match self.reason {
                // It names no route even if its request matches one.
                reason if reason.is_without_token() => decision.about,
                reason if reason.named() == Named::Template => 0,
                _ => decision.route,
            },
            amount,
            policy: engine.policy(),
            ..*decision
        })
    }

    fn go_together(&self) -> bool {
        let named = match (self.route, self.scope) {
            (None, None) if self.closed.is_some() => Named::Template,
            (_, Some(_)) if self.closed.is_some() => return false,
            (None, None) => Named::Nothing,
            (Some(_), None) => Named::Template,
            (None, Some(_)) => Named::Scope,
            (Some(route), Some(scope)) if route.scope().index() == scope.index() => Named::Scope,
            (Some(_), Some(_)) => return false,
        };
        let rule = self.scope.and_then(|scope| scope.organisation());
        let ruled = match self.reason {
            Reason::UserTokenRequired => rule == Some(OrganisationRule::Deny),
            Reason::ScopeNotApplicable => rule == Some(OrganisationRule::AllowWithoutScope),
            _ => true,
        };
        let detailed = match self.detail {
            Some(detail) => detail.reason() == self.reason,
            None => self.reason != Reason::MalformedRequest,
        };
        named == self.reason.named() && ruled && detailed
    }

    /// The charge of an allowed call.
    fn charge(&self) -> (u8, u64) {
        orb_column(match self.route {
            Some(route) => Some(route.orbs()),
            None => self.scope.and_then(|scope| scope.orbs()),
        })
    }
}
