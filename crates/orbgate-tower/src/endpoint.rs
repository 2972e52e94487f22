//! The layer whose responses can have a body: an MCP endpoint and the metadata of a protected resource.

use core::fmt;
use core::marker::PhantomData;
use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use orbgate_gate::{Mcp, McpError, Metadata};
use tower_layer::Layer;
use tower_service::Service;

use crate::body::RequestBody;
use crate::charge::NoLedger;
#[cfg(feature = "axum")]
use crate::layer::InAxum;
use crate::layer::{GateLayer, Outermost};
use crate::service::{GateFuture, pass};
use crate::settings::Settings;
use crate::verify::VerifyToken;

/// A [`GateLayer`] whose responses can have a body: see [`GateLayer::mcp`] and [`GateLayer::metadata`].
pub struct EndpointLayer<V, W = Outermost> {
    pub(crate) settings: Arc<Settings<V>>,
    source: PhantomData<fn() -> W>,
}

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
        EndpointLayer::of(self).mcp(mcp)
    }

    /// Serves the metadata of the protected resource (RFC 9728) without a token, and names it in the challenges of an MCP
    /// endpoint. Set everything else first.
    #[must_use]
    pub fn metadata(self, metadata: Metadata) -> EndpointLayer<V, W> {
        EndpointLayer::of(self).metadata(metadata)
    }
}

impl<V, W> EndpointLayer<V, W> {
    fn of(layer: GateLayer<V, W>) -> Self {
        Self { settings: layer.settings, source: PhantomData }
    }

    /// See [`GateLayer::mcp`].
    ///
    /// # Errors
    ///
    /// Returns each route of the current policy that doesn't fit.
    pub fn mcp(mut self, mcp: Mcp) -> Result<Self, McpError> {
        let mcp = Arc::new(mcp);
        self.settings.engines.require_mcp(&mcp)?;
        Arc::make_mut(&mut self.settings).rules.mcp = Some(mcp);
        Ok(self)
    }

    /// See [`GateLayer::metadata`].
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        Arc::make_mut(&mut self.settings).rules.metadata = Some(Arc::new(metadata));
        self
    }
}

/// A service inside an [`EndpointLayer`].
pub struct Endpoint<S, V> {
    inner: S,
    settings: Arc<Settings<V>>,
}

impl<S, V> Layer<S> for EndpointLayer<V, Outermost> {
    type Service = Endpoint<S, V>;

    fn layer(&self, inner: S) -> Endpoint<S, V> {
        Endpoint { inner, settings: Arc::clone(&self.settings) }
    }
}

#[cfg(feature = "axum")]
impl<E, V> Layer<axum::routing::Route<E>> for EndpointLayer<V, InAxum> {
    type Service = Endpoint<axum::routing::Route<E>, V>;

    fn layer(&self, inner: axum::routing::Route<E>) -> Self::Service {
        Endpoint { inner, settings: Arc::clone(&self.settings) }
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
        let mut inner = self.inner.clone();
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            match pass(&settings, request, &NoLedger).await {
                Ok((request, _)) => {
                    core::future::poll_fn(|context| inner.poll_ready(context)).await?;
                    inner.call(request).await
                }
                Err(denial) => Ok(denial.map(R::from)),
            }
        })
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<S: Clone, V> Clone for Endpoint<S, V> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), settings: Arc::clone(&self.settings) }
    }
}

impl<V, W> Clone for EndpointLayer<V, W> {
    fn clone(&self) -> Self {
        Self { settings: Arc::clone(&self.settings), source: PhantomData }
    }
}

impl<S: fmt::Debug, V> fmt::Debug for Endpoint<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("inner", &self.inner).field("settings", &self.settings).finish()
    }
}

impl<V, W> fmt::Debug for EndpointLayer<V, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
