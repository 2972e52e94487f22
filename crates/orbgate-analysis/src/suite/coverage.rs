//! The coverage of a policy by cases: each row of its table, and each outcome that the row can have.

use std::collections::HashMap;

use orbgate::{Decision, Engine, Location, Orbs, OrganisationRule, Reason};

use crate::questions::{TableRow, callable_rows};

/// How often each outcome of a policy was decided.
///
/// A row is a route, or a scope without routes. Its outcomes are those that differ for callers:
/// `scope_held`, `scope_missing`, `bonus` if a call consumes orbs, and the outcome for an organisation's
/// token if the scope is for users. The outcomes of the whole policy are the reasons that name no row.
#[derive(Clone, Debug)]
pub struct Coverage<'e> {
    engine: &'e Engine,
    /// By the positions of route and scope in the policy.
    rows: HashMap<(Option<u32>, u16, &'static str), u64>,
    policy: HashMap<&'static str, u64>,
}

/// An outcome, and how often it was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// A reason code, or `bonus`: the call is allowed, and bonus orbs may be used.
    pub name: &'static str,
    /// The number of times.
    pub times: u64,
}

/// A row of the policy's table, and its coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoveredRow<'e> {
    /// The row.
    pub row: TableRow<'e>,
    /// Its outcomes.
    pub outcomes: Vec<Outcome>,
}

/// The reasons that name no row.
const OF_THE_POLICY: [Reason; 5] =
    [Reason::MalformedRequest, Reason::NoToken, Reason::InvalidToken, Reason::NoRoute, Reason::MethodNotDeclared];

const BONUS: &str = "bonus";

impl<'e> Coverage<'e> {
    /// A counter that starts at zero.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine, rows: HashMap::new(), policy: HashMap::new() }
    }

    /// Counts a decision by this engine.
    pub fn count(&mut self, decision: &Decision<'_>) {
        let reason = decision.reason();
        let mut add = |name| {
            let times = match decision.scope_index() {
                Some(scope) => self.rows.entry((decision.route_index(), scope, name)),
                None => return add_to(self.policy.entry(name).or_default()),
            };
            add_to(times.or_default());
        };
        add(reason.as_str());
        if decision.charge().is_some_and(|charge| charge.bonus_allowed) {
            add(BONUS);
        }
    }

    /// The rows of the policy's table that can be called, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = CoveredRow<'e>> + use<'_, 'e> {
        callable_rows(self.engine).map(|row| {
            let times = |name| {
                let route = row.route.map(|route| route.index());
                let key = (route, row.scope.index(), name);
                self.rows.get(&key).copied().unwrap_or_default()
            };
            let outcomes = outcomes(&row).map(|name| Outcome { name, times: times(name) });
            CoveredRow { row, outcomes: outcomes.collect() }
        })
    }

    /// The outcomes of the whole policy.
    pub fn of_the_policy(&self) -> impl Iterator<Item = Outcome> {
        let has_templates = self.engine.routes().len() > 0 || self.engine.closed().next().is_some();
        // In a policy without templates, no path can have an undeclared method.
        let possible = move |reason: &Reason| has_templates || *reason != Reason::MethodNotDeclared;
        let reasons = OF_THE_POLICY.into_iter().filter(possible);
        reasons.map(|reason| Outcome {
            name: reason.as_str(),
            times: self.policy.get(reason.as_str()).copied().unwrap_or_default(),
        })
    }
}

const fn add_to(times: &mut u64) {
    *times = times.saturating_add(1);
}

/// The possible outcomes of a row.
fn outcomes(row: &TableRow<'_>) -> impl Iterator<Item = &'static str> + use<> {
    let orbs = row.route.map_or_else(|| row.scope.orbs(), |route| Some(route.orbs()));
    let consumes = matches!(orbs, Some(Orbs::Unstated | Orbs::Amount(_)));
    let organisation = row.scope.organisation().map(|rule| match rule {
        OrganisationRule::Deny => Reason::UserTokenRequired.as_str(),
        OrganisationRule::AllowWithoutScope => Reason::ScopeNotApplicable.as_str(),
    });
    let all = [
        Some(Reason::ScopeHeld.as_str()),
        consumes.then_some(BONUS),
        Some(Reason::ScopeMissing.as_str()),
        organisation,
    ];
    all.into_iter().flatten()
}

impl CoveredRow<'_> {
    /// Whether any of its outcomes was decided.
    #[must_use]
    pub fn is_touched(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.times > 0)
    }

    /// Its display name: `METHOD /template`, or the scope.
    #[must_use]
    pub fn name(&self) -> &str {
        self.row.route.map_or_else(|| self.row.scope.name(), |route| route.as_str())
    }

    /// Its location in the policy file.
    #[must_use]
    pub fn location(&self) -> Location {
        self.row.route.map_or_else(|| self.row.scope.location(), |route| route.location())
    }
}
