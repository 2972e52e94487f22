//! `orbgate lint`: finds likely mistakes in valid policies.

mod sarif;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate_analysis::ask::answers::{self, Files};
use orbgate_analysis::{self as analysis, Code, Finding, Level};

use crate::input;
use crate::output::{self, ALLOW, DENY, Exit, FAINT, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{self, READ_LIMIT};

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

/// Levels that override those of the codes.
#[derive(Debug, Args)]
pub(crate) struct Levels {
    /// Level of a code: `error`, `warning`, `note` or `off`
    #[arg(long = "level", value_name = "CODE=LEVEL", value_parser = code_and_level)]
    levels: Vec<(Code, Option<Level>)>,
}

fn code_and_level(text: &str) -> Result<(Code, Option<Level>), String> {
    let (code, level) = text.split_once('=').ok_or("it is `CODE=LEVEL`")?;
    analysis::Levels::read(code, level)
}

pub(crate) struct Linted(pub(crate) answers::Linted);

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

impl Linted {
    pub(crate) fn new(file: String, bytes: &[u8], levels: &Levels) -> Self {
        let levels = levels.levels.iter().copied().collect();
        let text = String::from_utf8_lossy(bytes);
        Self(answers::Linted::new(file, &text, policy_file::parse(bytes), &levels))
    }

    /// Findings that aren't suppressed.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Finding> {
        let list = self.0.findings.iter();
        list.filter(|finding| finding.suppressed.is_none())
    }

    pub(crate) fn suppressed(&self) -> impl Iterator<Item = (&Finding, &str)> {
        let list = self.0.findings.iter();
        list.filter_map(|finding| Some((finding, finding.suppressed.as_deref()?)))
    }

    /// Whether errors or warnings might be missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.0.cut.iter().any(|level| *level > Level::Note)
    }

    /// Whether there are findings other than notes.
    pub(crate) fn complains(&self) -> bool {
        !self.0.diagnostics.is_empty() || self.open().any(|finding| finding.level > Level::Note)
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let file = one_line(&self.0.file);
        for diagnostic in &self.0.diagnostics {
            writeln!(out, "{file}:{}", one_line(&diagnostic.to_string()))?;
        }
        if self.0.policy.is_none() {
            return Ok(());
        }
        for finding in self.open() {
            let style = match finding.level {
                Level::Error => DENY,
                Level::Warning => WARNING,
                Level::Note => FAINT,
            };
            let (location, level, code) = (finding.location, finding.level, finding.code);
            let message = one_line(&finding.message);
            writeln!(out, "{file}:{location}: {style}{level}[{code}]{style:#}: {message}")?;
        }
        let counted = |level: Level| {
            let number = self.open().filter(|finding| finding.level == level).count();
            (number > 0).then(|| count(number, level.as_str()))
        };
        let suppressed = self.0.findings.len().saturating_sub(self.open().count());
        let suppressed = (suppressed > 0).then(|| format!("{suppressed} suppressed"));
        let cut = (!self.0.cut.is_empty()).then(|| "not all listed".to_owned());
        let levels = Level::ALL.into_iter().rev().map(counted);
        let counts: Vec<_> = levels.chain([suppressed, cut]).flatten().collect();
        match self.complains() {
            true => writeln!(out, "{file}: {}", counts.join(", ")),
            false if counts.is_empty() => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}"),
            false => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}: {}", counts.join(", ")),
        }
    }
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
