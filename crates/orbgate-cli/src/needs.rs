//! `orbgate needs`: the least scopes for calls.

use std::collections::HashMap;
use std::io::{self, Write};

use orbgate::{Deny, Detail, Digest, Engine, Reason, TokenKind};
use orbgate_analysis::{scope_needed, scope_needed_by_name};
use serde::Serialize;

use crate::answer::short;
use crate::args::{Calls, bytes};
use crate::calls::{self, Asked, Tokens};
use crate::check::count;
use crate::decide::print_json;
use crate::output::{self, DENY, FAINT, Outcome, STRONG, Stop, one_line};
use crate::policy_file::Source;

/// Finds the least scopes, and prints them with their evidence.
pub(crate) fn run(calls: &Calls, source: &Source) -> Result<Outcome, Stop> {
    let kind = TokenKind::from(calls.token);
    let mut needs = Needs::new(source.engine(), kind);
    let mut wrong = 0;
    match &calls.log {
        Some(log) => {
            let tokens = Tokens { field: None, kind };
            wrong = calls::each(log, tokens, |line, call| needs.add(line, &call.asked))?;
        }
        None => {
            for (number, call) in (1..).zip(&calls.calls) {
                let asked = calls::plain(bytes(call)).map_err(Stop::Error)?;
                needs.add(number, &asked);
            }
        }
    }
    let at = if calls.log.is_some() {
        "line"
    } else {
        "argument"
    };
    if calls.json {
        print_json(&needs.answer(source))?;
    } else {
        output::print(|out| needs.write(out, source, at))?;
    }
    Ok(match wrong {
        0 if needs.refused.is_empty() => Outcome::Fine,
        0 => Outcome::Findings,
        _ => Outcome::CouldNotRun,
    })
}

/// What calls need, in memory in proportion to the policy.
struct Needs<'e> {
    engine: &'e Engine,
    kind: TokenKind,
    calls: u64,
    needed: Vec<Needed<'e>>,
    by_scope: HashMap<&'e str, usize>,
    refused: Vec<Refused<'e>>,
    by_refusal: HashMap<(Reason, Option<Detail>, Option<&'e str>), usize>,
}

#[derive(Serialize)]
struct Needed<'e> {
    scope: &'e str,
    calls: u64,
    first: First,
}

/// Calls that no scope could allow.
#[derive(Serialize)]
struct Refused<'e> {
    reason: Reason,
    detail: Option<Detail>,
    route: Option<&'e str>,
    calls: u64,
    first: First,
}

/// The first call that shows it.
#[derive(Serialize)]
struct First {
    /// Its line, or the number of the argument.
    at: u64,
    call: String,
}

impl<'e> Needs<'e> {
    fn new(engine: &'e Engine, kind: TokenKind) -> Self {
        Self {
            engine,
            kind,
            calls: 0,
            needed: Vec::new(),
            by_scope: HashMap::new(),
            refused: Vec::new(),
            by_refusal: HashMap::new(),
        }
    }

    fn add(&mut self, at: u64, asked: &Asked<'_>) {
        self.calls = self.calls.saturating_add(1);
        let needed = match asked {
            Asked::Call(method, target) => scope_needed(self.engine, self.kind, method, target),
            Asked::Scope(name) => scope_needed_by_name(self.engine, self.kind, &**name),
        };
        let first = || First {
            at,
            call: asked.shown(),
        };
        let calls = match needed {
            // Whoever asks may.
            Ok(None) => return,
            Ok(Some(scope)) => {
                let place = *self.by_scope.entry(scope.name()).or_insert_with(|| {
                    self.needed.push(Needed {
                        scope: scope.name(),
                        calls: 0,
                        first: first(),
                    });
                    self.needed.len().saturating_sub(1)
                });
                self.needed.get_mut(place).map(|needed| &mut needed.calls)
            }
            Err(deny) => {
                let place = *self.by_refusal.entry(refusal(&deny)).or_insert_with(|| {
                    let (reason, detail, route) = refusal(&deny);
                    self.refused.push(Refused {
                        reason,
                        detail,
                        route,
                        calls: 0,
                        first: first(),
                    });
                    self.refused.len().saturating_sub(1)
                });
                self.refused
                    .get_mut(place)
                    .map(|refused| &mut refused.calls)
            }
        };
        if let Some(calls) = calls {
            *calls = calls.saturating_add(1);
        }
    }

    fn scopes(&self) -> Vec<&'e str> {
        self.needed.iter().map(|needed| needed.scope).collect()
    }

    fn write(&self, out: &mut dyn Write, source: &Source, at: &str) -> io::Result<()> {
        // Always what `--scopes` takes, so nothing where no scope is needed.
        writeln!(out, "{STRONG}{}{STRONG:#}", self.scopes().join(" "))?;
        let width = self.needed.iter().map(|needed| needed.scope.len()).max();
        let width = width.unwrap_or(0);
        let shown = |calls: u64, first: &First| {
            let calls = usize::try_from(calls).unwrap_or(usize::MAX);
            let (number, call) = (first.at, one_line(&first.call).into_owned());
            format!("{}, first {at} {number}: {call}", count(calls, "call"))
        };
        for Needed {
            scope,
            calls,
            first,
        } in &self.needed
        {
            writeln!(out, "  {scope:width$}  {}", shown(*calls, first))?;
        }
        for refused in &self.refused {
            let detail = refused.detail.map(|detail| format!(" ({detail})"));
            let (reason, detail) = (refused.reason, detail.unwrap_or_default());
            let shown = shown(refused.calls, &refused.first);
            writeln!(
                out,
                "{DENY}no scope allows{DENY:#} {shown}: {reason}{detail}"
            )?;
        }
        let calls = count(usize::try_from(self.calls).unwrap_or(usize::MAX), "call");
        let digest = short(source.engine().digest());
        writeln!(
            out,
            "{FAINT}{calls}, {}, {digest}{FAINT:#}",
            one_line(source.name())
        )
    }

    fn answer<'a>(&'a self, source: &Source) -> Answer<'a> {
        Answer {
            policy: source.engine().digest(),
            kind: self.kind.as_str(),
            calls: self.calls,
            scopes: self.scopes(),
            needs: &self.needed,
            refusals: &self.refused,
        }
    }
}

/// What tells refusals apart.
fn refusal<'e>(deny: &Deny<'e>) -> (Reason, Option<Detail>, Option<&'e str>) {
    let route = deny.route().map(|route| match deny.reason() {
        Reason::MethodNotDeclared => route.template(),
        _ => route.as_str(),
    });
    (deny.reason(), deny.detail(), route)
}

#[derive(Serialize)]
struct Answer<'a> {
    policy: Digest,
    kind: &'static str,
    calls: u64,
    scopes: Vec<&'a str>,
    needs: &'a [Needed<'a>],
    refusals: &'a [Refused<'a>],
}
