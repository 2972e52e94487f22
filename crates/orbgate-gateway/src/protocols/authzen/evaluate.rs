//! Maps subject, action and resource to a decision of the engine.

use std::borrow::Cow;
use std::sync::Arc;

use orbgate::{Decision, Engine, Grant, Request, RouteId, Token, without_earned};
use orbgate_analysis::{Explanation, explain, explain_route, explain_scope};
use orbgate_gate::Credentials;
use orbgate_token::VerifiedToken;
use orbgate_tower::{Verified, VerifyToken};
use serde_json::{Value, json};

use super::message::{Action, Resource, Subject};
use crate::authorize::state::State;
use crate::config::authzen::{ROUTE, SCOPE, TARGET};
use crate::config::{AuthzenConfig, Listed};

/// The action for a scope without a route.
pub(super) const USE: &str = "use";

/// The known properties of a subject.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Token(VerifiedToken),
    /// The configuration or the caller states them.
    Said(Listed),
}

impl Verified for Known {
    fn token(&self) -> Token<'_> {
        match self {
            Self::Token(token) => token.token(),
            Self::Said(listed) => listed.token(),
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
    pub(super) const TYPE: Self = Self { status: 404, message: "the type of the resource is unknown" };

    pub(super) const SEGMENT: Self =
        Self { status: 400, message: "the id of the resource is not one segment of a path" };
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
        let properties = subject.properties.as_ref().map(|properties| &properties.0);
        if let Some(token) = properties.and_then(|properties| properties.token.as_deref()) {
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
        match properties.and_then(|properties| properties.scopes.as_deref()) {
            // A caller can't claim what only `derive` gives. A configured subject may have it.
            Some(scopes) => Credentials::Token(Known::Said(Listed::new(&subject.kind, &without_earned(scopes)))),
            None => Credentials::None,
        }
    }

    /// The decision in the format of the specification. It is counted and audited, and explained in the log with `debug`.
    pub(super) fn answer(&self, known: &Credentials<Known>, action: &Action, resource: &Resource) -> (bool, Value) {
        let question = match self.asked(&action.name, resource) {
            Ok(question) => question,
            Err(unasked) => return (false, invalid(unasked.status, unasked.message)),
        };
        let (engine, gate, token) = (&*self.engine, &self.state.gate, known.token());
        let decision = question.decide(engine, token);
        gate.note(&decision, known);
        let target = match &question.about {
            About::Call(target) => target,
            About::Route(_) | About::Scope(_) => &*resource.id,
        };
        let (method, target) = (question.method.as_bytes(), target.as_bytes());
        gate.explain(&decision, method, target, |target| question.explain(engine, token, target));
        let allowed = decision.is_allow();
        (allowed, json!({ "decision": allowed, "context": decision }))
    }

    pub(super) fn decide(
        &self,
        token: Option<Token<'_>>,
        action: &str,
        resource: &Resource,
    ) -> Result<Decision<'_>, Unasked> {
        let question = self.asked(action, resource)?;
        Ok(question.decide(&self.engine, token))
    }

    /// The question for the engine.
    fn asked<'a>(&'a self, action: &'a str, resource: &'a Resource) -> Result<Asked<'a>, Unasked> {
        let config = self.config();
        let method = config.method(action);
        let id = resource.id.as_str();
        // No scope has an empty name, so this is the denial of an unknown resource.
        let nothing = About::Scope("");
        let about = match resource.kind.as_str() {
            ROUTE => {
                let route = self.engine.find_route(method, id);
                route.map_or(nothing, |route| About::Route(route.id()))
            }
            SCOPE if action == USE => About::Scope(id),
            SCOPE => nothing,
            TARGET => About::Call(Cow::Borrowed(id)),
            kind => {
                let resource = config.resource(kind).ok_or(Unasked::TYPE)?;
                // The id must be one segment. Otherwise it could name another route, or be cut off
                // as a query.
                if id.contains(['/', '?']) {
                    return Err(Unasked::SEGMENT);
                }
                About::Call(Cow::Owned(resource.target(id)))
            }
        };
        Ok(Asked { method, about })
    }
}

#[derive(Debug)]
struct Asked<'a> {
    /// The method of a call; the action itself for a scope.
    method: &'a str,
    about: About<'a>,
}

/// The parts of a policy that a question is about.
#[derive(Debug)]
enum About<'a> {
    Call(Cow<'a, str>),
    Route(RouteId),
    Scope(&'a str),
}

impl Asked<'_> {
    fn decide<'e>(&self, engine: &'e Engine, token: Option<Token<'_>>) -> Decision<'e> {
        match &self.about {
            About::Call(target) => engine.decide(&self.call(target.as_bytes(), token)),
            About::Route(route) => engine.decide_route(*route, token, false),
            About::Scope(scope) => engine.decide_scope(scope, token, false),
        }
    }

    /// Explains the same decision, for a call with this target.
    fn explain<'e>(&self, engine: &'e Engine, token: Option<Token<'_>>, target: &[u8]) -> Explanation<'e> {
        let grant = Grant::default();
        match &self.about {
            About::Call(_) => explain(engine, &self.call(target, token), &grant),
            About::Route(route) => explain_route(engine, *route, token, false, &grant),
            About::Scope(scope) => explain_scope(engine, scope, token, false, &grant),
        }
    }

    const fn call<'c>(&'c self, target: &'c [u8], token: Option<Token<'c>>) -> Request<'c> {
        Request { method: self.method.as_bytes(), target, token, allow_bonus_orbs_use: false }
    }
}

/// The denial of an invalid request.
pub(super) fn invalid(status: u16, message: &str) -> Value {
    json!({ "decision": false, "context": { "error": { "status": status, "message": message } } })
}
