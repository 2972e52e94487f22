//! `orbgate lint` as people type it.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use orbgate_analysis::{Code, Level};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Lints {
    /// Policy files; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Another level for a code: `error`, `warning`, `note` or `off`
    #[arg(long = "level", value_name = "CODE=LEVEL", value_parser = code_and_level)]
    pub(crate) levels: Vec<(Code, Option<Level>)>,

    /// Answer as one line of JSON
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,

    /// Answer as SARIF 2.1.0, which code hosts show beside the lines
    #[arg(long)]
    pub(crate) sarif: bool,
}

/// `CODE=LEVEL`; no level is `off`.
fn code_and_level(text: &str) -> Result<(Code, Option<Level>), String> {
    let (code, level) = text.split_once('=').ok_or("it is `CODE=LEVEL`")?;
    let code = Code::from_name(code).ok_or_else(|| {
        let codes = Code::ALL.map(Code::as_str).join(", ");
        format!("the codes are {codes}")
    })?;
    let found = Level::ALL.into_iter().find(|known| known.as_str() == level);
    match (found, level) {
        (Some(level), _) => Ok((code, Some(level))),
        (None, "off") => Ok((code, None)),
        (None, _) => Err("the levels are error, warning, note, off".to_owned()),
    }
}

const HELP: &str = "\
What is legal and likely not meant, as FILE:LINE:COLUMN: LEVEL[CODE]: message.
The codes; docs/lint has a page for each:
  error    inference_elsewhere, bad_suppression
  warning  overlap, shadowed_route, unstated_get, similar_scopes,
           case_or_plural, colon_literal, unused_suppression
  note     scope_without_routes, no_permits, no_end_marker
A comment says why a finding is all right, on its line or on the lines before:
  - GET /models   # orbgate-lint: allow unstated_get: the meter knows it
or for the whole file, with `allow-file`. The file of `--policy` is looked at
as well.

Examples:
  orbgate lint policy.yaml
  orbgate lint policies/*.yaml --level no_permits=off --level overlap=error
  orbgate lint policy.yaml --sarif > lint.sarif

Exit codes:
  0  nothing, or notes alone
  1  an error, a warning, or a fault of a file
  2  could not run: bad usage, a file that cannot be read, or too many
     errors or warnings to list all";
