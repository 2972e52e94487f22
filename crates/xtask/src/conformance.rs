//! `cargo xtask conformance`: every row of policy/cases through the public interface of each language.
//!
//! A runner takes the folder of the cases, prints `ran N cases` as its last line and fails if a case did; here
//! the cases are counted once more, so that a runner which skips some is found out: one a row, and two where the row's
//! policy is `external`, which runs on the engine that is read and on the one that is compiled in. Another language is one more
//! variant of [`Language`] and one function that prepares its runner.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, ValueEnum};

use crate::go;
use crate::java;
use crate::native::{Compiler, Library};
use crate::node;
use crate::program::Program;
use crate::project::Project;
use crate::python;
use crate::test::{StepResult, settled};

pub(crate) const CASES: &str = "policy/cases";

#[derive(Debug, Args)]
pub(crate) struct Conformance {
    /// Only these languages
    #[arg(value_enum)]
    languages: Vec<Language>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// bindings/c
    C,
    /// bindings/cpp
    Cpp,
    /// bindings/java
    Java,
    /// bindings/python
    Python,
    /// bindings/go, over WebAssembly
    Go,
    /// bindings/go, over the C library
    GoCgo,
    /// bindings/node, over the C library
    Node,
    /// bindings/node, over WebAssembly
    NodeWasm,
}

/// What a language needs before its cases can run.
#[derive(Debug)]
pub(crate) enum Runner {
    /// A program that takes the folder of the cases as its next argument.
    Ready(Program),
    /// A tool is missing that could not be set up: which, and what to do.
    Missing(String),
}

impl Conformance {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let languages = match self.languages.as_slice() {
            [] => Language::value_variants(),
            some => some,
        };
        settled(conform(project, languages)?)
    }
}

/// The step `conformance`: all languages.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    conform(project, Language::value_variants())
}

fn conform(project: &Project, languages: &[Language]) -> Result<StepResult> {
    let cases = count_cases(&project.root.join(CASES))?;
    let library = Library::build(project)?;
    let mut missing = Vec::new();
    for language in languages {
        let name = language.name();
        match language.runner(project, &library)? {
            Runner::Ready(program) => {
                let ran = run_cases(&program.arg(CASES))?;
                ensure!(ran == cases, "{name} ran {ran} of {cases} cases");
                println!("{name}: all {cases} cases");
            }
            Runner::Missing(what) => {
                println!("{name}: skipped: {what}");
                missing.push(format!("{name}: {what}"));
            }
        }
    }
    Ok(match missing.as_slice() {
        [] => StepResult::Passed,
        missing => StepResult::Skipped(missing.join("; ")),
    })
}

impl Language {
    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn runner(self, project: &Project, library: &Library) -> Result<Runner> {
        match self {
            Self::C => compiled(
                project,
                library,
                Compiler::C,
                "bindings/c/conformance/conformance.c",
            ),
            Self::Cpp => compiled(
                project,
                library,
                Compiler::Cpp,
                "bindings/cpp/conformance/conformance.cpp",
            ),
            Self::Java => java::runner(project, library),
            Self::Python => python::runner(project),
            Self::Go => go::runner(project, go::Engine::Wasm),
            Self::GoCgo => go::runner(project, go::Engine::Cgo),
            Self::Node => node::runner(project, Some(library)),
            Self::NodeWasm => node::runner(project, None),
        }
    }
}

/// A runner that is one source file.
fn compiled(
    project: &Project,
    library: &Library,
    compiler: Compiler,
    source: &str,
) -> Result<Runner> {
    if let StepResult::Skipped(what) = compiler.set_up()? {
        return Ok(Runner::Missing(what));
    }
    let name = source.replace(['/', '.'], "-");
    let program = project.target.join("xtask").join("native").join(name);
    compiler.link(&[source], &[], library, &program)?;
    Ok(Runner::Ready(Program::at(&program)))
}

/// Runs the cases and gives the number that the runner says.
pub(crate) fn run_cases(program: &Program) -> Result<usize> {
    println!("$ {program}");
    let output = program.output()?;
    print!("{}", output.stdout);
    if !output.success {
        bail!("`{program}` failed:\n{}", output.stderr);
    }
    said(&output.stdout).with_context(|| format!("`{program}` did not end with `ran N cases`"))
}

/// The number in the last line, `ran N cases`.
fn said(output: &str) -> Option<usize> {
    let line = output.lines().last()?;
    let number = line.strip_prefix("ran ")?.strip_suffix(" cases")?;
    number.parse().ok()
}

/// How many cases the files have: one a line without comments and the header row, and two where its policy is `external`.
pub(crate) fn count_cases(cases: &Path) -> Result<usize> {
    let mut count = 0_usize;
    for entry in fs::read_dir(cases).with_context(|| cases.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tsv") {
            let text = fs::read_to_string(&path)?;
            let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
            for row in rows {
                let is_external = row.split('\t').nth(1) == Some("external");
                count = count.saturating_add(if is_external { 2 } else { 1 });
            }
        }
    }
    ensure!(count > 0, "no cases in {}", cases.display());
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_runner_says_how_many_cases_it_ran() {
        assert_eq!(said("a.tsv:3: wrong\nran 1941 cases\n"), Some(1941));
        assert_eq!(said("ran 3 cases\nand more\n"), None);
        assert_eq!(said("ran cases\n"), None);
        assert_eq!(said(""), None);
    }

    #[test]
    fn every_row_counts_and_those_of_external_twice() {
        let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/cases");
        assert!(super::count_cases(cases.as_ref()).unwrap() > 2_400);
        assert!(super::count_cases(env!("CARGO_MANIFEST_DIR").as_ref()).is_err());
    }
}
