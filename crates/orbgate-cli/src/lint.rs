//! `orbgate lint`: what is legal in policies and likely not meant.

mod sarif;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::policy::Fault;
use orbgate::{Digest, Place};
use orbgate_analysis::{Code, Finding, Level};
use serde::Serialize;

use crate::input;
use crate::output::{self, ALLOW, DENY, Exit, FAINT, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{self, READ_LIMIT};

/// The command as people type it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) levels: Levels,

    /// Answer as one line of JSON
    #[arg(long, conflicts_with = "sarif")]
    pub(crate) json: bool,

    /// Answer as SARIF 2.1.0, which code hosts show next to the lines
    #[arg(long)]
    pub(crate) sarif: bool,
}

/// Other levels than those of the codes.
#[derive(Debug, Args)]
pub(crate) struct Levels {
    /// Another level for a code: `error`, `warning`, `note` or `off`
    #[arg(long = "level", value_name = "CODE=LEVEL", value_parser = code_and_level)]
    levels: Vec<(Code, Option<Level>)>,
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

/// A file, and what was found in it.
pub(crate) struct Linted {
    file: String,
    /// `None` where the file is not a valid policy.
    policy: Option<Digest>,
    pub(crate) faults: Vec<Fault>,
    findings: Vec<Finding>,
    /// The levels of which findings may be missing.
    cut: Vec<Level>,
}

/// Looks at the files.
pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let (mut linted, mut outcome) = (Vec::new(), Exit::Fine);
    for path in arguments.files.iter().map(PathBuf::as_path).chain(policy) {
        match input::read(path, READ_LIMIT) {
            Ok(bytes) => linted.push(Linted::new(
                path.display().to_string(),
                &bytes,
                &arguments.levels,
            )),
            // The other files are looked at all the same.
            Err(message) => {
                output::error(&message);
                outcome = Exit::CouldNotRun;
            }
        }
    }
    if arguments.json {
        print_json(&Answer {
            files: linted.iter().map(FileAnswer::new).collect(),
        })?;
    } else if arguments.sarif {
        print_json(&sarif::log(&linted))?;
    } else {
        output::print(|out| linted.iter().try_for_each(|linted| linted.write(out)))?;
    }
    // However many notes there are, they change no exit code.
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
        let mut linted = Self {
            file,
            policy: None,
            faults: Vec::new(),
            findings: Vec::new(),
            cut: Vec::new(),
        };
        // The last that is said of a code counts.
        let level = |code: Code| {
            let asked = levels.levels.iter().rev().find(|(known, _)| *known == code);
            asked.map_or(Some(code.level()), |(_, level)| *level)
        };
        match policy_file::parse(bytes) {
            Err(faults) => linted.faults = faults,
            Ok(policy) => {
                let found = orbgate_analysis::lint(&policy, &String::from_utf8_lossy(bytes));
                linted.policy = Some(policy.digest());
                linted.cut = found.cut.into_iter().filter_map(level).collect();
                let with_level = |mut finding: Finding| {
                    finding.level = level(finding.code)?;
                    Some(finding)
                };
                linted.findings = found.list.into_iter().filter_map(with_level).collect();
            }
        }
        linted
    }

    /// What is not suppressed.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Finding> {
        let list = self.findings.iter();
        list.filter(|finding| finding.suppressed.is_none())
    }

    /// What is suppressed.
    pub(crate) fn suppressed(&self) -> impl Iterator<Item = (&Finding, &str)> {
        let list = self.findings.iter();
        list.filter_map(|finding| Some((finding, finding.suppressed.as_deref()?)))
    }

    /// Whether errors or warnings may be missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.iter().any(|level| *level > Level::Note)
    }

    /// Whether there is more than notes.
    pub(crate) fn complains(&self) -> bool {
        !self.faults.is_empty() || self.open().any(|finding| finding.level > Level::Note)
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let file = one_line(&self.file);
        for fault in &self.faults {
            writeln!(out, "{file}:{}", one_line(&fault.to_string()))?;
        }
        if self.policy.is_none() {
            return Ok(());
        }
        for finding in self.open() {
            let style = match finding.level {
                Level::Error => DENY,
                Level::Warning => WARNING,
                Level::Note => FAINT,
            };
            let (place, level, code) = (finding.place, finding.level, finding.code);
            let message = one_line(&finding.message);
            writeln!(
                out,
                "{file}:{place}: {style}{level}[{code}]{style:#}: {message}"
            )?;
        }
        let counted = |level: Level| {
            let number = self.open().filter(|finding| finding.level == level).count();
            (number > 0).then(|| count(number, level.as_str()))
        };
        let suppressed = self.findings.len().saturating_sub(self.open().count());
        let suppressed = (suppressed > 0).then(|| format!("{suppressed} suppressed"));
        let cut = (!self.cut.is_empty()).then(|| "not all listed".to_owned());
        let levels = Level::ALL.into_iter().rev().map(counted);
        let counts: Vec<_> = levels.chain([suppressed, cut]).flatten().collect();
        match self.complains() {
            true => writeln!(out, "{file}: {}", counts.join(", ")),
            false if counts.is_empty() => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}"),
            false => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}: {}", counts.join(", ")),
        }
    }
}

/// All of it, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    files: Vec<FileAnswer<'a>>,
}

#[derive(Serialize)]
pub(crate) struct FileAnswer<'a> {
    file: &'a str,
    policy: Option<Digest>,
    complete: bool,
    faults: Vec<FaultAnswer>,
    findings: Vec<FindingAnswer<'a>>,
}

/// A fault of a policy, as JSON.
#[derive(Serialize)]
pub(crate) struct FaultAnswer {
    place: Place,
    message: String,
}

impl FaultAnswer {
    pub(crate) fn new(fault: &Fault) -> Self {
        Self {
            place: fault.place,
            message: fault.message.clone(),
        }
    }
}

#[derive(Serialize)]
struct FindingAnswer<'a> {
    code: &'static str,
    level: &'static str,
    place: Place,
    message: &'a str,
    other: Option<Place>,
    suppressed: Option<&'a str>,
}

impl<'a> FileAnswer<'a> {
    pub(crate) fn new(linted: &'a Linted) -> Self {
        let finding = |finding: &'a Finding| FindingAnswer {
            code: finding.code.as_str(),
            level: finding.level.as_str(),
            place: finding.place,
            message: &finding.message,
            other: finding.other,
            suppressed: finding.suppressed.as_deref(),
        };
        Self {
            file: &linted.file,
            policy: linted.policy,
            complete: linted.cut.is_empty(),
            faults: linted.faults.iter().map(FaultAnswer::new).collect(),
            findings: linted.findings.iter().map(finding).collect(),
        }
    }
}

const HELP: &str = "\
What is legal and likely not meant, as FILE:LINE:COLUMN: LEVEL[CODE]: message.
The codes; docs/lint has a page for each:
  error    inference_elsewhere, bad_suppression
  warning  overlap, shadowed_route, unstated_get, similar_scopes,
           case_or_plural, colon_literal, similar_literals, unknown_method,
           unused_suppression
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
