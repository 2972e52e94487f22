//! The rules for an issuer's tokens.

use core::time::Duration;
use std::sync::Arc;

use orbgate::TokenKind;

use crate::account::{AccountClaim, AccountClaims};
use crate::algorithm::Algorithm;
use crate::claim_test::ClaimTest;
use crate::derive::Derived;
use crate::jwk::KeyRules;
use crate::key_file::JwksFile;
use crate::kind::KindRules;
use crate::opaque::{Opaque, SecretSource};
use crate::proof::rules::{ProofMethod, ProofRules};
use crate::scope::{ScopeClaim, ScopesOf};

/// An issuer, and the rules for its tokens. [`Verifier::new`](crate::Verifier::new) checks it.
///
/// ```
/// use orbgate_token::{Algorithm, Issuer, KindRules};
///
/// let kind = KindRules::named_by("token_kind", "user", "organisation");
/// let issuer = Issuer::new("https://id.example.com", "https://api.example.com", kind)
///     .algorithms([Algorithm::Rs256, Algorithm::Es256]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    pub(crate) issuer: String,
    pub(crate) audiences: Vec<String>,
    pub(crate) audience_claim: String,
    pub(crate) kind: KindRules,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) extra_types: Vec<String>,
    pub(crate) scopes: ScopeClaim,
    pub(crate) organisation_scopes: Option<ScopeClaim>,
    pub(crate) client_claim: String,
    pub(crate) accounts: AccountClaims,
    pub(crate) require: Vec<ClaimTest>,
    pub(crate) derive: Arc<[Derived]>,
    pub(crate) skew: Duration,
    pub(crate) max_lifetime: Option<Duration>,
    pub(crate) allow_unverified_cnf: bool,
    pub(crate) proof: Option<ProofRules>,
    pub(crate) key_rules: KeyRules,
    pub(crate) jwks_uri: Option<String>,
    pub(crate) jwks_file: Option<JwksFile>,
    pub(crate) opaque: Option<Opaque>,
}

impl Issuer {
    /// An issuer with the exact `iss` of its tokens, an audience that must be in their `aud`, and a
    /// rule that distinguishes users from organisations.
    #[must_use]
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>, kind: KindRules) -> Self {
        Self {
            issuer: issuer.into(),
            audiences: vec![audience.into()],
            audience_claim: "aud".to_owned(),
            kind,
            algorithms: vec![Algorithm::Rs256],
            extra_types: Vec::new(),
            scopes: ScopeClaim::default(),
            organisation_scopes: None,
            client_claim: "client_id".to_owned(),
            accounts: AccountClaims::default(),
            require: Vec::new(),
            derive: Arc::default(),
            skew: Duration::from_secs(60),
            max_lifetime: None,
            allow_unverified_cnf: false,
            proof: None,
            key_rules: KeyRules::default(),
            jwks_uri: None,
            jwks_file: None,
            opaque: None,
        }
    }

    /// The scope claim of a token of this kind. Only an organisation's token has another one than a user's, so a token
    /// whose kind isn't known never has its scopes.
    pub(crate) fn scopes_of(&self, kind: TokenKind) -> ScopesOf<'_> {
        match &self.organisation_scopes {
            Some(claim) if kind == TokenKind::Organisation => ScopesOf { claim, other: Some(&self.scopes.claim) },
            _ => ScopesOf { claim: &self.scopes, other: None },
        }
    }

    /// Adds audiences. One of all the audiences must be in a token's `aud`.
    #[must_use]
    pub fn or_audiences<A: Into<String>>(mut self, audiences: impl IntoIterator<Item = A>) -> Self {
        self.audiences.extend(audiences.into_iter().map(Into::into));
        self
    }

    /// The claim that contains the audience. Default: `aud`. For example, access tokens from Amazon Cognito have no
    /// `aud`, and name the application in `client_id`.
    #[must_use]
    pub fn audience_claim(mut self, claim: impl Into<String>) -> Self {
        self.audience_claim = claim.into();
        self
    }

    /// The algorithms that its tokens can be signed with. Default: only RS256 (RFC 9068 §2.1).
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Values of the header's `typ` that are accepted in addition to `at+jwt`, exactly as written. `""`
    /// means a token without `typ`. With `JWT`, an ID token for this audience is accepted as an access
    /// token.
    #[must_use]
    pub fn extra_types<T: Into<String>>(mut self, types: impl IntoIterator<Item = T>) -> Self {
        self.extra_types = types.into_iter().map(Into::into).collect();
        self
    }

    /// The claim that contains a token's scopes. Default: `scope`, as a string.
    #[must_use]
    pub fn scopes(mut self, scopes: ScopeClaim) -> Self {
        self.scopes = scopes;
        self
    }

    /// The claim that contains the scopes of an organisation's token, if it isn't the claim of a user's token. For example,
    /// Entra ID writes a user's scopes into `scp`, and an application's into the list `roles`.
    ///
    /// A user's token never uses this claim. An organisation's token never uses the other one; by default, it is rejected if
    /// it has both.
    #[must_use]
    pub fn organisation_scopes(mut self, scopes: ScopeClaim) -> Self {
        self.organisation_scopes = Some(scopes);
        self
    }

    /// The claim that contains the client's name, for audits. Default: `client_id`.
    #[must_use]
    pub fn client_claim(mut self, claim: impl Into<String>) -> Self {
        self.client_claim = claim.into();
        self
    }

    /// Whose orbs a call with a token of this kind consumes. Without it, a gate with a ledger denies calls that consume
    /// orbs.
    ///
    /// Accounts of both kinds share one space of names: if users and organisations can have the same value, such as a
    /// user who chooses `sub`, take claims that can't be equal.
    #[must_use]
    pub fn account(mut self, kind: TokenKind, account: AccountClaim) -> Self {
        match kind {
            TokenKind::User => self.accounts.user = Some(account),
            TokenKind::Organisation => self.accounts.organisation = Some(account),
            // Its calls are denied.
            TokenKind::Unknown => {}
        }
        self
    }

    /// Claims that are required in addition to `iss`, `aud` and `exp`.
    #[must_use]
    pub fn require<T: Into<String>>(self, claims: impl IntoIterator<Item = T>) -> Self {
        self.require_tests(claims.into_iter().map(ClaimTest::present))
    }

    /// Tests that a token must pass in addition to [`require`](Self::require). For example, Amazon Cognito marks an
    /// access token with the claim `token_use`.
    #[must_use]
    pub fn require_tests(mut self, tests: impl IntoIterator<Item = ClaimTest>) -> Self {
        self.require.extend(tests);
        self
    }

    /// Adds scopes that tokens earn: a token has each one if its claims pass the tests. Their names begin with `earned:`, and a
    /// token never has such a name because its issuer wrote it into the token's scopes. At most 64.
    ///
    /// ```
    /// use orbgate_token::{ClaimPath, ClaimTest, Derived, Issuer, KindRules};
    ///
    /// let kind = KindRules::named_by("token_kind", "user", "organisation");
    /// let roles = ClaimPath::nested(["realm_access", "roles"]);
    /// let issuer = Issuer::new("https://id.example.com", "https://api.example.com", kind).derive([
    ///     Derived::always("earned:any-token"),
    ///     Derived::new("earned:admin", [ClaimTest::contains(roles, "admin")]),
    ///     Derived::new("earned:recent", [ClaimTest::within_seconds("auth_time", 300)]),
    /// ]);
    /// ```
    #[must_use]
    pub fn derive(mut self, scopes: impl IntoIterator<Item = Derived>) -> Self {
        self.derive = self.derive.iter().cloned().chain(scopes).collect();
        self
    }

    /// The allowed difference between the issuer's clock and ours. Default: 60 s. Maximum: 300 s.
    #[must_use]
    pub const fn skew(mut self, skew: Duration) -> Self {
        self.skew = skew;
        self
    }

    /// The longest time from `iat` to `exp`. If set, a token without `iat` is rejected. Default: no
    /// limit.
    #[must_use]
    pub const fn max_lifetime(mut self, lifetime: Duration) -> Self {
        self.max_lifetime = Some(lifetime);
        self
    }

    /// Accepts tokens that are bound to a key of their holder (`cnf`), without a proof of possession.
    /// Anyone who steals such a token can then use it.
    #[must_use]
    pub const fn allow_unverified_cnf(mut self) -> Self {
        self.allow_unverified_cnf = true;
        self
    }

    /// Accepts tokens that are bound to a key of their holder (`cnf`), if a request proves that it is from the holder. Each
    /// member of `cnf` must be proved. Without these rules, bound tokens are rejected.
    #[must_use]
    pub fn proof(mut self, rules: ProofRules) -> Self {
        self.proof = Some(rules);
        self
    }

    /// The rules for its keys; see [`KeyRules`].
    #[must_use]
    pub const fn key_rules(mut self, rules: KeyRules) -> Self {
        self.key_rules = rules;
        self
    }

    /// Whether its tokens can be bound to the key of a DPoP proof.
    pub(crate) fn wants_dpop(&self) -> bool {
        self.proof.as_ref().is_some_and(|rules| rules.has(ProofMethod::Dpop))
    }

    /// Where its client's secret, or its keys, must be read from.
    pub(crate) fn secret(&self) -> Option<&SecretSource> {
        let opaque = self.opaque.as_ref().map(|opaque| &opaque.source);
        opaque.or_else(|| self.jwks_file.as_ref().map(|file| &file.source))
    }

    /// The same issuer for one tenant, whose name replaces the placeholder.
    pub(crate) fn of_tenant(&self, place: &str, tenant: &str) -> Self {
        let of = |text: &String| text.replace(place, tenant);
        Self {
            issuer: of(&self.issuer),
            jwks_uri: self.jwks_uri.as_ref().map(of),
            jwks_file: self.jwks_file.as_ref().map(|file| JwksFile::new(of(&file.path))),
            opaque: self.opaque.clone().map(|opaque| Opaque {
                endpoint: of(&opaque.endpoint),
                prefix: opaque.prefix.as_ref().map(of),
                ..opaque
            }),
            ..self.clone()
        }
    }

    /// The URL of its keys, for a fetcher. Default: found by OIDC discovery.
    #[must_use]
    pub fn jwks_uri(mut self, url: impl Into<String>) -> Self {
        self.jwks_uri = Some(url.into());
        self
    }

    /// A file with its public keys as a JWK set, by its absolute path, instead of a URL. It is read when
    /// [`Verifier::with_secrets`](crate::Verifier::with_secrets) and
    /// [`KeyCache::read_secrets`](crate::KeyCache::read_secrets) are called, and never fetched: the keys don't expire, and
    /// an unknown `kid` causes no request. A private key or a secret in the file is an error.
    #[must_use]
    pub fn jwks_file(mut self, path: impl Into<String>) -> Self {
        self.jwks_file = Some(JwksFile::new(path.into()));
        self
    }

    /// Asks its introspection endpoint about each token (RFC 7662) instead of checking a signature. It gets the tokens that aren't a
    /// JWT, and the JWTs whose `iss` is its name.
    #[must_use]
    pub fn opaque(mut self, opaque: Opaque) -> Self {
        self.opaque = Some(opaque);
        self
    }
}
