//! The protocols of proxies, and the headers in which each sends method and target.

use orbgate_gate::same_header;

orbgate_yaml::document! {
    /// The protocol of a listener. Each listener has exactly one mode, and reads no header of
    /// another mode.
    pub(crate) enum Mode {
        /// nginx's `auth_request`.
        Nginx: "nginx",
        /// Caddy's `forward_auth`, Traefik's `ForwardAuth`, the Lua script for HAProxy.
        ForwardAuth: "forward_auth" (not "caddy", "traefik", "haproxy"),
        /// Envoy's `ext_authz` over HTTP: the client's request itself, without its body.
        EnvoyHttp: "envoy_http" (not "envoy"),
        /// Envoy's `ext_authz` over gRPC: a message.
        EnvoyGrpc: "envoy_grpc" (not "envoy"),
        /// AuthZEN's Authorization API: not a proxy's protocol, but messages from any client.
        Authzen: "authzen",
        /// A ledger of orbs, for gates: not a proxy's protocol either.
        Ledger: "ledger" (not "orbs"),
    }
}

impl Mode {
    /// The modes of proxies, in which responses are statuses and headers.
    #[cfg(test)]
    pub(crate) fn of_proxies() -> impl Iterator<Item = (&'static str, Self)> {
        let named = Self::NAMED.iter().copied();
        named.filter(|(_, mode)| !matches!(mode, Self::Authzen | Self::Ledger))
    }

    /// The headers with the method and the target; `None` if the request itself or a message
    /// contains them.
    pub(crate) const fn headers(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Nginx => Some(["x-original-method", "x-original-uri"]),
            Self::ForwardAuth => Some(["x-forwarded-method", "x-forwarded-uri"]),
            Self::EnvoyHttp | Self::EnvoyGrpc | Self::Authzen | Self::Ledger => None,
        }
    }
}

/// Headers in which some proxy or server sends a method or a target.
const NAMING: [&str; 9] = [
    "x-envoy-original-method",
    "x-envoy-original-path",
    "x-forwarded-method",
    "x-forwarded-prefix",
    "x-forwarded-uri",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-rewrite-url",
];

/// Whether a header, in lower case, names a method or a target in a form that this mode doesn't read.
///
/// A mode reads exactly one spelling of a name. A backend might not distinguish the others, such as `X_Original_URI`
/// and `X.Original.URI`, from it.
pub(crate) fn is_foreign(name: &str, mode: Mode) -> bool {
    let same = |known: &&str| same_header(known.as_bytes(), name.as_bytes());
    let read = mode.headers().is_some_and(|read| read.contains(&name));
    !read && NAMING.iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::{Mode, is_foreign};

    #[test]
    fn a_mode_reads_exactly_its_own_headers() {
        for (name, mode) in Mode::NAMED.iter().copied() {
            let read = super::NAMING.iter().filter(|name| !is_foreign(name, mode));
            let read: Vec<_> = read.copied().collect();
            let own = mode.headers().map_or(Vec::new(), Vec::from);
            assert_eq!(read, own, "{name}");
            assert!(is_foreign("x_original_uri", mode));
            assert!(is_foreign("x-original_url", mode));
            assert!(is_foreign("x.rewrite.url", mode) && is_foreign("x!forwarded~uri", mode));
            assert!(!is_foreign("x-forwarded-for", mode));
        }
    }
}
