//! Go: the files of a module proxy, so that `go get` with `GOPROXY=file://…/dist/go` has the module as a tag of it would give it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::artefact::Artefact;
use super::platform::{Arch, Libc};
use super::release::{Release, put};
use super::trial::Clean;
use crate::kit::outcome::missing;
use crate::kit::program::Program;
use crate::language::{go_engines, wasm};
use crate::release::go_user::{Native, Users};
use crate::release::{go_module, go_tag};

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let module = stage(release)?;
    let files = go_module::write_proxy(release.project, &module, &release.folder("go")?)?;
    let mut artefacts: Vec<_> = files
        .into_iter()
        .map(|file| Artefact::new(file, "", []))
        .collect();
    if let Some(archive) = artefacts.first_mut() {
        archive.package = "orbgate-capi".to_owned();
        let libraries = release.arches.iter();
        let libraries = libraries.map(|arch| arch.with(Libc::Gnu).target());
        archive.targets = libraries.chain([wasm::TARGET.to_owned()]).collect();
        archive.needs = needs(&fs::read_to_string(module.join("go.mod"))?);
    }
    Ok(artefacts)
}

/// The module's folder: what git has of it, and what is made.
fn stage(release: &Release<'_>) -> Result<PathBuf> {
    let stage = release.stage("go")?;
    let source = release.project.root.join("bindings/go");
    let files = Program::parse("git ls-files").within(&source).read()?;
    for file in files.lines().map(Path::new) {
        let folder = file.parent().unwrap_or(Path::new(""));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        put(&source.join(file), &stage.join(folder), &name)?;
    }
    let package = stage.join("orbgate");
    let engine = wasm::build(release.project)?.map_err(missing)?;
    put(&engine, &package, "orbgate.wasm")?;
    for arch in &release.arches {
        let built = release.libraries(arch.with(Libc::Gnu))?;
        go_engines::put(&built, &package, arch.debian())?;
    }
    Ok(stage)
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

/// Everybody who gets it: from the proxy, with and without a C compiler, and from a repository.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let home = clean.home.join("go");
    let tried = users(release, &home);
    go_module::writable(&home)?;
    tried
}

fn users(release: &Release<'_>, home: &Path) -> Result<()> {
    let proxy = release.dist.join("go");
    let users = Users::new(release.project, &proxy, home)?;
    let sums = users.without_compiler()?;
    for arch in release.arches.iter().copied() {
        users.with_compiler(&match arch == Arch::HOST {
            true => Native::own(arch.debian()),
            false => Native::other(arch.debian(), arch.name()),
        })?;
    }
    let repository = home.join("repository.git");
    let clone = Program::parse("git clone --quiet --bare").arg(&release.project.root);
    clone.arg(&repository).run()?;
    go_tag::tag(&repository, &release.dist, &home.join("tag"))?;
    users.with_repository(&repository, &sums)
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
