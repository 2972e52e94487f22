//! The policy file as plain data: both ways of reading YAML must give the same document, and the
//! JSON Schema and the page's table of keys are generated from it. Only types are checked here.
//!
//! Comments on the fields become the descriptions that an editor shows.

use core::fmt;
use core::marker::PhantomData;

use orbgate_yaml::{Content, Entry, Node, Owner, Spanned, Values, Version, document, is_empty_value, is_null, quoted};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::grammar::MAX_ROUTES;
#[cfg(feature = "schema")]
use super::{
    grammar::{MAX_ALTERNATIVES, MAX_NAME, MAX_PERMITS, MAX_SCOPE},
    patterns::{BASE_PATH, NAME, ROUTE, SCOPE, SCOPES, TEMPLATE, TEXT, each_scope, pattern},
};

document! {
    /// A policy: which scope each route needs and whether a call consumes orbs.
    #[schema(
        title = "Orbgate policy",
        extend("if" = schemars::json_schema!({ "required": ["orbs"] })),
        extend("then" = each_scope(schemars::json_schema!({
            "not": { "required": ["orbs"] },
            "properties": { "routes": { "items": { "not": { "type": "object", "required": ["orbs"] } } } },
        }))),
        extend("else" = each_scope(schemars::json_schema!({
            "if": { "properties": { "routes": { "items": { "type": "object", "required": ["orbs"] } } } },
            "else": { "required": ["orbs"] },
        }))),
    )]
    pub(super) struct Document {
        /// Version of the policy format; always 1.
        #[schema(with = "u64", extend("const" = 1))]
        pub(super) orbgate: Version,
        /// A human-readable name of the policy: one line of at most 256 characters, like every name here.
        #[schema(default, with = "String", extend("pattern" = NAME, "maxLength" = MAX_NAME))]
        pub(super) name: Option<Spanned<String>>,
        /// Which spellings of a request target are accepted: `strict` (no percent-encoding in a path; the default) or
        /// `encoded_params` (percent-encoding is also accepted in parameter values).
        #[schema(default, with = "Target", extend("default" = "strict"))]
        pub(super) target: Option<Spanned<Target>>,
        /// Whether every accepted path ends in a slash (`always`), or none except `/` (`never`; the default). Write
        /// templates without it.
        #[schema(default, with = "TrailingSlash", extend("default" = "never"))]
        pub(super) trailing_slash: Option<Spanned<TrailingSlash>>,
        /// `none`: no call consumes orbs, as with `orbs: false` on every scope, so scopes and routes must not state `orbs`.
        #[schema(default, with = "NoOrbs")]
        pub(super) orbs: Option<Spanned<NoOrbs>>,
        /// Groups of scopes whose routes share a base path, each with a name; can be `{}`.
        #[schema(extend("propertyNames" = pattern(NAME, MAX_NAME)))]
        pub(super) apis: Entries<ApiDocument>,
        /// Scope groups without routes, each once.
        #[schema(default, with = "Vec<String>", inner(regex(pattern = NAME), length(max = MAX_NAME)), extend("uniqueItems" = true))]
        pub(super) headings by read_headings: Option<Vec<Spanned<String>>>,
    }

    /// A group of scopes whose routes share a base path.
    #[schema(
        rename = "Api",
        extend("dependentRequired" = schemars::json_schema!({ "token": ["organisation"], "organisation": ["token"] })),
        extend("anyOf" = [
            schemars::json_schema!({ "required": ["base_path"] }),
            schemars::json_schema!({ "properties": { "closed": { "maxItems": 0 }, "scopes": { "additionalProperties": {
                "properties": { "routes": { "maxItems": 0 } } } } } }),
        ])
    )]
    pub(super) struct ApiDocument {
        /// The literal path before every route, such as `/api/v1`, without a final `/`; can be `""`. Required if the api has a
        /// route or a closed template.
        #[schema(default, with = "String", extend("pattern" = BASE_PATH))]
        pub(super) base_path by read_base_path: Option<Spanned<String>>,
        /// `user`: the scopes of this api count only on a user's token.
        #[schema(default, with = "TokenDocument")]
        pub(super) token: Option<Spanned<TokenDocument>>,
        /// What an organisation's token gets in an api with `token: user`. Required there; there is no default.
        #[schema(default, with = "Organisation")]
        pub(super) organisation: Option<Spanned<Organisation>>,
        /// Path templates below the base path that declare no method: every call of one is denied with
        /// `method_not_declared`, even if a template with parameters also fits its path.
        #[schema(default, with = "Vec<String>", inner(regex(pattern = TEMPLATE)), extend("uniqueItems" = true))]
        pub(super) closed by read_closed: Option<Vec<Spanned<String>>>,
        /// The scopes by name (RFC 6749 §3.3): opaque, case-sensitive, no hierarchy. A scope of several apis is one scope:
        /// its settings must be equal in all of them.
        #[schema(extend("propertyNames" = pattern(SCOPE, MAX_SCOPE)))]
        pub(super) scopes: Entries<ScopeDocument>,
    }

    /// A scope: what it permits, whether a call consumes orbs, and which routes need it.
    #[schema(rename = "Scope")]
    pub(super) struct ScopeDocument {
        /// What the scope permits, in words for users: at most 1,024 characters.
        #[schema(default, with = "String", extend("pattern" = TEXT, "maxLength" = MAX_PERMITS))]
        pub(super) permits: Option<Spanned<String>>,
        /// The default of the scope's routes. `false`: a call consumes nothing. `true`: it consumes orbs, but the amount isn't
        /// stated, and the service that charges must supply it. A number, at most 9223372036854775807: it consumes this many.
        /// Required if a route has no `orbs`, unless the policy has `orbs: none`.
        #[schema(default, with = "OrbsDocument")]
        pub(super) orbs: Option<Spanned<OrbsDocument>>,
        /// A fact for audits: reports name every new holder of this scope. It changes no decision.
        #[schema(default, with = "bool", extend("default" = false))]
        pub(super) sensitive: Option<Spanned<bool>>,
        /// Alternatives: each is enough instead of what the scope's routes need otherwise. A scope, or several that are all
        /// needed, separated by one space. At most 127.
        #[schema(default, with = "Vec<String>", inner(regex(pattern = SCOPES)), length(min = 1, max = MAX_ALTERNATIVES - 1), extend("uniqueItems" = true))]
        pub(super) or by read_or: Option<Spanned<Vec<Spanned<String>>>>,
        /// Scopes that this scope's routes need as well as this one, separated by one space.
        #[schema(default, with = "String", extend("pattern" = SCOPES))]
        pub(super) and by read_and: Option<Spanned<String>>,
        /// The routes that this scope owns: a call needs it, or what `or` and `and` say; can be `[]`. In flow style, a route with braces must be
        /// quoted.
        #[schema(with = "Vec<RouteDocument>")]
        pub(super) routes: Routes,
    }

    /// A route with keys of its own.
    #[schema(rename = "RouteWithKeys")]
    pub(super) struct RouteWithKeys ("this route") {
        /// Method and path template below the base path.
        #[schema(with = "String", extend("pattern" = ROUTE))]
        pub(super) route: Spanned<String>,
        /// What a call of this route consumes, as on a scope, whatever its scope states.
        #[schema(default, with = "OrbsDocument")]
        pub(super) orbs: Option<Spanned<OrbsDocument>>,
        /// Alternatives of this route, as on a scope. A route that states `or` or `and` states all that it needs: the
        /// scope's `or` and `and` don't apply to it. `[]` for only the scope.
        #[schema(default, with = "Vec<String>", inner(regex(pattern = SCOPES)), length(max = MAX_ALTERNATIVES - 1), extend("uniqueItems" = true))]
        pub(super) or by read_or: Option<Spanned<Vec<Spanned<String>>>>,
        /// Scopes that this route needs as well as its own, separated by one space.
        #[schema(default, with = "String", extend("pattern" = SCOPES))]
        pub(super) and by read_and: Option<Spanned<String>>,
    }

    /// Which spellings of a request target are accepted.
    #[schema()]
    pub(super) enum Target {
        Strict: "strict",
        EncodedParams: "encoded_params",
    }

    /// Whether accepted paths end in a slash.
    #[schema()]
    pub(super) enum TrailingSlash {
        Never: "never",
        Always: "always",
    }

    /// No call of a policy consumes orbs.
    #[schema()]
    pub(super) enum NoOrbs ("the policy's `orbs`") {
        None: "none",
    }

    /// Which kind of token the scopes of an api apply to.
    #[schema(rename = "Token")]
    pub(super) enum TokenDocument {
        User: "user",
    }

    /// What an organisation's token gets in an api with `token: user`.
    #[schema()]
    pub(super) enum Organisation {
        Deny: "deny",
        AllowWithoutScope: "allow_without_scope",
    }
}

fn read_headings(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Option<Vec<Spanned<String>>> {
    let items = values.list(node, owner.what).iter();
    Some(items.map(|item| values.text(item, "a heading")).collect())
}

fn read_closed(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Option<Vec<Spanned<String>>> {
    let items = values.list(node, owner.what).iter();
    let within = items.take_while(|item| values.is_within("routes", MAX_ROUTES, item.location)).collect::<Vec<_>>();
    Some(within.into_iter().map(|item| values.text(item, "a closed template")).collect())
}

/// Whether a key has the value `true`. `false` is the same as no key.
pub(super) fn is_set(key: &Option<Spanned<bool>>) -> bool {
    key.as_ref().is_some_and(|key| key.value)
}

fn read_or(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Option<Spanned<Vec<Spanned<String>>>> {
    if let Content::Scalar(scalar) = &node.kind
        && !scalar.text.is_empty()
    {
        let tip = format!(": write {}", quoted(&format!("[{}]", scalar.text)));
        values.wrong_with_tip(node, "`or` must be a list", &tip);
    }
    let items = values.list(node, owner.what).iter();
    let text = |item: &Node<'_>| {
        // `- scope:` for `- scope`. In braces, the key is elsewhere.
        if let Content::Mapping(entries) = &item.kind
            && let [Entry { key, value, key_location }] = entries.as_slice()
            && is_empty_value(value)
            && *key_location == item.location
        {
            let tip = format!(": write {} without the `:` after it", quoted(&key.text));
            values.wrong_with_tip(item, "an alternative must be a string", &tip);
        }
        values.text(item, "an alternative")
    };
    Some(node.spanned(items.map(text).collect()))
}

/// Other keys are lists, so this one is often written as one.
fn read_and(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Option<Spanned<String>> {
    if let Content::Sequence(items) = &node.kind {
        let scopes: Vec<_> = items
            .iter()
            .filter_map(|item| match &item.kind {
                Content::Scalar(scalar) => Some(&*scalar.text),
                _ => None,
            })
            .collect();
        let tip = match scopes.is_empty() {
            true => String::new(),
            false => format!(": write {}", quoted(&format!("and: {}", scopes.join(" ")))),
        };
        values.wrong_with_tip(node, "`and` must be a string", &tip);
    }
    Some(values.text(node, owner.what))
}

fn read_base_path(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Option<Spanned<String>> {
    if is_null(node) {
        values.wrong(node, "`base_path` must be a string (`\"\"` for no base path)");
    }
    Some(values.text(node, owner.what))
}

/// The routes of a scope.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct Routes(pub(super) Vec<RouteDocument>);

impl Routes {
    /// Whether no route needs its scope's `orbs`.
    pub(super) fn all_state_orbs(&self) -> bool {
        self.0.iter().all(RouteDocument::states_orbs)
    }
}

/// Method and path template, such as `GET /voxies/{voxieId}`, or a mapping with keys of its own.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Route"))]
pub(super) enum RouteDocument {
    /// Method and path template below the base path.
    Plain(#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = ROUTE)))] Spanned<String>),
    /// A route with keys of its own.
    WithKeys(RouteWithKeys),
}

impl RouteDocument {
    pub(super) const fn states_orbs(&self) -> bool {
        matches!(self, Self::WithKeys(RouteWithKeys { orbs: Some(_), .. }))
    }
}

/// The orbs that a call consumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Orbs"))]
pub(super) enum OrbsDocument {
    /// Whether a call consumes orbs; `true` does not state how many.
    Consumes(bool),
    /// How many orbs a call consumes.
    Amount(#[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = i64::MAX)))] u64),
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
