//! Connections: who may have one, how many there are, and how they end.

use core::convert::Infallible;
use core::error::Error;
use core::future::Future;
use core::net::IpAddr;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ServerConfig;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::config::Limits;
use crate::faults::Fault;
use crate::fragment::WithoutFragments;
use crate::listen::{Listener, Stream};

/// What is spoken at a place.
pub(crate) enum Protocol {
    /// HTTP/1.0 and HTTP/1.1.
    Http1,
    /// HTTP/2 from the first byte, as gRPC has it.
    Http2,
}

/// What answers at a place.
pub(crate) trait Service: Send + Sync + 'static {
    /// The bodies of its answers.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    const PROTOCOL: Protocol;

    /// Whether this address may connect; a Unix socket has none.
    fn trusts(&self, peer: Option<IpAddr>) -> bool;

    /// What TLS is spoken with; none without it.
    fn tls(&self) -> Option<Arc<ServerConfig>> {
        None
    }

    /// Whether the target of a request is what is asked about.
    fn asks_by_target(&self) -> bool {
        false
    }

    /// Notes why a connection is not served.
    fn note(&self, fault: Fault);

    /// The answer to whatever is asked on a connection past the limit. Nothing is decided.
    fn overloaded(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// The answer to a request.
    fn answer(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// After an error of `accept`, such as too many open files, there is time for connections to end.
const PAUSE: Duration = Duration::from_millis(50);

/// How many connections past the limit may be told so at once. More are closed without a word.
const TOLD: usize = 64;

/// How long telling one may take, with the handshake of TLS.
const TELLING: Duration = Duration::from_secs(1);

/// Serves a place until it is told to stop, and then ends what is under way.
pub(crate) async fn serve<S: Service>(
    service: Arc<S>,
    listener: Listener,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let connections = Arc::new(Semaphore::new(limits.connections));
    let told = Arc::new(Semaphore::new(TOLD));
    let graceful = GracefulShutdown::new();
    let (one, two) = (http1(limits), http2(limits));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if !service.trusts(peer) {
            service.note(Fault::UntrustedPeer);
            continue;
        }
        let service = Arc::clone(&service);
        let (one, two) = (one.clone(), two.clone());
        if let Ok(permit) = Arc::clone(&connections).try_acquire_owned() {
            let watcher = graceful.watcher();
            tokio::spawn(async move {
                let _permit = permit;
                let Some(stream) = secured(&*service, stream, limits.idle).await else {
                    return service.note(Fault::Handshake);
                };
                let answer = service_fn(move |request| {
                    let service = Arc::clone(&service);
                    async move { Ok::<_, Infallible>(service.answer(request).await) }
                });
                // How a connection ends is its other side's business: what was asked is answered and counted.
                let _ = match S::PROTOCOL {
                    Protocol::Http1 => watcher.watch(one.serve_connection(stream, answer)).await,
                    Protocol::Http2 => watcher.watch(two.serve_connection(stream, answer)).await,
                };
            });
        } else if let Ok(permit) = Arc::clone(&told).try_acquire_owned() {
            service.note(Fault::TooManyConnections);
            tokio::spawn(async move {
                let _permit = permit;
                let _ = tokio::time::timeout(TELLING, tell(service, stream, one, two)).await;
            });
        } else {
            service.note(Fault::ConnectionDropped);
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.drain, graceful.shutdown()).await;
}

/// Says on a connection past the limit that it is one, and ends it.
async fn tell<S: Service>(
    service: Arc<S>,
    stream: Box<dyn Stream>,
    mut one: http1::Builder,
    two: http2::Builder<TokioExecutor>,
) {
    let Some(stream) = secured(&*service, stream, TELLING).await else {
        return;
    };
    let said = Notify::new();
    let answer = service_fn(|request| {
        said.notify_one();
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.overloaded(request).await) }
    });
    match S::PROTOCOL {
        Protocol::Http1 => {
            let _ = one.keep_alive(false).serve_connection(stream, answer).await;
        }
        Protocol::Http2 => {
            let mut connection = core::pin::pin!(two.serve_connection(stream, answer));
            tokio::select! {
                _ = connection.as_mut() => return,
                () = said.notified() => connection.as_mut().graceful_shutdown(),
            }
            let _ = connection.await;
        }
    }
}

/// The connection itself, or TLS over it; none if the other side does not come to terms in time.
async fn secured<S: Service>(
    service: &S,
    stream: Box<dyn Stream>,
    patience: Duration,
) -> Option<TokioIo<Box<dyn Stream>>> {
    let stream = match service.tls() {
        None => stream,
        Some(config) => {
            let handshake = TlsAcceptor::from(config).accept(stream);
            let secured = tokio::time::timeout(patience, handshake).await.ok()?;
            Box::new(secured.ok()?)
        }
    };
    Some(TokioIo::new(match service.asks_by_target() {
        true => Box::new(WithoutFragments(stream)),
        false => stream,
    }))
}

fn http1(limits: Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_buf_size(limits.header_bytes);
    http
}

fn http2(limits: Limits) -> http2::Builder<TokioExecutor> {
    let number = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(limits.idle)
        .max_concurrent_streams(number(limits.questions))
        .max_header_list_size(number(limits.header_bytes));
    http
}
