//! Writes a policy line by line, and records which part of the document each line comes from.

use core::fmt::Write as _;
use std::collections::{HashMap, HashSet};

use orbgate::{Orbs, Policy};
use orbgate_analysis::shown::json;

use crate::document::{Document, Need};
use crate::node::{Cause, Problem};
use crate::security::Needed;
use crate::template::shape;
use crate::words::scalar;

/// The origin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The policy, or an api.
    Head,
    /// A scope, by its number in the list of [`Written`].
    Scope(usize),
    /// What a scope's routes need.
    NeedOfScope(usize),
    /// An operation.
    Route(usize),
    /// What an operation needs.
    NeedOfRoute(usize),
    /// A closed template.
    Closed(usize),
}

#[derive(Default)]
struct Sheet {
    text: String,
    owners: Vec<Owner>,
}

impl Sheet {
    fn line(&mut self, owner: Owner, indent: usize, line: &str) {
        // The reader refuses a longer policy, whatever follows. Routes can share a long requirement.
        let is_too_long = u64::try_from(self.text.len()).is_ok_and(|length| length > Policy::MAX_BYTES);
        if is_too_long {
            return;
        }
        // Writing to a string can't fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "");
        self.owners.push(owner);
    }
}

/// A scope of an api, with its operations.
struct Scope<'d> {
    name: &'d str,
    permits: Option<&'d str>,
    orbs: Option<Orbs>,
    is_sensitive: bool,
    routes: Vec<Listed<'d>>,
}

struct Written {
    name: String,
    /// The operations that it owns.
    routes: Vec<usize>,
}

/// An operation as a route: its number, its requirements, and its note.
struct Listed<'d> {
    number: usize,
    need: &'d Need,
    note: Option<&'d str>,
}

/// The policy's YAML, with all operations and closed templates that a policy can contain. Each other operation gets a
/// problem.
///
/// Only the policy reader decides. An error that doesn't belong to an operation is returned.
pub(super) fn policy(document: &mut Document) -> Result<String, String> {
    loop {
        let (sheet, scopes) = write(document);
        let Err(error) = Policy::from_yaml(&sheet.text) else {
            return Ok(sheet.text);
        };
        let owner = |line: usize| sheet.owners.get(line.checked_sub(1)?).copied();
        let mut wrong: Vec<(usize, Cause, String)> = Vec::new();
        let mut open = Vec::new();
        for diagnostic in error.diagnostics() {
            let line = usize::try_from(diagnostic.location.line).unwrap_or(usize::MAX);
            let message = without_line(&diagnostic.message);
            let (operations, cause): (Vec<usize>, _) = match owner(line).unwrap_or(Owner::Head) {
                Owner::Head => return Err(message.to_owned()),
                Owner::Closed(closed) => {
                    open.push((closed, message.to_owned()));
                    continue;
                }
                Owner::Route(operation) => {
                    // An operation is worth more than the closed template that it contradicts.
                    if let Some(Owner::Closed(closed)) = first_line(&diagnostic.message).and_then(owner) {
                        open.push((closed, message.to_owned()));
                        continue;
                    }
                    let cause = match message {
                        message if message.starts_with("method ") => Cause::Method,
                        message if message.starts_with("the scopes ") => Cause::Requirement,
                        _ => Cause::Path,
                    };
                    // The whole is too long, so it isn't only this route.
                    let rest = sheet.owners.iter().skip(line).filter(|_| message.contains(" up to here "));
                    let rest = rest.filter_map(|owner| match owner {
                        Owner::Route(operation) => Some(*operation),
                        _ => None,
                    });
                    let needs_more =
                        |operation: &usize| cause != Cause::Requirement || !document.needs_one_scope(*operation);
                    (core::iter::once(operation).chain(rest.filter(needs_more)).collect(), cause)
                }
                Owner::NeedOfRoute(operation) => (vec![operation], Cause::Requirement),
                Owner::NeedOfScope(scope) => {
                    (scopes.get(scope).map(|scope| scope.routes.clone()).unwrap_or_default(), Cause::Requirement)
                }
                Owner::Scope(scope) => {
                    (scopes.get(scope).map(|scope| document.name(&scope.name)).unwrap_or_default(), Cause::Scope)
                }
            };
            if operations.is_empty() {
                return Err(message.to_owned());
            }
            wrong.extend(operations.into_iter().map(|operation| (operation, cause, message.to_owned())));
        }
        // A scope that no policy can have is the reason for other errors.
        wrong.sort_by_key(|(_, cause, _)| *cause != Cause::Scope);
        for (operation, kind, message) in wrong {
            if let Some(operation) = document.operations.get_mut(operation)
                && operation.need.is_ok()
            {
                operation.need = Err(Problem::new(kind, operation.location, message));
            }
        }
        open_again(document, open);
    }
}

/// Removes closed templates that the policy reader refuses.
fn open_again(document: &mut Document, open: Vec<(usize, String)>) {
    let closed = core::mem::take(&mut document.closed);
    let mut open: HashMap<usize, String> = open.into_iter().collect();
    for (number, closed) in closed.into_iter().enumerate() {
        match open.remove(&number) {
            None => document.closed.push(closed),
            Some(message) => {
                let empty = document.empty.iter_mut().find(|empty| empty.location == closed.location);
                if let Some(empty) = empty {
                    empty.problem = Some(message);
                }
                document.unclosable.insert(shape(&closed.path));
            }
        }
    }
}

/// The line of the other place that the reader's message names.
fn first_line(message: &str) -> Option<usize> {
    let (_, other) = message.strip_suffix(')')?.rsplit_once("line ")?;
    let digits = other.split(',').next().unwrap_or_default();
    digits.parse().ok()
}

/// The reader's message without its line numbers, which don't refer to the document.
fn without_line(message: &str) -> &str {
    let start = message.find(" (line ").or(message.find(" (first on line "));
    match start {
        Some(start) if message.ends_with(')') => message.get(..start).unwrap_or(message),
        _ => message,
    }
}

/// The YAML, and the operations of each scope by its number.
fn write(document: &Document) -> (Sheet, Vec<Written>) {
    let mut sheet = Sheet::default();
    let mut written = Vec::new();
    let facts = &document.policy;
    for comment in &facts.comments {
        sheet.line(Owner::Head, 0, &format!("# {comment}"));
    }
    sheet.line(Owner::Head, 0, "orbgate: 1");
    if let Some(name) = &facts.name {
        sheet.line(Owner::Head, 0, &format!("name: {}", scalar(name)));
    }
    if let Some(target) = &facts.target {
        sheet.line(Owner::Head, 0, &format!("target: {}", scalar(target)));
    }
    if facts.trailing_slash {
        sheet.line(Owner::Head, 0, "trailing_slash: always");
    }
    let shared = Shared::new(document);
    let apis: Vec<_> = document.schemes.chosen().collect();
    sheet.line(Owner::Head, 0, if apis.is_empty() { "apis: {}" } else { "apis:" });
    for (number, scheme) in apis {
        let facts = scheme.api.as_ref();
        let name = facts.map_or(&scheme.name, |facts| &facts.name);
        sheet.line(Owner::Head, 2, &format!("{}:", scalar(name)));
        if let Some(base_path) = document.base_path_of(scheme) {
            sheet.line(Owner::Head, 4, &format!("base_path: {}", scalar(base_path)));
        }
        if let Some(rule) = facts.and_then(|facts| facts.organisation.as_deref()) {
            sheet.line(Owner::Head, 4, "token: user");
            sheet.line(Owner::Head, 4, &format!("organisation: {}", scalar(rule)));
        }
        let closed = document.closed.iter().enumerate().filter(|(_, closed)| closed.scheme == number);
        for (place, (number, closed)) in closed.enumerate() {
            if place == 0 {
                sheet.line(Owner::Head, 4, "closed:");
            }
            sheet.line(Owner::Closed(number), 6, &format!("- {}", scalar(&closed.template)));
        }
        let scopes = scopes(document, number, &shared);
        sheet.line(Owner::Head, 4, if scopes.is_empty() { "scopes: {}" } else { "scopes:" });
        for scope in scopes {
            scope.write(written.len(), &shared, &mut sheet);
            let routes = scope.routes.iter().map(|route| route.number).collect();
            written.push(Written { name: scope.name.to_owned(), routes });
        }
    }
    if !facts.headings.is_empty() {
        sheet.line(Owner::Head, 0, "headings:");
        for heading in &facts.headings {
            sheet.line(Owner::Head, 2, &format!("- {}", scalar(heading)));
        }
    }
    // A policy that a reload reads must be complete.
    sheet.line(Owner::Head, 0, "...");
    (sheet, written)
}

/// What the apis share.
struct Shared<'d> {
    /// The scopes that an api has because the document lists them or because they own a route.
    known: HashSet<&'d str>,
    /// What all routes of a scope need, in all apis; `None` if they differ.
    needs: HashMap<&'d str, Option<&'d Needed>>,
}

impl<'d> Shared<'d> {
    fn new(document: &'d Document) -> Self {
        let facts = document.schemes.chosen().filter_map(|(_, scheme)| scheme.api.as_ref());
        let mut known: HashSet<_> = facts.flat_map(|facts| &facts.scopes).map(|scope| scope.name.as_str()).collect();
        let mut needs: HashMap<&str, Option<&Needed>> = HashMap::new();
        for need in document.operations.iter().filter_map(|operation| operation.need.as_ref().ok()) {
            let needed = &*need.needed;
            known.insert(&needed.scope);
            let all = needs.entry(&needed.scope).or_insert(Some(needed));
            let is_alike =
                all.is_some_and(|all| core::ptr::eq(all, needed) || (&all.and, &all.or) == (&needed.and, &needed.or));
            if !is_alike {
                *all = None;
            }
        }
        Self { known, needs }
    }

    /// What all routes of a scope need, if that isn't only the scope.
    fn need(&self, scope: &str) -> Option<&'d Needed> {
        self.needs.get(scope).copied().flatten().filter(|needed| !needed.is_one_scope())
    }
}

/// The scopes of an api: first those that the document lists, then those of operations.
fn scopes<'d>(document: &'d Document, scheme: usize, shared: &Shared<'d>) -> Vec<Scope<'d>> {
    let declared = document.schemes.all.get(scheme);
    let facts = declared.and_then(|scheme| scheme.api.as_ref());
    let listed = facts.map_or(&[][..], |facts| facts.scopes.as_slice());
    let scope = |name, permits: Option<&'d String>, orbs| {
        let permits = permits.map(String::as_str);
        Scope { name, permits, orbs, is_sensitive: false, routes: Vec::new() }
    };
    let listed = listed.iter().map(|listed| Scope {
        is_sensitive: listed.is_sensitive,
        ..scope(&listed.name, listed.permits.as_ref(), listed.orbs)
    });
    let mut scopes: Vec<Scope<'_>> = listed.collect();
    let locations = scopes.iter().enumerate();
    let mut locations: HashMap<&str, usize> = locations.map(|(location, scope)| (scope.name, location)).collect();
    let mut seen = HashSet::new();
    for (number, operation) in document.operations.iter().enumerate() {
        let Some(need) = operation.need.as_ref().ok().filter(|need| need.needed.scheme == scheme) else {
            continue;
        };
        let permits = |name: &String| document.schemes.permits(scheme, name);
        let mut location_of = |name: &'d String, scopes: &mut Vec<Scope<'d>>| {
            *locations.entry(name).or_insert_with(|| {
                scopes.push(scope(name, permits(name), None));
                scopes.len().saturating_sub(1)
            })
        };
        let location = location_of(&need.needed.scope, &mut scopes);
        if let Some(scope) = scopes.get_mut(location) {
            scope.routes.push(Listed { number, need, note: operation.note.as_deref() });
        }
        // Operations can share a long requirement.
        if seen.insert(core::ptr::from_ref(&*need.needed)) {
            // Those that are known come later, or are in another api.
            let others = need.needed.scopes().filter(|name| !shared.known.contains(name.as_str()));
            for name in others {
                location_of(name, &mut scopes);
            }
        }
    }
    for scope in &mut scopes {
        let charges = scope.routes.iter().filter(|route| !route.need.own).map(|route| route.need.orbs);
        scope.orbs = scope.orbs.or_else(|| column(charges));
    }
    scopes
}

/// The default of the scope's routes that don't state their own orbs, if the document states orbs only in operations.
fn column(mut charges: impl Iterator<Item = Option<Orbs>>) -> Option<Orbs> {
    let first = charges.next()??;
    let alike = charges.all(|charge| charge == Some(first));
    // If they differ, each other route states its own.
    Some(if alike { first } else { Orbs::Unstated })
}

impl Scope<'_> {
    fn write(&self, number: usize, shared: &Shared<'_>, sheet: &mut Sheet) {
        let owner = Owner::Scope(number);
        sheet.line(owner, 6, &format!("{}:", scalar(self.name)));
        if let Some(permits) = self.permits {
            sheet.line(owner, 8, &format!("permits: {}", scalar(permits)));
        }
        if self.is_sensitive {
            sheet.line(owner, 8, "sensitive: true");
        }
        let of_all = shared.need(self.name).filter(|_| !self.routes.is_empty());
        if let Some(needed) = of_all {
            write_need(needed, Owner::NeedOfScope(number), 8, sheet);
        }
        if let Some(orbs) = self.orbs {
            sheet.line(owner, 8, &format!("orbs: {}", charge(orbs)));
        }
        if self.routes.is_empty() {
            sheet.line(owner, 8, "routes: []");
            return;
        }
        sheet.line(owner, 8, "routes:");
        for Listed { number, need, note } in &self.routes {
            let route = Owner::Route(*number);
            let method = need.method.as_str();
            let mut text = scalar(&format!("{method} {}", need.template));
            if let Some(note) = note {
                text.extend([" # ", note]);
            }
            let orbs = need.orbs.filter(|_| need.own || self.orbs != need.orbs);
            let needed = Some(&*need.needed).filter(|needed| of_all.is_none() && !needed.is_one_scope());
            if orbs.is_none() && needed.is_none() {
                sheet.line(route, 10, &format!("- {text}"));
                continue;
            }
            sheet.line(route, 10, &format!("- route: {text}"));
            if let Some(orbs) = orbs {
                sheet.line(route, 12, &format!("orbs: {}", charge(orbs)));
            }
            if let Some(needed) = needed {
                write_need(needed, Owner::NeedOfRoute(*number), 12, sheet);
            }
        }
    }
}

/// The maximum length of a line with a list in brackets, in characters.
const LINE: usize = 100;

/// Writes the keys `or` and `and`.
fn write_need(needed: &Needed, owner: Owner, indent: usize, sheet: &mut Sheet) {
    let alternatives: Vec<_> = needed.or.iter().map(|scopes| scopes.join(" ")).collect();
    let in_brackets = alternatives.iter().map(|text| match text.contains(['{', '}']) {
        true => json(&serde_json::to_string(text).unwrap_or_default()).into_owned(),
        false => scalar(text),
    });
    let in_brackets = format!("or: [{}]", in_brackets.collect::<Vec<_>>().join(", "));
    if !alternatives.is_empty() && indent.saturating_add(in_brackets.chars().count()) <= LINE {
        sheet.line(owner, indent, &in_brackets);
    } else if !alternatives.is_empty() {
        sheet.line(owner, indent, "or:");
        for alternative in &alternatives {
            sheet.line(owner, indent.saturating_add(2), &format!("- {}", scalar(alternative)));
        }
    }
    if !needed.and.is_empty() {
        sheet.line(owner, indent, &format!("and: {}", scalar(&needed.and.join(" "))));
    }
}

/// The orbs of a call, in the policy's syntax.
fn charge(orbs: Orbs) -> String {
    match orbs {
        Orbs::Free => "false".to_owned(),
        Orbs::Unstated => "true".to_owned(),
        Orbs::Amount(amount) => amount.to_string(),
    }
}
