//! Snapshots of keys, with which a verifier checks signatures.

use core::fmt;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::algorithm::Algorithm;
use crate::compact::Compact;
use crate::error::TokenError;
use crate::json::{JsonError, Member, Object};
use crate::jwk::{Key, KeyRules, Use};

/// A larger key set is rejected without reading it.
pub(crate) const KEY_SET_BYTES: usize = 256 * 1024;
const KEYS: usize = 64;

/// The keys of one issuer at one moment.
///
/// Immutable, `Send + Sync`, and cheap to share in an `Arc`. Its `Debug` shows no key.
pub struct KeySet {
    /// The keys whose `kid` is unique.
    keys: Vec<Key>,
    /// The index of each `kid` in `keys`; `None` if several keys share it.
    by_kid: HashMap<String, Option<usize>>,
    warnings: Vec<KeyWarning>,
}

/// A key that was left out of a [`KeySet`], and the reason. It quotes nothing from the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyWarning {
    /// The key's index in the set, from 0.
    pub index: usize,
    /// The reason, for logs.
    pub message: &'static str,
}

impl fmt::Display for KeyWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} is left out: {}", self.index, self.message)
    }
}

impl KeySet {
    /// Reads a key set as an issuer publishes it (RFC 7517 §5): public keys only.
    ///
    /// Keys for another purpose, of an unknown type, weak or malformed are left out with a
    /// [warning](Self::warnings). So are secrets, because anyone who reads a secret can sign tokens, and
    /// private keys, because a published key isn't private any more. Keys that share a `kid` are not
    /// used.
    ///
    /// # Errors
    ///
    /// Fails if the document isn't a key set, is larger than 256 KiB, has more than 64 keys, or has no
    /// usable key.
    pub fn from_jwks(text: &[u8]) -> Result<Self, KeySetError> {
        Self::from_jwks_with(text, &KeyRules::default())
    }

    /// The same as [`from_jwks`](Self::from_jwks), with your own rules.
    ///
    /// # Errors
    ///
    /// The same as those of [`from_jwks`](Self::from_jwks).
    pub fn from_jwks_with(text: &[u8], rules: &KeyRules) -> Result<Self, KeySetError> {
        if text.len() > KEY_SET_BYTES {
            return Err(KeySetError::TooLarge);
        }
        let members = Object::parse(text).map_err(|diagnostic| match diagnostic {
            JsonError::NotAnObject => KeySetError::NotAKeySet,
            JsonError::DuplicateMember => KeySetError::DuplicateMember,
        })?;
        let Some(Member::Other(Value::Array(jwks))) = members.get("keys") else {
            return Err(KeySetError::NotAKeySet);
        };
        if jwks.len() > KEYS {
            return Err(KeySetError::TooManyKeys);
        }
        Self::collect(jwks.iter().map(|jwk| Key::from_jwk(jwk, rules)))
    }

    /// Makes a set of secrets that the issuer and this service share. Each has a `kid`, an
    /// algorithm, and at least as many bytes as the algorithm's hash (32, 48 or 64).
    ///
    /// A set never contains both secrets and public keys. It has a [warning](Self::warnings) for each
    /// secret that is too short.
    ///
    /// # Errors
    ///
    /// Fails if no secret is usable.
    pub fn from_secrets<'a>(
        secrets: impl IntoIterator<Item = (&'a str, Algorithm, &'a [u8])>,
    ) -> Result<Self, KeySetError> {
        Self::collect(secrets.into_iter().map(|(kid, algorithm, secret)| Key::from_secret(kid, algorithm, secret)))
    }

    fn collect(keys: impl Iterator<Item = Result<Key, &'static str>>) -> Result<Self, KeySetError> {
        let mut set = Self { keys: Vec::new(), by_kid: HashMap::new(), warnings: Vec::new() };
        // The position of each of `set.keys` in the document.
        let mut indices = Vec::new();
        for (index, key) in keys.enumerate() {
            match key {
                Ok(key) => set.add(key, index, &mut indices),
                Err(message) => set.warnings.push(KeyWarning { index, message }),
            }
        }
        set.warnings.sort_by_key(|warning| warning.index);
        if set.is_empty() {
            return Err(KeySetError::NoUsableKey(set.warnings.into()));
        }
        Ok(set)
    }

    fn add(&mut self, key: Key, index: usize, indices: &mut Vec<usize>) {
        if let Some(kid) = &key.kid {
            if let Some(other) = self.by_kid.get_mut(kid) {
                // The first of them was added before the others were read.
                let first = other.take().and_then(|other| indices.get(other).copied());
                let message = "another key has its `kid`, and neither is used";
                let both = first.into_iter().chain([index]);
                self.warnings.extend(both.map(|index| KeyWarning { index, message }));
                return;
            }
            self.by_kid.insert(kid.clone(), Some(self.keys.len()));
        }
        self.keys.push(key);
        indices.push(index);
    }

    /// The number of usable keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.usable(None).count()
    }

    /// Always `false`, because a key set without a usable key is an error.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys that were left out.
    #[must_use]
    pub fn warnings(&self) -> &[KeyWarning] {
        &self.warnings
    }

    /// The keys whose `kid` is unique and not revoked.
    fn usable(&self, revoked: Option<&HashSet<String>>) -> impl Iterator<Item = &Key> {
        let is_revoked = move |kid| revoked.is_some_and(|revoked| revoked.contains(kid));
        self.keys.iter().filter(move |key| {
            key.kid.as_ref().is_none_or(|kid| self.by_kid.get(kid).is_some_and(Option::is_some) && !is_revoked(kid))
        })
    }

    /// The only key that can have made the token's signature, for the token's algorithm.
    pub(crate) fn choose(
        &self,
        token: &Compact<'_>,
        allowed: &[Algorithm],
        revoked: Option<&HashSet<String>>,
    ) -> Result<Chosen<'_>, TokenError> {
        let algorithm = token.header.algorithm;
        let algorithm = algorithm.filter(|algorithm| allowed.contains(algorithm)).ok_or(TokenError::Algorithm)?;
        match &token.header.kid {
            Some(kid) if revoked.is_some_and(|revoked| revoked.contains(kid)) => Err(TokenError::KeyRevoked),
            Some(kid) => {
                let index = self.by_kid.get(kid).ok_or(TokenError::KeyUnknown)?;
                let key = index.and_then(|index| self.keys.get(index));
                let key = key.ok_or(TokenError::KeyAmbiguous)?;
                key.fit(algorithm).ok_or(TokenError::KeyMismatch)
            }
            None => {
                let mut fitting = self.usable(revoked).filter_map(|key| key.fit(algorithm));
                match (fitting.next(), fitting.next()) {
                    (Some(chosen), None) => Ok(chosen),
                    _ => Err(TokenError::KeyIdMissing),
                }
            }
        }
    }
}

/// A key, together with a token's algorithm.
pub(crate) struct Chosen<'k> {
    pub(crate) text: &'k Arc<str>,
    pub(crate) usage: &'k Use,
}

impl Key {
    fn fit(&self, algorithm: Algorithm) -> Option<Chosen<'_>> {
        let usage = self.uses.iter().find(|usage| usage.algorithm == algorithm)?;
        let text = &self.text;
        Some(Chosen { text, usage })
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet").field("keys", &self.len()).field("warnings", &self.warnings).finish_non_exhaustive()
    }
}

/// Why a document isn't a usable key set.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeySetError {
    /// The document is larger than 256 KiB.
    TooLarge,
    /// The document isn't a JSON object with a list `keys`.
    NotAKeySet,
    /// An object names a member twice.
    DuplicateMember,
    /// The document has more than 64 keys.
    TooManyKeys,
    /// No key can check a signature. Lists the reason for each key.
    NoUsableKey(Box<[KeyWarning]>),
}

impl fmt::Display for KeySetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the key set has more than 262144 bytes",
            Self::NotAKeySet => "the key set is not a JSON object with a list `keys`",
            Self::DuplicateMember => "the key set names a member twice",
            Self::TooManyKeys => "the key set has more than 64 keys",
            Self::NoUsableKey(warnings) => {
                f.write_str("the key set has no key that could check a signature")?;
                return warnings.iter().try_for_each(|warning| write!(f, "; {warning}"));
            }
        })
    }
}

/// The same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for KeySetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for KeySetError {}

/// The keys of all issuers at one moment, with which [`Verifier::verify`](crate::Verifier::verify)
/// checks signatures. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    by_issuer: HashMap<String, Arc<KeySet>>,
    /// The revoked `kid`s of each issuer, which aren't used even if the issuer publishes them.
    revoked: HashMap<String, HashSet<String>>,
}

impl Keys {
    /// No keys, so that every token is rejected.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy with an issuer's new keys instead of its previous ones.
    #[must_use]
    pub fn with(mut self, issuer: impl Into<String>, keys: impl Into<Arc<KeySet>>) -> Self {
        self.by_issuer.insert(issuer.into(), keys.into());
        self
    }

    /// A copy without an issuer's keys.
    #[must_use]
    pub fn without(mut self, issuer: &str) -> Self {
        self.by_issuer.remove(issuer);
        self
    }

    /// A copy that never uses the issuer's key with this `kid`, even if a later key set contains it.
    /// Call it if a private key was stolen. Tokens that name the key are rejected with
    /// [`TokenError::KeyRevoked`].
    #[must_use]
    pub fn revoke(mut self, issuer: impl Into<String>, kid: impl Into<String>) -> Self {
        self.revoked.entry(issuer.into()).or_default().insert(kid.into());
        self
    }

    /// The revoked `kid`s of an issuer.
    pub(crate) fn revoked(&self, issuer: &str) -> Option<&HashSet<String>> {
        self.revoked.get(issuer)
    }

    /// The number of usable keys of an issuer.
    pub(crate) fn count(&self, issuer: &str) -> usize {
        let keys = self.of(issuer);
        keys.map_or(0, |keys| keys.usable(self.revoked(issuer)).count())
    }

    /// The keys of an issuer.
    #[must_use]
    pub fn of(&self, issuer: &str) -> Option<&Arc<KeySet>> {
        self.by_issuer.get(issuer)
    }
}
