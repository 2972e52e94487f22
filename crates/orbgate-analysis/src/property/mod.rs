//! What must hold for all requests of some callers, proved by looking at every template.

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
    /// What is stated.
    pub claim: Claim,
    /// Of whose requests.
    pub callers: Callers,
}

/// What is stated of the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// None of these calls is allowed.
    Never(Vec<Calls>),
    /// No other call is allowed.
    Only(Vec<Calls>),
    /// No allowed one of these calls consumes more orbs, or orbs without a stated amount.
    OrbsAtMost(u64, Vec<Calls>),
    /// No caller may make a call of the first and a call of the second kind. Of callers with any scopes those with one
    /// scope are meant: a token with every scope reaches everything.
    Apart([Calls; 2]),
}

impl Property {
    /// A property of its parts.
    #[must_use]
    pub const fn new(claim: Claim, callers: Callers) -> Self {
        Self { claim, callers }
    }
}
