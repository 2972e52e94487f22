//! `orbgate explain`: which of the two steps to a scope a denied call lacks (specification §5.4 and §5.5).

use std::ffi::OsString;

use clap::Args;
use orbgate::{Decision, Engine, Grant, MissingStep, Place, Reason, Scopes};
use orbgate_analysis::{NearMiss, near_misses, near_scope};
use serde::Serialize;

use crate::answer::{self, Advice};
use crate::args::{bytes, given};
use crate::decide::{self, Question};
use crate::output::{self, Exit, Stop};
use crate::policy_file::Source;

/// The command as people type it.
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
    /// Whether scopes are separated by commas, which makes them one unknown scope.
    pub(crate) fn has_commas(&self) -> bool {
        let texts = [&self.question.scopes, &self.declared, &self.requested];
        texts.into_iter().any(|text| given(text).contains(&b','))
    }
}

/// A decision, and what its call lacks.
#[derive(Serialize)]
struct Explained<'e> {
    #[serde(flatten)]
    decision: Decision<'e>,
    missing_step: Option<MissingStep>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<Near<'e>>,
}

/// A route that nearly decides the call, as JSON.
#[derive(Serialize)]
struct Near<'e> {
    route: &'e str,
    place: Place,
    why: String,
    /// A target that it decides.
    meant: Option<String>,
}

/// Decides, and prints the answer with what is missing.
pub(crate) fn run(denial: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let (engine, question) = (source.engine(), &denial.question);
    let grant = Grant {
        declared: denial.declared.as_deref().map(bytes).map(Scopes::from),
        requested: denial.requested.as_deref().map(bytes).map(Scopes::from),
    };
    // Without `--scopes`, the token is the one that both steps give.
    let issued = match question.scopes {
        Some(_) => None,
        None => grant.scopes(engine),
    };
    let scopes = issued
        .as_ref()
        .map_or_else(|| question.scopes(), Scopes::from);
    let decision = decide::decide(question, scopes, engine);
    let missing_step = grant.missing_step(&decision);
    let near = near(denial, engine);
    if question.json {
        let near = near.into_iter().map(|near| Near {
            route: near.route.as_str(),
            place: near.route.place(),
            why: near.why.to_string(),
            meant: near.meant,
        });
        decide::print_json(&Explained {
            decision,
            missing_step,
            near: near.collect(),
        })?;
    } else {
        let near = near.iter().map(|near| {
            let (route, place) = (near.route.as_str(), source.at(near.route.place()));
            let meant = near.meant.as_ref();
            let meant =
                meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            Advice::near(format!("{route} ({place}): {}{meant}", near.why))
        });
        let mut advice = advice(denial, &grant, &decision, missing_step, source);
        advice.extend(misspelt(denial, &decision));
        advice.extend(near);
        output::print(|out| answer::write(out, &decision, &advice, source))?;
    }
    Ok(decide::exit(&decision))
}

/// The routes that nearly decide the call, where a call is asked about.
fn near<'e>(denial: &Arguments, engine: &'e Engine) -> Vec<NearMiss<'e>> {
    let text = |argument: &Option<OsString>| argument.as_ref()?.to_str().map(str::to_owned);
    let call = (text(&denial.question.method), text(&denial.question.target));
    match call {
        (Some(method), Some(target)) => near_misses(engine, &method, &target),
        _ => Vec::new(),
    }
}

/// A scope that the token carries, and is nearly the one that it needs.
fn misspelt(denial: &Arguments, decision: &Decision<'_>) -> Option<Advice> {
    let scope = decision
        .scope()
        .filter(|_| decision.reason() == Reason::ScopeMissing)?;
    let carried = denial.question.scopes.as_ref()?.to_str()?;
    let near = near_scope(scope.name(), carried)?;
    let needed = scope.name();
    Some(Advice::hint(format!(
        "`{near}` is another scope than `{needed}`: did you mean `{needed}`?"
    )))
}

fn advice(
    denial: &Arguments,
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

const USAGE: &str = "\
orbgate explain [OPTIONS] <METHOD> <TARGET>
       orbgate explain [OPTIONS] --scope <SCOPE>";

const HELP: &str = "\
A token carries a scope that is declared in the Permissions tab of the
application and requested in the `scope` parameter of the authorization
request. Where a step is missing, the call gets a bare 403. Say what the
token carries, what is declared and what is requested, and this says which:
  not_declared   not declared in the Permissions tab
  not_requested  not requested in `scope`
  both           neither declared nor requested
  token_older    granted, but the token is older
  token_kind     the scope applies only to a user's token
  not_known      what was said does not tell
Without --scopes, the token is the one that --declared and --requested give.
With --json, the decision has one field more, `missing_step`: one of these,
or null where no step is missing. Routes that nearly decide the call are named
with why they do not; in JSON they are in `near`, if there are any.

Examples:
  orbgate explain POST /api/v1/external/vox/run --token user \\
      --scopes read:vox --declared 'read:vox write:vox' --requested read:vox
  orbgate explain --scope read:inference --token organisation --json

Exit codes:
  0  allowed
  1  denied
  2  could not run: bad usage, bad or unreadable policy";
