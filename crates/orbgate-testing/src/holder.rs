//! A client that holds a key of its own, and proves it (RFC 9449).

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::signer::{Signer, base64url, claims, header, with, without};

/// What a client calls.
pub const URL: &str = "https://api.example.com/orders";

/// A client with a key of its own.
pub struct Holder {
    pub signer: Signer,
    pub algorithm: &'static str,
}

/// The hash in base64url.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    base64url(digest(&SHA256, bytes.as_ref()))
}

impl Holder {
    pub fn new(signer: Signer) -> Self {
        Self { signer, algorithm: "ES256" }
    }

    pub fn jwk(&self) -> Value {
        without(self.signer.jwk(""), "kid")
    }

    /// RFC 7638: serde_json sorts the members.
    pub fn jkt(&self) -> String {
        sha256(self.jwk().to_string())
    }

    /// A token that is bound to the key.
    pub fn bound(&self, issuer: &Signer) -> String {
        issuer.token(&header(), &with(claims(), "cnf", json!({"jkt": self.jkt()})))
    }

    /// A proof at this time, with these changes to its claims.
    pub fn proof_at(&self, token: &str, time: u64, changes: &Value) -> String {
        self.proof_of(&json!({}), &changed(self.claims(token, time), changes))
    }

    pub fn claims(&self, token: &str, time: u64) -> Value {
        json!({"htm": "GET", "htu": URL, "iat": time, "jti": format!("proof-{time}"), "ath": sha256(token)})
    }

    /// A proof with these changes to its header.
    pub fn proof_of(&self, changes: &Value, claims: &Value) -> String {
        let header = json!({"typ": "dpop+jwt", "alg": self.algorithm, "jwk": self.jwk()});
        self.signer.token(&changed(header, changes), claims)
    }
}

/// The object with these members; `null` leaves one out.
pub fn changed(mut object: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        object[name] = value.clone();
    }
    object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    object
}
