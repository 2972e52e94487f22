//! A backend that keeps what reaches it, in the bytes in which it came.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::wire::{self, first};

#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub(super) method: Vec<u8>,
    pub(super) target: Vec<u8>,
    pub(super) headers: Vec<(String, String)>,
}

/// Answers everything with 200 and `reached`, but upgrades with 101, whatever the protocol: what comes then was decided by no gateway.
pub(super) struct Backend {
    pub(super) address: String,
    reached: Arc<Mutex<Vec<Reached>>>,
}

impl Backend {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let reached = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&reached);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || {
                    let head = wire::head(&mut stream);
                    if head.is_empty() {
                        return; // A connection that is made ahead.
                    }
                    kept.lock().unwrap().push(read(&head));
                    // A second request behind the first has reached the backend, too: nobody was asked about it.
                    let upgrade = first(&read(&head).headers, "Upgrade").to_owned();
                    if !upgrade.is_empty() {
                        let answer = format!(
                            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {upgrade}\r\n\r\n"
                        );
                        let _ = stream.write_all(answer.as_bytes());
                        loop {
                            let tunnelled = wire::head(&mut stream);
                            // In a WebSocket there are messages, and no requests.
                            if tunnelled.is_empty() || upgrade == "websocket" {
                                return;
                            }
                            kept.lock().unwrap().push(read(&tunnelled));
                        }
                    }
                    let more = ahead(&mut stream);
                    if more.windows(6).any(|six| six == b" HTTP/") {
                        kept.lock().unwrap().push(read(&more));
                    }
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nreached";
                    let _ = stream.write_all(answer);
                });
            }
        });
        Self { address, reached }
    }

    /// What has reached it since it was asked last.
    pub(super) fn take(&self) -> Vec<Reached> {
        core::mem::take(&mut self.reached.lock().unwrap())
    }
}

/// What is there already after the head.
fn ahead(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 65_536];
    stream.set_nonblocking(true).unwrap();
    let count = stream.read(&mut bytes).unwrap_or_default();
    stream.set_nonblocking(false).unwrap();
    bytes.truncate(count);
    bytes
}

/// The line of a request may have any bytes: the method ends at its first space, the target at its last.
fn read(head: &[u8]) -> Reached {
    let end = head.windows(2).position(|pair| pair == b"\r\n").unwrap_or(head.len());
    let (line, fields) = head.split_at(end);
    let space = |byte: &u8| *byte == b' ';
    let first = line.iter().position(space).unwrap_or(line.len());
    let last = line.iter().rposition(space).unwrap_or(line.len());
    Reached {
        method: line[..first].to_vec(),
        target: line.get(first + 1..last).unwrap_or_default().to_vec(),
        headers: wire::headers(&String::from_utf8_lossy(fields)),
    }
}
