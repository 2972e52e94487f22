//! Both ends of a proxy, in bytes.

use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// How long a proxy may take for a probe.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a proxy may say nothing once it has answered.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// The longest head that is read.
const LONGEST: u64 = 64 * 1024;

/// A request that arrived: method, target and headers as they came.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Whether somebody listens there.
pub(super) fn reachable(proxy: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&proxy, PATIENCE).map(drop)
}

/// Sends a request, and waits for the head of the answer.
pub(super) fn exchange(proxy: SocketAddr, request: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&proxy, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // A proxy that refuses a request may close before it has read all of it.
    let _ = stream.write_all(request);
    let _ = head(&stream);
    Ok(())
}

/// Sends bytes, and waits until nothing more comes, but not for long.
pub(super) fn exchange_all(proxy: SocketAddr, request: &[u8]) {
    let Ok(mut stream) = TcpStream::connect_timeout(&proxy, PATIENCE) else {
        return;
    };
    let _ = stream.set_read_timeout(Some(SHORT_PATIENCE));
    let _ = stream.write_all(request);
    let _ = io::copy(&mut stream.take(LONGEST), &mut io::sink());
}

/// Takes a backend's place: passes on what arrives, and then answers 200.
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
    let arrived = Arrived {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.collect(),
    };
    // Nobody waits for it once the probe is over.
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
