//! Measures how much of a policy the cases cover.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::io::{self, Write};

use orbgate::Location;
use orbgate_analysis::{Coverage, Outcome};
use serde::Serialize;

use crate::output::{WARNING, count, one_line};
use crate::policy_file::Source;

pub(crate) struct Report<'a> {
    pub(super) source: &'a Source,
    /// The rows of its table, with their locations and outcomes. The last row, without a location, is the policy
    /// as a whole.
    pub(super) rows: Vec<Row>,
}

pub(super) struct Row {
    pub(super) name: Option<String>,
    pub(super) location: Option<Location>,
    pub(super) outcomes: Vec<Outcome>,
}

impl<'a> Report<'a> {
    pub(super) fn new(source: &'a Source, coverage: &Coverage<'_>) -> Self {
        let rows = coverage.rows().map(|row| Row {
            name: Some(row.name().to_owned()),
            location: Some(row.location()),
            outcomes: row.outcomes,
        });
        let policy = Row { name: None, location: None, outcomes: coverage.of_the_policy().collect() };
        Self { source, rows: rows.chain([policy]).collect() }
    }

    /// The number of covered rows, and the number of all rows.
    pub(crate) fn rows(&self) -> Share {
        let rows = self.rows.iter().filter(|row| row.location.is_some());
        Share { covered: rows.clone().filter(|row| row.touched()).count(), total: rows.count() }
    }

    /// The number of covered outcomes, and the number of all outcomes.
    pub(crate) fn outcomes(&self) -> Share {
        let outcomes = self.rows.iter().flat_map(|row| &row.outcomes);
        Share { covered: outcomes.clone().filter(|outcome| outcome.times > 0).count(), total: outcomes.count() }
    }

    pub(super) fn reaches(&self, threshold: u8) -> bool {
        let Share { covered, total } = self.outcomes();
        covered.saturating_mul(100) >= total.saturating_mul(usize::from(threshold))
    }

    pub(super) fn list(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            let lacking = row.lacking().join(", ");
            if lacking.is_empty() {
                continue;
            }
            let location = row.location.map(|location| self.source.at(location));
            let location = location.unwrap_or_else(|| self.source.name().to_owned());
            let name = row.name.as_deref().unwrap_or("the policy as a whole");
            let (location, name) = (one_line(&location), one_line(name));
            writeln!(out, "{WARNING}not covered:{WARNING:#} {location}: {name}: {lacking}")?;
        }
        Ok(())
    }

    pub(crate) fn sum_up(&self, out: &mut dyn Write) -> io::Result<()> {
        let (rows, outcomes) = (self.rows(), self.outcomes());
        let tenths = outcomes.covered.saturating_mul(1000).checked_div(outcomes.total);
        let tenths = tenths.unwrap_or(1000);
        writeln!(
            out,
            "{}: covered: {} of {}, {} of {} ({}.{} %)",
            one_line(self.source.name()),
            rows.covered,
            count(rows.total, "row"),
            outcomes.covered,
            count(outcomes.total, "outcome"),
            tenths / 10,
            tenths % 10
        )
    }
}

impl Row {
    pub(super) fn touched(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.times > 0)
    }

    pub(super) fn lacking(&self) -> Vec<String> {
        let lacking = self.outcomes.iter().filter(|outcome| outcome.times == 0);
        lacking.map(ToString::to_string).collect()
    }
}

/// A part of a total.
#[derive(Serialize)]
pub(crate) struct Share {
    pub(crate) covered: usize,
    pub(crate) total: usize,
}

/// The coverage as an LCOV tracefile: the policy's lines, and the outcomes of each row as its branches. A row's number is its block, so rows on the same line remain distinct. Outcomes that name no
/// row have no line and are left out.
pub(super) fn tracefile(reports: &[Report<'_>]) -> String {
    let mut text = String::from("TN:\n");
    for report in reports {
        // Writing to a string can't fail.
        let _ = section(&mut text, report);
    }
    text
}

fn section(text: &mut String, report: &Report<'_>) -> core::fmt::Result {
    let file = report.source.file().replace(['\n', '\r'], " ");
    writeln!(text, "SF:{file}")?;
    let mut lines = BTreeMap::new();
    let (mut branches, mut hit) = (0_usize, 0_usize);
    for (block, row) in report.rows.iter().enumerate() {
        let Some(location) = row.location else {
            continue;
        };
        let line = lines.entry(location.line).or_insert(0_u64);
        for (branch, outcome) in row.outcomes.iter().enumerate() {
            *line = line.saturating_add(outcome.times);
            branches = branches.saturating_add(1);
            hit = hit.saturating_add(usize::from(outcome.times > 0));
            let times = match row.touched() {
                true => outcome.times.to_string(),
                false => "-".to_owned(),
            };
            writeln!(text, "BRDA:{},{block},{branch},{times}", location.line)?;
        }
    }
    writeln!(text, "BRF:{branches}\nBRH:{hit}")?;
    for (line, times) in &lines {
        writeln!(text, "DA:{line},{times}")?;
    }
    let hit = lines.values().filter(|times| **times > 0).count();
    writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", lines.len())
}
