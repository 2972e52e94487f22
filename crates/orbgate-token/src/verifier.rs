//! The verifier: a pure function of token, keys and time.

use core::time::Duration;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::TokenKind;
#[cfg(feature = "aws-lc-rs")]
use sha2::{Digest as _, Sha256};

use crate::account::IssuerAccounts;
use crate::algorithm::Algorithm;
use crate::check;
use crate::claims::{Claims, Rest, Stated};
use crate::compact::Compact;
use crate::config::error::ConfigError;
use crate::derive::{self, Derived};
use crate::error::TokenError;
use crate::issuer::Issuer;
use crate::json::Member;
use crate::keys::{Chosen, Keys};
use crate::opaque::{SecretSource, is_jwt_shaped};
#[cfg(feature = "aws-lc-rs")]
use crate::proof::presented::Presented;
#[cfg(feature = "aws-lc-rs")]
use crate::proof::replays::Replays;
use crate::proof::rules::{ProofMethod, ProofRules};
use crate::proof::unproved::{Claimed, Unproved};
use crate::proof::url::PublicUrl;
#[cfg(feature = "aws-lc-rs")]
use crate::remembered::Remembered;
use crate::verified::{Fingerprint, VerifiedToken};

/// Verifies access tokens of the configured issuers.
///
/// It does no I/O and doesn't read a clock: keys and time are arguments. Immutable, `Send + Sync`.
#[derive(Clone, Debug)]
pub struct Verifier {
    issuers: Arc<[(Issuer, Arc<str>)]>,
    has_opaque: bool,
    has_proof: bool,
    /// Whether an issuer's tokens can be bound to the key of a DPoP proof.
    wants_dpop: bool,
    public_urls: Arc<[PublicUrl]>,
    takes_proofs: bool,
    /// Whether the program also passes on certificates.
    takes_certificates: bool,
    remember: usize,
    max_token_bytes: usize,
}

/// The longest token that is read, and the longest that a configuration can allow.
const TOKEN_BYTES: usize = 16_384;
pub(crate) const MOST_TOKEN_BYTES: usize = 65_536;

/// The maximum number of remembered signatures, about 80 MB.
pub(crate) const MOST_REMEMBERED: usize = 1_000_000;

impl Verifier {
    /// Makes a verifier for these issuers.
    ///
    /// # Errors
    ///
    /// Returns every error of the configuration.
    pub fn new(issuers: impl IntoIterator<Item = Issuer>) -> Result<Self, ConfigError> {
        let issuers: Vec<Issuer> = issuers.into_iter().collect();
        let diagnostics = check::diagnostics(&issuers);
        if !diagnostics.is_empty() {
            return Err(ConfigError::of_keys(&diagnostics));
        }
        Ok(Self::of(issuers))
    }

    /// Makes a verifier for issuers that were already checked.
    pub(crate) fn of(issuers: Vec<Issuer>) -> Self {
        let named = |issuer: Issuer| {
            let name = issuer.issuer.as_str().into();
            (issuer, name)
        };
        Self {
            has_opaque: issuers.iter().any(|issuer| issuer.opaque.is_some()),
            has_proof: issuers.iter().any(|issuer| issuer.proof.is_some()),
            wants_dpop: issuers.iter().any(Issuer::wants_dpop),
            issuers: issuers.into_iter().map(named).collect(),
            public_urls: Arc::default(),
            takes_proofs: false,
            takes_certificates: false,
            remember: 0,
            max_token_bytes: TOKEN_BYTES,
        }
    }

    /// Sets how many valid signatures a [`KeyCache`](crate::KeyCache) remembers, for up to a minute. Default: 0.
    /// Maximum: 1,000,000. A token that arrives again then costs a hash instead of a signature check.
    ///
    /// An entry records that *this key* signed *these bytes*, which never changes. The key is chosen and every other
    /// rule checked again for each request. So a token that expires, or whose key is revoked or removed, is rejected as
    /// usual. Each entry takes up to 80 bytes. If the program checks signatures itself, nothing is remembered.
    #[must_use]
    pub const fn remember_signatures(mut self, most: usize) -> Self {
        self.remember = if most < MOST_REMEMBERED { most } else { MOST_REMEMBERED };
        self
    }

    /// How many signatures a [`KeyCache`](crate::KeyCache) remembers at most.
    #[must_use]
    pub const fn remembered_signatures(&self) -> usize {
        self.remember
    }

    /// Sets the longest token that is read, of any form. Default: 16,384. Maximum: 65,536. A longer token is rejected as
    /// [`TokenError::TooLong`] unread. The server in front must accept headers of that size.
    #[must_use]
    pub const fn max_token_bytes(mut self, most: usize) -> Self {
        self.max_token_bytes = if most < MOST_TOKEN_BYTES { most } else { MOST_TOKEN_BYTES };
        self
    }

    /// The longest token that is read, in bytes.
    #[must_use]
    pub const fn longest_token(&self) -> usize {
        self.max_token_bytes
    }

    /// Sets the base URLs of the service, as its clients see them: DPoP proofs are compared with such a URL and the target of
    /// the request. Include the path that a proxy strips, without a final slash. Nothing that a client sends takes their place,
    /// so without them, no proof fits.
    ///
    /// # Errors
    ///
    /// Returns each that isn't an absolute URL, `https` or of this machine, without user, query, fragment and final slash.
    pub fn public_urls<U: AsRef<str>>(self, urls: impl IntoIterator<Item = U>) -> Result<Self, ConfigError> {
        let urls: Vec<_> = urls.into_iter().map(|url| check::public_url(url.as_ref())).collect();
        let (known, wrong): (Vec<_>, Vec<_>) = urls.into_iter().partition(Result::is_ok);
        if !wrong.is_empty() {
            return Err(ConfigError::of_secrets(wrong.into_iter().filter_map(Result::err).collect()));
        }
        Ok(self.with_public_urls(known.into_iter().flatten().collect()))
    }

    pub(crate) fn with_public_urls(mut self, urls: Vec<PublicUrl>) -> Self {
        self.public_urls = urls.into();
        self
    }

    /// States that the program passes on what each request [presents](Presented) for a token that is bound to a key. A
    /// [`KeyCache`](crate::KeyCache) for a program that doesn't can't be made if an issuer has rules for
    /// [proofs](Issuer::proof), because it would reject every bound token.
    #[must_use]
    pub const fn taking_proofs(mut self) -> Self {
        (self.takes_proofs, self.takes_certificates) = (true, true);
        self
    }

    /// The same for a program that sees no certificates of clients, such as one behind a proxy that ends TLS. No
    /// [`KeyCache`](crate::KeyCache) can be made if an issuer's tokens can be bound to one.
    #[must_use]
    pub const fn taking_dpop(mut self) -> Self {
        (self.takes_proofs, self.takes_certificates) = (true, false);
        self
    }

    /// The algorithms with which DPoP proofs can be signed, of all issuers, in the form of a challenge (RFC 9449 §7.1).
    #[must_use]
    pub fn dpop_algorithms(&self) -> String {
        let of = |algorithm: &Algorithm| {
            let mut issuers = self.issuers.iter().filter(|(issuer, _)| issuer.wants_dpop());
            issuers.any(|(issuer, _)| issuer.proof.as_ref().is_some_and(|rules| rules.algorithms.contains(algorithm)))
        };
        let names = Algorithm::ALL.into_iter().filter(of).map(Algorithm::as_str);
        names.collect::<Vec<_>>().join(" ")
    }

    /// Whether every token must be bound to the key of a DPoP proof (RFC 9728: `dpop_bound_access_tokens_required`).
    #[must_use]
    pub fn requires_dpop(&self) -> bool {
        let requires = |rules: &ProofRules| rules.is_required && rules.methods == [ProofMethod::Dpop];
        self.issuers.iter().all(|(issuer, _)| issuer.proof.as_ref().is_some_and(requires))
    }

    /// Whether a token can be bound to the client's certificate (RFC 9728: `tls_client_certificate_bound_access_tokens`).
    #[must_use]
    pub fn takes_certificates(&self) -> bool {
        let has = |rules: &ProofRules| rules.has(ProofMethod::Mtls);
        self.issuers.iter().any(|(issuer, _)| issuer.proof.as_ref().is_some_and(has))
    }

    /// The issuers of tokens that must be proved, if the program doesn't pass on proofs.
    pub(crate) fn unprovable(&self) -> impl Iterator<Item = &str> {
        let with_proof = self.issuers.iter().filter(|(issuer, _)| !self.takes_proofs && issuer.proof.is_some());
        with_proof.map(|(_, name)| &**name)
    }

    /// The issuers of tokens that can be bound to a certificate, if the program passes on only DPoP proofs.
    pub(crate) fn uncertified(&self) -> impl Iterator<Item = &str> {
        let has = |issuer: &Issuer| issuer.proof.as_ref().is_some_and(|rules| rules.has(ProofMethod::Mtls));
        let is_dpop_only = self.takes_proofs && !self.takes_certificates;
        let with_mtls = self.issuers.iter().filter(move |(issuer, _)| is_dpop_only && has(issuer));
        with_mtls.map(|(_, name)| &**name)
    }

    /// Whether an issuer has rules for proofs, and the program [takes them](Self::taking_proofs).
    pub(crate) const fn takes_proofs(&self) -> bool {
        self.takes_proofs && self.has_proof
    }

    /// Whether a token can come with the scheme `DPoP`.
    #[must_use]
    pub const fn takes_dpop(&self) -> bool {
        self.takes_proofs && self.wants_dpop
    }

    /// Whether no proof can fit, because there are no public URLs.
    pub(crate) fn lacks_urls(&self) -> bool {
        self.public_urls.is_empty() && self.wants_dpop
    }

    pub(crate) fn public_urls_known(&self) -> &[PublicUrl] {
        &self.public_urls
    }

    /// What a token of this issuer is compared with.
    pub(crate) fn claimed<'a>(&'a self, issuer: &'a Issuer, token: &'a [u8], now: Duration) -> Claimed<'a> {
        Claimed { issuer, urls: &self.public_urls, token, now }
    }

    /// The configured issuers, by their exact `iss`.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        self.issuers.iter().map(|(_, name)| &**name)
    }

    /// The audiences of each issuer, of which a token must have one.
    pub fn audiences(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.issuers.iter().map(|(issuer, name)| (&**name, &*issuer.audiences))
    }

    /// The scopes that the tokens of each issuer can earn, as [`Issuer::derive`] lists them.
    pub fn derived(&self) -> impl Iterator<Item = (&str, &[Derived])> {
        self.issuers.iter().map(|(issuer, name)| (&**name, &*issuer.derive))
    }

    /// Where the tokens of each issuer name the account whose orbs a call consumes.
    pub fn accounts(&self) -> impl Iterator<Item = IssuerAccounts<'_>> {
        self.issuers.iter().map(|(issuer, name)| {
            let kinds = [TokenKind::User, TokenKind::Organisation].into_iter().filter(|kind| issuer.kind.has(*kind));
            let claim = |kind| issuer.accounts.of(kind).map(|account| account.claim(&issuer.client_claim));
            IssuerAccounts::new(name, kinds.map(|kind| (kind, claim(kind))).collect())
        })
    }

    /// The issuers whose keys can never be fetched. Keys are only fetched over `https` or from this machine, and
    /// neither the issuer's name nor its `jwks_uri` is such an address.
    pub fn unfetchable(&self) -> impl Iterator<Item = &str> {
        let fetchable = |issuer: &Issuer| {
            if issuer.secret().is_some() {
                return true;
            }
            let url = issuer.jwks_uri.as_ref().unwrap_or(&issuer.issuer);
            check::url_error(url).is_none()
        };
        let issuers = self.issuers.iter();
        let without = issuers.filter(move |(issuer, _)| !fetchable(issuer));
        without.map(|(_, name)| &**name)
    }

    /// Verifies a token at this time with these keys.
    ///
    /// Pass the string after `Bearer` ([`bearer`](crate::bearer)). The cost is one signature check and a
    /// few allocations of the token's size.
    ///
    /// # Errors
    ///
    /// The first rule that the token breaks. [`TokenError::KeyUnknown`] might be resolved by
    /// fetching keys again.
    #[cfg(feature = "aws-lc-rs")]
    pub fn verify(&self, token: impl AsRef<[u8]>, keys: &Keys, now: SystemTime) -> Result<VerifiedToken, TokenError> {
        self.verify_presented(token, &Presented::default(), keys, &Replays::new(), now)
    }

    /// The same for a token that can be bound to a key of its holder, with what the request [presents](Presented) for it and
    /// the proofs that were used before. A DPoP proof costs a second signature check, and is recorded after every other rule
    /// is satisfied.
    ///
    /// # Errors
    ///
    /// The first rule that the token breaks, and then the first rule that its proof breaks.
    #[cfg(feature = "aws-lc-rs")]
    pub fn verify_presented(
        &self,
        token: impl AsRef<[u8]>,
        presented: &Presented<'_>,
        keys: &Keys,
        replays: &Replays,
        now: SystemTime,
    ) -> Result<VerifiedToken, TokenError> {
        let compact = self.parse(token.as_ref())?;
        let opened = self.open(&compact)?;
        let unproved = opened.judge(keys, now, None)?;
        let now = since_epoch(now)?;
        unproved.prove(presented, &self.claimed(opened.issuer, compact.token, now))?.finish(replays, now)
    }

    /// Verifies an opaque token, at this time, from the response of its issuer's introspection endpoint
    /// (RFC 7662).
    ///
    /// The caller must have sent the request to the issuer, and must make sure that the response comes
    /// from it. The response must contain `"active": true`, and its claims must satisfy the rules for a
    /// JWT: `iss`, `aud` and `exp` are required.
    /// A [`KeyCache`](crate::KeyCache) lets the program ask the endpoint, if the issuer is
    /// [opaque](crate::Issuer::opaque), and caches the responses.
    ///
    /// # Errors
    ///
    /// The first rule that the response breaks.
    pub fn verify_introspected(
        &self,
        token: impl AsRef<[u8]>,
        answer: impl AsRef<[u8]>,
        now: SystemTime,
    ) -> Result<VerifiedToken, TokenError> {
        let (issuer, name, stated) = self.answered(answer.as_ref(), None)?;
        let (token, now) = (token.as_ref(), since_epoch(now)?);
        let unproved = stated.judge(issuer, name, Fingerprint::of(token), now)?;
        unproved.alone(&self.claimed(issuer, token, now))
    }

    /// Reads the response for an active token: of this issuer, or of the issuer in the response.
    pub(crate) fn answered(
        &self,
        answer: &[u8],
        of: Option<usize>,
    ) -> Result<(&Issuer, &Arc<str>, Stated), TokenError> {
        let claims = Claims::parse(answer)?;
        if claims.0.get("active") != Some(&Member::Other(true.into())) {
            return Err(TokenError::Inactive);
        }
        let (index, issuer, name) = match of.and_then(|index| Some((index, self.named(index)?))) {
            // The endpoint is the issuer's, so it need not say whose (RFC 7662, section 2.2). If it does, it must be right.
            Some((index, (issuer, name))) if claims.0.get("iss").is_none() => (index, issuer, name),
            _ => self.issuer_of(&claims)?,
        };
        if of.is_some_and(|of| of != index) {
            return Err(TokenError::Issuer);
        }
        // A refresh token is active, too. If the answer has a type, it must be that of a plain access token.
        let typ = claims.0.get("token_type");
        let is = |name: &str| {
            let typ = typ.and_then(Member::text);
            typ.is_some_and(|typ| typ.eq_ignore_ascii_case(name))
        };
        let has_jkt = || match claims.0.get("cnf") {
            Some(Member::Other(members)) => members.get(ProofMethod::Dpop.member()).is_some(),
            _ => false,
        };
        match typ {
            // Its key is unknown without `cnf.jkt`, so nobody could prove it.
            Some(_) if is("dpop") && issuer.proof.is_some() && !has_jkt() => return Err(TokenError::Confirmation),
            Some(_) if is("dpop") && issuer.proof.is_none() && !issuer.allow_unverified_cnf => {
                return Err(TokenError::Bound);
            }
            Some(_) if !is("bearer") && !is("dpop") => return Err(TokenError::Type),
            _ => {}
        }
        let stated = claims.read(issuer);
        Ok((issuer, name, stated))
    }

    /// Whether a first fetch of an issuer uses TLS. Keys to which discovery leads with TLS aren't fetched without roots.
    #[cfg(feature = "fetch")]
    pub(crate) fn needs_roots(&self) -> bool {
        let url = |issuer: &Issuer| match &issuer.opaque {
            Some(opaque) => opaque.endpoint.starts_with("https://"),
            None => {
                let url = issuer.jwks_uri.as_ref().unwrap_or(&issuer.issuer);
                issuer.jwks_file.is_none() && url.starts_with("https://")
            }
        };
        self.issuers.iter().any(|(issuer, _)| url(issuer))
    }

    /// The issuer that is to be asked about a token that isn't a JWT: the one whose prefix is the longest of those that the token
    /// begins with.
    pub(crate) fn opaque_issuer(&self, token: &[u8]) -> Option<usize> {
        if !self.has_opaque || is_jwt_shaped(token) || token.len() > self.max_token_bytes {
            return None;
        }
        let of = |(index, (issuer, _)): (usize, &(Issuer, Arc<str>))| {
            let prefix = issuer.opaque.as_ref()?.prefix.as_deref().unwrap_or_default();
            token.starts_with(prefix.as_bytes()).then_some((prefix.len(), index))
        };
        let issuers = self.issuers.iter().enumerate();
        let (_, index) = issuers.filter_map(of).max()?;
        Some(index)
    }

    /// The locations of clients' secrets, and of files with keys, that haven't been read yet: see [`Verifier::with_secrets`].
    pub fn missing_secrets(&self) -> impl Iterator<Item = &SecretSource> {
        self.issuers.iter().filter_map(|(issuer, _)| match (&issuer.opaque, &issuer.jwks_file) {
            (Some(opaque), _) if opaque.authorization.is_none() => Some(&opaque.source),
            (None, Some(file)) if file.keys.is_none() => Some(&file.source),
            _ => None,
        })
    }

    /// The locations of all clients' secrets and of all files with keys, for a program that watches them for changes.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretSource> {
        self.issuers.iter().filter_map(|(issuer, _)| issuer.secret())
    }

    /// Whether any issuer's tokens are opaque, so that the program must ask about them.
    #[must_use]
    pub const fn has_opaque(&self) -> bool {
        self.has_opaque
    }

    /// Adds the secrets with which clients ask introspection endpoints, because a configuration never contains them, and the
    /// keys of issuers with a [`jwks_file`](crate::Issuer::jwks_file).
    /// [`SecretSource::read`] reads either from this system. Without all of them,
    /// [`KeyCache::new`](crate::KeyCache::new) fails.
    ///
    /// # Errors
    ///
    /// Returns the location of every secret and file that can't be read or used. No message quotes a secret.
    pub fn with_secrets(
        mut self,
        mut read: impl FnMut(&SecretSource) -> std::io::Result<Vec<u8>>,
    ) -> Result<Self, ConfigError> {
        if self.missing_secrets().next().is_none() {
            return Ok(self);
        }
        let mut issuers = self.issuers.to_vec();
        let mut diagnostics = Vec::new();
        for (issuer, _) in &mut issuers {
            let done = match (&mut issuer.opaque, &mut issuer.jwks_file) {
                (Some(opaque), _) => opaque.read_secret(&mut read),
                (None, Some(file)) if file.keys.is_none() => {
                    file.read(&issuer.key_rules, &mut read).map(|keys| file.keys = Some(keys))
                }
                _ => Ok(()),
            };
            diagnostics.extend(done.err());
        }
        if !diagnostics.is_empty() {
            return Err(ConfigError::of_secrets(diagnostics));
        }
        self.issuers = issuers.into();
        Ok(self)
    }

    /// Splits a token, unless it is too long.
    pub(crate) fn parse<'t>(&self, token: &'t [u8]) -> Result<Compact<'t>, TokenError> {
        if token.len() > self.max_token_bytes {
            return Err(TokenError::TooLong);
        }
        Compact::parse(token)
    }

    /// Reads a token, which needs no keys.
    pub(crate) fn open<'a>(&'a self, compact: &'a Compact<'a>) -> Result<Opened<'a>, TokenError> {
        // A JWS can have an empty payload; a token can't.
        if compact.payload.is_empty() {
            return Err(TokenError::NotCompact);
        }
        let claims = Claims::parse(&compact.payload)?;
        // The only claim that is used before the signature is checked. It selects the issuer's
        // keys.
        let (index, issuer, name) = self.issuer_of(&claims)?;
        // An endpoint that is asked about a token knows whether it is an access token.
        if issuer.opaque.is_none() {
            issuer.check_type(compact.header.typ.as_deref())?;
        }
        Ok(Opened { verifier: self, compact, claims, index, issuer, name })
    }

    /// The issuer in the claims, with its index.
    pub(crate) fn issuer_of(&self, claims: &Claims<'_>) -> Result<(usize, &Issuer, &Arc<str>), TokenError> {
        let name = claims.issuer()?;
        let mut issuers = self.issuers.iter().enumerate();
        let (index, (issuer, name)) = issuers.find(|(_, (_, known))| **known == *name).ok_or(TokenError::Issuer)?;
        Ok((index, issuer, name))
    }

    pub(crate) fn named(&self, index: usize) -> Option<(&Issuer, &Arc<str>)> {
        let (issuer, name) = self.issuers.get(index)?;
        Some((issuer, name))
    }
}

/// A parsed token: nothing in it can be trusted yet.
pub(crate) struct Opened<'a> {
    pub(crate) verifier: &'a Verifier,
    pub(crate) compact: &'a Compact<'a>,
    pub(crate) claims: Claims<'a>,
    /// The index of the issuer that the token names.
    pub(crate) index: usize,
    pub(crate) issuer: &'a Issuer,
    pub(crate) name: &'a Arc<str>,
}

impl Opened<'_> {
    /// Verifies the token at this time with these keys.
    #[cfg(feature = "aws-lc-rs")]
    pub(crate) fn judge(
        &self,
        keys: &Keys,
        now: SystemTime,
        remembered: Option<(&Remembered, Duration)>,
    ) -> Result<Unproved, TokenError> {
        let now = since_epoch(now)?;
        let key = self.key(keys)?;
        let compact = self.compact;
        // One hash covers the signed bytes and the token.
        let mut hash = Sha256::new_with_prefix(compact.signed);
        let of_signed = key.usage.algorithm.signs_sha256().then(|| hash.clone());
        hash.update(compact.token.get(compact.signed.len()..).unwrap_or_default());
        let is_right = || {
            let (material, signature) = (&key.usage.material, &compact.signature);
            match of_signed {
                Some(hash) => material.verify_hashed(&hash.finalize(), signature),
                None => material.verify(compact.signed, signature),
            }
        };
        let is_right = match remembered {
            // Equal keys have equal strings, and none starts with the rest of a token. The token's header contains
            // the algorithm.
            Some((remembered, now)) => {
                let hash = hash.clone().chain_update(key.text.as_bytes());
                remembered.knows_or(hash, now, is_right)
            }
            None => is_right(),
        };
        if !is_right {
            return Err(TokenError::Signature);
        }
        let fingerprint = Fingerprint::finish(hash);
        self.stated().judge(self.issuer, self.name, fingerprint, now)
    }

    pub(crate) fn stated(&self) -> Stated {
        self.claims.read(self.issuer)
    }

    /// The key that the signature must come from.
    pub(crate) fn key<'k>(&self, keys: &'k Keys) -> Result<Chosen<'k>, TokenError> {
        // Its tokens are asked about: no signature counts.
        if self.issuer.opaque.is_some() {
            return Err(TokenError::NoKeys);
        }
        let revoked = keys.revoked(self.name);
        let keys = keys.of(self.name).ok_or(TokenError::NoKeys)?;
        keys.choose(self.compact, &self.issuer.algorithms, revoked)
    }

    /// A hash of the token's `kid`, which names its key.
    pub(crate) fn kid(&self) -> Option<Fingerprint> {
        let kid = self.compact.header.kid.as_ref()?;
        Some(Fingerprint::of(kid.as_bytes()))
    }
}

pub(crate) fn since_epoch(now: SystemTime) -> Result<Duration, TokenError> {
    now.duration_since(UNIX_EPOCH).map_err(|_| TokenError::Clock)
}

impl Issuer {
    /// RFC 9068 §4: `at+jwt` in any letter case, with or without `application/`; or a configured
    /// value.
    fn check_type(&self, typ: Option<&str>) -> Result<(), TokenError> {
        let typ = typ.unwrap_or_default();
        let is_access_token = ["at+jwt", "application/at+jwt"].iter().any(|access| access.eq_ignore_ascii_case(typ));
        if is_access_token || self.extra_types.iter().any(|extra| extra == typ) {
            Ok(())
        } else {
            Err(TokenError::Type)
        }
    }
}

impl Stated {
    /// Checks all claims, once the signature is valid. Whether the sender is the token's holder remains to be checked.
    pub(crate) fn judge(
        self,
        issuer: &Issuer,
        name: &Arc<str>,
        fingerprint: Fingerprint,
        now: Duration,
    ) -> Result<Unproved, TokenError> {
        self.audience?;
        let expires = self.validity?.check(issuer, now)?;
        let Rest { kind, scopes, subject, client, actor, id, account, confirmation, required, earned } = self.rest?;
        if !required.has(now, issuer.skew) {
            return Err(TokenError::Claim);
        }
        let scopes = derive::with(scopes, earned.names(&issuer.derive, now, issuer.skew));
        let token = VerifiedToken {
            kind,
            scopes,
            issuer: Arc::clone(name),
            subject,
            client,
            actor,
            id,
            account,
            expires: UNIX_EPOCH.checked_add(expires).ok_or(TokenError::BadTime)?,
            fingerprint,
            derived: Arc::clone(&issuer.derive),
        };
        Ok(Unproved::new(token, confirmation))
    }
}
