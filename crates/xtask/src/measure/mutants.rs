//! `cargo xtask mutants`: faults put into the code, one at a time, which the tests have to find (cargo-mutants).
//!
//! A mutant that no test finds is a test that is missing, or a line in `.cargo/mutants.toml` with the reason why it changes
//! nothing.

use anyhow::Result;
use clap::Args;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// Hours for all of it: a person picks a part.
#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// For cargo-mutants, of each crate: `--file '**/target.rs'`, `--shard 0/8`, `--in-diff FILE`, `--list`
    #[arg(last = true)]
    options: Vec<String>,
}

/// A crate whose code decides.
struct Subject {
    package: &'static str,
    /// Files that do not decide: what describes or writes code, or is for another processor (the steps `portable` and `aarch64`
    /// run that).
    others: &'static [&'static str],
    /// The tests that find most, in little time; the slow ones of a crate look elsewhere.
    tests: &'static str,
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        package: "orbgate",
        others: &[
            "**/build.rs",
            "**/codegen.rs",
            "**/json.rs",
            "**/table.rs",
            "**/vector/neon.rs",
            "**/vector/plain.rs",
            "**/vector/wasm.rs",
        ],
        tests: "--features schema --lib --test cases --test compile --test edges --test properties --test invalid_policies \
                --test grant --test routes --test schema --test specification --test policy_digest --test policy_end_marker \
                --test policy_file --test policy_limits --test policy_overlaps",
    },
    Subject {
        package: "orbgate-token",
        others: &["**/wycheproof.rs"],
        tests: "--features fetch --lib --test algorithms --test claims --test configuration --test hostile --test keys --test fetch",
    },
];

impl Mutants {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let home = project.target.join("xtask").join("mutants");
        let mut survived = Vec::new();
        for Subject {
            package,
            others,
            tests,
        } in SUBJECTS
        {
            let mutants = setup::subcommand(project, "mutants")?;
            // Few random cases: what finds a mutant finds it soon, and there are many.
            let mutants = mutants.env("PROPTEST_CASES", "32");
            let mutants = mutants
                .arg("--package")
                .arg(package)
                .arg("--test-package")
                .arg(package);
            // The tests take seconds; a mutant that loops takes no more than this many.
            let mutants = mutants.arg("--timeout").arg("120");
            let mutants = mutants.path("--output", &home.join(package));
            let mutants = others
                .iter()
                .fold(mutants, |mutants, file| mutants.arg("--exclude").arg(*file));
            let mutants = self.options.iter().fold(mutants, Program::arg);
            // Not behind `--`: there they would say what is run, and every test of the crate would be built for each mutant.
            let tests = tests.split(' ').map(|test| format!("--cargo-arg={test}"));
            let mutants = tests.fold(mutants, Program::arg);
            // The other crate's mutants are tested all the same.
            if let Err(error) = mutants.run() {
                survived.push(error);
            }
        }
        survived.into_iter().next().map_or(Ok(()), Err)
    }
}
