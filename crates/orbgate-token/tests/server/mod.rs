//! An issuer's server that gives the answers that a test sets, even those that a provider never gives.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What the server sends for a path.
#[derive(Clone)]
pub(crate) enum Reply {
    Raw(String),
    /// The same after some time.
    Late(Duration, String),
    /// A byte now and then, without an end.
    Dribble,
    /// A body without an end, as fast as it goes.
    Endless,
    /// Nothing, and the connection stays open.
    Silence,
    /// The connection is closed.
    Close,
}

impl Reply {
    pub(crate) fn json(body: impl ToString) -> Self {
        Self::Raw(ok("application/json", &body.to_string()))
    }

    pub(crate) fn status(status: &str) -> Self {
        Self::Raw(empty(status))
    }
}

pub(crate) fn empty(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")
}

pub(crate) fn ok(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[derive(Clone, Default)]
struct Shared {
    replies: Arc<Mutex<HashMap<String, Reply>>>,
    hits: Arc<AtomicUsize>,
}

pub(crate) struct Server {
    shared: Shared,
    /// `http://127.0.0.1:port`, or `https://localhost:port`.
    pub(crate) origin: String,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::serve(None).await
    }

    pub(crate) async fn start_tls(tls: ServerConfig) -> Self {
        Self::serve(Some(TlsAcceptor::from(Arc::new(tls)))).await
    }

    async fn serve(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let origin = match &tls {
            None => format!("http://127.0.0.1:{port}"),
            Some(_) => format!("https://localhost:{port}"),
        };
        let shared = Shared::default();
        let server = Self { shared: shared.clone(), origin };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, tls) = (shared.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => shared.talk(stream).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => shared.talk(stream).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        server
    }

    pub(crate) fn reply(&self, path: &str, reply: Reply) {
        let mut replies = self.shared.replies.lock().unwrap();
        replies.insert(path.to_owned(), reply);
    }

    pub(crate) fn hits(&self) -> usize {
        self.shared.hits.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}

impl Shared {
    async fn talk(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.ok()?);
        }
        self.hits.fetch_add(1, Ordering::SeqCst);
        let request = String::from_utf8(request).ok()?;
        let path = request.split(' ').nth(1)?;
        let reply = self.replies.lock().unwrap().get(path).cloned();
        let not_found = Reply::status("404 Not Found");
        match reply.unwrap_or(not_found) {
            Reply::Raw(text) => stream.write_all(text.as_bytes()).await.ok()?,
            Reply::Late(delay, text) => {
                tokio::time::sleep(delay).await;
                stream.write_all(text.as_bytes()).await.ok()?;
            }
            Reply::Dribble => {
                for byte in ok("application/json", &" ".repeat(100_000)).bytes() {
                    stream.write_all(&[byte]).await.ok()?;
                    stream.flush().await.ok()?;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Reply::Endless => {
                let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
                stream.write_all(head.as_bytes()).await.ok()?;
                let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
                loop {
                    stream.write_all(chunk.as_bytes()).await.ok()?;
                }
            }
            Reply::Silence => core::future::pending().await,
            Reply::Close => {}
        }
        stream.flush().await.ok()?;
        stream.shutdown().await.ok()
    }
}
