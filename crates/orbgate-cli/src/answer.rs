//! A decision for people: what was decided, why, and where the policy says so.

use std::io::{self, Write};

use orbgate::{Charge, Decision, Digest, Scope};

use crate::hint::hint;
use crate::output::{ALLOW, DENY, FAINT, one_line};
use crate::policy_file::Source;
use crate::question::Question;

/// What a person may do about an answer.
#[derive(Debug)]
pub(crate) struct Advice {
    label: &'static str,
    text: String,
}

impl Advice {
    /// What would help.
    pub(crate) const fn hint(text: String) -> Self {
        Self {
            label: "hint",
            text,
        }
    }

    /// A route that nearly decides the call.
    pub(crate) const fn near(text: String) -> Self {
        Self {
            label: "near",
            text,
        }
    }

    /// What a denied call would consume.
    pub(crate) fn orbs_if_allowed(charge: Charge) -> Self {
        Self {
            label: "orbs",
            text: format!("if it were allowed: {}", orbs(Some(charge))),
        }
    }

    /// Where a target stops being in order.
    pub(crate) const fn target(text: String) -> Self {
        Self {
            label: "target",
            text,
        }
    }

    /// What became of the rules of a target.
    pub(crate) const fn rules(text: String) -> Self {
        Self {
            label: "rules",
            text,
        }
    }

    /// The step to a scope that is missing.
    pub(crate) const fn step(text: String) -> Self {
        Self {
            label: "step",
            text,
        }
    }
}

/// What would help a denied request, where that can be said.
pub(crate) fn advice(
    question: &Question,
    decision: &Decision<'_>,
    source: &Source,
) -> Option<Advice> {
    match decision {
        Decision::Allow(_) => None,
        Decision::Deny(deny) => hint(question, deny, source).map(Advice::hint),
    }
}

/// Writes the answer.
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
    let mut line =
        |label: &str, text: &str| writeln!(out, "  {FAINT}{label:<6}{FAINT:#}  {}", one_line(text));
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
        line("orbs", &orbs(allow.charge()))?;
    }
    for Advice { label, text } in advice {
        line(label, text)?;
    }
    let digest = short(decision.policy());
    match decision.location() {
        Some(location) => line("policy", &format!("{}, {digest}", source.at(location))),
        None => line("policy", &format!("{}, {digest}", source.name())),
    }
}

/// A digest's first digits, enough for people to tell policies apart.
pub(crate) fn short(digest: Digest) -> String {
    digest
        .to_string()
        .chars()
        .take("sha256:".len().saturating_add(12))
        .collect()
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
    let bonus = if charge.bonus_allowed {
        "bonus orbs allowed"
    } else {
        "bonus orbs not allowed"
    };
    format!("{amount}; {bonus}")
}
