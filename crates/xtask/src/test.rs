//! `cargo xtask test`: the one test command, of the README and of CI.

use core::fmt::Write as _;
use core::time::Duration;
use std::time::Instant;

use anyhow::{Error, Result};
use clap::{Args, ValueEnum};

use crate::kit::outcome::{StepResult, in_ci, settle};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::{skipped, watch};
use crate::language::{c, conformance, go, java, node, python, wasm};
use crate::measure::{aarch64, instructions, portable};
use crate::release::{dist, embed, go_module, install, msrv, package, tree};

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Leaves out the slow steps, which are those from package on
    #[arg(long)]
    quick: bool,
    /// Only these steps
    #[arg(value_enum, conflicts_with = "quick")]
    steps: Vec<Step>,
}

/// In the order in which they run: the quick ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Step {
    /// Every file is formatted
    Fmt,
    /// No lint complains
    Clippy,
    /// Unit, integration and documentation tests of every crate
    Tests,
    /// The documentation builds and its links lead somewhere
    Docs,
    /// Every published crate builds with each feature alone and with none
    Features,
    /// The core depends on nothing new
    Tree,
    /// Every published crate builds from its own archive
    Package,
    /// Other projects can embed the crates, with policies and dependencies of their own
    Embed,
    /// No hot path takes more instructions than listed
    #[value(alias = "gate")]
    Instructions,
    /// The C and C++ interfaces: headers, symbols, tests, examples; under valgrind and sanitizers
    C,
    /// C and C++ programs build from an installed library, wherever it is moved
    Install,
    /// Every language gives the cases' decisions
    Conformance,
    /// The Java package, in a Java of each way into the library
    Java,
    /// The Python package, installed in every Python of the machine
    Python,
    /// The Go package over each engine: its tests, also under the race detector, its guide, both ways to link
    Go,
    /// The Go package as its users get it: from a module proxy, where there is Go and at most a C compiler
    GoModule,
    /// The Node package: its types and its tests, over the shared library
    Node,
    /// What a release publishes for this machine, installed and run where there is no Rust
    Dist,
    /// The published crates build with the oldest Rust that they promise
    Msrv,
    /// The core decides as it should with the code for other processors than this one
    Portable,
    /// The core decides as it should on aarch64, under qemu
    Aarch64,
    /// The core decides as it should as WebAssembly, with its vectors
    Wasm,
}

/// This step and those behind it take minutes.
const FIRST_SLOW: Step = Step::Package;

/// A step that takes this long hangs.
const LIMIT: Duration = Duration::from_secs(25 * 60);

impl Test {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let steps = self.steps();
        let mut rows = Vec::new();
        skipped::count(project)?;
        for (number, step) in (1..).zip(&steps) {
            println!(
                "\n== {number}/{} {}: {}",
                steps.len(),
                step.name(),
                step.about()
            );
            let start = Instant::now();
            let before = skipped::all()?.len();
            let result = watch::within(LIMIT, || step.run(project)).and_then(|outcome| {
                if let StepResult::Skipped(what) = &outcome {
                    skipped::note(what)?;
                }
                settle(skipped::all()?.split_off(before), in_ci())
            });
            let row = Row {
                step: step.name(),
                time: start.elapsed(),
                result: word(&result),
            };
            println!("== {}: {} in {}", row.step, row.result, seconds(row.time));
            rows.push(row);
            if result.is_err() {
                print!("\n{}", table(&rows));
            }
            result.map_err(|error| failure(&step.name(), &error))?;
        }
        print!("\n{}", table(&rows));
        for what in skipped::all()? {
            println!("skipped: {what}");
        }
        Ok(())
    }

    fn steps(&self) -> Vec<Step> {
        let all = Step::value_variants().iter().copied();
        let wanted = |step: &Step| match self.steps.as_slice() {
            [] => !self.quick || *step < FIRST_SLOW,
            steps => steps.contains(step),
        };
        all.filter(wanted).collect()
    }
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn about(self) -> String {
        let value = self.to_possible_value();
        value
            .and_then(|value| value.get_help().map(ToString::to_string))
            .unwrap_or_default()
    }

    fn run(self, project: &Project) -> Result<StepResult> {
        match self {
            Self::Fmt => match component("fmt", "rustfmt")? {
                StepResult::Passed => all(&["cargo fmt --all --check"]),
                skipped @ StepResult::Skipped(_) => Ok(skipped),
            },
            Self::Clippy => match component("clippy", "clippy")? {
                StepResult::Passed => all(&[
                    "cargo clippy --workspace --all-targets --all-features -- -D warnings",
                    "cargo clippy -p orbgate --no-default-features -- -D warnings",
                ]),
                skipped @ StepResult::Skipped(_) => Ok(skipped),
            },
            Self::Tests => all(&["cargo test --workspace --all-features"]),
            Self::Docs => {
                all(&["RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --all-features"])
            }
            Self::Features => features(project),
            Self::Tree => tree::check().map(|()| StepResult::Passed),
            Self::Package => package::run(project),
            Self::Embed => embed::run(project).map(|()| StepResult::Passed),
            Self::C => c::run(project),
            Self::Install => install::check(project),
            Self::Conformance => conformance::run(project),
            Self::Instructions => instructions::check(project),
            Self::Java => java::run(project),
            Self::Python => python::run(project),
            Self::Go => go::run(project),
            Self::GoModule => go_module::run(project),
            Self::Node => node::run(project),
            Self::Dist => dist::check(project),
            Self::Msrv => msrv::run(project),
            Self::Portable => portable::check(project),
            Self::Aarch64 => aarch64::check(),
            Self::Wasm => wasm::check(project),
        }
    }
}

/// Runs the commands one after the other, up to the first that fails.
fn all(lines: &[&str]) -> Result<StepResult> {
    lines
        .iter()
        .try_for_each(|line| Program::parse(line).run())?;
    Ok(StepResult::Passed)
}

/// What cargo-hack does, in two commands and without installing it.
fn features(project: &Project) -> Result<StepResult> {
    for package in project.published() {
        let none =
            Program::parse("cargo check --no-default-features -p").arg(package.name.as_str());
        none.run()?;
        for feature in package.features.keys() {
            let alone =
                Program::parse("cargo check --no-default-features -p").arg(package.name.as_str());
            alone.arg("--features").arg(feature).run()?;
        }
    }
    Ok(StepResult::Passed)
}

/// Sets up a part of the toolchain that rustup's minimal profile lacks.
fn component(command: &str, component: &str) -> Result<StepResult> {
    let there = || {
        Program::parse("cargo")
            .arg(command)
            .arg("--version")
            .succeeds()
    };
    if there() {
        return Ok(StepResult::Passed);
    }
    if !Program::parse("rustup --version").succeeds() {
        let what = format!("`cargo {command}` is missing, and rustup, which would install it, too");
        return Ok(StepResult::Skipped(what));
    }
    let installed = Program::parse("rustup component add").arg(component).run();
    Ok(match installed {
        Ok(()) if there() => StepResult::Passed,
        _ => StepResult::Skipped(format!(
            "`cargo {command}` is missing and could not be installed"
        )),
    })
}

fn failure(step: &str, error: &Error) -> Error {
    Error::msg(format!(
        "step `{step}` failed: {error:#}\nto run it alone: cargo xtask test {step}"
    ))
}

/// A line of the table at the end.
struct Row {
    step: String,
    time: Duration,
    result: String,
}

fn word(result: &Result<usize>) -> String {
    match result {
        Ok(0) => "passed".to_owned(),
        Ok(skipped) => format!("passed, {skipped} skipped"),
        Err(_) => "FAILED".to_owned(),
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |step: &str, time: Duration, result: &str| {
        let line = format!("{step:<10}{:>9}  {result}", seconds(time));
        let _ = writeln!(text, "{}", line.trim_end());
    };
    for row in rows {
        line(&row.step, row.time, &row.result);
    }
    line("together", rows.iter().map(|row| row.time).sum(), "");
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_leaves_out_the_slow_steps() {
        let all = Test {
            quick: false,
            steps: vec![],
        }
        .steps();
        let quick = Test {
            quick: true,
            steps: vec![],
        }
        .steps();
        assert_eq!(all, Step::value_variants());
        assert_eq!(quick, all.into_iter().take(6).collect::<Vec<_>>());
    }

    #[test]
    fn named_steps_run_in_the_usual_order() {
        let some = Test {
            quick: false,
            steps: vec![Step::Tests, Step::Fmt],
        };
        assert_eq!(some.steps(), [Step::Fmt, Step::Tests]);
    }

    #[test]
    fn every_step_says_what_it_is_for() {
        for step in Step::value_variants() {
            assert!(
                !step.name().is_empty() && !step.about().is_empty(),
                "{step:?}"
            );
        }
    }

    #[test]
    fn the_table_has_each_step_and_the_sum() {
        let row = |step: &str, milliseconds, result| Row {
            step: step.to_owned(),
            time: Duration::from_millis(milliseconds),
            result: word(&result),
        };
        let rows = [
            row("fmt", 400, Ok(0)),
            row("tests", 9_000, Ok(2)),
            row("clippy", 12_300, Err(Error::msg("a lint"))),
        ];
        let expected = "\
fmt           0.4 s  passed
tests         9.0 s  passed, 2 skipped
clippy       12.3 s  FAILED
together     21.7 s
";
        assert_eq!(table(&rows), expected);
    }
}
