//! The security schemes of a document, and their `x-orbs-api`.

use std::collections::{HashMap, HashSet};

use orbgate::{Location, Orbs};
use orbgate_yaml::{Diagnostics, Node, Owner, Values, quoted};

use crate::Options;
use crate::node::{Cause, Problem, at, entries, get, is_visible, location, orbs, word};
use crate::words::{option_of, takes_permits};

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
    /// OAuth 2 or OpenID Connect.
    Scopes,
    /// A scheme of type `http`, whose requirements can list roles. If it is selected by name, its roles are scopes.
    Http { is_bearer: bool },
    /// Another type that has no scopes, in words.
    Other(String),
    /// A type that isn't known, in words.
    Unknown(String),
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

/// The schemes that options select, by their numbers: `--scheme` and `--elsewhere`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// The schemes that are one token, the one that names the api first. If empty, each scheme with scopes has its own
    /// tokens.
    pub(super) token: Vec<usize>,
    /// The schemes that something in front of the policy checks.
    pub(super) elsewhere: Vec<usize>,
}

impl Choice {
    /// The number of the scheme whose api has the scopes of this one.
    pub(super) fn api_of(&self, scheme: usize) -> usize {
        self.token.first().copied().filter(|_| self.token.contains(&scheme)).unwrap_or(scheme)
    }
}

/// The schemes of a document, and which of them are used.
#[derive(Debug)]
pub(super) struct Schemes {
    pub(super) all: Vec<Scheme>,
    pub(super) choice: Choice,
    numbers: HashMap<String, usize>,
    /// The schemes with scopes.
    with_scopes: Vec<usize>,
}

impl Schemes {
    /// Reads the schemes. If there is a default scope, adds a scheme for it if necessary. Reports names in options that
    /// select no scheme, or the wrong one.
    pub(super) fn read(node: Option<&Node<'_>>, options: &Options, diagnostics: &mut Diagnostics) -> Self {
        let declared = node.and_then(entries).unwrap_or_default();
        let scheme = |entry: &orbgate_yaml::Entry<'_>| Scheme {
            name: entry.key.text.clone().into_owned(),
            location: at(entry.key_location),
            flavour: flavour(&entry.value),
            declared: listed(&entry.value).map(|entry| entry.key.text.clone().into_owned()).collect(),
            permits: permits(&entry.value),
            api: get(&entry.value, "x-orbs-api").and_then(|node| api(node, diagnostics)),
        };
        let all: Vec<_> = declared.iter().map(scheme).collect();
        let numbers = all.iter().enumerate().map(|(number, scheme)| (scheme.name.clone(), number)).collect();
        let has_scopes =
            |(number, scheme): (usize, &Scheme)| matches!(scheme.flavour, Flavour::Scopes).then_some(number);
        let with_scopes = all.iter().enumerate().filter_map(has_scopes).collect();
        let mut schemes = Self { all, choice: Choice::default(), numbers, with_scopes };
        schemes.choose(options, diagnostics);
        // The document doesn't declare the scheme of the default scope, if no scheme has scopes.
        if options.default_scope.is_some() && options.schemes.is_empty() && schemes.with_scopes.is_empty() {
            schemes.with_scopes.push(schemes.all.len());
            schemes.all.push(Scheme {
                name: "api".to_owned(),
                location: START,
                flavour: Flavour::Scopes,
                declared: HashSet::new(),
                permits: HashMap::new(),
                api: None,
            });
        }
        schemes
    }

    /// Finds the schemes of options, and reports every name that isn't one, or isn't one of the right type.
    fn choose(&mut self, options: &Options, diagnostics: &mut Diagnostics) {
        let mut report = |location, message| {
            diagnostic(Problem::new(Cause::OtherScheme, location, message), diagnostics);
        };
        let mut seen = HashSet::new();
        let names = options.schemes.iter().map(|name| (name, true));
        for (name, is_token) in names.chain(options.elsewhere.iter().map(|name| (name, false))) {
            let found = self.numbers.get(name).and_then(|number| Some((*number, self.all.get(*number)?)));
            let location = found.map_or_else(|| self.start(), |(_, scheme)| scheme.location);
            if !seen.insert(name) {
                report(location, format!("the options name scheme {} twice", quoted(name)));
                continue;
            }
            match found {
                Some((number, Scheme { flavour: Flavour::Scopes | Flavour::Http { .. }, .. })) if is_token => {
                    self.choice.token.push(number);
                }
                Some((number, Scheme { flavour: Flavour::Other(_) | Flavour::Http { .. }, .. })) if !is_token => {
                    self.choice.elsewhere.push(number);
                }
                _ => report(location, self.wrong_name(&quoted(name), is_token)),
            }
        }
        if !self.is_decided(&self.choice) && !self.choice.token.is_empty() {
            for scheme in self.named(&self.choice.token).filter(|scheme| scheme.api.is_some()) {
                let name = quoted(&scheme.name);
                report(
                    scheme.location,
                    format!("scheme {name} has its own api, `x-orbs-api`: select it without others"),
                );
            }
        }
    }

    fn wrong_name(&self, name: &str, is_token: bool) -> String {
        let fits = |scheme: &&Scheme| match scheme.flavour {
            Flavour::Scopes => is_token,
            Flavour::Other(_) => !is_token,
            Flavour::Http { .. } => true,
            Flavour::Unknown(_) => false,
        };
        let (what, but) = match is_token {
            true => ("of the type `oauth2`, `openIdConnect` or `http`", ""),
            false => ("without scopes", ", and the policy must check those with scopes"),
        };
        let known: Vec<_> = self.all.iter().filter(fits).take(SHOWN).map(|scheme| quoted(&scheme.name)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        format!("no scheme {name} {what}: there is {known}{but}")
    }

    /// Whether it is known which schemes are one token: an api can't be a part of another one.
    pub(super) fn is_decided(&self, choice: &Choice) -> bool {
        match (choice.token.as_slice(), self.with_scopes.as_slice()) {
            ([_], _) | ([], [] | [_]) => true,
            ([], several) => self.named(several).all(|scheme| scheme.api.is_some()),
            (several, _) => self.named(several).all(|scheme| scheme.api.is_none()),
        }
    }

    fn named(&self, numbers: &[usize]) -> impl Iterator<Item = &Scheme> {
        numbers.iter().filter_map(|number| self.all.get(*number))
    }

    /// The options that make a choice.
    pub(super) fn options(&self, choice: &Choice) -> String {
        let options = |option, numbers: &[usize]| {
            let options = self.named(numbers).map(|scheme| option_of(option, &scheme.name));
            options.collect::<Vec<_>>()
        };
        [options("--scheme", &choice.token), options("--elsewhere", &choice.elsewhere)].concat().join(" ")
    }

    /// Names of schemes in a message.
    pub(super) fn shown(&self, numbers: &[usize], and: &str) -> String {
        let names: Vec<_> = self.named(numbers).take(SHOWN).map(|scheme| quoted(&scheme.name)).collect();
        let more = if numbers.len() > SHOWN { " …" } else { "" };
        names.join(and) + more
    }

    /// The schemes among which an option must choose, in a message.
    pub(super) fn undecided(&self) -> String {
        self.shown(&self.with_scopes, ", ")
    }

    /// The location of the first scheme with scopes.
    pub(super) fn start(&self) -> Location {
        self.named(&self.with_scopes).next().map_or(START, |scheme| scheme.location)
    }

    /// The numbers of the schemes that become apis.
    pub(super) fn apis<'s>(&'s self, choice: &'s Choice) -> &'s [usize] {
        choice.token.get(..1).unwrap_or(&self.with_scopes)
    }

    /// The schemes that become apis, with their numbers.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (usize, &Scheme)> {
        self.apis(&self.choice).iter().filter_map(|number| Some((*number, self.all.get(*number)?)))
    }

    /// The scheme that becomes an api, if there is exactly one.
    pub(super) fn only(&self) -> Option<(usize, &Scheme)> {
        let mut chosen = self.chosen();
        let first = chosen.next()?;
        chosen.next().is_none().then_some(first)
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, &Scheme)> {
        let number = *self.numbers.get(name)?;
        self.all.get(number).map(|scheme| (number, scheme))
    }

    /// The schemes whose scopes are those of an api.
    pub(super) fn of_api(&self, api: usize) -> impl Iterator<Item = &Scheme> {
        let token = self.choice.token.as_slice();
        let numbers = if token.first() == Some(&api) { token } else { &[] };
        let own = self.all.get(api).filter(|_| numbers.is_empty());
        own.into_iter().chain(self.named(numbers))
    }

    /// What a scope of an api permits, in words for users.
    pub(super) fn permits(&self, api: usize, scope: &str) -> Option<&String> {
        self.of_api(api).find_map(|scheme| scheme.permits.get(scope))
    }
}

/// The maximum number of schemes in a message.
const SHOWN: usize = 8;

const START: Location = Location { line: 1, column: 1 };

fn flavour(scheme: &Node<'_>) -> Flavour {
    if get(scheme, "$ref").is_some() {
        return Flavour::Unknown("a `$ref`, which is not followed".to_owned());
    }
    match get(scheme, "type").and_then(word) {
        Some("oauth2" | "openIdConnect") => Flavour::Scopes,
        Some("http") => Flavour::Http {
            is_bearer: get(scheme, "scheme").and_then(word).is_some_and(|word| word.eq_ignore_ascii_case("bearer")),
        },
        Some(other @ ("apiKey" | "mutualTLS")) => Flavour::Other(format!("of the type {}", quoted(other))),
        Some(other) => Flavour::Unknown(format!("of the type {}", quoted(other))),
        None => Flavour::Unknown("without a `type`".to_owned()),
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
    node.map_or(START, location)
}
