//! The signature algorithms, and the kind of key that each requires.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A signature algorithm of RFC 7518 §3.1, RFC 8037 or RFC 9864.
///
/// There is no `none`, and no way to add it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256, which every provider supports (RFC 9068 §2.1).
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// ECDSA on P-521 with SHA-512.
    Es512,
    /// EdDSA, as RFC 8037 names it; only with Ed25519.
    EdDsa,
    /// The same algorithm, as RFC 9864 names it.
    Ed25519,
    /// HMAC with SHA-256; only with a secret of at least 32 bytes given to [`KeySet::from_secrets`](crate::KeySet::from_secrets).
    Hs256,
    /// HMAC with SHA-384; the secret has at least 48 bytes.
    Hs384,
    /// HMAC with SHA-512; the secret has at least 64 bytes.
    Hs512,
}

/// The kinds of keys, each for a group of algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Rsa,
    P256,
    P384,
    P521,
    Ed25519,
    Secret,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 14] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::EdDsa,
        Self::Ed25519,
        Self::Hs256,
        Self::Hs384,
        Self::Hs512,
    ];

    /// The name in a token's header and in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::EdDsa => "EdDSA",
            Self::Ed25519 => "Ed25519",
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
        }
    }

    /// The algorithm of exactly this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// The kind of key that the algorithm needs.
    pub(crate) const fn family(self) -> Family {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => Family::Rsa,
            Self::Es256 => Family::P256,
            Self::Es384 => Family::P384,
            Self::Es512 => Family::P521,
            Self::EdDsa | Self::Ed25519 => Family::Ed25519,
            Self::Hs256 | Self::Hs384 | Self::Hs512 => Family::Secret,
        }
    }

    /// Whether it needs a secret instead of a public key.
    pub(crate) const fn is_hmac(self) -> bool {
        matches!(self.family(), Family::Secret)
    }

    /// The size of an HMAC's hash in bytes; 0 for other algorithms.
    pub(crate) const fn hash_bytes(self) -> usize {
        match self {
            Self::Hs256 => 32,
            Self::Hs384 => 48,
            Self::Hs512 => 64,
            _ => 0,
        }
    }
}

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

/// Whether a string can be a signature by a key whose signatures have this many bytes.
///
/// ECDSA's numbers must not be 0: libraries have accepted such signatures for any message
/// (CVE-2022-21449).
pub(crate) fn can_be(algorithm: Algorithm, signature: &[u8], bytes: usize) -> bool {
    let is_ecdsa = matches!(algorithm.family(), Family::P256 | Family::P384 | Family::P521);
    let half = bytes.checked_div(2).unwrap_or(0);
    let is_zero = |number: &[u8]| number.iter().all(|byte| *byte == 0);
    signature.len() == bytes && !(is_ecdsa && signature.chunks(half.max(1)).any(is_zero))
}
