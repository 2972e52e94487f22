//! An issuer for tests of services. It signs real tokens, which pass real verification.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A key that signs with ES256: the native part of `orbgate.gate.testing.Issuer`.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct SigningKey {
    pair: EcdsaKeyPair,
}

#[pymethods]
impl SigningKey {
    #[new]
    fn new() -> PyResult<Self> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let pair = pair.map_err(|_| PyRuntimeError::new_err("no key could be made"))?;
        Ok(Self { pair })
    }

    /// The coordinates of the public key, as in a JWK.
    fn point(&self) -> (String, String) {
        let point = self.pair.public_key().as_ref();
        let (x, y) = point.get(1..).unwrap_or_default().split_at_checked(32).unwrap_or_default();
        (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y))
    }

    /// A token with this header and these claims, which are JSON.
    fn token(&self, header: &str, claims: &str) -> PyResult<String> {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|_| PyRuntimeError::new_err("it could not be signed"))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
