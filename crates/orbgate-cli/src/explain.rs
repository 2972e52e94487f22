//! `orbgate explain`: which of the two steps to a scope a denied call lacks (specification §5.4 and §5.5).

use orbgate::{Decision, Grant, MissingStep, Reason, Scopes};
use serde::Serialize;

use crate::answer::{self, Advice};
use crate::args::{Denial, bytes};
use crate::decide;
use crate::output::{self, Outcome, Stop};
use crate::policy_file::Source;

/// A decision, and what its call lacks.
#[derive(Serialize)]
struct Explained<'e> {
    #[serde(flatten)]
    decision: Decision<'e>,
    missing_step: Option<MissingStep>,
}

/// Decides, and prints the answer with what is missing.
pub(crate) fn run(denial: &Denial, source: &Source) -> Result<Outcome, Stop> {
    let (engine, question) = (source.engine(), &denial.question);
    let grant = Grant {
        declared: denial.declared.as_deref().map(bytes).map(Scopes::from),
        requested: denial.requested.as_deref().map(bytes).map(Scopes::from),
    };
    // Where nobody says what the token carries, it is the one that both steps give.
    let issued = match question.scopes {
        Some(_) => None,
        None => grant.scopes(engine),
    };
    let scopes = issued
        .as_ref()
        .map_or_else(|| question.scopes(), Scopes::from);
    let decision = decide::decide(question, scopes, engine);
    let missing_step = grant.missing_step(&decision);
    if question.json {
        decide::print_json(&Explained {
            decision,
            missing_step,
        })?;
    } else {
        let advice = advice(denial, &grant, &decision, missing_step, source);
        output::print(|out| answer::write(out, &decision, &advice, source))?;
    }
    Ok(decide::outcome(&decision))
}

fn advice(
    denial: &Denial,
    grant: &Grant<'_>,
    decision: &Decision<'_>,
    missing: Option<MissingStep>,
    source: &Source,
) -> Vec<Advice> {
    let Some(missing) = missing else {
        let stale = decision.reason() == Reason::ScopeHeld
            && decision.scope().and_then(|scope| grant.carries(scope)) == Some(false);
        let now = "a token that is issued now would not carry the scope";
        let hint = stale.then(|| Advice::hint(now.to_owned()));
        return hint
            .into_iter()
            .chain(answer::advice(&denial.question, decision, source))
            .collect();
    };
    let step = Advice::step(format!("{missing}: {}", missing.explanation()));
    let hint = match missing {
        MissingStep::TokenKind => Some("ask with a user's token: --token user"),
        _ if denial.has_commas() => Some("scopes are separated by spaces, not by commas"),
        MissingStep::NotKnown => Some("say what was done: --declared 'a b' --requested 'a b'"),
        _ => None,
    };
    let hint = hint.map(|hint| Advice::hint(hint.to_owned()));
    [Some(step), hint].into_iter().flatten().collect()
}
