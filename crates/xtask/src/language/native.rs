//! What the steps for other languages have in common: the library they link, and the compilers of C and C++.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;

/// Where the headers are, as compilers take it.
pub(crate) const INCLUDE_C: &str = "-Ibindings/c/include";
pub(crate) const INCLUDE_CPP: &str = "-Ibindings/cpp/include";

/// A built `liborbgate`.
#[derive(Debug)]
pub(crate) struct Library {
    /// Where the shared and the static library are, and nothing else of their kind.
    pub(crate) directory: PathBuf,
}

impl Library {
    /// The library as users get it, but unoptimised.
    pub(crate) fn build(project: &Project) -> Result<Self> {
        Self::variant(project, "plain", "")
    }

    /// The same, with the function that panics on purpose.
    pub(crate) fn build_for_tests(project: &Project) -> Result<Self> {
        Self::variant(project, "tests", " --features test-panic")
    }

    /// The library as users get it.
    pub(crate) fn build_release(project: &Project) -> Result<Self> {
        Self::variant(project, "release", " --release")
    }

    /// Builds where everything else is built, and puts the result where no later build replaces it.
    fn variant(project: &Project, name: &str, options: &str) -> Result<Self> {
        Program::parse(&format!("cargo build -p orbgate-capi{options}")).run()?;
        let directory = project.target.join("xtask").join("native").join(name);
        fs::create_dir_all(&directory)?;
        let profile = if options.contains("--release") {
            "release"
        } else {
            "debug"
        };
        let built = project.target.join(profile);
        for file in [shared(), STATIC.to_owned()] {
            fs::copy(built.join(&file), directory.join(&file))?;
        }
        Ok(Self { directory })
    }
}

/// The static library's file.
pub(crate) const STATIC: &str = "liborbgate.a";

/// The shared library's file.
pub(crate) fn shared() -> String {
    format!("{DLL_PREFIX}orbgate{DLL_SUFFIX}")
}

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
