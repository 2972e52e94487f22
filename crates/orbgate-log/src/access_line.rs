//! Parses lines of a web server's access log: the common format, the combined format, and fields
//! after them.

use std::borrow::Cow;

use crate::escape::{shown, unescape};

/// A line as nginx, Apache and most other servers write it, field by field:
///
/// ```text
/// host identity user [time] "request" status size "referer" "agent" extra1 extra2 …
/// ```
///
/// The common format ends with the size. A field is bare, in quotes or in brackets; `-` means that it is absent.
/// Apache's `vhost_combined` puts the server's name and port first. The time and the status aren't validated here: a
/// line is a call even if its time has no time zone.
#[derive(Clone, Copy, Debug)]
pub struct AccessLine<'a> {
    virtual_host: Option<&'a [u8]>,
    host: &'a [u8],
    identity: &'a [u8],
    user: &'a [u8],
    time: &'a [u8],
    request: &'a [u8],
    /// The rest of the line, starting at the status.
    rest: &'a [u8],
}

/// The call as received over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The method.
    pub method: Cow<'a, [u8]>,
    /// Path and query.
    pub target: Cow<'a, [u8]>,
}

/// A field with further data about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The server that received the request, a name and a port, if the log has it.
    VirtualHost,
    /// The client, an address or a name.
    Host,
    /// The response of `identd`.
    Identity,
    /// The user that the server authenticated.
    User,
    /// The time, for example `20/Nov/2026:13:05:00 +0000`, or any other format that the server
    /// uses.
    Time,
    /// The field at this position, counted from the status, which has position 0.
    Later(usize),
}

impl Field {
    /// The names of the fields, in order. Fields after them are `extra1`, `extra2` and so on.
    pub const NAMES: [&str; 9] = ["vhost", "host", "identity", "user", "time", "status", "size", "referer", "agent"];

    /// The field with this name. Fields after the combined format are `extra1`, `extra2` and so on.
    ///
    /// ```
    /// use orbgate_log::Field;
    /// assert_eq!(Field::from_name("agent"), Some(Field::Later(3)));
    /// assert_eq!(Field::from_name("extra1"), Some(Field::Later(4)));
    /// assert_eq!(Field::from_name("extra0"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let index = match Self::NAMES.iter().position(|known| *known == name) {
            Some(index) => index,
            None => {
                let number: usize = name.strip_prefix("extra")?.parse().ok()?;
                number.checked_sub(1)?.checked_add(Self::NAMES.len())?
            }
        };
        Some(match index {
            0 => Self::VirtualHost,
            1 => Self::Host,
            2 => Self::Identity,
            3 => Self::User,
            4 => Self::Time,
            later => Self::Later(later.checked_sub(5)?),
        })
    }
}

impl<'a> AccessLine<'a> {
    /// Parses a line without copying. The error states what is missing.
    pub fn parse(line: &'a [u8]) -> Result<Self, String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return Err(crate::BLANK.to_owned());
        }
        let (host, after) = word(line).ok_or("no host at the start")?;
        let (identity, after) = word(after).ok_or("no identity after the host")?;
        if after.starts_with(b"[") {
            return Err("no user after the identity".to_owned());
        }
        let (user, time, after) =
            user_and_time(after).ok_or("no time in brackets between the user and the request's quotes")?;
        let (request, rest) = field(after).ok_or("no end of the request's quotes")?;
        let server = server(host, identity, user);
        let (virtual_host, (host, identity, user)) = match server {
            Some(client) => (Some(host), client),
            None => (None, (host, identity, user)),
        };
        let mut later = Later(rest);
        later.next().ok_or("no status after the request")??;
        later.next().ok_or("no size after the status")??;
        for field in later {
            field?;
        }
        Ok(Self { virtual_host, host, identity, user, time, request, rest })
    }

    /// A field with the server's escapes undone; `None` if it is absent.
    #[must_use]
    pub fn field(&self, field: Field) -> Option<Cow<'a, [u8]>> {
        let written = match field {
            Field::VirtualHost => self.virtual_host?,
            Field::Host => self.host,
            Field::Identity => self.identity,
            Field::User => self.user,
            Field::Time => self.time,
            Field::Later(position) => Later(self.rest).nth(position)?.ok()?,
        };
        (written != b"-").then(|| unescape(written))
    }

    /// Method and target, in the bytes as received. The error states that the line contains no request.
    ///
    /// ```
    /// let line = br#"::1 - - [20/Nov/2026:13:05:00 +0000] "GET /a\x22b?c HTTP/1.1" 404 0"#;
    /// let line = orbgate_log::AccessLine::parse(line)?;
    /// let call = line.call()?;
    /// assert_eq!((&*call.method, &*call.target), (&b"GET"[..], &b"/a\"b?c"[..]));
    /// # Ok::<(), String>(())
    /// ```
    pub fn call(&self) -> Result<Call<'a>, String> {
        let no_request = || {
            let start: Vec<u8> = self.request.iter().take(SHOWN).copied().collect();
            let dots = if start.len() < self.request.len() { "…" } else { "" };
            format!("the request is `{}{dots}`, no method and target", shown(&start))
        };
        match unescape(self.request) {
            Cow::Borrowed(request) => {
                let (method, target) = method_and_target(request).ok_or_else(no_request)?;
                Ok(Call { method: Cow::Borrowed(method), target: Cow::Borrowed(target) })
            }
            Cow::Owned(request) => {
                let (method, target) = method_and_target(&request).ok_or_else(no_request)?;
                Ok(Call { method: Cow::Owned(method.to_vec()), target: Cow::Owned(target.to_vec()) })
            }
        }
    }
}

/// The maximum length of a request in a message, in bytes.
const SHOWN: usize = 100;

/// Splits a request line. The version at its end is dropped, and can be missing, as in HTTP/0.9. Spaces in a target
/// are kept, so that the engine rejects them.
fn method_and_target(request: &[u8]) -> Option<(&[u8], &[u8])> {
    let (method, target) = word(request)?;
    let version = target.iter().rposition(|byte| *byte == b' ');
    let version = version.and_then(|space| target.split_at_checked(space));
    match version {
        Some((target, version)) if is_version(version) => Some((method, target)),
        _ => Some((method, target)),
    }
}

fn is_version(text: &[u8]) -> bool {
    let number = text.strip_prefix(b" HTTP/").unwrap_or_default();
    matches!(number, [b'0'..=b'9'] | [b'0'..=b'9', b'.', b'0'..=b'9'])
}

/// The string before the first space, if it isn't empty, and the rest.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = text.iter().position(|byte| *byte == b' ')?;
    let (word, rest) = text.split_at_checked(space)?;
    (!word.is_empty()).then_some((word, rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// A user name can contain spaces and brackets, but no unescaped quotes. The first closing bracket before a quote ends
/// the time, whatever its format.
fn user_and_time(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = text.windows(3).position(|three| three == b"] \"")?;
    let (before, rest) = text.split_at_checked(end)?;
    let start = before.windows(2).rposition(|two| two == b" [")?;
    let (user, time) = before.split_at_checked(start)?;
    let (time, rest) = (time.strip_prefix(b" [")?, rest.strip_prefix(b"] ")?);
    let found = !user.is_empty() && is_user(user) && !time.contains(&b'"');
    found.then_some((user, time, rest))
}

/// Whether all quotes are escaped, except for quotes around a name at the end. Apache writes `""` for an empty
/// name.
fn is_user(text: &[u8]) -> bool {
    let Some((_, quoted)) = closing_quote(text).and_then(|at| up_to(text, at)) else {
        return true;
    };
    closing_quote(quoted).and_then(|at| up_to(quoted, at)).is_some_and(|(_, rest)| rest.is_empty())
}

/// Host, identity and user, if the line starts with a server and its port, followed by these. A client's address can
/// also have a port, but then the identity follows. The identity is `-`, because clients no longer send one.
fn server<'a>(host: &[u8], identity: &'a [u8], user: &'a [u8]) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let (real_identity, real_user) = word(user)?;
    let is_server = identity != b"-" && has_port(host) && !real_user.is_empty();
    is_server.then_some((identity, real_identity, real_user))
}

/// Whether it is a name or an address with a port. An IPv6 address contains colons itself, so it has a port only
/// after brackets.
fn has_port(host: &[u8]) -> bool {
    let Some(colon) = host.iter().rposition(|byte| *byte == b':') else {
        return false;
    };
    let Some((name, port)) = host.split_at_checked(colon) else {
        return false;
    };
    let is_name = name.ends_with(b"]") || !(name.is_empty() || name.contains(&b':'));
    is_name && port.len() > 1 && port.iter().skip(1).all(u8::is_ascii_digit)
}

/// The fields of a string, separated by single spaces.
struct Later<'a>(&'a [u8]);

impl<'a> Iterator for Later<'a> {
    type Item = Result<&'a [u8], String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((field, rest)) = field(self.0) else {
            let start: Vec<u8> = self.0.iter().take(SHOWN).copied().collect();
            self.0 = &[];
            return Some(Err(format!("no field ends in `{}`", shown(&start))));
        };
        self.0 = rest;
        Some(Ok(field))
    }
}

/// The field at the start of a string, without its quotes or brackets, and the rest after it and its
/// space.
fn field(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (field, rest) = match text.split_first()? {
        (b'"', quoted) => up_to(quoted, closing_quote(quoted)?)?,
        (b'[', bracketed) => up_to(bracketed, bracketed.iter().position(|byte| *byte == b']')?)?,
        _ => {
            let space = text.iter().position(|byte| *byte == b' ');
            let (bare, rest) = text.split_at_checked(space.unwrap_or(text.len()))?;
            (!bare.is_empty()).then_some((bare, rest))?
        }
    };
    match rest.split_first() {
        None => Some((field, rest)),
        Some((b' ', rest)) => Some((field, rest)),
        Some(_) => None,
    }
}

/// The string before a position, and the string after the byte there.
fn up_to(text: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    let (before, rest) = text.split_at_checked(at)?;
    Some((before, rest.split_first()?.1))
}

/// The position of the first quote that isn't escaped by a backslash.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AccessLine, Field};
    use crate::expected::Expected;

    const COMBINED: &str = r#"10.0.0.1 - ann [20/Nov/2026:13:05:00 +0000] "GET /orbs HTTP/1.1" 200 17 "https://a.example/" "curl/8 \"x\"" "read:orbs read:keys" user [1 2] -"#;

    fn text(line: &AccessLine<'_>, name: &str) -> Option<String> {
        let field = line.field(Field::from_name(name).unwrap())?;
        Some(String::from_utf8(field.into_owned()).unwrap())
    }

    fn error(line: &str) -> String {
        AccessLine::parse(line.as_bytes()).map(|_| ()).unwrap_err()
    }

    #[test]
    fn every_field_has_a_name() {
        let line = AccessLine::parse(COMBINED.as_bytes()).unwrap();
        for (name, found) in [
            ("host", Some("10.0.0.1")),
            ("identity", None),
            ("user", Some("ann")),
            ("time", Some("20/Nov/2026:13:05:00 +0000")),
            ("status", Some("200")),
            ("size", Some("17")),
            ("referer", Some("https://a.example/")),
            ("agent", Some(r#"curl/8 "x""#)),
            ("extra1", Some("read:orbs read:keys")),
            ("extra2", Some("user")),
            ("extra3", Some("1 2")),
            ("extra4", None),
            ("extra5", None),
        ] {
            assert_eq!(text(&line, name).as_deref(), found, "{name}");
        }
        for name in ["", "extra", "extra0", "extra-1", "scopes"] {
            assert_eq!(Field::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_request_is_a_method_and_a_target() {
        for (request, method, target) in [
            ("GET /orbs HTTP/1.1", "GET", "/orbs"),
            ("GET /orbs HTTP/2", "GET", "/orbs"),
            ("GET /orbs", "GET", "/orbs"),
            ("GET /a b HTTP/1.1", "GET", "/a b"),
            ("GET /a HTTP/1.11", "GET", "/a HTTP/1.11"),
            ("get  HTTP/1.0", "get", ""),
            (r"GET /\x22\x5Cq HTTP/1.1", "GET", r#"/"\q"#),
            (r"GET /a\x20HTTP/1.1", "GET", "/a"),
            ("GET ", "GET", ""),
        ] {
            let line = format!(r#"h - - [20/Nov/2026:13:05:00 +0000] "{request}" 200 -"#);
            let line = AccessLine::parse(line.as_bytes()).unwrap();
            let call = line.call().unwrap();
            assert_eq!((&*call.method, &*call.target), (method.as_bytes(), target.as_bytes()));
        }
        let mut expected = Expected::default();
        for request in ["-", "", r"\x16\x03", " GET"] {
            let line = format!(r#"h - - [20/Nov/2026:13:05:00 +0000] "{request}" 400 0"#);
            let line = AccessLine::parse(line.as_bytes()).unwrap();
            expected.add(request, [line.call().unwrap_err()]);
        }
        expected.keep(env!("CARGO_MANIFEST_DIR"), "access logs: no request");
    }

    #[test]
    fn a_name_cannot_pass_for_a_time() {
        let user = r"a [b] [01/Jan/2020:00:00:00 +0000] \x22GET / HTTP/1.1\x22";
        let line = format!(r#"h - {user} [20/Nov/2026:13:05:00 +0000] "POST /b HTTP/1.1" 200 0"#);
        let line = AccessLine::parse(line.as_bytes()).unwrap();
        assert_eq!(text(&line, "time").unwrap(), "20/Nov/2026:13:05:00 +0000");
        assert_eq!(&*line.call().unwrap().method, b"POST");
    }

    #[test]
    fn a_call_is_one_whatever_its_time_and_status_say() {
        for (user, time, status) in [
            ("-", "20/Nov/2026:13:05:00", "200"),
            ("ann [x] smith", "20/Nov/2026:13:05:00.125 Z", "200.0"),
            ("ann [x", "2026-11-20T13:05:00+00:00", "ok"),
            (r#"a\"] b"#, "20/11/2026", "404"),
            (r#""ann smith""#, "yesterday", "200"),
            (r#""""#, "", "200"),
            ("-", "-", "-"),
        ] {
            let line = format!(r#"h - {user} [{time}] "GET /a HTTP/1.1" {status} 0 "[x] " "[y]""#);
            let line = AccessLine::parse(line.as_bytes()).unwrap();
            let absent = |found: Option<String>| found.unwrap_or_else(|| "-".to_owned());
            assert_eq!(absent(text(&line, "time")), time);
            assert_eq!(absent(text(&line, "status")), status);
            assert_eq!(&*line.call().unwrap().target, b"/a");
        }
    }

    #[test]
    fn a_server_before_all_others_is_no_host() {
        let rest = r#"[20/Nov/2026:13:05:00 +0000] "GET /a HTTP/1.1" 200 17 "-" "curl""#;
        for (start, vhost, host, identity, user) in [
            ("a.example:443 10.0.0.1 - ann", Some("a.example:443"), "10.0.0.1", None, Some("ann")),
            ("a.example:443 ::1 - ann smith", Some("a.example:443"), "::1", None, Some("ann smith")),
            ("[::1]:80 h.example id -", Some("[::1]:80"), "h.example", Some("id"), None),
            // IPv6 addresses, and clients with ports.
            ("::1 - - ann", None, "::1", None, Some("- ann")),
            ("fe80::1:80 - ann", None, "fe80::1:80", None, Some("ann")),
            ("fe80::1:80 x - ann", None, "fe80::1:80", Some("x"), Some("- ann")),
            ("10.0.0.1:5000 - ann smith", None, "10.0.0.1:5000", None, Some("ann smith")),
            ("10.0.0.1:5000 id ann", None, "10.0.0.1:5000", Some("id"), Some("ann")),
            ("a: 10.0.0.1 - ann", None, "a:", Some("10.0.0.1"), Some("- ann")),
        ] {
            let line = format!("{start} {rest}");
            let line = AccessLine::parse(line.as_bytes()).unwrap();
            let found = ["vhost", "host", "identity", "user"].map(|name| text(&line, name));
            let found = found.each_ref().map(Option::as_deref);
            assert_eq!(found, [vhost, Some(host), identity, user], "{start}");
            assert_eq!(&*line.call().unwrap().target, b"/a");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut expected = Expected::default();
        for line in [
            "",
            " \r",
            "GET",
            " - - [",
            "h -",
            r#"h - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 0"#,
            r#"h - - 20/Nov/2026:13:05:00 "GET / HTTP/1.1" 200 0"#,
            r#"h - - 20/Nov/2026 "GET /a" 200 0 [x] "GET /b" 200 0"#,
            r#"h - - "GET /a" 200 0 "r [x] " "GET /b" 200 0"#,
            r#"h - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1\" 200 0"#,
            r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /""#,
            r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /" 200"#,
            r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /" 200 0 "a"#,
            r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /" 200  0"#,
        ] {
            expected.add(line, [error(line)]);
        }
        expected.keep(env!("CARGO_MANIFEST_DIR"), "access logs: missing parts");
        assert!(AccessLine::parse(format!("{COMBINED}\r").as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(line: Vec<u8>, start in 0..COMBINED.len()) {
            let _ = AccessLine::parse(&line).map(|line| line.call());
            let mut mixed = COMBINED.as_bytes()[..start].to_vec();
            mixed.extend(line);
            if let Ok(line) = AccessLine::parse(&mixed) {
                let _ = line.call();
                let _ = line.field(Field::Later(7));
            }
        }
    }
}
