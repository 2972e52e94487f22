//! W3C's extended log format: `#Fields:` names what the rows below have. IIS separates values by spaces, CloudFront by tabs.

use std::sync::Arc;

use crate::access::header::{Header, values};
use crate::access::line::{AccessLine, Format, Request, Rest};
use crate::access::scan::{self, ABSENT};

/// What the format calls its directives.
const DIRECTIVES: [&str; 7] = ["Version", "Fields", "Software", "Start-Date", "End-Date", "Date", "Remark"];

/// The header after a directive, if the line is one. Once a log has a directive, every `#` begins one.
pub(super) fn directive(line: &[u8], header: Option<&Header>) -> Option<Header> {
    let is_in_log = header.is_some() && line.starts_with(b"#");
    if !is_in_log && !is_directive(line) {
        return None;
    }
    let fields = line.strip_prefix(b"#Fields:").and_then(|fields| str::from_utf8(fields).ok());
    Some(fields.map_or_else(|| header.cloned().unwrap_or_default(), Header::new))
}

pub(super) fn is_directive(line: &[u8]) -> bool {
    let text = line.strip_prefix(b"#").unwrap_or_default();
    DIRECTIVES.iter().any(|name| text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b":")))
}

/// Whether it begins with a date and a time in two values. No other format does.
pub(super) fn is_row(line: &[u8]) -> bool {
    let is = |pattern: &[u8], text: &[u8]| {
        pattern.iter().zip(text).all(|(wanted, byte)| match wanted {
            b'0' => byte.is_ascii_digit(),
            b' ' => matches!(byte, b' ' | b'\t'),
            other => byte == other,
        })
    };
    let pattern = b"0000-00-00 00:00:00 ";
    line.get(..pattern.len()).is_some_and(|start| is(pattern, start))
}

pub(super) fn parse<'a>(row: &'a [u8], header: Option<&Arc<Header>>) -> Result<AccessLine<'a>, String> {
    let header = header.filter(|header| !header.names.is_empty()).ok_or("no `#Fields:` before this row")?;
    let count = values(row).count();
    if count != header.names.len() {
        return Err(format!("{count} values where `#Fields:` has {}", header.names.len()));
    }
    let value = |at: Option<usize>| at.and_then(|at| values(row).nth(at)).unwrap_or(ABSENT);
    let [Some(method), Some(path), query] = header.request else {
        return Err("no `cs-method` and `cs-uri-stem` in `#Fields:`".to_owned());
    };
    Ok(AccessLine {
        format: Format::W3c,
        named: header.named.map(value),
        request: Request::Parts(value(Some(method)), scan::below_host(value(Some(path))), value(query)),
        rest: Rest::Row(Arc::clone(header), row),
    })
}
