//! The service: bearer → token → decision → inner service.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, AUTHORIZATION, CACHE_CONTROL, Entry, ORIGIN,
    RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use orbgate::{Decision, Engine, Reason};
use orbgate_gate::{Answer, Challenge, Denial, McpFault, ResponseHeaders, Verified, same_template};
use orbgate_token::Certificate;
use tower_service::Service;

use crate::allowed::{Allowed, DecidedOn};
use crate::ask::ReadBody;
use crate::body::RequestBody;
use crate::certificate::ClientCertificate;
use crate::charge::{Charge, NoLedger};
use crate::routes::Answered;
use crate::settings::Settings;
use crate::verify::VerifyToken;

/// The header with proofs of possession (RFC 9449).
const DPOP: HeaderName = HeaderName::from_static("dpop");

/// A service inside a [`GateLayer`](crate::GateLayer).
pub struct Gate<S, V> {
    inner: S,
    settings: Arc<Settings<V>>,
}

/// The future of a [`Gate`].
pub type GateFuture<R, E> = Pin<Box<dyn Future<Output = Result<R, E>> + Send>>;

impl<S, V> Gate<S, V> {
    pub(crate) const fn new(inner: S, settings: Arc<Settings<V>>) -> Self {
        Self { inner, settings }
    }

    pub(crate) fn answer<B, R>(
        &self,
        request: Request<B>,
        denied: impl FnOnce(Bytes) -> R + Send + 'static,
    ) -> GateFuture<Response<R>, S::Error>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>, Future: Send> + Clone + Send + 'static,
        V: VerifyToken,
        B: Body<Data = Bytes, Error: Send> + Unpin + Send + 'static,
    {
        let mut inner = self.inner.clone();
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            match pass(&settings, request, &NoLedger).await {
                Ok(Passed { request, headers, .. }) => {
                    core::future::poll_fn(|context| inner.poll_ready(context)).await?;
                    let mut response = inner.call(request).await?;
                    state(headers, response.headers_mut());
                    Ok(response)
                }
                Err(denial) => Ok(denial.map(denied)),
            }
        })
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

    /// Always ready: a request that waits for keys, or that is denied, must not take capacity of the inner service.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // Only an `EndpointLayer` has responses with a body.
        self.answer(request, |_| R::default())
    }
}

/// A request to pass to the service.
pub(crate) struct Passed<B: Body, H> {
    pub(crate) request: Request<RequestBody<B>>,
    /// What is held for it.
    #[cfg_attr(not(feature = "ledger"), expect(dead_code, reason = "without a ledger, nothing is"))]
    pub(crate) held: Option<H>,
    /// What its response must have.
    pub(crate) headers: ResponseHeaders,
}

/// The request to pass to the service, or the response to its caller.
pub(crate) async fn pass<V, B, C>(
    settings: &Settings<V>,
    request: Request<B>,
    charge: &C,
) -> Result<Passed<B, C::Held>, Response<Bytes>>
where
    V: VerifyToken,
    B: Body<Data = Bytes> + Unpin,
    C: Charge<V::Verified>,
{
    let (parts, body) = request.into_parts();
    let target = settings.source.target(&parts);
    let values = |name| {
        let values = parts.headers.get_all(name).iter();
        values.map(HeaderValue::as_bytes).collect::<Vec<_>>()
    };
    let [authorization, upgrade, origin, requested_method, requested_headers] =
        [AUTHORIZATION, UPGRADE, ORIGIN, ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_REQUEST_HEADERS].map(values);
    let dpop = values(DPOP);
    let certificate = parts.extensions.get::<ClientCertificate>();
    let names = parts.headers.keys().map(|name| name.as_str().as_bytes());
    let names: Vec<_> = names.collect();
    let request = orbgate_gate::Request {
        method: parts.method.as_str().as_bytes(),
        target: target.as_bytes(),
        authorization: &authorization,
        upgrade: &upgrade,
        origin: &origin,
        access_control_request_method: &requested_method,
        access_control_request_headers: &requested_headers,
        header_names: &names,
        matched: settings.source.matched(&parts),
        allow_bonus_orbs_use: false,
        holds_thread: false,
        dpop: &dpop,
        certificate: certificate.map(|certificate| Certificate::Der(certificate.der())),
        repeats: false,
    };
    let lines = match settings.rules.mcp {
        Some(_) => parts.headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())).collect(),
        None => Vec::new(),
    };
    let mut body = Unread { settings, headers: lines, body: Some(body), read: None, reserved: 0 };
    let admit = |engine: &Arc<Engine>, answer: Answer<'_, V::Verified>, held| match answer.decision {
        Decision::Allow(allow) if answer.denial.is_none() => {
            let decided_on = settings.decided_on(&parts, answer.preflight);
            let allowed = Allowed::new(engine, &allow, answer.template().map(Into::into), decided_on);
            Ok((allowed, answer.credentials.verified(), held, answer.headers))
        }
        _ => Err(answer.denial),
    };
    let decided = settings.ask(request, &mut body, (charge, &parts.headers), admit).await;
    let body = body.into_body();
    let (allowed, token, held, headers) = decided.map_err(response)?;
    // It is lost only if a future was dropped while it was read.
    let body = body.ok_or_else(|| response(None))?;
    Ok(Passed { request: admitted(parts, body, allowed, token), held, headers })
}

/// A body, of which as much is read as its decision needs.
struct Unread<'s, V, B: Body> {
    settings: &'s Settings<V>,
    headers: Vec<(&'s [u8], &'s [u8])>,
    body: Option<B>,
    read: Option<RequestBody<B>>,
    /// The bytes that are taken from the settings' room.
    reserved: usize,
}

impl<V: VerifyToken, B: Body<Data = Bytes> + Unpin> ReadBody for &mut Unread<'_, V, B> {
    async fn allows_bonus_orbs(&mut self, decision: &Decision<'_>) -> Option<bool> {
        // A new version of the policy can rename a parameter.
        let is_of = |route: &str| self.settings.bonus.iter().find(|(known, _)| same_template(known, route));
        let (_, limit) = decision.route_name().and_then(is_of)?;
        let body = RequestBody::read_up_to(self.body.take()?, *limit).await;
        Some(self.read.insert(body).allows_bonus_orbs())
    }

    async fn message(&mut self, most: usize) -> Result<(), McpFault> {
        let stated = self.body.as_ref().and_then(|body| body.size_hint().upper());
        let needed = stated.and_then(|stated| usize::try_from(stated).ok()).map_or(most, |stated| stated.min(most));
        let take = |room: usize| room.checked_sub(needed);
        let room = self.settings.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        room.map_err(|_| McpFault::Busy)?;
        self.reserved = needed;
        let untouched = self.body.take().ok_or(McpFault::Unreadable)?;
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        self.read = Some(RequestBody::read_up_to(untouched, most).await);
        Ok(())
    }

    fn whole(&self) -> Result<&[u8], McpFault> {
        let read = self.read.as_ref().ok_or(McpFault::Unreadable)?;
        read.whole().map(AsRef::as_ref)
    }

    fn headers(&self) -> &[(&[u8], &[u8])] {
        &self.headers
    }
}

impl<V, B: Body<Data = Bytes> + Unpin> Unread<'_, V, B> {
    fn into_body(mut self) -> Option<RequestBody<B>> {
        self.read.take().or_else(|| self.body.take().map(RequestBody::untouched))
    }
}

impl<V, B: Body> Drop for Unread<'_, V, B> {
    fn drop(&mut self) {
        self.settings.room.fetch_add(self.reserved, Ordering::Relaxed);
    }
}

/// An allowed request as its service gets it.
fn admitted<B: Body, T: Verified>(
    mut parts: Parts,
    body: RequestBody<B>,
    allowed: Allowed,
    token: Option<T>,
) -> Request<RequestBody<B>> {
    parts.extensions.insert(allowed);
    if let Entry::Occupied(mut values) = parts.headers.entry(AUTHORIZATION) {
        // Prevents a service that prints its headers from printing a token. A public route can have several.
        values.iter_mut().for_each(|value| value.set_sensitive(true));
    }
    if let Some(token) = token {
        parts.extensions.insert(token);
    }
    Request::from_parts(parts, body)
}

impl<V> Settings<V> {
    /// The properties of an allowed request that are compared with the request that reaches a
    /// handler.
    fn decided_on(&self, parts: &Parts, preflight: bool) -> DecidedOn {
        let flat = self.rules.flat_403 || self.rules.challenge == Challenge::None;
        let reason = (!flat).then_some(Reason::NoRoute);
        let status = reason.and_then(Reason::status);
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        DecidedOn {
            method: parts.method.clone(),
            uri: self.source.uri(parts).unwrap_or(&parts.uri).clone(),
            misrouted: status.unwrap_or(StatusCode::FORBIDDEN),
            preflight,
        }
    }
}

/// The `Cache-Control` of every denial.
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static(Denial::CACHE_CONTROL);

/// Adds what a response must have, in place of what the service has for browsers.
pub(crate) fn state(stated: ResponseHeaders, headers: &mut HeaderMap) {
    if stated.is_empty() {
        return;
    }
    let is_own = |name: &&HeaderName| name.as_str().starts_with("access-control-");
    for name in headers.keys().filter(is_own).cloned().collect::<Vec<_>>() {
        headers.remove(name);
    }
    for (name, value) in stated {
        if let Ok(value) = HeaderValue::try_from(&*value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
}

/// A denial as an HTTP response. If it were missing, which can't happen, the response is a bare
/// 403.
fn response(denial: Option<Denial>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    response.extensions_mut().insert(Answered);
    *response.status_mut() = StatusCode::FORBIDDEN;
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    let Some(denial) = denial else {
        return response;
    };
    if let Ok(status) = StatusCode::from_u16(denial.status) {
        *response.status_mut() = status;
    }
    let content_type = denial.content_type().map(|value| ("content-type", value.into()));
    let challenge = denial.www_authenticate.map(Cow::into_owned);
    let retry_after = denial.retry_after.map(|seconds| seconds.to_string());
    for (name, value) in [(WWW_AUTHENTICATE, challenge), (ALLOW, denial.allow), (RETRY_AFTER, retry_after)] {
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            response.headers_mut().insert(name, value);
        }
    }
    for (name, value) in denial.headers.into_iter().chain(content_type) {
        if let Ok(value) = HeaderValue::try_from(&*value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    if let Some(body) = denial.body {
        *response.body_mut() = Bytes::from(body);
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
        f.debug_struct("Gate").field("inner", &self.inner).field("settings", &self.settings).finish()
    }
}
