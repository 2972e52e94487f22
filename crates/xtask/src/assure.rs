//! `cargo xtask assure`: the long checks, and the record of their last runs, `docs/assurance.md`.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::test::record::{LastRun, Records, checks};
use crate::test::{Step, When, run_each};

#[derive(Debug, Args)]
pub(crate) struct Assure {
    /// Only these checks; all of them take hours
    #[arg(value_enum)]
    checks: Vec<Step>,
    /// Only those that `cargo xtask test --all` would run now, because a path that they cover has changed
    #[arg(long, conflicts_with = "checks")]
    due: bool,
}

impl Assure {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let mut records = Records::read(project)?;
        let wanted = |check: &Step| match self.checks.as_slice() {
            [] if self.due => check.when() == When::IfChanged && !records.hold(*check),
            [] => true,
            some => some.contains(check),
        };
        let wanted: Vec<_> = checks().filter(wanted).collect();
        let named = self.checks.iter().find(|check| !wanted.contains(check));
        ensure!(named.is_none(), "not a check that is recorded; run it with `cargo xtask test`");
        let mut failed = Vec::new();
        for check in wanted {
            let changed = Program::parse("git status --porcelain --").args(check.covers());
            let changed = changed.read()?;
            ensure!(changed.is_empty(), "commit first:\n{changed}");
            let commit = Program::parse("git rev-parse --short=12 HEAD").read()?;
            let start = Instant::now();
            let red = run_each(project, &[check])?;
            let minutes = start.elapsed().as_secs().div_ceil(60);
            let run = LastRun {
                date: Program::parse("date -u +%F").read()?.trim().to_owned(),
                commit: commit.trim().to_owned(),
                passed: red.is_empty(),
                minutes,
            };
            // After each check: a run of hours can be ended.
            records.put(check, run)?;
            failed.extend(red);
        }
        ensure!(failed.is_empty(), "failed: {}", failed.join(" "));
        Ok(())
    }
}
