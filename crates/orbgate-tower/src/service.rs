//! The service: bearer → token → decision → inner service.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, HeaderName, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use orbgate::{Decision, Engine};
use orbgate_analysis::Shadowed;
use orbgate_gate::{Credentials, Decided, Denial, Matched, Rules};
use tower_service::Service;
use tracing::{Instrument as _, Span};

use crate::allowed::Allowed;
#[cfg(feature = "audit")]
use crate::audit::TokenFacts;
use crate::body::RequestBody;
use crate::engines::Engines;
use crate::observe;
use crate::settings::Settings;
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
    let credentials = credentials(&*settings.verifier, &parts).await;
    // One engine for the whole decision, even if another is swapped in meanwhile.
    let engine = settings.engines.load();
    let target = settings.source.target(&parts);
    let names = parts.headers.keys().map(HeaderName::as_str);
    let mut question = Question {
        asked: orbgate::Request {
            method: settings
                .rules
                .method(parts.method.as_str().as_bytes(), names),
            target: target.as_bytes(),
            token: credentials.token(V::Verified::token),
            allow_bonus_orbs_use: false,
        },
        matched: settings.source.matched(&parts),
    };
    let Decided {
        mut decision,
        misrouted,
    } = question.put_to(&engine);
    if let Some(misrouted) = misrouted {
        observe::misrouted(&misrouted.allowed, misrouted.matched, span);
    }
    let body = settings.read_as_far_as_needed(body, &decision).await;
    if body.allows_bonus_orbs() {
        question.asked.allow_bonus_orbs_use = true;
        decision = question.put_to(&engine).decision;
    }
    settings.note(&question, &decision, &credentials, span);
    let denial = settings.rules.denial(&decision, credentials.is_readable());
    match (&decision, denial) {
        (Decision::Allow(allow), None) => {
            let allowed = Allowed::new(&engine, allow);
            Ok(admitted(parts, body, allowed, credentials))
        }
        (_, denial) => Err(response(denial)),
    }
}

/// What a request says of its caller.
async fn credentials<V: VerifyToken>(verifier: &V, parts: &Parts) -> Credentials<V::Verified> {
    let values = parts.headers.get_all(AUTHORIZATION);
    let token = match Credentials::bearer(values.iter().map(HeaderValue::as_bytes)) {
        Ok(token) => token,
        Err(known) => return known,
    };
    match verifier.verify(token).await {
        Ok(token) => Credentials::Token(token),
        Err(refused) => Credentials::Refused(refused.code()),
    }
}

/// What the engines are asked about a request, and the route that a router has already chosen for it.
struct Question<'q> {
    asked: orbgate::Request<'q>,
    matched: Matched<'q>,
}

impl<'q> Question<'q> {
    fn put_to<'e>(&self, engine: &'e Engine) -> Decided<'e, 'q> {
        Rules::decide(engine, &self.asked, self.matched)
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
            candidate: question.put_to(candidate).decision,
        });
        if let Some(shadowed) = &shadowed {
            observe::shadowed(shadowed, span);
        }
        #[cfg(feature = "audit")]
        if let Some(audit) = &self.audit {
            audit.write_down(decision, shadowed.as_ref(), TokenFacts::of(credentials));
        }
    }
}

/// A denial as HTTP. Without one, which cannot be, it is the bare 403.
fn response(denial: Option<Denial>) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::FORBIDDEN;
    let Some(denial) = denial else {
        return response;
    };
    if let Ok(status) = StatusCode::from_u16(denial.status) {
        *response.status_mut() = status;
    }
    let challenge = denial.www_authenticate.map(Cow::into_owned);
    for (name, value) in [(WWW_AUTHENTICATE, challenge), (ALLOW, denial.allow)] {
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            response.headers_mut().insert(name, value);
        }
    }
    response
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
