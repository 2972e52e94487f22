//! The path that a document's servers add before every path.

use orbgate_yaml::{Content as Value, Node, quoted};

use crate::kind::{Cause, Problem};
use crate::node::{get, location, malformed, text};

/// The path of the servers, without a final slash; empty if there are no servers.
pub(super) fn base_path(servers: Option<&Node<'_>>) -> Result<String, Problem> {
    let Some(node) = servers else {
        return Ok(String::new());
    };
    let Value::Sequence(servers) = &node.kind else {
        return Err(malformed(node, "`servers` must be a list"));
    };
    let mut first: Option<String> = None;
    for server in servers {
        let Some(url) = get(server, "url") else {
            return Err(malformed(server, "a server must be a mapping with a `url`"));
        };
        let written = text(url, "`url`")?;
        let path = path(&written).map_err(|why| {
            let message = format!("the path of server {} {why}", quoted(&written));
            Problem::new(Cause::Servers, location(url), message)
        })?;
        match &first {
            Some(first) if first != path => {
                let (first, path) = (quoted(first), quoted(path));
                let message = format!("the servers have different paths, {first} and {path}");
                return Err(Problem::new(Cause::Servers, location(url), message));
            }
            _ => first = Some(path.to_owned()),
        }
    }
    Ok(first.unwrap_or_default())
}

/// The path of a server's address, or why it is unknown.
fn path(url: &str) -> Result<&str, &'static str> {
    // A variable could contain slashes.
    if url.contains(['{', '}']) {
        return Err("has a variable");
    }
    if url.contains(['?', '#']) {
        return Err("is followed by a query or a fragment");
    }
    let scheme = |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let authority = match url.split_once("://") {
        Some((before, behind)) if scheme(before) => Some(behind),
        _ => url.strip_prefix("//"),
    };
    let path = match authority {
        Some(authority) => authority.find('/').map_or("", |at| authority.get(at..).unwrap_or_default()),
        None if url.starts_with('/') => url,
        None => return Err("is relative to where the document is found"),
    };
    Ok(path.strip_suffix('/').unwrap_or(path))
}
