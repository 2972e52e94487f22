//! Method and target as they came over the wire.

use http::request::Parts;
use http::{Method, Uri, Version};

/// Headers by which frameworks let a `POST` be another method.
const METHOD_OVERRIDES: [&str; 3] = [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
];

/// The method in the one form that an engine takes; of a `POST` that asks to be another what is no method at all,
/// which the engine refuses (P1).
pub(crate) fn method(parts: &Parts, ignore_override: bool) -> &str {
    let overridden = || {
        let mut names = METHOD_OVERRIDES.iter();
        names.any(|name| parts.headers.contains_key(*name))
    };
    if parts.method == Method::POST && !ignore_override && overridden() {
        "POST,"
    } else {
        parts.method.as_str()
    }
}

/// The target of a request in the one form that an engine takes, or what it is instead, which the engine
/// refuses.
///
/// HTTP/2 and HTTP/3 carry scheme and authority beside the path (RFC 9113 §8.3.1). In HTTP/1 they are
/// there only where the request line had them, and an engine refuses that form (P5).
pub(crate) fn target(parts: &Parts) -> String {
    let uri = wire_uri(parts);
    let beside = matches!(parts.version, Version::HTTP_2 | Version::HTTP_3);
    match uri.path_and_query() {
        Some(path) if beside || uri.authority().is_none() && uri.scheme().is_none() => {
            path.as_str().to_owned()
        }
        _ => uri.to_string(),
    }
}

/// axum takes the prefix of a nested router off the URI, and keeps the whole in an extension.
#[cfg(feature = "axum")]
fn wire_uri(parts: &Parts) -> &Uri {
    let original = parts.extensions.get::<axum::extract::OriginalUri>();
    original.map_or(&parts.uri, |original| &original.0)
}

#[cfg(not(feature = "axum"))]
const fn wire_uri(parts: &Parts) -> &Uri {
    &parts.uri
}

#[cfg(test)]
mod tests {
    use http::{Method, Request, Version};

    use super::target;

    fn of(method: Method, uri: &str, version: Version) -> String {
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .version(version)
            .body(());
        target(&request.unwrap().into_parts().0)
    }

    #[test]
    fn only_what_an_engine_may_accept_begins_with_a_slash() {
        let (one, two) = (Version::HTTP_11, Version::HTTP_2);
        assert_eq!(of(Method::GET, "/orbs?a=/b", one), "/orbs?a=/b");
        assert_eq!(of(Method::GET, "//orbs/%2e", one), "//orbs/%2e");
        assert_eq!(of(Method::GET, "http://h/orbs", one), "http://h/orbs");
        assert_eq!(of(Method::GET, "https://h/orbs?x", two), "/orbs?x");
        assert_eq!(of(Method::OPTIONS, "*", one), "*");
        assert_eq!(of(Method::CONNECT, "h:443", one), "h:443");
        assert_eq!(of(Method::CONNECT, "h:443", two), "h:443");
    }
}
