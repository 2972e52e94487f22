//! The compact serialisation of a JWS (RFC 7515 §7.1). Each token has exactly one accepted
//! spelling.

use crate::algorithm::Algorithm;
use crate::base64url;
use crate::error::TokenError;
use crate::json::{JsonError, Object};

/// A longer `kid` doesn't match any key.
const KID_BYTES: usize = 256;

/// A token split into its parts. Don't trust any of them before the signature is checked.
pub(crate) struct Compact<'a> {
    pub(crate) token: &'a [u8],
    pub(crate) header: Header,
    pub(crate) payload: Vec<u8>,
    /// The signed bytes: the first two parts as received.
    pub(crate) signed: &'a [u8],
    pub(crate) signature: Vec<u8>,
}

/// The members of a header that are used. `jku`, `x5u`, `x5c` and `jwk` are ignored: a token never
/// supplies its own key.
pub(crate) struct Header {
    /// `None` for an algorithm that this crate doesn't support.
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) kid: Option<String>,
    pub(crate) typ: Option<String>,
}

impl<'a> Compact<'a> {
    /// Splits a token that [`Verifier::parse`](crate::Verifier::parse) has measured.
    pub(crate) fn parse(token: &'a [u8]) -> Result<Self, TokenError> {
        let (signed, [header, payload, signature]) = parts(token).ok_or(TokenError::NotCompact)?;
        if header.is_empty() || signature.is_empty() {
            return Err(TokenError::NotCompact);
        }
        Ok(Self {
            token,
            header: Header::parse(&decode(header)?)?,
            payload: decode(payload)?,
            signed,
            signature: decode(signature)?,
        })
    }
}

/// The first two parts together, and each of the three parts.
pub(crate) fn parts(token: &[u8]) -> Option<(&[u8], [&[u8]; 3])> {
    let mut dots = memchr::memchr_iter(b'.', token);
    let (first, second) = (dots.next()?, dots.next()?);
    if dots.next().is_some() {
        return None;
    }
    let (signed, signature) = (token.get(..second)?, token.get(second..)?);
    let (header, payload) = (signed.get(..first)?, signed.get(first..)?);
    let payload = payload.strip_prefix(b".")?;
    Some((signed, [header, payload, signature.strip_prefix(b".")?]))
}

impl Header {
    fn parse(text: &[u8]) -> Result<Self, TokenError> {
        let members = Object::parse(text).map_err(|diagnostic| match diagnostic {
            JsonError::NotAnObject => TokenError::BadHeader,
            JsonError::DuplicateMember => TokenError::DuplicateMember,
        })?;
        if has_extension(&members) {
            return Err(TokenError::Extension);
        }
        let text = |name: &str| match members.get(name) {
            None => Ok(None),
            Some(value) => value.text().map(Some).ok_or(TokenError::BadHeader),
        };
        let algorithm = text("alg")?.ok_or(TokenError::BadHeader)?;
        let (kid, typ) = (text("kid")?, text("typ")?);
        if kid.is_some_and(|kid| kid.len() > KID_BYTES) {
            return Err(TokenError::BadHeader);
        }
        Ok(Self {
            algorithm: Algorithm::from_name(algorithm),
            kid: kid.map(str::to_owned),
            typ: typ.map(str::to_owned),
        })
    }
}

/// Whether a header has a member that changes the meaning of what it is in.
pub(crate) fn has_extension(header: &Object<'_>) -> bool {
    ["crit", "b64", "zip", "enc"].iter().any(|name| header.get(name).is_some())
}

/// Base64url without padding or stray bits, so no two strings decode to the same bytes.
pub(crate) fn decode(part: impl AsRef<[u8]>) -> Result<Vec<u8>, TokenError> {
    base64url::decode(part.as_ref()).ok_or(TokenError::BadEncoding)
}
