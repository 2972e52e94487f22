//! From a message to the target of its operation.

use super::fault::McpFault;
use super::message::Message;
use super::method::{Method, Route, is_notification};
use super::name::{MOST_NAME, is_name};

/// The virtual method of operations. No HTTP request may have it.
pub(crate) const METHOD: &str = "MCP";

/// The path of a message's operation below its endpoint, with a leading `/`. `None` if no route can declare it.
pub(super) fn operation(message: &Message) -> Result<Option<String>, McpFault> {
    let Some(method) = message.method.as_deref() else {
        return Ok(Some("/response".to_owned()));
    };
    Ok(match Method::of(method) {
        Some(Method { route: Route::Below(path), .. }) => {
            let named = message.repeated().ok_or(McpFault::Params)?;
            path(named).map(|path| format!("/{method}/{path}"))
        }
        _ => is_plain(method).then(|| format!("/{method}")),
    })
}

/// Whether a route below an endpoint, with a leading `/`, is that of a notification, which has no response.
pub(super) fn is_notified(route: &str) -> bool {
    route.strip_prefix('/').is_some_and(is_notification)
}

/// Whether a route below an endpoint, with a leading `/`, is that of some operation.
pub(super) fn is_operation(route: &str) -> bool {
    let path = route.strip_prefix('/').unwrap_or_default();
    let is_below = Method::above(path).is_some_and(|method| method.is_named() && Method::of(path).is_none());
    is_below || is_own(route) || is_plain(path)
}

/// The routes of requests without a method of JSON-RPC.
fn is_own(route: &str) -> bool {
    matches!(route, "/response" | "/stream" | "/session/end")
}

/// Whether a method has a route by its own name. A method can't be called like a route that isn't its own.
fn is_plain(method: &str) -> bool {
    let is_taken = is_own(&format!("/{method}")) || Method::above(method).is_some();
    method.len() <= MOST_NAME && !is_taken && method.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::{Message, is_operation, operation};

    fn path(method: &str, named: Option<&str>) -> Option<String> {
        let named = || named.map(str::to_owned);
        let method = Some(method.to_owned());
        let message = Message { method, name: named(), uri: named(), task_id: named(), ..Message::default() };
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
            ("tasks/get", None, Some("/tasks/get")),
            ("tasks/get", Some("7"), Some("/tasks/get")),
            ("tasks/update", Some("a/b"), Some("/tasks/update")),
            ("tasks/cancel", Some(""), Some("/tasks/cancel")),
            ("tasks/list", Some("7"), Some("/tasks/list")),
            ("tasks/get/7", None, Some("/tasks/get/7")),
            ("tools/called", None, Some("/tools/called")),
            ("subscriptions/listen", None, None),
            ("subscriptions/listen/a", None, None),
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
        for route in ["/completion/complete", "/completion/complete/a", "/tools/call", "/", "", "tools/call/a"] {
            assert!(!is_operation(route), "{route}");
        }
        assert!(is_operation("/stream") && is_operation("/tools/call/{tool}") && is_operation("/tools/called"));
    }

    #[test]
    fn what_names_an_operation_must_be_there() {
        for method in ["tools/call", "prompts/get", "resources/read"] {
            let message = Message { method: Some(method.to_owned()), ..Message::default() };
            assert!(operation(&message).is_err());
        }
    }
}
