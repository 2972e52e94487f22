//! Both ends of a proxy, in raw bytes.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The time limit for a proxy's response.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for further bytes after a response.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// The maximum size of a request's headers.
const LONGEST: u64 = 64 * 1024;

/// A request that arrived: method, target and headers as received.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
}

pub(super) fn reachable(proxy: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&proxy, PATIENCE).map(drop)
}

/// Sends a request, waits for the headers of the response, and returns its status, if there is one.
pub(super) fn exchange(proxy: SocketAddr, request: &[u8]) -> io::Result<Option<u16>> {
    let mut stream = TcpStream::connect_timeout(&proxy, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // A proxy that rejects a request might close the connection before it has read everything.
    let _ = stream.write_all(request);
    let head = head(&stream).unwrap_or_default();
    let line = str::from_utf8(&head).unwrap_or_default();
    let status = line.split(' ').nth(1);
    Ok(status.and_then(|status| status.parse().ok()))
}

/// Sends bytes, and waits a short time until nothing more arrives.
pub(super) fn exchange_all(proxy: SocketAddr, request: &[u8]) {
    let Ok(mut stream) = TcpStream::connect_timeout(&proxy, PATIENCE) else {
        return;
    };
    let _ = stream.set_read_timeout(Some(SHORT_PATIENCE));
    let _ = stream.write_all(request);
    let _ = io::copy(&mut stream.take(LONGEST), &mut io::sink());
}

/// Acts as a backend: passes on each request that arrives, and then responds with 200.
pub(super) fn receive(backend: SocketAddr) -> io::Result<Receiver<Arrived>> {
    let listener = TcpListener::bind(backend)?;
    let (kept, arrived) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = kept.clone();
            thread::spawn(move || keep(&stream, &kept));
        }
    });
    Ok(arrived)
}

fn keep(mut stream: &TcpStream, kept: &Sender<Arrived>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let head = head(stream)?;
    let text = String::from_utf8_lossy(&head);
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let (method, rest) = line.split_once(' ').unwrap_or_default();
    let (target, _) = rest.rsplit_once(' ').unwrap_or_default();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    let arrived = Arrived { method: method.to_owned(), target: target.to_owned(), headers: headers.collect() };
    // After the probe has ended, nothing receives it.
    let _ = kept.send(arrived);
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

fn head(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    for byte in BufReader::new(stream.take(LONGEST)).bytes() {
        head.push(byte?);
        if head.ends_with(b"\r\n\r\n") {
            return Ok(head);
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
