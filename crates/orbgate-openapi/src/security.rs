//! The security of an operation: the one scope that it needs, or why there isn't exactly one.

use orbgate::Location;
use orbgate_yaml::{Content as Value, Node, quoted};

use crate::Options;
use crate::node::{Cause, NoteKind, Problem, at, entries, location, malformed, text};
use crate::scheme::{Flavour, Schemes};

/// A scope of a scheme.
pub(super) struct Needed {
    /// The scheme's number.
    pub(super) scheme: usize,
    pub(super) scope: String,
}

/// One alternative for being allowed: a list of schemes with scopes, all of which are required.
type Requirement = Vec<(String, Vec<String>)>;

/// The requirements of an operation.
///
/// `security` comes from the operation or else from the document; `operation` is the operation's
/// location.
pub(super) fn needed(
    security: Option<&Node<'_>>,
    operation: Location,
    schemes: &Schemes,
    options: &Options,
    notes: &mut Vec<(NoteKind, String)>,
) -> Result<Needed, Problem> {
    let default_scope = options.default_scope.as_deref();
    let Some(node) = security else {
        return default(schemes, default_scope).ok_or_else(|| {
            let message = "neither the operation nor the document has `security`";
            Problem::new(Cause::NoSecurity, operation, message)
        });
    };
    let problem = |kind, message: String| Problem::new(kind, location(node), message);
    let mut requirements = read(node)?;
    let count = requirements.len();
    if options.require_optional && requirements.iter().any(|requirement| !requirement.is_empty()) {
        requirements.retain(|requirement| !requirement.is_empty());
        if requirements.len() < count {
            let message = "callers without a token are denied, although one way to be allowed is `{}`";
            notes.push((NoteKind::RequiredOptional, message.to_owned()));
        }
    }
    let requirement = the_one(requirements, schemes).map_err(|(kind, message)| problem(kind, message))?;
    let [(name, scopes)] = requirement.as_slice() else {
        let message = format!("all of this is needed: {}", shown(&requirement));
        return Err(problem(Cause::SeveralSchemes, message));
    };
    let shown_name = quoted(name);
    let Some((scheme, declared)) = schemes.find(name) else {
        let message = format!("scheme {shown_name} is not declared");
        return Err(problem(Cause::UnknownScheme, message));
    };
    if let Some(flavour) = without_scopes(&declared.flavour, name, scopes) {
        let message = format!("scheme {shown_name} has no scopes: it is {flavour}");
        return Err(problem(Cause::OtherScheme, message));
    }
    match (scopes.as_slice(), default_scope) {
        ([scope], _) => {
            if !declared.declared.is_empty() && !declared.declared.contains(scope) {
                let message = format!("scheme {shown_name} doesn't declare scope {}", quoted(scope));
                notes.push((NoteKind::UndeclaredScope, message));
            }
            Ok(Needed { scheme, scope: scope.clone() })
        }
        ([], Some(scope)) => Ok(Needed { scheme, scope: scope.to_owned() }),
        ([], None) => {
            let message = format!("{shown_name} is needed without a scope");
            Err(problem(Cause::NoScope, message))
        }
        _ => {
            let message = format!("all of these scopes are needed: {}", list(scopes));
            Err(problem(Cause::SeveralScopes, message))
        }
    }
}

/// The only alternative, or the reason why there isn't exactly one.
fn the_one(mut requirements: Vec<Requirement>, schemes: &Schemes) -> Result<Requirement, (Cause, String)> {
    if requirements.is_empty() {
        let message = "`security: []`: anyone can call it";
        return Err((Cause::Open, message.to_owned()));
    }
    if requirements.iter().any(Vec::is_empty) {
        let is_only = requirements.iter().all(Vec::is_empty);
        let advice = if is_only { "" } else { "; with `--optional require`, the policy requires it" };
        let message = format!("one way to be allowed is `{{}}`: security is optional{advice}");
        return Err((Cause::Optional, message));
    }
    if let Some(asked) = &schemes.asked {
        // The policy allows nothing to callers of other schemes.
        requirements.retain(|requirement| requirement.iter().any(|(name, _)| name == asked));
        if requirements.is_empty() {
            let message = format!("no way to be allowed is by {}", quoted(asked));
            return Err((Cause::OtherScheme, message));
        }
    }
    if requirements.len() == 1 {
        return Ok(requirements.remove(0));
    }
    let ways: Vec<_> = requirements.iter().take(SHOWN).map(shown).collect();
    let more = if requirements.len() > SHOWN { " or …" } else { "" };
    let message = format!("there are several ways: {}{more}", ways.join(" or "));
    let advice = match schemes.only() {
        Some((_, scheme)) if schemes.asked.is_none() => {
            let named = requirements.iter().filter(|way| way.iter().any(|(name, _)| *name == scheme.name));
            match named.count() {
                1 => format!("; with `--scheme {}` only that one counts", scheme.name),
                _ => String::new(),
            }
        }
        _ => String::new(),
    };
    Err((Cause::Alternatives, message + &advice))
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

/// The default scope, for operations without `security`.
fn default(schemes: &Schemes, default_scope: Option<&str>) -> Option<Needed> {
    let (scheme, _) = schemes.only()?;
    Some(Needed { scheme, scope: default_scope?.to_owned() })
}

fn read(node: &Node<'_>) -> Result<Vec<Requirement>, Problem> {
    let Value::Sequence(items) = &node.kind else {
        return Err(malformed(node, "`security` must be a list"));
    };
    items.iter().map(requirement).collect()
}

fn requirement(node: &Node<'_>) -> Result<Requirement, Problem> {
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

fn shown(requirement: &Requirement) -> String {
    let scheme = |(name, scopes): &(String, Vec<String>)| match scopes.as_slice() {
        [] => quoted(name),
        scopes => format!("{} with {}", quoted(name), list(scopes)),
    };
    let schemes: Vec<_> = requirement.iter().take(SHOWN).map(scheme).collect();
    let more = if requirement.len() > SHOWN { " and …" } else { "" };
    schemes.join(" and ") + more
}

fn list(scopes: &[String]) -> String {
    let shown: Vec<_> = scopes.iter().take(SHOWN).map(|scope| quoted(scope)).collect();
    let more = if scopes.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}
