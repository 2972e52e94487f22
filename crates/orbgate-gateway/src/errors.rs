//! Questions that are no questions: counted, and said in the log.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Why a question is refused without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The connection comes from an address that is not among `trusted_proxies`.
    UntrustedPeer,
    /// TLS was not agreed on: a wrong certificate of the client, none, or no TLS at all.
    Handshake,
    /// There are more connections than the limit, and this one is told so.
    TooManyConnections,
    /// There are more of these than can be told.
    ConnectionDropped,
    /// There are more questions under way than the limit.
    Overloaded,
    /// A header that must have the method or the target is not there.
    Missing(&'static str),
    /// It is there more than once.
    Repeated(&'static str),
    /// A header names a method or a target in the way of another protocol.
    Foreign,
    /// A head, or the headers in a message, have more bytes than the limit.
    HeadersTooLarge,
    /// A message has more bytes than the limit.
    MessageTooLarge,
    /// A message is no question, is not there in time, or may not have its target as it came.
    Unclear,
}

impl RequestError {
    /// How many there are.
    const COUNT: usize = 11;

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
        }
    }

    /// The label of the counter.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::UntrustedPeer => "untrusted_peer",
            Self::TooManyConnections => "too_many_connections",
            Self::ConnectionDropped => "connection_dropped",
            Self::Overloaded => "overloaded",
            Self::Missing(_) => "missing_header",
            Self::Repeated(_) => "repeated_header",
            Self::Foreign => "foreign_header",
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
            Self::Overloaded => f.write_str("`limits.questions` is reached"),
            Self::Handshake => f.write_str("TLS was not agreed on"),
            Self::Missing(name) => write!(f, "the proxy did not send `{name}`"),
            Self::Repeated(name) => write!(f, "`{name}` came more than once"),
            Self::HeadersTooLarge => f.write_str("it has more headers than `limits.header_bytes`, or than 100"),
            Self::MessageTooLarge => f.write_str("the message has more than 1 MiB"),
            Self::Unclear => f.write_str(
                "the message is not whole, has no HTTP request, or its path has a `!`, which Envoy also writes for other bytes: over gRPC set `encode_raw_headers`",
            ),
            Self::Foreign => f.write_str("a header of another protocol names a method or a target"),
        }
    }
}

/// Counts the errors of a listener. A line of the log a second is enough for each kind, because a client may cause them.
#[derive(Debug)]
pub(crate) struct ErrorLog {
    listener: String,
    /// When each kind was said last, in seconds.
    said: [AtomicU64; RequestError::COUNT],
}

impl ErrorLog {
    pub(crate) fn new(listener: &str) -> Self {
        Self {
            listener: listener.to_owned(),
            said: Default::default(),
        }
    }

    pub(crate) fn note(&self, error: RequestError) {
        let listener = self.listener.clone();
        metrics::counter!("orbgate_gateway_errors_total", "listener" => listener, "error" => error.label())
            .increment(1);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.unwrap_or_default().as_secs();
        let Some(said) = self.said.get(error.index()) else {
            return;
        };
        if said.swap(now, Ordering::Relaxed) != now {
            tracing::warn!(
                listener = self.listener,
                error = error.label(),
                "a question is refused: {error}"
            );
        }
    }
}
