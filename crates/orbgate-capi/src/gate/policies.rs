//! Answers about a policy: whether it fits the gate and the service, and its replacement.

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_gate::{Follower, RoutesDiffer, Undeclared, check_routes};

use super::asking::{Asking, diagnostics, given};
use super::messages::*;
use super::options::{invalid, number, templates};
use super::progress::State;
use super::reload::{refusal, reload};
use super::request::milliseconds;
use super::routes::{ORBGATE_DIFFERENCE_UNDECLARED, ORBGATE_DIFFERENCE_UNSERVED};
use super::wire::INVALID;
use crate::engine::OrbgateEngine;
use crate::status::OrStatus;

impl Asking<'_> {
    pub(super) fn check_engine(&mut self) -> OrStatus {
        let (gate, engine) = (self.gate()?, self.engine()?);
        let rules = gate.gate.rules();
        let public = rules.public.as_ref().map_or(Ok(()), |public| public.check(engine.engine()));
        let mcp = rules.mcp.as_ref().map_or(Ok(()), |mcp| mcp.check(engine.engine()));
        match (public, mcp) {
            (Ok(()), Ok(())) => self.stated(gate.charges(false, &[]).statement(engine.engine())),
            (Err(error), _) => self.failed(&invalid(&error)),
            (_, Err(error)) => self.failed(&invalid(&error)),
        }
    }

    pub(super) fn routes(&mut self, question: &CheckRoutes<'_>) -> OrStatus {
        let engine = self.engine()?;
        let written = number(question.templates)?;
        let (public, mcp, style) = match self.gate {
            None => (None, None, templates(written)?),
            // The gate's options have it.
            Some(_) if written != 0 => return Err(INVALID),
            Some(gate) => (gate.gate.rules().public.as_deref(), gate.gate.rules().mcp.as_deref(), gate.templates),
        };
        let routes: Vec<(&str, String)> =
            question.routes.iter().map(|route| (route.method, style.in_policy(route.path_template))).collect();
        if let Some(gate) = self.gate {
            gate.serves(routes.iter().map(|(method, template)| ((*method).to_owned(), template.clone())).collect());
        }
        let routes = routes.iter().map(|(method, template)| (*method, template.as_str()));
        let differ = check_routes(engine.engine(), public, mcp.as_slice(), routes).err();
        let differences = differ.as_ref().map(differences).unwrap_or_default();
        RouteDifferences { differences }.write(&mut self.to())
    }

    pub(super) fn reload(&mut self, question: &Reload<'_>) -> OrStatus {
        let (gate, active, interval) =
            (self.gate()?, self.engine.map(OrbgateEngine::engine), Duration::from_millis(question.interval_ms));
        let mut follower = match self.step.take() {
            _ if interval.is_zero() => None,
            State::Follow(follower) => Some(follower),
            _ => Some(Box::new(Follower::new(interval))),
        };
        let outcome = reload(gate, active, follower.as_deref_mut(), question, &given(&question.secrets))?;
        let error = outcome.error.as_ref().map(|error| refusal(error, question.file));
        let (status, reason, diagnostics) = error.as_ref().map_or((0, "", Vec::new()), |error| {
            let (status, reason, located) = error.parts();
            (u64::try_from(status.number()).unwrap_or_default(), reason, diagnostics(located))
        });
        let told = Loaded {
            is_loaded: outcome.engine.is_some(),
            result: outcome.result,
            message: &outcome.message,
            warning: &outcome.warning,
            status,
            diagnostics,
            pause_ms: follower.as_ref().map_or(0, |follower| milliseconds(follower.pause())),
            reason,
        };
        told.write(&mut self.to())?;
        self.step.state = follower.map_or(State::Idle, State::Follow);
        Ok(())
    }

    pub(super) fn visible(&mut self, question: &Visible<'_>) -> OrStatus {
        let (mcp, engine) = (self.gate()?.gate.rules().mcp.as_deref().ok_or(INVALID)?, self.engine()?);
        let kind = TokenKind::ALL.into_iter().find(|kind| u64::from(kind.number()) == question.kind);
        let token = orbgate::Token { kind: kind.unwrap_or_default(), scopes: question.scopes.into() };
        let names = mcp.visible(engine.engine(), token, question.method, question.names.iter().copied());
        VisibleNames { names: &names.join("\n") }.write(&mut self.to())
    }
}

fn differences(differ: &RoutesDiffer) -> Vec<RouteDifference<'_>> {
    let undeclared = differ.undeclared().iter().map(|Undeclared { route, decided_as, .. }| RouteDifference {
        kind: ORBGATE_DIFFERENCE_UNDECLARED.into(),
        route,
        decided_as: decided_as.as_deref().unwrap_or_default(),
    });
    let unserved = differ.unserved().iter().map(|route| RouteDifference {
        kind: ORBGATE_DIFFERENCE_UNSERVED.into(),
        route,
        decided_as: "",
    });
    undeclared.chain(unserved).collect()
}
