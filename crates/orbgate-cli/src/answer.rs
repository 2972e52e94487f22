//! Prints a decision for users: the result, the reason, and the location of the rule in the policy.

use std::io::{self, Write};

use orbgate::{Charge, Decision, Digest, Scope};

use crate::hint::hint;
use crate::output::{ALLOW, DENY, FAINT, one_line};
use crate::policy_file::Source;
use crate::question::Question;

/// A line below the decision.
#[derive(Debug)]
pub(crate) enum Advice {
    /// How to change the request or the token.
    Hint(String),
    /// A route that almost matches the call.
    Near(String),
    Orbs(String),
    /// Where a target stops being valid.
    Target(String),
    /// The results of the rules for targets.
    Rules(String),
    /// An alternative of what the route needs, and what the token lacks of it.
    Scopes(String),
    /// The missing step to a scope.
    Step(String),
}

impl Advice {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Hint(text) => ("hint", text),
            Self::Near(text) => ("near", text),
            Self::Orbs(text) => ("orbs", text),
            Self::Target(text) => ("target", text),
            Self::Rules(text) => ("rules", text),
            Self::Scopes(text) => ("scopes", text),
            Self::Step(text) => ("step", text),
        }
    }
}

pub(crate) fn orbs_if_allowed(charge: Charge) -> Advice {
    Advice::Orbs(format!("if it were allowed: {}", orbs(Some(charge))))
}

pub(crate) fn advice(question: &Question, decision: &Decision<'_>, source: &Source) -> Option<Advice> {
    match decision {
        Decision::Allow(_) => None,
        Decision::Deny(deny) => hint(question, deny, source).map(Advice::Hint),
    }
}

pub(crate) fn write(
    out: &mut dyn Write,
    decision: &Decision<'_>,
    advice: &[Advice],
    source: &Source,
) -> io::Result<()> {
    match decision {
        Decision::Allow(_) => writeln!(out, "{ALLOW}allow{ALLOW:#}")?,
        Decision::Deny(deny) => writeln!(out, "{DENY}deny{DENY:#} {}", deny.status())?,
    }
    let mut line = |label: &str, text: &str| writeln!(out, "  {FAINT}{label:<6}{FAINT:#}  {}", one_line(text));
    let reason = decision.reason();
    line("reason", &format!("{reason}: {}", reason.explanation()))?;
    if let Some(detail) = decision.detail() {
        line("detail", &format!("{detail}: {}", detail.explanation()))?;
    }
    if let Some(route) = decision.route_name() {
        line("route", route)?;
    } else if let Some(about) = decision.about() {
        line("about", about.as_str())?;
    }
    if let Some(scope) = decision.scope() {
        line("scope", &permitted(scope))?;
    }
    if let Decision::Allow(allow) = decision {
        // The token may have another alternative. An explanation has a line for each, and the hint of a denial names them.
        let is_explained = advice.iter().any(|advice| matches!(advice, Advice::Scopes(_)));
        if let Some(requirement) = decision.requirement().filter(|_| !is_explained) {
            let alternatives: Vec<_> = requirement.alternatives().map(|scopes| scopes.to_string()).collect();
            line("needs", &alternatives.join(" or "))?;
        }
        line("orbs", &orbs(allow.charge()))?;
    }
    for (label, text) in advice.iter().map(Advice::parts) {
        line(label, text)?;
    }
    let digest = short(decision.policy());
    match decision.location() {
        Some(location) => line("policy", &format!("{}, {digest}", source.at(location))),
        None => line("policy", &format!("{}, {digest}", source.name())),
    }
}

/// The first digits of a digest, enough for users to distinguish policies.
pub(crate) fn short(digest: Digest) -> String {
    digest.to_string().chars().take("sha256:".len().saturating_add(12)).collect()
}

fn permitted(scope: Scope<'_>) -> String {
    match scope.permits() {
        Some(permits) => format!("{} ({permits})", scope.name()),
        None => scope.name().to_owned(),
    }
}

fn orbs(charge: Option<Charge>) -> String {
    let Some(charge) = charge else {
        return "the policy does not state whether the scope consumes orbs".to_owned();
    };
    if !charge.consumes {
        return "consumes none".to_owned();
    }
    let amount = match charge.amount {
        Some(1) => "consumes 1 orb".to_owned(),
        Some(amount) => format!("consumes {amount} orbs"),
        None => "consumes orbs, amount not stated by the policy".to_owned(),
    };
    let bonus = if charge.bonus_allowed { "bonus orbs allowed" } else { "bonus orbs not allowed" };
    format!("{amount}; {bonus}")
}
