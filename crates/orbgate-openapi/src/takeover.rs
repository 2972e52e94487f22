//! Keeps routes from deciding calls of paths that the policy lacks: closes these paths or, if a policy can't, leaves the
//! routes out.

use std::collections::{HashMap, HashSet};

use orbgate::Location;
use orbgate_yaml::quoted;

use crate::document::{Closed, Document, Operation, below};
use crate::left_out::leave_out;
use crate::node::Cause;
use crate::template::{Template, shape};

/// A path of the document whose calls, or some of them, no route of the policy decides.
struct Gone {
    /// How messages show it.
    name: String,
    location: Location,
    /// `None` if its methods are unknown.
    method: Option<String>,
    path: String,
    /// Whether it is a path without operations.
    is_empty: bool,
    /// The name of the api whose closed template it is, if the document states it.
    api: Option<String>,
}

impl Gone {
    fn new(operation: &Operation, path: String) -> Self {
        let (method, location) = (operation.method.clone(), operation.location);
        Self { name: operation.name(), location, method, path, is_empty: false, api: None }
    }
}

/// An operation that the policy has.
struct Kept {
    number: usize,
    method: String,
    path: String,
}

/// Decides which paths are closed, and leaves out the routes that would still decide calls of others. False if nothing
/// changed.
///
/// OpenAPI matches a concrete path before one with parameters, whatever their methods. For example, without
/// `/users/me`, `GET /users/{id}` would decide its calls, with another scope.
pub(super) fn resolve(document: &mut Document) -> bool {
    let (kept, mut gone) = parts(document);
    let mut shapes: HashMap<String, usize> = HashMap::new();
    for kept in &kept {
        let count = shapes.entry(shape(&kept.path)).or_default();
        *count = count.saturating_add(1);
    }
    // Templates of different lengths never match the same path.
    let mut by_length: HashMap<usize, Vec<(&Kept, Template<'_>)>> = HashMap::new();
    for kept in &kept {
        let template = Template::of_policy(&kept.path);
        by_length.entry(template.length().unwrap_or_default()).or_default().push((kept, template));
    }
    let (mut closed, mut taken, mut left) = (Vec::new(), HashSet::new(), Vec::new());
    // The last first, so that of several reasons to leave an operation out, the last one is shown.
    while let Some(path) = gone.pop() {
        let Some(template) = Template::new(&path.path) else {
            continue;
        };
        let own_shape = shape(&path.path);
        let has_route = shapes.get(&own_shape).is_some_and(|count| *count > 0);
        let place = match has_route || document.unclosable.contains(&own_shape) {
            true => None,
            false => template.is_plain().then(|| place(document, &path)).flatten(),
        };
        let is_known = has_route || place.is_some();
        let alike: Vec<_> = match template.length() {
            Some(length) => by_length.get_mut(&length).into_iter().collect(),
            None => by_length.values_mut().collect(),
        };
        let (mut against, mut overtaken) = (None, Vec::new());
        for alike in alike {
            let mut takes_over = |(kept, candidate): &mut (&Kept, Template<'_>)| {
                if !candidate.meets(&template) {
                    return false;
                }
                // An exported policy knows that its closed templates have no methods.
                let is_own = match &path.method {
                    Some(method) => *method == kept.method,
                    None => !(path.is_empty && document.policy.is_stated),
                };
                if is_known && !candidate.is_chosen_before(&template) {
                    against = against.or_else(|| (!has_route).then_some(kept.number));
                    return false;
                }
                let is_asked = is_own || (!is_known && template.has_whole_segments() && template.is_within(candidate));
                is_asked && !candidate.is_within(&template)
            };
            overtaken.extend(alike.extract_if(.., |candidate| takes_over(candidate)).map(|(kept, _)| kept));
        }
        if let Some((scheme, below)) = place.filter(|_| path.is_empty || against.is_some())
            && taken.insert(own_shape)
        {
            let against = against.filter(|_| !path.is_empty).and_then(|number| document.operations.get(number));
            closed.push(Closed {
                scheme,
                template: below,
                path: path.path.clone(),
                location: path.location,
                against: against.map(|operation| (operation.name(), operation.location.line)),
            });
        }
        overtaken.sort_unstable_by_key(|kept| kept.number);
        for kept in overtaken {
            left.push((kept.number, path.name.clone(), path.location.line));
            if let Some(count) = shapes.get_mut(&shape(&kept.path)) {
                *count = count.saturating_sub(1);
            }
            // Its calls in turn must not be decided by others.
            gone.extend(document.operations.get(kept.number).map(|operation| Gone::new(operation, kept.path.clone())));
        }
    }
    closed.sort_by_key(|closed: &Closed| closed.location);
    let is_changed = !left.is_empty() || closed != document.closed;
    for (number, name, line) in left {
        let message = format!("it would decide calls of {} (line {line}), which is left out", quoted(&name));
        leave_out(document, number, Cause::TakesOver, message);
    }
    document.closed = closed;
    is_changed
}

/// The operations that the policy has, and what it lacks.
fn parts(document: &Document) -> (Vec<Kept>, Vec<Gone>) {
    let slash = if document.policy.trailing_slash { "/" } else { "" };
    let path = |path: &str| path.strip_suffix(slash).filter(|path| !path.is_empty()).unwrap_or(path).to_owned();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for (number, operation) in document.operations.iter().enumerate() {
        match (&operation.need, &operation.method) {
            _ if operation.same_call_as.is_some() => {}
            (Ok(_), Some(method)) => {
                kept.push(Kept { number, method: method.clone(), path: path(&operation.path) });
            }
            _ => gone.push(Gone::new(operation, path(&operation.path))),
        }
    }
    gone.extend(document.empty.iter().map(|empty| Gone {
        name: empty.path.clone(),
        location: empty.location,
        method: None,
        path: path(&empty.path),
        is_empty: true,
        api: empty.api.clone(),
    }));
    (kept, gone)
}

/// The scheme whose api can have a closed template for the path, and the template below its base path.
fn place(document: &Document, gone: &Gone) -> Option<(usize, String)> {
    let mut schemes = document.schemes.chosen().filter(|(_, scheme)| match &gone.api {
        Some(api) => *api == *scheme.api.as_ref().map_or(&scheme.name, |facts| &facts.name),
        None => true,
    });
    schemes.find_map(|(number, scheme)| {
        let template = below(document.base_path_of(scheme)?, &gone.path)?;
        Some((number, template.to_owned()))
    })
}
