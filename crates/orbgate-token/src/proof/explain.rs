//! Explains which rule a proof breaks, for the developer of a client.

use core::fmt;
use core::time::Duration;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orbgate_yaml::quoted;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::dpop::AGE;
use super::presented::Presented;
use crate::bearer::Scheme;
use crate::claim_test::date;
use crate::compact::{decode, parts};
use crate::error::TokenError;
use crate::explain::{Explanation, shown};
use crate::issuer::Issuer;
use crate::json::{Member, Object};
use crate::jwk::required_members;
use crate::keys::Keys;
use crate::verifier::{Verifier, since_epoch};

/// A request with a DPoP proof, as its client sends it.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "what a proof is compared with")]
pub struct ProvedRequest<'a> {
    /// The value of the header `DPoP`.
    pub proof: &'a [u8],
    /// The method.
    pub method: &'a str,
    /// The URL that the client calls. Its query doesn't count.
    pub url: &'a str,
}

// Written by hand: it has a proof.
impl fmt::Debug for ProvedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProvedRequest").field("method", &self.method).field("url", &self.url).finish_non_exhaustive()
    }
}

impl Verifier {
    /// The same as [`explain`](Self::explain) for a token that a request sends with the scheme `DPoP`. Whether the proof was used
    /// before isn't known. The signature of the proof is checked even without keys.
    #[must_use]
    pub fn explain_proved(
        &self,
        token: impl AsRef<[u8]>,
        request: &ProvedRequest<'_>,
        keys: Option<&Keys>,
        now: SystemTime,
    ) -> Explanation {
        let mut targets = self.public_urls_known().iter().filter_map(|url| url.target_of(request.url));
        let target = targets.next().unwrap_or_default();
        let proof = [request.proof];
        let presented = Presented {
            scheme: Scheme::Dpop,
            dpop: &proof,
            method: request.method.as_bytes(),
            target: target.as_bytes(),
            ..Presented::default()
        };
        self.explain_presented(token.as_ref(), &presented, keys, now, |error, issuer| {
            let proof = Shown::of(request.proof)?;
            match error {
                TokenError::ProofUrl if target.is_empty() => {
                    Some(format!("no `public_urls` has {}", quoted(request.url)))
                }
                error => proof.hint(error, request, issuer, since_epoch(now).ok()?),
            }
        })
    }
}

/// What a proof states, right or wrong.
struct Shown {
    header: Vec<u8>,
    payload: Vec<u8>,
}

impl Shown {
    fn of(proof: &[u8]) -> Option<Self> {
        let (_, [header, payload, _]) = parts(proof)?;
        Some(Self { header: decode(header).ok()?, payload: decode(payload).ok()? })
    }

    fn hint(&self, error: TokenError, request: &ProvedRequest<'_>, issuer: &Issuer, now: Duration) -> Option<String> {
        let (header, claims) = (Object::parse(&self.header).ok()?, Object::parse(&self.payload).ok()?);
        Some(match error {
            TokenError::ProofBinding => {
                let Some(Member::Other(jwk @ Value::Object(_))) = header.get("jwk") else { return None };
                let thumbprint = URL_SAFE_NO_PAD.encode(Sha256::digest(required_members(jwk)?));
                format!("the thumbprint of its key is `{thumbprint}`, and the token's `cnf.jkt` is another")
            }
            TokenError::ProofType => format!("its `typ` {}", shown(header.get("typ"))),
            TokenError::ProofAlgorithm => {
                let rules = issuer.proof.as_ref()?;
                let known: Vec<_> = rules.algorithms.iter().map(|algorithm| algorithm.as_str()).collect();
                format!("its `alg` {}, and `proof_algorithms` is [{}]", shown(header.get("alg")), known.join(", "))
            }
            TokenError::ProofMethod => {
                format!("its `htm` {}, and the method is {}", shown(claims.get("htm")), quoted(request.method))
            }
            TokenError::ProofUrl => {
                format!("its `htu` {}, and the URL is {}", shown(claims.get("htu")), quoted(request.url))
            }
            TokenError::ProofTime => {
                let issued = match claims.get("iat") {
                    Some(Member::Other(value)) => date(value),
                    _ => None,
                };
                let Some(issued) = issued else { return Some(format!("its `iat` {}", shown(claims.get("iat")))) };
                let skew = issuer.skew.as_secs();
                let (age, future) = (AGE.as_secs().saturating_add(skew), issued.saturating_sub(now).as_secs());
                match now.checked_sub(issued) {
                    Some(old) => format!("its `iat` is {} s ago, and can be {age} s ago", old.as_secs()),
                    None => {
                        format!("its `iat` is {future} s ahead, and can be {skew} s ahead, which is `skew_seconds`")
                    }
                }
            }
            TokenError::ProofToken => {
                format!("its `ath` {}, which isn't the hash of this token", shown(claims.get("ath")))
            }
            _ => return None,
        })
    }
}
