//! Connections: who may have one, how many there are, and how they end.

use core::convert::Infallible;
use core::error::Error;
use core::fmt;
use core::future::Future;
use core::net::IpAddr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use rustls::ServerConfig;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::config::Limits;
use crate::errors::RequestError;
use crate::fragment::WithoutFragments;
use crate::listen::{Listener, Stream};

/// What is spoken at an address.
pub(crate) enum Protocol {
    /// HTTP/1.0 and HTTP/1.1.
    Http1,
    /// HTTP/2 from the first byte, as gRPC has it.
    Http2,
}

/// Who may connect to an address, and how.
pub(crate) trait Entrance: Send + Sync + 'static {
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
    fn note(&self, error: RequestError);
}

/// What answers at an address.
pub(crate) trait Service: Send + Sync + 'static {
    type Entrance: Entrance;

    /// The bodies of its answers.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    const PROTOCOL: Protocol;

    fn entrance(&self) -> &Self::Entrance;

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

/// How long telling one may take, with the handshake of TLS.
const TELLING: Duration = Duration::from_secs(1);

/// How long the rest of a question, or of a handshake, may take once the listener is told to stop. A client that says nothing would hold it
/// for as long as it drains.
const GRACE: Duration = Duration::from_secs(1);

/// Serves an address until it is told to stop, and then ends what is under way.
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
    // Each has given its permit back once it has ended.
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(limits.drain, connections.acquire_many(all)).await;
}

/// Answers on a connection until it ends, asks nothing any more, or the listener is told to stop.
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
            // `trusted_proxies` may have changed since it connected.
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
    // How else a connection ends is its other side's business: what was asked is answered and counted.
    if ended.is_err_and(|error| error.is_parse_too_large()) {
        service.entrance().note(RequestError::HeadersTooLarge);
    }
}

/// Why a connection ends without an answer: its address isn't trusted any longer.
#[derive(Debug)]
struct Untrusted;

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address is not among `trusted_proxies`")
    }
}

impl Error for Untrusted {}

/// Serves a connection to its end; once there is enough, to that of what is under way, which may take as long as `drain`, and until
/// the other side is silent.
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

/// When something was asked on a connection. hyper's limits on time end with a head over HTTP/1, and with an answered ping over
/// HTTP/2: a client that reads no answer, or asks nothing and answers pings, would have its connection for ever.
struct Activity {
    start: Instant,
    under_way: AtomicUsize,
    /// When the last answer was there, in milliseconds after the start.
    answered: AtomicU64,
}

impl Activity {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            under_way: AtomicUsize::new(0),
            answered: AtomicU64::new(0),
        }
    }

    /// Ends once nothing has been asked for as long as this, and nothing is under way.
    async fn silence(&self, patience: Duration) {
        loop {
            let answered = Duration::from_millis(self.answered.load(Ordering::Relaxed));
            let left = answered
                .saturating_add(patience)
                .saturating_sub(self.start.elapsed());
            let is_quiet = self.under_way.load(Ordering::Relaxed) == 0;
            match (is_quiet, left) {
                (true, Duration::ZERO) => return,
                (true, left) => tokio::time::sleep(left).await,
                // Its answer begins a new silence.
                (false, _) => tokio::time::sleep(patience).await,
            }
        }
    }
}

/// A question that is under way.
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

/// Says on a connection past the limit that it is one, and ends it.
async fn tell<S: Service>(
    service: Arc<S>,
    stream: Box<dyn Stream>,
    mut one: http1::Builder,
    two: http2::Builder<TokioExecutor>,
) {
    let Some(stream) = secured(service.entrance(), stream, TELLING).await else {
        return;
    };
    let said = Notify::new();
    let answer = service_fn(|request| {
        said.notify_one();
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.overloaded(request).await) }
    });
    let said = (said.notified(), core::future::pending());
    let _ = match S::PROTOCOL {
        Protocol::Http1 => {
            let one = one.keep_alive(false);
            end(one.serve_connection(stream, answer), said, TELLING).await
        }
        Protocol::Http2 => end(two.serve_connection(stream, answer), said, TELLING).await,
    };
}

/// The connection itself, or TLS over it; none if the other side does not come to terms in time.
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
        // The buffer alone would let a head pass that comes with one read.
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes);
    http
}

fn http2(limits: Limits) -> http2::Builder<TokioExecutor> {
    let number = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(limits.idle)
        // Those that wait for keys, too.
        .max_concurrent_streams(number(limits.questions.saturating_add(limits.connections)))
        // h2 refuses a list as long as its limit.
        .max_header_list_size(number(limits.header_bytes.saturating_add(1)));
    http
}
