//! The step `node`: the Node package, set up as from a registry and tested over the shared library and over WebAssembly.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::kit::outcome::{self, StepResult, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::conform;
use crate::language::library::{Library, Profile, shared};
use crate::language::wasm;

/// The oldest Node that the package is for.
const OLDEST: u32 = 20;

/// The library as WebAssembly, in the package.
pub(crate) const MODULE: &str = "orbgate.wasm";

/// The package's runner of the cases.
pub(crate) const CONFORMANCE: &str = "conformance/conformance.js";

/// Where npm puts dependencies: next to the package's files, so it is not in the tree.
const INSTALLED: &str = "node_modules";

/// A copy of the package with its dependencies, and the library that it loads.
struct Node {
    package: PathBuf,
    library: PathBuf,
}

/// The step: `npm run types` and `npm test` of the package.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        wasm::build(project)?.map_err(outcome::missing)?;
        let library = Library::build(project, Profile::Tests)?;
        let node = Node::set_up(project, Some(&library))?;
        let npm = |library: &Path, command: &str| {
            let npm = Program::parse(&format!("npm --silent {command}"));
            let npm = npm.env("ORBGATE_LIBRARY", library.display().to_string());
            npm.within(&node.package)
        };
        npm(&node.library, "run types").run()?;
        let layout = project.root.join("crates/orbgate-capi/layout.tsv");
        for library in [&node.library, &node.package.join(MODULE)] {
            let tests = npm(library, "test");
            let layout = layout.display().to_string();
            tests.env("ORBGATE_LAYOUT", layout).run()?;
            let runner = Node::over(library).arg(node.package.join(CONFORMANCE));
            conform("node", runner)?;
        }
        Ok(())
    })
}

/// A program of the package over a shared library, or else over WebAssembly: the runner of the cases, or what measures.
pub(crate) fn program(project: &Project, library: Option<&Library>, path: &str) -> Result<Program> {
    if library.is_none() {
        wasm::build(project)?.map_err(outcome::missing)?;
    }
    let node = Node::set_up(project, library)?;
    Ok(Node::over(&node.library).arg(node.package.join(path)))
}

/// Which tool is missing, and what to do.
pub(crate) fn missing() -> Option<String> {
    let version = Program::parse("node --version").read().unwrap_or_default();
    if major(&version).is_none_or(|major| major < OLDEST) {
        let what = format!("Node {OLDEST} or newer is missing: https://nodejs.org");
        return Some(what);
    }
    let npm = Program::parse("npm --version").succeeds();
    (!npm).then(|| "`npm` is missing, which comes with Node".to_owned())
}

/// `v20.20.2`
fn major(version: &str) -> Option<u32> {
    version
        .trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

impl Node {
    fn set_up(project: &Project, library: Option<&Library>) -> Result<Self> {
        missing().map_or(Ok(()), |what| Err(outcome::missing(what)))?;
        let package = project.target.join("xtask").join("node");
        if package.exists() {
            fs::remove_dir_all(&package)?;
        }
        copy(&project.root.join("bindings").join("node"), &package)?;
        let install = "npm ci --prefer-offline --ignore-scripts --no-audit --no-fund";
        Program::parse(install).within(&package).run()?;
        let library = library.map(|library| library.directory.join(shared()));
        let library = library.unwrap_or_else(|| package.join(MODULE));
        Ok(Self { package, library })
    }

    fn over(library: &Path) -> Program {
        Program::parse("node").env("ORBGATE_LIBRARY", library.display().to_string())
    }
}

/// Copies a folder without what npm has installed in it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            if entry.file_name() != INSTALLED {
                copy(&path, &copied)?;
            }
        } else {
            fs::copy(&path, &copied)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn a_node_says_its_version() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("v8.0.0"), Some(8));
        assert_eq!(major(""), None);
    }
}
