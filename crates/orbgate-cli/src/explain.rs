//! `orbgate explain`: shows all steps of a decision, and which of the two steps to a scope is missing for a
//! denied call (specification §5.4 and §5.5).

use std::ffi::OsString;

use clap::Args;
use orbgate::{Decision, Engine, Grant, MissingStep, Reason, Scope, Scopes};
use orbgate_analysis::{
    Explanation, NearMiss, RuleState, TargetRule, TriedAlternative, explain, explain_scope, near_scope,
};

use crate::answer::{self, Advice};
use crate::decide;
use crate::output::{self, Exit, Stop};
use crate::policy_file::Source;
use crate::question::{Question, bytes, given};

#[derive(Debug, Args)]
#[command(after_help = HELP, override_usage = USAGE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) question: Question,

    /// Scopes declared in the Permissions tab, separated by spaces
    #[arg(long, value_name = "SCOPES")]
    pub(crate) declared: Option<OsString>,

    /// Scopes requested in the `scope` parameter, separated by spaces
    #[arg(long, value_name = "SCOPES")]
    pub(crate) requested: Option<OsString>,
}

impl Arguments {
    /// Whether scopes are separated by commas, which makes them a single unknown scope.
    pub(crate) fn has_commas(&self) -> bool {
        let texts = [&self.question.scopes, &self.declared, &self.requested];
        texts.into_iter().any(|text| given(text).contains(&b','))
    }
}

/// Decides, and prints the decision with the missing step.
pub(crate) fn run(denial: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let (engine, question) = (source.engine(), &denial.question);
    let grant = Grant {
        declared: denial.declared.as_deref().map(bytes).map(Scopes::from),
        requested: denial.requested.as_deref().map(bytes).map(Scopes::from),
    };
    // Without `--scopes`, the token has the scopes that the two steps give.
    let issued = match question.scopes {
        Some(_) => None,
        None => grant.scopes(engine),
    };
    let scopes = issued.as_ref().map_or_else(|| question.scopes(), Scopes::from);
    let explained = explained(question, scopes, &grant, engine);
    let decision = &explained.decision;
    if question.json {
        output::print_json(&explained)?;
    } else {
        let at = explained.in_order;
        let advice: Vec<_> = (explained.alternatives.iter().map(alternative))
            .chain(explained.orbs_if_allowed.map(answer::orbs_if_allowed))
            .chain(at.and_then(|bytes| diagnostic_in_target(given(&question.target), bytes)))
            .chain(rules(&explained.rules))
            .chain(advice(denial, &grant, decision, explained.missing_step, source))
            .chain(misspelt(denial, &explained))
            .chain(explained.near.iter().map(|miss| near(miss, source)))
            .collect();
        output::print(|out| answer::write(out, decision, &advice, source))?;
    }
    Ok(decide::exit(decision))
}

/// Decides with the exact bytes of the command line.
fn explained<'e>(question: &Question, scopes: Scopes<'_>, grant: &Grant<'_>, engine: &'e Engine) -> Explanation<'e> {
    let token = question.token(scopes);
    match &question.scope {
        Some(scope) => explain_scope(engine, bytes(scope), token, question.allow_bonus_orbs, grant),
        None => explain(engine, &question.request(token), grant),
    }
}

/// The rules for targets: how many are satisfied and, if one isn't, the result of each.
fn rules(rules: &[TargetRule]) -> Vec<Advice> {
    let of = |state| rules.iter().filter(move |rule| rule.state == state);
    let names = |state| {
        let names = of(state).map(|rule| format!("P{} {}", rule.detail.rule(), rule.detail));
        names.collect::<Vec<_>>().join(", ")
    };
    let passed = of(RuleState::Pass).count();
    let [pass, fail, open] = [RuleState::Pass, RuleState::Fail, RuleState::NotReached].map(names);
    let lines = match (&*fail, &*open) {
        _ if rules.is_empty() => vec![],
        ("", "") => vec![format!("all {passed} rules of the target pass")],
        ("", open) => vec![format!("{passed} rules of the target pass; not reached: {open}")],
        _ => {
            let lines = [("pass", pass), ("fail", fail), ("not reached", open)];
            let states = lines.into_iter().filter(|(_, names)| !names.is_empty());
            states.map(|(state, names)| format!("{state}: {names}")).collect()
        }
    };
    lines.into_iter().map(Advice::Rules).collect()
}

/// Where a target stops being valid, with some characters from both sides.
fn diagnostic_in_target(target: &[u8], in_order: usize) -> Option<Advice> {
    let (before, behind) = target.split_at_checked(in_order)?;
    let before = String::from_utf8_lossy(before);
    let behind = String::from_utf8_lossy(behind);
    let skipped = before.chars().count().saturating_sub(SHOWN);
    let before: String = before.chars().skip(skipped).collect();
    let behind: String = behind.chars().take(SHOWN).collect();
    let text = match (&*before, &*behind) {
        ("", "") => "it is empty".to_owned(),
        ("", behind) => format!("out of order from its first byte: `{behind}`"),
        (before, behind) => format!("in order to byte {in_order}, `{before}`; then comes `{behind}`"),
    };
    Some(Advice::Target(text))
}

/// The number of characters shown on each side of an error.
const SHOWN: usize = 40;

fn near(miss: &NearMiss<'_>, source: &Source) -> Advice {
    let (route, location) = (miss.route.as_str(), source.at(miss.route.location()));
    let meant = miss.meant.as_ref();
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    Advice::Near(format!("{route} ({location}): {}{meant}", miss.why))
}

fn alternative(tried: &TriedAlternative<'_>) -> Advice {
    let scopes = tried.scopes.join(" ");
    Advice::Scopes(match tried.lacking.as_slice() {
        [] => format!("{scopes}: the token has it"),
        lacking if lacking.len() == tried.scopes.len() => format!("{scopes}: the token lacks it"),
        lacking => format!("{scopes}: the token lacks {}", lacking.join(" ")),
    })
}

/// A scope of the token that is similar to one that it needs.
fn misspelt(denial: &Arguments, explained: &Explanation<'_>) -> Option<Advice> {
    let scope = explained.decision.scope().filter(|_| explained.decision.reason() == Reason::ScopeMissing)?;
    let carried = denial.question.scopes.as_ref()?.to_str()?;
    let own = explained.alternatives.is_empty().then_some(scope.name());
    let lacking = explained.alternatives.iter().flat_map(|tried| tried.lacking.iter().copied());
    let mut near = own.into_iter().chain(lacking).filter_map(|needed| Some((near_scope(needed, carried)?, needed)));
    let (near, needed) = near.next()?;
    Some(Advice::Hint(format!("`{near}` is another scope than `{needed}`: did you mean `{needed}`?")))
}

fn advice(
    denial: &Arguments,
    grant: &Grant<'_>,
    decision: &Decision<'_>,
    missing: Option<MissingStep>,
    source: &Source,
) -> Vec<Advice> {
    let Some(missing) = missing else {
        let is_stale = decision.reason() == Reason::ScopeHeld && is_given_up(decision, grant);
        let now = match decision.requirement() {
            None => "a token that is issued now would not carry the scope",
            Some(_) => "a token that is issued now would not carry scopes that are enough",
        };
        let hint = is_stale.then(|| Advice::Hint(now.to_owned()));
        return hint.into_iter().chain(answer::advice(&denial.question, decision, source)).collect();
    };
    let step = format!("{missing}: {}", missing.explanation());
    // Without either list, an unknown step tells the reader nothing about the call.
    let is_asked = denial.declared.is_some() || denial.requested.is_some();
    let step = (is_asked || missing != MissingStep::NotKnown).then_some(Advice::Step(step));
    let hint = match missing {
        _ if denial.has_commas() => Some("scopes are separated by spaces, not by commas"),
        MissingStep::NotKnown => Some("to find the missing step, add --declared 'a b' and --requested 'a b'"),
        _ => None,
    };
    let own = answer::advice(&denial.question, decision, source);
    let hint = hint.map(|hint| Advice::Hint(hint.to_owned()));
    [step, own, hint].into_iter().flatten().collect()
}

/// Whether a token that is issued now lacks some scope of each alternative.
fn is_given_up(decision: &Decision<'_>, grant: &Grant<'_>) -> bool {
    let lacks = |scope: Scope<'_>| grant.carries(scope) == Some(false);
    match decision.requirement() {
        None => decision.scope().is_some_and(lacks),
        Some(requirement) => requirement.alternatives().all(|mut scopes| scopes.any(lacks)),
    }
}

const USAGE: &str = "\
orbgate explain [OPTIONS] <METHOD> <TARGET>
       orbgate explain [OPTIONS] --scope <SCOPE>";

const HELP: &str = "\
A token carries a scope that is declared in the Permissions tab of the
application and requested in the `scope` parameter of the authorization
request. If a step is missing, the call gets a 403. To find it, pass the
token's scopes, the declared scopes and the requested scopes:
  not_declared   not declared in the Permissions tab
  not_requested  not requested in `scope`
  both           neither declared nor requested
  token_older    granted, but the token is older
  token_kind     the scope applies only to a user's token
  not_known      the options given don't show the step
  not_earned     no application can request it: `derive` in tokens.yaml gives it
Without --scopes, a token carries what is in both --declared and --requested.
If one of the two isn't given either, it carries no scope.
With --json, the decision has more fields:
  missing_step     one of the steps above, or null if none is missing
  alternatives     of a route that needs more than one scope: each with its
                   `scopes`, and with those that the token is `lacking`
  near             routes that nearly decide the call, and why they don't
  orbs_if_allowed  what a denied call would consume, if its route is known
  in_order         how many bytes of a malformed target are in order
  rules            each rule of the target: `pass`, `fail` or `not_reached`;
                   a rule passes if all of it was tried
Of these, only `missing_step` is always there. ARCHITECTURE.md has the rules.

Examples:
  orbgate explain POST /api/v1/external/vox/run --token user \\
      --scopes read:vox --declared 'read:vox write:vox' --requested read:vox
  orbgate explain --scope read:inference --token organisation --json

Exit codes:
  0  allowed
  1  denied
  2  could not run: bad usage, bad or unreadable policy";
