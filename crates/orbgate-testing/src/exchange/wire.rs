//! Bytes on a socket: a request as it is written, an answer as it comes.

use core::time::Duration;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

/// How long an answer may take. Fetching keys may take five seconds of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// 0: the server closed the connection and said nothing.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// What came after the answer; nothing should.
    pub(crate) rest: Vec<u8>,
}

impl Answer {
    /// The values of a header, joined as one.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        let values: Vec<_> = self.headers.iter().filter(same).collect();
        let values: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(" + "))
    }

    /// The body as text, and empty where it is none.
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap_or_default()
    }
}

/// A connection, which may carry several exchanges.
pub(crate) struct Connection {
    stream: TcpStream,
    /// What has come and is not read yet.
    ahead: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream,
            ahead: Vec::new(),
        })
    }

    /// Writes these bytes and reads one answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> std::io::Result<Answer> {
        // A server that refuses a request may close before it has read all of it.
        let _ = self.stream.write_all(request);
        let Some(end) = self.read_until(|bytes| find(bytes, b"\r\n\r\n"))? else {
            return Ok(Answer::default());
        };
        let head: Vec<u8> = self.ahead.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut answer = Answer {
            status: status(&head).unwrap_or_default(),
            ..Answer::default()
        };
        let fields = head
            .split("\r\n")
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        answer.headers = fields
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
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
        if matches!(answer.status, 204 | 304) {
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
            body.extend(
                self.ahead
                    .drain(..(size + 2).min(self.ahead.len()))
                    .take(size),
            );
            if size == 0 {
                break;
            }
        }
        Ok(body)
    }

    /// What comes after the answer, once the server has closed the connection. It learns that nothing more will come:
    /// waitress doesn't see `close` next to other words in `Connection`.
    fn rest(mut self) -> std::io::Result<Vec<u8>> {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.read_until(|_| None)?;
        Ok(self.ahead)
    }

    /// Reads until this finds a position; none, if the other side has closed before.
    fn read_until(
        &mut self,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> std::io::Result<Option<usize>> {
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

/// Writes these bytes on a connection of their own, and reads all that comes. The request says `Connection: close`.
pub(crate) fn ask(address: &str, request: &[u8]) -> std::io::Result<Answer> {
    let mut connection = Connection::open(address)?;
    let mut answer = connection.ask(request)?;
    if answer.status != 0 {
        answer.rest = connection.rest()?;
    }
    Ok(answer)
}

/// The first number of three digits in the status line: uWSGI begins its answer with all that stood after the target.
fn status(head: &str) -> Option<u16> {
    let line = head.split("\r\n").next()?;
    let words = line.split(' ').skip(1);
    let mut numbers = words.filter(|word| word.len() == 3);
    numbers.find_map(|word| word.parse().ok())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A request line and headers without a body; the connection closes after the answer.
pub(crate) fn request(method: &[u8], target: &[u8], token: Option<&str>) -> Vec<u8> {
    let bearer = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let headers = format!("Host: localhost\r\nConnection: close\r\n{bearer}\r\n");
    [method, b" ", target, b" HTTP/1.1\r\n", headers.as_bytes()].concat()
}
