//! From a message to the target of its operation.

use super::fault::McpFault;
use super::message::Message;

/// The most bytes of the name of a tool (SEP-986), a prompt or a method.
const MOST_NAME: usize = 128;

/// The schemes whose addresses URL libraries rewrite, so that a server can see another host than the gate.
const SPECIAL: [&str; 6] = ["file", "ftp", "http", "https", "ws", "wss"];

/// The parameter that names what a method is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Name,
    Uri,
}

/// The methods whose `Mcp-Name` is required.
pub(super) fn named(method: &str) -> Option<Named> {
    match method {
        "tools/call" | "prompts/get" => Some(Named::Name),
        "resources/read" => Some(Named::Uri),
        _ => None,
    }
}

/// The path of a message's operation below its endpoint, with a leading `/`. `None` if no route can declare it.
pub(super) fn operation(message: &Message) -> Result<Option<String>, McpFault> {
    let Some(method) = message.method.as_deref() else {
        return Ok(Some("/response".to_owned()));
    };
    Ok(match named(method) {
        Some(Named::Name) => {
            let name = message.name.as_deref().ok_or(McpFault::Params)?;
            is_name(name).then(|| format!("/{method}/{name}"))
        }
        Some(Named::Uri) => {
            let uri = message.uri.as_deref().ok_or(McpFault::Params)?;
            resource(uri).map(|resource| format!("/{method}/{resource}"))
        }
        None => is_mapped(method).then(|| format!("/{method}")),
    })
}

/// Whether a route below an endpoint, with a leading `/`, is that of some operation.
pub(super) fn is_operation(route: &str) -> bool {
    let below = ["/tools/call/", "/prompts/get/", "/resources/read/"];
    let method = route.strip_prefix('/').unwrap_or_default();
    below.iter().any(|named| route.starts_with(named)) || is_own(route) || is_mapped(method)
}

/// The routes of requests without a method of JSON-RPC.
fn is_own(route: &str) -> bool {
    matches!(route, "/response" | "/stream" | "/session/end")
}

/// Whether a method has a route by its own name. Methods that name what they are about need more than their name, and a
/// method can't be called like a route that isn't its own.
fn is_mapped(method: &str) -> bool {
    let route = format!("/{method}");
    let taken = ["tools/call", "prompts/get", "resources/read", "subscriptions/listen", "completion/complete"];
    let is_taken = taken
        .iter()
        .any(|taken| method.strip_prefix(taken).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    method.len() <= MOST_NAME && !is_own(&route) && !is_taken && method.split('/').all(is_name)
}

/// Whether a tool or a prompt can have this name (SEP-986), and a path such a segment.
pub(super) fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=MOST_NAME).contains(&name.len()) && name.bytes().all(is_of_name) && name.bytes().any(|byte| byte != b'.')
}

/// The segments of a URI: `orders://eu/7` is `orders:/eu/7`, and `~` is an empty authority. The engine checks the path.
fn resource(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    // A query, a fragment and an escape have more than one reading, and so have what the engine takes for them.
    if !is_scheme || rest.contains(['?', '#', '%', '\\']) {
        return None;
    }
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at_checked(at)?,
        None => (rest, ""),
    };
    is_authority(&scheme.to_ascii_lowercase(), authority).then(|| {
        let authority = if authority.is_empty() { "~" } else { authority };
        format!("{scheme}:/{authority}{path}")
    })
}

/// Whether every URL library leaves an authority as it is.
fn is_authority(scheme: &str, authority: &str) -> bool {
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = |port: &str| !port.starts_with('0') && port.parse::<u16>().is_ok_and(|_| !port.starts_with('+'));
    if authority == "~" || host.contains('@') || port.is_some_and(|port| host.is_empty() || !is_port(port)) {
        return false;
    }
    if !SPECIAL.contains(&scheme) {
        return true;
    }
    if scheme == "file" || authority.is_empty() {
        return scheme == "file" && authority.is_empty();
    }
    let is_of_label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_of_label);
    let last = host.rsplit('.').next().unwrap_or_default();
    // A last label that starts with a digit can make an IPv4 address, which has many spellings; a default port is dropped.
    port.is_none() && host.split('.').all(is_label) && last.starts_with(|first: char| first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::{Message, is_operation, operation};

    fn path(method: &str, named: Option<&str>) -> Option<String> {
        let named = || named.map(str::to_owned);
        let message = Message { method: Some(method.to_owned()), name: named(), uri: named(), ..Message::default() };
        operation(&message).unwrap()
    }

    #[test]
    fn every_operation_has_at_most_one_route() {
        let table: &[(&str, Option<&str>, Option<&str>)] = &[
            ("tools/call", Some("refund"), Some("/tools/call/refund")),
            ("tools/call", Some("a.b-C_9"), Some("/tools/call/a.b-C_9")),
            ("tools/call", Some(""), None),
            ("tools/call", Some(".."), None),
            ("tools/call", Some("a/b"), None),
            ("tools/call", Some("a b"), None),
            ("tools/call", Some("é"), None),
            ("tools/call", Some("a%2fb"), None),
            ("prompts/get", Some("hello"), Some("/prompts/get/hello")),
            ("resources/read", Some("orders://42"), Some("/resources/read/orders:/42")),
            ("resources/read", Some("orders://eu/7/a"), Some("/resources/read/orders:/eu/7/a")),
            ("resources/read", Some("orders://db:5432/t"), Some("/resources/read/orders:/db:5432/t")),
            ("resources/read", Some("file:///a/b"), Some("/resources/read/file:/~/a/b")),
            ("resources/read", Some("orders:///7"), Some("/resources/read/orders:/~/7")),
            ("resources/read", Some("https://api.example.com/a"), Some("/resources/read/https:/api.example.com/a")),
            ("resources/read", Some("orders://~/7"), None),
            ("resources/read", Some("orders://a/7?x"), None),
            ("resources/read", Some("orders://a/7#x"), None),
            ("resources/read", Some("orders://a/%37"), None),
            ("resources/read", Some("orders://u@a/7"), None),
            ("resources/read", Some("orders://a:080/7"), None),
            ("resources/read", Some("orders://a:/7"), None),
            ("resources/read", Some("orders://a:+8/7"), None),
            ("resources/read", Some("file://localhost/a"), None),
            ("resources/read", Some("https://API.example.com/a"), None),
            ("resources/read", Some("https://api.example.com:443/a"), None),
            ("resources/read", Some("https://api.example.com./a"), None),
            ("resources/read", Some("http://127.1/a"), None),
            ("resources/read", Some("http:///a"), None),
            ("resources/read", Some("urn:a:b"), None),
            ("resources/read", Some("://a"), None),
            ("resources/read", Some("1a://a"), None),
            ("initialize", None, Some("/initialize")),
            ("notifications/initialized", None, Some("/notifications/initialized")),
            ("server/discover", None, Some("/server/discover")),
            ("subscriptions/listen", None, None),
            ("completion/complete", None, None),
            ("tools/call/refund", None, None),
            ("tools/call/", None, None),
            ("resources/read/orders:/1", None, None),
            ("stream", None, None),
            ("session/end", None, None),
            ("response", None, None),
            ("a//b", None, None),
            ("../b", None, None),
            ("a?b", None, None),
            ("", None, None),
        ];
        for (method, named, expected) in table {
            let actual = path(method, *named);
            assert_eq!(actual.as_deref(), *expected, "{method} {named:?}");
            assert!(actual.is_none_or(|path| is_operation(&path)), "{method} {named:?}");
        }
        assert!(path("tools/call", Some(&"a".repeat(128))).is_some());
        assert!(path("tools/call", Some(&"a".repeat(129))).is_none());
        assert!(!is_operation("/completion/complete") && !is_operation("/tools/call") && is_operation("/stream"));
    }

    #[test]
    fn what_names_an_operation_must_be_there() {
        for method in ["tools/call", "prompts/get", "resources/read"] {
            let message = Message { method: Some(method.to_owned()), ..Message::default() };
            assert!(operation(&message).is_err());
        }
    }
}
