//! A server that is far away: what is sent to it and what it answers arrives later.

use core::time::Duration;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// A socket in front of another one, as far away as so much time.
pub(crate) struct Delayed {
    folder: tempfile::TempDir,
}

impl Delayed {
    pub(crate) fn new(host: &str, by: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let server = Path::new(host).join(".s.PGSQL.5432");
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), UnixStream::connect(&server).unwrap());
                delay(client.try_clone().unwrap(), server.try_clone().unwrap(), by);
                delay(server, client, by);
            }
        });
        Self { folder }
    }

    pub(crate) fn url(&self, url: &str, host: &str) -> String {
        url.replace(host, self.folder.path().to_str().unwrap())
    }
}

/// Copies bytes, each so much later.
fn delay(mut from: UnixStream, mut to: UnixStream, by: Duration) {
    let (send, receive) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            send.send((Instant::now() + by, bytes[..length].to_vec())).unwrap();
        }
    });
    thread::spawn(move || {
        for (at, bytes) in receive {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}
