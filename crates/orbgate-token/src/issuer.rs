//! What an issuer's tokens must be.

use core::time::Duration;

use crate::algorithm::Algorithm;
use crate::jwk::KeyRules;
use crate::kind::{ClaimTest, KindRules};
use crate::scope::ScopeClaim;

/// One issuer, and what its tokens must be. [`Verifier::new`](crate::Verifier::new) checks it.
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
    pub(crate) client_claim: String,
    pub(crate) require: Vec<ClaimTest>,
    pub(crate) skew: Duration,
    pub(crate) max_lifetime: Option<Duration>,
    pub(crate) allow_unverified_cnf: bool,
    pub(crate) key_rules: KeyRules,
    pub(crate) jwks_uri: Option<String>,
}

impl Issuer {
    /// An issuer by the exact text of its tokens' `iss`, for an audience that must be in their `aud`,
    /// with its way to tell users from organisations.
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
            client_claim: "client_id".to_owned(),
            require: Vec::new(),
            skew: Duration::from_secs(60),
            max_lifetime: None,
            allow_unverified_cnf: false,
            key_rules: KeyRules::default(),
            jwks_uri: None,
        }
    }

    /// More audiences: one of all of them must be in the tokens' `aud`.
    #[must_use]
    pub fn or_audiences<A: Into<String>>(mut self, audiences: impl IntoIterator<Item = A>) -> Self {
        self.audiences.extend(audiences.into_iter().map(Into::into));
        self
    }

    /// The claim that has the audience; `aud` unless said. Amazon Cognito's access tokens have no `aud`, and name the application in
    /// `client_id`.
    #[must_use]
    pub fn audience_claim(mut self, claim: impl Into<String>) -> Self {
        self.audience_claim = claim.into();
        self
    }

    /// The algorithms that its tokens may be signed with; RS256 alone unless said (RFC 9068 §2.1).
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Values of the header's `typ` that are accepted as well as `at+jwt`, exactly as written; `""` is a
    /// token without one. With `JWT`, an ID token for this audience passes for an access token.
    #[must_use]
    pub fn extra_types<T: Into<String>>(mut self, types: impl IntoIterator<Item = T>) -> Self {
        self.extra_types = types.into_iter().map(Into::into).collect();
        self
    }

    /// Where its tokens have their scopes; `scope` as text unless said.
    #[must_use]
    pub fn scopes(mut self, scopes: ScopeClaim) -> Self {
        self.scopes = scopes;
        self
    }

    /// The claim with the client's name, for the audit; `client_id` unless said.
    #[must_use]
    pub fn client_claim(mut self, claim: impl Into<String>) -> Self {
        self.client_claim = claim.into();
        self
    }

    /// Claims that must be there, as `iss`, `aud` and `exp` must.
    #[must_use]
    pub fn require<T: Into<String>>(self, claims: impl IntoIterator<Item = T>) -> Self {
        self.require_tests(claims.into_iter().map(ClaimTest::present))
    }

    /// Tests that all hold for its tokens, as well as those of [`require`](Self::require): Amazon Cognito says with
    /// `token_use` that a token is an access token.
    #[must_use]
    pub fn require_tests(mut self, tests: impl IntoIterator<Item = ClaimTest>) -> Self {
        self.require.extend(tests);
        self
    }

    /// How far its clock and ours may be apart: 60 s unless said, 300 s at most.
    #[must_use]
    pub const fn skew(mut self, skew: Duration) -> Self {
        self.skew = skew;
        self
    }

    /// The longest time from `iat` to `exp`; a token without `iat` is then refused. No limit unless said.
    #[must_use]
    pub const fn max_lifetime(mut self, lifetime: Duration) -> Self {
        self.max_lifetime = Some(lifetime);
        self
    }

    /// Takes tokens that are bound to a key of their holder (`cnf`) without asking for a proof of it.
    /// A thief of such a token can then use it.
    #[must_use]
    pub const fn allow_unverified_cnf(mut self) -> Self {
        self.allow_unverified_cnf = true;
        self
    }

    /// What its keys must be; see [`KeyRules`].
    #[must_use]
    pub const fn key_rules(mut self, rules: KeyRules) -> Self {
        self.key_rules = rules;
        self
    }

    /// The same for one tenant, whose name replaces the place.
    pub(crate) fn of_tenant(&self, place: &str, tenant: &str) -> Self {
        let of = |text: &String| text.replace(place, tenant);
        Self {
            issuer: of(&self.issuer),
            jwks_uri: self.jwks_uri.as_ref().map(of),
            ..self.clone()
        }
    }

    /// Where its keys are, for a fetcher; found by OIDC discovery unless said.
    #[must_use]
    pub fn jwks_uri(mut self, url: impl Into<String>) -> Self {
        self.jwks_uri = Some(url.into());
        self
    }
}
