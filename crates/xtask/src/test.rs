//! `cargo xtask test`: the checks, step by step. What a change needs, or with `--all` what CI runs.

use core::time::Duration;
use std::time::Instant;

use anyhow::{Error, Result, ensure};
use clap::{Args, ValueEnum};

use crate::kit::outcome::{StepResult, in_ci, settle, step};
use crate::kit::program::Program;
use crate::kit::project::{Package, Project};
use crate::kit::unchanged::Inputs;
use crate::kit::{process, setup, skipped, watch};
use crate::language::{c, conformance, go, java, node, python, wasm};
use crate::measure::{instructions, processors};
use crate::release::dist::{self, Form};
use crate::release::{install, msrv, tree};

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Every check there is: what CI runs
    #[arg(long)]
    all: bool,
    /// Only these steps, which then run whether or not something has changed
    #[arg(value_enum, conflicts_with = "all")]
    steps: Vec<Step>,
}

/// In the order in which they run: the quick ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Every file is formatted
    Fmt,
    /// The core depends on nothing new
    Tree,
    /// No lint complains
    Clippy,
    /// Unit, integration and documentation tests of every crate; the pages
    Tests,
    /// The documentation builds as docs.rs builds it, and its links lead somewhere
    Docs,
    /// Every language gives the cases' decisions
    Conformance,
    /// Every published crate compiles with each feature alone and with none
    Features,
    /// The fuzz targets compile
    Fuzz,
    /// Every published crate compiles from its own archive
    Package,
    /// The published crates compile with the oldest Rust that they promise
    Msrv,
    /// Other projects can embed the crates, with policies and dependencies of their own
    Embed,
    /// What passes real proxies was allowed: nginx, HAProxy, Caddy, Traefik, Envoy before a backend
    Gateway,
    /// No hot path takes more instructions than listed
    #[value(alias = "gate")]
    Instructions,
    /// C and C++: headers, symbols, tests, cases, examples; under valgrind and sanitizers
    C,
    /// C, C++ and Go programs build from an installed library, wherever it is moved
    Install,
    /// The Java package in a Java of each way into the library: its tests and the cases
    Java,
    /// The Python package, installed in every Python of the machine: its tests and the cases
    Python,
    /// The Go package over each engine: its tests, also under the race detector, its guide, the cases
    Go,
    /// The Go package as its users get it: from a module proxy, where there is Go and at most a C compiler
    GoModule,
    /// The Node package over each engine: its types, its tests and the cases
    Node,
    /// The gate of every language gives the same answers to the same exchanges, over real sockets
    Gates,
    /// What a release publishes for this machine, installed and run where there is no Rust
    Dist,
    /// The core decides as it should with the code for other processors than this one
    Portable,
    /// The core decides as it should on aarch64, under qemu
    Aarch64,
    /// The core decides as it should as WebAssembly, with its vectors
    Wasm,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    /// A part of what others do with `--all`.
    WithoutAll,
    WithAll,
}

/// A step that takes this long hangs.
const LIMIT: Duration = Duration::from_secs(25 * 60);

impl Test {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let steps = self.steps();
        let mut rows = Vec::new();
        skipped::count(project)?;
        for (number, step) in (1..).zip(&steps) {
            let (name, about) = (step.name(), step.about());
            println!("\n== {number}/{} {name}: {about}", steps.len());
            let inputs = (!in_ci()).then(|| Inputs::of(project, &name, step.reads()));
            let inputs = inputs.flatten();
            let passed = inputs.as_ref().is_some_and(Inputs::have_passed);
            if passed && self.steps.is_empty() {
                println!("== {name}: passed before, and nothing that it reads has changed");
                continue;
            }
            let (start, before) = (Instant::now(), process::of_children());
            let result = step.settle(project);
            let processor = process::of_children().saturating_sub(before);
            let row = Row {
                times: [start.elapsed(), processor],
                result: word(&result),
                step: name,
            };
            println!("== {row}");
            rows.push(row);
            if let (Ok(0), Some(inputs)) = (&result, &inputs) {
                inputs.note()?;
            }
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
        let wanted = |step: &Step| match (self.steps.as_slice(), step.when()) {
            ([], When::Always) => true,
            ([], When::WithAll) => self.all,
            ([], When::WithoutAll) => !self.all,
            (steps, _) => steps.contains(step),
        };
        all.filter(wanted).collect()
    }
}

impl Step {
    const fn when(self) -> When {
        match self {
            Self::Fmt | Self::Tree | Self::Clippy | Self::Tests | Self::Docs => When::Always,
            // With `--all` each language's own step runs them.
            Self::Conformance => When::WithoutAll,
            _ => When::WithAll,
        }
    }

    /// What it reads but Rust's own files.
    const fn reads(self) -> &'static [&'static str] {
        match self {
            Self::Fuzz => &["fuzz"],
            // The tests of the pages read everything.
            Self::Tests => &["."],
            Self::Fmt | Self::Clippy | Self::Docs | Self::Tree | Self::Features => &[],
            Self::Instructions | Self::Portable | Self::Aarch64 | Self::Wasm | Self::Msrv => &[],
            Self::Package | Self::Embed => &["dist", "LICENSE-APACHE", "LICENSE-MIT"],
            Self::C => &["bindings/c", "bindings/cpp"],
            Self::Gateway => &["examples/gateway", "policy"],
            Self::Java => &["bindings/c", "bindings/java"],
            Self::Node => &["bindings/c", "bindings/node"],
            Self::Python => &["bindings/python"],
            Self::Go | Self::GoModule | Self::Gates => &["bindings", "dist"],
            Self::Conformance | Self::Dist | Self::Install => &["bindings", "dist"],
        }
    }

    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn about(self) -> String {
        let value = self.to_possible_value();
        let help = value.and_then(|value| value.get_help().map(ToString::to_string));
        help.unwrap_or_default()
    }

    /// Runs it, and gives how many of its tests were skipped.
    fn settle(self, project: &Project) -> Result<usize> {
        let before = skipped::all()?.len();
        let outcome = watch::within(LIMIT, || self.run(project))?;
        if let StepResult::Skipped(what) = &outcome {
            skipped::note(what)?;
        }
        settle(skipped::all()?.split_off(before), in_ci())
    }

    fn run(self, project: &Project) -> Result<StepResult> {
        match self {
            Self::Fmt => step(|| {
                setup::component("fmt", "rustfmt")?.needed()?;
                all(&["cargo fmt --all --check"])
            }),
            Self::Clippy => step(|| {
                setup::component("clippy", "clippy")?.needed()?;
                all(&[
                    "cargo clippy --workspace --all-targets --all-features -- -D warnings",
                    "cargo clippy -p orbgate --no-default-features -- -D warnings",
                ])
            }),
            // The examples of the core's README are for its default features, too.
            Self::Tests => step(|| {
                setup::apt("python3", "python3")?;
                all(&[
                    "cargo test --workspace --all-features",
                    "cargo test -p orbgate --doc",
                ])
            }),
            Self::Docs => step(|| docs(project)),
            Self::Features => step(|| features(project)),
            // A package of its own outside the workspace, with one folder for what both build.
            Self::Fuzz => {
                let check = "cargo check --locked --manifest-path fuzz/Cargo.toml";
                step(|| all(&[&format!("{check} --target-dir target")]))
            }
            Self::Tree => step(tree::check),
            Self::Package => dist::check(project, &[Form::Rust]),
            Self::Msrv => msrv::run(project),
            Self::Embed => step(|| all(&["bash crates/xtask/embed/run.sh"])),
            Self::C => c::run(project),
            Self::Gateway => step(|| {
                // nginx knows no `--version`. Each test skips its own proxy, if it is missing.
                let both = "test -x /usr/sbin/nginx -a -x /usr/sbin/haproxy -a";
                setup::apt(both, "nginx haproxy")?;
                setup::apt("python3 -m pip", "python3-pip")?;
                all(&["cargo test -p orbgate-gateway -- --ignored"])
            }),
            Self::Install => install::check(project),
            Self::Conformance => conformance::run(project),
            Self::Instructions => instructions::check(),
            Self::Java => java::run(project),
            Self::Python => python::run(project),
            Self::Go => go::run(project),
            Self::GoModule => dist::check(project, &[Form::Go]),
            Self::Node => node::run(project),
            Self::Gates => step(|| all(&["cargo run --quiet -p orbgate-exchange -- --every"])),
            Self::Dist => {
                let without_a_build = [Form::Command, Form::C, Form::Node, Form::Java];
                dist::check(project, &without_a_build)
            }
            Self::Portable => processors::portable(project),
            Self::Aarch64 => processors::aarch64(),
            Self::Wasm => processors::wasm(project),
        }
    }
}

/// Runs the commands one after the other, up to the first that fails.
fn all(lines: &[&str]) -> Result<()> {
    let mut lines = lines.iter();
    lines.try_for_each(|line| Program::parse(line).run())
}

/// docs.rs takes the features that a manifest tells it to: here all of them at once, so there, too.
fn docs(project: &Project) -> Result<()> {
    for package in project.published() {
        let features = package.metadata.pointer("/docs/rs/all-features");
        let all = features == Some(&serde_json::Value::Bool(true));
        ensure!(all, "{}: docs.rs would leave out features", package.name);
    }
    let document = || Program::parse("RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps");
    let everything = document().arg("--workspace").arg("--all-features");
    everything.run()?;
    // With the features of a plain `cargo doc` no link may lead to what they leave out.
    let has_pages = |package: &&Package| package.targets.iter().any(|target| target.doc);
    for package in project.published().filter(has_pages) {
        document().arg("-p").arg(package.name.as_str()).run()?;
    }
    Ok(())
}

/// What cargo-hack does: in a few lines, and it would take a minute to build.
fn features(project: &Project) -> Result<()> {
    for package in project.published() {
        let check = || Program::parse("cargo check --no-default-features -p");
        check().arg(package.name.as_str()).run()?;
        for feature in package.features.keys() {
            let alone = check().arg(package.name.as_str());
            alone.arg("--features").arg(feature).run()?;
        }
    }
    // Where programs check signatures, nothing needs C.
    setup::target(wasm::TARGET)?.needed()?;
    let check = Program::parse("cargo check --no-default-features -p orbgate-gate --target");
    check.arg(wasm::TARGET).run()
}

fn failure(step: &str, error: &Error) -> Error {
    Error::msg(format!(
        "step `{step}` failed: {error:#}\nto run it alone: cargo xtask test {step}"
    ))
}

/// A line of the table at the end: the time, and the processor time of all programs of the step, which is the same on a busy machine.
struct Row {
    step: String,
    times: [Duration; 2],
    result: String,
}

impl core::fmt::Display for Row {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { step, result, .. } = self;
        let [time, processor] = self.times.map(|time| time.as_secs_f64());
        let line = format!("{step:<12}{time:>9.1} s{processor:>9.1} s of processors  {result}");
        f.write_str(line.trim_end())
    }
}

fn word(result: &Result<usize>) -> String {
    match result {
        Ok(0) => "passed".to_owned(),
        Ok(skipped) => format!("passed, {skipped} skipped"),
        Err(_) => "FAILED".to_owned(),
    }
}

fn table(rows: &[Row]) -> String {
    let sum = |place: usize| rows.iter().filter_map(|row| row.times.get(place)).sum();
    let together = Row {
        step: "together".to_owned(),
        times: [sum(0), sum(1)],
        result: String::new(),
    };
    let rows = rows.iter().chain([&together]);
    rows.map(|row| format!("{row}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: bool, steps: &[Step]) -> Vec<Step> {
        let steps = steps.to_vec();
        Test { all, steps }.steps()
    }

    #[test]
    fn all_has_every_step_but_what_others_do_and_named_ones_run_in_the_usual_order() {
        let every = Step::value_variants().iter().copied();
        let every: Vec<_> = every.filter(|step| *step != Step::Conformance).collect();
        assert_eq!(steps(true, &[]), every);
        let some = steps(false, &[Step::Tests, Step::Fmt]);
        assert_eq!(some, [Step::Fmt, Step::Tests]);
    }

    /// The table of CONTRIBUTING.md has each step with what it shows and where it runs, in the order of the steps.
    #[test]
    fn contributing_has_every_step() {
        let page = include_str!("../../../CONTRIBUTING.md");
        let (_, table) = page.split_once("| step | what it shows |").unwrap();
        let rows = table.lines().skip(2);
        let rows = rows.take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<_>> = rows
            .map(|row| row.split('|').map(str::trim).collect())
            .collect();
        assert_eq!(rows.len(), Step::value_variants().len());
        for (row, step) in rows.iter().zip(Step::value_variants()) {
            let runs = match step.when() {
                When::Always => "`test`, `--all`",
                When::WithoutAll => "`test`",
                When::WithAll => "`--all`",
            };
            let expected = [&format!("`{}`", step.name()), &step.about(), row[3], runs];
            assert_eq!(row[1..5], expected);
            // A dash until a free machine has measured it.
            assert!(row[3] == "–" || row[3].parse::<u32>().is_ok(), "{row:?}");
        }
    }

    #[test]
    fn the_table_has_each_step_and_the_sum() {
        let row = |step: &str, milliseconds, result| Row {
            step: step.to_owned(),
            times: [milliseconds, 2 * milliseconds].map(Duration::from_millis),
            result: word(&result),
        };
        let rows = [
            row("tests", 9_000, Ok(2)),
            row("clippy", 12_300, Err(Error::msg("a lint"))),
        ];
        let expected = "\
tests             9.0 s     18.0 s of processors  passed, 2 skipped
clippy           12.3 s     24.6 s of processors  FAILED
together         21.3 s     42.6 s of processors
";
        assert_eq!(table(&rows), expected);
    }
}
