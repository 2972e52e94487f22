//! An environment without Rust and without the checkout, in which artefacts are installed and run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::platform::Arch;
use super::release::{fresh, put};
use crate::kit::guide;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::{self, CASES};

/// What the first program of each guide prints.
pub(super) const FIRST: &str = "allowed, and consumes orbs\n";

/// What a user of a language has read and may run: its guide and the runner of the cases.
const LANGUAGES: [&str; 5] = ["c", "cpp", "java", "node", "python"];

#[derive(Debug)]
pub(super) struct Clean {
    /// A folder outside the checkout, also the home of what runs there.
    pub(super) home: PathBuf,
    /// The guides and runners, by language.
    pub(super) sources: PathBuf,
    /// The folders of programs without those that have Rust's.
    path: String,
    cases: usize,
}

impl Clean {
    pub(super) fn new(project: &Project) -> Result<Self> {
        let home = std::env::temp_dir().join(format!("orbgate-try-{}", std::process::id()));
        let home = fresh(home)?;
        let sources = home.join("sources");
        for language in LANGUAGES {
            let from = project.root.join("bindings").join(language);
            let to = sources.join(language);
            put(&from.join("README.md"), &to, "README.md")?;
            copy(&from.join("conformance"), &to.join("conformance"))?;
        }
        // The cases name the policies in their folder.
        copy(&project.root.join("policy"), &home.join("policy"))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_clean = |folder: &PathBuf| {
            let rust = ["cargo", "rustc", "rustup", "maturin"];
            !rust.iter().any(|program| folder.join(program).exists())
        };
        let path = std::env::join_paths(std::env::split_paths(&path).filter(is_clean))?;
        let clean = Self {
            cases: cases::count_cases(&home.join(CASES))?,
            home,
            sources,
            path: path.to_string_lossy().into_owned(),
        };
        for program in ["cargo", "rustc"] {
            let version = clean.program(program).arg("--version");
            ensure!(!version.succeeds(), "`{program}` is on {}", clean.path);
        }
        Ok(clean)
    }

    /// A program and its first words, with nothing of this environment but the folders of programs.
    pub(super) fn program(&self, words: &str) -> Program {
        self.with("").words(words)
    }

    /// A program of a processor, under qemu if it is not this one, with a variable `NAME=value`.
    pub(super) fn emulated(&self, arch: Arch, variable: &str) -> Program {
        let program = self.with(variable);
        if arch == Arch::HOST {
            return program;
        }
        let name = arch.name();
        let root = format!("/usr/{name}-linux-gnu");
        program.arg(format!("qemu-{name}")).arg("-L").arg(root)
    }

    /// `env` with its variables: what runs is the next argument.
    pub(super) fn with(&self, variable: &str) -> Program {
        Program::parse("env -i LANG=C.UTF-8")
            .arg(format!("PATH={}", self.path))
            .arg(format!("HOME={}", self.home.display()))
            .args((!variable.is_empty()).then_some(variable))
            .within(&self.home)
    }

    /// Unpacks a tar archive into a folder.
    pub(super) fn unpack(&self, archive: &Path, folder: &str) -> Result<()> {
        let folder = self.home.join(folder);
        fs::create_dir_all(&folder)?;
        let tar = self.program("tar --extract --file").arg(archive);
        tar.path("--directory", &folder).run()
    }

    /// Writes the first example of a guide into a file.
    pub(super) fn write_first(&self, guide: &Path, language: &str, file: &Path) -> Result<()> {
        let text = self.first_block(guide, language)?;
        fs::write(file, text).with_context(|| file.display().to_string())
    }

    /// The first example of a guide in a language, as it is.
    pub(super) fn first_block(&self, guide: &Path, language: &str) -> Result<String> {
        let text = fs::read_to_string(guide).with_context(|| guide.display().to_string())?;
        let blocks = guide::blocks(&text, language);
        let block = blocks.first().map(ToString::to_string);
        block.with_context(|| format!("{} has no `{language}`", guide.display()))
    }

    /// Fails if a program prints anything else.
    pub(super) fn prints(&self, program: &Program, expected: &str) -> Result<()> {
        println!("$ {program}");
        let printed = program.read()?;
        ensure!(printed == expected, "not {expected:?}: {printed:?}");
        print!("{printed}");
        Ok(())
    }

    /// Runs all cases with a runner.
    pub(super) fn conforms(&self, runner: Program) -> Result<()> {
        let ran = cases::run_cases(&runner.arg(self.home.join(CASES).display().to_string()))?;
        let cases = self.cases;
        ensure!(ran == cases, "ran {ran} of {cases} cases");
        Ok(())
    }
}

impl Drop for Clean {
    fn drop(&mut self) {
        // If this fails, the rest is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// Copies a folder with what is in it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let cp = Program::parse("cp --recursive --dereference");
    cp.arg(from.join(".")).arg(to).run()
}
