//! `cargo xtask conformance`: every row of policy/cases through the public interface of each language.
//!
//! `policy/cases/run.py` reads the cases and judges the answers; a language only has a program that asks its interface. To
//! add a language, add its forms there, a variant of [`Language`] and a function that prepares its program.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::conform;
use crate::language::library::{Library, Profile};
use crate::language::native::Compiler;
use crate::language::{c, go, java, node, python};

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
        let library = Library::build(project, Profile::Tests)?;
        let mut languages = languages.iter();
        languages.try_for_each(|language| conform(language.key(), language.runner(project, &library)?))
    }
}

impl Language {
    /// Without the engine.
    const fn key(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Java => "java",
            Self::Python => "python",
            Self::Go | Self::GoCgo => "go",
            Self::Node | Self::NodeWasm => "node",
        }
    }

    /// The program that answers.
    fn runner(self, project: &Project, library: &Library) -> Result<Program> {
        let tests = Profile::Tests;
        match self {
            Self::C => c::runner(project, library, Compiler::C),
            Self::Cpp => c::runner(project, library, Compiler::Cpp),
            Self::Java => java::runner(project, library),
            Self::Python => python::script(project, tests, python::CONFORMANCE),
            Self::Go => go::program(project, go::Engine::Wasm, tests, "conformance"),
            Self::GoCgo => go::program(project, go::Engine::Cgo, tests, "conformance"),
            Self::Node => node::program(project, Some(library), node::CONFORMANCE),
            Self::NodeWasm => node::program(project, None, node::CONFORMANCE),
        }
    }
}
