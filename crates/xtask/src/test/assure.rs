//! `cargo xtask assure`: the long checks, and the record of their last runs, `docs/assurance.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::kit::project::Project;
use crate::test::covers::Covers;
use crate::test::lanes::run_each;
use crate::test::step::{Step, When};

#[derive(Debug, Args)]
pub(crate) struct Assure {
    /// Only these checks; all of them take hours
    #[arg(value_parser = Step::parser())]
    checks: Vec<&'static Step>,
    /// Only those that `cargo xtask test --all` would run now, because a path that they cover has changed
    #[arg(long, conflicts_with = "checks")]
    due: bool,
}

impl Assure {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let mut records = Records::read(project)?;
        let shell = project.shell()?;
        let wanted = |check: &&'static Step| match self.checks.as_slice() {
            [] if self.due => check.when == When::IfChanged && !records.hold(check),
            [] => true,
            some => some.contains(check),
        };
        let wanted: Vec<_> = checks().filter(wanted).collect();
        let named = self.checks.iter().find(|check| !wanted.contains(check));
        ensure!(named.is_none(), "not a check that is recorded; run it with `cargo xtask test`");
        let mut failed = Vec::new();
        for check in wanted {
            let changed = cmd!(shell, "git status --porcelain --").args(records.covers.paths(&check.covers)).read()?;
            ensure!(changed.is_empty(), "commit first:\n{changed}");
            let commit = cmd!(shell, "git rev-parse --short=12 HEAD").read()?;
            let start = Instant::now();
            let red = run_each(project, &[check])?;
            let minutes = start.elapsed().as_secs().div_ceil(60);
            let date = cmd!(shell, "date -u +%F").read()?;
            let result = if red.is_empty() { PASSED } else { "FAILED" };
            let run = [&date, &commit, result, &minutes.to_string()].map(str::to_owned);
            // After each check: a run of hours can be ended.
            records.put(check, run)?;
            failed.extend(red);
        }
        ensure!(failed.is_empty(), "failed: {}", failed.join(" "));
        Ok(())
    }
}

/// The file.
const PAGE: &str = "docs/assurance.md";

/// The head of its table.
const HEAD: &str = "| check | date | commit | result | minutes |\n|---|---|---|---|--:|\n";

/// The checks that have a record.
pub(crate) fn checks() -> impl Iterator<Item = &'static Step> {
    Step::all().filter(|step| matches!(step.when, When::IfChanged | When::Assure))
}

/// The last run of a check, as its row has it: the date, the commit, the result and the minutes.
type LastRun = [String; 4];

/// A result.
const PASSED: &str = "passed";

/// The last run of each check.
#[derive(Debug)]
pub(crate) struct Records {
    shell: Shell,
    root: PathBuf,
    /// The page up to its table.
    page: String,
    rows: BTreeMap<String, LastRun>,
    covers: Covers,
}

impl Records {
    /// Reads the page.
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let text = fs::read_to_string(project.root.join(PAGE)).context(PAGE)?;
        let (page, table) = text.split_once(HEAD).context(PAGE)?;
        let rows = table.lines().filter_map(row).collect();
        let (shell, covers) = (project.shell()?, Covers::read(project)?);
        Ok(Self { shell, root: project.root.clone(), page: page.to_owned(), rows, covers })
    }

    /// Whether the last run of a check passed, and no path that it covers has changed since then. A commit that this clone
    /// doesn't have proves nothing.
    pub(crate) fn hold(&self, check: &Step) -> bool {
        let Some([_, commit, result, _]) = self.rows.get(check.name) else {
            return false;
        };
        result == PASSED && unchanged(&self.shell, commit, &self.covers.paths(&check.covers))
    }

    /// The checks whose record doesn't hold, each with the reason: nothing may be released then.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let missing = checks().filter(|check| !self.hold(check));
        let gap = |check: &Step| {
            let name = check.name;
            match self.rows.get(name) {
                None => format!("`{name}` has never run: cargo xtask assure {name}"),
                Some([_, _, result, _]) if result != PASSED => format!("`{name}` failed at its last run"),
                Some([_, commit, ..]) => format!("`{name}` covers paths that have changed since {commit}"),
            }
        };
        missing.map(gap).collect()
    }

    /// Replaces the last run of a check, and writes the page.
    pub(crate) fn put(&mut self, check: &Step, run: LastRun) -> Result<()> {
        self.rows.insert(check.name.to_owned(), run);
        let none = ["–", "–", "not yet run", "–"].map(str::to_owned);
        let rows = checks().map(|check| {
            let run = self.rows.get(check.name).unwrap_or(&none);
            format!("| `{}` | {} |\n", check.name, run.join(" | "))
        });
        let table: String = rows.collect();
        let page = [self.page.as_str(), HEAD, &table].concat();
        fs::write(self.root.join(PAGE), page).context(PAGE)
    }
}

/// Whether none of these paths differs from a commit.
fn unchanged(shell: &Shell, commit: &str, paths: &[String]) -> bool {
    let diff = cmd!(shell, "git diff --quiet {commit} --").args(paths).ignore_status();
    diff.output().is_ok_and(|output| output.status.success())
}

/// A row of the table; none for a check that has never run.
fn row(line: &str) -> Option<(String, LastRun)> {
    let mut cells = line.split('|').map(str::trim).skip(1);
    let check = cells.next()?.trim_matches('`').to_owned();
    let run = [(); 4].map(|()| cells.next().unwrap_or_default().to_owned());
    (run[1] != "–").then_some((check, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let (check, run) = row("| `msrv` | 2026-11-24 | abc | passed | 3 |").unwrap();
        assert_eq!((check.as_str(), run), ("msrv", ["2026-11-24", "abc", PASSED, "3"].map(str::to_owned)));
        assert_eq!(row("| `soak` | – | – | not yet run | – |"), None);
    }

    #[test]
    fn a_record_holds_only_if_it_passed_at_a_known_commit() {
        let project = Project::read().unwrap();
        let mut records = Records::read(&project).unwrap();
        let msrv = Step::named("msrv").unwrap();
        let mut hold = |commit: &str, passed| {
            let result = if passed { PASSED } else { "FAILED" };
            records.rows.insert("msrv".to_owned(), ["", commit, result, "1"].map(str::to_owned));
            records.hold(msrv)
        };
        // The empty tree differs in every path.
        assert!(!hold("4b825dc642cb6eb9a060e54bf8d69288fbee4904", true));
        assert!(!hold("0123456789ab", true));
        assert!(!hold("HEAD", false));
        let paths = Covers::read(&project).unwrap().paths(&msrv.covers);
        let clean = unchanged(&project.shell().unwrap(), "HEAD", &paths);
        assert_eq!(hold("HEAD", true), clean);
        let is_gap = |gap: &String| gap.starts_with("`msrv`");
        assert_ne!(records.gaps().iter().any(is_gap), clean);
    }
}
