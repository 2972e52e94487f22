//! Signs tokens, valid ones and unusual ones.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use aws_lc_rs::{hmac, rand};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orbgate_token::{Issuer, KeySet, Keys, KindRules, TokenError, VerifiedToken, Verifier};
use serde_json::{Value, json};

pub const ISSUER: &str = "https://id.example.com";
pub const AUDIENCE: &str = "https://api.example.com";
/// The current time in tests, in seconds since 1970.
pub const NOW: u64 = 1_800_000_000;

pub fn now() -> SystemTime {
    at(NOW)
}

pub fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key that signs tokens.
pub enum Signer {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    P521(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Secret(Vec<u8>),
}

impl Signer {
    pub fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    pub fn p256() -> Self {
        Self::P256(EcdsaKeyPair::generate(&signature::ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }

    pub fn p384() -> Self {
        Self::P384(EcdsaKeyPair::generate(&signature::ECDSA_P384_SHA384_FIXED_SIGNING).unwrap())
    }

    pub fn p521() -> Self {
        Self::P521(EcdsaKeyPair::generate(&signature::ECDSA_P521_SHA512_FIXED_SIGNING).unwrap())
    }

    pub fn ed25519() -> Self {
        Self::Ed25519(Ed25519KeyPair::generate().unwrap())
    }

    /// The public key in the form of a key set.
    pub fn jwk(&self, kid: &str) -> Value {
        let mut jwk = match self {
            // In the DER encoding of RFC 8017 A.1.1, a 2048-bit modulus is at a fixed position.
            Self::Rsa(pair) => json!({
                "kty": "RSA",
                "n": base64url(&pair.public_key().as_ref()[9..265]),
                "e": "AQAB",
            }),
            Self::P256(pair) => point("P-256", pair),
            Self::P384(pair) => point("P-384", pair),
            Self::P521(pair) => point("P-521", pair),
            Self::Ed25519(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key())})
            }
            Self::Secret(secret) => json!({"kty": "oct", "k": base64url(secret)}),
        };
        jwk["kid"] = kid.into();
        jwk
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair) => {
                let encoding: &dyn signature::RsaEncoding = match algorithm {
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    _ => &signature::RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &random, message, &mut signature).unwrap();
                signature
            }
            Self::P256(pair) | Self::P384(pair) | Self::P521(pair) => {
                pair.sign(&random, message).unwrap().as_ref().to_vec()
            }
            Self::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Secret(secret) => {
                let hash = match algorithm {
                    "HS384" => hmac::HMAC_SHA384,
                    "HS512" => hmac::HMAC_SHA512,
                    _ => hmac::HMAC_SHA256,
                };
                hmac::sign(&hmac::Key::new(hash, secret), message).as_ref().to_vec()
            }
        }
    }

    /// A token with exactly this header and these claims, valid or not.
    pub fn token_of(&self, header: &str, claims: &str) -> String {
        let algorithm: Value = serde_json::from_str(header).unwrap_or_default();
        let algorithm = algorithm["alg"].as_str().unwrap_or_default();
        let signed = format!("{}.{}", base64url(header), base64url(claims));
        let signature = base64url(self.sign(algorithm, signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    pub fn token(&self, header: &Value, claims: &Value) -> String {
        self.token_of(&header.to_string(), &claims.to_string())
    }
}

fn point(curve: &str, pair: &EcdsaKeyPair) -> Value {
    let point = &pair.public_key().as_ref()[1..];
    let (x, y) = point.split_at(point.len() / 2);
    json!({"kty": "EC", "crv": curve, "x": base64url(x), "y": base64url(y)})
}

pub fn header() -> Value {
    json!({"alg": "ES256", "typ": "at+jwt", "kid": "key-1"})
}

pub fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "user-7", "client_id": "app-1", "jti": "token-1",
        "iat": NOW - 10, "exp": NOW + 600, "token_kind": "user", "scope": "read:account write:voxies",
    })
}

/// The object with this member replaced.
pub fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    object[name] = value.into();
    object
}

pub fn without(mut object: Value, name: &str) -> Value {
    object.as_object_mut().unwrap().remove(name);
    object
}

pub fn key_set(jwks: &[Value]) -> KeySet {
    KeySet::from_jwks(json!({ "keys": jwks }).to_string().as_bytes()).unwrap()
}

pub fn keys(jwks: &[Value]) -> Keys {
    Keys::new().with(ISSUER, key_set(jwks))
}

pub fn issuer() -> Issuer {
    let kind = KindRules::named_by("token_kind", "user", "organisation");
    Issuer::new(ISSUER, AUDIENCE, kind).algorithms([orbgate_token::Algorithm::Es256])
}

pub fn verifier(issuer: Issuer) -> Verifier {
    Verifier::new([issuer]).unwrap()
}

pub fn random_secret(bytes: usize) -> Vec<u8> {
    let mut secret = vec![0; bytes];
    rand::fill(&mut secret).unwrap();
    secret
}

/// An issuer's key, and the keys that verify its tokens.
pub struct World {
    pub signer: Signer,
    pub keys: Keys,
}

impl World {
    pub fn new() -> Self {
        let signer = Signer::p256();
        let keys = keys(&[signer.jwk("key-1")]);
        Self { signer, keys }
    }

    pub fn verify_with(&self, issuer: Issuer, token: &str) -> Result<VerifiedToken, TokenError> {
        verifier(issuer).verify(token, &self.keys, now())
    }

    pub fn verify(&self, token: &str) -> Result<VerifiedToken, TokenError> {
        self.verify_with(issuer(), token)
    }

    pub fn header(&self, header: &Value) -> Option<TokenError> {
        self.verify(&self.signer.token(header, &claims())).err()
    }

    pub fn claims(&self, claims: &Value) -> Option<TokenError> {
        self.verify(&self.signer.token(&header(), claims)).err()
    }

    pub fn claims_text(&self, claims: &str) -> Option<TokenError> {
        let token = self.signer.token_of(&header().to_string(), claims);
        self.verify(&token).err()
    }
}
