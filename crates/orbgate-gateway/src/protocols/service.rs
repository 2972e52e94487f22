//! What is served at an address, and to whom.

use core::error::Error;
use core::future::Future;
use core::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use rustls::ServerConfig;

use crate::authorize::errors::RequestError;

pub(crate) enum Protocol {
    /// HTTP/1.0 and HTTP/1.1.
    Http1,
    /// HTTP/2 from the first byte, as in gRPC.
    Http2,
}

/// Which clients can connect to an address, and how.
pub(crate) trait Entrance: Send + Sync + 'static {
    /// Whether this address may connect; a Unix socket has none.
    fn trusts(&self, peer: Option<IpAddr>) -> bool;

    /// The TLS settings; `None` without TLS.
    fn tls(&self) -> Option<Arc<ServerConfig>> {
        None
    }

    /// Whether the request's own target is the one to authorize.
    fn asks_by_target(&self) -> bool {
        false
    }

    /// Records why a connection isn't served.
    fn note(&self, error: RequestError);
}

pub(crate) trait Service: Send + Sync + 'static {
    type Entrance: Entrance;

    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    const PROTOCOL: Protocol;

    fn entrance(&self) -> &Self::Entrance;

    /// The response to any request on a connection over the limit. Nothing is decided.
    fn overloaded(&self, request: Request<Incoming>) -> impl Future<Output = Response<Self::Body>> + Send;

    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<Self::Body>> + Send;
}
