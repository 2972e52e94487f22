//! The policy file as plain data: both ways of reading YAML must give the same document, and the
//! JSON Schema is generated from it. Only types are checked here.
//!
//! Comments on the fields become the descriptions that an editor shows.

use core::fmt;
use core::marker::PhantomData;

use orbgate_yaml::Spanned;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

#[cfg(feature = "schema")]
use super::grammar::{MAX_NAME, MAX_PERMITS, MAX_SCOPE};

/// A policy: which scope each route needs and whether a call consumes orbs.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(
        title = "Orbgate policy",
        extend("if" = schemars::json_schema!({ "required": ["orbs"] })),
        extend("then" = each_scope(schemars::json_schema!({
            "not": { "required": ["orbs"] },
            "properties": { "routes": { "items": { "not": { "type": "object", "required": ["orbs"] } } } },
        }))),
        extend("else" = each_scope(schemars::json_schema!({
            "if": { "properties": { "routes": { "minItems": 1 } } },
            "then": { "required": ["orbs"] },
        }))),
    )
)]
pub(super) struct Document {
    /// Version of the policy format; always 1.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)))]
    pub(super) orbgate: u64,
    /// A human-readable name of the policy.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = NAME, "maxLength" = MAX_NAME)))]
    pub(super) name: Option<Spanned<String>>,
    /// Which spellings of a request target are accepted: `strict` (no percent-encoding in a path; the default) or
    /// `encoded_params` (percent-encoding is also accepted in parameter values).
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Target", extend("default" = "strict")))]
    pub(super) target: Option<Spanned<Target>>,
    /// Whether every accepted path ends in a slash (`always`), or none except `/` (`never`; the default). Write
    /// templates without it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "TrailingSlash", extend("default" = "never")))]
    pub(super) trailing_slash: Option<Spanned<TrailingSlash>>,
    /// `none`: no call consumes orbs, so scopes and routes must not state `orbs`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "NoOrbs"))]
    pub(super) orbs: Option<Spanned<NoOrbs>>,
    /// Groups of scopes whose routes share a base path.
    #[cfg_attr(feature = "schema", schemars(extend("propertyNames" = pattern(NAME, MAX_NAME))))]
    pub(super) apis: Entries<ApiDocument>,
    /// Scope groups without routes.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<String>", inner(regex(pattern = NAME), length(max = MAX_NAME)), extend("uniqueItems" = true))
    )]
    pub(super) headings: Option<Vec<Spanned<String>>>,
}

/// A group of scopes whose routes share a base path.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(
        rename = "Api",
        extend("dependentRequired" = schemars::json_schema!({ "token": ["organisation"], "organisation": ["token"] })),
        extend("anyOf" = [
            schemars::json_schema!({ "required": ["base_path"] }),
            schemars::json_schema!({ "properties": { "scopes": { "additionalProperties": {
                "properties": { "routes": { "maxItems": 0 } } } } } }),
        ])
    )
)]
pub(super) struct ApiDocument {
    /// The literal path before every route, such as `/api/v1`; can be `""`. Required if the api has a
    /// route.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = BASE_PATH)))]
    pub(super) base_path: Option<Spanned<String>>,
    /// `user`: the scopes of this api count only on a user's token.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "TokenDocument"))]
    pub(super) token: Option<Spanned<TokenDocument>>,
    /// What an organisation's token gets in an api with `token: user`. Required there; there is no default.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Organisation"))]
    pub(super) organisation: Option<Spanned<Organisation>>,
    /// The scopes by name (RFC 6749 §3.3): opaque, case-sensitive, no hierarchy. A scope of several apis is one scope:
    /// its settings must be equal in all of them.
    #[cfg_attr(feature = "schema", schemars(extend("propertyNames" = pattern(SCOPE, MAX_SCOPE))))]
    pub(super) scopes: Entries<ScopeDocument>,
}

/// A scope: what it permits, whether a call consumes orbs, and which routes need it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(
        rename = "Scope",
        extend("anyOf" = [
            schemars::json_schema!({ "properties": { "orbs": { "not": { "const": false } } }, "required": ["orbs"] }),
            schemars::json_schema!({ "properties": { "routes": { "items": { "not": { "type": "object", "required": ["orbs"] } } } } }),
        ])
    )
)]
pub(super) struct ScopeDocument {
    /// What the scope permits, in words for users.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = TEXT, "maxLength" = MAX_PERMITS)))]
    pub(super) permits: Option<Spanned<String>>,
    /// `false`: a call consumes nothing. `true`: it consumes orbs, but the amount isn't stated, and the service that
    /// charges must supply it. A number: it consumes this many. Required if the scope has a route, unless the policy
    /// has `orbs: none`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "OrbsDocument"))]
    pub(super) orbs: Option<Spanned<OrbsDocument>>,
    /// The routes that need this scope; can be `[]`. In flow style, a route with braces must be
    /// quoted.
    pub(super) routes: Vec<RouteDocument>,
}

/// Method and path template, such as `GET /voxies/{voxieId}`, or a mapping with its own amount of
/// orbs.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Route")
)]
pub(super) enum RouteDocument {
    /// Method and path template below the base path.
    Plain(
        #[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = ROUTE)))]
        Spanned<String>,
    ),
    /// A route with its own amount of orbs.
    Priced(PricedRoute),
}

/// A route with its own amount of orbs.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "RouteWithOrbs")
)]
pub(super) struct PricedRoute {
    /// Method and path template below the base path.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = ROUTE)))]
    pub(super) route: Spanned<String>,
    /// How many orbs a call of this route consumes; only on a scope that consumes orbs.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "u64", extend("minimum" = 1, "maximum" = i64::MAX))
    )]
    pub(super) orbs: Option<Spanned<u64>>,
}

/// Which spellings of a request target are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum Target {
    #[default]
    Strict,
    EncodedParams,
}

/// Whether accepted paths end in a slash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum TrailingSlash {
    #[default]
    Never,
    Always,
}

/// No call of a policy consumes orbs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum NoOrbs {
    #[default]
    None,
}

/// Which kind of token the scopes of an api apply to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Token")
)]
pub(super) enum TokenDocument {
    #[default]
    User,
}

/// What an organisation's token gets in an api with `token: user`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum Organisation {
    #[default]
    Deny,
    AllowWithoutScope,
}

/// The orbs that a call consumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Orbs")
)]
pub(super) enum OrbsDocument {
    /// Whether a call consumes orbs; `true` does not state how many.
    Consumes(bool),
    /// How many orbs a call consumes.
    Amount(
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = i64::MAX)))] u64,
    ),
}

/// A mapping that keeps its order and its duplicates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entries<V>(pub(super) Vec<(Spanned<String>, V)>);

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<V> {
    type Value = Entries<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

#[cfg(feature = "schema")]
impl<V: schemars::JsonSchema> schemars::JsonSchema for Entries<V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Map of {}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<V>();
        schemars::json_schema!({ "type": "object", "additionalProperties": value })
    }
}

// The grammar of `grammar.rs`, as far as regular expressions can express it. A test compares the two.

#[cfg(feature = "schema")]
const NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]+$";
#[cfg(feature = "schema")]
const TEXT: &str = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]*$";
#[cfg(feature = "schema")]
const SCOPE: &str = r"^[!#-\[\]-~]+$";
#[cfg(feature = "schema")]
const BASE_PATH: &str = r"^(/(?!(\.+|\*+)(/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+)*$";
#[cfg(feature = "schema")]
const ROUTE: &str = r"^[A-Z]{1,16} (/|(/(\{[A-Za-z_][A-Za-z0-9_.-]*\}|(?!(\.+|\*+)(/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+))+)$";

/// A schema of the whole policy that applies to each of its scopes.
#[cfg(feature = "schema")]
fn each_scope(scope: schemars::Schema) -> schemars::Schema {
    schemars::json_schema!({ "properties": { "apis": { "additionalProperties": {
        "properties": { "scopes": { "additionalProperties": scope } },
    } } } })
}

#[cfg(feature = "schema")]
fn pattern(pattern: &str, most: usize) -> schemars::Schema {
    schemars::json_schema!({ "pattern": pattern, "maxLength": most })
}
