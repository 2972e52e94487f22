//! Snapshots of keys, with which a verifier checks signatures.

use core::fmt;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::algorithm::Algorithm;
use crate::compact::Compact;
use crate::error::TokenError;
use crate::json::{JsonError, Member, Object};
use crate::jwk::{Key, KeyRules, PRIVATE, SECRET, Use};

/// A larger key set is rejected without reading it.
pub(crate) const KEY_SET_BYTES: usize = 256 * 1024;
const KEYS: usize = 64;

/// The keys of one issuer at one moment.
///
/// Immutable, `Send + Sync`, and cheap to share in an `Arc`. Its `Debug` shows no key.
pub struct KeySet {
    /// One entry for each pair of a `kid` and a key.
    keys: Vec<Key>,
    warnings: Vec<KeyWarning>,
    /// The `kid` of each warning's key.
    left_out: Vec<Option<String>>,
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
    /// private keys, because a published key isn't private any more.
    ///
    /// Several keys can share a `kid` (RFC 7517 §4.5): a token's `alg` then chooses between them. The same key (RFC 7638),
    /// listed several times, is one key for all the algorithms listed. If two different keys with a token's `kid` are for
    /// its `alg`, that token is rejected with [`TokenError::KeyAmbiguous`].
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
        let kid = |jwk: &Value| jwk.get("kid").and_then(Value::as_str).map(str::to_owned);
        Self::collect(jwks.iter().map(|jwk| Key::from_jwk(jwk, rules).map_err(|message| (message, kid(jwk)))))
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
        Self::collect(secrets.into_iter().map(|(kid, algorithm, secret)| {
            Key::from_secret(kid, algorithm, secret).map_err(|message| (message, Some(kid.to_owned())))
        }))
    }

    fn collect(keys: impl Iterator<Item = Result<Key, LeftOut>>) -> Result<Self, KeySetError> {
        let mut set = Self { keys: Vec::new(), warnings: Vec::new(), left_out: Vec::new() };
        // The position of each of `set.keys` in the document.
        let mut indices = Vec::new();
        let mut left_out = Vec::new();
        for (index, key) in keys.enumerate() {
            match key {
                Ok(key) => indices.extend(set.add(key).then_some(index)),
                Err((message, kid)) => left_out.push((KeyWarning { index, message }, kid)),
            }
        }
        for (key, index) in set.keys.iter().zip(indices).filter(|(key, _)| !set.can_be_chosen(key)) {
            let message = "another key has its `kid` and is for the same algorithms";
            left_out.push((KeyWarning { index, message }, key.kid.clone()));
        }
        left_out.sort_by_key(|(warning, _)| warning.index);
        (set.warnings, set.left_out) = left_out.into_iter().unzip();
        if set.is_empty() {
            return Err(KeySetError::NoUsableKey(set.warnings.into()));
        }
        Ok(set)
    }

    /// Adds a key, unless the same one with the same `kid` is there: then that one gets the algorithms of both.
    fn add(&mut self, key: Key) -> bool {
        match self.keys.iter_mut().find(|other| other.kid == key.kid && other.text == key.text) {
            Some(same) => {
                same.unite(key);
                false
            }
            None => {
                self.keys.push(key);
                true
            }
        }
    }

    /// Whether a token that names the key can mean no other.
    fn can_be_chosen(&self, key: &Key) -> bool {
        let others = || self.keys.iter().filter(|other| other.kid == key.kid && other.text != key.text);
        key.kid.is_none() || key.uses.iter().any(|usage| others().all(|other| other.fit(usage.algorithm).is_none()))
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

    /// A key that was left out because it isn't public.
    pub(crate) fn unpublished(&self) -> Option<&KeyWarning> {
        self.warnings.iter().find(|warning| [SECRET, PRIVATE].contains(&warning.message))
    }

    /// Why the keys with this `kid` were left out.
    pub(crate) fn left_out<'k>(&'k self, kid: &'k str) -> impl Iterator<Item = &'k KeyWarning> {
        let named = self.left_out.iter().zip(&self.warnings);
        named.filter(move |(name, _)| name.as_deref() == Some(kid)).map(|(_, warning)| warning)
    }

    /// The algorithms of the keys with this `kid`; of all keys without one.
    pub(crate) fn algorithms(&self, kid: Option<&str>) -> Vec<Algorithm> {
        let named = self.keys.iter().filter(|key| kid.is_none() || key.kid.as_deref() == kid);
        let mut all: Vec<_> = named.flat_map(|key| &key.uses).map(|usage| usage.algorithm).collect();
        all.sort_by_key(|algorithm| Algorithm::ALL.iter().position(|other| other == algorithm));
        all.dedup();
        all
    }

    /// The keys that a token can name and that aren't revoked.
    fn usable(&self, revoked: Option<&Revoked>) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(move |key| self.can_be_chosen(key) && !self.is_revoked(key, revoked))
    }

    /// Whether the key is revoked, under this `kid` or another one: whoever has stolen it can write any.
    fn is_revoked(&self, key: &Key, revoked: Option<&Revoked>) -> bool {
        revoked.is_some_and(|revoked| {
            let is_named = |key: &Key| key.kid.as_ref().is_some_and(|kid| revoked.kids.contains(kid));
            revoked.keys.contains(&key.text) || self.keys.iter().any(|other| other.text == key.text && is_named(other))
        })
    }

    /// The only key that can have made the token's signature, for the token's algorithm.
    pub(crate) fn choose(
        &self,
        token: &Compact<'_>,
        allowed: &[Algorithm],
        revoked: Option<&Revoked>,
    ) -> Result<Chosen<'_>, TokenError> {
        let algorithm = token.header.algorithm;
        let algorithm = algorithm.filter(|algorithm| allowed.contains(algorithm)).ok_or(TokenError::Algorithm)?;
        let Some(kid) = &token.header.kid else {
            let mut fitting = self.keys.iter().filter(|key| !self.is_revoked(key, revoked));
            let mut fitting = fitting.by_ref().filter_map(|key| key.fit(algorithm));
            let chosen = fitting.next().ok_or(TokenError::KeyIdMissing)?;
            // One key can be listed with several names.
            let is_only = fitting.all(|other| other.text == chosen.text);
            return is_only.then_some(chosen).ok_or(TokenError::KeyIdMissing);
        };
        if revoked.is_some_and(|revoked| revoked.kids.contains(kid)) {
            return Err(TokenError::KeyRevoked);
        }
        let named = || self.keys.iter().filter(|key| key.kid.as_ref() == Some(kid));
        let mut fitting = named().filter(|key| key.fit(algorithm).is_some());
        match (fitting.next(), fitting.next()) {
            (Some(key), None) if self.is_revoked(key, revoked) => Err(TokenError::KeyRevoked),
            (Some(key), None) => key.fit(algorithm).ok_or(TokenError::KeyMismatch),
            (Some(_), Some(_)) => Err(TokenError::KeyAmbiguous),
            (None, _) if named().next().is_some() => Err(TokenError::KeyMismatch),
            (None, _) => Err(TokenError::KeyUnknown),
        }
    }
}

/// Why a key is left out, and its `kid`.
type LeftOut = (&'static str, Option<String>);

/// A key, together with a token's algorithm.
pub(crate) struct Chosen<'k> {
    pub(crate) text: &'k Arc<str>,
    pub(crate) usage: &'k Use,
}

impl Key {
    /// Adds the algorithms of the same key, listed again.
    fn unite(&mut self, same: Self) {
        let new = same.uses.into_iter().filter(|usage| self.fit(usage.algorithm).is_none());
        let new: Vec<_> = new.collect();
        self.uses.extend(new);
    }

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
#[derive(Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// The document is larger than 256 KiB.
    #[error("the key set has more than 262144 bytes")]
    TooLarge,
    /// The document isn't a JSON object with a list `keys`.
    #[error("the key set is not a JSON object with a list `keys`")]
    NotAKeySet,
    /// An object names a member twice.
    #[error("the key set names a member twice")]
    DuplicateMember,
    /// The document has more than 64 keys.
    #[error("the key set has more than 64 keys")]
    TooManyKeys,
    /// No key can check a signature. Lists the reason for each key.
    #[error(
        "the key set has no key that could check a signature{}",
        .0.iter().map(|warning| format!("; {warning}")).collect::<String>()
    )]
    NoUsableKey(Box<[KeyWarning]>),
}

orbgate_yaml::debug_as_display!(KeySetError);

/// The keys of all issuers at one moment, with which [`Verifier::verify`](crate::Verifier::verify)
/// checks signatures. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    by_issuer: HashMap<String, Arc<KeySet>>,
    revoked: HashMap<String, Revoked>,
}

/// The keys of an issuer that aren't used even if it publishes them.
#[derive(Clone, Default)]
pub(crate) struct Revoked {
    kids: HashSet<String>,
    /// The keys that had such a `kid` when it was revoked.
    keys: HashSet<Arc<str>>,
}

// Written by hand: a key can be a secret.
impl fmt::Debug for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revoked").field("kids", &self.kids).finish_non_exhaustive()
    }
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

    /// A copy that never uses the issuer's keys with this `kid`, even if a later key set contains them: neither under that
    /// `kid` nor, as far as the current set shows which keys they are, under another one. Call it if a private key was
    /// stolen. Tokens that name such a key are rejected with [`TokenError::KeyRevoked`].
    #[must_use]
    pub fn revoke(mut self, issuer: impl Into<String>, kid: impl Into<String>) -> Self {
        let (issuer, kid) = (issuer.into(), kid.into());
        let known = self.by_issuer.get(&issuer).map(|set| set.keys.as_slice()).unwrap_or_default();
        let named = known.iter().filter(|key| key.kid.as_ref() == Some(&kid));
        let revoked = self.revoked.entry(issuer).or_default();
        revoked.keys.extend(named.map(|key| Arc::clone(&key.text)));
        revoked.kids.insert(kid);
        self
    }

    pub(crate) fn revoked(&self, issuer: &str) -> Option<&Revoked> {
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
