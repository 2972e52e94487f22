//! Go: the files of a module proxy, so that `go get` with `GOPROXY=file://…/dist/go` has the module as a tag of it would give it; and the
//! tag, as a file that git fetches from.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::artefact::Artefact;
use super::platform::{Arch, Libc};
use super::release::{Release, put};
use super::trial::Clean;
use crate::kit::outcome::missing;
use crate::kit::program::Program;
use crate::language::{go_engines, wasm};
use crate::release::go_module::{self, Tagged};
use crate::release::go_user::{Native, Users};

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let (folder, stage) = (release.folder("go")?, release.stage("go")?);
    let (module, home) = (stage.join("bindings/go"), release.stage("go-tag")?);
    put_module(release, &module)?;
    let (root, commit) = (&release.project.root, &release.commit);
    let tagged = Tagged::new(root, commit, &release.version, &stage, &home)?;
    tagged.ensure_only_made(commit)?;
    let bundle = folder.join("tag.bundle");
    tagged.bundle(commit, &bundle)?;
    let mut files = tagged.write_proxy(&folder)?;
    files.push(bundle);
    let sources = |file| Artefact::new(file, "", []);
    let mut artefacts: Vec<_> = files.into_iter().map(sources).collect();
    // The archive and the bundle have the engines.
    for end in [0, artefacts.len().saturating_sub(1)] {
        if let Some(artefact) = artefacts.get_mut(end) {
            artefact.package = "orbgate-capi".to_owned();
            let libraries = release.arches.iter();
            let libraries = libraries.map(|arch| arch.with(Libc::Gnu).target());
            artefact.targets = libraries.chain([wasm::TARGET.to_owned()]).collect();
            artefact.needs = needs(&fs::read_to_string(module.join("go.mod"))?);
        }
    }
    Ok(artefacts)
}

/// The module's folder: what git has of it, and what is made.
fn put_module(release: &Release<'_>, module: &Path) -> Result<()> {
    let source = release.project.root.join("bindings/go");
    let files = Program::parse("git ls-files").within(&source).read()?;
    for file in files.lines().map(Path::new) {
        let folder = file.parent().unwrap_or(Path::new(""));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        put(&source.join(file), &module.join(folder), &name)?;
    }
    let package = module.join("orbgate");
    let engine = wasm::build(release.project)?.map_err(missing)?;
    put(&engine, &package, "orbgate.wasm")?;
    for arch in &release.arches {
        let built = release.libraries(arch.with(Libc::Gnu))?;
        go_engines::put(&built, &package, arch.debian())?;
    }
    Ok(())
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

/// Everybody who gets it, with and without a C compiler.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let home = clean.home.join("go");
    let tried = users(release, &home);
    go_module::writable(&home)?;
    tried
}

fn users(release: &Release<'_>, home: &Path) -> Result<()> {
    let proxy = release.dist.join("go");
    let users = Users::new(release.project, &proxy, home)?;
    users.without_compiler()?;
    for arch in release.arches.iter().copied() {
        users.with_compiler(&match arch == Arch::HOST {
            true => Native::own(arch.debian()),
            false => Native::other(arch.debian(), arch.name()),
        })?;
    }
    Ok(())
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
