//! Reads and writes messages: a header, followed by JSON of the length in the header.
//!
//! This replaces `lsp-server`, which only the tests use. That crate allocates whatever length a header states, and
//! stops at the first message that isn't JSON. Here, memory grows only as bytes arrive, and such a message gets an
//! error response.

use std::io::{self, BufRead, Read, Write};

use gen_lsp_types::json_rpc::RequestObject;
use serde::Serialize;

/// The maximum size of a message in bytes. A policy of the maximum size fits, even if every character
/// is escaped.
pub(crate) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The maximum size of a header in bytes.
const HEADER_BYTES: u64 = 8 * 1024;

/// A message as it was read.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request or a notification, or a response, which has no method.
    Message(RequestObject),
    /// The error of an invalid message.
    Malformed(String),
    /// The length in bytes of a message that was skipped.
    TooLong(u64),
}

/// Reads the next message; `None` at the end of the stream.
///
/// # Errors
///
/// Errors of the stream, and [`io::ErrorKind::InvalidData`] for a header without a valid length, because the end of
/// the message is unknown.
pub(crate) fn read(input: &mut dyn BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = content_length(input)? else {
        return Ok(None);
    };
    let mut body = input.take(length);
    if length > MOST_BYTES {
        io::copy(&mut body, &mut io::sink())?;
        return Ok(Some(Incoming::TooLong(length)));
    }
    // Memory grows as bytes arrive, so a header with a false length costs nothing.
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    if body.limit() > 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(error.to_string()),
    }))
}

fn content_length(input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut header = input.take(HEADER_BYTES);
    let (mut length, mut line) = (None, Vec::new());
    loop {
        line.clear();
        if header.read_until(b'\n', &mut line)? == 0 && line.is_empty() && header.limit() > 0 {
            return Ok(None);
        }
        let Some(field) = line.strip_suffix(b"\n") else {
            return Err(invalid("a header without its end"));
        };
        let field = String::from_utf8_lossy(field);
        let field = field.trim_end();
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':').unwrap_or((field, ""));
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim().parse();
            length = Some(value.map_err(|_| invalid("a `Content-Length` that is not a number"))?);
        }
    }
    length.map(Some).ok_or_else(|| invalid("a header without `Content-Length`"))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Writes a message.
pub(crate) fn write(output: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    write!(output, "Content-Length: {}\r\n\r\n", body.len())?;
    output.write_all(&body)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::{Incoming, MOST_BYTES, read};

    fn check(bytes: &str, expected: &str) {
        let mut input = bytes.as_bytes();
        let message = match read(&mut input) {
            Ok(None) => "end".to_owned(),
            Ok(Some(Incoming::Message(message))) => message.method().to_owned(),
            Ok(Some(Incoming::Malformed(message))) => message,
            Ok(Some(Incoming::TooLong(length))) => format!("too long: {length}, {}", input.len()),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(expected), "{expected}: {message}");
    }

    #[test]
    fn a_message_has_a_header_and_a_body() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        check("", "end");
        check(&format!("Content-Length: 33\r\n\r\n{exit}"), "exit");
        check(&format!("content-length:33\nA: b\n\n{exit}"), "exit");
        check("Content-Length: 34\r\n\r\n{}", "unexpected end of file");
        check("Content-Length: 18446744073709551616\r\n\r\n", "not a number");
        check("Content-Length: -1\r\n\r\n", "not a number");
        check("A: b\r\n\r\n", "without `Content-Length`");
        check("Content-Length: 1", "without its end");
        check(&"a".repeat(10_000), "without its end");
        check(&"a: b\n".repeat(10_000), "without its end");
    }

    #[test]
    fn what_is_no_message_leaves_the_stream_in_order() {
        for body in ["", "{", "[]", "7", "\"\"", r#"{"jsonrpc":"1.0","method":"x"}"#] {
            let bytes = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            let mut input = bytes.as_bytes();
            let read = read(&mut input);
            assert!(matches!(read, Ok(Some(Incoming::Malformed(_)))), "{body}");
            assert!(input.is_empty());
        }
        let deep = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{}"#, "[".repeat(100_000));
        check(&format!("Content-Length: {}\r\n\r\n{deep}", deep.len()), "recursion limit");
        let length = MOST_BYTES + 1;
        let most = usize::try_from(length).unwrap();
        check(&format!("Content-Length: {length}\r\n\r\n{}rest", " ".repeat(most)), "too long: 67108865, 4");
        // The header states this length, but the stream ends much earlier.
        check(&format!("Content-Length: {}\r\n\r\nrest", u64::MAX), "too long: 18446744073709551615, 0");
    }
}
