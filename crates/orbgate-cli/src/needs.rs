//! `orbgate needs`: the least scopes for calls.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use orbgate::{Deny, Detail, Digest, Engine, Reason, TokenKind};
use orbgate_analysis::{scope_needed, scope_needed_by_name};
use serde::Serialize;

use crate::answer::short;
use crate::args::{Kind, bytes};
use crate::calls::{self, Asked, Tokens};
use crate::output::{self, DENY, Exit, FAINT, STRONG, Stop, count, one_line, print_json};
use crate::policy_file::Source;

/// The command as people type it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Calls, each `METHOD TARGET` in one argument
    #[arg(
        value_name = "CALL",
        required_unless_present = "log",
        conflicts_with = "log"
    )]
    pub(crate) calls: Vec<OsString>,

    /// Take the calls from a log; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log: Option<PathBuf>,

    /// Whose token makes the calls
    #[arg(
        long,
        value_name = "KIND",
        default_value = "user",
        hide_default_value = true
    )]
    pub(crate) token: Kind,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Finds the least scopes, and prints them with their evidence.
pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let kind = TokenKind::from(arguments.token);
    let mut needs = Needs::new(source.engine(), kind);
    let mut wrong = 0;
    match &arguments.log {
        Some(log) => {
            let tokens = Tokens { field: None, kind };
            wrong = calls::each(log, tokens, |line, call| needs.add(line, &call.asked))?;
        }
        None => {
            for (number, call) in (1..).zip(&arguments.calls) {
                let asked = calls::plain(bytes(call)).map_err(Stop::Error)?;
                needs.add(number, &asked);
            }
        }
    }
    let at = if arguments.log.is_some() {
        "line"
    } else {
        "argument"
    };
    if arguments.json {
        print_json(&needs.answer(source))?;
    } else {
        output::print(|out| needs.write(out, source, at))?;
    }
    Ok(match wrong {
        0 if needs.refused.is_empty() => Exit::Fine,
        0 => Exit::Findings,
        _ => Exit::CouldNotRun,
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
            // Everybody may.
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

const HELP: &str = "\
The first line has the least scopes with which a token may make all the calls,
as `--scopes` takes them; the lines below say for each scope how many calls
need it, and which is the first. Without one of them, that call is denied.
Calls that no scope could allow are named with their reason.

A line of a log is a request as `orbgate replay` reads it, a line of a web
server's access log, or `METHOD TARGET`. Without --token it is a user's.

Examples:
  orbgate needs 'GET /api/v1/external/voxies' 'POST /api/v1/external/vox/run'
  orbgate needs --log access.log --token organisation
  grep 'app=billing' access.log | orbgate needs --log - --json

Exit codes:
  0  every call can be allowed
  1  no scope could allow some call
  2  could not run: bad usage, policy or log, or a line that is not a call";
