//! Coverage as an LCOV tracefile: the policy's lines, and the outcomes of each row as its branches.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use super::Report;

/// The tracefile. A row's number is its block, so rows on the same line remain distinct. Outcomes that name no
/// row have no line and are left out.
pub(super) fn report(reports: &[Report<'_>]) -> String {
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
    let (mut found, mut hit) = (0_usize, 0_usize);
    for (block, row) in report.rows.iter().enumerate() {
        let Some(location) = row.location else {
            continue;
        };
        let line = lines.entry(location.line).or_insert(0_u64);
        for (branch, outcome) in row.outcomes.iter().enumerate() {
            *line = line.saturating_add(outcome.times);
            found = found.saturating_add(1);
            hit = hit.saturating_add(usize::from(outcome.times > 0));
            let times = match row.touched() {
                true => outcome.times.to_string(),
                false => "-".to_owned(),
            };
            writeln!(text, "BRDA:{},{block},{branch},{times}", location.line)?;
        }
    }
    writeln!(text, "BRF:{found}\nBRH:{hit}")?;
    for (line, times) in &lines {
        writeln!(text, "DA:{line},{times}")?;
    }
    let hit = lines.values().filter(|times| **times > 0).count();
    writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", lines.len())
}
