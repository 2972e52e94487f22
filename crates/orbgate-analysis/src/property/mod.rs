//! Statements about all requests of some callers, proved by checking every template.

mod callers;
mod calls;
mod line;
mod proof;

pub use self::callers::Callers;
pub use self::calls::Calls;
pub use self::proof::{Proof, Witness};

/// A statement about every request of some callers under a policy.
///
/// ```
/// use orbgate::Engine;
/// use orbgate_analysis::Property;
///
/// let never: Property = "never | organisation * | scope write:inference".parse()?;
/// assert!(never.prove(Engine::external())?.holds());
/// let only: Property = "only | user read:orbs | GET /api/v1/external/account".parse()?;
/// let proof = only.prove(Engine::external())?;
/// let shown = proof.witnesses[0].to_string();
/// assert!(shown.starts_with("user with `read:orbs` may call GET /api/v1/external/orbs: "), "{shown}");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Property {
    /// The statement.
    pub claim: Claim,
    /// The callers that it applies to.
    pub callers: Callers,
}

/// A statement about requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// None of these calls is allowed.
    Never(Vec<Calls>),
    /// No other calls are allowed.
    Only(Vec<Calls>),
    /// No allowed call among these consumes more orbs than this, or orbs without a stated amount.
    OrbsAtMost(u64, Vec<Calls>),
    /// No caller may make calls of both kinds. If the callers can have any scopes, only callers with one scope count,
    /// because a token with every scope can call everything.
    Apart([Calls; 2]),
}

impl Property {
    /// Makes a property from its parts.
    #[must_use]
    pub const fn new(claim: Claim, callers: Callers) -> Self {
        Self { claim, callers }
    }
}
