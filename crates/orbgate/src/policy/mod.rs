//! File → policy: the validated route → scope → orb table that people write.
//!
//! The file becomes a policy in steps with one task each. The first step is the crate
//! `orbgate-yaml`:
//!
//! ```text
//! text ──orbgate-yaml──▶ values with locations ──read──▶ document ──rules, shared──▶ policy ──conflicts──▶ valid policy
//! ```

mod conflicts;
mod diagnostic;
mod digest;
mod document;
mod foreign;
mod grammar;
mod model;
#[cfg(feature = "schema")]
mod patterns;
mod prefixes;
mod read;
mod requirements;
mod rules;
#[cfg(feature = "schema")]
mod schema;
mod shared;
mod tuples;

pub use diagnostic::{Diagnostic, PolicyError};
#[doc(hidden)]
pub use grammar::{advice, parameter_of_another_format};
pub(crate) use grammar::{common_segments, full_template, segments};
pub use model::{Api, ClosedRule, Policy, Requirement, RouteRule, ScopeRule};
pub use orbgate_yaml::RegularFile as PolicyFile;
pub use prefixes::{Next, Prefixes};

use orbgate_yaml::Diagnostics;

use document::Document;

impl Policy {
    /// The URL of the policy format's JSON Schema for this version of the crate. It's the `$id` of the schema, and a policy
    /// names it for editors: `# yaml-language-server: $schema=…`.
    pub const SCHEMA_URL: &str =
        concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/v", env!("CARGO_PKG_VERSION"), "/policy/policy.schema.json");

    /// The maximum size of a policy file, in bytes.
    pub const MAX_BYTES: u64 = orbgate_yaml::MAX_BYTES;

    /// Reads and checks a policy. Time and memory are proportional to its size: about 10 times its size for most
    /// policies, and never more than 64 times.
    ///
    /// # Errors
    ///
    /// Returns every error in the file, each with its location.
    pub fn from_yaml(text: &str) -> Result<Self, PolicyError> {
        Self::from_bytes(text.as_bytes())
    }

    /// Reads and checks a policy from bytes that might not be UTF-8. When you read the file, you can stop one
    /// byte after [`Policy::MAX_BYTES`].
    ///
    /// # Errors
    ///
    /// Returns every error in the file, each with its location.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PolicyError> {
        let policy = orbgate_yaml::read(bytes, &read::FORMAT, read::document, judged);
        let mut policy = policy.map_err(PolicyError::new)?;
        policy.has_end_marker = orbgate_yaml::has_end_marker(bytes);
        policy.is_sealed = orbgate_yaml::is_sealed(bytes);
        Ok(policy)
    }
}

/// The policy that a document describes, with all its errors.
fn judged(mut document: Document, diagnostics: &mut Diagnostics) -> Policy {
    let mut policy = rules::policy(&mut document, diagnostics);
    shared::check(&document, diagnostics);
    requirements::check(&document, &policy, diagnostics);
    drop(document);
    conflicts::check(&policy, diagnostics);
    if diagnostics.is_empty() {
        policy.digest = digest::digest(&policy);
    }
    policy
}
