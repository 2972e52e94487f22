//! The security schemes of a document, and their `x-orbs-api`.

use std::collections::{HashMap, HashSet};

use orbgate::policy::Diagnostic;
use orbgate::{Location, Orbs};
use orbgate_yaml::{Diagnostics, Node, Owner, Values, quoted};

use crate::node::{Problem, at, entries, get, is_visible, location, orbs, word};
use crate::words::takes_permits;

#[derive(Debug)]
pub(super) struct Scheme {
    pub(super) name: String,
    pub(super) location: Location,
    pub(super) flavour: Flavour,
    /// The scopes that its flows declare.
    pub(super) declared: HashSet<String>,
    /// What scopes permit, in words for users.
    pub(super) permits: HashMap<String, String>,
    pub(super) api: Option<ApiFacts>,
}

#[derive(Debug)]
pub(super) enum Flavour {
    /// OAuth 2 or OpenID Connect, or an HTTP scheme that was requested by name, whose roles are
    /// then the scopes.
    Scopes,
    /// A scheme of type `http`, whose requirements can list roles.
    Http { is_bearer: bool },
    /// Another type, in words.
    Other(String),
}

/// The settings of an api other than its routes: `x-orbs-api`.
#[derive(Debug)]
pub(super) struct ApiFacts {
    pub(super) name: String,
    pub(super) base_path: Option<String>,
    /// `deny` or `allow_without_scope`, with `token: user`.
    pub(super) organisation: Option<String>,
    pub(super) scopes: Vec<ScopeFacts>,
}

#[derive(Debug)]
pub(super) struct ScopeFacts {
    pub(super) name: String,
    pub(super) permits: Option<String>,
    pub(super) orbs: Option<Orbs>,
    pub(super) is_sensitive: bool,
}

/// The schemes of a document, and which of them are used.
#[derive(Debug)]
pub(super) struct Schemes {
    pub(super) all: Vec<Scheme>,
    /// The scheme that was requested by name.
    pub(super) requested: Option<String>,
    /// The number of an added scheme that the document doesn't declare: the scheme of the default
    /// scope, if no scheme has scopes.
    implied: Option<usize>,
}

impl Schemes {
    /// Reads the schemes. If there is a default scope, adds a scheme for it if necessary.
    pub(super) fn read(
        node: Option<&Node<'_>>,
        requested: Option<&str>,
        default_scope: Option<&str>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let declared = node.and_then(entries).unwrap_or_default();
        let scheme = |entry: &orbgate_yaml::Entry<'_>| Scheme {
            name: entry.key.text.clone().into_owned(),
            location: at(entry.key_location),
            flavour: match flavour(&entry.value) {
                Flavour::Http { .. } if requested == Some(&entry.key.text) => Flavour::Scopes,
                flavour => flavour,
            },
            declared: listed(&entry.value).map(|entry| entry.key.text.clone().into_owned()).collect(),
            permits: permits(&entry.value),
            api: get(&entry.value, "x-orbs-api").and_then(|node| api(node, diagnostics)),
        };
        let mut schemes =
            Self { all: declared.iter().map(scheme).collect(), requested: requested.map(str::to_owned), implied: None };
        let is_needed = default_scope.is_some() && requested.is_none();
        if is_needed && schemes.with_scopes().next().is_none() {
            schemes.implied = Some(schemes.all.len());
            schemes.all.push(Scheme {
                name: "api".to_owned(),
                location: Location { line: 1, column: 1 },
                flavour: Flavour::Scopes,
                declared: HashSet::new(),
                permits: HashMap::new(),
                api: None,
            });
        }
        schemes
    }

    /// The error in the choice of a scheme.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        let with_scopes: Vec<_> = self.with_scopes().map(|(_, scheme)| scheme).collect();
        let names: Vec<_> = with_scopes.iter().map(|scheme| quoted(&scheme.name)).collect();
        let location = with_scopes.first().map(|scheme| scheme.location);
        let location = location.unwrap_or(Location { line: 1, column: 1 });
        let message = match &self.requested {
            Some(requested) if with_scopes.iter().any(|scheme| scheme.name == *requested) => return None,
            Some(requested) => {
                let known = match names.as_slice() {
                    [] => "there is none".to_owned(),
                    names => format!("there is {}", names.join(", ")),
                };
                format!("no scheme {} of the type `oauth2`, `openIdConnect` or `http`: {known}", quoted(requested))
            }
            None if with_scopes.len() < 2 => return None,
            None if with_scopes.iter().all(|scheme| scheme.api.is_some()) => return None,
            None => format!(
                "several schemes have scopes: {}; say which one is meant with `--scheme NAME`",
                names.join(", ")
            ),
        };
        Some(Diagnostic { location, message })
    }

    fn with_scopes(&self) -> impl Iterator<Item = (usize, &Scheme)> {
        let all = self.all.iter().enumerate();
        all.filter(|(_, scheme)| matches!(scheme.flavour, Flavour::Scopes))
    }

    /// The schemes that become apis, with their numbers.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (usize, &Scheme)> {
        let requested = self.requested.as_deref();
        self.with_scopes().filter(move |(_, scheme)| requested.is_none_or(|requested| scheme.name == requested))
    }

    /// The scheme that becomes an api, if there is exactly one.
    pub(super) fn only(&self) -> Option<(usize, &Scheme)> {
        let mut chosen = self.chosen();
        let first = chosen.next()?;
        chosen.next().is_none().then_some(first)
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, &Scheme)> {
        let mut all = self.all.iter().enumerate();
        all.find(|(number, scheme)| scheme.name == name && self.implied != Some(*number))
    }
}

fn flavour(scheme: &Node<'_>) -> Flavour {
    if get(scheme, "$ref").is_some() {
        return Flavour::Other("a `$ref`, which is not followed".to_owned());
    }
    match get(scheme, "type").and_then(word) {
        Some("oauth2" | "openIdConnect") => Flavour::Scopes,
        Some("http") => Flavour::Http {
            is_bearer: get(scheme, "scheme").and_then(word).is_some_and(|word| word.eq_ignore_ascii_case("bearer")),
        },
        Some(other) => Flavour::Other(format!("of the type {}", quoted(other))),
        None => Flavour::Other("without a `type`".to_owned()),
    }
}

/// The scopes that the flows list, each with its description.
fn listed<'n, 'a>(scheme: &'n Node<'a>) -> impl Iterator<Item = &'n orbgate_yaml::Entry<'a>> {
    let flows = get(scheme, "flows").and_then(entries).unwrap_or_default();
    let scopes = flows.iter().filter_map(|flow| get(&flow.value, "scopes"));
    scopes.flat_map(|scopes| entries(scopes).unwrap_or_default())
}

/// The flows' descriptions of their scopes. The first flow with a description counts.
fn permits(scheme: &Node<'_>) -> HashMap<String, String> {
    let mut permits = HashMap::new();
    for entry in listed(scheme) {
        let text = word(&entry.value).map(str::trim);
        let fits = |text: &&str| !text.is_empty() && is_visible(text) && takes_permits(text);
        if let Some(text) = text.filter(fits) {
            let scope = entry.key.text.clone().into_owned();
            permits.entry(scope).or_insert_with(|| text.to_owned());
        }
    }
    permits
}

fn api(node: &Node<'_>, diagnostics: &mut Diagnostics) -> Option<ApiFacts> {
    let owner = Owner { what: "`x-orbs-api`", location: node.location };
    let mut values = Values::new(diagnostics);
    let keys = ["name", "base_path", "token", "organisation", "scopes"];
    let [name, base_path, token, organisation, scopes] = values.fields(node, &owner, keys, &["name", "scopes"])?;
    let mut text = |node: Option<&Node<'_>>, what| node.map(|node| values.text(node, what).value);
    let facts = ApiFacts {
        name: text(name, "`name`")?,
        base_path: text(base_path, "`base_path`"),
        organisation: text(organisation, "`organisation`"),
        scopes: Vec::new(),
    };
    let token = text(token, "`token`");
    if token.as_deref().is_some_and(|token| token != "user") || token.is_some() != facts.organisation.is_some() {
        let message = "`token` must be `user`, together with `organisation`";
        values.wrong_at(node.location, message.to_owned());
    }
    if let Some(rule) = &facts.organisation
        && !["deny", "allow_without_scope"].contains(&rule.as_str())
    {
        let message = "`organisation` must be `deny` or `allow_without_scope`";
        values.wrong_at(node.location, message.to_owned());
    }
    let scopes = values.mapping(scopes?, "`scopes`");
    let scopes = scopes.iter().filter_map(|entry| {
        let owner = Owner { what: "a scope", location: entry.value.location };
        let [permits, charge, sensitive] =
            values.fields(&entry.value, &owner, ["permits", "orbs", "sensitive"], &[])?;
        let charge = charge.map(|node| orbs(node, "`orbs`")).transpose();
        let charge = charge.map_err(|problem| diagnostic(problem, values.diagnostics)).ok()?;
        Some(ScopeFacts {
            name: values.key(entry, "a scope").value,
            permits: permits.map(|node| values.text(node, "`permits`").value),
            orbs: charge,
            is_sensitive: sensitive.is_some_and(|node| values.flag(node, "`sensitive`").value),
        })
    });
    let scopes = scopes.collect();
    Some(ApiFacts { scopes, ..facts })
}

/// Reports a problem that doesn't belong to a single operation.
pub(super) fn diagnostic(problem: Problem, diagnostics: &mut Diagnostics) {
    let Location { line, column } = problem.location;
    diagnostics.push(orbgate_yaml::Location { line, column }, problem.message);
}

/// The location of a node, for messages about the whole document.
pub(super) fn location_of(node: Option<&Node<'_>>) -> Location {
    node.map_or(Location { line: 1, column: 1 }, location)
}
