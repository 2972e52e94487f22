//! The service: bearer → token → decision → inner service.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use orbgate::{Decision, Deny, Engine, Reason};
use orbgate_analysis::Shadowed;
use tower_service::Service;
use tracing::{Instrument as _, Span};

use crate::allowed::Allowed;
use crate::body::RequestBody;
use crate::challenge::{Challenge, Refusal};
use crate::credentials::Credentials;
use crate::engines::Engines;
use crate::observe;
use crate::settings::Settings;
use crate::target::{Taken, method_unless_overridden};
use crate::verify::{Verified, VerifyToken};

/// A service inside a [`GateLayer`](crate::GateLayer).
pub struct Gate<S, V> {
    inner: S,
    settings: Arc<Settings<V>>,
}

/// The answer of a [`Gate`].
pub type GateFuture<R, E> = Pin<Box<dyn Future<Output = Result<R, E>> + Send>>;

impl<S, V> Gate<S, V> {
    pub(crate) const fn new(inner: S, settings: Arc<Settings<V>>) -> Self {
        Self { inner, settings }
    }
}

impl<S, V, B, R> Service<Request<B>> for Gate<S, V>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    V: VerifyToken,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Send,
    R: Default,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = GateFuture<Response<R>, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // Only this service was polled ready, so it takes the request. Its clone stays for the next one.
        let clone = self.inner.clone();
        let mut inner = core::mem::replace(&mut self.inner, clone);
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            let span = observe::span();
            let passed = pass(&settings, request, &span).instrument(span.clone());
            match passed.await {
                Ok(request) => inner.call(request).await,
                Err(denial) => Ok(denial.map(|()| R::default())),
            }
        })
    }
}

/// The request to pass to the service, or the answer to its caller.
async fn pass<V, B>(
    settings: &Settings<V>,
    request: Request<B>,
    span: &Span,
) -> Result<Request<RequestBody<B>>, Response<()>>
where
    V: VerifyToken,
    B: Body<Data = Bytes> + Unpin,
{
    let (parts, body) = request.into_parts();
    let credentials = Credentials::read(&*settings.verifier, &parts.headers).await;
    // One engine for the whole decision, even if another is swapped in meanwhile.
    let engine = settings.engines.load();
    let target = settings.source.target(&parts);
    let mut question = Question {
        asked: orbgate::Request {
            method: settings.method(&parts).as_bytes(),
            target: target.as_bytes(),
            token: credentials.token(),
            allow_bonus_orbs_use: false,
        },
        taken: settings.source.taken(&parts),
    };
    let mut decision = question.put_to(&engine, |decision, taken| {
        observe::misrouted(decision, taken, span);
    });
    let body = settings.read_as_far_as_needed(body, &decision).await;
    if body.allows_bonus_orbs() {
        question.asked.allow_bonus_orbs_use = true;
        decision = engine.decide(&question.asked);
    }
    settings.note(&question, &decision, &credentials, span);
    let allowed = match &decision {
        Decision::Deny(deny) => return Err(settings.denial(deny, &decision, &credentials)),
        Decision::Allow(allow) => Allowed::new(&engine, allow),
    };
    Ok(admitted(parts, body, allowed, credentials))
}

/// What the engines are asked about a request, and the route that a router has already chosen for it.
struct Question<'q> {
    asked: orbgate::Request<'q>,
    taken: Taken<'q>,
}

impl Question<'_> {
    /// An engine's answer. If it allows a call by another route than the router's, the call is denied as one
    /// without a route. The allowed decision and the router's template go to `misrouted`.
    fn put_to<'e>(
        &self,
        engine: &'e Engine,
        misrouted: impl FnOnce(&Decision<'e>, &str),
    ) -> Decision<'e> {
        let decision = engine.decide(&self.asked);
        let Some(taken) = self.taken.instead_of(&decision) else {
            return decision;
        };
        misrouted(&decision, taken);
        engine.decide_scope("", self.asked.token, false)
    }
}

/// An allowed request as its service gets it.
fn admitted<B: Body, T: Verified>(
    mut parts: Parts,
    body: RequestBody<B>,
    allowed: Allowed,
    credentials: Credentials<T>,
) -> Request<RequestBody<B>> {
    parts.extensions.insert(allowed);
    if let Some(bearer) = parts.headers.get_mut(AUTHORIZATION) {
        // So a service that prints its headers does not print the token.
        bearer.set_sensitive(true);
    }
    if let Credentials::Token(token) = credentials {
        parts.extensions.insert(token);
    }
    Request::from_parts(parts, body)
}

impl<V> Settings<V> {
    /// The method that an engine is asked about.
    fn method<'p>(&self, parts: &'p Parts) -> &'p str {
        if self.ignore_method_override {
            parts.method.as_str()
        } else {
            method_unless_overridden(parts)
        }
    }

    /// Reads the body for `allowBonusOrbsUse`, if the settings say so for the allowed route.
    async fn read_as_far_as_needed<B>(&self, body: B, decision: &Decision<'_>) -> RequestBody<B>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let allowed = decision.route().filter(|_| decision.is_allow());
        match allowed.and_then(|route| self.bonus.get(route)) {
            None => RequestBody::untouched(body),
            Some(limit) => RequestBody::read_up_to(body, *limit).await,
        }
    }

    /// Reports a decision: to the counters, the span, the candidate and the audit.
    fn note<T: Verified>(
        &self,
        question: &Question<'_>,
        decision: &Decision<'_>,
        credentials: &Credentials<T>,
        span: &Span,
    ) {
        observe::decided(decision, credentials.refused(), span);
        let candidate = self.shadow.as_ref().map(Engines::load);
        let shadowed = candidate.as_ref().map(|candidate| Shadowed {
            enforced: *decision,
            candidate: question.put_to(candidate, |_, _| {}),
        });
        if let Some(shadowed) = &shadowed {
            observe::shadowed(shadowed, span);
        }
        #[cfg(feature = "audit")]
        if let Some(audit) = &self.audit {
            audit.write_down(decision, shadowed.as_ref(), credentials.facts());
        }
    }

    /// The answer to a denied request: a status, at most two headers, no body and no content type.
    fn denial<T>(
        &self,
        deny: &Deny<'_>,
        decision: &Decision<'_>,
        credentials: &Credentials<T>,
    ) -> Response<()> {
        let flat = self.flat_403 || self.challenge == Challenge::None;
        let status = match flat {
            true => Reason::DEFAULT_STATUS,
            false => deny.status(),
        };
        let refusal = match credentials {
            Credentials::Unreadable(_) if deny.reason() == Reason::InvalidToken => Refusal::Header,
            _ => Refusal::Decision(decision),
        };
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
        if let Some(challenge) = self.challenge.value(status, refusal) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if status == 405 {
            let methods = deny
                .route()
                .map(|route| route.methods().collect::<Vec<_>>().join(", "));
            let allow = HeaderValue::try_from(methods.unwrap_or_default());
            if let Ok(allow) = allow {
                response.headers_mut().insert(ALLOW, allow);
            }
        }
        response
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<S: Clone, V> Clone for Gate<S, V> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), Arc::clone(&self.settings))
    }
}

impl<S: fmt::Debug, V> fmt::Debug for Gate<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("inner", &self.inner)
            .field("settings", &self.settings)
            .finish()
    }
}
