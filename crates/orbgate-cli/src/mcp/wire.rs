//! One HTTP request on one connection, with exactly these bytes: HTTP libraries don't send what a probe must.

use core::time::Duration;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};

use crate::output::Stop;

const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes that are read of an answer.
const MOST_BYTES: u64 = 1 << 20;

pub(super) struct Endpoint {
    pub(super) authority: String,
    pub(super) path: String,
}

/// A response, of which a stream's first message is enough.
pub(super) struct Response {
    pub(super) status: u16,
    /// Header lines and body.
    pub(super) text: String,
}

impl Endpoint {
    pub(super) fn of(url: &str) -> Result<Self, Stop> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        let rest = url.strip_prefix("http://").filter(|rest| rest.bytes().all(is_plain));
        let rest = rest.ok_or_else(|| Stop::Error(format!("`{url}` is not an `http` URL")))?;
        let at = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(at).unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { authority: authority.to_owned(), path: path.to_owned() })
    }

    /// Sends a request, and reads until the connection or the first message of a stream ends.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response, Stop> {
        let sent = self.try_send(method, path, headers, body);
        sent.map_err(|error| Stop::Error(format!("no answer of `{}`: {error}", self.authority)))
    }

    fn try_send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> std::io::Result<Response> {
        let address =
            if self.authority.contains(':') { self.authority.clone() } else { format!("{}:80", self.authority) };
        let address = address.to_socket_addrs()?.next().ok_or(ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.authority);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        // A server that rejects a request might close the connection before it has read everything. Reading says why.
        let _ = stream.write_all(&[request.as_bytes(), body].concat());
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        let mut reader = stream.take(MOST_BYTES);
        loop {
            let read = match reader.read(&mut piece) {
                // Enough for a verdict: a whole head, of an answer whose body is lost.
                Err(error) if error.kind() == ErrorKind::ConnectionReset && has_head(&bytes) => 0,
                read => read?,
            };
            bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
            let text = String::from_utf8_lossy(&bytes);
            let is_message = text.contains("text/event-stream") && text.contains("data: {");
            if read == 0
                || is_message && text.trim_end_matches('\r').ends_with("\n\n")
                || text.ends_with("\r\n\r\n") && is_message
            {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(ErrorKind::InvalidData)?;
        Ok(Response { status, text })
    }
}

fn has_head(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|four| four == b"\r\n\r\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test that cannot go on fails")]

    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_answer_counts_although_the_server_closes_before_it_has_read_the_request() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
            // To close with unread bytes resets the connection.
            stream.write_all(b"HTTP/1.1 401 Unauthorized\r\n\r\n").unwrap();
        });
        let endpoint = Endpoint::of(&format!("http://{address}/mcp")).unwrap();
        let response = endpoint.send("POST", "/mcp", &[], &[b'a'; 1 << 20]).unwrap();
        server.join().unwrap();
        assert_eq!(response.status, 401);
    }
}
