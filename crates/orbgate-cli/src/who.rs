//! `orbgate who`: finds the tokens in a file that can make a call.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use orbgate::{Effect, Engine};
use orbgate_analysis::ask::NamedToken;
use orbgate_analysis::ask::answers::{Asker, Who};
use orbgate_log::{BLANK, TOO_LONG};

use crate::calls::Unusable;
use crate::hint::needed;
use crate::log::{Length, Log};
use crate::output::{self, ALLOW, DENY, Exit, FAINT, Stop, one_line, print_json};
use crate::policy_file::Source;
use crate::question::bytes;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Method of the call, in capital letters
    pub(crate) method: OsString,

    /// Target of the call: path and query, exactly as received
    pub(crate) target: OsString,

    /// File of tokens, one JSON object per line; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: PathBuf,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let text = |argument| {
        str::from_utf8(bytes(argument)).map_err(|_| Stop::Error("method and target must be UTF-8".to_owned()))
    };
    let (method, target) = (text(&arguments.method)?, text(&arguments.target)?);
    let mut log = Log::open(&arguments.tokens)?;
    let (mut rows, mut line, mut number, mut wrong) = (Vec::new(), Vec::new(), 0_u64, Unusable::default());
    loop {
        let length = log.read(&mut line).map_err(Stop::Error)?;
        number = number.saturating_add(1);
        let row = match length {
            Length::End => break,
            Length::TooLong => Err(TOO_LONG.to_owned()),
            Length::Fits => ask(&line, number, method, target, source.engine()),
        };
        match row {
            Ok(row) => rows.push(row),
            Err(message) => wrong.report(&log, &arguments.tokens, number, &message),
        }
    }
    log.bar.finish_and_clear();
    let wrong = wrong.finish() > 0;
    if rows.is_empty() && !wrong {
        let file = arguments.tokens.display().to_string();
        return Err(Stop::Error(format!("{}: no tokens", one_line(&file))));
    }
    let some = rows.iter().any(|row| row.decision.is_allow());
    if arguments.json {
        print_json(&Who { policy: source.engine().digest(), method, target, tokens: rows })?;
    } else {
        output::print(|out| rows.iter().try_for_each(|row| write(out, row)))?;
    }
    Ok(match (wrong, some) {
        (true, _) => Exit::CouldNotRun,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Findings,
    })
}

fn ask<'e>(line: &[u8], number: u64, method: &str, target: &str, engine: &'e Engine) -> Result<Asker<'e>, String> {
    let text = str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    if text.trim_ascii().is_empty() {
        return Err(BLANK.to_owned());
    }
    let token = NamedToken::parse(text).map_err(|error| {
        let message = error.to_string();
        message.replace(" at line 1 column ", " at column ")
    })?;
    Ok(token.ask(number, method, target, engine))
}

fn write(out: &mut dyn Write, row: &Asker<'_>) -> io::Result<()> {
    let (style, word) = match Effect::of(row.decision.is_allow()) {
        effect @ Effect::Allow => (ALLOW, effect.as_str()),
        effect @ Effect::Deny => (DENY, effect.as_str()),
    };
    // Names can be equal, but lines can't.
    let mut name = format!("line {}", row.line);
    if row.name != name {
        name = format!("{name}  {}", one_line(&row.name));
    }
    let reason = row.decision.reason();
    let needed = needed(&row.decision).filter(|_| !row.decision.is_allow());
    let needs = needed.map_or_else(String::new, |needed| format!(", needs {needed}"));
    writeln!(out, "{style}{word:5}{style:#}  {name}  {FAINT}{reason}{needs}{FAINT:#}")
}

const HELP: &str = "\
Each line of the file has a token and, if you like, a name:
  {\"name\":\"billing\",\"token\":{\"kind\":\"organisation\",\"scopes\":\"read:orbs\"}}
`token` is required; null is a call without a token. `kind` is required.
`scopes` is a string, separated by spaces, or an array, or absent.

Examples:
  orbgate who GET /api/v1/external/orbs --tokens tokens.jsonl
  orbgate who GET /api/v1/external/orbs --tokens tokens.jsonl --json |
      jq -r '.tokens[] | select(.decision.decision == \"allow\").name'

Exit codes:
  0  at least one token may make the call
  1  none may
  2  could not run: bad usage or policy, no tokens, or a line that is no token";
