//! Writes a policy line by line, and records which part of the document each line comes from.

use core::fmt::Write as _;

use orbgate::{Orbs, Policy};
use orbgate_analysis::shown::json;

use crate::document::{Document, Need};
use crate::node::{Cause, Problem};

/// The origin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The policy, or an api.
    Head,
    /// A scope: the scheme's number and the scope's number within the api.
    Scope(usize),
    /// An operation.
    Route(usize),
}

/// A policy being written.
#[derive(Default)]
struct Sheet {
    text: String,
    owners: Vec<Owner>,
}

impl Sheet {
    fn line(&mut self, owner: Owner, indent: usize, line: &str) {
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
    routes: Vec<Listed<'d>>,
}

/// An operation as a route: its number, its requirements, and its note.
struct Listed<'d> {
    number: usize,
    need: &'d Need,
    note: Option<&'d str>,
}

/// The policy's YAML, with all operations that a policy can contain. Each of the others gets a
/// problem.
///
/// Only the policy reader decides. An error that doesn't belong to an operation is returned.
pub(super) fn policy(document: &mut Document) -> Result<String, String> {
    loop {
        let (sheet, scopes) = write(document);
        let Err(error) = Policy::from_yaml(&sheet.text) else {
            return Ok(sheet.text);
        };
        let mut wrong: Vec<(usize, Cause, String)> = Vec::new();
        for diagnostic in error.diagnostics() {
            let line = usize::try_from(diagnostic.location.line).unwrap_or(usize::MAX);
            let owner = line.checked_sub(1).and_then(|line| sheet.owners.get(line));
            let message = without_line(&diagnostic.message);
            match owner.unwrap_or(&Owner::Head) {
                Owner::Head => return Err(message.to_owned()),
                Owner::Route(operation) => {
                    let of_method = message.starts_with("method ");
                    let kind = if of_method { Cause::Method } else { Cause::Path };
                    wrong.push((*operation, kind, message.to_owned()));
                }
                Owner::Scope(scope) => {
                    let operations = scopes.get(*scope).into_iter().flatten();
                    let problem = |operation: &usize| (*operation, Cause::Scope, message.to_owned());
                    let before = wrong.len();
                    wrong.extend(operations.map(problem));
                    if wrong.len() == before {
                        return Err(message.to_owned());
                    }
                }
            }
        }
        for (operation, kind, message) in wrong {
            if let Some(operation) = document.operations.get_mut(operation)
                && operation.need.is_ok()
            {
                operation.need = Err(Problem::new(kind, operation.location, message));
            }
        }
    }
}

/// Whether a policy accepts a string as its name.
pub(super) fn takes_name(name: &str) -> bool {
    let text = format!("orbgate: 1\nname: {}\napis: {{}}\n", scalar(name));
    Policy::from_yaml(&text).is_ok()
}

/// Whether a policy accepts a string as a scope's `permits`.
pub(super) fn takes_permits(permits: &str) -> bool {
    let scope = format!("permits: {}\n        routes: []", scalar(permits));
    let text = format!("orbgate: 1\napis:\n  api:\n    scopes:\n      s:\n        {scope}\n");
    Policy::from_yaml(&text).is_ok()
}

/// The policy reader's error for a string as a scope.
pub(super) fn scope_diagnostic(scope: &str) -> Option<String> {
    let scope = scalar(scope);
    let text = format!("orbgate: 1\napis:\n  api:\n    scopes:\n      {scope}: {{ routes: [] }}\n");
    let error = Policy::from_yaml(&text).err()?;
    Some(error.diagnostics().first()?.message.clone())
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
fn write(document: &Document) -> (Sheet, Vec<Vec<usize>>) {
    let mut sheet = Sheet::default();
    let mut operations = Vec::new();
    let facts = &document.policy;
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
    let apis: Vec<_> = document.schemes.chosen().collect();
    sheet.line(Owner::Head, 0, if apis.is_empty() { "apis: {}" } else { "apis:" });
    for (number, scheme) in apis {
        let facts = scheme.api.as_ref();
        let name = facts.map_or(&scheme.name, |facts| &facts.name);
        sheet.line(Owner::Head, 2, &format!("{}:", scalar(name)));
        let base_path = match facts {
            Some(facts) => facts.base_path.as_deref(),
            None => Some(document.base_path.as_str()),
        };
        if let Some(base_path) = base_path {
            sheet.line(Owner::Head, 4, &format!("base_path: {}", scalar(base_path)));
        }
        if let Some(rule) = facts.and_then(|facts| facts.organisation.as_deref()) {
            sheet.line(Owner::Head, 4, "token: user");
            sheet.line(Owner::Head, 4, &format!("organisation: {}", scalar(rule)));
        }
        let scopes = scopes(document, number);
        sheet.line(Owner::Head, 4, if scopes.is_empty() { "scopes: {}" } else { "scopes:" });
        for scope in &scopes {
            let owner = Owner::Scope(operations.len());
            operations.push(scope.routes.iter().map(|route| route.number).collect());
            scope.write(owner, &mut sheet);
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
    (sheet, operations)
}

/// The scopes of an api: first those that the document lists, then those of operations.
fn scopes(document: &Document, scheme: usize) -> Vec<Scope<'_>> {
    let declared = document.schemes.all.get(scheme);
    let facts = declared.and_then(|scheme| scheme.api.as_ref());
    let listed = facts.map_or(&[][..], |facts| facts.scopes.as_slice());
    let mut scopes: Vec<Scope<'_>> = listed
        .iter()
        .map(|scope| Scope {
            name: &scope.name,
            permits: scope.permits.as_deref(),
            orbs: scope.orbs,
            routes: Vec::new(),
        })
        .collect();
    let locations = scopes.iter().enumerate();
    let mut locations: std::collections::HashMap<&str, usize> =
        locations.map(|(location, scope)| (scope.name, location)).collect();
    for (number, operation) in document.operations.iter().enumerate() {
        let Ok(need) = &operation.need else {
            continue;
        };
        if need.scheme != scheme {
            continue;
        }
        let location = *locations.entry(&need.scope).or_insert_with(|| {
            let permits = declared.and_then(|scheme| scheme.permits.get(&need.scope));
            scopes.push(Scope {
                name: &need.scope,
                permits: permits.map(String::as_str),
                orbs: None,
                routes: Vec::new(),
            });
            scopes.len().saturating_sub(1)
        });
        if let Some(scope) = scopes.get_mut(location) {
            let note = operation.note.as_deref();
            scope.routes.push(Listed { number, need, note });
        }
    }
    for scope in &mut scopes {
        let charges = scope.routes.iter().map(|route| route.need.orbs);
        scope.orbs = scope.orbs.or_else(|| column(charges));
    }
    scopes
}

/// The scope's orb column, if the document states orbs only in operations.
fn column(mut charges: impl Iterator<Item = Option<Orbs>>) -> Option<Orbs> {
    let first = charges.next()??;
    let alike = charges.all(|charge| charge == Some(first));
    // If the amounts differ, each route states its own.
    Some(if alike { first } else { Orbs::Unstated })
}

impl Scope<'_> {
    fn write(&self, owner: Owner, sheet: &mut Sheet) {
        sheet.line(owner, 6, &format!("{}:", scalar(self.name)));
        if let Some(permits) = self.permits {
            sheet.line(owner, 8, &format!("permits: {}", scalar(permits)));
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
            match need.orbs {
                Some(Orbs::Amount(amount)) if need.own || self.orbs != need.orbs => {
                    sheet.line(route, 10, &format!("- route: {text}"));
                    sheet.line(route, 10, &format!("  orbs: {amount}"));
                }
                _ => sheet.line(route, 10, &format!("- {text}")),
            }
        }
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

/// A YAML string on one line: plain if every reader reads it as a string, otherwise quoted.
pub(super) fn scalar(text: &str) -> String {
    // Words that would pass the checks below, but that some reader doesn't read as a string.
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.{}:".contains(c);
    let mut words = text.split(' ');
    let plain = starts_well
        && words.all(|word| !word.is_empty() && !word.ends_with(':') && word.chars().all(is_plain))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    match plain {
        true => text.to_owned(),
        // YAML supports all JSON escapes.
        false => json(&serde_json::to_string(text).unwrap_or_default()).into_owned(),
    }
}
