//! Leaves out operations that are the same call as another.

use std::collections::HashMap;

use orbgate_yaml::quoted;

use crate::document::Document;
use crate::node::{Cause, NoteKind, Problem};
use crate::template::shape;

/// Leaves out all operations that share a method and a shape, because it is unknown which of them
/// decides. If they differ only in their fragments, and need the same, one of them stays for all.
pub(super) fn duplicates(document: &mut Document) {
    let mut alike: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (number, operation) in document.operations.iter().enumerate() {
        if let Some(method) = &operation.method {
            let key = (method.clone(), shape(&operation.path));
            alike.entry(key).or_default().push(number);
        }
    }
    for numbers in alike.into_values().filter(|numbers| numbers.len() > 1) {
        if share_a_route(document, &numbers) {
            continue;
        }
        let [first, second] = [0, 1].map(|at| numbers.get(at).copied().unwrap_or_default());
        for number in &numbers {
            // The first operation's message names the second; all other messages name the first.
            let other = if *number == first { second } else { first };
            let other = document.operations.get(other);
            let other = other.map(|other| (quoted(&other.name()), other.location));
            let Some((name, location)) = other else {
                continue;
            };
            let message =
                format!("{name} (line {}) is the same call, except for the names of parameters", location.line);
            leave_out(document, *number, Cause::Duplicate, message);
        }
    }
}

/// Gives operations that are one call on the wire, and need the same, one route: that of the operation without a fragment, or
/// the first one's. False if they aren't.
fn share_a_route(document: &mut Document, numbers: &[usize]) -> bool {
    let operation = |number: &usize| document.operations.get(*number);
    let is_plain = |number: &&usize| operation(number).is_some_and(|operation| operation.fragment.is_empty());
    let need = |number| operation(number).and_then(|operation| operation.need.as_ref().ok());
    let mut plain = numbers.iter().filter(is_plain);
    let Some(route) = plain.next().or(numbers.first()).filter(|_| plain.next().is_none()) else {
        return false;
    };
    let is_alike = |number| need(number).zip(need(route)).is_some_and(|(one, other)| one.requires_what(other));
    let Some((name, line)) = operation(route).map(|one| (quoted(&one.name()), one.location.line)) else {
        return false;
    };
    if !numbers.iter().all(is_alike) {
        return false;
    }
    for number in numbers.iter().filter(|number| *number != route) {
        let message = format!("it is the same call as {name} (line {line}), because a fragment never reaches a server");
        leave_out(document, *number, Cause::Duplicate, message.clone());
        if let Some(operation) = document.operations.get_mut(*number) {
            operation.same_call_as = Some(*route);
            operation.notes.push((NoteKind::Fragment, message));
        }
    }
    true
}

pub(super) fn leave_out(document: &mut Document, number: usize, kind: Cause, message: String) {
    if let Some(operation) = document.operations.get_mut(number)
        && operation.need.is_ok()
    {
        operation.need = Err(Problem::new(kind, operation.location, message));
    }
}
