//! `orbgate test`: runs test cases for policies, and measures their coverage.

mod arguments;
mod coverage;
mod junit;
mod properties;
mod tested;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use orbgate::policy::Diagnostic;
use orbgate::{Decision, Digest, Location};
use orbgate_analysis::{Coverage, Difference, Suite, Tried};
use serde::Serialize;

use crate::input;
use crate::output::{self, ALLOW, DENY, Exit, FAINT, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{READ_LIMIT, Source, in_file};

pub(crate) use self::arguments::Arguments;
pub(crate) use self::coverage::{Report, Share};
pub(crate) use self::tested::Tested;

/// A test file, and the index of its policy among the sources.
pub(crate) struct File {
    name: String,
    suite: Suite,
    source: usize,
}

pub(crate) fn run(arguments: &Arguments, policy: Option<&Path>) -> Result<Exit, Stop> {
    let given = policy.map(|policy| Source::load(Some(policy))).transpose()?;
    let (files, sources) = read(&arguments.files, given.as_ref())?;
    let (tested, coverage) = try_all(&files, &sources);
    if let Some(path) = &arguments.junit {
        write(path, junit::report(&tested)?)?;
    }
    if let Some(path) = &arguments.lcov {
        write(path, coverage::tracefile(&coverage))?;
    }
    let failed = tested.iter().any(Tested::fails);
    let enough = |report: &Report<'_>| report.reaches(arguments.threshold.unwrap_or(0));
    let covered = coverage.iter().all(enough);
    if arguments.json {
        print_json(&Answer {
            files: tested.iter().map(FileAnswer::new).collect(),
            coverage: coverage.iter().map(CoverageAnswer::new).collect(),
        })?;
    } else {
        output::print(|out| {
            for tested in &tested {
                results(out, tested)?;
            }
            for report in &coverage {
                if arguments.coverage || !enough(report) {
                    report.list(out)?;
                }
                report.sum_up(out)?;
                if let Some(threshold) = arguments.threshold.filter(|_| !enough(report)) {
                    let name = one_line(report.source.name());
                    writeln!(out, "{DENY}{name}: less than {threshold} % is covered{DENY:#}")?;
                }
            }
            Ok(())
        })?;
    }
    Ok(match !failed && covered {
        true => Exit::Fine,
        false => Exit::Findings,
    })
}

/// Runs the cases with their policies.
pub(crate) fn try_all<'a>(files: &'a [File], sources: &'a [Source]) -> (Vec<Tested<'a>>, Vec<Report<'a>>) {
    let coverage = sources.iter().map(|source| Coverage::new(source.engine()));
    let mut coverage: Vec<_> = coverage.collect();
    let mut tested = Vec::new();
    for file in files {
        let (Some(source), Some(coverage)) = (sources.get(file.source), coverage.get_mut(file.source)) else {
            continue;
        };
        tested.push(Tested {
            file: &file.name,
            policy: source.engine().digest(),
            source,
            cases: file.suite.run(source.engine(), coverage),
            properties: file.suite.prove(source.engine()),
        });
    }
    let coverage = sources.iter().zip(&coverage);
    let coverage = coverage.map(|(source, coverage)| Report::new(source, coverage));
    (tested, coverage.collect())
}

/// Reads the test files, and each of their policies once, unless one policy is given for all.
pub(crate) fn read(tests: &[PathBuf], given: Option<&Source>) -> Result<(Vec<File>, Vec<Source>), Stop> {
    let (mut files, mut paths, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for path in tests {
        let name = path.display().to_string();
        let bytes = input::read(path, READ_LIMIT).map_err(Stop::Error)?;
        let diagnostics = |diagnostics: Vec<Diagnostic>| Stop::Diagnostics(in_file(&name, &diagnostics));
        let suite = Suite::from_bytes(&bytes).map_err(diagnostics)?;
        let beside = |own: &str| path.parent().unwrap_or(Path::new("")).join(own);
        let policy = suite.policy().filter(|_| given.is_none()).map(beside);
        let load = |policy: Option<&Path>| match given {
            Some(given) => Ok(given.clone()),
            None => Source::load(policy).map_err(|stop| match (stop, suite.policy_location()) {
                (Stop::Error(message), Some(location)) => {
                    Stop::Diagnostics(one_line(&format!("{name}:{location}: {message}")).into_owned())
                }
                (stop, _) => stop,
            }),
        };
        // The same file is the same policy, however its path is spelt. The reader reports a missing
        // file.
        let key = policy.as_ref().map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
        let source = match paths.iter().position(|known| *known == key) {
            Some(source) => source,
            None => {
                sources.push(load(policy.as_deref())?);
                paths.push(key);
                sources.len().saturating_sub(1)
            }
        };
        files.push(File { name, suite, source });
    }
    Ok((files, sources))
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Stop> {
    fs::write(path, text).map_err(|error| Stop::Error(format!("cannot write `{}`: {error}", path.display())))
}

/// Writes the failing cases and properties, the warnings, and the totals.
pub(crate) fn results(out: &mut dyn Write, tested: &Tested<'_>) -> io::Result<()> {
    let file = one_line(tested.file);
    for tried in tested.failed() {
        let (location, name) = (tried.case.location, one_line(&tried.case.name));
        writeln!(out, "{DENY}FAIL{DENY:#} {file}:{location}: {name}")?;
        for difference in &tried.differences {
            let [expected, found] = [&difference.expected, &difference.found].map(|text| one_line(text));
            let field = difference.field;
            writeln!(out, "  {field}: expected {ALLOW}{expected}{ALLOW:#}, found {DENY}{found}{DENY:#}")?;
        }
        let why = tested.why(tried);
        writeln!(out, "  {FAINT}{}{FAINT:#}", one_line(&why))?;
    }
    properties::results(out, tested)?;
    for (location, message) in tested.warnings() {
        let message = one_line(&message);
        writeln!(out, "{file}:{location}: {WARNING}warning:{WARNING:#} {message}")?;
    }
    match tested.fails() {
        false => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}: {}", tested.size()),
        true => {
            let failed = failed_of(core::slice::from_ref(tested));
            writeln!(out, "{file}: {DENY}{failed}{DENY:#}")
        }
    }
}

/// The number of failed cases and properties out of all:
/// `3 of 5 cases and 1 of 2 properties failed`.
pub(crate) fn failed_of(tested: &[Tested<'_>]) -> String {
    let sum = |count: fn(&Tested<'_>) -> usize| tested.iter().map(count).sum::<usize>();
    let parts = [
        (sum(|it| it.failed().count()), sum(|it| it.cases.len()), "case"),
        (sum(|it| it.refuted().count()), sum(|it| it.properties.len()), "property"),
    ];
    let parts = parts.into_iter().filter(|(_, all, _)| *all > 0);
    let parts: Vec<_> = parts.map(|(failed, all, what)| format!("{failed} of {}", count(all, what))).collect();
    format!("{} failed", parts.join(" and "))
}

#[derive(Serialize)]
struct Answer<'a> {
    files: Vec<FileAnswer<'a>>,
    coverage: Vec<CoverageAnswer<'a>>,
}

#[derive(Serialize)]
pub(crate) struct FileAnswer<'a> {
    file: &'a str,
    policy: Digest,
    passed: usize,
    failed: usize,
    cases: Vec<CaseAnswer<'a>>,
    properties: Vec<properties::Answer<'a>>,
}

#[derive(Serialize)]
struct CaseAnswer<'a> {
    name: &'a str,
    location: Location,
    passed: bool,
    differences: &'a [Difference],
    /// Messages about the token's scopes, if the case was denied for them.
    slips: &'a [String],
    decision: &'a Decision<'a>,
}

#[derive(Serialize)]
pub(crate) struct CoverageAnswer<'a> {
    file: &'a str,
    policy: Digest,
    rows: Share,
    outcomes: Share,
    lacking: Vec<Lacking<'a>>,
}

#[derive(Serialize)]
struct Lacking<'a> {
    /// Null for the policy as a whole.
    row: Option<&'a str>,
    location: Option<Location>,
    outcomes: Vec<String>,
}

impl<'a> FileAnswer<'a> {
    pub(crate) fn new(tested: &'a Tested<'a>) -> Self {
        let failed = tested.failed().count();
        let case = |tried: &'a Tried<'a, 'a>| CaseAnswer {
            name: &tried.case.name,
            location: tried.case.location,
            passed: tried.passed(),
            differences: &tried.differences,
            slips: &tried.slips,
            decision: &tried.decision,
        };
        Self {
            file: tested.file,
            policy: tested.policy,
            passed: tested.cases.len().saturating_sub(failed),
            failed,
            cases: tested.cases.iter().map(case).collect(),
            properties: tested.properties.iter().map(properties::Answer::new).collect(),
        }
    }
}

impl<'a> CoverageAnswer<'a> {
    pub(crate) fn new(report: &'a Report<'a>) -> Self {
        let rows = report.rows.iter().filter(|row| !row.lacking().is_empty());
        let lacking =
            rows.map(|row| Lacking { row: row.name.as_deref(), location: row.location, outcomes: row.lacking() });
        Self {
            file: report.source.name(),
            policy: report.source.engine().digest(),
            rows: report.rows(),
            outcomes: report.outcomes(),
            lacking: lacking.collect(),
        }
    }
}
