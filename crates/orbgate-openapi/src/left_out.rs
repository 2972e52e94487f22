//! Leaves out operations because of other operations.

use std::collections::HashMap;

use orbgate::Orbs;
use orbgate_yaml::quoted;

use crate::document::Document;
use crate::node::{Cause, Problem};
use crate::template::{Template, shape};

/// Leaves out all operations that share a method and a shape, because it is unknown which of them
/// decides.
pub(super) fn duplicates(document: &mut Document) {
    let mut alike: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (number, operation) in document.operations.iter().enumerate() {
        if let Some(method) = &operation.method {
            let key = (method.clone(), shape(&operation.path));
            alike.entry(key).or_default().push(number);
        }
    }
    for numbers in alike.into_values().filter(|numbers| numbers.len() > 1) {
        let [first, second] = [0, 1].map(|at| numbers.get(at).copied().unwrap_or_default());
        for number in &numbers {
            // The first operation's message names the second; all other messages name the first.
            let other = if *number == first { second } else { first };
            let other = document.operations.get(other);
            let other = other.map(|other| (quoted(&other.name()), other.location));
            let Some((name, location)) = other else {
                continue;
            };
            let message = format!("{name} (line {}) is the same except for the names of parameters", location.line);
            leave_out(document, *number, Cause::Duplicate, message);
        }
    }
}

/// Leaves out the operations of each scope for which some calls are free and others aren't.
pub(super) fn contradictions(document: &mut Document) {
    let mut scopes: HashMap<(usize, String), [Vec<usize>; 2]> = HashMap::new();
    for (number, operation) in document.operations.iter().enumerate() {
        if let Ok(need) = &operation.need
            && let Some(orbs) = need.orbs
        {
            let [free, others] = scopes.entry((need.scheme, need.scope.clone())).or_default();
            match orbs {
                Orbs::Free => free.push(number),
                Orbs::Unstated | Orbs::Amount(_) => others.push(number),
            }
        }
    }
    for ((_, scope), [free, others]) in scopes {
        if free.is_empty() || others.is_empty() {
            continue;
        }
        for number in free.into_iter().chain(others) {
            let scope = quoted(&scope);
            let message = format!("scope {scope} is free for some operations and consumes orbs for others");
            leave_out(document, number, Cause::Orbs, message);
        }
    }
}

/// Leaves out each operation whose template also matches calls of an operation that is left out, because it
/// would decide them.
///
/// For example, without `GET /users/me`, `GET /users/{id}` would decide its calls, with another scope.
pub(super) fn takeovers(document: &mut Document) {
    let paths: Vec<_> = document.operations.iter().map(|operation| operation.path.clone()).collect();
    let kept = |number: &usize| {
        let operation = document.operations.get(*number);
        operation.is_some_and(|operation| operation.need.is_ok())
    };
    let numbers = 0..document.operations.len();
    let (kept, mut gone): (Vec<_>, Vec<_>) = numbers.partition(kept);
    // Templates of different lengths never match the same path.
    let mut by_length: HashMap<usize, Vec<(usize, Template<'_>)>> = HashMap::new();
    for number in kept {
        let path = paths.get(number).map_or("", String::as_str);
        let template = Template::of_policy(path);
        let alike = by_length.entry(template.length().unwrap_or_default());
        alike.or_default().push((number, template));
    }
    while let Some(number) = gone.pop() {
        let path = paths.get(number).map_or("", String::as_str);
        let Some(template) = Template::new(path) else {
            continue;
        };
        let method = |number: usize| document.operations.get(number)?.method.as_deref();
        let own = method(number);
        let takes_over = |(other, candidate): &(usize, Template<'_>)| {
            (own.is_none() || own == method(*other)) && candidate.meets(&template) && !candidate.is_within(&template)
        };
        let mut found = Vec::new();
        let lengths: Vec<_> = match template.length() {
            Some(length) => by_length.get_mut(&length).into_iter().collect(),
            None => by_length.values_mut().collect(),
        };
        for alike in lengths {
            let taken = alike.extract_if(.., |candidate| takes_over(candidate));
            found.extend(taken.map(|(number, _)| number));
        }
        found.sort_unstable();
        continue_with(document, number, &found, &mut gone);
    }
}

/// Leaves out the given operations, and then the operations that would decide their calls.
fn continue_with(document: &mut Document, number: usize, found: &[usize], gone: &mut Vec<usize>) {
    let operation = document.operations.get(number);
    let Some((name, line)) = operation.map(|operation| (quoted(&operation.name()), operation.location.line)) else {
        return;
    };
    for other in found {
        let message = format!("it would decide calls of {name} (line {line}), which is left out");
        leave_out(document, *other, Cause::TakesOver, message);
        gone.push(*other);
    }
}

fn leave_out(document: &mut Document, number: usize, kind: Cause, message: String) {
    if let Some(operation) = document.operations.get_mut(number)
        && operation.need.is_ok()
    {
        operation.need = Err(Problem::new(kind, operation.location, message));
    }
}
