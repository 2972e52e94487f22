//! The step `package`: every published crate builds from its own archive, and has what it needs.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::{Package, Project};

/// What every archive carries, by its path there and at the root.
const EVERYWHERE: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// What the core's archive carries as well.
const CORE: &str = "policy/external.yaml";

pub(crate) fn run(project: &Project) -> Result<StepResult> {
    let cargo = Program::parse("cargo --version").read()?;
    if minor(&cargo).is_none_or(|minor| minor < 90) {
        let cargo = cargo.trim();
        let what = "packages that depend on each other need 1.90 or newer: rustup update";
        return Ok(StepResult::Skipped(format!("this is {cargo}; {what}")));
    }
    if !Program::parse("tar --version").succeeds() {
        return Ok(StepResult::Skipped(
            "`tar` is missing, which unpacks the archives".to_owned(),
        ));
    }
    pack(project)?;
    let home = project.target.join("xtask").join("package");
    unpack(project, &home)?;
    for package in project.published() {
        check_files(project, package, &home.join(package.name.as_str()))?;
    }
    unpacked(project, "build --workspace --all-features").run()?;
    Ok(StepResult::Passed)
}

/// cargo in the workspace of the unpacked archives, with a folder of its own for what it builds.
pub(crate) fn unpacked(project: &Project, command: &str) -> Program {
    let own = project.target.join("xtask");
    let cargo = command
        .split(' ')
        .fold(Program::parse("cargo"), Program::arg);
    let cargo = cargo.within(&own.join("package"));
    cargo.path("--target-dir", &own.join("target"))
}

/// Makes the archive of every published crate.
pub(crate) fn pack(project: &Project) -> Result<()> {
    // Not verified here: cargo keeps what it unpacked for a version, and would verify against the
    // archives of an earlier run.
    let package = Program::parse("cargo package --allow-dirty --no-verify");
    let names = project.published().map(|package| package.name.as_str());
    let package = names.fold(package, |package, name| package.arg("-p").arg(name));
    package.path("--target-dir", &project.target).run()
}

/// Makes a workspace of the archives' contents, in which they find each other.
fn unpack(project: &Project, home: &Path) -> Result<()> {
    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    let mut members = String::new();
    let mut patches = String::new();
    for package in project.published() {
        let name = package.name.as_str();
        fs::create_dir_all(home.join(name))?;
        let archive = project.target.join("package").join(archive(package));
        // With the time of now (-m): archives have one time for all, and cargo would see no change.
        let tar = Program::parse("tar -x -z -m --strip-components=1").path("-f", &archive);
        tar.path("-C", &home.join(name)).run()?;
        members.push_str(&format!("{name:?}, "));
        patches.push_str(&format!("{name} = {{ path = {name:?} }}\n"));
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n[patch.crates-io]\n{patches}"
    );
    fs::write(home.join("Cargo.toml"), manifest)?;
    // The versions that the workspace is tested with.
    fs::copy(project.root.join("Cargo.lock"), home.join("Cargo.lock"))?;
    Ok(())
}

fn check_files(project: &Project, package: &Package, unpacked: &Path) -> Result<()> {
    let archive = archive(package);
    let core = (package.name == "orbgate").then_some(CORE);
    for path in EVERYWHERE.into_iter().chain(core) {
        same_file(&unpacked.join(path), &project.root.join(path))
            .with_context(|| format!("{archive}: {path}"))?;
    }
    println!(
        "{archive} has the licences{}",
        core.map_or("", |_| " and the policy")
    );
    Ok(())
}

/// The archive's file.
pub(crate) fn archive(package: &Package) -> String {
    format!("{}-{}.crate", package.name, package.version)
}

/// The archive has a file, not a link that leads out of it, and the file is the right one.
fn same_file(unpacked: &Path, source: &Path) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(unpacked) else {
        bail!("the archive does not have it");
    };
    ensure!(metadata.is_file(), "not a regular file in the archive");
    let expected = fs::read(source).with_context(|| source.display().to_string())?;
    ensure!(
        fs::read(unpacked)? == expected,
        "differs from {}",
        source.display()
    );
    Ok(())
}

/// The `90` of `cargo 1.90.0 (…)`.
fn minor(cargo: &str) -> Option<u32> {
    cargo.split('.').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn cargo_says_its_version() {
        assert_eq!(
            super::minor("cargo 1.90.0 (840b83a10 2025-07-30)"),
            Some(90)
        );
        assert_eq!(
            super::minor("cargo 1.101.0-nightly (0 2026-01-01)"),
            Some(101)
        );
        assert_eq!(super::minor("something else"), None);
    }
}
