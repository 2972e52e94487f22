//! `cargo xtask test`: the checks, step by step. By default the tests of the Rust crates and the pages, or with `--all` those that CI runs.

pub(crate) mod assure;
mod covers;
mod lanes;
mod step;

use anyhow::{Result, ensure};
use clap::Args;

use crate::kit::project::Project;
use crate::test::assure::Records;
use crate::test::lanes::run_each;
pub(crate) use crate::test::step::{Step, When};

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Every check that CI runs
    #[arg(long)]
    all: bool,
    /// Only these steps
    #[arg(value_parser = Step::parser(), conflicts_with = "all")]
    steps: Vec<&'static Step>,
}

impl Test {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let records = Records::read(project)?;
        let steps = self.steps(|step| !records.hold(step));
        let failed = run_each(project, &steps)?;
        ensure!(failed.is_empty(), "failed: {0}\nto run it again: cargo xtask test {0}", failed.join(" "));
        Ok(())
    }

    fn steps(&self, is_due: impl Fn(&Step) -> bool) -> Vec<&'static Step> {
        let wanted = |step: &&'static Step| match (self.steps.as_slice(), step.when) {
            ([], When::Always) => true,
            ([], When::WithAll) => self.all,
            ([], When::IfChanged) => self.all && is_due(step),
            ([], When::Assure) => false,
            (steps, _) => steps.contains(step),
        };
        Step::all().filter(wanted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: bool, steps: &[&'static Step], is_due: bool) -> Vec<&'static Step> {
        let test = Test { all, steps: steps.to_vec() };
        test.steps(|_| is_due)
    }

    #[test]
    fn all_leaves_out_assured_steps_only_if_their_record_holds() {
        let of = |wanted: &[When]| {
            let steps = Step::all().filter(|step| wanted.contains(&step.when));
            steps.collect::<Vec<_>>()
        };
        let (always, all) = (When::Always, When::WithAll);
        assert_eq!(steps(true, &[], false), of(&[always, all]));
        let due = of(&[always, all, When::IfChanged]);
        assert_eq!(steps(true, &[], true), due);
        assert_eq!(steps(false, &[], true), of(&[always]));
    }

    #[test]
    fn named_steps_run_in_the_usual_order() {
        let [fmt, tests, miri] = ["fmt", "tests", "miri"].map(|name| Step::named(name).unwrap());
        assert_eq!(steps(false, &[miri, tests, fmt], false), [fmt, tests, miri]);
    }
}
