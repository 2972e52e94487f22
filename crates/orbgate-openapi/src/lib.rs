#![doc = include_str!("../README.md")]

mod document;
mod drift;
mod export;
mod json;
mod keep;
mod kind;
mod left_out;
mod node;
mod scheme;
mod security;
mod servers;
mod sheet;
mod template;
mod tree;

use orbgate::policy::Diagnostic;
use orbgate::{Location, Orbs};

// The public interface is:
pub use crate::drift::{Drift, DriftKind, check};
pub use crate::export::export;
pub use crate::kind::Cause;
pub use crate::tree::MAX_BYTES;

/// What a document leaves open.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The security scheme whose scopes count, or whose roles, if its type is `http`. The policy allows nothing to
    /// callers of other schemes. `None` if the document has one scheme with scopes.
    pub scheme: Option<String>,
    /// The path before every path of the document; `None` for that of its servers.
    pub base_path: Option<String>,
    /// The scope of operations that name none; it gets its own api if no scheme has scopes. `None` leaves these
    /// operations out. An operation that says that anyone can call it is always left out.
    pub default_scope: Option<String>,
    /// What a call consumes where `x-orbs` does not say it.
    pub orbs: Option<Orbs>,
}

/// A policy from a document.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The policy's text, a valid one.
    pub policy: String,
    /// How many operations it has.
    pub operations: usize,
    /// The others, in the order of the document.
    pub left_out: Vec<LeftOut>,
}

/// An operation that is left out, because no policy can say what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Where the document says what no policy can.
    pub location: Location,
    /// Method and path, or the path where the methods are not known.
    pub operation: String,
    /// Why.
    pub kind: Cause,
    /// Why, for a person: lower case, no final period.
    pub message: String,
}

/// Makes a policy of a document of OpenAPI 3.0 or 3.1, in JSON or YAML, of at most [`MAX_BYTES`] bytes.
///
/// The policy never allows what the document does not: it says the same of an operation, or leaves it out. An
/// operation's id, its summary and whether it is deprecated become a comment; nothing else that is for people is kept.
/// No `$ref` and no alias is followed. Memory is in proportion to the values that are kept, at most four million of
/// them.
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
/// What is wrong with the document as a whole, or with the options for it; never none.
pub fn import(bytes: &[u8], options: &Options) -> Result<Imported, Vec<Diagnostic>> {
    let mut document = document::read(bytes, options)?;
    left_out::duplicates(&mut document);
    left_out::contradictions(&mut document);
    let silent = document.operations.iter().find(|operation| {
        let need = operation.need.as_ref();
        need.is_ok_and(|need| need.orbs.is_none())
    });
    if let Some(operation) = silent {
        let message = "the document does not say what a call consumes (`x-orbs`): set the option `orbs` to false, true or an amount";
        return Err(vec![Diagnostic {
            location: operation.location,
            message: message.to_owned(),
        }]);
    }
    let policy = settled(&mut document)?;
    let mut left_out = Vec::new();
    for operation in &document.operations {
        if let Err(problem) = &operation.need {
            left_out.push(LeftOut {
                location: problem.location,
                operation: operation.name(),
                kind: problem.kind,
                message: problem.message.clone(),
            });
        }
    }
    Ok(Imported {
        policy,
        operations: document.operations.len().saturating_sub(left_out.len()),
        left_out,
    })
}

/// Whether a text that is no policy is an OpenAPI document, of any version. It costs as much as reading one.
///
/// ```
/// assert!(orbgate_openapi::is_document(b"openapi: 3.0.0"));
/// assert!(!orbgate_openapi::is_document(b"orbgate: 1"));
/// ```
#[must_use]
pub fn is_document(bytes: &[u8]) -> bool {
    document::is_one(bytes)
}

/// The policy's text, after everything that must be left out is.
fn settled(document: &mut document::Document) -> Result<String, Vec<Diagnostic>> {
    judged(document)?;
    left_out::takeovers(document);
    judged(document)
}

/// The policy's text, after operations that no policy can have are left out.
fn judged(document: &mut document::Document) -> Result<String, Vec<Diagnostic>> {
    sheet::policy(document).map_err(|message| {
        let location = Location { line: 1, column: 1 };
        vec![Diagnostic { location, message }]
    })
}
