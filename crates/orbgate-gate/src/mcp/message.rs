//! A JSON-RPC message, as far as a decision needs it.

use super::fault::McpFault;
use super::json::{Json, Names};
use super::method::{Method, Parameter, Resources, is_notification};

/// The names of the protocol, of both eras, in the objects whose names are compared leniently.
const MESSAGE: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];
const PARAMS: &[&str] = &[
    "_meta",
    "argument",
    "arguments",
    "capabilities",
    "clientInfo",
    "context",
    "cursor",
    "inputResponses",
    "level",
    "name",
    "notifications",
    "progress",
    "progressToken",
    "protocolVersion",
    "reason",
    "ref",
    "requestId",
    "requestState",
    "resourceSubscriptions",
    "task",
    "taskId",
    "total",
    "uri",
];
const REF: &[&str] = &["name", "type", "uri"];
const NOTIFICATIONS: &[&str] =
    &["promptsListChanged", "resourceSubscriptions", "resourcesListChanged", "toolsListChanged"];
const META: &[&str] = &[
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/logLevel",
    VERSION,
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/subscriptionId",
    "progressToken",
    "traceparent",
    "tracestate",
    "baggage",
];
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// The bytes of its `id`; `None` for a notification.
    pub(super) id: Option<Box<str>>,
    /// `None` for the response of a client.
    pub(super) method: Option<String>,
    /// `params.name`, if it is a string.
    pub(super) name: Option<String>,
    /// `params.uri`, if it is a string.
    pub(super) uri: Option<String>,
    /// `params.taskId`, if it is a string.
    pub(super) task_id: Option<String>,
    /// The protocol version in `params._meta`.
    pub(super) version: Option<String>,
    /// `params.ref`, as far as it has strings.
    pub(super) referred: Referred,
    /// The resources that `params.notifications` names; `None` if they can't be read.
    pub(super) listened: Option<Vec<String>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Referred {
    kind: Option<String>,
    name: Option<String>,
    uri: Option<String>,
}

/// What a completion is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reference<'m> {
    Prompt(&'m str),
    /// A URI or a template of URIs.
    Resource(&'m str),
}

/// A fault, with the `id` that was read before it.
pub(super) type Faulty = (McpFault, Option<Box<str>>);

impl Message {
    /// A message that calls a method for what has this name.
    pub(super) fn calling(method: &str, name: &str) -> Self {
        let (method, name) = (method.to_owned(), name.to_owned());
        Self { method: Some(method), uri: Some(name.clone()), name: Some(name), ..Self::default() }
    }

    pub(super) fn read(body: &[u8]) -> Result<Self, Faulty> {
        let mut message = Self { listened: Some(Vec::new()), ..Self::default() };
        let mut parts = Parts::default();
        match message.fill(body, &mut parts) {
            Ok(()) => Ok(message),
            // The body might have a second `id`.
            Err(fault @ (McpFault::Member | McpFault::Json | McpFault::Utf8)) => Err((fault, None)),
            Err(fault) => Err((fault, message.id)),
        }
    }

    /// The value that `Mcp-Name` repeats, if it is a string.
    pub(super) fn repeated(&self) -> Option<&str> {
        match Method::of(self.method.as_deref()?)?.repeated? {
            Parameter::Name => self.name.as_deref(),
            Parameter::Uri => self.uri.as_deref(),
            Parameter::TaskId => self.task_id.as_deref(),
        }
    }

    /// What its `ref` names.
    pub(super) fn reference(&self) -> Option<Reference<'_>> {
        match self.referred.kind.as_deref()? {
            "ref/prompt" => self.referred.name.as_deref().map(Reference::Prompt),
            "ref/resource" => self.referred.uri.as_deref().map(Reference::Resource),
            _ => None,
        }
    }

    /// The resources that a parameter names.
    pub(super) fn resources(&self, of: Resources) -> Result<Vec<&str>, McpFault> {
        let uris = match of {
            Resources::Uri => self.uri.as_deref().map(|uri| vec![uri]),
            Resources::Subscriptions => self.listened.as_ref().map(|uris| uris.iter().map(String::as_str).collect()),
        };
        uris.ok_or(McpFault::Params)
    }

    fn fill(&mut self, body: &[u8], parts: &mut Parts) -> Result<(), McpFault> {
        let mut json = Json::new(body)?;
        match json.peek() {
            Some(b'{') => {}
            Some(b'[') => {
                json.skip()?;
                json.end()?;
                return Err(McpFault::Batch);
            }
            _ => {
                json.skip()?;
                json.end()?;
                return Err(McpFault::Message);
            }
        }
        let mut late = None;
        json.object(Names::Protocol(MESSAGE), |name, json| {
            match name {
                "jsonrpc" => parts.is_2_0 = json.string_or_skip()?.as_deref() == Some("2.0"),
                "id" => {
                    let raw = json.raw()?;
                    let is_id = raw.starts_with(['"', '-']) || raw.starts_with(|first: char| first.is_ascii_digit());
                    // An id of another type isn't echoed.
                    match is_id {
                        true => self.id = Some(raw.into()),
                        false => late = Some(McpFault::Message),
                    }
                }
                "method" => match json.string_or_skip()? {
                    Some(method) => self.method = Some(method.into_owned()),
                    None => late = Some(McpFault::Message),
                },
                "params" if json.peek() == Some(b'{') => self.params(json)?,
                "params" => {
                    json.skip()?;
                    late = late.or(Some(McpFault::Params));
                }
                "result" | "error" => {
                    json.skip()?;
                    parts.results = parts.results.saturating_add(1);
                }
                _ => json.skip()?,
            }
            Ok(())
        })?;
        json.end()?;
        if let Some(fault) = late {
            return Err(fault);
        }
        let is_whole = match self.method {
            Some(_) => parts.results == 0,
            None => parts.results == 1 && self.id.is_some(),
        };
        if !parts.is_2_0 || !is_whole {
            return Err(McpFault::Message);
        }
        let lacks_id = self.id.is_none() && self.method.as_deref().is_some_and(|method| !is_notification(method));
        if lacks_id { Err(McpFault::NoId) } else { Ok(()) }
    }

    fn params(&mut self, json: &mut Json<'_>) -> Result<(), McpFault> {
        json.object(Names::Protocol(PARAMS), |name, json| {
            match name {
                "name" => self.name = json.string_or_skip()?.map(Into::into),
                "uri" => self.uri = json.string_or_skip()?.map(Into::into),
                "taskId" => self.task_id = json.string_or_skip()?.map(Into::into),
                "ref" if json.peek() == Some(b'{') => json.object(Names::Protocol(REF), |name, json| {
                    let value = json.string_or_skip()?.map(Into::into);
                    match name {
                        "type" => self.referred.kind = value,
                        "name" => self.referred.name = value,
                        "uri" => self.referred.uri = value,
                        _ => {}
                    }
                    Ok(())
                })?,
                "notifications" if json.peek() == Some(b'{') => {
                    json.object(Names::Protocol(NOTIFICATIONS), |name, json| match name {
                        "resourceSubscriptions" => {
                            self.listened = json.strings_or_skip()?;
                            Ok(())
                        }
                        _ => json.skip(),
                    })?;
                }
                // Where no server should read them.
                "notifications" | "resourceSubscriptions" => {
                    self.listened = None;
                    json.skip()?;
                }
                "_meta" if json.peek() == Some(b'{') => {
                    json.object(Names::Protocol(META), |name, json| match name {
                        VERSION => {
                            // Another type than a string agrees with no header.
                            self.version = Some(json.string_or_skip()?.unwrap_or_default().into());
                            Ok(())
                        }
                        _ => json.skip(),
                    })?
                }
                _ => json.skip()?,
            }
            Ok(())
        })
    }
}

#[derive(Default)]
struct Parts {
    is_2_0: bool,
    results: u8,
}
