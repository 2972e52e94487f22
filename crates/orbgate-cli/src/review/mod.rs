//! `orbgate review`: shows on one page what a new version of a policy changes, costs and breaks.
//!
//! In Markdown, everything from files is written as code, so it can't contain markup or mention
//! users.

mod args;

use core::fmt::Write as _;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use orbgate_analysis::shown::{code, span};
use orbgate_analysis::{Change, Code, Cost, Finding, Level};
use serde::Serialize;

use crate::cases::{self, Report, Tested};
use crate::diff::{self, Compared};
use crate::fail_on;
use crate::input;
use crate::lint::{self, Linted};
use crate::output::{self, DENY, Exit, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{self, READ_LIMIT, Source};
use crate::table::orb_column;

pub(crate) use args::Arguments;

/// The maximum size of each part in Markdown, in bytes. GitHub comments have at most 65,536
/// characters.
const MOST_DIFF: usize = 30_000;
const MOST_PART: usize = 8_000;
const MOST_SUPPRESSED: usize = 4_000;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    // Read only once, because a file that changes in the meantime must not mix two policies on one
    // page.
    let levels = &arguments.levels;
    let (before, after) = match (&arguments.against, &arguments.new) {
        (None, Some(new)) => (Version::read(&arguments.old, levels)?, Version::read(new, levels)?),
        (commit, _) => {
            let commit = commit.as_deref().unwrap_or_default();
            let before = Version::committed(&arguments.old, commit, levels)?;
            (before, Version::read(&arguments.old, levels)?)
        }
    };
    let Some(new) = &after.source else {
        invalid(arguments, &after.linted)?;
        return Ok(Exit::Findings);
    };
    let compared = before.source.as_ref().map(|old| (old, Compared::new(old, new)));
    let (files, sources) = cases::read(&arguments.tests, Some(new))?;
    let (tested, coverage) = cases::try_all(&files, &sources);
    let page = Page {
        compared: compared.as_ref().map(|(_, compared)| compared),
        before: &before.linted,
        linted: &after.linted,
        tested: &tested,
        coverage: &coverage,
    };
    let fails = page.fails(arguments);
    if arguments.json {
        print_json(&page.answer(&fails))?;
    } else if arguments.markdown {
        let page = page.markdown(&fails);
        output::print_page(|out| out.write_all(page.as_bytes()))?;
    } else {
        output::print(|out| {
            match &compared {
                Some((old, compared)) => diff::text(out, compared, old, new)?,
                None => {
                    before.linted.write(out)?;
                    writeln!(out, "{WARNING}not compared{WARNING:#}: {FAULTY}")?;
                }
            }
            page.text_after_the_comparison(out)?;
            match fail_on::verdict(&fails).as_str() {
                "" => Ok(()),
                why => writeln!(out, "{DENY}{why}{DENY:#}"),
            }
        })?;
    }
    if let Some(compared) = page.compared {
        compared.complete()?;
    }
    if page.linted.is_cut() {
        let message = "too many findings of lint: not everything is listed";
        return Err(Stop::Error(message.to_owned()));
    }
    Ok(match fails.is_empty() {
        true => Exit::Fine,
        false => Exit::Findings,
    })
}

const FAULTY: &str = "the old policy has errors, so all that the new one allows may be wider";

/// A version of the policy: the results of lint and, if it has no errors, the policy itself.
struct Version {
    linted: Linted,
    source: Option<Source>,
}

impl Version {
    fn read(path: &Path, levels: &lint::Levels) -> Result<Self, Stop> {
        let bytes = input::read(path, READ_LIMIT).map_err(Stop::Error)?;
        Ok(Self::new(path.display().to_string(), &bytes, levels))
    }

    fn committed(path: &Path, commit: &str, levels: &lint::Levels) -> Result<Self, Stop> {
        let bytes = input::committed(path, commit).map_err(Stop::Error)?;
        let name = format!("{commit}:{}", path.display());
        Ok(Self::new(name, &bytes, levels))
    }

    fn new(name: String, bytes: &[u8], levels: &lint::Levels) -> Self {
        let policy = policy_file::parse(bytes).ok();
        Self {
            linted: Linted::new(name.clone(), bytes, levels),
            source: policy.map(|policy| Source::new(name, &policy)),
        }
    }
}

/// Reports a new file that isn't a valid policy.
fn invalid(arguments: &Arguments, linted: &Linted) -> Result<(), Stop> {
    if arguments.json {
        print_json(&Answer {
            old_diagnostics: Vec::new(),
            diff: None,
            lint: &linted.0,
            tests: Vec::new(),
            coverage: Vec::new(),
            fails: &[format!("{} in the new policy", count(linted.0.diagnostics.len(), "diagnostic"))],
        })
    } else if arguments.markdown {
        let mut page = "### Policy: invalid\n\n".to_owned();
        push_diagnostics(&mut page, linted);
        output::print_page(|out| out.write_all(page.as_bytes()))
    } else {
        output::print(|out| linted.write(out))
    }
}

fn push_diagnostics(page: &mut String, linted: &Linted) {
    let diagnostics = linted.0.diagnostics.iter();
    let diagnostics =
        diagnostics.map(|diagnostic| format!("- line {}: {}\n", diagnostic.location.line, span(&diagnostic.message)));
    push_rows(page, diagnostics, MOST_DIFF, "`orbgate check` lists all");
}

struct Page<'a> {
    /// `None` if the old policy has errors.
    compared: Option<&'a Compared<'a, 'a>>,
    before: &'a Linted,
    linted: &'a Linted,
    tested: &'a [Tested<'a>],
    coverage: &'a [Report<'a>],
}

impl Page<'_> {
    fn answer<'a>(&'a self, fails: &'a [String]) -> Answer<'a> {
        let old_diagnostics = self.before.0.diagnostics.iter();
        Answer {
            old_diagnostics: old_diagnostics.collect(),
            diff: self.compared,
            lint: &self.linted.0,
            tests: self.tested.iter().map(cases::FileAnswer::new).collect(),
            coverage: self.coverage.iter().map(cases::CoverageAnswer::new).collect(),
            fails,
        }
    }

    fn text_after_the_comparison(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        self.linted.write(out)?;
        for (finding, reason) in self.newly_suppressed() {
            let (code, line) = (finding.code, finding.location.line);
            let text = one_line(&format!("{}: {reason}", finding.message)).into_owned();
            writeln!(out, "newly suppressed: {code}, line {line}: {text}")?;
        }
        for tested in self.tested {
            cases::results(out, tested)?;
        }
        self.coverage.iter().try_for_each(|report| report.sum_up(out))
    }

    /// Why the command fails with these arguments: changes, findings, cases and properties, in
    /// words.
    fn fails(&self, arguments: &Arguments) -> Vec<String> {
        let mut fails = match self.compared {
            Some(compared) => arguments.fail_on.fails(&compared.answer),
            None if arguments.fail_on.minds_wider() => vec!["not compared".to_owned()],
            None => Vec::new(),
        };
        let open: Vec<_> = match arguments.only_new {
            true => new_findings(self.before.open(), self.linted.open()),
            false => self.linted.open().collect(),
        };
        let findings = open.iter().filter(|finding| finding.level > Level::Note);
        let diagnostics = self.linted.0.diagnostics.len();
        let failed = |tested: &Tested<'_>| tested.failed().count();
        let refuted = |tested: &Tested<'_>| tested.refuted().count();
        for (number, what) in [
            (diagnostics, "diagnostic"),
            (findings.count(), "lint finding"),
            (self.tested.iter().map(failed).sum(), "case"),
            (self.tested.iter().map(refuted).sum(), "property"),
        ] {
            if number > 0 {
                fails.push(count(number, what));
            }
        }
        fails
    }

    fn markdown(&self, fails: &[String]) -> String {
        let mut page = match self.compared {
            Some(compared) => diff::markdown(compared, MOST_DIFF),
            None => {
                let mut page = format!("### Policy: not compared\n\n**Not compared: {FAULTY}.**\n\n");
                push_diagnostics(&mut page, self.before);
                page
            }
        };
        self.costs(&mut page);
        self.lint(&mut page);
        self.suppressions(&mut page);
        self.tests(&mut page);
        if !fails.is_empty() {
            let _ = writeln!(page, "\n**{}**", fail_on::verdict(fails));
        }
        page
    }

    fn costs(&self, page: &mut String) {
        let changes = self.compared.map(|compared| compared.answer.diff.changes.iter());
        let rows: Vec<_> = changes.into_iter().flatten().filter_map(cost_row).collect();
        if rows.is_empty() {
            return;
        }
        page.push_str("\n### Costs\n\n| Call | Orbs before | Orbs after | |\n| --- | --- | --- | --- |\n");
        push_rows(page, rows, MOST_PART, "`orbgate diff` lists all");
    }

    fn lint(&self, page: &mut String) {
        page.push_str("\n### Lint\n\n");
        let rows: Vec<_> = self
            .linted
            .open()
            .map(|finding| {
                let (level, name) = (finding.level, finding.code);
                let message = span(&finding.message);
                format!("- {level} `{name}`, line {}: {message}\n", finding.location.line)
            })
            .collect();
        if rows.is_empty() {
            page.push_str("nothing\n");
        }
        push_rows(page, rows, MOST_PART, "`orbgate lint` lists all");
    }

    /// The findings that the new policy suppresses and the old policy didn't.
    fn newly_suppressed(&self) -> Vec<(&Finding, &str)> {
        let known = self.before.suppressed().map(|(finding, _)| finding);
        let new = new_findings(known, self.linted.suppressed().map(|(finding, _)| finding));
        new.into_iter().filter_map(with_reason).collect()
    }

    fn suppressions(&self, page: &mut String) {
        let row = |(finding, reason): (&Finding, &str)| {
            let (name, line) = (finding.code, finding.location.line);
            let (message, reason) = (span(&finding.message), span(reason));
            format!("- `{name}`, line {line}: {message}, because {reason}\n")
        };
        let rows: Vec<_> = self.newly_suppressed().into_iter().map(row).collect();
        if !rows.is_empty() {
            page.push_str("\n### Newly suppressed\n\n");
            push_rows(page, rows, MOST_SUPPRESSED, "`orbgate lint --json` lists all");
        }
    }

    fn tests(&self, page: &mut String) {
        if self.tested.is_empty() {
            return;
        }
        page.push_str("\n### Tests\n\n");
        let failed: Vec<_> = self.tested.iter().flat_map(failures).collect();
        // Writing to a string can't fail.
        let _ = writeln!(page, "{}\n", cases::failed_of(self.tested));
        let rows = failed.into_iter().chain(self.tested.iter().flat_map(warnings));
        push_rows(page, rows, MOST_PART, "`orbgate test` lists all");
        for report in self.coverage {
            let (rows, outcomes) = (report.rows(), report.outcomes());
            let _ = writeln!(
                page,
                "\ncovered: {} of {}, {} of {}",
                rows.covered,
                count(rows.total, "row"),
                outcomes.covered,
                count(outcomes.total, "outcome")
            );
        }
    }
}

fn with_reason(finding: &Finding) -> Option<(&Finding, &str)> {
    Some((finding, finding.suppressed.as_deref()?))
}

fn cost_row(change: &Change<'_, '_>) -> Option<String> {
    let cost = change.cost.map(Cost::as_str)?;
    let call = code(&change.asked.to_string());
    let orbs = |rule: &Option<orbgate_analysis::Rule<'_>>| {
        let orbs = rule.as_ref().map(|rule| orb_column(rule.orbs()));
        orbs.unwrap_or_else(|| "–".to_owned())
    };
    let (before, after) = (orbs(&change.before), orbs(&change.after));
    Some(format!("| {call} | {before} | {after} | {cost} |\n"))
}

/// The failing cases, each with the difference.
fn failures(tested: &Tested<'_>) -> Vec<String> {
    let file = span(tested.file);
    let row = |tried: &orbgate_analysis::Tried<'_, '_>| {
        let differences = tried.differences.iter().map(|difference| span(&difference.to_string()));
        let differences: Vec<_> = differences.collect();
        format!("- {file}, line {}: {}: {}\n", tried.case.location.line, span(&tried.case.name), differences.join("; "))
    };
    let refuted = |proved: &orbgate_analysis::Proved<'_, '_>| {
        let (line, text) = (proved.stated.location.line, span(&proved.stated.text));
        let against = tested.against(proved);
        let against: Vec<_> = against.iter().map(|line| span(line)).collect();
        format!("- {file}, line {line}: {text}: {}\n", against.join("; "))
    };
    let failed = tested.failed().map(row);
    failed.chain(tested.refuted().map(refuted)).collect()
}

/// Warnings about cases and properties, which don't make the command fail.
fn warnings(tested: &Tested<'_>) -> Vec<String> {
    let file = span(tested.file);
    let row = |(location, message): (orbgate::Location, String)| {
        format!("- warning: {file}, line {}: {}\n", location.line, span(&message))
    };
    tested.warnings().map(row).collect()
}

/// Adds rows up to a number of bytes, and states how many are left out.
fn push_rows(page: &mut String, rows: impl IntoIterator<Item = String>, most: usize, all: &str) {
    let mut rows = rows.into_iter().peekable();
    let mut room = most;
    while let Some(row) = rows.next_if(|row| row.len() <= room) {
        page.push_str(&row);
        room = room.saturating_sub(row.len());
    }
    let left = rows.count();
    if left > 0 {
        // As above.
        let _ = writeln!(page, "\nand {left} more: {all}");
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    /// If there are any, nothing was compared.
    old_diagnostics: Vec<&'a orbgate::policy::Diagnostic>,
    /// Null if one of the policies has errors.
    diff: Option<&'a Compared<'a, 'a>>,
    lint: &'a orbgate_analysis::ask::answers::Linted,
    tests: Vec<cases::FileAnswer<'a>>,
    coverage: Vec<cases::CoverageAnswer<'a>>,
    fails: &'a [String],
}

/// The findings that occur more often than in the old policy, on any line.
fn new_findings<'a>(
    old: impl Iterator<Item = &'a Finding>,
    new: impl Iterator<Item = &'a Finding>,
) -> Vec<&'a Finding> {
    let mut known: HashMap<_, usize> = HashMap::new();
    for finding in old {
        let times = known.entry(without_lines(finding)).or_default();
        *times = times.saturating_add(1);
    }
    let is_new = |finding: &&Finding| match known.get_mut(&without_lines(finding)) {
        Some(times) if *times > 0 => {
            *times = times.saturating_sub(1);
            false
        }
        _ => true,
    };
    new.filter(is_new).collect()
}

/// The contents of a finding without line numbers.
fn without_lines(finding: &Finding) -> (Code, String) {
    let mut parts = finding.message.split("line ");
    let mut message = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        message.push_str("line ");
        message.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    (finding.code, message)
}
