//! A call at an MCP endpoint, as far as its request is read.

use std::sync::Arc;

use orbgate::{Decision, Engine, Route, Token};

use super::fault::McpFault;
use super::response::McpResponse;
use super::target::METHOD;
use crate::request::same_template;

/// A call at an MCP endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpCall {
    pub(crate) endpoint: Box<str>,
    pub(super) target: Option<Box<str>>,
    /// The target is the template of a route.
    pub(super) is_template: bool,
    /// The targets of what must be allowed as well.
    pub(super) also: Vec<Box<str>>,
    pub(super) fault: Option<McpFault>,
    pub(super) id: Option<Box<str>>,
    /// It has a method, so a message with its id is its response.
    pub(super) is_request: bool,
    pub(super) is_legacy: bool,
    /// The protocol version that the header states.
    pub(super) requested: Box<str>,
    pub(super) code: i32,
    pub(super) session: Session,
    /// For a GET or DELETE that isn't declared, the methods that are.
    pub(super) allow: Option<String>,
    /// The origin of the page that sends it, one of the endpoint's.
    pub(super) page: Option<Box<str>>,
    /// The algorithms of a challenge for DPoP, if its body was read.
    pub(super) dpop: Option<Arc<str>>,
}

/// The session that a request names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Session {
    #[default]
    None,
    /// One in which no call consumes orbs.
    Free,
    /// One in which calls are charged however they end.
    Charged,
}

impl McpCall {
    /// The virtual target of the operation, whose method is `MCP`; for a completion of a resource, the template of its route. `None` if no
    /// route can declare it.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Why the request can't be decided.
    #[must_use]
    pub const fn fault(&self) -> Option<McpFault> {
        self.fault
    }

    /// The bytes of the request's `id`. `None` for what has no response: a notification, a client's response, a GET, a DELETE.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|_| self.is_request)
    }

    /// Whether the request's protocol version is an older one.
    #[must_use]
    pub const fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Whether the request names a session.
    #[must_use]
    pub fn is_in_session(&self) -> bool {
        self.session != Session::None
    }

    /// Whether the request must not consume orbs.
    pub(crate) fn must_be_free(&self) -> bool {
        self.id().is_some() && self.session == Session::Free
    }

    /// What reads the response to a request that consumes orbs.
    #[must_use]
    pub fn response(&self) -> Option<McpResponse> {
        self.id().map(|id| McpResponse::new(id, self.is_legacy).in_session(self.is_in_session()))
    }

    /// The denial of the request is for this fault.
    pub(crate) const fn with_fault(mut self, fault: McpFault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Decides the operation, and everything else that must be allowed with it.
    pub fn decide<'e>(&self, engine: &'e Engine, token: Option<Token<'_>>) -> Decision<'e> {
        let Some(target) = &self.target else {
            return engine.deny_misrouted();
        };
        if self.is_template {
            let is_it = |route: &Route<'_>| route.method() == METHOD && same_template(route.template(), target);
            return match engine.routes().find(is_it) {
                Some(route) => engine.decide_route(route.id(), token, false),
                None => engine.deny_misrouted(),
            };
        }
        let decide = |target: &str| Self::decide_target(engine, target, token);
        let own = decide(target);
        let mut also = self.also.iter().map(|target| decide(target));
        // It costs what its own route costs.
        also.find(|other| own.is_allow() && !other.is_allow()).unwrap_or(own)
    }

    pub(super) fn decide_target<'e>(engine: &'e Engine, target: &str, token: Option<Token<'_>>) -> Decision<'e> {
        engine.decide(&orbgate::Request {
            method: METHOD.as_bytes(),
            target: target.as_bytes(),
            token,
            allow_bonus_orbs_use: false,
        })
    }
}
