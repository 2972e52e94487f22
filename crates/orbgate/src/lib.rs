//! Which scope does this route need, may this token call it, does it consume orbs, and why?

#[cfg(feature = "yaml")]
pub mod policy;
/// The types of a validated policy. Without the feature `yaml` nothing reads one at run time.
#[cfg(not(feature = "yaml"))]
pub mod policy {
    mod fault;
    mod model;

    pub use fault::{Fault, InFile, Place, PolicyError};
    pub use model::{Api, Digest, Orbs, OrganisationRule, Policy, Profile, RouteRule, ScopeRule};
}
