//! What a case expects of a decision, and where the decision differs.

use core::fmt;

use orbgate::{Charge, Decision, Detail, Effect, Reason};

/// What must be decided. A field that is `None` is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// Whether the request must be allowed. Always stated, by itself or by the reason.
    pub allow: bool,
    /// The reason. If neither it nor the detail is stated, a denial may have any reason but `malformed_request`:
    /// every policy denies a misspelt request.
    pub reason: Option<Reason>,
    /// The detail of `malformed_request`.
    pub detail: Option<Detail>,
    /// What an allowed call consumes.
    pub orbs: Option<ExpectedOrbs>,
    /// Whether bonus orbs may be used.
    pub bonus: Option<bool>,
    /// The route, as a decision names it.
    pub route: Option<String>,
}

/// What an allowed call must consume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedOrbs {
    /// `free`: nothing.
    Free,
    /// `unstated`: orbs, but the amount is not stated.
    Unstated,
    /// `unknown`: the policy does not say whether orbs are consumed.
    Unknown,
    /// This many.
    Amount(u64),
}

/// One thing that was decided otherwise than expected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Difference {
    /// Of what: `decision`, `reason`, `detail`, `orbs`, `bonus` or `route`.
    pub field: &'static str,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            expected,
            found,
        } = self;
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
    /// Where a decision is not as expected, in the order of a decision's fields.
    #[must_use]
    pub fn differences(&self, decision: &Decision<'_>) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut compare = |field, expected: Option<String>, found: Option<String>| {
            if let Some(expected) = expected
                && found.as_ref() != Some(&expected)
            {
                differences.push(Difference {
                    field,
                    expected,
                    found: found.unwrap_or_else(|| "nothing".to_owned()),
                });
            }
        };
        let word = |allow| Some(Effect::of(allow).to_string());
        let charge = decision.charge();
        let orbs = decision.is_allow().then(|| ExpectedOrbs::from(charge));
        let bonus = |bonus| if bonus { "allowed" } else { "not allowed" }.to_owned();
        compare("decision", word(self.allow), word(decision.is_allow()));
        let bare = !self.allow && self.detail.is_none();
        let reason = match (self.reason, decision.reason()) {
            (None, malformed @ Reason::MalformedRequest) if bare => {
                Some(format!("not {malformed}"))
            }
            (reason, _) => reason.map(shown),
        };
        compare("reason", reason, Some(shown(decision.reason())));
        compare(
            "detail",
            self.detail.map(shown),
            decision.detail().map(shown),
        );
        compare("orbs", self.orbs.map(shown), orbs.map(shown));
        let found = charge.map(|charge| bonus(charge.bonus_allowed));
        compare("bonus", self.bonus.map(bonus), found);
        compare(
            "route",
            self.route.clone(),
            decision.route_name().map(str::to_owned),
        );
        differences
    }
}

fn shown(value: impl fmt::Display) -> String {
    value.to_string()
}
