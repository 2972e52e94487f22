//! The tree → the document, as far as [`document!`](orbgate_yaml::document) can't declare it: names, routes, amounts and limits.
//!
//! A value of the wrong type is reported and replaced by a stand-in, so that the rest of the file
//! is still checked. A stand-in has the location of its error, which is how later checks know to
//! skip it (`Diagnostics::stand_at`).

use orbgate_yaml::{
    Braced, Content, Diagnostics, Entry, Format, Location, Node, Owner, Scalar, Shape, Value, Values, amount,
    is_empty_value, quoted,
};

use super::document::{
    ApiDocument, Document, Entries, OrbsDocument, RouteDocument, RouteWithKeys, Routes, ScopeDocument,
};
use super::grammar;

/// The properties of the format that the YAML reader needs.
pub(super) const FORMAT: Format = Format {
    file: "a policy file",
    start: "a policy starts with `orbgate: 1`",
    has_key: |key| Document::SHAPE.has_key(key),
    braced: Some(Braced { name: "a template with braces", is: grammar::looks_like_a_template }),
    key_with_colon: Some("a scope has no space"),
};

const SCOPES: usize = 65_535;

/// Reads as much of the tree as is valid. The document is complete if no error was found.
pub(super) fn document(root: &Node<'_>, diagnostics: &mut Diagnostics) -> Option<Document> {
    if let Content::Scalar(Scalar { text, plain: true }) = &root.kind
        && let Some(message) = FORMAT.missing_space(text)
    {
        diagnostics.push_new(root.location, message);
        return None;
    }
    orbgate_yaml::document("the policy")(root, diagnostics)
}

/// A mapping with a name.
pub(super) trait Named: Value {
    /// One, several, and the name of one, in messages.
    const KIND: [&'static str; 3];
    /// The most in a file.
    const MOST: usize = usize::MAX;
}

impl Named for ApiDocument {
    const KIND: [&'static str; 3] = ["api", "apis", "an api's name"];
}

impl Named for ScopeDocument {
    const KIND: [&'static str; 3] = ["scope", "scopes", "a scope"];
    const MOST: usize = SCOPES;
}

/// Omits an entry whose value isn't a mapping.
impl<V: Named> Value for Entries<V> {
    const SHAPE: Shape = Shape::Named(&V::SHAPE);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let [kind, several, name_of_kind] = V::KIND;
        let mut entries = Vec::new();
        if let Content::Sequence(items) = &node.kind {
            let tip = items.first().and_then(name_of).map(|name| quoted(&format!("{name}:")));
            let tip = tip.map_or_else(String::new, |name| format!(": write {name}, and its keys below it"));
            values.wrong_with_tip(node, &format!("{} must be a mapping", owner.what), &tip);
        }
        for entry in values.mapping(node, owner.what) {
            let name = values.key(entry, name_of_kind);
            let location = name.location;
            if !values.is_within(several, V::MOST, location) {
                break;
            }
            let what = &format!("{kind} {}", quoted(&name.value));
            refuse_public(&entry.value, values);
            let value = V::read(&entry.value, &Owner { what, location }, values);
            if matches!(entry.value.kind, Content::Mapping(_)) {
                entries.push((name, value));
            }
        }
        Self(entries)
    }

    fn stand_in(_: Location) -> Self {
        Self(Vec::new())
    }
}

impl Value for OrbsDocument {
    const SHAPE: Shape = Shape::Either(&[bool::SHAPE, u64::SHAPE]);

    fn read(node: &Node<'_>, _: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let text = match &node.kind {
            Content::Scalar(scalar) => Some((scalar.text.as_ref(), scalar.plain)),
            _ => None,
        };
        match (text, amount(node)) {
            (Some(("false", true)), _) => Self::Consumes(false),
            (Some(("true", true)), _) => Self::Consumes(true),
            (_, Some(amount)) => Self::Amount(amount),
            (text, None) => {
                let must = "`orbs` must be `true`, `false` or a plain whole number from 1 to 9223372036854775807";
                let tip = if matches!(text, Some(("0", _))) { ": write `false`" } else { "" };
                values.wrong_with_tip(node, must, tip);
                Self::stand_in(node.location)
            }
        }
    }

    fn stand_in(_: Location) -> Self {
        Self::Consumes(true)
    }
}

/// Omits a route without a valid form.
impl Value for Routes {
    const SHAPE: Shape = Shape::List(&Shape::Either(&[String::SHAPE, RouteWithKeys::SHAPE]));

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let items = values.list(node, owner.what);
        let mut routes = Vec::with_capacity(items.len().min(grammar::MAX_ROUTES));
        for item in items {
            if !values.is_within("routes", grammar::MAX_ROUTES, item.location) {
                break;
            }
            routes.extend(route(item, values));
        }
        Self(routes)
    }

    fn stand_in(_: Location) -> Self {
        Self::default()
    }
}

fn route(node: &Node<'_>, values: &mut Values<'_>) -> Option<RouteDocument> {
    let Content::Mapping(entries) = &node.kind else {
        return Some(RouteDocument::Plain(values.text(node, "a route")));
    };
    if let [Entry { key, value, key_location }] = entries.as_slice()
        && !RouteWithKeys::SHAPE.has_key(&key.text)
    {
        let message = if let Some(route) = route_with_a_colon(key, value) {
            format!("a route must be a string, and `:` makes this one a mapping: write {}", quoted(&route))
        } else if is_empty_value(value) && *key_location == node.location {
            format!("route {} lacks a path: write it like `GET /path`, without the `:` after it", quoted(&key.text))
        } else if is_empty_value(value) {
            // `- {id}` is YAML for a mapping with one key and no value.
            format!(
                "a route must be a string or a mapping with `route`, and braces without quotes are a mapping: {}",
                quoted(&format!("{{{}}}", key.text))
            )
        } else {
            String::new()
        };
        if !message.is_empty() {
            values.wrong_at(node.location, message);
            return None;
        }
    }
    refuse_public(node, values);
    let owner = Owner { what: "this route", location: node.location };
    let route = RouteWithKeys::read(node, &owner, values);
    let is_there = entries.iter().any(|entry| entry.key.text == "route");
    is_there.then_some(RouteDocument::WithKeys(route))
}

/// The name in a list that should be a mapping: `- name` or `- name: …`.
fn name_of<'n>(item: &'n Node<'_>) -> Option<&'n str> {
    match &item.kind {
        Content::Scalar(scalar) => Some(&scalar.text),
        Content::Mapping(entries) => entries.first().map(|entry| &*entry.key.text),
        _ => None,
    }
}

/// Reports the key `public`, which people expect on routes that need no token.
fn refuse_public(node: &Node<'_>, values: &mut Values<'_>) {
    let Content::Mapping(entries) = &node.kind else {
        return;
    };
    for entry in entries.iter().filter(|entry| entry.key.text == "public") {
        let message = "`public` isn't a key of a policy: list routes that need no token, with their whole path, in the gate's setting `public`";
        values.wrong_at(entry.key_location, message.to_owned());
    }
}

/// The intended route in `GET: /path` or `GET /path:`, which is how other formats write it.
fn route_with_a_colon(key: &Scalar<'_>, value: &Node<'_>) -> Option<String> {
    let route = match &value.kind {
        Content::Scalar(path) if path.text.starts_with('/') => {
            format!("{} {}", key.text.to_ascii_uppercase(), path.text)
        }
        _ if is_empty_value(value) => key.text.clone().into_owned(),
        _ => return None,
    };
    grammar::route(&route).is_ok().then_some(route)
}
