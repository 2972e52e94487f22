//! `orbgate decide`: one question, one answer.

use orbgate::{Decision, Engine, Request, Scopes, Token, TokenKind};
use serde::Serialize;

use crate::answer;
use crate::args::{Question, bytes, given};
use crate::output::{self, Outcome, Stop};
use crate::policy_file::Source;

/// Decides and prints the answer.
pub(crate) fn run(question: &Question, source: &Source) -> Result<Outcome, Stop> {
    let decision = decide(question, question.scopes(), source.engine());
    if question.json {
        print_json(&decision)?;
    } else {
        let advice: Vec<_> = answer::advice(question, &decision, source)
            .into_iter()
            .collect();
        output::print(|out| answer::write(out, &decision, &advice, source))?;
    }
    Ok(outcome(&decision))
}

/// How a command ends that took this decision.
pub(crate) const fn outcome(decision: &Decision<'_>) -> Outcome {
    if decision.is_allow() {
        Outcome::Fine
    } else {
        Outcome::Findings
    }
}

/// Prints an answer as one line of JSON.
pub(crate) fn print_json(answer: &impl Serialize) -> Result<(), Stop> {
    let mut line = Vec::new();
    serde_json::to_writer(&mut line, answer)
        .map_err(|error| Stop::Error(format!("cannot write JSON: {error}")))?;
    line.push(b'\n');
    output::print_raw(&line)
}

/// Asks the engine, with the very bytes of the command line.
pub(crate) fn decide<'e>(
    question: &Question,
    scopes: Scopes<'_>,
    engine: &'e Engine,
) -> Decision<'e> {
    let token = question.token.map(|kind| Token {
        kind: TokenKind::from(kind),
        scopes,
    });
    match &question.scope {
        Some(scope) => engine.decide_scope(bytes(scope), token, question.allow_bonus_orbs),
        None => engine.decide(&Request {
            method: given(&question.method),
            target: given(&question.target),
            token,
            allow_bonus_orbs_use: question.allow_bonus_orbs,
        }),
    }
}
