//! Cases of a policy: requests, and what must be decided of them.

mod coverage;
mod expected;
mod read;

use orbgate::policy::Fault;
use orbgate::{Decision, Engine, Place, Request, Scopes, Token, TokenKind};

pub use self::coverage::{Coverage, CoveredRow, Outcome};
pub use self::expected::{Difference, Expected, ExpectedOrbs};
use crate::diff::Asked;

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
    policy: Option<(String, Place)>,
    cases: Vec<Case>,
}

/// One request, and what must be decided of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// Where it is in the test file.
    pub place: Place,
    /// Its name, or else what it says.
    pub name: String,
    /// What is asked.
    pub asked: Asked,
    /// The kind of the token and its scopes, separated by spaces; `None` for no token.
    pub token: Option<(TokenKind, String)>,
    /// Whether the request allows bonus orbs.
    pub allow_bonus_orbs: bool,
    /// What must be decided.
    pub expected: Expected,
}

/// A case that was put to an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tried<'s, 'e> {
    /// The case.
    pub case: &'s Case,
    /// What was decided.
    pub decision: Decision<'e>,
    /// Where that is not what the case expects; empty where the case passes.
    pub differences: Vec<Difference>,
}

impl Suite {
    /// Reads a test file, as strictly as a policy is read.
    ///
    /// # Errors
    ///
    /// Every fault of the file, in its order; never none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Vec<Fault>> {
        read::suite(bytes)
    }

    /// The policy file that the test file names, relative to its own folder.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        self.policy.as_ref().map(|(policy, _)| policy.as_str())
    }

    /// Where the test file names its policy.
    #[must_use]
    pub fn policy_place(&self) -> Option<Place> {
        self.policy.as_ref().map(|(_, place)| *place)
    }

    /// The cases, in the order of the file.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Puts every case to an engine, and counts what the passing cases have covered. Time is one decision a
    /// case.
    pub fn run<'s, 'e>(
        &'s self,
        engine: &'e Engine,
        coverage: &mut Coverage<'e>,
    ) -> Vec<Tried<'s, 'e>> {
        let run = |case: &'s Case| {
            let decision = case.decide(engine);
            let tried = Tried {
                case,
                decision,
                differences: case.expected.differences(&decision),
            };
            if tried.passed() {
                coverage.count(&decision);
            }
            tried
        };
        self.cases.iter().map(run).collect()
    }
}

impl Case {
    /// What an engine decides of the request.
    pub fn decide<'e>(&self, engine: &'e Engine) -> Decision<'e> {
        let token = self.token.as_ref().map(|(kind, scopes)| Token {
            kind: *kind,
            scopes: Scopes::Text(scopes.as_bytes()),
        });
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
    /// Whether the decision is as expected.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.differences.is_empty()
    }
}
