//! Where tools work: they tell the driver when they have done their work, and it tells them when and how to end. And the connections of callers.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;

use crate::exchange::issuer::accept;

/// On the busiest machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What the driver knows of a tool's run.
#[derive(Clone, Debug, Default)]
struct Run {
    /// How often it has worked.
    worked: usize,
    /// How it may end.
    end: Option<&'static str>,
}

/// Calls that work and end, by their keys.
#[derive(Clone)]
pub(super) struct Workplace {
    runs: Arc<(Mutex<BTreeMap<String, Run>>, Condvar)>,
    pub(super) url: String,
}

impl Workplace {
    pub(super) fn open() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let place = Self { runs: Arc::default(), url };
        let tools = place.clone();
        accept(listener, move |stream| tools.work(&stream));
        Ok(place)
    }

    /// A tool has done its work, and waits until it may end.
    fn work(&self, mut stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let mut line = String::from("-");
        while !line.trim_end().is_empty() {
            line.clear();
            reader.read_line(&mut line).ok()?;
        }
        let key = first.split(' ').nth(1)?.trim_start_matches('/').to_owned();
        let (runs, changed) = &*self.runs;
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.entry(key.clone()).or_default().worked += 1;
        changed.notify_all();
        let waits = |runs: &mut BTreeMap<String, Run>| runs.get(&key).is_some_and(|run| run.end.is_none());
        let (runs, _) = changed.wait_timeout_while(runs, PATIENCE, waits).unwrap_or_else(PoisonError::into_inner);
        let end = runs.get(&key)?.end.unwrap_or("result");
        drop(runs);
        let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{end}", end.len());
        stream.write_all(head.as_bytes()).ok()
    }

    /// How often the tool of a call has worked.
    pub(super) fn worked(&self, key: &str) -> usize {
        let runs = self.runs.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(key).map_or(0, |run| run.worked)
    }

    /// The tool of a call may end.
    pub(super) fn end(&self, key: &str, end: &'static str) {
        let (runs, changed) = &*self.runs;
        runs.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().end = Some(end);
        changed.notify_all();
    }
}

/// What has come of a response so far.
#[derive(Clone, Debug, Default)]
struct Read {
    bytes: Vec<u8>,
    pieces: usize,
    is_over: bool,
}

/// A request, whose response is read while other things happen.
pub(super) struct Sent {
    stream: TcpStream,
    read: Arc<(Mutex<Read>, Condvar)>,
    pub(super) has_left: bool,
}

impl Sent {
    /// Sends a request. Its caller leaves after this number of pieces, if it is one.
    pub(super) fn new(address: &str, request: &[u8], leaves_after: Option<usize>) -> Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.write_all(request)?;
        let read: Arc<(Mutex<Read>, Condvar)> = Arc::default();
        let (mut reader, into) = (stream.try_clone()?, Arc::clone(&read));
        std::thread::spawn(move || {
            let mut piece = [0; 120];
            loop {
                let count = reader.read(&mut piece).unwrap_or_default();
                let (read, changed) = &*into;
                let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                read.bytes.extend_from_slice(&piece[..count]);
                read.pieces += 1;
                let leaves = leaves_after.is_some_and(|after| read.pieces >= after);
                if leaves {
                    let _ = reader.shutdown(Shutdown::Both);
                }
                read.is_over = count == 0 || leaves;
                changed.notify_all();
                if read.is_over {
                    return;
                }
            }
        });
        Ok(Self { stream, read, has_left: false })
    }

    pub(super) fn leave(&mut self) {
        self.has_left |= !self.is_over();
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn is_over(&self) -> bool {
        self.read.0.lock().unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// Waits until this is true or the response is over.
    pub(super) fn wait(&self, most: Duration, is_done: impl Fn() -> bool) {
        let end = Instant::now() + most;
        while !is_done() && Instant::now() < end {
            let (read, changed) = &*self.read;
            let read = read.lock().unwrap_or_else(PoisonError::into_inner);
            if read.is_over {
                return;
            }
            let _ = changed.wait_timeout(read, Duration::from_millis(2));
        }
    }

    /// The status, or 0.
    pub(super) fn status(&self) -> u16 {
        let text = self.text();
        text.get(9..12).and_then(|digits| digits.parse().ok()).unwrap_or_default()
    }

    /// A header's value.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let text = self.text();
        let head = text.split("\r\n\r\n").next()?;
        let mut lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// The caller has read the response to its end.
    pub(super) fn is_whole(&self) -> bool {
        let text = self.text();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            return body.ends_with("0\r\n\r\n");
        }
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        length.is_some_and(|length: usize| body.len() >= length)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.read.0.lock().unwrap_or_else(PoisonError::into_inner).bytes).into_owned()
    }
}
