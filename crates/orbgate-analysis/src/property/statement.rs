//! Statements, and how they are written.

use core::str::FromStr;

use orbgate_yaml::quoted;

use super::callers::Callers;
use super::calls::Calls;

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
    /// No caller may make calls of both kinds. If the callers can have any scopes, only those count whose scopes are one
    /// alternative of one of these calls, mostly one scope, because a token with every scope can call everything.
    Apart([Calls; 2]),
}

impl Property {
    /// Makes a property from its parts.
    #[must_use]
    pub const fn new(claim: Claim, callers: Callers) -> Self {
        Self { claim, callers }
    }
}

const FORMAT: &str = "a property is `never`, `only`, `at most N orbs` or `apart`, then ` | CALLERS | CALLS, CALLS`";

impl FromStr for Property {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cells: Vec<_> = text.split(" | ").map(str::trim).collect();
        let &[claim, callers, calls] = cells.as_slice() else {
            return Err(format!("{FORMAT}, not {}", quoted(text)));
        };
        let calls: Vec<Calls> = calls.split(", ").map(|calls| calls.trim().parse()).collect::<Result<_, _>>()?;
        let claim = match claim {
            "never" => Claim::Never(calls),
            "only" => Claim::Only(calls),
            "apart" => Claim::Apart(calls.try_into().map_err(|calls: Vec<_>| {
                format!("`apart` has calls of two kinds, not of {}: {}", calls.len(), quoted(text))
            })?),
            other => match orbs(other) {
                Some(most) => Claim::OrbsAtMost(most, calls),
                None => return Err(format!("{FORMAT}, not {}", quoted(text))),
            },
        };
        Ok(Self::new(claim, callers.parse()?))
    }
}

/// `at most N orbs`, where N is a decimal number.
fn orbs(claim: &str) -> Option<u64> {
    let number = claim.strip_prefix("at most ")?;
    let number = number.strip_suffix(" orbs").or_else(|| number.strip_suffix(" orb"))?;
    let most: u64 = number.parse().ok()?;
    (most.to_string() == number).then_some(most)
}
