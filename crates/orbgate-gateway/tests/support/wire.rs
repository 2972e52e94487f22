//! Bytes on a socket.

use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpStream;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// 0: the connection was closed, and nothing said.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// The only value of a header; empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        one(&self.headers, name)
    }
}

/// The only value of a header; empty if it is not there.
pub(crate) fn one<'h>(headers: &'h [(String, String)], name: &str) -> &'h str {
    let mut values = headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
    let value = values.next().map_or("", |(_, value)| value);
    assert!(values.next().is_none(), "{name} is there twice: {headers:?}");
    value
}

/// The first value of a header; empty if it is not there.
pub(crate) fn first<'h>(headers: &'h [(String, String)], name: &str) -> &'h str {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

/// Writes these bytes on a connection of their own, and reads one answer. The request says `Connection: close`.
pub(crate) fn ask(address: &str, request: &[u8]) -> Answer {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return Answer::default();
    };
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    ask_on(&mut stream, request)
}

pub(crate) fn ask_on(stream: &mut (impl Read + Write), request: &[u8]) -> Answer {
    // A server that refuses a request may close before it has read all of it.
    let _ = stream.write_all(request);
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        bytes.extend(&piece[..count]);
        if is_whole(&bytes) {
            break; // A server may wait before it closes the connection.
        }
    }
    answer(&bytes)
}

pub(crate) fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return Answer::default();
    };
    let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let status = line.split(' ').nth(1).unwrap_or_default();
    Answer { status: status.parse().unwrap_or_default(), headers: headers(fields), body: body.to_owned() }
}

/// Whether an answer is there with the body that it says it has.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

pub(crate) fn headers(fields: &str) -> Vec<(String, String)> {
    let fields = fields.split("\r\n").filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

/// Reads to the end of a head, which may be the end of everything.
pub(crate) fn head(stream: &mut TcpStream) -> Vec<u8> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => break,
        }
    }
    bytes
}

/// A request whose connection closes after its answer.
pub(crate) fn request(method: &[u8], target: &[u8], headers: &[(&str, &str)]) -> Vec<u8> {
    let mut request = [method, b" ", target, b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"].concat();
    for (name, value) in headers {
        request.extend(format!("{name}: {value}\r\n").bytes());
    }
    request.extend(b"\r\n");
    request
}
