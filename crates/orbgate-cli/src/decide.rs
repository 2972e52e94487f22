//! `orbgate decide`: one question, one answer.

use std::ffi::{OsStr, OsString};

use orbgate::{Decision, Engine, Request, Token, TokenKind};

use crate::args::Question;
use crate::explain;
use crate::output::{self, Outcome, Stop};
use crate::policy_file::Source;

/// Decides and prints the answer.
pub(crate) fn run(question: &Question, source: &Source) -> Result<Outcome, Stop> {
    let decision = decide(question, source.engine());
    if question.json {
        let mut line = Vec::new();
        serde_json::to_writer(&mut line, &decision)
            .map_err(|error| Stop::Error(format!("cannot write JSON: {error}")))?;
        line.push(b'\n');
        output::print_raw(&line)?;
    } else {
        output::print(|out| explain::answer(out, question, &decision, source))?;
    }
    Ok(if decision.is_allow() {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

/// Asks the engine, with the very bytes of the command line.
fn decide<'e>(question: &Question, engine: &'e Engine) -> Decision<'e> {
    let token = question.token.map(|kind| Token {
        kind: TokenKind::from(kind),
        scopes: given(&question.scopes).into(),
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

/// The bytes of an argument that may be absent.
fn given(argument: &Option<OsString>) -> &[u8] {
    argument.as_deref().map_or(&[], bytes)
}

/// The bytes of an argument, whether or not they are UTF-8.
#[cfg(unix)]
fn bytes(argument: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(argument)
}

/// The bytes of an argument; what is not Unicode stays what no method, target or scope may contain.
#[cfg(not(unix))]
fn bytes(argument: &OsStr) -> &[u8] {
    argument.as_encoded_bytes()
}
