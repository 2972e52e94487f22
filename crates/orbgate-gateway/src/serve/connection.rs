//! Connections: which are accepted, their limits, and how they end.

use core::convert::Infallible;
use core::future::Future;
use core::net::IpAddr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::fragment::WithoutFragments;
use super::listen::{Listener, Stream};
use crate::authorize::errors::RequestError;
use crate::config::Limits;
use crate::protocols::service::{Entrance, Protocol, Service};

/// The pause after an error of `accept`, such as too many open files, so that connections can end.
const PAUSE: Duration = Duration::from_millis(50);

/// The time limit for responding on a connection over the limit, including the TLS handshake.
const TELLING: Duration = Duration::from_secs(1);

/// The time limit for the rest of a request or handshake after the listener is asked to stop. Otherwise a silent client
/// could hold the listener for the whole drain time.
const GRACE: Duration = Duration::from_secs(1);

/// Serves an address until it is asked to stop, and then finishes the running requests.
pub(crate) async fn serve<S: Service>(
    service: Arc<S>,
    listener: Listener,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let connections = Arc::new(Semaphore::new(limits.connections));
    let told = Arc::new(Semaphore::new(Limits::TOLD));
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
        if !service.entrance().trusts(peer) {
            service.entrance().note(RequestError::UntrustedPeer);
            continue;
        }
        let service = Arc::clone(&service);
        let (one, two) = (one.clone(), two.clone());
        if let Ok(permit) = Arc::clone(&connections).try_acquire_owned() {
            let stop = stop.clone();
            tokio::spawn(async move {
                let _permit = permit;
                answer(service, (stream, peer), limits, (one, two), stop).await;
            });
        } else if let Ok(permit) = Arc::clone(&told).try_acquire_owned() {
            service.entrance().note(RequestError::TooManyConnections);
            tokio::spawn(async move {
                let _permit = permit;
                let _ = tokio::time::timeout(TELLING, tell(service, stream, one, two)).await;
            });
        } else {
            service.entrance().note(RequestError::ConnectionDropped);
        }
    }
    drop(listener);
    // Each connection returns its permit when it ends.
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(limits.drain, connections.acquire_many(all)).await;
}

/// Serves a connection until it ends, becomes idle, or the listener is asked to stop.
async fn answer<S: Service>(
    service: Arc<S>,
    (stream, peer): (Box<dyn Stream>, Option<IpAddr>),
    limits: Limits,
    (one, two): (http1::Builder, http2::Builder<TokioExecutor>),
    mut stop: watch::Receiver<bool>,
) {
    let mut told = stop.clone();
    let stream = tokio::select! {
        stream = secured(service.entrance(), stream, limits.idle) => stream,
        () = async {
            let _ = told.changed().await;
            tokio::time::sleep(GRACE).await;
        } => return,
    };
    let Some(stream) = stream else {
        return service.entrance().note(RequestError::Handshake);
    };
    let activity = Arc::new(Activity::new());
    let enough = {
        let activity = Arc::clone(&activity);
        async move {
            tokio::select! {
                () = activity.silence(limits.idle) => {}
                _ = stop.changed() => {}
            }
        }
    };
    let silent = {
        let activity = Arc::clone(&activity);
        async move {
            tokio::time::sleep(GRACE).await;
            activity.silence(GRACE).await;
        }
    };
    let (enough, answering) = ((enough, silent), Arc::clone(&service));
    let answer = service_fn(move |request| {
        let (service, asking) = (Arc::clone(&answering), Asking::begin(&activity));
        async move {
            let _asking = asking;
            // `trusted_proxies` might have changed since the connection was made.
            if !service.entrance().trusts(peer) {
                service.entrance().note(RequestError::UntrustedPeer);
                return Err(Untrusted);
            }
            Ok(service.answer(request).await)
        }
    });
    let ended = match S::PROTOCOL {
        Protocol::Http1 => end(one.serve_connection(stream, answer), enough, limits.drain).await,
        Protocol::Http2 => end(two.serve_connection(stream, answer), enough, limits.drain).await,
    };
    // Other errors of a connection are the client's problem: its requests were answered and counted.
    if ended.is_err_and(|error| error.is_parse_too_large()) {
        service.entrance().note(RequestError::HeadersTooLarge);
    }
}

/// The error that ends a connection without a response, because its address isn't trusted any
/// longer.
#[derive(Debug, thiserror::Error)]
#[error("the address is not among `trusted_proxies`")]
struct Untrusted;

/// Serves a connection to its end. After a stop, serves only the running requests, for at most `drain`, and stops
/// earlier if the client is silent.
async fn end<C: GracefulConnection<Error = hyper::Error>>(
    connection: C,
    (enough, silent): (impl Future<Output = ()>, impl Future<Output = ()>),
    drain: Duration,
) -> Result<(), hyper::Error> {
    let mut connection = core::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = enough => connection.as_mut().graceful_shutdown(),
    }
    let ended = tokio::time::timeout(drain, async {
        tokio::select! {
            ended = connection => ended,
            () = silent => Ok(()),
        }
    });
    ended.await.unwrap_or(Ok(()))
}

/// When requests ran on a connection. hyper's time limits end with the headers in HTTP/1, and with an answered ping in
/// HTTP/2. A client that reads no response, or that sends no request and answers pings, could otherwise keep its
/// connection for ever.
struct Activity {
    start: Instant,
    under_way: AtomicUsize,
    /// When the last response was ready, in milliseconds after the start.
    answered: AtomicU64,
}

impl Activity {
    fn new() -> Self {
        Self { start: Instant::now(), under_way: AtomicUsize::new(0), answered: AtomicU64::new(0) }
    }

    /// Ends when no request has arrived for this long and none is running.
    async fn silence(&self, patience: Duration) {
        loop {
            let answered = Duration::from_millis(self.answered.load(Ordering::Relaxed));
            let left = answered.saturating_add(patience).saturating_sub(self.start.elapsed());
            let is_quiet = self.under_way.load(Ordering::Relaxed) == 0;
            match (is_quiet, left) {
                (true, Duration::ZERO) => return,
                (true, left) => tokio::time::sleep(left).await,
                // Its response starts a new idle period.
                (false, _) => tokio::time::sleep(patience).await,
            }
        }
    }
}

struct Asking(Arc<Activity>);

impl Asking {
    fn begin(activity: &Arc<Activity>) -> Self {
        activity.under_way.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.answered.store(now, Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Responds on a connection over the limit that there are too many, and ends it.
async fn tell<S: Service>(
    service: Arc<S>,
    stream: Box<dyn Stream>,
    mut one: http1::Builder,
    two: http2::Builder<TokioExecutor>,
) {
    let Some(stream) = secured(service.entrance(), stream, TELLING).await else {
        return;
    };
    let answered = Notify::new();
    let answer = service_fn(|request| {
        answered.notify_one();
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.overloaded(request).await) }
    });
    let stop = (answered.notified(), core::future::pending());
    let _ = match S::PROTOCOL {
        Protocol::Http1 => {
            let one = one.keep_alive(false);
            end(one.serve_connection(stream, answer), stop, TELLING).await
        }
        Protocol::Http2 => end(two.serve_connection(stream, answer), stop, TELLING).await,
    };
}

/// The connection itself, or TLS over it. `None` if the handshake fails or takes too long.
async fn secured<E: Entrance>(
    entrance: &E,
    stream: Box<dyn Stream>,
    patience: Duration,
) -> Option<TokioIo<Box<dyn Stream>>> {
    let stream = match entrance.tls() {
        None => stream,
        Some(config) => {
            let handshake = TlsAcceptor::from(config).accept(stream);
            let secured = tokio::time::timeout(patience, handshake).await.ok()?;
            Box::new(secured.ok()?)
        }
    };
    Some(TokioIo::new(match entrance.asks_by_target() {
        true => Box::new(WithoutFragments(stream)),
        false => stream,
    }))
}

fn http1(limits: Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        // Without this, headers that arrive in one read could exceed the buffer's limit.
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes);
    http
}

fn http2(limits: Limits) -> http2::Builder<TokioExecutor> {
    let number = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(limits.idle)
        // Includes requests that wait for keys.
        .max_concurrent_streams(number(limits.requests.saturating_add(limits.connections)))
        // h2 rejects a header list that is exactly as long as its limit.
        .max_header_list_size(number(limits.header_bytes.saturating_add(1)));
    http
}
