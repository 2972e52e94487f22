#![doc = include_str!("../README.md")]

#[cfg(feature = "yaml")]
mod compile;
mod decide;
mod engine;
mod listing;
#[cfg(feature = "yaml")]
pub mod policy;
mod tables;

// The public interface is:
pub use crate::decide::decision::{Allow, Charge, Decision, Deny};
pub use crate::decide::request::Request;
pub use crate::decide::token::{ScopeSet, Scopes, Token, TokenKind};
pub use crate::engine::Engine;
pub use crate::engine::batch::Batch;
pub use crate::engine::grant::{Grant, MissingStep};
#[cfg(feature = "serde")]
pub use crate::engine::table::Table;
pub use crate::listing::{Alternative, Closed, Requirement, Route, Scope, ScopeInApi};
#[cfg(feature = "yaml")]
pub use crate::policy::{Policy, PolicyError};
#[doc(hidden)]
pub use crate::tables::reason::{By, Named};
pub use crate::tables::reason::{Detail, Effect, Reason};
pub use crate::tables::route_id::RouteId;
#[doc(hidden)]
pub use crate::tables::sorted;
pub use crate::tables::terms::{Digest, Location, Orbs, OrganisationRule, Profile, is_earned, without_earned};
#[doc(hidden)]
pub use crate::tables::terms::{EARNED, is_literal, is_method};

/// Includes the engine that [`orbgate_build::compile`] generated from a policy file, by the file's name
/// without its extension. The expression has the type `&'static Engine`.
///
/// ```ignore
/// static ENGINE: &orbgate::Engine = orbgate::include_policy!("policy");
/// ```
///
/// [`orbgate_build::compile`]: https://docs.rs/orbgate-build/latest/orbgate_build/fn.compile.html
#[macro_export]
macro_rules! include_policy {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".orbgate.rs"))
    };
}

/// Used by generated code and by `orbgate-build`. Not part of the public interface: it can change in any release.
#[doc(hidden)]
pub mod generated {
    #[cfg(feature = "yaml")]
    pub use crate::compile::compile;
    pub use crate::engine::Engine;
    pub use crate::tables::hash::{Ends, Method, Methods, PerfectHash, Seed};
    pub use crate::tables::list::{List, Span, Text};
    pub use crate::tables::terms::Location;
    pub use crate::tables::terms::OrganisationRule::{AllowWithoutScope, Deny};
    pub use crate::tables::terms::Profile::{EncodedParams, Strict};
    pub use crate::tables::{
        ApiRow, ClosedRow, Literal, LiteralRow, Prefix, RouteRow, Run, ScopeInApiRow, ScopeRow, Spelling, Tables,
        Template, Terms, Tuple,
    };
}
