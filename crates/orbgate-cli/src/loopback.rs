//! A server for programs on this machine: the explorer's and the test issuer's.

use core::convert::Infallible;
use core::net::Ipv4Addr;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// The most bytes of a request's head.
pub(crate) const MOST_HEAD: usize = 16 * 1024;
/// The most bytes of a request's body.
const MOST_BODY: usize = 64 * 1024;
/// A browser opens some connections before it needs them.
const MOST_CONNECTIONS: usize = 32;
/// How long a connection may take.
const LONGEST: Duration = Duration::from_secs(10);
/// How long to wait after a connection was not accepted, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Listens on this port, or on a free one if it is 0. The address isn't configurable, so that only clients on this
/// machine can connect.
pub(crate) async fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
}

pub(crate) async fn serve<A>(listener: TcpListener, answer: A) -> !
where
    A: Fn(&Request<Bytes>) -> Response<Full<Bytes>> + Send + Sync + 'static,
{
    let answer = Arc::new(answer);
    let open = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let permit = Arc::clone(&open).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let answer = Arc::clone(&answer);
        let service = service_fn(move |request| {
            let answer = Arc::clone(&answer);
            async move { Ok::<_, Infallible>(whole(request).await.map_or_else(too_large, |request| answer(&request))) }
        });
        let mut connection = http1::Builder::new();
        // One request, then it ends: an open connection would keep others out.
        connection.keep_alive(false).max_buf_size(MOST_HEAD);
        // Otherwise, a client that ends its side first gets an answer or none, by chance.
        connection.half_close(true);
        let connection = connection.serve_connection(TokioIo::new(stream), service);
        drop(tokio::spawn(async move {
            // Whoever is at the other end has gone, or is silent.
            drop(timeout(LONGEST, connection).await);
            drop(permit);
        }));
    }
}

/// The request with its body; `None` if the body is too large, or doesn't arrive.
async fn whole(request: Request<Incoming>) -> Option<Request<Bytes>> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MOST_BODY).collect().await.ok()?;
    Some(Request::from_parts(head, body.to_bytes()))
}

fn too_large() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
    response
}
