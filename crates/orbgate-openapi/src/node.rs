//! Reads single values of a document.

use orbgate::{Location, Orbs};
use orbgate_yaml::{Content as Value, Diagnostics, Entry, Node, Values, amount, is_hidden};

use crate::kind::{Cause, Problem};

pub(super) const fn location(node: &Node<'_>) -> Location {
    at(node.location)
}

pub(super) const fn at(location: orbgate_yaml::Location) -> Location {
    let orbgate_yaml::Location { line, column } = location;
    Location { line, column }
}

/// The entries of a mapping; `None` if it is something else.
pub(super) fn entries<'n, 'a>(node: &'n Node<'a>) -> Option<&'n [Entry<'a>]> {
    match &node.kind {
        Value::Mapping(entries) => Some(entries),
        _ => None,
    }
}

/// The value of a key, which occurs at most once.
pub(super) fn get<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    let entry = entries(node)?.iter().find(|entry| entry.key.text == key);
    entry.map(|entry| &entry.value)
}

/// The scalar as a string, even if it could be read as a number or another type.
pub(super) fn word<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.kind {
        Value::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

/// A value that must be a string.
pub(super) fn text(node: &Node<'_>, what: &str) -> Result<String, Problem> {
    let mut diagnostics = Diagnostics::default();
    let text = Values::new(&mut diagnostics).text(node, what);
    match diagnostics.into_list().into_iter().next() {
        None => Ok(text.value),
        Some(diagnostic) => Err(Problem::new(Cause::Malformed, location(node), diagnostic.message)),
    }
}

/// The problem with a value of the wrong type, such as a mapping or a list.
pub(super) fn malformed(node: &Node<'_>, must: &str) -> Problem {
    let found = match node.kind {
        Value::Refused => ", and an alias or a tag of YAML is not read",
        _ => "",
    };
    Problem::new(Cause::Malformed, location(node), format!("{must}{found}"))
}

/// The orbs that a call consumes.
pub(super) fn orbs(node: &Node<'_>, what: &str) -> Result<Orbs, Problem> {
    let word = match &node.kind {
        Value::Scalar(scalar) if scalar.plain => Some(scalar.text.as_ref()),
        _ => None,
    };
    match (word, amount(node)) {
        (Some("false"), _) => Ok(Orbs::Free),
        (Some("true"), _) => Ok(Orbs::Unstated),
        (_, Some(amount)) => Ok(Orbs::Amount(amount)),
        _ => {
            let must = "must be `true`, `false` or a plain whole number from 1 to 9223372036854775807";
            let message = format!("{what} {must}");
            Err(Problem::new(Cause::Orbs, location(node), message))
        }
    }
}

/// Whether a policy accepts a human-readable string. Strings in a document can contain any
/// character.
pub(super) fn is_visible(text: &str) -> bool {
    !text.contains(|c| is_hidden(c) || c == '\r')
}
