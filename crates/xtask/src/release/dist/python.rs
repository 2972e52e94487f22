//! Python: a wheel for each processor, for every CPython from 3.10 on, and the source archive.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::artefact::Artefact;
use super::debian::{Debian, PYTHON};
use super::platform::{Arch, Libc};
use super::release::Release;
use super::trial::Clean;
use crate::language::python;

const PACKAGE: &str = "orbgate-python";

/// Bytes of a wheel.
const MOST: u64 = 1_500_000;

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let package = release.project.root.join("bindings").join("python");
    let folder = release.folder("python")?;
    let mut artefacts = Vec::new();
    for arch in release.arches.iter().copied() {
        let target = arch.with(Libc::Gnu).target();
        let build = "build --profile published --zig --compatibility manylinux_2_17 --locked";
        let build = release.tool("maturin").words(build);
        build
            .env("RUSTFLAGS", release.flags())
            .args(["--target", &target])
            .path("--target-dir", &release.project.target)
            .path("--out", &folder)
            .within(&package)
            .run()?;
        let end = format!("_{}.whl", arch.name());
        let wheel = file(&folder, &end)?;
        let size = fs::metadata(&wheel)?.len();
        ensure!(size < MOST, "{} has {size} bytes", wheel.display());
        artefacts.push(Artefact::new(wheel, PACKAGE, [target]));
    }
    let sdist = release.tool("maturin").arg("sdist");
    sdist.path("--out", &folder).within(&package).run()?;
    artefacts.push(Artefact::new(file(&folder, ".tar.gz")?, PACKAGE, []));
    Ok(artefacts)
}

/// The file with this end.
fn file(folder: &Path, end: &str) -> Result<std::path::PathBuf> {
    let mut files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let file = files.find(|file| file.display().to_string().ends_with(end));
    file.with_context(|| format!("no {end} in {}", folder.display()))
}

/// In a new environment of the oldest and of the newest Python, the wheel alone, without an index to look into.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let folder = release.dist.join("python");
    let wheel = file(&folder, &format!("_{}.whl", Arch::HOST.name()))?;
    let pythons = python::executables();
    let ends = pythons.first().into_iter().chain(pythons.last());
    for python in ends {
        let venv = clean.home.join("venv");
        let run = |path: &Path| clean.with("").arg(path);
        run(python).words("-m venv --clear").arg(&venv).run()?;
        let python = venv.join("bin/python");
        let install = "-m pip install --quiet --disable-pip-version-check --no-index";
        run(&python).words(install).arg(&wheel).run()?;
        let guide = clean.sources.join("python");
        let first = clean.home.join("first.py");
        clean.write_first(&guide.join("README.md"), "python", &first)?;
        clean.prints(&run(&python).arg(first), "")?;
        clean.conforms(run(&python).arg(guide.join("conformance/conformance.py")))?;
    }
    for arch in release.other_arches() {
        emulate(release, clean, arch, &folder)?;
    }
    Ok(())
}

/// The wheel of another processor under qemu, in Debian's Python for it.
fn emulate(release: &Release<'_>, clean: &Clean, arch: Arch, folder: &Path) -> Result<()> {
    let debian = Debian::new(release, arch)?;
    let wheel = file(folder, &format!("_{}.whl", arch.name()))?;
    let inside = clean.home.join("wheel");
    let unzip = clean.program("python3 -m zipfile --extract");
    unzip.arg(wheel).arg(&inside).run()?;
    let python = || {
        let clean = clean.with(&format!("PYTHONPATH={}", inside.display()));
        let clean = clean.arg(format!("PYTHONHOME={}", debian.root.join("usr").display()));
        debian.run(clean, &debian.root.join("usr/bin").join(PYTHON))
    };
    let first = clean.home.join("first.py");
    clean.prints(&python().arg(first), "")?;
    clean.conforms(python().arg(clean.sources.join("python/conformance/conformance.py")))
}
