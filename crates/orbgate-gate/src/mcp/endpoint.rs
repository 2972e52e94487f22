//! An MCP endpoint: its settings, and which routes are below it.

use std::collections::BTreeSet;

use orbgate::{Engine, Orbs, Profile, Token};
use orbgate_token::LONGEST_PARAMETER;

use super::call::McpCall;
use super::error::McpError;
use super::headers::Legacy;
use super::message::Message;
use super::method::Method;
use super::name::{is_name, of_template};
use super::target::{METHOD, is_notified, is_operation, operation};
use crate::challenge::{fits, is_quotable, requestable};
use crate::public::PublicRoutes;

/// An MCP endpoint: one path, whose requests are decided by the operation in their bodies.
///
/// The operation `tools/call` of the tool `refund` at the endpoint `/mcp` is the route `MCP /mcp/tools/call/refund`. The
/// [page about MCP](https://github.com/orbgate/orbgate/blob/main/docs/mcp.md) lists the others.
///
/// ```
/// use orbgate_gate::Mcp;
///
/// let mcp = Mcp::new("/mcp")?.initial_scopes("mcp:connect")?;
/// # Ok::<(), orbgate_gate::McpError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mcp {
    path: String,
    endpoint: PublicRoutes,
    pub(super) most_bytes: usize,
    pub(super) versions: Vec<String>,
    pub(super) legacy: Legacy,
    pub(super) charge_sessions: bool,
    initial_scopes: String,
    pub(super) origins: Vec<String>,
}

impl Mcp {
    /// The most bytes of bodies that a host should hold for all requests: another one is
    /// [`McpFault::Busy`](crate::McpFault::Busy).
    pub const MOST_HELD: usize = 64 << 20;

    /// An endpoint at this path, written as in a policy, with the defaults.
    ///
    /// # Errors
    ///
    /// Fails if a policy can't have this path, or if it has a parameter.
    pub fn new(path: &str) -> Result<Self, McpError> {
        let is_literal = path != "/" && !path.contains(['{', ' ']);
        let endpoint = PublicRoutes::new([format!("POST {path}")]);
        let endpoint = endpoint.ok().filter(|_| is_literal);
        let endpoint =
            endpoint.ok_or_else(|| McpError::of(format!("`{path}` can't be the path of an MCP endpoint")))?;
        Ok(Self {
            path: path.to_owned(),
            endpoint,
            most_bytes: 4 << 20,
            versions: vec!["2026-07-28".to_owned()],
            legacy: Legacy::Body,
            charge_sessions: false,
            initial_scopes: String::new(),
            origins: Vec::new(),
        })
    }

    /// The longest body. Default: 4 MiB.
    #[must_use]
    pub const fn most_bytes(mut self, most: usize) -> Self {
        self.most_bytes = most;
        self
    }

    /// The protocol versions whose headers repeat the body, so `Mcp-Method` and `Mcp-Name` are required. Default:
    /// `2026-07-28`.
    #[must_use]
    pub fn versions<S: Into<String>>(mut self, versions: impl IntoIterator<Item = S>) -> Self {
        self.versions = versions.into_iter().map(Into::into).collect();
        self
    }

    /// How requests of other versions are decided. Default: by the body.
    #[must_use]
    pub const fn legacy(mut self, legacy: Legacy) -> Self {
        self.legacy = legacy;
        self
    }

    /// Whether a ledger's gate accepts calls that consume orbs in sessions, which only older versions have. Such a call costs what
    /// is held however it ends, unless the HTTP status is 400 to 499, which says that nothing ran. Default: no, they are denied
    /// with 400.
    ///
    /// In a session, callers choose which response a call gets: servers send it by the call's `id`, so a free call with the
    /// same `id`, a cancellation or the session's end can take the place of the response to a tool that has done its work.
    #[must_use]
    pub const fn charge_sessions(mut self, charge: bool) -> Self {
        self.charge_sessions = charge;
        self
    }

    /// The scopes that a client without a token should ask for, separated by spaces, without those that [must be
    /// earned](orbgate::is_earned). It is a setting, because a scope of the
    /// requested operation would show callers without a token what the policy has.
    ///
    /// # Errors
    ///
    /// Fails if the string contains a character that isn't printable ASCII, or `"` or `\`, or has more than 1,024 characters.
    pub fn initial_scopes(mut self, scopes: &str) -> Result<Self, McpError> {
        if !is_quotable(scopes) {
            return Err(McpError::of(format!("`{scopes}` aren't scopes")));
        }
        self.initial_scopes = requestable(scopes).join(" ");
        if !fits(&self.initial_scopes) {
            let message = format!(
                "the initial scopes have over {LONGEST_PARAMETER} bytes, the most that a challenge has room for"
            );
            return Err(McpError::of(message));
        }
        Ok(self)
    }

    /// The origins whose pages may send requests, such as `https://app.example`, and read the responses: the gate answers their
    /// browsers' preflights, and each response has the headers of CORS, in place of the service's. Any other page is denied before
    /// its token is read, so that no rebound name of a host reaches a local server. Clients that aren't browsers send no `Origin`.
    /// Default: none.
    ///
    /// # Errors
    ///
    /// Fails if one isn't spelled as browsers send it: a scheme, a host in lower case, and a port unless it is the default.
    pub fn origins<S: Into<String>>(mut self, origins: impl IntoIterator<Item = S>) -> Result<Self, McpError> {
        self.origins = origins.into_iter().map(Into::into).collect();
        match self.origins.iter().find(|origin| !is_origin(origin)) {
            Some(origin) => Err(McpError::of(format!("no browser sends the origin `{origin}`"))),
            None => Ok(self),
        }
    }

    /// Whether a request with these values of `Origin` may be decided. An empty value names no page.
    pub(crate) fn accepts(&self, origins: &[&[u8]]) -> bool {
        let is_known = |origin: &[u8]| origin.is_empty() || self.origins.iter().any(|it| it.as_bytes() == origin);
        origins.iter().all(|origin| is_known(origin))
    }

    /// Whether a tool with this name can have a route (SEP-986).
    #[must_use]
    pub fn is_tool_name(name: &str) -> bool {
        is_name(name)
    }

    /// The route of the resources of a URI template (RFC 6570), below the endpoint: that of `orders://{id}/items` is
    /// `/resources/read/orders:/{id}/items`. `None` if no route can have them all.
    #[must_use]
    pub fn resource_route(template: &str) -> Option<String> {
        of_template(template).map(|path| format!("/resources/read/{path}"))
    }

    /// The path, as given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The scopes that a client without a token should ask for.
    #[must_use]
    pub fn scopes(&self) -> &str {
        &self.initial_scopes
    }

    /// Checks that a policy has only operations at and below the endpoint, that each of them can be called, and that no
    /// notification consumes orbs. Call it for each policy before you pass it to a gate.
    ///
    /// # Errors
    ///
    /// Returns every route of another method, every route of no operation, and every notification with a price, each with its
    /// line and column.
    pub fn check(&self, engine: &Engine) -> Result<(), McpError> {
        let routes = engine.routes().filter_map(|route| {
            let template = route.template();
            let operation = self.below(template.strip_suffix('/').unwrap_or(template));
            let is_at = operation.is_some() || self.endpoint.template(engine, b"POST", template.as_bytes()).is_some();
            let why = match (route.method() == METHOD, operation) {
                (false, _) if is_at => "only MCP operations can be at an MCP endpoint and below it",
                (true, Some(operation)) if !is_operation(operation) => "no MCP operation has this route",
                (true, Some(operation)) if is_notified(operation) && route.orbs() != Orbs::Free => {
                    "a notification has no response, so it can't consume orbs: give it a scope with `orbs: false`"
                }
                _ => return None,
            };
            let place = route.location();
            Some((place, format!("{place}: route `{}`: {why}", route.as_str())))
        });
        let mut lines: Vec<_> = routes.collect::<BTreeSet<_>>().into_iter().map(|(_, line)| line).collect();
        // A template with a parameter can match the endpoint.
        if lines.is_empty()
            && let Err(error) = self.endpoint.check(engine)
        {
            lines.extend(error.lines().iter().cloned());
        }
        if lines.is_empty() { Ok(()) } else { Err(McpError { lines }) }
    }

    /// Those of these names that a token may pass to a method: tools to `tools/call`, prompts to `prompts/get`, and URIs to
    /// `resources/read`. Lists aren't filtered by a gate, because a client asks for a scope only when it calls something that
    /// needs it. A server whose tokens never get more scopes can list only these.
    #[must_use]
    pub fn visible<'n>(
        &self,
        engine: &Engine,
        token: Token<'_>,
        method: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Vec<&'n str> {
        let is_allowed = |name: &str| {
            Method::of(method).filter(|method| method.is_named())?;
            let has_escapes = engine.target() == Profile::EncodedParams;
            let path = operation(&Message::calling(method, name), has_escapes).ok()?.path?;
            let target = self.target(engine, &path);
            Some(McpCall::decide_target(engine, &target, Some(token)).is_allow())
        };
        names.into_iter().filter(|name| is_allowed(name).unwrap_or_default()).collect()
    }

    /// The rest of a path or template below the endpoint, with its leading `/`.
    fn below<'t>(&self, path: &'t str) -> Option<&'t str> {
        path.strip_prefix(&*self.path).filter(|rest| rest.starts_with('/'))
    }

    /// Whether a service with this endpoint serves a route of a policy.
    pub(crate) fn serves(&self, method: &str, template: &str) -> bool {
        let below = self.below(template.strip_suffix('/').unwrap_or(template));
        method == METHOD && below.is_some_and(is_operation)
    }

    /// Whether a route of a service is the endpoint's, whose requests the gate decides by their operations.
    pub(crate) fn is_endpoint(&self, engine: &Engine, method: &str, template: &str) -> bool {
        let is_method = matches!(method, "POST" | "GET" | "DELETE");
        is_method && self.template(engine, template.as_bytes()).is_some_and(|endpoint| endpoint == template)
    }

    /// The endpoint's template in the spelling of a router with this policy, if a target is the endpoint's.
    pub(crate) fn template(&self, engine: &Engine, target: &[u8]) -> Option<&str> {
        target.starts_with(self.path.as_bytes()).then(|| self.endpoint.template(engine, b"POST", target))?
    }

    /// The virtual target of an operation, as the policy spells paths.
    pub(super) fn target(&self, engine: &Engine, operation: &str) -> String {
        let slash = if engine.trailing_slash() { "/" } else { "" };
        format!("{}{operation}{slash}", self.path)
    }
}

fn is_origin(origin: &str) -> bool {
    let (scheme, host) = origin.split_once("://").unwrap_or_default();
    let default = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let is_default = !default.is_empty() && host.ends_with(default);
    let is_of_host = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._:[]".contains(&byte);
    !scheme.is_empty() && !host.is_empty() && !is_default && scheme.bytes().chain(host.bytes()).all(is_of_host)
}
