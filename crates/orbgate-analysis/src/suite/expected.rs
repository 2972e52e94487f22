//! Compares a decision with a case's expectation.

use core::fmt;

use orbgate::{Charge, Decision, Detail, Effect, Reason};

/// The expected decision. Fields that are `None` aren't compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// Whether the request must be allowed. Always known: stated explicitly, or implied by the
    /// reason.
    pub allow: bool,
    /// The reason. If no reason, status or detail is stated, a denial may have any reason except
    /// `malformed_request`, because every policy denies a misspelt request.
    pub reason: Option<Reason>,
    /// The HTTP status of the denial.
    pub status: Option<u16>,
    /// The detail of `malformed_request`.
    pub detail: Option<Detail>,
    /// The orbs that an allowed call consumes.
    pub orbs: Option<ExpectedOrbs>,
    /// Whether bonus orbs may be used.
    pub bonus: Option<bool>,
    /// The route, as in a decision.
    pub route: Option<String>,
}

/// The orbs that an allowed call must consume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedOrbs {
    /// `free`: none.
    Free,
    /// `unstated`: orbs, but the amount is not stated.
    Unstated,
    /// `unknown`: the policy doesn't state whether orbs are consumed.
    Unknown,
    /// This many.
    Amount(u64),
}

/// A difference between the expected and the actual decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Difference {
    /// The field: `decision`, `reason`, `status`, `detail`, `orbs`, `bonus` or `route`.
    pub field: &'static str,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, expected, found } = self;
        write!(f, "{field}: expected {expected}, found {found}")
    }
}

impl From<Option<Charge>> for ExpectedOrbs {
    fn from(charge: Option<Charge>) -> Self {
        match charge.map(|charge| (charge.consumes, charge.amount)) {
            None => Self::Unknown,
            Some((false, _)) => Self::Free,
            Some((true, None)) => Self::Unstated,
            Some((true, Some(amount))) => Self::Amount(amount),
        }
    }
}

impl fmt::Display for ExpectedOrbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("free"),
            Self::Unstated => f.write_str("unstated"),
            Self::Unknown => f.write_str("unknown"),
            Self::Amount(amount) => write!(f, "{amount}"),
        }
    }
}

impl Expected {
    /// The differences, in the order of a decision's fields.
    #[must_use]
    pub fn differences(&self, decision: &Decision<'_>) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut compare = |field, expected: Option<String>, found: Option<String>| {
            if let Some(expected) = expected
                && found.as_ref() != Some(&expected)
            {
                differences.push(Difference { field, expected, found: found.unwrap_or_else(|| "nothing".to_owned()) });
            }
        };
        let word = |allow| Some(Effect::of(allow).to_string());
        let charge = decision.charge();
        let orbs = decision.is_allow().then(|| ExpectedOrbs::from(charge));
        let bonus = |bonus| if bonus { "allowed" } else { "not allowed" }.to_owned();
        compare("decision", word(self.allow), word(decision.is_allow()));
        let bare = !self.allow && self.detail.is_none() && self.status.is_none();
        let reason = match (self.reason, decision.reason()) {
            (None, malformed @ Reason::MalformedRequest) if bare => Some(format!("not {malformed}")),
            (reason, _) => reason.map(shown),
        };
        compare("reason", reason, Some(shown(decision.reason())));
        // An allow has no status, and the decision is a difference already.
        if let Some(status) = decision.status() {
            compare("status", self.status.map(shown), Some(shown(status)));
        }
        compare("detail", self.detail.map(shown), decision.detail().map(shown));
        compare("orbs", self.orbs.map(shown), orbs.map(shown));
        let found = charge.map(|charge| bonus(charge.bonus_allowed));
        compare("bonus", self.bonus.map(bonus), found);
        compare("route", self.route.clone(), decision.route_name().map(str::to_owned));
        differences
    }
}

fn shown(value: impl fmt::Display) -> String {
    value.to_string()
}
