//! Go: the files of a module proxy, so that `go get` with `GOPROXY=file://…/dist/go` has the module as a tag of it would give it.

use std::fs;

use anyhow::Result;

use super::manifest::Artefact;
use super::release::Release;
use super::trial::Clean;
use crate::program::Program;
use crate::{go_module, wasm};

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let files = go_module::write_proxy(release.project, &release.folder("go")?)?;
    let mut artefacts: Vec<_> = files
        .into_iter()
        .map(|file| Artefact::new(file, "", []))
        .collect();
    if let Some(archive) = artefacts.first_mut() {
        archive.package = "orbgate-capi";
        archive.targets = vec![wasm::TARGET.to_owned()];
        let module = release.project.root.join("bindings/go/go.mod");
        archive.needs = needs(&fs::read_to_string(module)?);
    }
    Ok(artefacts)
}

/// What a go.mod requires, as package URLs.
fn needs(module: &str) -> Vec<String> {
    let lines = module
        .lines()
        .map(|line| line.trim_start_matches("require "));
    let required = lines.filter_map(|line| {
        let (name, rest) = line.trim().split_once(" v")?;
        let version = rest.split(' ').next()?;
        Some(format!("pkg:golang/{name}@v{version}"))
    });
    required.collect()
}

/// Somebody with Go and nothing else gets it, and runs the first program of the guide and the cases.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let home = clean.home.join("go");
    let installed = go_module::install(release.project, &release.dist.join("go"), &home);
    // Go makes what it has downloaded read-only.
    let chmod = Program::parse("chmod -R u+w").arg(home.display().to_string());
    chmod.run()?;
    installed
}

#[cfg(test)]
mod tests {
    use super::needs;

    #[test]
    fn what_the_module_requires_is_listed() {
        let module = "module a/b\n\ngo 1.24.0\n\nrequire c/d v1.11.0\n\nrequire (\n\te v0.3.0 // indirect\n)\n";
        assert_eq!(
            needs(module),
            ["pkg:golang/c/d@v1.11.0", "pkg:golang/e@v0.3.0"]
        );
    }
}
