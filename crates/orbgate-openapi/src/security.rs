//! The security of an operation: the scopes that it needs, or why no policy can express that.

use std::collections::BTreeSet;

use orbgate::Location;
use orbgate_yaml::{Content as Value, Node, quoted};

use crate::Options;
use crate::node::{Cause, NoteKind, Problem, at, entries, location, malformed, text};
use crate::scheme::{Flavour, Schemes};

/// What an operation needs: scopes of one scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needed {
    /// The scheme's number.
    pub(super) scheme: usize,
    /// The scope that owns the route.
    pub(super) scope: String,
    /// The scopes that are needed in addition to the owner, sorted.
    pub(super) and: Vec<String>,
    /// The sets of scopes that are enough instead, sorted.
    pub(super) or: Vec<Vec<String>>,
}

impl Needed {
    const fn one(scheme: usize, scope: String) -> Self {
        Self { scheme, scope, and: Vec::new(), or: Vec::new() }
    }

    /// Whether it is only the owner.
    pub(super) const fn is_one_scope(&self) -> bool {
        self.and.is_empty() && self.or.is_empty()
    }

    /// Whether both have the same alternatives, whichever of them comes first.
    pub(super) fn is_met_with(&self, other: &Self) -> bool {
        let sets = |needed: &Self| -> BTreeSet<BTreeSet<String>> {
            let own = core::iter::once(&needed.scope).chain(&needed.and).cloned().collect();
            core::iter::once(own).chain(needed.or.iter().map(|set| set.iter().cloned().collect())).collect()
        };
        self.scheme == other.scheme && (self == other || sets(self) == sets(other))
    }

    /// The alternatives as a policy has them: scopes separated by one space, the owner first.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = String> {
        let own = core::iter::once(&self.scope).chain(&self.and).map(String::as_str);
        let own = own.collect::<Vec<_>>().join(" ");
        core::iter::once(own).chain(self.or.iter().map(|scopes| scopes.join(" ")))
    }

    /// Every scope that it names, some perhaps several times.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &String> {
        core::iter::once(&self.scope).chain(&self.and).chain(self.or.iter().flatten())
    }
}

/// What an operation needs, and what users should know of that.
pub(super) type Found = Result<(Needed, Notes), Problem>;

pub(super) type Notes = Vec<(NoteKind, String)>;

/// One way to be allowed: a list of schemes with scopes, all of which are required.
type Way = Vec<(String, Vec<String>)>;

/// Why no policy can express it.
type Why = (Cause, String);

/// Far more alternatives and names than a policy can have. Comparing more of them with each other could take long.
const ALTERNATIVES: usize = 256;
const NAMES: usize = 1_024;

/// The requirements of an operation without `security`, in a document without it.
pub(super) fn default(operation: Location, schemes: &Schemes, options: &Options) -> Found {
    match (schemes.only(), &options.default_scope) {
        (Some((scheme, _)), Some(scope)) => Ok((Needed::one(scheme, scope.clone()), Notes::new())),
        _ => {
            let message = "neither the operation nor the document has `security`";
            Err(Problem::new(Cause::NoSecurity, operation, message))
        }
    }
}

/// The requirements that `security` states.
pub(super) fn needed(security: &Node<'_>, schemes: &Schemes, options: &Options) -> Found {
    let problem = |(kind, message): Why| Problem::new(kind, location(security), message);
    let mut notes = Notes::new();
    let ways = required(read(security)?, schemes, options, &mut notes).map_err(problem)?;
    let (scheme, alternatives) = of_one_scheme(ways, schemes, options, &mut notes).map_err(problem)?;
    let (scope, alternatives) = without_redundant(alternatives, &mut notes).map_err(problem)?;
    let mut needed = Needed::one(scheme, scope);
    for (number, mut scopes) in alternatives.into_iter().enumerate() {
        if number == 0 {
            scopes.remove(&needed.scope);
            needed.and = scopes.into_iter().collect();
        } else {
            needed.or.push(scopes.into_iter().collect());
        }
    }
    needed.or.sort_unstable();
    if let Some(declared) = schemes.all.get(scheme).filter(|scheme| !scheme.declared.is_empty()) {
        let unknown: BTreeSet<_> = needed.scopes().filter(|scope| !declared.declared.contains(*scope)).collect();
        let unknown = unknown.into_iter().filter(|scope| options.default_scope.as_ref() != Some(scope));
        let message =
            |scope: &String| format!("scheme {} doesn't declare scope {}", quoted(&declared.name), quoted(scope));
        notes.extend(unknown.map(|scope| (NoteKind::UndeclaredScope, message(scope))));
    }
    Ok((needed, notes))
}

/// Whether some way to be allowed is by scopes.
pub(super) fn names_scopes(security: Option<&Node<'_>>) -> bool {
    let ways = security.and_then(|security| read(security).ok()).unwrap_or_default();
    ways.iter().flatten().any(|(_, scopes)| !scopes.is_empty())
}

/// The ways to be allowed that count: those of the scheme that was asked for, none of them without a token.
fn required(mut ways: Vec<Way>, schemes: &Schemes, options: &Options, notes: &mut Notes) -> Result<Vec<Way>, Why> {
    if ways.is_empty() {
        return Err((Cause::Open, "`security: []`: anyone can call it".to_owned()));
    }
    if ways.iter().any(Vec::is_empty) {
        let is_only = ways.iter().all(Vec::is_empty);
        if is_only || !options.require_optional {
            let advice = if is_only { "" } else { "; with `--optional require`, the policy requires it" };
            let message = format!("one way to be allowed is `{{}}`: security is optional{advice}");
            return Err((Cause::Optional, message));
        }
        ways.retain(|way| !way.is_empty());
        let message = "callers without a token are denied, although one way to be allowed is `{}`";
        notes.push((NoteKind::RequiredOptional, message.to_owned()));
    }
    if let Some(requested) = &schemes.requested {
        // The policy allows nothing to callers of other schemes.
        ways.retain(|way| way.iter().any(|(name, _)| name == requested));
        if ways.is_empty() {
            return Err((Cause::OtherScheme, format!("no way to be allowed is by {}", quoted(requested))));
        }
    }
    Ok(ways)
}

/// The alternatives of the first scheme that has scopes. The others are dropped, which only narrows what is allowed.
fn of_one_scheme(
    ways: Vec<Way>,
    schemes: &Schemes,
    options: &Options,
    notes: &mut Notes,
) -> Result<(usize, Vec<Vec<String>>), Why> {
    let mut kept: Vec<Vec<String>> = Vec::new();
    let mut of = None;
    let mut dropped = Vec::new();
    for way in ways {
        match scopes_of(&way, schemes, options) {
            Ok((_, scopes)) if scopes.is_empty() => {
                let name = way.first().map(|(name, _)| quoted(name)).unwrap_or_default();
                return Err((Cause::NoScope, format!("{name} is needed without a scope")));
            }
            Ok((scheme, scopes)) if of.is_none_or(|of| of == scheme) => {
                of = Some(scheme);
                kept.push(scopes);
            }
            Ok(_) => {
                let message = "it isn't the scheme of the first alternative with scopes";
                dropped.push((way, (Cause::OtherScheme, message.to_owned())));
            }
            Err(why) => dropped.push((way, why)),
        }
    }
    let Some(scheme) = of else {
        let why = dropped.into_iter().next().map(|(_, why)| why);
        return Err(why.unwrap_or((Cause::Open, String::new())));
    };
    let dropped = dropped.into_iter().map(|(way, (cause, why))| match cause {
        Cause::SeveralSchemes => format!("callers with {} are denied: {why}", schemes_of(&way)),
        _ => format!("callers with only {} are denied: {why}", schemes_of(&way)),
    });
    // Of ways with the same schemes, one is enough.
    let dropped: BTreeSet<_> = dropped.collect();
    notes.extend(dropped.into_iter().map(|message| (NoteKind::DroppedAlternative, message)));
    Ok((scheme, kept))
}

/// The scheme's number and the scopes of a way to be allowed, or why a policy can't express it.
fn scopes_of(way: &Way, schemes: &Schemes, options: &Options) -> Result<(usize, Vec<String>), Why> {
    let [(name, scopes)] = way.as_slice() else {
        return Err((Cause::SeveralSchemes, format!("all of these schemes are needed: {}", schemes_of(way))));
    };
    let Some((scheme, declared)) = schemes.find(name) else {
        return Err((Cause::UnknownScheme, format!("scheme {} is not declared", quoted(name))));
    };
    if let Some(flavour) = without_scopes(&declared.flavour, name, scopes) {
        return Err((Cause::OtherScheme, format!("scheme {} has no scopes: it is {flavour}", quoted(name))));
    }
    let default_scope = options.default_scope.iter().filter(|_| scopes.is_empty());
    Ok((scheme, scopes.iter().chain(default_scope).cloned().collect()))
}

/// The owner, and the alternatives as sets, the owner's first. No set contains another.
fn without_redundant(
    alternatives: Vec<Vec<String>>,
    notes: &mut Notes,
) -> Result<(String, Vec<BTreeSet<String>>), Why> {
    let mut firsts = Vec::new();
    let mut sets: Vec<BTreeSet<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    for scopes in alternatives {
        let owner = scopes.first().cloned().unwrap_or_default();
        let set: BTreeSet<_> = scopes.into_iter().collect();
        if seen.insert(set.clone()) {
            firsts.push(owner);
            sets.push(set);
        }
    }
    if sets.len() > ALTERNATIVES || sets.iter().map(BTreeSet::len).sum::<usize>() > NAMES {
        let message = format!("there are over {ALTERNATIVES} alternatives, or they name over {NAMES} scopes");
        return Err((Cause::Requirement, message));
    }
    let mut owner = None;
    let mut left = Vec::new();
    for (set, first) in sets.iter().zip(firsts) {
        match sets.iter().find(|other| other.len() < set.len() && other.is_subset(set)) {
            Some(enough) => {
                let [set, enough] = [set, enough].map(|set| list(&set.iter().cloned().collect::<Vec<_>>()));
                let message = format!("{set} is a way to be allowed that isn't needed, because {enough} is enough");
                notes.push((NoteKind::RedundantAlternative, message));
            }
            None => {
                owner.get_or_insert(first);
                left.push(set.clone());
            }
        }
    }
    Ok((owner.unwrap_or_default(), left))
}

/// The type of a scheme whose requirements name no scopes.
fn without_scopes(flavour: &Flavour, name: &str, scopes: &[String]) -> Option<String> {
    match flavour {
        Flavour::Scopes => None,
        Flavour::Other(flavour) => Some(flavour.clone()),
        Flavour::Http { is_bearer: true } if scopes.is_empty() => {
            Some(format!("of the type `http`; with `--scheme {name} --default-scope SCOPE` its operations need SCOPE"))
        }
        Flavour::Http { .. } if scopes.is_empty() => Some("of the type `http`".to_owned()),
        Flavour::Http { .. } => Some(format!("of the type `http`; with `--scheme {name}` its roles count as scopes")),
    }
}

fn read(node: &Node<'_>) -> Result<Vec<Way>, Problem> {
    let Value::Sequence(items) = &node.kind else {
        return Err(malformed(node, "`security` must be a list"));
    };
    items.iter().map(way).collect()
}

fn way(node: &Node<'_>) -> Result<Way, Problem> {
    let Some(schemes) = entries(node) else {
        return Err(malformed(node, "what `security` lists must be mappings"));
    };
    let scheme = |entry: &orbgate_yaml::Entry<'_>| {
        let Value::Sequence(scopes) = &entry.value.kind else {
            let must = "the scopes of a scheme must be a list";
            let mut problem = malformed(&entry.value, must);
            problem.location = at(entry.key_location);
            return Err(problem);
        };
        let scopes = scopes.iter().map(|scope| text(scope, "a scope"));
        let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
        Ok((entry.key.text.clone().into_owned(), scopes))
    };
    schemes.iter().map(scheme).collect()
}

/// The maximum number of list items in a message.
const SHOWN: usize = 4;

fn schemes_of(way: &Way) -> String {
    let schemes: Vec<_> = way.iter().take(SHOWN).map(|(name, _)| quoted(name)).collect();
    let more = if way.len() > SHOWN { " and …" } else { "" };
    schemes.join(" and ") + more
}

fn list(scopes: &[String]) -> String {
    let shown: Vec<_> = scopes.iter().take(SHOWN).map(|scope| quoted(scope)).collect();
    let more = if scopes.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}
