//! What a token is bound to: its claim `cnf` (RFC 7800).

use serde_json::Value;

use super::rules::{ProofMethod, ProofRules};
use crate::compact::decode;
use crate::error::TokenError;
use crate::json::{Member, Object};

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// The keys to which a token is bound, each of which must be proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Confirmation {
    /// The thumbprint of the key of DPoP proofs (RFC 9449 §6.1).
    pub(crate) jkt: Option<Hash>,
    /// The SHA-256 of the certificate (RFC 8705 §3.1).
    pub(crate) x5t: Option<Hash>,
}

impl Confirmation {
    /// What `cnf` says. A member that isn't proved by these rules, or that can't be read, rejects the token: no one could tell
    /// whether its sender is its holder.
    pub(crate) fn read(claims: &Object<'_>, rules: &ProofRules) -> Result<Self, TokenError> {
        let members = match claims.get("cnf") {
            None => return Ok(Self::default()),
            Some(Member::Other(Value::Object(members))) if !members.is_empty() => members,
            Some(_) => return Err(TokenError::Confirmation),
        };
        let mut confirmation = Self::default();
        for (name, value) in members {
            let methods = [ProofMethod::Dpop, ProofMethod::Mtls];
            let method = methods.into_iter().find(|method| method.member() == name);
            let method = method.filter(|method| rules.has(*method)).ok_or(TokenError::Confirmation)?;
            let hash = value.as_str().and_then(hash).ok_or(TokenError::Confirmation)?;
            match method {
                ProofMethod::Dpop => confirmation.jkt = Some(hash),
                ProofMethod::Mtls => confirmation.x5t = Some(hash),
            }
        }
        Ok(confirmation)
    }

    pub(crate) const fn is_none(&self) -> bool {
        self.jkt.is_none() && self.x5t.is_none()
    }
}

/// A SHA-256 in base64url.
pub(crate) fn hash(text: &str) -> Option<Hash> {
    // 32 bytes have 43 characters, so nothing longer is decoded.
    let text = Some(text).filter(|text| text.len() == 43)?;
    decode(text).ok()?.try_into().ok()
}
