//! Parses lines of the access logs of web servers, proxies and load balancers.

mod alb;
mod combined;
mod envoy;
mod field;
mod haproxy;
mod header;
mod line;
mod scan;
mod w3c;

use std::sync::Arc;

pub use crate::access::field::Field;
use crate::access::header::Header;
pub use crate::access::line::{AccessLine, Call, Format};

/// Reads an access log line by line. It keeps the `#Fields:` of a W3C log, so each file needs its own.
#[derive(Clone, Debug, Default)]
pub struct AccessLog {
    header: Option<Arc<Header>>,
}

impl AccessLog {
    /// A log before its first line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a line without copying. `None` for a directive of a W3C log, which describes the log and is no call. The error
    /// states what is missing, and names the format unless it is the combined one.
    ///
    /// ```
    /// let mut log = orbgate_log::AccessLog::new();
    /// assert!(log.read(b"#Fields: date time cs-method cs-uri-stem")?.is_none());
    /// let line = log.read(b"2026-11-12 11:49:08 GET /v1/items")?.unwrap();
    /// assert_eq!(&*line.call()?.target, b"/v1/items");
    /// # Ok::<(), String>(())
    /// ```
    pub fn read<'a>(&mut self, line: &'a [u8]) -> Result<Option<AccessLine<'a>>, String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Err(crate::BLANK.to_owned());
        }
        if let Some(header) = w3c::directive(line, self.header.as_deref()) {
            self.header = Some(Arc::new(header));
            return Ok(None);
        }
        let format = self.recognise(line);
        let parsed = match format {
            Some(Format::W3c) => w3c::parse(line, self.header.as_ref()),
            Some(Format::Alb) => alb::parse(line),
            Some(Format::Envoy) => envoy::parse(line),
            // A user can write what looks like HAProxy's log into a line that is one of the combined format.
            other => match combined::parse(line) {
                Err(_) if other == Some(Format::Haproxy) => haproxy::parse(line),
                parsed => return parsed.map(Some),
            },
        };
        let named = |why| format!("{}: {why}", format.unwrap_or(Format::Combined));
        parsed.map(Some).map_err(named)
    }

    /// The format that a line has by its start; `None` if it might at most be the combined format.
    ///
    /// What decides is written by the server, before anything that a client sends.
    #[must_use]
    pub fn recognise(&self, line: &[u8]) -> Option<Format> {
        if self.header.is_some() || w3c::is_directive(line) || w3c::is_row(line) {
            return Some(Format::W3c);
        }
        match line {
            _ if envoy::is_line(line) => Some(Format::Envoy),
            _ if alb::is_line(line) => Some(Format::Alb),
            _ if haproxy::is_line(line) => Some(Format::Haproxy),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
