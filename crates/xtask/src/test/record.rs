//! The record of the long checks' last runs, `docs/assurance.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::test::step::{Step, When};

/// The file.
const PAGE: &str = "docs/assurance.md";

/// The head of its table.
const HEAD: &str = "| check | date | commit | result | minutes |\n|---|---|---|---|--:|\n";

/// The checks that have a record.
pub(crate) fn checks() -> impl Iterator<Item = Step> {
    Step::all().filter(|step| matches!(step.when(), When::IfChanged | When::Assure))
}

/// The last run of a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LastRun {
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) passed: bool,
    pub(crate) minutes: u64,
}

/// The last run of each check.
#[derive(Debug)]
pub(crate) struct Records {
    root: PathBuf,
    /// The page up to its table.
    page: String,
    rows: BTreeMap<String, LastRun>,
}

impl Records {
    /// Reads the page.
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let text = fs::read_to_string(project.root.join(PAGE)).context(PAGE)?;
        let (page, table) = text.split_once(HEAD).context(PAGE)?;
        Ok(Self { root: project.root.clone(), page: page.to_owned(), rows: table.lines().filter_map(row).collect() })
    }

    /// Whether the last run of a check passed, and no path that it covers has changed since then. A commit that this clone
    /// doesn't have proves nothing.
    pub(crate) fn hold(&self, check: Step) -> bool {
        let passed = |record: &&LastRun| record.passed;
        let record = self.rows.get(&check.name()).filter(passed);
        record.is_some_and(|LastRun { commit, .. }| {
            let diff = Program::parse("git diff --quiet").arg(commit).arg("--");
            let diff = diff.args(check.covers()).within(&self.root);
            diff.succeeds()
        })
    }

    /// The checks whose record doesn't hold, each with the reason: nothing may be released then.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let missing = checks().filter(|check| !self.hold(*check));
        let gap = |check: Step| {
            let name = check.name();
            match self.rows.get(&name) {
                None => format!("`{name}` has never run: cargo xtask assure {name}"),
                Some(LastRun { passed: false, .. }) => format!("`{name}` failed at its last run"),
                Some(LastRun { commit, .. }) => {
                    format!("`{name}` covers paths that have changed since {commit}")
                }
            }
        };
        missing.map(gap).collect()
    }

    /// Replaces the last run of a check, and writes the page.
    pub(crate) fn put(&mut self, check: Step, run: LastRun) -> Result<()> {
        self.rows.insert(check.name(), run);
        let rows = checks().map(|check| match self.rows.get(&check.name()) {
            None => format!("| `{}` | – | – | not yet run | – |\n", check.name()),
            Some(record) => {
                let result = if record.passed { "passed" } else { "FAILED" };
                let LastRun { date, commit, minutes, .. } = record;
                format!("| `{}` | {date} | {commit} | {result} | {minutes} |\n", check.name())
            }
        });
        let table: String = rows.collect();
        let page = [self.page.as_str(), HEAD, &table].concat();
        fs::write(self.root.join(PAGE), page).context(PAGE)
    }
}

/// A row of the table; none for a check that has never run.
fn row(line: &str) -> Option<(String, LastRun)> {
    let mut cells = line.split('|').map(str::trim).skip(1);
    let check = cells.next()?.trim_matches('`').to_owned();
    let [date, commit, result, minutes] = [(); 4].map(|()| cells.next().unwrap_or_default());
    let record = LastRun {
        date: date.to_owned(),
        commit: commit.to_owned(),
        passed: result == "passed",
        minutes: minutes.parse().ok()?,
    };
    Some((check, record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let (check, record) = row("| `msrv` | 2026-11-24 | abc | passed | 3 |").unwrap();
        assert_eq!((check.as_str(), record.minutes), ("msrv", 3));
        assert!(record.passed);
        let (_, record) = row("| `deny` | 2026-11-24 | abc | FAILED | 1 |").unwrap();
        assert!(!record.passed);
        assert_eq!(row("| `soak` | – | – | not yet run | – |"), None);
    }

    #[test]
    fn a_record_holds_only_if_it_passed_at_a_known_commit() {
        let project = Project::read().unwrap();
        let mut records = Records::read(&project).unwrap();
        let mut hold = |commit: &str, passed| {
            let record = LastRun { date: String::new(), commit: commit.to_owned(), passed, minutes: 1 };
            records.rows.insert("msrv".to_owned(), record);
            records.hold(Step::Msrv)
        };
        // The empty tree differs in every path.
        assert!(!hold("4b825dc642cb6eb9a060e54bf8d69288fbee4904", true));
        assert!(!hold("0123456789ab", true));
        assert!(!hold("HEAD", false));
        let clean = Program::parse("git diff --quiet HEAD --").args(Step::Msrv.covers());
        let clean = clean.within(&project.root);
        assert_eq!(hold("HEAD", true), clean.succeeds());
        let is_gap = |gap: &String| gap.starts_with("`msrv`");
        assert_ne!(records.gaps().iter().any(is_gap), clean.succeeds());
    }
}
