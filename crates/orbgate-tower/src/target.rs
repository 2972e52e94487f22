//! The target as received over the wire, and the route that a router chose.

use std::sync::Once;

use http::request::Parts;
use http::{Uri, Version};
use orbgate_gate::Matched;

/// Where a layer finds the URI as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireUri {
    /// In the request, because no router wraps the layer.
    Outermost,
    /// In axum's `OriginalUri`, because a nested router strips its prefix from the request's own URI.
    #[cfg(feature = "axum")]
    OriginalUri,
}

impl WireUri {
    /// The target of a request in the only form that an engine accepts or, if it has another form, a string
    /// that the engine rejects.
    ///
    /// HTTP/2 and HTTP/3 send scheme and authority in addition to the path (RFC 9113 §8.3.1). In HTTP/1, they
    /// are present only if the request line contains them, and an engine rejects that form (P5).
    pub(crate) fn target(self, parts: &Parts) -> String {
        let Some(uri) = self.uri(parts) else {
            static SAID: Once = Once::new();
            SAID.call_once(|| {
                tracing::error!("every request is refused: {}", self.misplaced());
            });
            // An engine rejects the empty target (P2).
            return String::new();
        };
        let beside = matches!(parts.version, Version::HTTP_2 | Version::HTTP_3);
        match uri.path_and_query() {
            Some(path) if beside || uri.authority().is_none() && uri.scheme().is_none() => path.as_str().to_owned(),
            _ => uri.to_string(),
        }
    }

    /// The URI as received; `None` if the layer isn't at the position that its type states.
    #[cfg(feature = "axum")]
    pub(crate) fn uri(self, parts: &Parts) -> Option<&Uri> {
        let original = parts.extensions.get::<axum::extract::OriginalUri>();
        match self {
            // A router around the layer might have stripped a prefix.
            Self::Outermost => original.is_none().then_some(&parts.uri),
            Self::OriginalUri => original.map(|original| &original.0),
        }
    }

    #[cfg(not(feature = "axum"))]
    pub(crate) const fn uri(self, parts: &Parts) -> Option<&Uri> {
        Some(&parts.uri)
    }

    /// The route that a router around the layer chose.
    #[cfg(feature = "axum")]
    pub(crate) fn matched(self, parts: &Parts) -> Matched<'_> {
        let Self::OriginalUri = self else {
            // A request that came through a router is denied.
            return Matched::Nothing;
        };
        // Otherwise something inside the router has rewritten the URI, and the handler would get another one.
        let is_rest = self.uri(parts).is_some_and(|original| is_rest(&parts.uri, original));
        match parts.extensions.get::<axum::extract::MatchedPath>().filter(|_| is_rest) {
            Some(matched) => Matched::Template(matched.as_str()),
            None => Matched::Unknown,
        }
    }

    #[cfg(not(feature = "axum"))]
    pub(crate) const fn matched(self, _: &Parts) -> Matched<'_> {
        Matched::Nothing
    }

    const fn misplaced(self) -> &'static str {
        match self {
            Self::Outermost => {
                "the layer is inside an axum router, which may have changed the URI; make it with `GateLayer::axum`"
            }
            #[cfg(feature = "axum")]
            Self::OriginalUri => "the layer is outside every axum router; make it with `GateLayer::outermost`",
        }
    }
}

/// Whether a URI is the rest of the received one: routers only strip prefixes, and at the prefix itself, `/` remains.
pub(crate) fn is_rest(uri: &Uri, received: &Uri) -> bool {
    let path = uri.path();
    uri.query() == received.query() && (path == "/" || received.path().ends_with(path))
}

#[cfg(test)]
mod tests {
    use http::{Method, Request, Version};

    use super::WireUri;

    fn of(method: Method, uri: &str, version: Version) -> String {
        let request = Request::builder().method(method).uri(uri).version(version).body(());
        WireUri::Outermost.target(&request.unwrap().into_parts().0)
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
