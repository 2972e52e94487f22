//! The policy as people write it: the validated route → scope → orb table.

mod fault;
mod model;

pub use fault::{Fault, Place, PolicyError};
pub use model::{Api, Digest, OrganisationRule, Orbs, Policy, Profile, RouteRule, ScopeRule};
