//! HAProxy's `option httplog` and `option httpslog`. It writes unusual bytes as `#` and two digits, so quotes and braces end
//! what they begin.

use crate::access::line::{AccessLine, Format, Request, Rest};
use crate::access::scan::{ABSENT, Cursor, any, enclosed, is_number, up_to, without_port, word};

/// Whether it begins with a client and a time, perhaps after a syslog prefix, and the request doesn't follow at once.
pub(super) fn is_line(line: &[u8]) -> bool {
    let start = word(after_syslog(line)).and_then(|(_, rest)| enclosed(rest, *b"[]"));
    start.is_some_and(|(time, rest)| time.contains(&b'/') && !rest.starts_with(b"\""))
}

/// The line after `Nov  1 01:30:00 host haproxy[123]: `.
fn after_syslog(line: &[u8]) -> &[u8] {
    let bracket = line.iter().position(|byte| *byte == b'[');
    let Some((name, [_, rest @ ..])) = bracket.and_then(|bracket| line.split_at_checked(bracket)) else {
        return line;
    };
    if name.ends_with(b" ") || name.is_empty() {
        return line;
    }
    let process = rest.iter().position(|byte| *byte == b']').and_then(|at| up_to(rest, at));
    match process {
        Some((id, after)) if is_number(id) => after.strip_prefix(b": ").unwrap_or(line),
        _ => line,
    }
}

pub(super) fn parse(line: &[u8]) -> Result<AccessLine<'_>, String> {
    let mut line = Cursor(after_syslog(line));
    let client = line.word("client", any)?;
    let time = line.enclosed("time in brackets", b"[]")?;
    line.word("frontend", any)?;
    line.word("backend and server", |text| slashes(text) == 1)?;
    line.word("times of an HTTP request", |text| slashes(text) == 4)?;
    let status = line.word("status", |text| text == b"-1" || (text.len() == 3 && is_number(text)))?;
    // Under `option logasap`, there can be more.
    let size = line.word("size", |text| is_number(text.strip_prefix(b"+").unwrap_or(text)))?;
    line.word("cookie of the request", any)?;
    line.word("cookie of the response", any)?;
    line.word("state at the end", |text| text.len() == 4)?;
    line.word("connections", |text| slashes(text) == 4)?;
    line.word("queues", |text| slashes(text) == 1)?;
    let mut captured = [&b""[..]; 2];
    for headers in &mut captured {
        if line.0.starts_with(b"{") {
            *headers = line.enclosed("captured headers in braces", b"{}")?;
        }
    }
    let request = line.enclosed("request in quotes", b"\"\"")?;
    Ok(AccessLine {
        format: Format::Haproxy,
        named: [ABSENT, without_port(client), ABSENT, ABSENT, time, status, size, ABSENT, ABSENT],
        request: Request::Line(request),
        rest: Rest::Captured(captured),
    })
}

fn slashes(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'/').count()
}
