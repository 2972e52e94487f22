//! Exports a policy as an OpenAPI document without losing information.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use orbgate::policy::{Api, RouteRule, ScopeRule};
use orbgate::{Orbs, Policy, without_earned};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::node::{FULL_SECURITY, METHODS};
use crate::template::{full_path, shape};
use crate::words::scalar;
use orbgate_analysis::shown::json;

/// Writes a policy as an OpenAPI 3.1 document. Each api becomes a security scheme, and each route an
/// operation.
///
/// A route that any of several scopes allows has several security requirements, and a closed template is a path without
/// operations.
///
/// Extensions contain the information that OpenAPI can't express: `x-orbs` (the orbs that a call consumes) in each
/// operation, `x-orbs-security` (its security requirements with scopes that [must be earned](orbgate::is_earned)), `x-orbs-api` in each scheme, and `x-orbs-policy` at the root. [`import`](crate::import) reads them, and
/// returns a policy with the same digest.
#[must_use]
pub fn export(policy: &Policy) -> Document {
    let names = scheme_names(policy);
    let mut paths = Paths::default();
    for (api, scheme) in policy.apis().iter().zip(&names) {
        for scope in api.scopes() {
            for route in scope.routes() {
                paths.add(full_path(policy, api, route.template()), scheme, scope, route);
            }
        }
        // A closed template is a path without operations.
        for closed in api.closed() {
            let item = paths.item(&full_path(policy, api, closed.template()));
            if let Some(item) = item.filter(|_| policy.apis().len() > 1) {
                item.closed_of = Some(api.name().to_owned());
            }
        }
    }
    let schemes = policy.apis().iter().zip(&names);
    let schemes = schemes.map(|(api, scheme)| (scheme.clone(), scheme_of(api)));
    let components = map([("securitySchemes", Value::Map(schemes.collect()))]);
    Document(map([
        ("openapi", text("3.1.0")),
        (
            "info",
            map([
                ("title", text(policy.name().unwrap_or("untitled"))),
                ("version", Value::Text(policy.digest().to_string())),
            ]),
        ),
        ("x-orbs-policy", facts(policy)),
        ("paths", paths.value()),
        ("components", components),
    ]))
}

/// A document that [`export`] wrote.
#[derive(Clone, Debug)]
pub struct Document(Value);

impl Document {
    /// The document in YAML.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        self.0.write(&mut out, 0);
        out
    }

    /// The document in JSON, on several lines, without a line feed at its end.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(&serde_json::to_string_pretty(&self.0).unwrap_or_default()).into_owned()
    }
}

/// A value in a document. Mappings keep the order of their keys.
#[derive(Clone, Debug)]
enum Value {
    Text(String),
    Number(u64),
    Bool(bool),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Bool(bool) => serializer.serialize_bool(*bool),
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// YAML doesn't accept a longer string as a simple key.
const LONG_KEY: usize = 1_000;

impl Value {
    /// Writes lines of YAML. Our own code, because no library quotes every key that some reader wouldn't read as a
    /// string, such as `<<`.
    fn write(&self, out: &mut String, indent: usize) {
        let deeper = indent.saturating_add(2);
        match self {
            Self::List(items) => {
                for item in items {
                    out.push_str(&format!("{:indent$}- ", ""));
                    let mut text = String::new();
                    item.write_behind(&mut text, deeper);
                    // The first key of an item follows its `-`.
                    out.push_str(text.trim_start());
                }
            }
            Self::Map(entries) => {
                for (key, value) in entries {
                    let key = scalar(key);
                    let line = match key.len() {
                        // A longer key needs a `?` before it.
                        LONG_KEY.. => format!("{:indent$}? {key}\n{:indent$}:", "", ""),
                        _ => format!("{:indent$}{key}:", ""),
                    };
                    out.push_str(&line);
                    value.write_behind(out, deeper);
                }
            }
            _ => self.write_behind(out, indent),
        }
    }

    /// Writes a value after its key.
    fn write_behind(&self, out: &mut String, indent: usize) {
        let line = match self {
            Self::List(items) if items.is_empty() => "[]".to_owned(),
            Self::Map(entries) if entries.is_empty() => "{}".to_owned(),
            Self::List(_) | Self::Map(_) => {
                out.push('\n');
                return self.write(out, indent);
            }
            Self::Text(text) => scalar(text),
            Self::Number(number) => number.to_string(),
            Self::Bool(bool) => bool.to_string(),
        };
        out.extend([" ", &line, "\n"]);
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter();
    Value::Map(entries.map(|(key, value)| (key.to_owned(), value)).collect())
}

const fn orbs(orbs: Orbs) -> Value {
    match orbs {
        Orbs::Free => Value::Bool(false),
        Orbs::Unstated => Value::Bool(true),
        Orbs::Amount(amount) => Value::Number(amount),
    }
}

/// The name of each api's scheme, in characters that OpenAPI allows.
fn scheme_names(policy: &Policy) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut name = |api: &Api| {
        let letter = |c: char| match c {
            c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
            _ => '_',
        };
        let plain: String = api.name().chars().map(letter).collect();
        let mut name = plain.clone();
        let mut number = 1_usize;
        while !taken.insert(name.clone()) {
            number = number.saturating_add(1);
            name = format!("{plain}-{number}");
        }
        name
    };
    policy.apis().iter().map(&mut name).collect()
}

/// The policy's settings other than its apis.
fn facts(policy: &Policy) -> Value {
    let mut facts = vec![("orbgate".to_owned(), Value::Number(1))];
    let mut add = |key: &str, value| facts.push((key.to_owned(), value));
    if let Some(name) = policy.name() {
        add("name", text(name));
    }
    add("target", text(policy.target().as_str()));
    if policy.trailing_slash() {
        add("trailing_slash", text("always"));
    }
    if !policy.headings().is_empty() {
        let headings = policy.headings().iter().map(|heading| text(heading));
        add("headings", Value::List(headings.collect()));
    }
    Value::Map(facts)
}

/// The scheme of an api. A policy doesn't state where tokens come from.
fn scheme_of(api: &Api) -> Value {
    let mut facts = vec![("name".to_owned(), text(api.name()))];
    let mut add = |key: &str, value| facts.push((key.to_owned(), value));
    if let Some(base_path) = api.base_path() {
        add("base_path", text(base_path));
    }
    if let Some(rule) = api.organisation() {
        add("token", text("user"));
        add("organisation", text(rule.as_str()));
    }
    let scope = |scope: &ScopeRule| {
        let permits = scope.permits().map(|permits| ("permits".to_owned(), text(permits)));
        let charge = scope.orbs().map(|charge| ("orbs".to_owned(), orbs(charge)));
        let sensitive = scope.is_sensitive().then(|| ("sensitive".to_owned(), Value::Bool(true)));
        let facts = permits.into_iter().chain(charge).chain(sensitive).collect();
        (scope.name().to_owned(), Value::Map(facts))
    };
    add("scopes", Value::Map(api.scopes().iter().map(scope).collect()));
    map([("type", text("oauth2")), ("flows", map([])), ("x-orbs-api", Value::Map(facts))])
}

/// Operations by path. Paths of the same shape are merged, because OpenAPI rejects duplicates.
#[derive(Default)]
struct Paths {
    locations: HashMap<String, usize>,
    items: Vec<Item>,
}

struct Item {
    path: String,
    operations: Vec<(String, Value)>,
    /// Operations whose method has no key in OpenAPI.
    others: Vec<(String, Value)>,
    /// The api that it is a closed template of, if there are several.
    closed_of: Option<String>,
}

impl Paths {
    /// The item of a path.
    fn item(&mut self, path: &str) -> Option<&mut Item> {
        let location = *self.locations.entry(shape(path)).or_insert_with(|| {
            self.items.push(Item {
                path: path.to_owned(),
                operations: Vec::new(),
                others: Vec::new(),
                closed_of: None,
            });
            self.items.len().saturating_sub(1)
        });
        self.items.get_mut(location)
    }

    fn add(&mut self, path: String, scheme: &str, scope: &ScopeRule, route: &RouteRule) {
        let Some(item) = self.item(&path) else {
            return;
        };
        let full: Vec<&str> = match route.requirement() {
            Some(requirement) => requirement.alternatives().collect(),
            None => vec![scope.name()],
        };
        // No client requests a scope that must be earned.
        let mut ordinary: Vec<Cow<'_, str>> = Vec::new();
        for scopes in full.iter().map(|scopes| without_earned(scopes)) {
            if !ordinary.contains(&scopes) {
                ordinary.push(scopes);
            }
        }
        let is_full = ordinary == full;
        let alternative = |scopes: &str| {
            let scopes = scopes.split(' ').filter(|scope| !scope.is_empty());
            Value::Map(vec![(scheme.to_owned(), Value::List(scopes.map(text).collect()))])
        };
        let ordinary = ordinary.iter().map(|scopes| alternative(scopes)).collect();
        let mut operation = vec![("security".to_owned(), Value::List(ordinary))];
        if !is_full {
            let full = full.into_iter().map(alternative).collect();
            operation.push((FULL_SECURITY.to_owned(), Value::List(full)));
        }
        let mut add = |key: &str, value| operation.push((key.to_owned(), value));
        let (own, default) = (route.orbs(), scope.orbs());
        if let Some(charge) = own.or(default) {
            add("x-orbs", orbs(charge));
        }
        if own.is_some() && (default.is_none() || own == default) {
            add("x-orbs-own", Value::Bool(true));
        }
        if item.path != path {
            add("x-orbs-path", text(&path));
        }
        let operation = Value::Map(operation);
        let known = METHODS.iter().find(|(_, method)| *method == route.method());
        match known {
            Some((key, _)) => item.operations.push(((*key).to_owned(), operation)),
            None => item.others.push((route.method().to_owned(), operation)),
        }
    }

    fn value(self) -> Value {
        let item = |item: Item| {
            let parameters = parameters(&item.path);
            let parameters = (!parameters.is_empty()).then(|| ("parameters".to_owned(), Value::List(parameters)));
            let others = (!item.others.is_empty()).then(|| ("x-orbs-operations".to_owned(), Value::Map(item.others)));
            let closed_of = item.closed_of.map(|api| ("x-orbs-api".to_owned(), Value::Text(api)));
            let entries = parameters.into_iter().chain(item.operations).chain(others).chain(closed_of);
            (item.path, Value::Map(entries.collect()))
        };
        Value::Map(self.items.into_iter().map(item).collect())
    }
}

/// OpenAPI requires that every path parameter is declared.
fn parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| {
        map([
            ("name", text(name)),
            ("in", text("path")),
            ("required", Value::Bool(true)),
            ("schema", map([("type", text("string"))])),
        ])
    };
    names.map(parameter).collect()
}
