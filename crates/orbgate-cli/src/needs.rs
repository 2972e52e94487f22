//! `orbgate needs`: finds the least set of scopes for calls.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use orbgate::TokenKind;
use orbgate_analysis::ask::answers::{First, Needed, Needs, NeedsAnswer};

use crate::answer::short;
use crate::calls::{self, Asked, Lines, Tokens};
use crate::output::{self, DENY, Exit, FAINT, STRONG, Stop, count, one_line, print_json};
use crate::policy_file::Source;
use crate::question::{Kind, bytes};
use crate::tolerate::Tolerance;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Calls, each `METHOD TARGET` in one argument
    #[arg(value_name = "CALL", required_unless_present = "log", conflicts_with = "log")]
    pub(crate) calls: Vec<OsString>,

    /// Read the calls from a log; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) tolerance: Tolerance,

    /// Kind of the token that makes the calls
    #[arg(long, value_name = "KIND", default_value = "user", hide_default_value = true)]
    pub(crate) token: Kind,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Finds the least set of scopes, and prints it with its evidence.
pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let kind = TokenKind::from(arguments.token);
    let mut needs = Needs::new(source.engine(), kind);
    let mut lines = Lines::default();
    match &arguments.log {
        Some(log) => {
            let tokens = Tokens { field: None, kind, are_needed: false };
            lines = calls::each(log, &tokens, |line, call| {
                add(&mut needs, line, &call.asked);
            })?;
        }
        None => {
            for (number, call) in (1..).zip(&arguments.calls) {
                let asked = calls::plain(bytes(call)).map_err(Stop::Error)?;
                add(&mut needs, number, &asked);
            }
        }
    }
    let needs = needs.answer();
    if let Some(log) = arguments.log.as_ref().filter(|_| needs.calls == 0 && lines.unusable == 0) {
        // "No scope is needed" would be misleading.
        return Err(Stop::Error(format!("{}: there are no calls", log.display())));
    }
    let at = if arguments.log.is_some() { "line" } else { "argument" };
    if arguments.json {
        print_json(&needs)?;
    } else {
        output::print(|out| write(out, &needs, source, at))?;
    }
    let exit = match (needs.calls, needs.refusals.is_empty()) {
        (0, _) => Exit::CouldNotRun,
        (_, true) => Exit::Fine,
        (_, false) => Exit::Findings,
    };
    Ok(arguments.tolerance.exit(lines.unusable, lines.all, exit))
}

fn add(needs: &mut Needs<'_>, at: u64, asked: &Asked<'_>) {
    match asked {
        Asked::Call(method, target) => needs.add(at, method, target, || asked.shown()),
        Asked::Scope(name) => needs.add_scope(at, &**name, || asked.shown()),
    }
}

fn write(out: &mut dyn Write, needs: &NeedsAnswer<'_>, source: &Source, at: &str) -> io::Result<()> {
    // Always a valid argument for `--scopes`, so it is empty if no scope is needed.
    writeln!(out, "{STRONG}{}{STRONG:#}", needs.scopes.join(" "))?;
    let width = needs.needs.iter().chain(&needs.earned).map(|needed| needed.scope.len()).max();
    let width = width.unwrap_or(0);
    let shown = |calls: u64, first: &First| {
        let calls = usize::try_from(calls).unwrap_or(usize::MAX);
        let (number, call) = (first.at, one_line(&first.call).into_owned());
        format!("{}, first {at} {number}: {call}", count(calls, "call"))
    };
    for Needed { scope, calls, first } in &needs.needs {
        writeln!(out, "  {scope:width$}  {}", shown(*calls, first))?;
    }
    for Needed { scope, calls, first } in &needs.earned {
        writeln!(out, "  {scope:width$}  {} (the token must earn it)", shown(*calls, first))?;
    }
    for refused in &needs.refusals {
        let detail = refused.detail.map(|detail| format!(" ({detail})"));
        let (reason, detail) = (refused.reason, detail.unwrap_or_default());
        let shown = shown(refused.calls, &refused.first);
        writeln!(out, "{DENY}no scope allows{DENY:#} {shown}: {reason}{detail}")?;
    }
    if !needs.is_smallest {
        writeln!(out, "{FAINT}no scope is too many, but other scopes might be fewer{FAINT:#}")?;
    }
    let calls = count(usize::try_from(needs.calls).unwrap_or(usize::MAX), "call");
    let digest = short(source.engine().digest());
    writeln!(out, "{FAINT}{calls}, {}, {digest}{FAINT:#}", one_line(source.name()))
}

const HELP: &str = "\
The first line lists the fewest scopes with which a token may make all the
calls, in the syntax of `--scopes`. The lines below list for each scope how many
calls need it, and the first of them, which is denied without the scope. A scope
that begins with `earned:` isn't in the first line, because no client requests
it: `derive` in the token configuration gives it. Calls that no scope could
allow are listed with their reason. If routes accept any of several scopes, and
more than 20 of these have to be weighed, a smaller set might exist, and the
output says so (`is_smallest` with --json).

A line of a log is a request as `orbgate replay` reads it, `METHOD TARGET`, or a
line of an access log: common, combined, W3C (IIS, CloudFront), ALB, HAProxy or
Envoy. It can be compressed with gzip or zstd. Without --token it is a user's.

Examples:
  orbgate needs 'GET /api/v1/external/voxies' 'POST /api/v1/external/vox/run'
  orbgate needs --log access.log --token organisation --tolerate 1%
  grep 'app=billing' access.log | orbgate needs --log - --json

Exit codes:
  0  every call can be allowed
  1  no scope could allow some call
  2  could not run: bad usage, policy or log, a log without calls, or more
     lines that are not calls than --tolerate accepts";
