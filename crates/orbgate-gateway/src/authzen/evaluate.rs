//! Maps subject, action and resource to a decision of the engine.

use std::borrow::Cow;
use std::sync::Arc;

use orbgate::{Decision, Engine, Request, Token};
use orbgate_gate::Credentials;
use orbgate_token::VerifiedToken;
use orbgate_tower::{Verified, VerifyToken};
use serde_json::{Value, json};

use super::message::{Action, Resource, Subject};
use crate::config::{AuthzenConfig, Listed};
use crate::state::State;

/// The resource types that need no configuration.
pub(crate) const ROUTE: &str = "route";
pub(crate) const TARGET: &str = "target";
pub(crate) const SCOPE: &str = "scope";

/// The action for a scope without a route.
pub(super) const USE: &str = "use";

/// The known properties of a subject.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// Its token is valid.
    Token(VerifiedToken),
    /// The configuration or the caller states them.
    Said(Listed),
}

impl Verified for Known {
    fn token(&self) -> Token<'_> {
        match self {
            Self::Token(token) => token.token(),
            Self::Said(said) => said.token(),
        }
    }

    fn fingerprint(&self) -> Option<String> {
        match self {
            Self::Token(token) => Verified::fingerprint(token),
            Self::Said(_) => None,
        }
    }
}

/// Why a request can't be mapped to a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unasked {
    status: u16,
    message: &'static str,
}

impl Unasked {
    pub(super) const TYPE: Self = Self {
        status: 404,
        message: "the type of the resource is unknown",
    };

    pub(super) const SEGMENT: Self = Self {
        status: 400,
        message: "the id of the resource is not one segment of a path",
    };
}

/// Answers with one state and one engine, even if they are replaced in the meantime.
#[derive(Debug)]
pub(super) struct Evaluator<'s> {
    pub(super) state: &'s State,
    pub(super) engine: Arc<Engine>,
}

impl<'s> Evaluator<'s> {
    pub(super) fn new(state: &'s State) -> Self {
        let engine = state.gate.engines().load();
        Self { state, engine }
    }

    pub(super) const fn config(&self) -> &'s AuthzenConfig {
        &self.state.config.authzen
    }

    /// The properties of a subject: from its token if the caller sends one, else from the configured list, else from
    /// the caller's message.
    pub(super) async fn known(&self, subject: &Subject) -> Credentials<Known> {
        let said = subject.properties.as_ref().map(|said| &said.0);
        if let Some(token) = said.and_then(|said| said.token.as_deref()) {
            // Checking a signature is a worker's most expensive task, and a message can contain many. Other requests
            // run between two of them.
            tokio::task::yield_now().await;
            return match VerifyToken::verify(&self.state.keys.fetcher, token).await {
                Ok(token) => Credentials::Token(Known::Token(token)),
                Err(refused) => Credentials::Refused(refused.code()),
            };
        }
        if let Some(listed) = self.config().subject(&subject.kind, &subject.id) {
            return Credentials::Token(Known::Said(listed.clone()));
        }
        match said.and_then(|said| said.scopes.as_deref()) {
            Some(scopes) => Credentials::Token(Known::Said(Listed::new(&subject.kind, scopes))),
            None => Credentials::None,
        }
    }

    /// The decision in the format of the specification. It is counted and audited.
    pub(super) fn answer(
        &self,
        known: &Credentials<Known>,
        action: &Action,
        resource: &Resource,
    ) -> (bool, Value) {
        match self.decide(known.token(), &action.name, resource) {
            Ok(decision) => {
                self.state.gate.note(&decision, known);
                let allowed = decision.is_allow();
                (allowed, json!({ "decision": allowed, "context": decision }))
            }
            Err(unasked) => (false, invalid(unasked.status, unasked.message)),
        }
    }

    /// Decides with the engine.
    pub(super) fn decide(
        &self,
        token: Option<Token<'_>>,
        action: &str,
        resource: &Resource,
    ) -> Result<Decision<'_>, Unasked> {
        let (engine, config) = (&*self.engine, self.config());
        let method = config.method(action);
        let id = resource.id.as_str();
        // No scope has an empty name, so this is the denial of an unknown resource.
        let nothing = || engine.decide_scope("", token, false);
        let target = match resource.kind.as_str() {
            ROUTE => {
                let route = engine.find_route(method, id);
                let decide =
                    |route: orbgate::Route<'_>| engine.decide_route(route.id(), token, false);
                return Ok(route.map_or_else(nothing, decide));
            }
            SCOPE if action == USE => return Ok(engine.decide_scope(id, token, false)),
            SCOPE => return Ok(nothing()),
            TARGET => Cow::Borrowed(id),
            kind => {
                let resource = config.resource(kind).ok_or(Unasked::TYPE)?;
                // The id must be one segment. Otherwise it could name another route, or be cut off
                // as a query.
                if id.contains(['/', '?']) {
                    return Err(Unasked::SEGMENT);
                }
                Cow::Owned(resource.target(id))
            }
        };
        Ok(engine.decide(&Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token,
            allow_bonus_orbs_use: false,
        }))
    }
}

/// The denial of an invalid request.
pub(super) fn invalid(status: u16, message: &str) -> Value {
    json!({ "decision": false, "context": { "error": { "status": status, "message": message } } })
}
