#![doc = include_str!("../README.md")]

mod batch;
#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "build")]
mod codegen;
mod codes;
#[cfg(feature = "yaml")]
mod compile;
mod decide;
mod decision;
mod engine;
#[cfg(not(orbgate_bootstrap))] // as `cargo xtask external` builds, which writes it
#[rustfmt::skip]
mod external;
mod grant;
mod hash;
mod inference;
#[cfg(feature = "serde")]
mod json;
mod list;
mod listing;
mod lookup;
#[cfg(feature = "yaml")]
pub mod policy;
mod reason;
mod request;
mod route_id;
mod scopes;
#[cfg(feature = "yaml")]
mod seeded;
#[cfg(feature = "serde")]
mod table;
mod tables;
mod target;
mod terms;
mod token;
mod vector;

// The public interface is:
pub use crate::batch::Batch;
pub use crate::decision::{Allow, Charge, Decision, Deny};
pub use crate::engine::Engine;
pub use crate::grant::{Grant, MissingStep};
pub use crate::listing::{Route, Scope, ScopeInApi};
#[cfg(feature = "yaml")]
pub use crate::policy::{Policy, PolicyError};
#[doc(hidden)]
pub use crate::reason::Named;
pub use crate::reason::{Detail, Effect, Reason};
pub use crate::request::Request;
pub use crate::route_id::RouteId;
#[cfg(feature = "serde")]
pub use crate::table::Table;
pub use crate::terms::{Digest, Orbs, OrganisationRule, Place, Profile};
#[doc(hidden)]
pub use crate::terms::{is_literal, is_method};
pub use crate::token::{ScopeSet, Scopes, Token, TokenKind};

/// Brings in the engine that [`build::compile`] made of a policy file, by the file's name without its
/// extension: an expression of type `&'static Engine`.
///
/// ```ignore
/// static ENGINE: &orbgate::Engine = orbgate::include_policy!("policy");
/// ```
///
/// [`build::compile`]: https://docs.rs/orbgate/latest/orbgate/build/fn.compile.html
#[macro_export]
macro_rules! include_policy {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".orbgate.rs"))
    };
}

/// What generated code is made of. Not part of the public interface: it changes with any release.
#[doc(hidden)]
pub mod generated {
    pub use crate::engine::Engine;
    pub use crate::hash::{Ends, Method, Methods, PerfectHash, Seed};
    pub use crate::list::{List, Span, Text};
    pub use crate::tables::{
        ApiRow, Literal, LiteralRow, Prefix, RouteRow, Run, ScopeInApiRow, ScopeRow, Spelling,
        Tables, Template, Terms, Tuple,
    };
    pub use crate::terms::OrganisationRule::{AllowWithoutScope, Deny};
    pub use crate::terms::Place;
    pub use crate::terms::Profile::{EncodedParams, Strict};
}
