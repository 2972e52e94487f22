//! The workspace, and what runs programs in it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use cargo_metadata::semver::Version;
use cargo_metadata::{MetadataCommand, Package};
use xshell::{Cmd, Shell, cmd};

/// Runs a function of the scripts in its folder.
const RUN: &str = "crates/xtask/src/steps/run.sh";

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The workspace.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
    /// The core's.
    pub(crate) version: Version,
}

impl Project {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let metadata = MetadataCommand::new().no_deps().exec()?;
        let is_core = |package: &&Package| package.name == "orbgate";
        let core = metadata.packages.iter().find(is_core).context("no package `orbgate`")?;
        Ok(Self {
            root: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
            version: core.version.clone(),
        })
    }

    /// Runs programs at the root.
    pub(crate) fn shell(&self) -> Result<Shell> {
        let shell = Shell::new()?;
        shell.change_dir(&self.root);
        shell.set_var("TARGET", &self.target);
        if let Some(path) = library_path() {
            shell.set_var(LIBRARY_PATH, path);
        }
        Ok(shell)
    }

    /// Runs a function of `src/steps`, or a program.
    pub(crate) fn run(&self, function: &str, arguments: &[impl AsRef<OsStr>]) -> Result<()> {
        Ok(script(&self.shell()?, function).args(arguments).quiet().run()?)
    }
}

/// A function of `src/steps`.
pub(crate) fn script<'s>(shell: &'s Shell, function: &str) -> Cmd<'s> {
    cmd!(shell, "bash {RUN} {function}")
}

/// The same, ended after these seconds with all that it started. The signal makes Go and Java print where they wait.
pub(crate) fn script_within<'s>(shell: &'s Shell, seconds: &str, function: &str) -> Cmd<'s> {
    cmd!(shell, "timeout --verbose --signal=QUIT --kill-after=10 {seconds} bash {RUN} {function}")
}

/// The library search path of programs, without the folders that `cargo run` has added. Those contain the library of
/// the last build, but a program must use the library that it was linked with.
fn library_path() -> Option<OsString> {
    let path = std::env::var_os(LIBRARY_PATH)?;
    let own = std::env::current_exe().ok()?;
    let own = own.parent()?;
    let others = std::env::split_paths(&path).filter(|folder| !folder.starts_with(own));
    std::env::join_paths(others).ok()
}

/// What is above a function of a script: its sentence, and the words of its lines that begin with `@`.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) about: String,
    pub(crate) settings: Vec<&'static str>,
}

/// The functions of a script whose names begin with a word and `_`.
pub(crate) fn functions(script: &'static str, kind: &str) -> Vec<Function> {
    let function = |block: &'static str| {
        let (above, code) = block.split_once(&format!("\n{kind}_"))?;
        let (name, _) = code.split_once("()")?;
        let lines = above.lines().filter_map(|line| line.strip_prefix("# "));
        let (settings, about): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("@ "));
        let settings = settings.iter().flat_map(|line| line.split(' ').skip(1));
        Some(Function { name, about: about.join(" "), settings: settings.collect() })
    };
    script.split("\n\n").filter_map(function).collect()
}
