//! Checks signatures in place with aws-lc-rs.

use aws_lc_rs::digest::{Digest, SHA256};
use aws_lc_rs::hmac;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{self, ParsedPublicKey, RsaParameters, VerificationAlgorithm};

use crate::algorithm::{Algorithm, Parts};

/// A public key or a secret that checks signatures.
pub(crate) enum Material {
    Public(ParsedPublicKey),
    Secret(Box<hmac::Key>),
}

impl Material {
    /// A key for this algorithm. `None` if the numbers aren't a valid key, such as a point that isn't on its
    /// curve.
    pub(crate) fn new(algorithm: Algorithm, parts: &Parts<'_>) -> Option<Self> {
        match parts {
            Parts::Rsa { n, e } => algorithm.rsa_key(n, e).map(Self::Public),
            Parts::Point { x, y } => {
                let uncompressed = [&[4], *x, *y].concat();
                algorithm.curve_key(&uncompressed).map(Self::Public)
            }
            Parts::Edwards(point) => algorithm.curve_key(point).map(Self::Public),
            Parts::Secret(secret) => {
                let key = algorithm.secret_key(secret)?;
                Some(Self::Secret(Box::new(key)))
            }
        }
    }

    /// Whether the signature is valid for this message.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Public(key) => key.verify_sig(message, signature).is_ok(),
            Self::Secret(key) => hmac::verify(key, message, signature).is_ok(),
        }
    }

    /// The same, if the algorithm signs a SHA-256 hash and this is the message's.
    pub(crate) fn verify_hashed(&self, hash: &[u8], signature: &[u8]) -> bool {
        let hash = Digest::import_less_safe(hash, &SHA256);
        match (self, hash) {
            (Self::Public(key), Ok(hash)) => key.verify_digest_sig(&hash, signature).is_ok(),
            _ => false,
        }
    }
}

impl Algorithm {
    /// Whether the algorithm uses public keys and signs the message's SHA-256 hash.
    pub(crate) const fn signs_sha256(self) -> bool {
        matches!(self, Self::Rs256 | Self::Ps256 | Self::Es256)
    }

    /// An RSA key for this algorithm. Both numbers have no leading zeros.
    fn rsa_key(self, n: &[u8], e: &[u8]) -> Option<ParsedPublicKey> {
        let parameters: &'static RsaParameters = match self {
            Self::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
            _ => return None,
        };
        PublicKeyComponents { n, e }.to_parsed_public_key(parameters).ok()
    }

    /// An elliptic-curve key for this algorithm: an uncompressed point, or an Ed25519 key.
    fn curve_key(self, point: &[u8]) -> Option<ParsedPublicKey> {
        let algorithm: &'static dyn VerificationAlgorithm = match self {
            Self::Es256 => &signature::ECDSA_P256_SHA256_FIXED,
            Self::Es384 => &signature::ECDSA_P384_SHA384_FIXED,
            Self::Es512 => &signature::ECDSA_P521_SHA512_FIXED,
            Self::EdDsa | Self::Ed25519 => &signature::ED25519,
            _ => return None,
        };
        ParsedPublicKey::new(algorithm, point).ok()
    }

    fn secret_key(self, secret: &[u8]) -> Option<hmac::Key> {
        let algorithm = match self {
            Self::Hs256 => hmac::HMAC_SHA256,
            Self::Hs384 => hmac::HMAC_SHA384,
            Self::Hs512 => hmac::HMAC_SHA512,
            _ => return None,
        };
        Some(hmac::Key::new(algorithm, secret))
    }
}
