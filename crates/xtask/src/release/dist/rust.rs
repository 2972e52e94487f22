//! Rust: the archive of each published crate, as `cargo publish --workspace` uploads it.

use std::fs;

use anyhow::Result;

use super::artefact::Artefact;
use super::release::Release;
use crate::kit::outcome::settled;
use crate::release::package;

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let folder = release.folder("rust")?;
    package::pack(release.project)?;
    let archives = release.project.published().map(|package| {
        let name = package::archive(package);
        let built = release.project.target.join("package").join(&name);
        fs::copy(&built, folder.join(&name))?;
        Ok(Artefact::new(folder.join(&name), package.name.as_str(), []))
    });
    archives.collect()
}

/// Rust's users have Rust: the archives build together, and each is checked without the features that the others ask for.
pub(super) fn attempt(release: &Release<'_>) -> Result<()> {
    settled(package::run(release.project)?)?;
    for package in release.project.published() {
        let check = package::unpacked(release.project, "check --package");
        check.arg(package.name.as_str()).run()?;
    }
    Ok(())
}
