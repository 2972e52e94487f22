//! What a release is: its files with their digests, what each was built from, and a bill of materials for each.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::artefact::Artefact;
use super::release::{Release, fresh};
use super::sbom;
use crate::kit::program::Program;

/// Empties the folders of these kinds, and gives what the manifest says of the other kinds. A manifest is about one commit: artefacts
/// of another commit are removed, and without a kind everything is.
pub(super) fn keep(release: &Release<'_>, kinds: &[String]) -> Result<Vec<Value>> {
    let mut kept = kept(&release.dist, &release.commit, kinds);
    let is_there = |file: &Value, key| release.dist.join(text(file, key)).exists();
    kept.retain(|file| is_there(file, "file") && is_there(file, "sbom"));
    if kept.is_empty() {
        fresh(release.dist.clone())?;
    }
    for kind in kinds {
        fresh(release.dist.join(kind))?;
    }
    Ok(kept)
}

fn kept(dist: &Path, commit: &str, kinds: &[String]) -> Vec<Value> {
    let manifest = fs::read_to_string(dist.join("manifest.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
    if kinds.is_empty() || text(&manifest, "commit") != commit {
        return Vec::new();
    }
    let files = manifest.get("files").and_then(Value::as_array).cloned();
    let of_others = |file: &Value| {
        let kind = text(file, "file").split('/').next().unwrap_or_default();
        !kinds.iter().any(|made| made == kind)
    };
    files.into_iter().flatten().filter(of_others).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Writes a bill of materials for each artefact, then `manifest.json` and `SHA256SUMS`, with the artefacts kept from an earlier run.
pub(super) fn write(
    release: &Release<'_>,
    artefacts: &[Artefact],
    mut files: Vec<Value>,
) -> Result<()> {
    for artefact in artefacts {
        let name = artefact.file.strip_prefix(&release.dist);
        let name = name.with_context(|| artefact.file.display().to_string())?;
        let name = name.display().to_string();
        let digest = digests(&release.dist, core::slice::from_ref(&name))?;
        let digest = digest.split(' ').next().unwrap_or_default();
        let bill = format!("{name}.cdx.json");
        let bom = sbom::bill(release, artefact, &name, digest)?;
        fs::write(release.dist.join(&bill), bom)?;
        let size = fs::metadata(&artefact.file)?.len();
        println!("{size:>10}  {name}");
        files.push(json!({
            "file": name,
            "size": size,
            "sha256": digest,
            "crate": artefact.package,
            "targets": artefact.targets,
            "sbom": bill,
        }));
    }
    let names = files
        .iter()
        .flat_map(|file| ["file", "sbom"].map(|key| text(file, key).to_owned()));
    let mut names: Vec<_> = names.chain(["manifest.json".to_owned()]).collect();
    names.sort();
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
    let sums = digests(&release.dist, &names)?;
    Ok(fs::write(release.dist.join("SHA256SUMS"), sums)?)
}

/// The digests of files as `sha256sum` writes and checks them.
pub(super) fn digests(folder: &Path, names: &[String]) -> Result<String> {
    Program::parse("sha256sum")
        .args(names)
        .within(folder)
        .read()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::kept;

    #[test]
    fn what_other_kinds_made_of_the_same_commit_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let manifest =
            r#"{"commit": "a", "files": [{"file": "c/x.tar.gz"}, {"file": "deb/y.deb"}]}"#;
        fs::write(home.path().join("manifest.json"), manifest).unwrap();
        let kept = |commit: &str, kinds: &[&str]| {
            let kinds: Vec<_> = kinds.iter().map(ToString::to_string).collect();
            let kept = kept(home.path(), commit, &kinds);
            let names = kept
                .iter()
                .map(|file| file["file"].as_str().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(kept("a", &["c", "rpm"]), ["deb/y.deb"]);
        assert_eq!(kept("a", &["go"]).len(), 2);
        assert!(kept("b", &["go"]).is_empty(), "another commit");
        assert!(kept("a", &[]).is_empty(), "everything anew");
    }
}
