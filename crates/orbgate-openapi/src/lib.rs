#![doc = include_str!("../README.md")]

mod advice;
mod document;
mod drift;
mod export;
mod json;
mod left_out;
mod node;
mod operations;
mod parameters;
mod part;
mod read;
mod scheme;
mod security;
mod sheet;
mod takeover;
mod template;
mod tree;
mod words;

use std::collections::{HashMap, HashSet};

use orbgate::policy::Diagnostic;
use orbgate::{Location, Orbs};
use orbgate_yaml::quoted;

use crate::security::Remark;

// The public interface is:
pub use crate::drift::{Drift, DriftKind, check};
pub use crate::export::export;
pub use crate::node::{Cause, NoteKind};
pub use crate::tree::MAX_BYTES;

/// Settings that a document doesn't contain.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The security schemes whose scopes are used, or whose roles, if their type is `http`. Several schemes are one token:
    /// what an alternative requires of them is required of it, and the api is named after the first one. Scopes of one name
    /// are one scope, and a comment in the policy says so. The policy allows
    /// nothing to callers of other schemes. Empty if only one scheme in the document has scopes.
    pub schemes: Vec<String>,
    /// The schemes without scopes, such as API keys, that something in front of the policy checks. The policy doesn't
    /// require them, and a comment at each route says which it must check.
    pub elsewhere: Vec<String>,
    /// The path before every path in the document; `None` to use the path of its servers.
    pub base_path: Option<String>,
    /// The scope of operations that name none. If no scheme has scopes, it gets its own api. `None` leaves
    /// these operations out. An operation that is explicitly open to any caller is always left out.
    pub default_scope: Option<String>,
    /// The orbs that a call consumes if `x-orbs` doesn't state them.
    pub orbs: Option<Orbs>,
    /// Whether an operation whose security is optional (one alternative is `{}`) needs its other alternative. The policy
    /// then denies callers without a token. If false, these operations are left out.
    pub require_optional: bool,
    /// Whether any of the scopes that a requirement lists together is enough. Many documents mean this, although OpenAPI
    /// requires all of them.
    pub all_of_as_any: bool,
}

/// A policy imported from a document.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Imported {
    /// The YAML of the policy, which is valid.
    pub policy: String,
    /// The number of its operations.
    pub operations: usize,
    /// The number of the document's operations whose `security` names scopes.
    pub with_scopes: usize,
    /// How many of these are in the policy.
    pub with_scopes_imported: usize,
    /// How many of those have a path parameter that seems to take several segments, so that no such call matches the route.
    pub multi_segment: usize,
    /// The operations that were left out, in document order.
    pub left_out: Vec<LeftOut>,
    /// Operations that were imported, with something that you should know, in document order.
    pub notes: Vec<Note>,
}

/// An operation that was left out, because no policy can express it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LeftOut {
    /// The location in the document of the part that no policy can express.
    pub location: Location,
    /// Method and path, or only the path if the methods are unknown.
    pub operation: String,
    /// The reason.
    pub kind: Cause,
    /// A message for users: lower case, no final period.
    pub message: String,
}

/// What you should know of an operation that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Note {
    /// The location in the document.
    pub location: Location,
    /// Method and path.
    pub operation: String,
    /// The kind of note.
    pub kind: NoteKind,
    /// A message for users: lower case, no final period.
    pub message: String,
}

/// Converts an OpenAPI 3.0 or 3.1 document, in JSON or YAML, of at most [`MAX_BYTES`] bytes, to a
/// policy.
///
/// The policy never allows a call for less than the document requires, unless you set [`Options::elsewhere`] or
/// [`Options::all_of_as_any`]: an operation is either expressed exactly or left out. Both write a comment into the policy.
/// An operation's id, its summary and whether it is deprecated become a comment; other human-readable text is dropped.
/// `$ref` and aliases aren't followed. Memory is proportional to the number of values that are kept, at most four
/// million.
///
/// ```
/// use orbgate::Orbs;
/// use orbgate_openapi::{Cause, Options, import};
///
/// let document = "
/// openapi: 3.1.0
/// info: { title: Items, version: '1' }
/// servers: [{ url: https://items.example/v1 }]
/// paths:
///   /items: { get: { security: [{ login: [read:items] }] } }
///   /items/{id}.json: { get: { security: [{ login: [read:items] }] } }
/// components:
///   securitySchemes: { login: { type: oauth2, flows: {} } }
/// ";
/// let options = Options { orbs: Some(Orbs::Free), ..Options::default() };
/// let imported = import(document.as_bytes(), &options).unwrap();
/// assert!(imported.policy.contains("- GET /items"));
/// assert_eq!(imported.left_out[0].kind, Cause::Path);
/// ```
///
/// # Errors
///
/// Returns errors in the document as a whole, or in the options for it; never empty.
pub fn import(bytes: &[u8], options: &Options) -> Result<Imported, Vec<Diagnostic>> {
    let mut document = read::read(bytes, options)?;
    left_out::duplicates(&mut document);
    let silent = document.operations.iter().find(|operation| {
        let need = operation.need.as_ref();
        need.is_ok_and(|need| need.orbs.is_none())
    });
    if let Some(operation) = silent {
        let message = "the document does not say what a call consumes (`x-orbs`): set the option `orbs` to false, true or an amount";
        return Err(vec![Diagnostic { location: operation.location, message: message.to_owned() }]);
    }
    let policy = settled(&mut document)?;
    let (mut left_out, mut notes) = (Vec::new(), Notes::default());
    for operation in &document.operations {
        match &operation.need {
            Err(problem) if !document.shares_a_route(operation) => left_out.push(LeftOut {
                location: problem.location,
                operation: operation.name(),
                kind: problem.kind,
                message: problem.message.clone(),
            }),
            _ => notes.add(operation),
        }
    }
    let mut notes = notes.into_list();
    let operations = document.operations.len().saturating_sub(left_out.len());
    paths(&document, &mut left_out, &mut notes);
    let with_scopes = document.operations.iter().filter(|operation| operation.names_scopes);
    let imported = |operation: &&document::Operation| operation.need.is_ok() || document.shares_a_route(operation);
    let with_scopes_imported = with_scopes.clone().filter(imported);
    let is_multi =
        |operation: &&document::Operation| operation.remarks.iter().any(|remark| remark.kind == NoteKind::MultiSegment);
    Ok(Imported {
        policy,
        operations,
        with_scopes: with_scopes.clone().count(),
        with_scopes_imported: with_scopes_imported.clone().count(),
        multi_segment: with_scopes_imported.filter(is_multi).count(),
        left_out,
        notes,
    })
}

/// The notes of operations.
#[derive(Default)]
struct Notes {
    /// Each with the number of operations that it is about.
    notes: Vec<(Note, usize)>,
    /// The place of the first note about each subject.
    subjects: HashMap<(NoteKind, String), usize>,
}

impl Notes {
    fn add(&mut self, operation: &document::Operation) {
        for Remark { kind, message, subject } in &operation.remarks {
            // Nearly all operations can have the same note about their scheme, so the first one shows it.
            let place = match subject {
                Some(subject) => *self.subjects.entry((*kind, subject.clone())).or_insert(self.notes.len()),
                None => self.notes.len(),
            };
            if let Some((_, count)) = self.notes.get_mut(place) {
                *count = count.saturating_add(1);
                continue;
            }
            let (location, operation) = (operation.location, operation.name());
            self.notes.push((Note { location, operation, kind: *kind, message: message.clone() }, 1));
        }
    }

    fn into_list(self) -> Vec<Note> {
        let list = self.notes.into_iter().map(|(mut note, count)| {
            if count > 1 {
                note.message.push_str(&format!(" (in {count} operations)"));
            }
            note
        });
        list.collect()
    }
}

/// Adds the closed paths to the notes, and the paths without operations that a policy can't close to what is left out.
fn paths(document: &document::Document, left_out: &mut Vec<LeftOut>, notes: &mut Vec<Note>) {
    let closed: HashSet<_> = document.closed.iter().map(|closed| closed.location).collect();
    let served = document.served();
    let open = document.empty.iter().filter(|empty| !closed.contains(&empty.location));
    let open = open.filter(|empty| !served.contains(&template::shape(&empty.path)));
    left_out.extend(open.map(|empty| {
        LeftOut {
            location: empty.location,
            operation: empty.path.clone(),
            kind: Cause::Path,
            message: empty
                .problem
                .clone()
                .unwrap_or_else(|| "a policy can't close this path, which has no operations".to_owned()),
        }
    }));
    left_out.sort_by_key(|left| left.location);
    notes.extend(document.closed.iter().filter_map(|closed| {
        let (route, line) = closed.against.as_ref()?;
        let message = format!("each call is denied with 405, because {} (line {line}) would decide it", quoted(route));
        Some(Note { location: closed.location, operation: closed.path.clone(), kind: NoteKind::Closed, message })
    }));
    notes.sort_by_key(|note| note.location);
}

/// Whether input that isn't a policy is an OpenAPI document of any version. Costs as much as parsing it.
///
/// ```
/// assert!(orbgate_openapi::is_document(b"openapi: 3.0.0"));
/// assert!(!orbgate_openapi::is_document(b"orbgate: 1"));
/// ```
#[must_use]
pub fn is_document(bytes: &[u8]) -> bool {
    read::is_one(bytes)
}

/// The policy's YAML, after leaving out every operation that must be.
fn settled(document: &mut document::Document) -> Result<String, Vec<Diagnostic>> {
    loop {
        let policy = sheet::policy(document).map_err(|message| {
            let location = Location { line: 1, column: 1 };
            vec![Diagnostic { location, message }]
        })?;
        // What is left out or closed can make another operation impossible.
        if !takeover::resolve(document) {
            return Ok(policy);
        }
    }
}
