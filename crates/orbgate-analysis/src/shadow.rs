//! Decides with a second policy next to the active one. The second policy's decisions are only
//! compared.

use core::fmt;

use orbgate::{Decision, Detail, Engine, Request};

/// How a candidate's decision on a request differs from the active policy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Disagreement {
    /// The candidate allows a request that is denied.
    Wider,
    /// The candidate denies a request that is allowed.
    Narrower,
    /// Both allow, for a different charge.
    Cost,
    /// Both allow or both deny, but for a different reason, detail, route, scope or requirement.
    Reason,
}

impl Disagreement {
    /// All kinds of disagreement, the most serious first.
    pub const ALL: [Self; 4] = [Self::Wider, Self::Narrower, Self::Cost, Self::Reason];

    /// `wider`, `narrower`, `cost` or `reason`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wider => "wider",
            Self::Narrower => "narrower",
            Self::Cost => "cost",
            Self::Reason => "reason",
        }
    }

    /// How two decisions on one request disagree; `None` if they agree.
    ///
    /// The policies' digests and the locations of a route in their files can differ; that isn't a disagreement.
    #[must_use]
    pub fn between(enforced: &Decision<'_>, candidate: &Decision<'_>) -> Option<Self> {
        match (enforced.is_allow(), candidate.is_allow()) {
            (false, true) => return Some(Self::Wider),
            (true, false) => return Some(Self::Narrower),
            _ => {}
        }
        if enforced.charge() != candidate.charge() {
            return Some(Self::Cost);
        }
        // A gate's decision can be compared with an engine's, which verifies no token.
        let detail = |decision: &Decision<'_>| decision.detail().filter(|detail| *detail != Detail::Proof);
        let reasons = |decision: &Decision<'_>| (decision.reason().of_engine(), detail(decision));
        let is_same = reasons(enforced) == reasons(candidate)
            && enforced.route_name() == candidate.route_name()
            && enforced.api() == candidate.api()
            && enforced.scope().map(|scope| scope.name()) == candidate.scope().map(|scope| scope.name())
            && enforced.requirement() == candidate.requirement();
        (!is_same).then_some(Self::Reason)
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The decisions of two policies on one request. Only the first is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the decision of the active policy must be obeyed"]
pub struct Shadowed<'e, 'c> {
    /// The active policy's decision.
    pub enforced: Decision<'e>,
    /// The candidate's decision.
    pub candidate: Decision<'c>,
}

/// A candidate's decision that differs from the active one. As JSON, the kind of disagreement and then the
/// decision: `{"disagreement":"wider","decision":"allow",…}`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Disagreeing<'a> {
    /// How the two disagree.
    pub disagreement: Disagreement,
    /// The candidate's decision.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub decision: &'a Decision<'a>,
}

impl Shadowed<'_, '_> {
    /// The candidate's decision, if the two disagree.
    #[must_use]
    pub fn disagreeing(&self) -> Option<Disagreeing<'_>> {
        Some(Disagreeing { disagreement: self.disagreement()?, decision: &self.candidate })
    }

    /// How the two disagree; `None` if they agree.
    #[must_use]
    pub fn disagreement(&self) -> Option<Disagreement> {
        Disagreement::between(&self.enforced, &self.candidate)
    }
}

/// Decides with the active policy and with a candidate. Use it to find out what a new policy would change for real
/// requests before you activate it. Doesn't allocate; costs two decisions.
///
/// Pass the token's scopes as a string: a [`ScopeSet`](orbgate::ScopeSet) belongs to one engine, and the other engine
/// denies it.
///
/// ```
/// use orbgate::{Engine, Policy, Request, Token};
/// use orbgate_analysis::{Disagreement, shadow};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let new = "orbgate: 1\napis: {external: {base_path: /api/v1/external, scopes: {read:all: {orbs: false, routes: [GET /orbs]}}}}";
/// let candidate = Engine::new(&Policy::from_yaml(new)?);
/// let both = shadow(Engine::external(), &candidate, &Request {
///     method: b"GET",
///     target: b"/api/v1/external/orbs",
///     token: Some(Token::user("read:orbs")),
///     allow_bonus_orbs_use: false,
/// });
/// assert!(both.enforced.is_allow());
/// assert_eq!(both.disagreement(), Some(Disagreement::Narrower));
/// # Ok(())
/// # }
/// ```
pub fn shadow<'e, 'c>(enforced: &'e Engine, candidate: &'c Engine, request: &Request<'_>) -> Shadowed<'e, 'c> {
    Shadowed { enforced: enforced.decide(request), candidate: candidate.decide(request) }
}
