//! The cases and properties of a test file.

use orbgate::{Decision, Engine, Location, Reason, Request, Scopes, Token, TokenKind};

use super::coverage::Coverage;
use super::expected::{Difference, Expected};
use crate::diff::Asked;
use crate::near::lacking;
use crate::property::{Proof, Property};

/// The cases of a test file; see the [format](https://github.com/orbgate/orbgate/blob/main/docs/testing.md).
///
/// ```
/// use orbgate::Engine;
/// use orbgate_analysis::{Coverage, Suite};
///
/// let suite = Suite::from_bytes(b"
/// orbgate_test: 1
/// cases:
///   - GET /api/v1/external/models/7 | user read:models | allow unstated
///   - GET /api/v1/external/models/7 | user | scope_held
/// ").unwrap();
/// let engine = Engine::external();
/// let mut coverage = Coverage::new(engine);
/// let tried = suite.run(engine, &mut coverage);
/// assert!(tried[0].passed());
/// assert_eq!(tried[1].differences[0].to_string(), "decision: expected allow, found deny");
/// assert_eq!(coverage.rows().filter(|row| row.is_touched()).count(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    pub(super) policy: Option<(String, Location)>,
    pub(super) cases: Vec<Case>,
    pub(super) properties: Vec<Stated>,
}

/// A property in a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stated {
    /// Its location in the test file.
    pub location: Location,
    /// The original string.
    pub text: String,
    /// The parsed property.
    pub property: Property,
}

/// The result of a property for an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proved<'s, 'e> {
    /// The property.
    pub stated: &'s Stated,
    /// The proof or the witnesses against it. An error if the property doesn't apply to this
    /// policy.
    pub proof: Result<Proof<'e>, String>,
}

/// One request, and its expected decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// Its location in the test file.
    pub location: Location,
    /// Its name or, without one, its request.
    pub name: String,
    /// The request.
    pub asked: Asked,
    /// The kind of the token and its scopes, separated by spaces; `None` for no token.
    pub token: Option<(TokenKind, String)>,
    /// Whether the request allows bonus orbs.
    pub allow_bonus_orbs: bool,
    /// The expected decision.
    pub expected: Expected,
}

/// The result of a case for an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tried<'s, 'e> {
    /// The case.
    pub case: &'s Case,
    /// The decision.
    pub decision: Decision<'e>,
    /// The differences from the expected decision; empty if the case passes.
    pub differences: Vec<Difference>,
    /// Messages about the token's scopes, if the case is denied for its scopes and the policy doesn't define them,
    /// because they might be misspelt. Only the first hundred cases with such scopes have messages.
    pub slips: Vec<String>,
}

/// A policy can have many scopes, and each is compared with a misspelt one.
const MOST_SLIPS: usize = 100;

impl Suite {
    /// The policy file that the test file names, relative to its own folder.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        self.policy.as_ref().map(|(policy, _)| policy.as_str())
    }

    /// The location of the policy's name in the test file.
    #[must_use]
    pub fn policy_location(&self) -> Option<Location> {
        self.policy.as_ref().map(|(_, location)| *location)
    }

    /// The cases, in the order of the file.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The properties, in the order of the file.
    #[must_use]
    pub fn properties(&self) -> &[Stated] {
        &self.properties
    }

    /// Proves or refutes every property for [all requests](Property::prove).
    #[must_use]
    pub fn prove<'e>(&self, engine: &'e Engine) -> Vec<Proved<'_, 'e>> {
        let properties = self.properties.iter();
        let proved = properties.map(|stated| Proved { stated, proof: stated.property.prove(engine) });
        proved.collect()
    }

    /// Decides every case with an engine, and counts the coverage by passing cases. Makes one decision per
    /// case.
    pub fn run<'s, 'e>(&'s self, engine: &'e Engine, coverage: &mut Coverage<'e>) -> Vec<Tried<'s, 'e>> {
        let mut told = 0_usize;
        let run = |case: &'s Case| {
            let decision = case.decide(engine);
            let is_for_scopes = decision.reason() == Reason::ScopeMissing && told < MOST_SLIPS;
            let scopes = case.token.as_ref().filter(|_| is_for_scopes);
            let slips = scopes.map(|(_, scopes)| lacking(engine, scopes));
            let tried = Tried {
                case,
                decision,
                differences: case.expected.differences(&decision),
                slips: slips.unwrap_or_default(),
            };
            told = told.saturating_add(usize::from(!tried.slips.is_empty()));
            if tried.passed() {
                let scopes = case.token.as_ref().map_or("", |(_, scopes)| scopes);
                coverage.count(&decision, scopes);
            }
            tried
        };
        self.cases.iter().map(run).collect()
    }
}

impl Proved<'_, '_> {
    /// Whether the property holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.proof.as_ref().is_ok_and(Proof::holds)
    }

    /// Why it holds trivially, if it does.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        let proof = self.proof.as_ref().ok();
        proof.and_then(|proof| proof.warning.as_deref())
    }

    /// Why it doesn't hold, with one sentence for each witness.
    #[must_use]
    pub fn why_not(&self) -> Vec<String> {
        match &self.proof {
            Ok(proof) => proof.witnesses.iter().map(ToString::to_string).collect(),
            Err(message) => vec![message.clone()],
        }
    }
}

impl Case {
    /// An engine's decision on the request.
    pub fn decide<'e>(&self, engine: &'e Engine) -> Decision<'e> {
        let token =
            self.token.as_ref().map(|(kind, scopes)| Token { kind: *kind, scopes: Scopes::Text(scopes.as_bytes()) });
        match &self.asked {
            Asked::Scope(name) => engine.decide_scope(name, token, self.allow_bonus_orbs),
            Asked::Call { method, target } => engine.decide(&Request {
                method: method.as_bytes(),
                target: target.as_bytes(),
                token,
                allow_bonus_orbs_use: self.allow_bonus_orbs,
            }),
        }
    }
}

impl Tried<'_, '_> {
    /// Whether the decision matches the expected one.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.differences.is_empty()
    }
}
