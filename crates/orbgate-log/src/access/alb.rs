//! AWS Application Load Balancer: a type, a time, and the request as a URL in quotes.

use crate::access::line::{AccessLine, Format, Request, Rest};
use crate::access::scan::{ABSENT, Cursor, any, is_number, without_port, word};

/// The types of requests.
const TYPES: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

/// Whether it begins with a type, and a time in the form that only this log has there.
pub(super) fn is_line(line: &[u8]) -> bool {
    let Some((_, rest)) = word(line).filter(|(kind, _)| TYPES.contains(kind)) else {
        return false;
    };
    let time = word(rest).map(|(time, _)| time).unwrap_or_default();
    time.get(10) == Some(&b'T') && time.starts_with(b"2") && time.ends_with(b"Z")
}

pub(super) fn parse(line: &[u8]) -> Result<AccessLine<'_>, String> {
    let mut line = Cursor(line);
    line.word("type", any)?;
    let time = line.word("time", any)?;
    line.word("load balancer", any)?;
    let client = line.word("client", any)?;
    line.word("target", any)?;
    for name in ["request", "target", "response"] {
        line.word(&format!("processing time of the {name}"), any)?;
    }
    let status = line.word("status", |text| text == ABSENT || is_number(text))?;
    line.word("status of the target", any)?;
    line.word("received bytes", is_number)?;
    let size = line.word("sent bytes", is_number)?;
    let request = line.quoted("request")?;
    let agent = line.quoted("user agent")?;
    line.word("cipher", any)?;
    line.word("protocol", any)?;
    line.word("target group", any)?;
    line.quoted("trace")?;
    let domain = line.quoted("domain")?;
    Ok(AccessLine {
        format: Format::Alb,
        named: [domain, without_port(client), ABSENT, ABSENT, time, status, size, ABSENT, agent],
        request: Request::Line(request),
        rest: Rest::None,
    })
}
