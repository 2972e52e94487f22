//! The methods of MCP: one row for each of which more than its name counts.

use super::name::{of_resource, of_tool};

/// What a gate knows about a method.
#[derive(Debug)]
pub(super) struct Method {
    name: &'static str,
    /// The parameter that `Mcp-Name` repeats.
    pub(super) repeated: Option<Parameter>,
    pub(super) route: Route,
}

/// A parameter that names what a method is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Name,
    Uri,
    TaskId,
}

/// The route of a method.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    /// That of the method itself.
    Own,
    /// Below the method, what its repeated parameter names, if that can be part of a path: under `target: encoded_params`, with escapes.
    Below(fn(&str, bool) -> Option<String>),
    /// That of the method itself, and of reading each of these resources.
    Reading(Resources),
    /// That of what its `ref` names, as if it were got or read.
    Referred,
}

/// The parameter that names resources.
#[derive(Clone, Copy, Debug)]
pub(super) enum Resources {
    Uri,
    /// Those in `notifications`.
    Subscriptions,
}

/// Any other method has a route of its own, and no `Mcp-Name`.
const METHODS: [Method; 9] = [
    Method { name: "tools/call", repeated: Some(Parameter::Name), route: Route::Below(of_tool) },
    Method { name: "prompts/get", repeated: Some(Parameter::Name), route: Route::Below(of_tool) },
    Method { name: "resources/read", repeated: Some(Parameter::Uri), route: Route::Below(of_resource) },
    Method { name: "resources/subscribe", repeated: None, route: Route::Reading(Resources::Uri) },
    Method { name: "subscriptions/listen", repeated: None, route: Route::Reading(Resources::Subscriptions) },
    Method { name: "completion/complete", repeated: None, route: Route::Referred },
    // Whose task it is, the server decides (SEP-2663).
    Method { name: "tasks/get", repeated: Some(Parameter::TaskId), route: Route::Own },
    Method { name: "tasks/update", repeated: Some(Parameter::TaskId), route: Route::Own },
    Method { name: "tasks/cancel", repeated: Some(Parameter::TaskId), route: Route::Own },
];

/// The methods without an `id` and without a response. No other method may lack them.
const NOTIFICATIONS: &str = "notifications/";

impl Method {
    /// The row of a method, if it has one.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }

    /// The row whose routes are all paths that begin with this one's, which has no leading `/`.
    pub(super) fn above(path: &str) -> Option<&'static Self> {
        let is_above = |method: &&Self| {
            let rest = path.strip_prefix(method.name);
            matches!(method.route, Route::Below(_) | Route::Referred)
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        METHODS.iter().find(is_above)
    }

    /// Whether its route is that of a name, so that it can be unknown.
    pub(super) const fn is_about(&self) -> bool {
        matches!(self.route, Route::Below(_) | Route::Referred)
    }

    /// Whether its routes are below it.
    pub(super) const fn is_named(&self) -> bool {
        matches!(self.route, Route::Below(_))
    }
}

/// Whether a method, or the path of a route without its leading `/`, is a notification's.
pub(super) fn is_notification(method: &str) -> bool {
    method.starts_with(NOTIFICATIONS)
}
