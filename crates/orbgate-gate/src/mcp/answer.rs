//! From a request to an MCP endpoint to its answer.

use orbgate::{Decision, Detail, Engine, Reason, Token};

use super::fault::McpFault;
use super::headers::Headers;
use super::message::Message;
use super::method::Method;
use super::response::McpResponse;
use super::target::operation;
use super::{METHOD, Mcp};
use crate::answer::{Answer, Denial};
use crate::credentials::{Credentials, Verified};
use crate::order::Opened;
use crate::request::Matched;
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

/// A call at an MCP endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpCall {
    pub(crate) endpoint: Box<str>,
    target: Option<Box<str>>,
    fault: Option<McpFault>,
    id: Option<Box<str>>,
    /// It has a method, so a message with its id is its response.
    is_request: bool,
    is_legacy: bool,
    /// The protocol version that the header states.
    requested: Box<str>,
    code: i32,
    session: Session,
    /// For a GET or DELETE that isn't declared, the methods that are.
    allow: Option<String>,
    /// The most bytes of the body, if it must be read first.
    body: Option<usize>,
    /// The router's template if it isn't the endpoint's; empty if the router didn't report one.
    taken: Option<Box<str>>,
}

/// The session that a request names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Session {
    #[default]
    None,
    /// One in which no call consumes orbs.
    Free,
    /// One in which calls are charged however they end.
    Charged,
}

impl McpCall {
    /// The virtual target of the operation, whose method is `MCP`. `None` if no route can declare it.
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

    /// Set if the token is valid, and the operation isn't known yet: read the body, up to so many bytes, and pass it with this
    /// call and the credentials to [`Rules::decide_body`]. Until then the request is denied.
    #[must_use]
    pub const fn reads_body(&self) -> Option<usize> {
        self.body
    }
}

/// The code for an operation that isn't declared.
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INVALID_REQUEST: i32 = -32600;
/// The code for a call whose orbs can't be held, one that servers may define.
const UNPAID: i32 = -32000;

impl<'e> Opened<'e, '_> {
    /// The result for a request to an endpoint, as far as it is known without a body.
    pub(crate) fn at_endpoint<T: Verified>(
        self,
        mcp: &Mcp,
        endpoint: &str,
        credentials: Credentials<T>,
    ) -> Answer<'e, T> {
        let (rules, engine, request) = (self.rules, self.engine, self.request);
        let mut call = McpCall { endpoint: endpoint.into(), code: INVALID_REQUEST, ..McpCall::default() };
        if !mcp.accepts(request.origin) {
            call.fault = Some(McpFault::Origin);
        }
        let unrouted = self.decide_unrouted(credentials.token());
        if unrouted.reason() == Reason::MalformedRequest || unrouted.reason().is_without_token() {
            return rules.called(engine, unrouted, credentials, call, Matched::Nothing);
        }
        let operation = match request.method {
            b"POST" => {
                call.body = Some(mcp.most_bytes);
                call.taken = match request.matched {
                    Matched::Template(taken) if taken != endpoint => Some(taken.into()),
                    Matched::Unknown => Some("".into()),
                    _ => None,
                };
                let decision = engine.deny_malformed(Detail::Form);
                return rules.called(engine, decision, credentials, call, Matched::Nothing);
            }
            b"GET" => Some("/stream"),
            b"DELETE" => Some("/session/end"),
            _ => None,
        };
        call.allow = Some(mcp.allowed_methods(engine));
        call.target = operation.map(|operation| mcp.target(engine, operation).into());
        let decision = call.decide(engine, credentials.token());
        rules.called(engine, decision, credentials, call, request.matched)
    }
}

impl Rules {
    /// The result for a request to an MCP endpoint, of which the answer to its headers had this call, which [needs the
    /// body](McpCall::reads_body), and these credentials. Any other call is denied.
    pub fn decide_body<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        call: &McpCall,
        credentials: Credentials<T>,
        request: McpRequest<'_>,
    ) -> Answer<'e, T> {
        let endpoint = &call.endpoint;
        let (Some(mcp), Some(_)) = (&self.mcp, call.body) else {
            return self.answer(engine.deny_malformed(Detail::Form), credentials, None);
        };
        let matched = match call.taken.as_deref() {
            None => Matched::Nothing,
            Some("") => Matched::Unknown,
            Some(taken) => Matched::Template(taken),
        };
        let headers = Headers(request.headers);
        let mut call = McpCall {
            endpoint: endpoint.clone(),
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
        let answer = self.answer(decision, credentials, Some(call));
        self.routed(engine, self.as_mcp(answer), matched)
    }

    /// A result, whose denial an MCP client understands if the request was for an endpoint.
    pub(crate) fn as_mcp<'e, T: Verified>(&self, mut answer: Answer<'e, T>) -> Answer<'e, T> {
        let (Some(mcp), Some(call), Some(denial)) = (&self.mcp, &answer.mcp, &mut answer.denial) else {
            return answer;
        };
        if self.is_flat() {
            return answer;
        }
        let reason = answer.decision.reason();
        let is_undeclared = matches!(reason, Reason::NoRoute | Reason::MethodNotDeclared);
        if is_undeclared {
            denial.allow = call.allow.clone();
            denial.status = match (&denial.allow, call.is_in_session()) {
                (Some(_), _) => 405,
                // A client takes a 404 for the end of its session.
                (None, true) => 400,
                (None, false) => 404,
            };
        }
        if call.fault == Some(McpFault::Busy) {
            (denial.status, denial.retry_after) = (429, Some(1));
        }
        if call.fault == Some(McpFault::Origin) {
            // No scope would help.
            (denial.status, denial.www_authenticate) = (403, None);
            return answer;
        }
        if matches!(denial.status, 400 | 402 | 404 | 429 | 503) {
            denial.body = Some(mcp.error(call, reason, denial.retry_after));
        }
        answer
    }
}

impl McpCall {
    fn decide<'e>(&self, engine: &'e Engine, token: Option<Token<'_>>) -> Decision<'e> {
        let Some(target) = &self.target else {
            return engine.deny_misrouted();
        };
        Self::decide_target(engine, target, token)
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
        if message.method.as_deref().and_then(Method::of).is_some_and(Method::is_named) {
            call.code = INVALID_PARAMS;
        }
        headers.check_agreement(&message, &self.versions, self.legacy)?;
        let operation = operation(&message)?;
        call.target = operation.map(|operation| self.target(engine, &operation).into());
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

    /// The JSON-RPC error for a denied call. Without an `id` to echo, it has none, as MCP writes it.
    fn error(&self, call: &McpCall, reason: Reason, retry_after: Option<u64>) -> Box<[u8]> {
        let (code, message, data) = match (call.fault, reason) {
            (Some(McpFault::Version), _) => {
                let (code, message) = McpFault::Version.error();
                (code, message, Some(serde_json::json!({ "supported": self.versions, "requested": call.requested })))
            }
            (Some(fault), _) => {
                let (code, message) = fault.error();
                (code, message, None)
            }
            (None, Reason::InsufficientOrbs | Reason::LedgerUnavailable) => {
                let data = serde_json::json!({ "reason": reason.as_str(), "retryable": retry_after.is_some() });
                let message = match reason {
                    Reason::InsufficientOrbs => "the account doesn't have the orbs that the call consumes",
                    _ => "the ledger of orbs doesn't answer",
                };
                (UNPAID, message, Some(data))
            }
            (None, Reason::MalformedRequest) => (INVALID_REQUEST, "the request has no single, safe spelling", None),
            (None, _) => {
                (call.code, if call.code == METHOD_NOT_FOUND { "method not found" } else { "unknown name" }, None)
            }
        };
        let mut error = serde_json::json!({ "code": code, "message": message });
        if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
            error.insert("data".to_owned(), data);
        }
        // The id isn't a value of the library, so that its bytes stay as they are.
        let id = call.id.as_deref().map(|id| format!("\"id\":{id},")).unwrap_or_default();
        format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{error}}}").into_bytes().into()
    }

    pub(crate) const CONTENT_TYPE: &str = "application/json";
}

impl Denial {
    /// The content type of the body, if there is one.
    #[must_use]
    pub fn content_type(&self) -> Option<&'static str> {
        self.body.as_ref().map(|_| Mcp::CONTENT_TYPE)
    }
}
