//! The header of a W3C log, which names the values of its rows.

use std::borrow::Cow;

use crate::access::field::Field;
use crate::access::scan::ABSENT;

/// The names of a row's values, and where those are that we need.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    /// Method, path, query.
    pub(super) request: [Option<usize>; 3],
    pub(super) named: [Option<usize>; Field::NAMES.len()],
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

impl Header {
    pub(super) fn new(fields: &str) -> Self {
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

pub(super) fn values(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    let separator = if row.contains(&b'\t') { b'\t' } else { b' ' };
    row.split(move |byte| *byte == separator)
}
