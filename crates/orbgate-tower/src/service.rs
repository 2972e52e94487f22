//! The service: bearer → token → decision → inner service.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use orbgate::{Decision, Deny, Engine, Reason, Scopes, Token, TokenKind};
use orbgate_analysis::Shadowed;
use orbgate_token::bearer;
use tower_service::Service;
use tracing::Instrument as _;

use crate::allowed::Allowed;
#[cfg(feature = "audit")]
use crate::audit::TokenFacts;
use crate::body::RequestBody;
use crate::challenge::{Challenge, Refusal};
use crate::engines::Engines;
use crate::layer::Settings;
use crate::observe;
use crate::routes::same_template;
use crate::target::{matched_template, method_unless_overridden};
use crate::verify::{Refused, Verified, VerifyToken};

/// A service behind a [`GateLayer`](crate::GateLayer).
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
        // Only this service has been polled ready, so it takes the request; its clone stays for the next.
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

/// The request as the service gets it, or the answer to its caller.
async fn pass<V, B>(
    settings: &Settings<V>,
    request: Request<B>,
    span: &tracing::Span,
) -> Result<Request<RequestBody<B>>, Response<()>>
where
    V: VerifyToken,
    B: Body<Data = Bytes> + Unpin,
{
    let (mut parts, body) = request.into_parts();
    let credentials = credentials(&*settings.verifier, &parts.headers).await;
    // One engine from here on, whatever is swapped in meanwhile.
    let engine = settings.engines.load();
    let method = match settings.ignore_method_override {
        true => parts.method.as_str(),
        false => method_unless_overridden(&parts),
    };
    let target = settings.source.target(&parts);
    let mut asked = orbgate::Request {
        method: method.as_bytes(),
        target: target.as_bytes(),
        token: credentials.token(),
        allow_bonus_orbs_use: false,
    };
    let matched = matched_template(&parts);
    let mut decision = engine.decide(&asked);
    if let Some(matched) = misrouted(&decision, matched) {
        observe::misrouted(&decision, matched, span);
        decision = no_route(&engine, &asked);
    }
    let limit = decision
        .route()
        .filter(|_| decision.is_allow())
        .and_then(|route| settings.bonus.get(route));
    let body = match limit {
        None => RequestBody::untouched(body),
        Some(limit) => {
            let body = RequestBody::read_up_to(body, *limit).await;
            if body.allows_bonus_orbs() {
                asked.allow_bonus_orbs_use = true;
                decision = engine.decide(&asked);
            }
            body
        }
    };
    observe::decided(&decision, credentials.refused(), span);
    let candidate = settings.shadow.as_ref().map(Engines::load);
    let shadowed = candidate.as_ref().map(|candidate| Shadowed {
        enforced: decision,
        candidate: match candidate.decide(&asked) {
            found if misrouted(&found, matched).is_some() => no_route(candidate, &asked),
            found => found,
        },
    });
    if let Some(shadowed) = &shadowed {
        observe::shadowed(shadowed, span);
    }
    #[cfg(feature = "audit")]
    if let Some(audit) = &settings.audit {
        audit.write_down(&decision, shadowed.as_ref(), credentials.facts());
    }
    let allowed = match &decision {
        Decision::Deny(deny) => return Err(settings.denial(deny, &decision, &credentials)),
        Decision::Allow(allow) => Allowed::new(&engine, allow),
    };
    parts.extensions.insert(allowed);
    if let Some(bearer) = parts.headers.get_mut(AUTHORIZATION) {
        // A service that prints its headers does not print the token.
        bearer.set_sensitive(true);
    }
    if let Credentials::Token(token) = credentials {
        parts.extensions.insert(token);
    }
    Ok(Request::from_parts(parts, body))
}

/// The template by which a router has matched an allowed request, if it is not the one that it is allowed by.
fn misrouted<'m>(decision: &Decision<'_>, matched: Option<&'m str>) -> Option<&'m str> {
    let (Decision::Allow(allow), Some(matched)) = (decision, matched) else {
        return None;
    };
    let template = allow.route().map_or("", |route| route.template());
    (!same_template(matched, template)).then_some(matched)
}

/// The denial of a route that the policy does not have: as of a scope that cannot be.
fn no_route<'e>(engine: &'e Engine, asked: &orbgate::Request<'_>) -> Decision<'e> {
    engine.decide_scope("", asked.token, false)
}

/// What a request shows of its caller.
enum Credentials<T> {
    None,
    /// An `Authorization` that cannot be read, or says two things.
    Unreadable(Refused),
    Refused(Refused),
    Token(T),
}

async fn credentials<V: VerifyToken>(
    verifier: &V,
    headers: &HeaderMap,
) -> Credentials<V::Verified> {
    let values = headers.get_all(AUTHORIZATION);
    match bearer(values.iter().map(HeaderValue::as_bytes)) {
        Err(_) => Credentials::Unreadable(Refused::new("authorization_header")),
        Ok(None) => Credentials::None,
        Ok(Some(token)) => match verifier.verify(token).await {
            Ok(token) => Credentials::Token(token),
            Err(refused) => Credentials::Refused(refused),
        },
    }
}

impl<T: Verified> Credentials<T> {
    /// The token as an engine takes it. A refused token is of unknown kind, which denies.
    fn token(&self) -> Option<Token<'_>> {
        match self {
            Self::None => None,
            Self::Unreadable(_) | Self::Refused(_) => Some(Token {
                kind: TokenKind::Unknown,
                scopes: Scopes::Text(b""),
            }),
            Self::Token(token) => Some(token.token()),
        }
    }

    const fn refused(&self) -> Option<Refused> {
        match self {
            Self::None | Self::Token(_) => None,
            Self::Unreadable(refused) | Self::Refused(refused) => Some(*refused),
        }
    }

    #[cfg(feature = "audit")]
    fn facts(&self) -> TokenFacts {
        let (kind, fingerprint) = match self {
            Self::Token(token) => (Some(token.token().kind), token.fingerprint()),
            _ => (None, None),
        };
        TokenFacts {
            kind,
            fingerprint,
            refused: self.refused(),
        }
    }
}

impl<V> Settings<V> {
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

// By hand: a derive would ask that the verifier can be cloned.
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
