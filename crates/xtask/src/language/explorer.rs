//! `cargo xtask explorer`: the explorer's page, which the command `orbgate explore` serves, and its tests in a browser.

use std::path::PathBuf;

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::{node, wasm};

/// What a build of the command takes the page from.
pub(crate) const VARIABLE: &str = "ORBGATE_EXPLORER";

/// Builds the page, then the command with it.
pub(crate) fn run(project: &Project) -> Result<()> {
    let command = command(project)?;
    println!("{}", command.display());
    Ok(())
}

/// The page, one HTML file.
pub(crate) fn page(project: &Project) -> Result<PathBuf> {
    node::ready()?;
    let module = wasm::questions(project)?;
    let page = project.target.join("xtask/explorer/explorer.html");
    let folder = project.root.join("explorer");
    let install = "npm ci --prefer-offline --ignore-scripts --no-audit --no-fund";
    Program::parse(install).within(&folder).run()?;
    Program::parse("npm --silent run types").within(&folder).run()?;
    let build = Program::parse("node build.mjs").arg(module).arg(&page);
    build.within(&folder).run()?;
    Ok(page)
}

/// The command with the page in it, as tests build it.
fn command(project: &Project) -> Result<PathBuf> {
    let page = page(project)?.display().to_string();
    // A folder of its own, so that the commands of other steps stay as they are.
    let folder = project.target.join("xtask/explorer/target");
    let build = Program::parse("cargo build -p orbgate-cli --all-features --target-dir");
    build.arg(&folder).env(VARIABLE, page).run()?;
    Ok(folder.join("debug/orbgate"))
}

/// The step `explorer`.
pub(crate) fn test(project: &Project) -> Result<()> {
    setup::apt("chromium", "chromium")?;
    let page = page(project)?.display().to_string();
    let command = command(project)?.display().to_string();
    let tests = Program::parse("npm --silent test").env("ORBGATE_PAGE", page);
    let tests = tests.env("ORBGATE_COMMAND", command);
    tests.within(&project.root.join("explorer")).run()
}
