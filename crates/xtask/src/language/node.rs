//! The step `node`: the Node package, set up as npm does and tested by its own `npm run types` and `npm test`, over the shared library and
//! over WebAssembly.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::conform;
use crate::language::library::{Library, Profile, shared};
use crate::language::wasm;

/// The oldest Node that the package is for.
const OLDEST: u32 = 20;

/// What answers the cases.
pub(crate) const CONFORMANCE: &str = "conformance/conformance.js";

/// The package with its dependencies.
struct Node {
    package: PathBuf,
}

/// The step.
pub(crate) fn run(project: &Project) -> Result<()> {
    let module = wasm::build(project)?;
    let library = Library::build(project, Profile::Tests)?;
    let library = library.directory.join(shared());
    let node = Node::set_up(project)?;
    node.over(&library, "npm --silent run types").run()?;
    for library in [&library, &module] {
        let layout = project.root.join("crates/orbgate-capi/layout.tsv");
        let tests = node.over(library, "npm --silent test");
        let layout = layout.display().to_string();
        tests.env("ORBGATE_LAYOUT", layout).run()?;
        conform("node", node.script(library, CONFORMANCE))?;
    }
    questions(project)
}

/// The package of the module that answers questions.
fn questions(project: &Project) -> Result<()> {
    let module = wasm::questions(project)?.display().to_string();
    let tests = Program::parse("npm --silent test").env("ORBGATE_WASM", module);
    tests.within(&project.root.join("crates/orbgate-wasm/npm")).run()
}

/// A program of the package over a shared library, or else over WebAssembly: what answers the cases, or what measures.
pub(crate) fn program(project: &Project, library: Option<&Library>, path: &str) -> Result<Program> {
    let library = match library {
        Some(library) => library.directory.join(shared()),
        None => wasm::build(project)?,
    };
    Ok(Node::set_up(project)?.script(&library, path))
}

/// Whether Node and npm are there.
pub(crate) fn ready() -> Result<()> {
    let version = Program::parse("node --version").read().unwrap_or_default();
    let is_new = major(&version).is_some_and(|major| major >= OLDEST);
    let is_there = is_new && Program::parse("npm --version").succeeds();
    ensure!(is_there, "Node {OLDEST} or newer with npm is missing: https://nodejs.org");
    Ok(())
}

/// `v20.20.2`
fn major(version: &str) -> Option<u32> {
    let (_, version) = version.split_once('v')?;
    version.split('.').next()?.parse().ok()
}

impl Node {
    fn set_up(project: &Project) -> Result<Self> {
        ready()?;
        let package = project.root.join("bindings").join("node");
        let install = "npm ci --prefer-offline --ignore-scripts --no-audit --no-fund";
        Program::parse(install).within(&package).run()?;
        Ok(Self { package })
    }

    /// A command in the package's folder.
    fn over(&self, library: &Path, command: &str) -> Program {
        let library = library.display().to_string();
        let command = Program::parse(command).env("ORBGATE_LIBRARY", library);
        command.within(&self.package)
    }

    /// A program of the package, started at the root.
    fn script(&self, library: &Path, path: &str) -> Program {
        let library = library.display().to_string();
        let node = Program::parse("node").env("ORBGATE_LIBRARY", library);
        node.arg(self.package.join(path))
    }
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
