//! Connections: who may have one, how many there are, and how they end.

use core::convert::Infallible;
use core::future::Future;
use core::net::IpAddr;
use core::time::Duration;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::{Semaphore, watch};

use crate::answers::HttpAnswer;
use crate::config::Limits;
use crate::faults::Fault;
use crate::listen::Listener;

/// What answers at a place.
pub(crate) trait Service: Send + Sync + 'static {
    /// Whether this address may connect; a Unix socket has none.
    fn trusts(&self, peer: Option<IpAddr>) -> bool;

    /// Notes why a connection is closed at once.
    fn note(&self, fault: Fault);

    /// The answer to a request.
    fn answer(&self, request: http::Request<Incoming>) -> impl Future<Output = HttpAnswer> + Send;
}

/// After an error of `accept`, such as too many open files, there is time for connections to end.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves a place until it is told to stop, and then ends what is under way.
pub(crate) async fn serve<S: Service>(
    service: Arc<S>,
    listener: Listener,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let connections = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_buf_size(limits.header_bytes);
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
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            service.note(Fault::TooManyConnections);
            continue;
        };
        let service = Arc::clone(&service);
        let answer = service_fn(move |request| {
            let service = Arc::clone(&service);
            async move { Ok::<_, Infallible>(service.answer(request).await) }
        });
        let connection = http.serve_connection(TokioIo::new(stream), answer);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // How a connection ends is its other side's business: what was asked is answered and counted.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.drain, graceful.shutdown()).await;
}
