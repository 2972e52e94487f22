//! From a message to the target of its operation.

use super::fault::McpFault;
use super::message::{Message, Reference};
use super::method::{Method, Route, is_notification};
use super::name::{MOST_NAME, is_name, of_resource, of_template, of_tool};

/// The virtual method of operations. No HTTP request may have it.
pub(crate) const METHOD: &str = "MCP";

/// The operation of a message: paths below its endpoint, with a leading `/`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Operation {
    /// `None` if no route can declare it.
    pub(super) path: Option<String>,
    /// The path is the template of a route.
    pub(super) is_template: bool,
    /// What must be allowed as well.
    pub(super) also: Vec<String>,
}

impl From<Option<String>> for Operation {
    fn from(path: Option<String>) -> Self {
        Self { path, ..Self::default() }
    }
}

/// The operation of a message. `has_escapes` says whether the policy's paths can have escapes.
pub(super) fn operation(message: &Message, has_escapes: bool) -> Result<Operation, McpFault> {
    let Some(method) = message.method.as_deref() else {
        return Ok(Some("/response".to_owned()).into());
    };
    let own = || is_plain(method).then(|| format!("/{method}"));
    let read = |uri: &str| of_resource(uri, has_escapes).map(|path| format!("/resources/read/{path}"));
    Ok(match Method::of(method).map(|method| method.route) {
        Some(Route::Below(path)) => {
            let named = message.repeated().ok_or(McpFault::Params)?;
            path(named, has_escapes).map(|path| format!("/{method}/{path}")).into()
        }
        Some(Route::Reading(resources)) => {
            let also = message.resources(resources)?.into_iter().map(read).collect::<Option<Vec<_>>>();
            // If one of them has no route, the method has none either.
            also.map(|also| Operation { path: own(), also, ..Operation::default() }).unwrap_or_default()
        }
        Some(Route::Referred) => match message.reference() {
            Some(Reference::Prompt(name)) => {
                of_tool(name, has_escapes).map(|path| format!("/prompts/get/{path}")).into()
            }
            Some(Reference::Resource(uri)) => {
                let path = of_template(uri).map(|path| format!("/resources/read/{path}"));
                Operation { path, is_template: true, ..Operation::default() }
            }
            None => Operation::default(),
        },
        Some(Route::Own) | None => own().into(),
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
        let listened = Some(Vec::new());
        let message = Message { method, name: named(), uri: named(), task_id: named(), listened, ..Message::default() };
        operation(&message, false).unwrap().path
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
            ("subscriptions/listen", None, Some("/subscriptions/listen")),
            ("resources/unsubscribe", Some("orders://1"), Some("/resources/unsubscribe")),
            ("resources/subscribe", Some("orders://1"), Some("/resources/subscribe")),
            ("resources/subscribe", Some("orders://1?a"), None),
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
        for method in ["tools/call", "prompts/get", "resources/read", "resources/subscribe"] {
            let message = Message { method: Some(method.to_owned()), ..Message::default() };
            assert!(operation(&message, true).is_err());
        }
    }

    fn of(body: &str, has_escapes: bool) -> Result<(Option<String>, bool, Vec<String>), super::McpFault> {
        let message = Message::read(body.as_bytes()).map_err(|(fault, _)| fault)?;
        let operation = operation(&message, has_escapes)?;
        Ok((operation.path, operation.is_template, operation.also))
    }

    #[test]
    fn escapes_of_resources_are_left_to_the_engine() {
        for (uri, path) in [
            ("files://a/b%20c", Some("/resources/read/files:/a/b%20c")),
            ("files:///%41/%2e%2e", Some("/resources/read/files:/~/%41/%2e%2e")),
            ("files://a%20b/c", Some("/resources/read/files:/a%20b/c")),
            ("https://a%20b/c", None),
            ("files://a/b%20c?d", None),
            ("files://a/b%20c#d", None),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{uri}"}}}}"#);
            assert_eq!(of(&body, true).unwrap().0.as_deref(), path, "{uri}");
            assert_eq!(of(&body, false).unwrap().0, None, "{uri}");
        }
    }

    #[test]
    fn a_completion_is_that_of_a_prompt_or_of_a_template() {
        let body = |reference: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{{"argument":{{}},"ref":{reference}}}}}"#
            )
        };
        for (reference, path, is_template) in [
            (r#"{"type":"ref/prompt","name":"summary"}"#, Some("/prompts/get/summary"), false),
            (r#"{"type":"ref/prompt","name":"a b"}"#, None, false),
            (r#"{"type":"ref/prompt","uri":"orders://1"}"#, None, false),
            (r#"{"type":"ref/resource","uri":"orders://{id}"}"#, Some("/resources/read/orders:/{id}"), true),
            (r#"{"type":"ref/resource","uri":"file:///{a}/x"}"#, Some("/resources/read/file:/~/{a}/x"), true),
            (r#"{"type":"ref/resource","uri":"orders://1"}"#, Some("/resources/read/orders:/1"), true),
            (r#"{"type":"ref/resource","uri":"file:///{+path}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"file:///{path*}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"file:///{/path}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"orders://{a,b}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"orders://a{id}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"orders://{id}{?q}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"orders://{}"}"#, None, true),
            (r#"{"type":"ref/resource","uri":"{+uri}"}"#, None, true),
            (r#"{"type":"ref/resource","name":"summary"}"#, None, false),
            (r#"{"type":"ref/tool","name":"refund"}"#, None, false),
            (r#"{"name":"summary"}"#, None, false),
            (r#""ref/prompt""#, None, false),
            ("[]", None, false),
        ] {
            assert_eq!(of(&body(reference), true), Ok((path.map(str::to_owned), is_template, vec![])), "{reference}");
        }
        for reference in [r#"{"type":"ref/prompt","name":"a","Name":"b"}"#, r#"{"Type":"ref/prompt","name":"a"}"#] {
            assert_eq!(of(&body(reference), true), Err(super::McpFault::Member), "{reference}");
        }
    }

    #[test]
    fn each_resource_of_a_subscription_is_read() {
        let body =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{params}}}"#);
        let own = Some("/subscriptions/listen".to_owned());
        for (params, path, also) in [
            ("{}", &own, &[][..]),
            (r#"{"notifications":{"toolsListChanged":true}}"#, &own, &[]),
            (r#"{"notifications":{"resourceSubscriptions":[]}}"#, &own, &[]),
            (
                r#"{"notifications":{"resourceSubscriptions":["orders://1","orders://2"]}}"#,
                &own,
                &["/resources/read/orders:/1", "/resources/read/orders:/2"],
            ),
            (r#"{"notifications":{"resourceSubscriptions":["orders://1","orders://2?x"]}}"#, &None, &[]),
        ] {
            let also = also.iter().map(|one| (*one).to_owned()).collect();
            assert_eq!(of(&body(params), true), Ok((path.clone(), false, also)), "{params}");
        }
        for (params, fault) in [
            (r#"{"notifications":{"resourceSubscriptions":[1]}}"#, super::McpFault::Params),
            (r#"{"notifications":{"resourceSubscriptions":"orders://1"}}"#, super::McpFault::Params),
            (r#"{"notifications":{"resourceSubscriptions":null}}"#, super::McpFault::Params),
            (r#"{"notifications":[]}"#, super::McpFault::Params),
            (r#"{"resourceSubscriptions":["orders://1"]}"#, super::McpFault::Params),
            (r#"{"notifications":{"ResourceSubscriptions":["orders://1"]}}"#, super::McpFault::Member),
        ] {
            assert_eq!(of(&body(params), true), Err(fault), "{params}");
        }
    }
}
