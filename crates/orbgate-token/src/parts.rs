//! The numbers of a key, and its form in RFC 7638.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::algorithm::{Algorithm, Family};

/// The numbers of a key, big endian. RSA numbers have no leading zeros; coordinates are as long as the curve
/// requires.
pub(crate) enum Parts<'a> {
    Rsa { n: &'a [u8], e: &'a [u8] },
    Point { x: &'a [u8], y: &'a [u8] },
    Edwards(&'a [u8]),
    Secret(&'a [u8]),
}

impl Parts<'_> {
    /// The key as in RFC 7638 §3: only its required members, in alphabetical order, without spaces.
    pub(crate) fn jwk(&self, family: Family) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let crv = match family {
            Family::P256 => "P-256",
            Family::P384 => "P-384",
            Family::P521 => "P-521",
            Family::Ed25519 => "Ed25519",
            Family::Rsa | Family::Secret => "",
        };
        match self {
            Self::Rsa { n, e } => {
                format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, text(e), text(n))
            }
            Self::Point { x, y } => {
                let (x, y) = (text(x), text(y));
                format!(r#"{{"crv":"{crv}","kty":"EC","x":"{x}","y":"{y}"}}"#)
            }
            Self::Edwards(x) => format!(r#"{{"crv":"{crv}","kty":"OKP","x":"{}"}}"#, text(x)),
            Self::Secret(k) => format!(r#"{{"k":"{}","kty":"oct"}}"#, text(k)),
        }
    }

    /// The length of a signature by this key. A signature of any other length is invalid.
    pub(crate) const fn signature_bytes(&self, algorithm: Algorithm) -> usize {
        match self {
            Self::Rsa { n, .. } => n.len(),
            Self::Point { x, .. } => x.len().saturating_mul(2),
            Self::Edwards(_) => 64,
            Self::Secret(_) => algorithm.hash_bytes(),
        }
    }
}
