//! W3C's extended log format: `#Fields:` names what the rows below have. IIS separates values by spaces, CloudFront by tabs.

use std::borrow::Cow;
use std::sync::Arc;

use super::{ABSENT, AccessLine, Field, Format, Request, Rest, scan};

/// The names of a row's values, and where those are that we need.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    names: Vec<String>,
    /// Method, path, query.
    request: [Option<usize>; 3],
    named: [Option<usize>; Field::NAMES.len()],
    /// Date and time, both in UTC.
    moment: [Option<usize>; 2],
}

/// The names in the header of the fields of [`Field::NAMES`], the best one first.
const NAMES: [&[&str]; Field::NAMES.len()] = [
    &["x-host-header", "cs-host", "cs(Host)"],
    &["c-ip"],
    &[],
    &["cs-username"],
    &[],
    &["sc-status"],
    &["sc-bytes"],
    &["cs(Referer)"],
    &["cs(User-Agent)"],
];

/// What the format calls its directives.
const DIRECTIVES: [&str; 7] = ["Version", "Fields", "Software", "Start-Date", "End-Date", "Date", "Remark"];

impl Header {
    fn new(fields: &str) -> Self {
        let names: Vec<String> = fields.split_ascii_whitespace().map(str::to_owned).collect();
        let at = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        Self {
            request: [at("cs-method"), at("cs-uri-stem").or_else(|| at("cs-uri")), at("cs-uri-query")],
            named: NAMES.map(|names| names.iter().find_map(|name| at(name))),
            moment: [at("date"), at("time")],
            names,
        }
    }

    /// Date and time as ISO 8601 writes them.
    pub(super) fn time<'a>(&self, row: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let value = |at: Option<usize>| values(row).nth(at?).filter(|value| *value != ABSENT);
        match self.moment.map(value) {
            [Some(date), Some(time)] => Some(Cow::Owned([date, b"T", time, b"Z"].concat())),
            [None, Some(time)] => Some(Cow::Borrowed(time)),
            [date, None] => date.map(Cow::Borrowed),
        }
    }

    /// The value of this name.
    pub(super) fn value<'a>(&self, name: &str, row: &'a [u8]) -> Option<&'a [u8]> {
        let at = self.names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        values(row).nth(at)
    }
}

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

fn values(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    let separator = if row.contains(&b'\t') { b'\t' } else { b' ' };
    row.split(move |byte| *byte == separator)
}
