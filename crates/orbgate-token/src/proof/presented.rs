//! How a request presents its token.

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::bearer::Scheme;

/// How a request presents its token: with which scheme, and what proves that the sender holds the key that it is bound to.
///
/// Method and target are those of the request line. `Debug` shows neither proofs nor the certificate.
#[derive(Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "what an adapter must give")]
pub struct Presented<'a> {
    /// The scheme of `Authorization`.
    pub scheme: Scheme,
    /// Every value of `DPoP`, one item for each line of the header.
    pub dpop: &'a [&'a [u8]],
    /// The method.
    pub method: &'a [u8],
    /// The target, as received: path and query.
    pub target: &'a [u8],
    /// The certificate with which the client has authenticated its connection. Take it from the server that ended TLS, never
    /// from a header that a client can send.
    pub certificate: Option<Certificate<'a>>,
    /// Whether the same request was accepted before, so that its proof is one that was used. Set it only if your program decides
    /// one request again.
    pub repeats: bool,
}

impl fmt::Debug for Presented<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presented").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// What a request presents, kept while it waits.
#[doc(hidden)] // for gates
pub struct Kept {
    scheme: Scheme,
    /// At most two, which is one too many.
    dpop: Vec<Box<[u8]>>,
    method: Box<[u8]>,
    target: Box<[u8]>,
    certificate: Option<[u8; 32]>,
    repeats: bool,
}

// Written by hand: it has proofs.
impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl Kept {
    /// Passes it on as it was presented.
    pub fn with<T>(&self, read: impl FnOnce(&Presented<'_>) -> T) -> T {
        let dpop: Vec<_> = self.dpop.iter().map(|value| &**value).collect();
        read(&Presented {
            scheme: self.scheme,
            dpop: &dpop,
            method: &self.method,
            target: &self.target,
            certificate: self.certificate.map(Certificate::Sha256),
            repeats: self.repeats,
        })
    }
}

impl Presented<'_> {
    /// Whether it has several proofs. Some servers join the lines of a header with commas, which no proof has.
    pub(crate) fn has_several(&self) -> bool {
        self.dpop.len() > 1 || self.dpop.iter().any(|value| value.contains(&b','))
    }

    /// A copy, if there is more than a bearer token.
    #[doc(hidden)] // for gates
    #[must_use]
    pub fn keep(&self) -> Option<Box<Kept>> {
        let Self { scheme, dpop, method, target, certificate, repeats } = *self;
        let is_plain = scheme == Scheme::Bearer && dpop.is_empty() && certificate.is_none();
        (!is_plain).then(|| {
            Box::new(Kept {
                scheme,
                dpop: dpop.iter().take(2).map(|value| (*value).into()).collect(),
                method: method.into(),
                target: target.into(),
                certificate: certificate.map(|certificate| certificate.hash()),
                repeats,
            })
        })
    }
}

/// A client's certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a certificate, or its hash")]
pub enum Certificate<'a> {
    /// The certificate in DER, as TLS sends it.
    Der(&'a [u8]),
    /// The SHA-256 of that.
    Sha256([u8; 32]),
}

impl Certificate<'_> {
    pub(crate) fn hash(&self) -> [u8; 32] {
        match self {
            Self::Der(der) => Sha256::digest(der).into(),
            Self::Sha256(hash) => *hash,
        }
    }
}

impl fmt::Debug for Certificate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}
