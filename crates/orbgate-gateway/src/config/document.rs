//! The configuration as plain data: what both YAML readings must agree on. Nothing here is validated beyond its shape.

use orbgate_yaml::Spanned;
use serde::Deserialize;

use crate::mode::Mode;

/// The whole file.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// Version of the format; always 1.
    pub(super) orbgate_gateway: u64,
    pub(super) policy: Option<Spanned<String>>,
    pub(super) require_seal: Option<Spanned<bool>>,
    pub(super) refuse_wider: Option<Spanned<bool>>,
    /// Required, as is what is next: the rest is judged without them, so that every fault is said at once.
    pub(super) tokens: Option<Spanned<String>>,
    pub(super) listeners: Option<Spanned<Vec<ListenerDocument>>>,
    pub(super) admin: Option<Spanned<String>>,
    pub(super) audit: Option<Spanned<String>>,
    pub(super) state: Option<Spanned<String>>,
    pub(super) headers: Option<Spanned<String>>,
    pub(super) challenge: Option<Spanned<ChallengeDocument>>,
    pub(super) realm: Option<Spanned<String>>,
    pub(super) resource_metadata: Option<Spanned<String>>,
    pub(super) flat_403: Option<Spanned<bool>>,
    pub(super) authzen: Option<AuthzenDocument>,
    pub(super) limits: Option<LimitsDocument>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListenerDocument {
    /// Required, as `listen` is.
    pub(super) mode: Option<Spanned<Mode>>,
    pub(super) listen: Option<Spanned<String>>,
    pub(super) trusted_proxies: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) tls: Option<TlsDocument>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsDocument {
    pub(super) certificate: Spanned<String>,
    pub(super) key: Spanned<String>,
    pub(super) client_ca: Option<Spanned<String>>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuthzenDocument {
    pub(super) url: Option<Spanned<String>>,
    pub(super) caller_scope: Option<Spanned<String>>,
    pub(super) subjects: Option<Vec<SubjectDocument>>,
    pub(super) actions: Option<Vec<ActionDocument>>,
    pub(super) resources: Option<Vec<ResourceDocument>>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SubjectDocument {
    #[serde(rename = "type")]
    pub(super) kind: Spanned<String>,
    pub(super) id: Spanned<String>,
    pub(super) token_kind: Spanned<KindDocument>,
    pub(super) scopes: Spanned<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindDocument {
    #[default]
    User,
    Organisation,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionDocument {
    pub(super) name: Spanned<String>,
    pub(super) method: Spanned<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceDocument {
    #[serde(rename = "type")]
    pub(super) kind: Spanned<String>,
    pub(super) path: Spanned<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChallengeDocument {
    #[default]
    Minimal,
    Full,
    None,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsDocument {
    pub(super) connections: Option<Spanned<u64>>,
    pub(super) questions: Option<Spanned<u64>>,
    pub(super) header_bytes: Option<Spanned<u64>>,
    pub(super) idle_seconds: Option<Spanned<u64>>,
    pub(super) drain_seconds: Option<Spanned<u64>>,
}
