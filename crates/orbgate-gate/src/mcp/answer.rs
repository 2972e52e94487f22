//! From a request to an MCP endpoint to its answer.

use orbgate::{Decision, Detail, Engine, Profile, Reason};

use super::call::{McpCall, Session};
use super::denial::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use super::endpoint::Mcp;
use super::fault::McpFault;
use super::headers::Headers;
use super::message::Message;
use super::method::Method;
use super::reading::Reading;
use super::target::{METHOD, Operation, operation};
use crate::answer::Answer;
use crate::credentials::{Credentials, Verified};
use crate::next::Next;
use crate::request::{Matched, Request};
use crate::rules::Rules;

/// The rest of a request to an MCP endpoint, which is read only after its token is verified.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what an adapter must give")]
pub struct McpRequest<'a> {
    /// Each header line, a name and a value, or at least those whose names start with `content` or `mcp`, in any letter case.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    /// The whole body as received: [`McpFault::TooLarge`] if it exceeds the limit, [`McpFault::Unreadable`] if it can't be
    /// read.
    pub body: Result<&'a [u8], McpFault>,
}

impl Rules {
    /// What follows for a request to an endpoint with this template. `unrouted` is the decision on what isn't in its body.
    pub(crate) fn at_endpoint<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        request: &Request<'_>,
        (mcp, endpoint): (&Mcp, &str),
        unrouted: Decision<'e>,
        credentials: Credentials<T>,
    ) -> Next<'e, T> {
        let page = mcp.page(request.origin).map(Into::into);
        let mut call = McpCall { endpoint: endpoint.into(), code: INVALID_REQUEST, page, ..McpCall::default() };
        if !mcp.accepts(request.origin) {
            call.fault = Some(McpFault::Origin);
        }
        if unrouted.reason() == Reason::MalformedRequest || unrouted.reason().is_without_token() {
            return Next::Answer(self.called(engine, unrouted, credentials, call, Matched::Nothing));
        }
        let operation = match request.method {
            b"POST" => {
                return Next::ReadBody(Reading {
                    endpoint: call.endpoint,
                    taken: match request.matched {
                        Matched::Template(taken) if taken != endpoint => Some(taken.into()),
                        Matched::Unknown => Some("".into()),
                        Matched::Template(_) | Matched::Nothing => None,
                    },
                    most_bytes: mcp.most_bytes,
                    page: call.page,
                    credentials,
                    dpop: None,
                });
            }
            b"GET" => Some("/stream"),
            b"DELETE" => Some("/session/end"),
            _ => None,
        };
        call.allow = Some(mcp.allowed_methods(engine));
        call.target = operation.map(|operation| mcp.target(engine, operation).into());
        let decision = call.decide(engine, credentials.token());
        Next::Answer(self.called(engine, decision, credentials, call, request.matched))
    }

    /// The result for a request to an MCP endpoint, from its headers and its body.
    pub fn decide_body<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        reading: Reading<T>,
        request: McpRequest<'_>,
    ) -> Answer<'e, T> {
        let Reading { endpoint, taken, most_bytes: _, page, credentials, dpop } = reading;
        let Some(mcp) = &self.mcp else {
            return self.answer(engine.deny_malformed(Detail::Form), credentials, None);
        };
        let matched = match taken.as_deref() {
            None => Matched::Nothing,
            Some("") => Matched::Unknown,
            Some(taken) => Matched::Template(taken),
        };
        let headers = Headers(request.headers);
        let mut call = McpCall {
            endpoint,
            page,
            dpop,
            code: METHOD_NOT_FOUND,
            session: match headers.has("mcp-session-id") {
                true if mcp.charge_sessions => Session::Charged,
                true => Session::Free,
                false => Session::None,
            },
            ..McpCall::default()
        };
        let decision = match mcp.read(engine, &headers, request.body, &mut call) {
            Ok(()) => call.decide(engine, credentials.token()),
            Err(fault) => {
                call.fault = Some(fault);
                engine.deny_malformed(if fault == McpFault::TooLarge { Detail::Length } else { Detail::Form })
            }
        };
        self.called(engine, decision, credentials, call, matched)
    }

    /// The result for an operation that was allowed before, when a router has chosen a route. Any other call is denied.
    pub fn decide_operation<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        call: &McpCall,
        credentials: Credentials<T>,
        matched: Matched<'_>,
    ) -> Answer<'e, T> {
        let decision = call.decide(engine, credentials.token());
        self.called(engine, decision, credentials, call.clone(), matched)
    }

    fn called<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        decision: Decision<'e>,
        credentials: Credentials<T>,
        call: McpCall,
        matched: Matched<'_>,
    ) -> Answer<'e, T> {
        let dpop = call.dpop.clone();
        let answer = self.answer(decision, credentials, Some(call));
        let answer = self.routed(engine, self.as_mcp(answer), matched);
        // Of any other answer, the gate is the last to see it.
        match dpop {
            Some(algorithms) => answer.challenging_dpop(&algorithms),
            None => answer,
        }
    }
}

impl Mcp {
    /// Reads the operation, and as much of the call as an error needs.
    fn read(
        &self,
        engine: &Engine,
        headers: &Headers<'_>,
        body: Result<&[u8], McpFault>,
        call: &mut McpCall,
    ) -> Result<(), McpFault> {
        let body =
            body.and_then(|body| if body.len() > self.most_bytes { Err(McpFault::TooLarge) } else { Ok(body) })?;
        headers.check_content()?;
        let message = Message::read(body).map_err(|(fault, id)| {
            call.id = id;
            fault
        })?;
        call.id.clone_from(&message.id);
        call.requested = headers.version().into();
        (call.is_request, call.is_legacy) = (message.method.is_some(), !headers.is_modern(&self.versions));
        if message.method.as_deref().and_then(Method::of).is_some_and(Method::is_about) {
            call.code = INVALID_PARAMS;
        }
        headers.check_agreement(&message, &self.versions, self.legacy)?;
        let Operation { path, is_template, also } = operation(&message, engine.target() == Profile::EncodedParams)?;
        let target = |path: String| Box::from(self.target(engine, &path));
        call.target = path.map(target);
        call.is_template = is_template;
        call.also = also.into_iter().map(target).collect();
        Ok(())
    }

    /// The HTTP methods of an endpoint that a policy declares.
    fn allowed_methods(&self, engine: &Engine) -> String {
        let declares = |operation: &str| {
            let target = self.target(engine, operation);
            engine.routes().any(|route| route.method() == METHOD && route.template() == target)
        };
        let methods = [("DELETE", "/session/end"), ("GET", "/stream")];
        let methods = methods.iter().filter(|(_, operation)| declares(operation)).map(|(method, _)| *method);
        methods.chain(["POST"]).collect::<Vec<_>>().join(", ")
    }
}
