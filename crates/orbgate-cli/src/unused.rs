//! `orbgate unused`: finds scopes that tokens have but never need.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use orbgate::{Engine, Request, Scopes, Token, TokenKind};
use orbgate_analysis::ask::answers::{Carried, LastUse, Unused};
use orbgate_log::Field;

use crate::calls::{self, Asked, Tokens};
use crate::output::{self, DENY, Exit, FAINT, STRONG, Stop, count, one_line, print_json};
use crate::policy_file::Source;
use crate::question::Kind;
use crate::tolerate::Tolerance;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Log of calls with the scopes of their tokens; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) log: PathBuf,

    /// Access log field that contains the scopes, such as `extra1` or `user`
    #[arg(long, value_name = "FIELD")]
    pub(crate) field: Option<String>,

    #[command(flatten)]
    pub(crate) tolerance: Tolerance,

    /// Kind of the tokens of an access log
    #[arg(long, value_name = "KIND", default_value = "user", hide_default_value = true)]
    pub(crate) token: Kind,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Counts the scopes that the calls of a log have and use, and prints them.
pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let kind = TokenKind::from(arguments.token);
    let field =
        match arguments.field.as_deref() {
            None => None,
            Some(name) => Some(Field::from_name(name).ok_or_else(|| {
                Stop::Error(format!("`{name}` is not a field of an access log, as `extra1` or `user`"))
            })?),
        };
    let mut counted = Unused::new(source.engine());
    let tokens = Tokens { field, kind, are_needed: true };
    let lines = calls::each(&arguments.log, &tokens, |line, call| {
        add(&mut counted, source.engine(), line, call);
    })?;
    let answer = counted.answer();
    if answer.scopes.is_empty() && lines.unusable == 0 {
        return Err(Stop::Error(nothing_known(&counted, arguments)));
    }
    if arguments.json {
        print_json(&answer)?;
    } else {
        output::print(|out| write(out, &counted, &answer.scopes))?;
    }
    let exit = match (answer.scopes.is_empty(), answer.unused.is_empty()) {
        (true, _) => Exit::CouldNotRun,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Findings,
    };
    Ok(arguments.tolerance.exit(lines.unusable, lines.all, exit))
}

fn add<'e>(counted: &mut Unused<'e>, engine: &'e Engine, line: u64, call: calls::Call<'_>) {
    let known = |token: &(TokenKind, _)| token.0 != TokenKind::Unknown;
    let token = call.token.filter(known);
    let decided = token.as_ref().map(|(kind, scopes)| {
        let token = Some(Token { kind: *kind, scopes: Scopes::Text(scopes) });
        let decision = match &call.asked {
            Asked::Scope(name) => engine.decide_scope(&**name, token, false),
            Asked::Call(method, target) => {
                engine.decide(&Request { method, target, token, allow_bonus_orbs_use: false })
            }
        };
        (decision, &**scopes)
    });
    counted.count(line, decided, call.time.as_deref());
}

/// Why there is no result. If no scope was seen, "every scope is used" would be misleading.
fn nothing_known(counted: &Unused<'_>, arguments: &Arguments) -> String {
    let calls = count(number(counted.calls), "call");
    let why = match &arguments.field {
        _ if counted.calls == 0 => format!("there are {calls}"),
        Some(field) => {
            format!("the field `{field}` is absent or empty in all of {calls}")
        }
        None if counted.without_token > 0 => {
            "there is no token of a known kind; of an access log, name the field that has scopes with `--field`"
                .to_owned()
        }
        None => format!("there is a token with none in each of {calls}"),
    };
    format!("{}: no call carries a scope: {why}", arguments.log.display())
}

fn write(out: &mut dyn Write, counted: &Unused<'_>, rows: &[Carried]) -> io::Result<()> {
    let width = rows.iter().map(|row| row.scope.chars().count()).max();
    let width = width.unwrap_or(0).clamp("SCOPE".len(), 60);
    let [granted, used, needed] = ["GRANTED", "USED", "NEEDED"];
    writeln!(out, "{FAINT}{:width$}  {granted:>10}  {used:>10}  {needed:>10}  LAST USE{FAINT:#}", "SCOPE")?;
    for row in rows {
        let scope = one_line(&row.scope);
        let style = if row.used == 0 { DENY } else { STRONG };
        let last = match &row.last {
            None if row.in_policy => "never".to_owned(),
            None => "never, not in the policy".to_owned(),
            Some(LastUse { line, time: None, .. }) => format!("line {line}"),
            Some(LastUse { line, time: Some(time), .. }) => format!("line {line}, {}", one_line(time)),
        };
        let Carried { granted, used, needed, .. } = row;
        writeln!(out, "{style}{scope:width$}{style:#}  {granted:>10}  {used:>10}  {needed:>10}  {last}")?;
    }
    let calls = count(number(counted.calls), "call");
    match counted.without_token {
        0 => writeln!(out, "{FAINT}{calls}{FAINT:#}"),
        without => writeln!(out, "{FAINT}{calls}, {without} without a valid token{FAINT:#}"),
    }
}

fn number(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

const HELP: &str = "\
Every scope that some token carried, with the number of calls that carried it,
of those that it allowed, and of those that would have been denied without it,
and the latest that it allowed: by the log's times, or without times the last
line. Unused ones come first, and can be removed together. A scope that was used
but not needed can be spared if the others stay: of a route that accepts any of
several scopes, the token carried more than one.

A line is a request as `orbgate replay` reads it, or a line of an access log
(common, combined, W3C, ALB, HAProxy or Envoy) with the scopes in a field of
their own: `vhost`, `host`, `identity`, `user`, `time`, `status`, `size`,
`referer`, `agent`, and `extra1`, `extra2` and so on for those after, or for
the headers that HAProxy captured; in a W3C log also each name in `#Fields:`.
The tokens of an access log are users' without --token. A log can be compressed
with gzip or zstd.

Examples:
  orbgate unused requests.jsonl
  orbgate unused access.log --field extra1 --token organisation
  orbgate unused requests.jsonl --json | jq -r '.unused[]'

Exit codes:
  0  every scope was used
  1  some scope was never used
  2  could not run: bad usage, policy or log, more lines that are not calls than
     --tolerate accepts, or no call that carries a scope";
