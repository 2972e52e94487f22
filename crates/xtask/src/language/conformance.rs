//! `cargo xtask conformance`: every row of policy/cases through the public interface of each language.
//!
//! A runner takes the folder of the cases, prints `ran N cases` as its last line and fails if a case did; here
//! the cases are counted once more, so that a runner which skips some is found out: one a row, and two where the row's
//! policy is `external`, which runs on the engine that is read and on the one that is compiled in. Another language is one more
//! variant of [`Language`] and one function that prepares its runner.

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use crate::kit::outcome::{StepResult, settled};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::{CASES, Runner, count_cases, run_cases};
use crate::language::go;
use crate::language::java;
use crate::language::native::{Compiler, Library};
use crate::language::node;
use crate::language::python;

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
