//! The compilers of C and C++.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::setup;
use crate::language::library::Library;

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
    pub(crate) fn set_up(self) -> Result<()> {
        setup::apt(self.names(), "build-essential")
    }

    /// The compiler with our warnings, which are errors.
    pub(crate) fn program(self) -> Program {
        let standard = match self {
            Self::C => "-std=c11",
            Self::Cpp => "-std=c++17",
        };
        let program = Program::parse(self.names()).arg(standard);
        program.words("-Wall -Wextra -Wpedantic -Werror")
    }

    /// Compiles sources and links them with the shared library.
    pub(crate) fn link(self, sources: &[&str], options: &[&str], library: &Library, output: &Path) -> Result<()> {
        if let Some(parent) = output.parent() {
            fs::create_dir_all(parent)?;
        }
        let directory = library.directory.display();
        self.program()
            .words("-g -O1 -Ibindings/c/include -Ibindings/cpp/include")
            .args(options)
            .args(sources)
            .arg(format!("-L{directory}"))
            .arg(format!("-Wl,-rpath,{directory}"))
            .arg("-lorbgate")
            .arg("-lpthread")
            .path("-o", output)
            .run()
    }
}
