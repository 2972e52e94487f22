//! Envoy's default format, and Istio's, which has three fields more. Neither escapes quotes, so there are no further fields: a
//! client could have written them.

use crate::access::line::{AccessLine, Format, Request, Rest};
use crate::access::scan::{self, ABSENT, Cursor, any, is_number};

/// Whether it begins with a date in brackets. An IPv6 address would have a colon there.
pub(super) fn is_line(line: &[u8]) -> bool {
    let date = line.strip_prefix(b"[").and_then(|rest| rest.get(..5));
    date.is_some_and(|date| matches!(date, [year @ .., b'-'] if year.iter().all(u8::is_ascii_digit)))
}

pub(super) fn parse(line: &[u8]) -> Result<AccessLine<'_>, String> {
    let mut line = Cursor(line);
    let time = line.enclosed("time in brackets", b"[]")?;
    let request = line.enclosed("request in quotes", b"\"\"")?;
    // It always writes a protocol, so what ends without one isn't the whole request.
    let has_version = scan::request(request).is_some_and(|(_, _, version)| !version.is_empty());
    if !has_version && !request.ends_with(b" -") {
        return Err("no protocol at the end of the request".to_owned());
    }
    let status = line.word("status", is_number)?;
    line.word("response flags", any)?;
    if line.word("received bytes", is_number).is_err() {
        line.word("response code details", any)?;
        line.word("connection termination details", any)?;
        line.enclosed("transport failure in quotes", b"\"\"")?;
        line.word("received bytes", is_number)?;
    }
    let size = line.word("sent bytes", is_number)?;
    line.word("duration", any)?;
    line.word("time of the upstream", any)?;
    let client = line.enclosed("`x-forwarded-for` in quotes", b"\"\"")?;
    let agent = line.enclosed("user agent in quotes", b"\"\"")?;
    line.enclosed("request id in quotes", b"\"\"")?;
    let authority = line.enclosed("authority in quotes", b"\"\"")?;
    Ok(AccessLine {
        format: Format::Envoy,
        named: [authority, client, ABSENT, ABSENT, time, status, size, ABSENT, agent],
        request: Request::Line(request),
        rest: Rest::None,
    })
}
