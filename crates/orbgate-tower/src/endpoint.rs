//! The layer whose responses can have a body: an MCP endpoint and the metadata of a protected resource.

use core::fmt;
use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use orbgate_gate::{Mcp, McpError, Metadata};
use tower_layer::Layer;
use tower_service::Service;

use crate::body::RequestBody;
use crate::layer::{GateLayer, Outermost};
use crate::service::{Gate, GateFuture};
use crate::verify::VerifyToken;

/// A [`GateLayer`] whose responses can have a body: see [`GateLayer::mcp`] and [`GateLayer::metadata`].
pub struct EndpointLayer<V, W = Outermost>(pub(crate) GateLayer<V, W>);

impl<V, W> GateLayer<V, W> {
    /// Decides the requests of an MCP endpoint by the operations in their bodies. Set everything else first.
    ///
    /// A body is read after its token is verified. All endpoints of the layer together hold up to 64 MiB of bodies; another
    /// request is denied with 429. From now on, the layer's [`Engines`](crate::Engines) reject a policy that doesn't fit the
    /// endpoint.
    ///
    /// # Errors
    ///
    /// Returns each route of the current policy that doesn't fit: see [`Mcp::check`].
    pub fn mcp(self, mcp: Mcp) -> Result<EndpointLayer<V, W>, McpError> {
        EndpointLayer(self).mcp(mcp)
    }

    /// Serves the metadata of the protected resource (RFC 9728) without a token, and names it in the challenges of an MCP
    /// endpoint. Set everything else first.
    #[must_use]
    pub fn metadata(self, metadata: Metadata) -> EndpointLayer<V, W> {
        EndpointLayer(self).metadata(metadata)
    }
}

impl<V, W> EndpointLayer<V, W> {
    /// See [`GateLayer::mcp`].
    ///
    /// # Errors
    ///
    /// Returns each route of the current policy that doesn't fit.
    pub fn mcp(self, mcp: Mcp) -> Result<Self, McpError> {
        let mcp = Arc::new(mcp);
        self.0.settings.engines.require_mcp(&mcp)?;
        Ok(Self(self.0.with(|settings| settings.rules.mcp = Some(mcp))))
    }

    /// See [`GateLayer::metadata`].
    #[must_use]
    pub fn metadata(self, metadata: Metadata) -> Self {
        Self(self.0.with(|settings| settings.rules.metadata = Some(Arc::new(metadata))))
    }
}

/// A service inside an [`EndpointLayer`].
pub struct Endpoint<S, V>(Gate<S, V>);

impl<S, V, W> Layer<S> for EndpointLayer<V, W>
where
    GateLayer<V, W>: Layer<S, Service = Gate<S, V>>,
{
    type Service = Endpoint<S, V>;

    fn layer(&self, inner: S) -> Endpoint<S, V> {
        Endpoint(self.0.layer(inner))
    }
}

impl<S, V, B, R> Service<Request<B>> for Endpoint<S, V>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    V: VerifyToken,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Send,
    R: From<Bytes>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = GateFuture<Response<R>, S::Error>;

    /// Always ready, like [`Gate`](crate::Gate).
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.0.answer(request, |body| body.into())
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<S: Clone, V> Clone for Endpoint<S, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<V, W> Clone for EndpointLayer<V, W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: fmt::Debug, V> fmt::Debug for Endpoint<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<V, W> fmt::Debug for EndpointLayer<V, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
