//! What a release is: its files with their digests, what each was built from, and a bill of materials for each.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::artefact::Artefact;
use super::release::Release;
use super::sbom;
use crate::kit::program::Program;

/// Writes a bill of materials beside each artefact, then `manifest.json` and `SHA256SUMS`.
pub(super) fn write(release: &Release<'_>, artefacts: &[Artefact]) -> Result<()> {
    let mut files = Vec::new();
    let mut names = Vec::new();
    for artefact in artefacts {
        let name = name(release, &artefact.file)?;
        let digest = digests(&release.dist, core::slice::from_ref(&name))?;
        let digest = digest.split(' ').next().unwrap_or_default();
        let bill = format!("{name}.cdx.json");
        let bom = sbom::bill(release, artefact, &name, digest)?;
        fs::write(release.dist.join(&bill), bom)?;
        files.push(json!({
            "file": name,
            "size": fs::metadata(&artefact.file)?.len(),
            "sha256": digest,
            "crate": artefact.package,
            "targets": artefact.targets,
            "sbom": bill,
        }));
        names.extend([name, bill]);
    }
    let manifest = json!({
        "name": "orbgate",
        "version": release.version,
        "commit": release.commit,
        "time": release.epoch.parse::<u64>()?,
        "rustc": Program::parse("rustc --version").read()?.trim(),
        "files": files,
    });
    let text = serde_json::to_string_pretty(&manifest)?;
    fs::write(release.dist.join("manifest.json"), format!("{text}\n"))?;
    names.push("manifest.json".to_owned());
    names.sort();
    let sums = digests(&release.dist, &names)?;
    fs::write(release.dist.join("SHA256SUMS"), sums)?;
    for artefact in artefacts {
        let size = fs::metadata(&artefact.file)?.len();
        println!("{size:>10}  {}", name(release, &artefact.file)?);
    }
    Ok(())
}

/// A file's path in the release.
fn name(release: &Release<'_>, file: &Path) -> Result<String> {
    let name = file.strip_prefix(&release.dist);
    let name = name.with_context(|| file.display().to_string())?;
    Ok(name.display().to_string())
}

/// The digests of files as `sha256sum` writes and checks them.
pub(super) fn digests(folder: &Path, names: &[String]) -> Result<String> {
    let sum = Program::parse("sha256sum").within(folder);
    names.iter().cloned().fold(sum, Program::arg).read()
}
