//! The signature algorithms, and which keys each one is for.

use aws_lc_rs::hmac;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{self, ParsedPublicKey, RsaParameters, VerificationAlgorithm};

/// A signature algorithm of RFC 7518 §3.1, RFC 8037 or RFC 9864.
///
/// There is no `none`, and no way to add it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256: what every provider has (RFC 9068 §2.1).
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
    /// EdDSA, as RFC 8037 names it; here always on Ed25519.
    EdDsa,
    /// The same as RFC 9864 names it.
    Ed25519,
    /// HMAC with SHA-256; only with a secret of at least 32 bytes given to [`KeySet::from_secrets`](crate::KeySet::from_secrets).
    Hs256,
    /// HMAC with SHA-384; the secret has at least 48 bytes.
    Hs384,
    /// HMAC with SHA-512; the secret has at least 64 bytes.
    Hs512,
}

/// The kinds of keys that decide which algorithms fit.
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
    /// Every algorithm.
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
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.as_str() == name)
    }

    /// The kind of key that the algorithm needs.
    pub(crate) const fn family(self) -> Family {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => {
                Family::Rsa
            }
            Self::Es256 => Family::P256,
            Self::Es384 => Family::P384,
            Self::Es512 => Family::P521,
            Self::EdDsa | Self::Ed25519 => Family::Ed25519,
            Self::Hs256 | Self::Hs384 | Self::Hs512 => Family::Secret,
        }
    }

    /// An RSA key for this algorithm; both numbers are without leading zeros.
    pub(crate) fn rsa_key(self, n: &[u8], e: &[u8]) -> Option<ParsedPublicKey> {
        let parameters: &'static RsaParameters = match self {
            Self::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
            _ => return None,
        };
        PublicKeyComponents { n, e }
            .to_parsed_public_key(parameters)
            .ok()
    }

    /// A key on a curve for this algorithm: an uncompressed point, or an Ed25519 key.
    pub(crate) fn curve_key(self, point: &[u8]) -> Option<ParsedPublicKey> {
        let algorithm: &'static dyn VerificationAlgorithm = match self {
            Self::Es256 => &signature::ECDSA_P256_SHA256_FIXED,
            Self::Es384 => &signature::ECDSA_P384_SHA384_FIXED,
            Self::Es512 => &signature::ECDSA_P521_SHA512_FIXED,
            Self::EdDsa | Self::Ed25519 => &signature::ED25519,
            _ => return None,
        };
        ParsedPublicKey::new(algorithm, point).ok()
    }

    /// A secret for this algorithm, at least as long as its hash (RFC 7518 §3.2).
    pub(crate) fn secret_key(self, secret: &[u8]) -> Option<hmac::Key> {
        let algorithm = match self {
            Self::Hs256 => hmac::HMAC_SHA256,
            Self::Hs384 => hmac::HMAC_SHA384,
            Self::Hs512 => hmac::HMAC_SHA512,
            _ => return None,
        };
        let enough = secret.len() >= algorithm.digest_algorithm().output_len();
        enough.then(|| hmac::Key::new(algorithm, secret))
    }
}
