//! Invalid authorization requests, which are counted and logged.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Why an authorization request is rejected without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The connection comes from an address that is not among `trusted_proxies`.
    UntrustedPeer,
    /// The TLS handshake failed: the client's certificate is invalid or missing, or the client
    /// doesn't use TLS.
    Handshake,
    /// There are more connections than the limit, and this one gets a response.
    TooManyConnections,
    /// There are more connections over the limit than can get a response.
    ConnectionDropped,
    Overloaded,
    /// A header that must contain the method or the target is missing.
    Missing(&'static str),
    Repeated(&'static str),
    /// A header names a method or a target in the form of another protocol.
    Foreign,
    /// A header of the client that some backend reads as one of the gateway's own, and that proxies don't replace.
    Forged,
    /// The headers of a request, or those in a message, exceed the limit.
    HeadersTooLarge,
    MessageTooLarge,
    /// A message can't be parsed, doesn't arrive in time, or might not contain the target as
    /// received.
    Unclear,
}

impl RequestError {
    const COUNT: usize = 12;

    const fn index(self) -> usize {
        match self {
            Self::UntrustedPeer => 0,
            Self::TooManyConnections => 1,
            Self::Overloaded => 2,
            Self::Missing(_) => 3,
            Self::Repeated(_) => 4,
            Self::Foreign => 5,
            Self::Unclear => 6,
            Self::Handshake => 7,
            Self::ConnectionDropped => 8,
            Self::HeadersTooLarge => 9,
            Self::MessageTooLarge => 10,
            Self::Forged => 11,
        }
    }

    /// The counter's label.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::UntrustedPeer => "untrusted_peer",
            Self::TooManyConnections => "too_many_connections",
            Self::ConnectionDropped => "connection_dropped",
            Self::Overloaded => "overloaded",
            Self::Missing(_) => "missing_header",
            Self::Repeated(_) => "repeated_header",
            Self::Foreign => "foreign_header",
            Self::Forged => "forged_header",
            Self::HeadersTooLarge => "headers_too_large",
            Self::MessageTooLarge => "message_too_large",
            Self::Unclear => "unclear_message",
            Self::Handshake => "tls_handshake",
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UntrustedPeer => f.write_str("the address is not among `trusted_proxies`"),
            Self::TooManyConnections => f.write_str("`limits.connections` is reached"),
            Self::ConnectionDropped => {
                f.write_str("far more connections come than `limits.connections`")
            }
            Self::Overloaded => f.write_str("`limits.requests` is reached"),
            Self::Handshake => f.write_str("TLS was not agreed on"),
            Self::Missing(name) => write!(f, "the proxy did not send `{name}`"),
            Self::Repeated(name) => write!(f, "`{name}` came more than once"),
            Self::HeadersTooLarge => f.write_str("it has more headers than `limits.header_bytes`, or than 100"),
            Self::MessageTooLarge => f.write_str("the message has more than 1 MiB"),
            Self::Unclear => f.write_str(
                "the message is not whole, has no HTTP request, or its path has a `!`, which Envoy also writes for other bytes: over gRPC set `encode_raw_headers`",
            ),
            Self::Foreign => f.write_str("a header of another protocol names a method or a target"),
            Self::Forged => f.write_str("a client's header is one of the gateway's to some backends, in another spelling"),
        }
    }
}

/// Counts the errors of a listener. Logs at most one line per second for each kind, because clients can cause them.
#[derive(Debug)]
pub(crate) struct ErrorLog {
    listener: String,
    /// When each kind was last logged, in seconds.
    logged: [AtomicU64; RequestError::COUNT],
}

impl ErrorLog {
    pub(crate) fn new(listener: &str) -> Self {
        Self { listener: listener.to_owned(), logged: Default::default() }
    }

    pub(crate) fn note(&self, error: RequestError) {
        let listener = self.listener.clone();
        metrics::counter!("orbgate_gateway_errors_total", "listener" => listener, "error" => error.label())
            .increment(1);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.unwrap_or_default().as_secs();
        let Some(last) = self.logged.get(error.index()) else {
            return;
        };
        if last.swap(now, Ordering::Relaxed) != now {
            tracing::warn!(listener = self.listener, error = error.label(), "a request is refused: {error}");
        }
    }
}
