//! The step `package`: every published crate builds from its own archive, and has what it needs.
//!
//! `cargo package --workspace` would verify each archive in a target folder of its own, and build what they share once a crate.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::kit::outcome::{StepResult, missing, step};
use crate::kit::program::Program;
use crate::kit::project::{Package, Project};
use crate::kit::setup;

/// What every archive carries, by its path there and at the root; and what the core's carries as well.
const EVERYWHERE: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
const CORE: &str = "policy/external.yaml";

pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        let cargo = Program::parse("cargo --version").read()?;
        if minor(&cargo).is_none_or(|minor| minor < 90) {
            let what = "packages that depend on each other need 1.90 or newer: rustup update";
            return Err(missing(format!("this is {}; {what}", cargo.trim())));
        }
        setup::apt("tar", "tar")?.needed()?;
        pack(project)?;
        unpack(project)?;
        unpacked(project, "check --workspace --all-features").run()
    })
}

/// cargo in the workspace of the unpacked archives. It shares built dependencies with our workspace.
pub(crate) fn unpacked(project: &Project, command: &str) -> Program {
    let cargo = Program::parse("cargo").words(command);
    let cargo = cargo.path("--target-dir", &project.target);
    cargo.within(&project.target.join("xtask").join("package"))
}

/// Makes the archive of every published crate.
pub(crate) fn pack(project: &Project) -> Result<()> {
    // Not verified here: cargo keeps what it unpacked for a version, and would verify against the archives of an earlier run.
    let package = Program::parse("cargo package --allow-dirty --no-verify");
    let names = project.published().map(|package| package.name.as_str());
    let package = names.fold(package, |package, name| package.arg("-p").arg(name));
    package.path("--target-dir", &project.target).run()
}

/// Makes a workspace of the archives' contents, in which they find each other: with the versions and the profile of ours.
fn unpack(project: &Project) -> Result<()> {
    let home = project.target.join("xtask").join("package");
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    let mut members = String::new();
    let mut patches = String::new();
    for package in project.published() {
        let name = package.name.as_str();
        let folder = home.join(name);
        fs::create_dir_all(&folder)?;
        let archive = project.target.join("package").join(archive(package));
        // With the time of now (-m): archives have one time for all, and cargo would see no change.
        let tar = Program::parse("tar -x -z -m --strip-components=1").path("-f", &archive);
        tar.path("-C", &folder).run()?;
        for path in EVERYWHERE
            .into_iter()
            .chain((name == "orbgate").then_some(CORE))
        {
            is_file(&folder.join(path), &project.root.join(path))
                .with_context(|| format!("{}: {path}", archive.display()))?;
        }
        members.push_str(&format!("{name:?}, "));
        patches.push_str(&format!("{name} = {{ path = {name:?} }}\n"));
    }
    let profile = project.dev_profile()?;
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n[patch.crates-io]\n{patches}{profile}"
    );
    fs::write(home.join("Cargo.toml"), manifest)?;
    fs::copy(project.root.join("Cargo.lock"), home.join("Cargo.lock"))?;
    Ok(())
}

/// The archive's file.
pub(crate) fn archive(package: &Package) -> String {
    format!("{}-{}.crate", package.name, package.version)
}

/// The archive has a file, not a link that leads out of it, and the file is the right one.
fn is_file(unpacked: &Path, source: &Path) -> Result<()> {
    let metadata = fs::symlink_metadata(unpacked).context("the archive does not have it")?;
    ensure!(metadata.is_file(), "not a regular file in the archive");
    let same = fs::read(unpacked)? == fs::read(source)?;
    ensure!(same, "differs from {}", source.display());
    Ok(())
}

/// The `90` of `cargo 1.90.0 (…)`.
fn minor(cargo: &str) -> Option<u32> {
    cargo.split('.').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn cargo_says_its_version() {
        assert_eq!(minor("cargo 1.101.0-nightly (0 2026-01-01)"), Some(101));
        assert_eq!(minor("something else"), None);
    }
}
