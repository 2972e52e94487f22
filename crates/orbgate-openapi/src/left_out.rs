//! Leaves out operations that are the same call as another.

use std::collections::HashMap;

use orbgate_yaml::quoted;

use crate::document::{Document, Operation};
use crate::node::{Cause, NoteKind, Problem};
use crate::security::Remark;
use crate::template::shape;
use crate::words::{any_of, words};

/// Leaves out all operations that share a method and a shape, because it is unknown which of them
/// decides. If all of them need the same, one of them stays for all.
pub(super) fn duplicates(document: &mut Document) {
    let mut alike: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (number, operation) in document.operations.iter().enumerate() {
        if let Some(method) = &operation.method {
            let key = (method.clone(), shape(&operation.path));
            alike.entry(key).or_default().push(number);
        }
    }
    for numbers in alike.into_values().filter(|numbers| numbers.len() > 1) {
        if !share_a_route(document, &numbers) {
            leave_out_all(document, &numbers);
        }
    }
}

/// Leaves out operations that are one call on the wire, and don't need the same.
fn leave_out_all(document: &mut Document, numbers: &[usize]) {
    let operations: Vec<_> = numbers.iter().filter_map(|number| document.operations.get(*number)).collect();
    // Of neighbours that need the same, one is enough to show that another one needs something else. So the first or the
    // second one differs.
    let mut others = operations.clone();
    others.dedup_by(|one, other| requires_the_same(one, other));
    let message = |operation: &&Operation| {
        let own = operation.need.as_ref().ok()?;
        let other = others.iter().find(|other| !requires_the_same(operation, other))?;
        let difference = match &other.need {
            Err(problem) => format!("can't be imported: {}", problem.message),
            Ok(other) if !own.needed.is_met_with(&other.needed) => {
                let [own, other] = [own, other].map(|need| any_of(need.needed.alternatives()));
                format!("needs scope {other}, not {own}")
            }
            Ok(other) => format!("has {}, not {}", words(other.orbs), words(own.orbs)),
        };
        let (name, line) = (quoted(&other.name()), other.location.line);
        Some(format!("{name} (line {line}) is the same call, except for the names of parameters, and {difference}"))
    };
    let messages: Vec<_> = operations.iter().map(message).collect();
    for (number, message) in numbers.iter().zip(messages) {
        if let Some(message) = message {
            leave_out(document, *number, Cause::Duplicate, message);
        }
    }
}

fn requires_the_same(one: &Operation, other: &Operation) -> bool {
    let needs = one.need.as_ref().ok().zip(other.need.as_ref().ok());
    needs.is_some_and(|(one, other)| one.requires_what(other))
}

/// Gives operations that are one call on the wire, and need the same, one route: that of the operation without a fragment, or
/// the first one's. False if they don't need the same.
fn share_a_route(document: &mut Document, numbers: &[usize]) -> bool {
    let operation = |number: &usize| document.operations.get(*number);
    let is_plain = |number: &&usize| operation(number).is_some_and(|operation| operation.fragment.is_empty());
    let Some(route) = numbers.iter().find(is_plain).or(numbers.first()) else {
        return false;
    };
    let is_alike =
        |number| operation(number).zip(operation(route)).is_some_and(|(one, other)| requires_the_same(one, other));
    let Some((name, line)) = operation(route).map(|one| (quoted(&one.name()), one.location.line)) else {
        return false;
    };
    if !numbers.iter().all(is_alike) {
        return false;
    }
    for number in numbers.iter().filter(|number| *number != route) {
        let fragment = document.operations.get(*number).map(|operation| operation.fragment.as_str());
        let (kind, why) = match fragment {
            None | Some("") => (NoteKind::SameCall, "except for the names of parameters"),
            Some(_) => (NoteKind::Fragment, "because a fragment never reaches a server"),
        };
        let message = format!("it is the same call as {name} (line {line}), {why}");
        leave_out(document, *number, Cause::Duplicate, message.clone());
        if let Some(operation) = document.operations.get_mut(*number) {
            operation.same_call_as = Some(*route);
            operation.remarks.push(Remark::new(kind, message));
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
