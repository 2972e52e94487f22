//! Raw bytes on a socket: requests and responses.

use core::time::Duration;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

/// The time limit for a response, which includes five seconds for fetching keys.
const PATIENCE: Duration = Duration::from_secs(20);

/// A response as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// 0 if the server closed the connection without a response.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The bytes after the response; there should be none.
    pub(crate) rest: Vec<u8>,
}

impl Answer {
    /// The values of a header, joined.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        let values: Vec<_> = self.headers.iter().filter(same).collect();
        let values: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(" + "))
    }

    /// The body; empty if it isn't valid UTF-8.
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap_or_default()
    }
}

/// A connection, which can carry several exchanges.
pub(crate) struct Connection {
    stream: TcpStream,
    /// The received bytes that haven't been read yet.
    ahead: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, ahead: Vec::new() })
    }

    /// Shortens the time limit for a response.
    pub(crate) fn wait_at_most(&self, time: Duration) -> std::io::Result<()> {
        self.stream.set_read_timeout(Some(time))
    }

    /// Writes these bytes and reads one response.
    pub(crate) fn ask(&mut self, request: &[u8]) -> std::io::Result<Answer> {
        // A server that rejects a request might close the connection before it has read everything.
        let _ = self.stream.write_all(request);
        let Some(end) = self.read_until(|bytes| find(bytes, b"\r\n\r\n"))? else {
            return Ok(Answer::default());
        };
        let head: Vec<u8> = self.ahead.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut answer = Answer { status: status(&head).unwrap_or_default(), ..Answer::default() };
        let fields = head.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
        answer.headers = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        answer.body = self.body(&answer)?;
        Ok(answer)
    }

    fn body(&mut self, answer: &Answer) -> std::io::Result<Vec<u8>> {
        if let Some(length) = answer.header("content-length") {
            let length: usize = length.parse().map_err(std::io::Error::other)?;
            self.read_until(|bytes| (bytes.len() >= length).then_some(length))?;
            let length = length.min(self.ahead.len());
            return Ok(self.ahead.drain(..length).collect());
        }
        if answer.header("transfer-encoding").as_deref() == Some("chunked") {
            return self.chunks();
        }
        if matches!(answer.status, 100..=199 | 204 | 304) {
            return Ok(Vec::new());
        }
        self.read_until(|_| None)?;
        Ok(core::mem::take(&mut self.ahead))
    }

    fn chunks(&mut self) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(end) = self.read_until(|bytes| find(bytes, b"\r\n"))? {
            let size: Vec<u8> = self.ahead.drain(..end + 2).collect();
            let size = String::from_utf8_lossy(&size[..end]).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
            self.read_until(|bytes| (bytes.len() >= size + 2).then_some(size))?;
            body.extend(self.ahead.drain(..(size + 2).min(self.ahead.len())).take(size));
            if size == 0 {
                break;
            }
        }
        Ok(body)
    }

    /// The bytes after the response, read until the server closes the connection. The server is informed that nothing
    /// more will come, because waitress doesn't recognise `close` next to other words in `Connection`.
    fn rest(mut self) -> std::io::Result<Vec<u8>> {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.read_until(|_| None)?;
        Ok(self.ahead)
    }

    /// Reads until this finds a position; `None` if the other side closes first.
    fn read_until(&mut self, find: impl Fn(&[u8]) -> Option<usize>) -> std::io::Result<Option<usize>> {
        loop {
            if let Some(at) = find(&self.ahead) {
                return Ok(Some(at));
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(count) => self.ahead.extend(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Writes these bytes on a new connection, and reads everything that comes. The request contains
/// `Connection: close`.
pub(crate) fn ask(address: &str, request: &[u8]) -> std::io::Result<Answer> {
    let mut connection = Connection::open(address)?;
    let mut answer = connection.ask(request)?;
    if answer.status != 0 {
        answer.rest = connection.rest()?;
    }
    Ok(answer)
}

/// The first number of three digits in the status line. uWSGI starts its response with everything after the target.
fn status(head: &str) -> Option<u16> {
    let line = head.split("\r\n").next()?;
    let words = line.split(' ').skip(1);
    let mut numbers = words.filter(|word| word.len() == 3);
    numbers.find_map(|word| word.parse().ok())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A request line and headers without a body. The connection closes after the response.
pub(crate) fn request(method: &[u8], target: &[u8], token: Option<&str>) -> Vec<u8> {
    let bearer = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let headers = format!("Host: localhost\r\nConnection: close\r\n{bearer}\r\n");
    [method, b" ", target, b" HTTP/1.1\r\n", headers.as_bytes()].concat()
}
