//! The client's certificate of a connection, which proves that a token is its holder's (RFC 8705).

use core::fmt;
use std::sync::Arc;

/// The certificate with which the client has authenticated its connection, in a request's extensions.
///
/// Insert it where the server ends TLS, from the connection itself: with rustls, it is the first of `peer_certificates`. The
/// server must request certificates. Self-signed ones suffice, because the issuer has bound the token to exactly one.
/// A certificate is public: never take it from a header that a client can send.
///
/// ```
/// use orbgate_tower::ClientCertificate;
///
/// // One for each connection, cloned for each of its requests.
/// fn from_connection(request: &mut http::Request<()>, peer_certificate: &[u8]) {
///     request.extensions_mut().insert(ClientCertificate::new(peer_certificate));
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate(Arc<[u8]>);

impl ClientCertificate {
    /// A certificate in DER, as TLS sends it.
    #[must_use]
    pub fn new(der: impl Into<Arc<[u8]>>) -> Self {
        Self(der.into())
    }

    /// The certificate in DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientCertificate")
    }
}
