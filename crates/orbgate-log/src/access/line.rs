//! A line of an access log, and the call that it describes.

use core::fmt;
use std::borrow::Cow;
use std::sync::Arc;

use crate::access::field::Field;
use crate::access::header::Header;
use crate::access::scan::{self, Later, SHOWN};
use crate::escape::{shown, unescape, unescape_number};

/// A log's format, recognised line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The common and the combined format of nginx, Apache and most other servers, with fields after them.
    Combined,
    /// W3C's extended format, with a `#Fields:` line, as IIS and CloudFront write it.
    W3c,
    /// AWS Application Load Balancer.
    Alb,
    /// HAProxy's `option httplog` and `option httpslog`, also after a syslog prefix.
    Haproxy,
    /// Envoy's and Istio's default format.
    Envoy,
}

impl Format {
    /// The name for users.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::W3c => "W3C",
            Self::Alb => "ALB",
            Self::Haproxy => "HAProxy",
            Self::Envoy => "Envoy",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A line of an access log.
#[derive(Clone, Debug)]
pub struct AccessLine<'a> {
    pub(super) format: Format,
    /// The fields of [`Field::NAMES`], as written; `-` if absent.
    pub(super) named: [&'a [u8]; Field::NAMES.len()],
    pub(super) request: Request<'a>,
    pub(super) rest: Rest<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Request<'a> {
    /// `METHOD TARGET VERSION`.
    Line(&'a [u8]),
    /// Method, path and query. The query is `-` if the URL has none.
    Parts(&'a [u8], &'a [u8], &'a [u8]),
}

/// The fields without a fixed name.
#[derive(Clone, Debug)]
pub(super) enum Rest<'a> {
    None,
    /// Separated by spaces, after the combined format.
    Spaced(&'a [u8]),
    /// Captured by HAProxy, separated by vertical bars: of requests, and of responses.
    Captured([&'a [u8]; 2]),
    /// Named in the header of a W3C log.
    Row(Arc<Header>, &'a [u8]),
}

/// The call as received over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The method.
    pub method: Cow<'a, [u8]>,
    /// Path and query.
    pub target: Cow<'a, [u8]>,
}

impl<'a> AccessLine<'a> {
    /// The format of the line.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// A field with the server's escapes undone; `None` if it is absent.
    #[must_use]
    pub fn field(&self, field: &Field) -> Option<Cow<'a, [u8]>> {
        let written = match (field, &self.rest) {
            (Field::Time, Rest::Row(header, row)) => return header.time(row),
            (Field::Extra(at), Rest::Spaced(rest)) => Later(rest).nth(*at)?.ok()?,
            (Field::Extra(at), Rest::Captured([of_request, of_response])) => {
                let captured = |text: &'a [u8]| (!text.is_empty()).then(|| text.split(|byte| *byte == b'|'));
                let of_request = captured(of_request).into_iter().flatten();
                of_request.chain(captured(of_response).into_iter().flatten()).nth(*at)?
            }
            (Field::Named(name), Rest::Row(header, row)) => header.value(name, row)?,
            (Field::Extra(_) | Field::Named(_), _) => return None,
            (named, _) => self.named.get(named.position()?)?,
        };
        let is_absent = written == b"-" || (written.is_empty() && matches!(self.rest, Rest::Captured(_)));
        (!is_absent).then(|| self.unescaped(written))
    }

    /// Method and target, in the bytes as received. The error states that the line contains no request.
    ///
    /// ALB, and HAProxy from HTTP/2 on, write a URL with the scheme and the host that were sent elsewhere. They are left out.
    ///
    /// ```
    /// let line = br#"::1 - - [20/Nov/2026:13:05:00 +0000] "GET /a\x22b?c HTTP/1.1" 404 0"#;
    /// let line = orbgate_log::AccessLog::new().read(line)?.unwrap();
    /// let call = line.call()?;
    /// assert_eq!((&*call.method, &*call.target), (&b"GET"[..], &b"/a\"b?c"[..]));
    /// # Ok::<(), String>(())
    /// ```
    pub fn call(&self) -> Result<Call<'a>, String> {
        let line = match self.request {
            Request::Line(line) => line,
            Request::Parts(b"-" | b"", ..) => return Err("no method".to_owned()),
            Request::Parts(method, path, b"-" | b"") => return Ok(Call { method: method.into(), target: path.into() }),
            Request::Parts(method, path, query) => {
                return Ok(Call { method: method.into(), target: [path, b"?", query].concat().into() });
            }
        };
        let no_request = || {
            let start: Vec<u8> = line.iter().take(SHOWN).copied().collect();
            let dots = if start.len() < line.len() { "…" } else { "" };
            format!("the request is `{}{dots}`, no method and target", shown(&start))
        };
        match self.unescaped(line) {
            Cow::Borrowed(line) => {
                let (method, target) = self.split(line).ok_or_else(no_request)?;
                Ok(Call { method: Cow::Borrowed(method), target: Cow::Borrowed(target) })
            }
            Cow::Owned(line) => {
                let (method, target) = self.split(&line).ok_or_else(no_request)?;
                Ok(Call { method: Cow::Owned(method.to_vec()), target: Cow::Owned(target.to_vec()) })
            }
        }
    }

    fn split<'r>(&self, line: &'r [u8]) -> Option<(&'r [u8], &'r [u8])> {
        let (method, target, version) = scan::request(line)?;
        let has_host = match self.format {
            Format::Alb => true,
            Format::Haproxy => matches!(version, b" HTTP/2.0" | b" HTTP/3.0" | b" HTTP/2" | b" HTTP/3"),
            Format::Combined | Format::W3c | Format::Envoy => false,
        };
        let is_unknown = method == b"-" && self.format != Format::Combined;
        let target = if has_host { scan::below_host(target) } else { target };
        (!is_unknown).then_some((method, target))
    }

    fn unescaped(&self, written: &'a [u8]) -> Cow<'a, [u8]> {
        match self.format {
            Format::Combined | Format::Alb => unescape(written),
            Format::Haproxy => unescape_number(written),
            // Neither escapes anything in a text.
            Format::W3c | Format::Envoy => Cow::Borrowed(written),
        }
    }
}
