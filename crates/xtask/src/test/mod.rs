//! `cargo xtask test`: the checks, step by step. By default the tests of the Rust crates and the pages, or with `--all` those that CI runs.

pub(crate) mod assure;
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
    /// Runs the step in this process: for the lanes
    #[arg(long, hide = true, conflicts_with = "all")]
    here: bool,
    /// Only these steps
    #[arg(value_enum, conflicts_with = "all")]
    steps: Vec<Step>,
}

impl Test {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        if self.here {
            return self.steps.iter().try_for_each(|step| step.run(project));
        }
        let records = Records::read(project)?;
        let steps = self.steps(|step| !records.hold(step));
        let failed = run_each(project, &steps)?;
        ensure!(failed.is_empty(), "failed: {0}\nto run it again: cargo xtask test {0}", failed.join(" "));
        Ok(())
    }

    fn steps(&self, is_due: impl Fn(Step) -> bool) -> Vec<Step> {
        let wanted = |step: &Step| match (self.steps.as_slice(), step.when()) {
            ([], When::Always) => true,
            ([], When::WithAll) => self.all,
            ([], When::IfChanged) => self.all && is_due(*step),
            ([], When::Assure) => false,
            (steps, _) => steps.contains(step),
        };
        Step::all().filter(wanted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: bool, steps: &[Step], is_due: bool) -> Vec<Step> {
        let test = Test { all, here: false, steps: steps.to_vec() };
        test.steps(|_| is_due)
    }

    #[test]
    fn all_leaves_out_assured_steps_only_if_their_record_holds() {
        let of = |wanted: &[When]| {
            let steps = Step::all().filter(|step| wanted.contains(&step.when()));
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
        let some = steps(false, &[Step::Miri, Step::Tests, Step::Fmt], false);
        assert_eq!(some, [Step::Fmt, Step::Tests, Step::Miri]);
    }
}
