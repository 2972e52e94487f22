//! `orbgate review`: what a new version of a policy changes, costs and breaks, on one page.
//!
//! In Markdown, all that comes from files stands as code: it can be no markup, and calls nobody by name.

mod args;

use core::fmt::Write as _;

use orbgate_analysis::shown::{code, span};
use orbgate_analysis::{Change, Cost};
use serde::Serialize;

use crate::check::count;
use crate::decide::print_json;
use crate::diff::{self, Compared};
use crate::input;
use crate::lint::{self, Linted};
use crate::output::{self, Exit, Stop};
use crate::policy_file::{self, READ_LIMIT, Source};
use crate::table::orb_column;
use crate::test::{self, Report, Tested};

pub(crate) use args::Arguments;

/// Most bytes of each part in Markdown: GitHub takes comments of 65,536 characters.
const MOST_DIFF: usize = 30_000;
const MOST_PART: usize = 8_000;

/// Reviews the new policy.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let old = Source::load(Some(&arguments.old))?;
    let bytes = input::read(&arguments.new, READ_LIMIT).map_err(Stop::Error)?;
    let name = arguments.new.display().to_string();
    let linted = Linted::new(name.clone(), &bytes, &[]);
    let Ok(policy) = policy_file::parse(&bytes) else {
        faulty(arguments, &linted)?;
        return Ok(Exit::Findings);
    };
    // Read once: a file that changes meanwhile must not make a page of two policies.
    let new = Source::new(name, &policy);
    let compared = Compared::new(&old, &new);
    let (files, sources) = test::read(&arguments.tests, Some(&new))?;
    let (tested, coverage) = test::try_all(&files, &sources);
    let page = Page {
        compared: &compared,
        linted: &linted,
        tested: &tested,
        coverage: &coverage,
    };
    if arguments.json {
        print_json(&Answer {
            diff: Some(&compared),
            lint: lint::FileAnswer::new(&linted),
            tests: tested.iter().map(test::FileAnswer::new).collect(),
            coverage: coverage.iter().map(test::CoverageAnswer::new).collect(),
        })?;
    } else if arguments.markdown {
        output::print_raw(page.markdown().as_bytes())?;
    } else {
        output::print(|out| {
            diff::text(out, &compared, &old, &new)?;
            writeln!(out)?;
            linted.write(out)?;
            tested
                .iter()
                .try_for_each(|tested| test::results(out, tested))?;
            coverage.iter().try_for_each(|report| report.sum_up(out))
        })?;
    }
    compared.complete()?;
    if linted.is_cut() {
        let message = "too many findings of lint: not everything is listed";
        return Err(Stop::Error(message.to_owned()));
    }
    let wider = compared.diff.widens() && !arguments.allow_wider;
    let failed = tested.iter().any(|tested| tested.failed().next().is_some());
    Ok(match wider || failed || linted.complains() {
        true => Exit::Findings,
        false => Exit::Fine,
    })
}

/// What there is to say of a new file that is not a valid policy.
fn faulty(arguments: &Arguments, linted: &Linted) -> Result<(), Stop> {
    if arguments.json {
        print_json(&Answer {
            diff: None,
            lint: lint::FileAnswer::new(linted),
            tests: Vec::new(),
            coverage: Vec::new(),
        })
    } else if arguments.markdown {
        let mut page = "### Policy: invalid\n\n".to_owned();
        let faults = linted
            .faults
            .iter()
            .map(|fault| format!("- line {}: {}\n", fault.place.line, span(&fault.message)));
        push_rows(&mut page, faults, MOST_DIFF, "`orbgate check` lists all");
        output::print_raw(page.as_bytes())
    } else {
        output::print(|out| linted.write(out))
    }
}

/// All that there is to say.
struct Page<'a> {
    compared: &'a Compared<'a, 'a>,
    linted: &'a Linted,
    tested: &'a [Tested<'a>],
    coverage: &'a [Report<'a>],
}

impl Page<'_> {
    fn markdown(&self) -> String {
        let mut page = diff::markdown(self.compared, MOST_DIFF);
        self.costs(&mut page);
        self.lint(&mut page);
        self.tests(&mut page);
        page
    }

    /// What those pay whom both policies allow a call.
    fn costs(&self, page: &mut String) {
        let changes = self.compared.diff.changes.iter();
        let rows: Vec<_> = changes.filter_map(cost_row).collect();
        if rows.is_empty() {
            return;
        }
        page.push_str(
            "\n### Costs\n\n| Call | Orbs before | Orbs after | |\n| --- | --- | --- | --- |\n",
        );
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
                format!(
                    "- {level} `{name}`, line {}: {message}\n",
                    finding.place.line
                )
            })
            .collect();
        if rows.is_empty() {
            page.push_str("nothing\n");
        }
        push_rows(page, rows, MOST_PART, "`orbgate lint` lists all");
    }

    fn tests(&self, page: &mut String) {
        if self.tested.is_empty() {
            return;
        }
        page.push_str("\n### Tests\n\n");
        let cases = self.tested.iter().map(|tested| tested.cases.len()).sum();
        let failed: Vec<_> = self.tested.iter().flat_map(failures).collect();
        // Writing to a text cannot fail.
        let _ = writeln!(
            page,
            "{} of {} failed\n",
            failed.len(),
            count(cases, "case")
        );
        push_rows(page, failed, MOST_PART, "`orbgate test` lists all");
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

fn cost_row(change: &Change<'_, '_>) -> Option<String> {
    let cost = change.cost.map(Cost::as_str)?;
    let asked = code(&change.asked.to_string());
    let orbs = |rule: &Option<orbgate_analysis::Rule<'_>>| {
        let orbs = rule.as_ref().map(|rule| orb_column(rule.orbs()));
        orbs.unwrap_or_else(|| "–".to_owned())
    };
    let (before, after) = (orbs(&change.before), orbs(&change.after));
    Some(format!("| {asked} | {before} | {after} | {cost} |\n"))
}

/// The cases that fail, each with how.
fn failures(tested: &Tested<'_>) -> Vec<String> {
    let file = span(tested.file);
    let row = |tried: &orbgate_analysis::Tried<'_, '_>| {
        let differences = tried
            .differences
            .iter()
            .map(|difference| span(&difference.to_string()));
        let differences: Vec<_> = differences.collect();
        format!(
            "- {file}, line {}: {}: {}\n",
            tried.case.place.line,
            span(&tried.case.name),
            differences.join("; ")
        )
    };
    tested.failed().map(row).collect()
}

/// Adds rows up to a number of bytes, and says how many are left.
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

/// All of it, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    /// Null where the new policy has faults.
    diff: Option<&'a Compared<'a, 'a>>,
    lint: lint::FileAnswer<'a>,
    tests: Vec<test::FileAnswer<'a>>,
    coverage: Vec<test::CoverageAnswer<'a>>,
}
