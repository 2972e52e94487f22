//! The common format, the combined format, and fields after them.

use crate::access::line::{AccessLine, Format, Request, Rest};
use crate::access::scan::{ABSENT, Later, closing_quote, field, up_to, word};

/// A line as nginx, Apache and most other servers write it, field by field:
///
/// ```text
/// host identity user [time] "request" status size "referer" "agent" extra1 extra2 …
/// ```
///
/// The common format ends with the size. A field is bare, in quotes or in brackets; `-` means that it is absent.
/// Apache's `vhost_combined` puts the server's name and port first. The time and the status aren't validated here: a
/// line is a call even if its time has no time zone.
pub(super) fn parse(line: &[u8]) -> Result<AccessLine<'_>, String> {
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
        Some(client) => (host, client),
        None => (ABSENT, (host, identity, user)),
    };
    let mut later = Later(rest);
    let status = later.next().ok_or("no status after the request")??;
    let size = later.next().ok_or("no size after the status")??;
    let referer = later.next().unwrap_or(Ok(ABSENT))?;
    let agent = later.next().unwrap_or(Ok(ABSENT))?;
    let rest = later.0;
    for field in later {
        field?;
    }
    Ok(AccessLine {
        format: Format::Combined,
        named: [virtual_host, host, identity, user, time, status, size, referer, agent],
        request: Request::Line(request),
        rest: Rest::Spaced(rest),
    })
}

/// A user name can contain spaces and brackets, but no unescaped quotes. The first closing bracket before a quote ends
/// the time, whatever its format.
fn user_and_time(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = text.windows(3).position(|three| three == b"] \"")?;
    let (before, rest) = text.split_at_checked(end)?;
    let start = before.windows(2).rposition(|two| two == b" [")?;
    let (user, time) = before.split_at_checked(start)?;
    let (time, rest) = (time.strip_prefix(b" [")?, rest.strip_prefix(b"] ")?);
    let is_split = !user.is_empty() && is_user(user) && !time.contains(&b'"');
    is_split.then_some((user, time, rest))
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
