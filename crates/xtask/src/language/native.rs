//! The compilers of C and C++.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::setup;
use crate::language::library::Library;

/// Where the headers are, as compilers take it.
pub(crate) const INCLUDE_C: &str = "-Ibindings/c/include";
pub(crate) const INCLUDE_CPP: &str = "-Ibindings/cpp/include";

/// A compiler of C or C++, and how strictly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiler {
    C,
    Cpp,
}

impl Compiler {
    /// The usual names, the system's own first.
    const fn names(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cpp => "c++",
        }
    }

    /// Installs it where it is missing, if this user may.
    pub(crate) fn set_up(self) -> Result<StepResult> {
        setup::apt(self.names(), "build-essential")
    }

    /// The compiler with our warnings, which are errors.
    pub(crate) fn program(self) -> Program {
        let standard = match self {
            Self::C => "-std=c11",
            Self::Cpp => "-std=c++17",
        };
        let program = Program::parse(self.names()).arg(standard);
        WARNINGS.iter().copied().fold(program, Program::arg)
    }

    /// Compiles sources and links them with the shared library.
    pub(crate) fn link(
        self,
        sources: &[&str],
        options: &[&str],
        library: &Library,
        output: &Path,
    ) -> Result<()> {
        if let Some(parent) = output.parent() {
            fs::create_dir_all(parent)?;
        }
        let words = ["-g", "-O1", INCLUDE_C, INCLUDE_CPP].iter();
        let words = words.chain(options).chain(sources).copied();
        let program = words.fold(self.program(), Program::arg);
        let directory = library.directory.display();
        program
            .arg(format!("-L{directory}"))
            .arg(format!("-Wl,-rpath,{directory}"))
            .arg("-lorbgate")
            .arg("-lpthread")
            .path("-o", output)
            .run()
    }
}

/// Warnings that are errors, for every compiler.
pub(crate) const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];
