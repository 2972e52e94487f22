//! Rust: the archive of each published crate, each after those that it depends on.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Result, ensure};

use super::artefact::Artefact;
use super::release::Release;
use crate::kit::outcome::settled;
use crate::kit::project::{Package, Project};
use crate::release::package;

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let folder = release.folder("rust")?;
    let mut artefacts = Vec::new();
    package::pack(release.project)?;
    for package in in_order(release.project)? {
        let name = package::archive(package);
        let built = release.project.target.join("package").join(&name);
        fs::copy(&built, folder.join(&name))?;
        // The name lives as long as the program, which ends after this.
        let package: &'static str = package.name.to_string().leak();
        artefacts.push(Artefact::new(folder.join(&name), package, []));
    }
    Ok(artefacts)
}

/// The order in which they can be published.
fn in_order(project: &Project) -> Result<Vec<&Package>> {
    let mut left: Vec<_> = project.published().collect();
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let names: BTreeSet<_> = left
            .iter()
            .map(|package| package.name.to_string())
            .collect();
        let (ready, waiting): (Vec<_>, Vec<_>) = left.into_iter().partition(|package| {
            let mut needs = package.dependencies.iter();
            !needs.any(|need| names.contains(&need.name) && !need.req.comparators.is_empty())
        });
        ensure!(
            !ready.is_empty(),
            "crates that depend on each other: {names:?}"
        );
        ordered.extend(ready);
        left = waiting;
    }
    Ok(ordered)
}

/// Rust's users have Rust: the archives build together, and each is checked without the features that the others ask for.
pub(super) fn attempt(release: &Release<'_>) -> Result<()> {
    settled(package::run(release.project)?)?;
    for package in in_order(release.project)? {
        let check = package::unpacked(release.project, "check").arg("--package");
        check.arg(package.name.as_str()).run()?;
    }
    Ok(())
}
