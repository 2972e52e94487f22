//! `orbgate reach`: lists all calls that a token can make, and their orbs.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Args;
use orbgate::{Orbs, Reason, TokenKind};
use orbgate_analysis::ask::answers::{Reach, Reached};

use crate::answer::short;
use crate::output::{self, Exit, FAINT, STRONG, Stop, count, one_line, print_json};
use crate::policy_file::Source;
use crate::question::{Kind, given};
use crate::table::orb_column;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Kind of the token
    #[arg(long, value_name = "KIND")]
    pub(crate) token: Kind,

    /// Scopes that the token carries, separated by spaces
    #[arg(long)]
    pub(crate) scopes: Option<OsString>,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let kind = TokenKind::from(arguments.token);
    let text = given(&arguments.scopes);
    let scopes = String::from_utf8_lossy(text);
    let reach = Reach::new(source.engine(), kind, &scopes, text);
    if arguments.json {
        print_json(&reach)?;
    } else {
        output::print(|out| write(out, &reach.allowed, source))?;
    }
    Ok(match reach.allowed.is_empty() {
        true => Exit::Findings,
        false => Exit::Fine,
    })
}

fn write(out: &mut dyn Write, allowed: &[Reached<'_>], source: &Source) -> io::Result<()> {
    let name = |row: &Reached<'_>| match row.route {
        Some(route) => route.to_owned(),
        None => format!("scope {}", row.scope),
    };
    let widest = |text: &dyn Fn(&Reached<'_>) -> usize| allowed.iter().map(text).max().unwrap_or(0);
    let (width, scopes) = (widest(&|row| name(row).len()), widest(&|row| row.scope.len()));
    for row in allowed {
        let (name, orbs) = (name(row), orb_column(row.orbs));
        let by = match row.reason {
            Reason::ScopeHeld => String::new(),
            reason => format!(", {reason}"),
        };
        let location = source.at(row.location);
        let scope = row.scope;
        writeln!(
            out,
            "{STRONG}{name:width$}{STRONG:#}  {scope:scopes$}  orbs: {orbs}{by}  {FAINT}{}{FAINT:#}",
            one_line(&location)
        )?;
    }
    let consuming = allowed.iter().filter(|row| matches!(row.orbs, Some(Orbs::Unstated | Orbs::Amount(_))));
    let rows = orbgate_analysis::callable_rows(source.engine()).count();
    writeln!(
        out,
        "{FAINT}{} of {}, {} of them consume orbs, {}{FAINT:#}",
        allowed.len(),
        count(rows, "row"),
        consuming.count(),
        short(source.engine().digest())
    )
}

const HELP: &str = "\
Every route, and every scope without routes, that such a token may call, in
the order of the policy file, with the scope that opens it and its orbs.

Examples:
  orbgate reach --token user --scopes 'read:orbs write:voxies'
  orbgate reach --token organisation --scopes read:models --json |
      jq -r '.allowed[] | select(.orbs.consumes).route'

Exit codes:
  0  something may be called
  1  nothing may be called
  2  could not run: bad usage, bad or unreadable policy";
