//! The tree → the policy file's own shape: which keys there are, and what kind of value each takes.
//!
//! A value of the wrong kind is reported and replaced by a stand-in, so that everything else in the
//! file is still judged. A stand-in stands where its fault stands, which is how the later checks
//! know not to judge it (`Faults::stand_at`).

use super::document::{
    ApiDocument, Document, Entries, OrbsDocument, Organisation, PricedRoute, RouteDocument,
    ScopeDocument, Spanned, Target, TokenDocument,
};
use super::fault::Place;
use super::faults::{Faults, quoted};
use super::scalar::other_reading;
use super::tree::{Entry, Kind, Node};

const ROUTES: usize = 200_000;
const SCOPES: usize = 65_535;

/// What the tree says, as far as it says something; complete if no fault was found.
pub(super) fn document(root: &Node<'_>, faults: &mut Faults) -> Option<Document> {
    Reader {
        faults,
        routes: 0,
        scopes: 0,
    }
    .document(root)
}

struct Reader<'f> {
    faults: &'f mut Faults,
    routes: usize,
    scopes: usize,
}

impl Reader<'_> {
    fn document(&mut self, root: &Node<'_>) -> Option<Document> {
        let owner = Owner {
            what: "the policy",
            place: root.place,
        };
        let keys = ["orbgate", "name", "target", "apis", "headings"];
        let [orbgate, name, target, apis, headings] =
            self.fields(root, &owner, keys, &["orbgate", "apis"])?;
        if let Some(node) = orbgate {
            self.version(node);
        }
        Some(Document {
            orbgate: 1,
            name: name.map(|node| self.text(node, "`name`")),
            target: target.map(|node| {
                self.choice(
                    node,
                    "`target`",
                    &[
                        ("strict", Target::Strict),
                        ("encoded_params", Target::EncodedParams),
                    ],
                )
            }),
            apis: apis.map_or_else(Entries::default, |node| self.apis(node)),
            headings: headings.map(|node| {
                let items = self.list(node, "`headings`");
                items
                    .iter()
                    .map(|item| self.text(item, "a heading"))
                    .collect()
            }),
        })
    }

    fn version(&mut self, node: &Node<'_>) {
        if !matches!(&node.kind, Kind::Scalar(scalar) if scalar.plain && scalar.text == "1") {
            self.wrong(
                node,
                "`orbgate` must be the plain number 1, the version of the format",
            );
        }
    }

    fn apis(&mut self, node: &Node<'_>) -> Entries<ApiDocument> {
        let mut apis = Vec::new();
        for entry in self.mapping(node, "`apis`") {
            let name = self.key(entry, "an api's name");
            let owner = Owner {
                what: &format!("api {}", quoted(&name.value)),
                place: name.place,
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
            self.fields(node, owner, keys, &["scopes"])?;
        Some(ApiDocument {
            base_path: base_path.map(|node| self.base_path(node)),
            token: token.map(|node| self.choice(node, "`token`", &[("user", TokenDocument::User)])),
            organisation: organisation.map(|node| {
                let choices = [
                    ("deny", Organisation::Deny),
                    ("allow_without_scope", Organisation::AllowWithoutScope),
                ];
                self.choice(node, "`organisation`", &choices)
            }),
            scopes: scopes.map_or_else(Entries::default, |node| self.scopes(node)),
        })
    }

    fn base_path(&mut self, node: &Node<'_>) -> Spanned<String> {
        if is_empty_value(node) {
            self.wrong(
                node,
                "`base_path` must be text: write `\"\"` for no base path",
            );
        }
        self.text(node, "`base_path`")
    }

    fn scopes(&mut self, node: &Node<'_>) -> Entries<ScopeDocument> {
        let mut scopes = Vec::new();
        for entry in self.mapping(node, "`scopes`") {
            let name = self.key(entry, "a scope");
            if self.scopes == SCOPES {
                self.wrong_at(
                    name.place,
                    format!("too many scopes: {SCOPES} are the limit"),
                );
            }
            self.scopes = self.scopes.saturating_add(1);
            if self.scopes > SCOPES {
                break;
            }
            let owner = Owner {
                what: &format!("scope {}", quoted(&name.value)),
                place: name.place,
            };
            if let Some(scope) = self.scope(&entry.value, &owner) {
                scopes.push((name, scope));
            }
        }
        Entries(scopes)
    }

    fn scope(&mut self, node: &Node<'_>, owner: &Owner<'_>) -> Option<ScopeDocument> {
        let keys = ["permits", "orbs", "routes"];
        let [permits, orbs, routes] = self.fields(node, owner, keys, &["routes"])?;
        Some(ScopeDocument {
            permits: permits.map(|node| self.text(node, "`permits`")),
            orbs: orbs.map(|node| self.orbs(node)),
            routes: routes.map_or_else(Vec::new, |node| self.routes(node)),
        })
    }

    fn orbs(&mut self, node: &Node<'_>) -> Spanned<OrbsDocument> {
        let orbs = match &node.kind {
            Kind::Scalar(scalar) if scalar.plain && scalar.text == "false" => {
                OrbsDocument::Consumes(false)
            }
            Kind::Scalar(scalar) if scalar.plain && scalar.text == "true" => {
                OrbsDocument::Consumes(true)
            }
            _ => match amount(node) {
                Some(amount) => OrbsDocument::Amount(amount),
                None => {
                    let message = "`orbs` must be `true`, `false` or a plain whole number from 1 to 9223372036854775807";
                    self.wrong(node, message);
                    OrbsDocument::Consumes(true)
                }
            },
        };
        Spanned {
            place: node.place,
            value: orbs,
        }
    }

    fn routes(&mut self, node: &Node<'_>) -> Vec<RouteDocument> {
        let mut routes = Vec::new();
        for item in self.list(node, "`routes`") {
            if self.routes == ROUTES {
                self.wrong_at(
                    item.place,
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
        let Kind::Mapping(entries) = &node.kind else {
            return Some(RouteDocument::Plain(self.text(node, "a route")));
        };
        if let [Entry { key, value, .. }] = entries.as_slice()
            && is_empty_value(value)
            && !matches!(key.text.as_ref(), "route" | "orbs")
        {
            // `- {id}` is YAML for a mapping with one key and no value.
            let message = format!(
                "a route must be text or a mapping with `route`, and braces without quotes are a mapping: {}",
                quoted(&format!("{{{}}}", key.text))
            );
            self.wrong_at(node.place, message);
            return None;
        }
        let owner = Owner {
            what: "this route",
            place: node.place,
        };
        let [route, orbs] = self.fields(node, &owner, ["route", "orbs"], &["route"])?;
        let orbs = orbs.map(|node| {
            let value = amount(node).unwrap_or_else(|| {
                self.wrong(node, "a route's own `orbs` must be a plain whole number from 1 to 9223372036854775807");
                1
            });
            Spanned { place: node.place, value }
        });
        Some(RouteDocument::Priced(PricedRoute {
            route: self.text(route?, "`route`"),
            orbs,
        }))
    }

    /// The values of a mapping by known key; reports keys that are unknown or missing.
    fn fields<'n, 'a, const N: usize>(
        &mut self,
        node: &'n Node<'a>,
        owner: &Owner<'_>,
        keys: [&'static str; N],
        required: &[&'static str],
    ) -> Option<[Option<&'n Node<'a>>; N]> {
        let Kind::Mapping(entries) = &node.kind else {
            self.wrong(node, &format!("{} must be a mapping", owner.what));
            return None;
        };
        let mut found = [None; N];
        for entry in entries {
            let slot = keys
                .iter()
                .zip(&mut found)
                .find(|(key, _)| **key == entry.key.text);
            match slot {
                // A second one of the same key is already reported, and the first one counts.
                Some((_, slot)) => *slot = slot.or(Some(&entry.value)),
                None => self.wrong_at(entry.key_place, unknown_key(&entry.key.text, owner, &keys)),
            }
        }
        for (key, value) in keys.iter().zip(&found) {
            if value.is_none() && required.contains(key) {
                self.faults
                    .push(owner.place, format!("{} lacks the key `{key}`", owner.what));
            }
        }
        Some(found)
    }

    fn mapping<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> &'n [Entry<'a>] {
        if let Kind::Mapping(entries) = &node.kind {
            return entries;
        }
        self.wrong(node, &format!("{what} must be a mapping"));
        &[]
    }

    fn list<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> &'n [Node<'a>] {
        if let Kind::Sequence(items) = &node.kind {
            return items;
        }
        self.wrong(node, &format!("{what} must be a list"));
        &[]
    }

    fn choice<T: Copy + Default>(
        &mut self,
        node: &Node<'_>,
        what: &str,
        choices: &[(&str, T)],
    ) -> Spanned<T> {
        let chosen = match &node.kind {
            Kind::Scalar(scalar) => choices.iter().find(|(name, _)| *name == scalar.text),
            _ => None,
        };
        if chosen.is_none() {
            let names: Vec<String> = choices
                .iter()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            self.wrong(node, &format!("{what} must be {}", names.join(" or ")));
        }
        Spanned {
            place: node.place,
            value: chosen.map(|(_, value)| *value).unwrap_or_default(),
        }
    }

    fn text(&mut self, node: &Node<'_>, what: &str) -> Spanned<String> {
        let Kind::Scalar(scalar) = &node.kind else {
            self.wrong(node, &format!("{what} must be text"));
            return Spanned {
                place: node.place,
                value: String::new(),
            };
        };
        if scalar.plain {
            self.refuse_other_readings(&scalar.text, node.place, what);
        }
        Spanned {
            place: node.place,
            value: scalar.text.clone().into_owned(),
        }
    }

    fn key(&mut self, entry: &Entry<'_>, what: &str) -> Spanned<String> {
        if entry.key.plain {
            self.refuse_other_readings(&entry.key.text, entry.key_place, what);
        }
        Spanned {
            place: entry.key_place,
            value: entry.key.text.clone().into_owned(),
        }
    }

    fn refuse_other_readings(&mut self, plain: &str, place: Place, what: &str) {
        match other_reading(plain) {
            Some(_) if plain.is_empty() => {
                self.wrong_at(place, format!("{what} must be text, not an empty value"))
            }
            Some(reading) => {
                let message = format!(
                    "{what} must be text, and {} can be read as {reading}: write `'{plain}'`",
                    quoted(plain)
                );
                self.wrong_at(place, message);
            }
            None => {}
        }
    }

    /// Reports that a value is not what it must be, and what it is instead.
    fn wrong(&mut self, node: &Node<'_>, must: &str) {
        let found = match &node.kind {
            Kind::Refused => return,
            Kind::Sequence(_) => "a list".into(),
            Kind::Mapping(_) => "a mapping".into(),
            Kind::Scalar(scalar) if !scalar.plain => format!("the text {}", quoted(&scalar.text)),
            Kind::Scalar(scalar) if scalar.text.is_empty() => "an empty value".into(),
            Kind::Scalar(scalar) => quoted(&scalar.text),
        };
        self.wrong_at(node.place, format!("{must}, not {found}"));
    }

    fn wrong_at(&mut self, place: Place, message: String) {
        if !self.faults.stand_at(place) {
            self.faults.push(place, message);
        }
    }
}

/// Whose keys are read, for the messages.
struct Owner<'a> {
    what: &'a str,
    place: Place,
}

/// A plain `[1-9][0-9]*` of at most `i64::MAX`. No sign, no separator, no other base, no quotes.
fn amount(node: &Node<'_>) -> Option<u64> {
    let Kind::Scalar(scalar) = &node.kind else {
        return None;
    };
    let is_decimal =
        scalar.text.bytes().all(|byte| byte.is_ascii_digit()) && !scalar.text.starts_with('0');
    if !scalar.plain || !is_decimal {
        return None;
    }
    scalar
        .text
        .parse()
        .ok()
        .filter(|amount| i64::try_from(*amount).is_ok())
}

fn is_empty_value(node: &Node<'_>) -> bool {
    matches!(&node.kind, Kind::Scalar(scalar) if scalar.plain && scalar.text.is_empty())
}

fn unknown_key(key: &str, owner: &Owner<'_>, known: &[&'static str]) -> String {
    let near = known
        .iter()
        .map(|known| (distance(key, known), known))
        .min()
        .filter(|(edits, _)| *edits <= 2);
    let advice = near.map_or_else(String::new, |(_, known)| {
        format!("; did you mean `{known}`?")
    });
    let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    format!(
        "unknown key {} in {} (known: {}){advice}",
        quoted(key),
        owner.what,
        known.join(", ")
    )
}

/// How many letters to change, insert or drop to get from one word to the other (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    // A key far longer than any known one is no misspelling, and must cost nothing.
    if left.len() > right.len().saturating_add(4) {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (index, a) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index.saturating_add(1);
        for (cell, b) in row
            .iter_mut()
            .zip(core::iter::once(None).chain(right.chars().map(Some)))
        {
            let cost = match b {
                None => before,
                Some(b) => {
                    let replaced =
                        diagonal.saturating_add(usize::from(!a.eq_ignore_ascii_case(&b)));
                    replaced
                        .min(before.saturating_add(1))
                        .min(cell.saturating_add(1))
                }
            };
            diagonal = core::mem::replace(cell, cost);
            before = cost;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}
