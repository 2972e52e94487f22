//! The decision that allowed a request, for services.

use core::fmt;
use std::sync::Arc;

use http::{Method, StatusCode, Uri};
use orbgate::{Allow, Charge, Digest, Engine, Reason, Route, Scope};

/// The decision that allowed a request, in the request's extensions.
///
/// In axum, take it as an argument of the handler. If no gate decided the request, or if something between the gate and
/// the handler changed its method or target, the handler doesn't run. The caller gets the status of
/// [`CheckDispatch`](crate::CheckDispatch), which makes the same comparison for handlers without this argument.
///
/// ```
/// use orbgate_tower::Allowed;
///
/// /// How many orbs to hold, where the policy states an amount.
/// fn amount(request: &http::Request<()>) -> Option<u64> {
///     let allowed = request.extensions().get::<Allowed>()?;
///     allowed.charge()?.amount
/// }
/// ```
#[derive(Clone)]
pub struct Allowed {
    engine: Arc<Engine>,
    reason: Reason,
    route: Option<u32>,
    scope: Option<u16>,
    charge: Option<Charge>,
    /// The template of its HTTP route, if the decision's route is another or none.
    http_template: Option<Box<str>>,
    pub(crate) decided_on: DecidedOn,
}

/// The request that a gate decided.
#[derive(Clone)]
pub(crate) struct DecidedOn {
    pub(crate) method: Method,
    /// Compared by path and query.
    pub(crate) uri: Uri,
    /// The status for a request that reaches another handler.
    pub(crate) misrouted: StatusCode,
    /// Allowed only as a CORS preflight, for which no handler of a route runs.
    pub(crate) preflight: bool,
}

impl Allowed {
    /// Stores an engine's decision, together with the engine.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        allow: &Allow<'_>,
        http_template: Option<Box<str>>,
        decided_on: DecidedOn,
    ) -> Self {
        Self {
            engine: Arc::clone(engine),
            reason: allow.reason(),
            route: allow.route().map(|route| route.index()),
            scope: allow.scope().map(|scope| scope.index()),
            charge: allow.charge(),
            http_template,
            decided_on,
        }
    }

    /// The reason: `scope_held`, `scope_not_applicable` or `public_route`.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The route, at an MCP endpoint that of the operation. `None` for a public route.
    #[must_use]
    pub fn route(&self) -> Option<Route<'_>> {
        self.engine.route(self.route?)
    }

    /// The template that the router must have chosen.
    pub(crate) fn template(&self) -> &str {
        let route = self.route().map(|route| route.template());
        self.http_template.as_deref().or(route).unwrap_or_default()
    }

    /// The scope that the call needs. `None` for a public route.
    #[must_use]
    pub fn scope(&self) -> Option<Scope<'_>> {
        self.engine.scope(self.scope?)
    }

    /// What the call consumes: reserve it before the work, and charge it afterwards.
    #[must_use]
    pub const fn charge(&self) -> Option<Charge> {
        self.charge
    }

    /// The digest of the policy that made the decision.
    #[must_use]
    pub fn policy(&self) -> Digest {
        self.engine.digest()
    }
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allowed")
            .field("reason", &self.reason)
            .field("route", &self.route().map(|route| route.as_str()))
            .field("scope", &self.scope().map(|scope| scope.name()))
            .field("charge", &self.charge)
            .field("policy", &self.policy())
            .finish()
    }
}
