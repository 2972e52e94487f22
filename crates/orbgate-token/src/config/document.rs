//! The configuration file as plain data: what both YAML readings must agree on. Nothing here is
//! validated beyond its shape.

use orbgate_yaml::Spanned;
use serde::Deserialize;

/// The issuers whose tokens count.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// Version of the format; always 1.
    pub(super) orbgate_token: u64,
    /// Required, as are the first three keys of an issuer: the rest is judged without them, so that every fault is said at once.
    pub(super) issuers: Option<Vec<IssuerDocument>>,
    pub(super) remember_signatures: Option<Spanned<u64>>,
}

/// One issuer; see `Issuer` for what each key means.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IssuerDocument {
    pub(super) issuer: Option<Spanned<String>>,
    pub(super) audience: Option<Spanned<String>>,
    pub(super) kind: Option<Spanned<KindDocument>>,
    pub(super) jwks_uri: Option<Spanned<String>>,
    pub(super) algorithms: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) extra_types: Option<Vec<Spanned<String>>>,
    pub(super) scopes: Option<Spanned<ScopesDocument>>,
    pub(super) client_claim: Option<Spanned<String>>,
    pub(super) require: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) skew_seconds: Option<Spanned<u64>>,
    pub(super) max_lifetime_seconds: Option<Spanned<u64>>,
    pub(super) allow_unverified_cnf: Option<Spanned<bool>>,
    pub(super) rsa_exponent_min: Option<Spanned<u64>>,
}

/// How to tell an organisation's token from a user's.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum KindDocument {
    Always(String),
    Claims(KindClaims),
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindClaims {
    pub(super) user: Option<Vec<TestDocument>>,
    pub(super) organisation: Option<Vec<TestDocument>>,
}

/// One test of a claim: `claim` and exactly one of the other keys.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestDocument {
    pub(super) claim: String,
    pub(super) equals: Option<String>,
    pub(super) one_of: Option<Vec<String>>,
    pub(super) present: Option<bool>,
    pub(super) equals_claim: Option<String>,
    pub(super) differs_from_claim: Option<String>,
}

/// Where a token has its scopes.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScopesDocument {
    pub(super) claim: Option<String>,
    pub(super) format: Option<FormatDocument>,
    pub(super) conflict: Option<ConflictDocument>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FormatDocument {
    #[default]
    String,
    Array,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ConflictDocument {
    #[default]
    Deny,
    Ignore,
}
