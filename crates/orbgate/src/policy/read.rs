//! The tree → the document: the known keys, and the type of each value.
//!
//! A value of the wrong type is reported and replaced by a stand-in, so that the rest of the file
//! is still checked. A stand-in has the location of its error, which is how later checks know to
//! skip it (`Diagnostics::stand_at`).

use orbgate_yaml::{
    Braced, Content, Diagnostics, Entry, Format, Node, Owner, Scalar, Spanned, Values, amount,
    is_empty_value, is_null, quoted,
};

use super::document::{
    ApiDocument, Document, Entries, NoOrbs, OrbsDocument, Organisation, PricedRoute, RouteDocument,
    ScopeDocument, Target, TokenDocument, TrailingSlash,
};
use super::grammar;

/// The properties of the format that the YAML reader needs.
pub(super) const FORMAT: Format = Format {
    file: "a policy file",
    start: "a policy starts with `orbgate: 1`",
    has_key: |key| KEYS.contains(&key),
    braced: Some(Braced {
        name: "a template with braces",
        is: grammar::looks_like_a_template,
    }),
    key_with_colon: Some("a scope has no space"),
};

/// All keys, at any level.
const KEYS: [&str; 14] = [
    "orbgate",
    "name",
    "target",
    "trailing_slash",
    "apis",
    "headings",
    "base_path",
    "token",
    "organisation",
    "scopes",
    "permits",
    "orbs",
    "routes",
    "route",
];

const ROUTES: usize = 200_000;
const SCOPES: usize = 65_535;

/// Reads as much of the tree as is valid. The document is complete if no error was found.
pub(super) fn document(root: &Node<'_>, diagnostics: &mut Diagnostics) -> Option<Document> {
    Reader {
        values: Values { diagnostics },
        routes: 0,
        scopes: 0,
    }
    .document(root)
}

struct Reader<'f> {
    values: Values<'f>,
    routes: usize,
    scopes: usize,
}

impl Reader<'_> {
    fn document(&mut self, root: &Node<'_>) -> Option<Document> {
        let owner = Owner {
            what: "the policy",
            location: root.location,
        };
        if let Content::Scalar(Scalar { text, plain: true }) = &root.kind
            && let Some(message) = FORMAT.missing_space(text)
        {
            self.values.wrong_at(root.location, message);
            return None;
        }
        let keys = [
            "orbgate",
            "name",
            "target",
            "trailing_slash",
            "orbs",
            "apis",
            "headings",
        ];
        let [orbgate, name, target, slash, orbs, apis, headings] =
            self.values
                .fields(root, &owner, keys, &["orbgate", "apis"])?;
        if let Some(node) = orbgate {
            self.values.version(node, "`orbgate`");
        }
        Some(Document {
            orbgate: 1,
            name: name.map(|node| self.values.text(node, "`name`")),
            target: target.map(|node| {
                self.values.choice(
                    node,
                    "`target`",
                    &[
                        ("strict", Target::Strict),
                        ("encoded_params", Target::EncodedParams),
                    ],
                )
            }),
            trailing_slash: slash.map(|node| {
                let choices = [
                    ("never", TrailingSlash::Never),
                    ("always", TrailingSlash::Always),
                ];
                self.values.choice(node, "`trailing_slash`", &choices)
            }),
            orbs: orbs.map(|node| {
                let choices = [("none", NoOrbs::None)];
                self.values.choice(node, "the policy's `orbs`", &choices)
            }),
            apis: apis.map_or_else(Entries::default, |node| self.apis(node)),
            headings: headings.map(|node| {
                let items = self.values.list(node, "`headings`");
                items
                    .iter()
                    .map(|item| self.values.text(item, "a heading"))
                    .collect()
            }),
        })
    }

    fn apis(&mut self, node: &Node<'_>) -> Entries<ApiDocument> {
        let mut apis = Vec::new();
        for entry in self.values.mapping(node, "`apis`") {
            let name = self.values.key(entry, "an api's name");
            let owner = Owner {
                what: &format!("api {}", quoted(&name.value)),
                location: name.location,
            };
            if let Some(api) = self.api(&entry.value, &owner) {
                apis.push((name, api));
            }
        }
        Entries(apis)
    }

    fn api(&mut self, node: &Node<'_>, owner: &Owner<'_>) -> Option<ApiDocument> {
        let keys = ["base_path", "token", "organisation", "scopes"];
        let [base_path, token, organisation, scopes] =
            self.values.fields(node, owner, keys, &["scopes"])?;
        Some(ApiDocument {
            base_path: base_path.map(|node| self.base_path(node)),
            token: token.map(|node| {
                self.values
                    .choice(node, "`token`", &[("user", TokenDocument::User)])
            }),
            organisation: organisation.map(|node| {
                let choices = [
                    ("deny", Organisation::Deny),
                    ("allow_without_scope", Organisation::AllowWithoutScope),
                ];
                self.values.choice(node, "`organisation`", &choices)
            }),
            scopes: scopes.map_or_else(Entries::default, |node| self.scopes(node)),
        })
    }

    fn base_path(&mut self, node: &Node<'_>) -> Spanned<String> {
        if is_null(node) {
            self.values
                .wrong(node, "`base_path` must be text (`\"\"` for no base path)");
        }
        self.values.text(node, "`base_path`")
    }

    fn scopes(&mut self, node: &Node<'_>) -> Entries<ScopeDocument> {
        let mut scopes = Vec::new();
        for entry in self.values.mapping(node, "`scopes`") {
            let name = self.values.key(entry, "a scope");
            if self.scopes == SCOPES {
                self.values.wrong_at(
                    name.location,
                    format!("too many scopes: {SCOPES} are the limit"),
                );
            }
            self.scopes = self.scopes.saturating_add(1);
            if self.scopes > SCOPES {
                break;
            }
            let owner = Owner {
                what: &format!("scope {}", quoted(&name.value)),
                location: name.location,
            };
            if let Some(scope) = self.scope(&entry.value, &owner) {
                scopes.push((name, scope));
            }
        }
        Entries(scopes)
    }

    fn scope(&mut self, node: &Node<'_>, owner: &Owner<'_>) -> Option<ScopeDocument> {
        let keys = ["permits", "orbs", "routes"];
        let [permits, orbs, routes] = self.values.fields(node, owner, keys, &["routes"])?;
        Some(ScopeDocument {
            permits: permits.map(|node| self.values.text(node, "`permits`")),
            orbs: orbs.map(|node| self.orbs(node)),
            routes: routes.map_or_else(Vec::new, |node| self.routes(node)),
        })
    }

    fn orbs(&mut self, node: &Node<'_>) -> Spanned<OrbsDocument> {
        let orbs = match &node.kind {
            Content::Scalar(scalar) if scalar.plain && scalar.text == "false" => {
                OrbsDocument::Consumes(false)
            }
            Content::Scalar(scalar) if scalar.plain && scalar.text == "true" => {
                OrbsDocument::Consumes(true)
            }
            _ => match amount(node) {
                Some(amount) => OrbsDocument::Amount(amount),
                None => {
                    let message = match &node.kind {
                        Content::Scalar(scalar) if scalar.text == "0" => {
                            "a scope that consumes nothing has `orbs: false`"
                        }
                        _ => {
                            "`orbs` must be `true`, `false` or a plain whole number from 1 to 9223372036854775807"
                        }
                    };
                    self.values.wrong(node, message);
                    // In this case, the scope's routes can have their own amounts.
                    OrbsDocument::Consumes(true)
                }
            },
        };
        node.spanned(orbs)
    }

    fn routes(&mut self, node: &Node<'_>) -> Vec<RouteDocument> {
        let items = self.values.list(node, "`routes`");
        let mut routes = Vec::with_capacity(items.len().min(ROUTES));
        for item in items {
            if self.routes == ROUTES {
                self.values.wrong_at(
                    item.location,
                    format!("too many routes: {ROUTES} are the limit"),
                );
            }
            self.routes = self.routes.saturating_add(1);
            if self.routes > ROUTES {
                break;
            }
            routes.extend(self.route(item));
        }
        routes
    }

    fn route(&mut self, node: &Node<'_>) -> Option<RouteDocument> {
        let Content::Mapping(entries) = &node.kind else {
            return Some(RouteDocument::Plain(self.values.text(node, "a route")));
        };
        if let [Entry { key, value, .. }] = entries.as_slice()
            && let Some(route) = route_with_a_colon(key, value)
        {
            let message = format!(
                "a route is text, and a `:` makes it a mapping: write {}",
                quoted(&route)
            );
            self.values.wrong_at(node.location, message);
            return None;
        }
        if let [Entry { key, value, .. }] = entries.as_slice()
            && is_empty_value(value)
            && !matches!(key.text.as_ref(), "route" | "orbs")
        {
            // `- {id}` is YAML for a mapping with one key and no value.
            let message = format!(
                "a route must be text or a mapping with `route`, and braces without quotes are a mapping: {}",
                quoted(&format!("{{{}}}", key.text))
            );
            self.values.wrong_at(node.location, message);
            return None;
        }
        let owner = Owner {
            what: "this route",
            location: node.location,
        };
        let [route, orbs] = self
            .values
            .fields(node, &owner, ["route", "orbs"], &["route"])?;
        let orbs = orbs.map(|node| {
            let value = amount(node).unwrap_or_else(|| {
                self.values.wrong(node, "a route's own `orbs` must be a plain whole number from 1 to 9223372036854775807");
                1
            });
            node.spanned(value)
        });
        Some(RouteDocument::Priced(PricedRoute {
            route: self.values.text(route?, "`route`"),
            orbs,
        }))
    }
}

/// The intended route in `GET: /path` or `GET /path:`, which is how other formats write it.
fn route_with_a_colon(key: &Scalar<'_>, value: &Node<'_>) -> Option<String> {
    let route = match &value.kind {
        _ if matches!(key.text.as_ref(), "route" | "orbs") => return None,
        Content::Scalar(path) if path.text.starts_with('/') => {
            format!("{} {}", key.text.to_ascii_uppercase(), path.text)
        }
        _ if is_empty_value(value) => key.text.clone().into_owned(),
        _ => return None,
    };
    grammar::route(&route).is_ok().then_some(route)
}
