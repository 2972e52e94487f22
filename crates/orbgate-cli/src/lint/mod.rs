//! `orbgate lint`: finds likely mistakes in valid policies.

mod linted;
mod sarif;

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate_analysis::ask::answers::Files;

use crate::input;
use crate::output::{self, Exit, Stop, print_json};
use crate::policy_file::READ_LIMIT;

pub(crate) use self::linted::{Levels, Linted};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) levels: Levels,

    /// Print one line of JSON
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,

    /// Print SARIF 2.1.0, which code hosts show next to the lines
    #[arg(long)]
    pub(crate) sarif: bool,
}

pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let (mut linted, mut outcome) = (Vec::new(), Exit::Fine);
    for path in arguments.files.iter().map(PathBuf::as_path).chain(policy) {
        match input::read(path, READ_LIMIT) {
            Ok(bytes) => linted.push(Linted::new(path.display().to_string(), &bytes, &arguments.levels)),
            // Continue with the other files.
            Err(message) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
            }
        }
    }
    if arguments.json {
        print_json(&Files { files: linted.iter().map(|linted| &linted.0).collect() })?;
    } else if arguments.sarif {
        print_json(&sarif::log(&linted))?;
    } else {
        output::print(|out| linted.iter().try_for_each(|linted| linted.write(out)))?;
    }
    // Notes never affect the exit code.
    if linted.iter().any(Linted::is_cut) {
        let message = "too many findings, or templates that overlap: not everything is listed";
        output::error(message);
        return Ok(Exit::CouldNotRun);
    }
    Ok(match outcome {
        Exit::Fine if linted.iter().any(Linted::complains) => Exit::Findings,
        outcome => outcome,
    })
}

const HELP: &str = "\
What is legal and likely not meant, as FILE:LINE:COLUMN: LEVEL[CODE]: message.
The codes, which docs/lint.md describes:
  error    inference_elsewhere, bad_suppression
  warning  overlap, shadowed_route, unstated_get, similar_scopes,
           case_or_plural, colon_literal, foreign_template,
           repeated_base_path, similar_literals, unknown_method,
           unused_suppression
  note     unstated_amount, scope_without_routes, no_permits,
           repeated_requirement, no_end_marker
A comment accepts a finding with a reason, on its line or on the lines before:
  - GET /models   # orbgate-lint: allow unstated_get: the meter knows it
or for the whole file, with `allow-file`. The file of `--policy` is looked at
as well.

Examples:
  orbgate lint policy.yaml
  orbgate lint policies/*.yaml --level no_permits=off --level overlap=error
  orbgate lint policy.yaml --sarif > lint.sarif

Exit codes:
  0  no findings, or only notes
  1  an error, a warning, or an error of a file
  2  could not run: bad usage, a file that cannot be read, or too many
     errors or warnings to list all";
