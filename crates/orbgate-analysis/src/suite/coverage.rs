//! The coverage of a policy by cases: each row of its table, and each outcome that the row can have.

use core::fmt;
use std::collections::HashMap;

use orbgate::{Decision, Engine, Location, Named, Orbs, OrganisationRule, Reason, Requirement};

use crate::questions::{TableRow, callable_rows};

/// How often each outcome of a policy was decided.
///
/// A row is a route, or a scope without routes. Its outcomes are those that differ for callers:
/// `scope_held`, `scope_missing`, `bonus` if a call consumes orbs, and the outcome for an organisation's
/// token if the scope is for users. If a route needs more than one scope, each of its alternatives has two outcomes:
/// `scope_held` by a token that has it and no other, and `scope_missing` for a token that lacks exactly one of its scopes.
/// The outcomes of the whole policy are the reasons that name no row.
#[derive(Clone, Debug)]
pub struct Coverage<'e> {
    engine: &'e Engine,
    rows: HashMap<Key, u64>,
    policy: HashMap<&'static str, u64>,
}

/// An outcome of a row: the positions of route and scope in the policy, its name, and perhaps the position of an alternative.
type Key = (Option<u32>, u16, &'static str, Option<usize>);

/// An outcome, and how often it was decided.
///
/// `Display` prints the name and, of an alternative, the token: `scope_held with only read:a write:a`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// A reason code, or `bonus`: the call is allowed, and bonus orbs may be used.
    pub name: &'static str,
    /// The scopes of an alternative, separated by spaces. With `scope_held`, the token has them, and no other alternative.
    /// With `scope_missing`, it lacks exactly one of them.
    pub alternative: Option<String>,
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

/// Whether a decision by an engine can have the reason, and names no row then.
const fn is_of_the_policy(reason: &Reason) -> bool {
    let names_row = match reason.named() {
        Named::Nothing | Named::Template => false,
        Named::Scope => true,
    };
    reason.is_of_engines() && !names_row
}

const BONUS: &str = "bonus";

impl<'e> Coverage<'e> {
    /// A counter that starts at zero.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine, rows: HashMap::new(), policy: HashMap::new() }
    }

    /// Counts a decision by this engine on a token with these scopes, separated by spaces.
    pub fn count(&mut self, decision: &Decision<'_>, scopes: impl AsRef<[u8]>) {
        let reason = decision.reason();
        let mut add = |name, alternative| {
            let times = match decision.scope_index() {
                Some(scope) => self.rows.entry((decision.route_index(), scope, name, alternative)),
                None => return add_to(self.policy.entry(name).or_default()),
            };
            add_to(times.or_default());
        };
        add(reason.as_str(), None);
        if decision.charge().is_some_and(|charge| charge.bonus_allowed) {
            add(BONUS, None);
        }
        if let Some(requirement) = decision.requirement() {
            for at in shown(reason, &requirement, scopes.as_ref()) {
                add(reason.as_str(), Some(at));
            }
        }
    }

    /// The rows of the policy's table that can be called, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = CoveredRow<'e>> + use<'_, 'e> {
        callable_rows(self.engine).map(|row| {
            let route = row.route.map(|route| route.index());
            let times = |name, at| self.rows.get(&(route, row.scope.index(), name, at)).copied().unwrap_or_default();
            let own = outcomes(&row).map(|name| Outcome { name, alternative: None, times: times(name, None) });
            let of_alternatives = alternatives(&row).into_iter().map(|(name, at, alternative)| Outcome {
                name,
                alternative: Some(alternative),
                times: times(name, Some(at)),
            });
            CoveredRow { row, outcomes: own.chain(of_alternatives).collect() }
        })
    }

    /// The outcomes of the whole policy.
    pub fn of_the_policy(&self) -> impl Iterator<Item = Outcome> {
        let has_templates = self.engine.routes().len() > 0 || self.engine.closed().next().is_some();
        // In a policy without templates, no path can have an undeclared method.
        let possible = move |reason: &Reason| has_templates || *reason != Reason::MethodNotDeclared;
        let reasons = Reason::ALL.into_iter().filter(is_of_the_policy).filter(possible);
        reasons.map(|reason| Outcome {
            name: reason.as_str(),
            alternative: None,
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

/// The outcomes of the alternatives of a row, each with the alternative's position and scopes.
fn alternatives(row: &TableRow<'_>) -> Vec<(&'static str, usize, String)> {
    let requirement = row.route.map(|route| route.requirement()).filter(|requirement| !requirement.is_one_scope());
    let all = requirement.into_iter().flat_map(|requirement| requirement.alternatives()).enumerate();
    let both = [Reason::ScopeHeld, Reason::ScopeMissing].map(Reason::as_str);
    all.flat_map(|(at, scopes)| both.map(|name| (name, at, scopes.to_string()))).collect()
}

/// The positions of the alternatives that a decision on a token with these scopes shows: the only one that it has whole, or
/// those of which it lacks exactly one scope.
fn shown(reason: Reason, requirement: &Requirement<'_>, scopes: &[u8]) -> Vec<usize> {
    let tried = crate::alternatives(requirement, scopes);
    let that_lack = |number| {
        let all = tried.iter().enumerate();
        all.filter(|(_, tried)| tried.lacking.len() == number).map(|(at, _)| at).collect::<Vec<_>>()
    };
    match reason {
        Reason::ScopeHeld => Some(that_lack(0)).filter(|whole| whole.len() == 1).unwrap_or_default(),
        Reason::ScopeMissing => that_lack(1),
        _ => Vec::new(),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match &self.alternative {
            None => Ok(()),
            Some(scopes) if self.name == Reason::ScopeHeld.as_str() => write!(f, " with only {scopes}"),
            Some(scopes) if scopes.contains(' ') => write!(f, " with all but one of {scopes}"),
            Some(scope) => write!(f, " without {scope}"),
        }
    }
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
