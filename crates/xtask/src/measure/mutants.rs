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
    features: &'static str,
    /// The tests that are left out, by a part of their names: they are slow and test other code.
    slow: &'static [&'static str],
}

const SUBJECTS: [Subject; 6] = [
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
        features: "schema",
        slow: &[
            "allocation::",
            "policy_memory::",
            "policy_random::",
            "reach::",
            "sharing::",
        ],
    },
    Subject {
        package: "orbgate-token",
        others: &["**/wycheproof.rs"],
        features: "fetch",
        slow: &["oracle::", "properties::", "provider_tokens::"],
    },
    Subject {
        package: "orbgate-log",
        others: &[],
        features: "",
        slow: &[],
    },
    Subject {
        package: "orbgate-capi",
        others: &["**/tests/**", "**/wasm.rs"],
        features: "",
        slow: &["forged::", "every_decision_of_a_handle"],
    },
    Subject {
        package: "orbgate-analysis",
        others: &[],
        features: "serde",
        slow: &["memory::"],
    },
    Subject {
        package: "orbgate-tower",
        others: &[],
        features: "fetch",
        slow: &["servers::"],
    },
];

impl Mutants {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let home = project.target.join("xtask").join("mutants");
        let mut survived = Vec::new();
        for Subject {
            package,
            others,
            features,
            slow,
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
            // Not after `--`: there they would only choose which tests run, and the documentation's tests would be built for each mutant.
            let tests = ["--features", features, "--tests"];
            let tests = tests.map(|argument| format!("--cargo-arg={argument}"));
            let mutants = tests.into_iter().fold(mutants, Program::arg);
            // The first `--` is cargo-mutants', the second cargo's.
            let mutants = mutants.arg("--").arg("--");
            let mutants = slow
                .iter()
                .fold(mutants, |mutants, name| mutants.arg("--skip").arg(*name));
            // The other crate's mutants are tested all the same.
            if let Err(error) = mutants.run() {
                survived.push(error);
            }
        }
        survived.into_iter().next().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// A reason hides the mutants of one function. One for a function that was renamed hides none, or another's.
    #[test]
    fn every_reason_is_for_a_function_that_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let list = fs::read_to_string(root.join(".cargo/mutants.toml")).unwrap();
        let everywhere = ["\"impl .*Debug for \"", "\"with_capacity\""];
        let lines = list.lines().map(|line| line.trim().trim_end_matches(','));
        let lines =
            lines.filter(|line| line.starts_with(['\'', '"']) && !everywhere.contains(line));
        let mut count = 0;
        for line in lines {
            let parts = line.trim_matches('\'').split_once(r":\S+");
            let (file, what) = parts.unwrap_or_else(|| panic!("{line} names no file"));
            let file = root.join("crates").join(file.replace('\\', ""));
            let code = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{line}: no such file"));
            let function = what
                .rsplit_once(" in ")
                .and_then(|(_, name)| name.strip_suffix('$'));
            let name = function.and_then(|name| name.rsplit("::").next());
            let name = name.unwrap_or_else(|| panic!("{line} names no function"));
            let is_there = [format!("fn {name}("), format!("fn {name}<")];
            assert!(
                is_there.iter().any(|it| code.contains(it)),
                "{line}: no such function"
            );
            count += 1;
        }
        assert!(count > 25, "{count} reasons");
    }
}
