//! Python: a wheel for each processor, for every CPython from 3.10 on, and the source archive.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::manifest::Artefact;
use super::platform::{Arch, Libc};
use super::release::{Release, fresh};
use super::trial::Clean;
use crate::program::Program;
use crate::python;

const PACKAGE: &str = "orbgate-python";

/// The Python of Debian 12, from whose packages those of other processors are taken.
const DEBIANS: &str = "python3.11";

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let package = release.project.root.join("bindings").join("python");
    let folder = release.folder("python")?;
    let mut artefacts = Vec::new();
    for arch in release.arches.iter().copied() {
        let target = arch.with(Libc::Gnu).target();
        let build = "build --profile published --zig --compatibility manylinux_2_17 --locked";
        let build = build.split(' ').fold(release.tool("maturin"), Program::arg);
        build
            .env("RUSTFLAGS", release.flags())
            .arg("--target")
            .arg(&target)
            .path("--target-dir", &release.project.target)
            .path("--out", &folder)
            .within(&package)
            .run()?;
        let end = format!("_{}.whl", arch.name());
        let wheel = file(&folder, &end)?;
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
        let run = |path: &Path| clean.with("").arg(path.display().to_string());
        run(python)
            .arg("-m")
            .arg("venv")
            .arg("--clear")
            .arg(venv.display().to_string())
            .run()?;
        let python = venv.join("bin").join("python");
        let install = "-m pip install --quiet --disable-pip-version-check --no-index";
        let install = install.split(' ').fold(run(&python), Program::arg);
        install.arg(wheel.display().to_string()).run()?;
        let guide = clean.sources.join("python");
        let first = clean.home.join("first.py");
        clean.write(
            &first,
            &clean.first_block(&guide.join("README.md"), "python")?,
        )?;
        clean.prints(&run(&python).arg(first.display().to_string()), "")?;
        let runner = guide.join("conformance").join("conformance.py");
        clean.conforms(run(&python).arg(runner.display().to_string()))?;
    }
    for arch in release
        .arches
        .iter()
        .copied()
        .filter(|arch| *arch != Arch::HOST)
    {
        emulate(release, clean, arch, &folder)?;
    }
    Ok(())
}

/// The wheel of another processor under qemu, in Debian's Python for it.
fn emulate(release: &Release<'_>, clean: &Clean, arch: Arch, folder: &Path) -> Result<()> {
    let root = debian(release, arch)?;
    let wheel = file(folder, &format!("_{}.whl", arch.name()))?;
    let inside = clean.home.join("wheel");
    let unzip = clean.program("python3 -m zipfile --extract");
    let unzip = unzip.arg(wheel.display().to_string());
    unzip.arg(inside.display().to_string()).run()?;
    let lib = |folder: &str| format!("{}/{folder}/{}-linux-gnu", root.display(), arch.name());
    let python = || {
        clean
            .with(&format!("PYTHONPATH={}", inside.display()))
            .arg(format!("PYTHONHOME={}", root.join("usr").display()))
            .arg(format!("LD_LIBRARY_PATH={}:{}", lib("usr/lib"), lib("lib")))
            .arg(format!("qemu-{}", arch.name()))
            .arg("-L")
            .arg(root.display().to_string())
            .arg(root.join("usr/bin").join(DEBIANS).display().to_string())
    };
    let first = clean.home.join("first.py");
    clean.prints(&python().arg(first.display().to_string()), "")?;
    let runner = clean.sources.join("python/conformance/conformance.py");
    clean.conforms(python().arg(runner.display().to_string()))
}

/// Debian's packages of its Python for a processor, unpacked; apt has a state of its own for them and installs nothing.
fn debian(release: &Release<'_>, arch: Arch) -> Result<std::path::PathBuf> {
    let home = release.home.join(format!("debian-{}", arch.debian()));
    let root = home.join("root");
    if root.exists() {
        return Ok(root);
    }
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(home.join(folder))?;
    }
    fs::write(home.join("state/status"), "")?;
    let apt = |command: &str| {
        let (home, debian) = (home.display(), arch.debian());
        let options = [
            format!("Dir::State={home}/state"),
            format!("Dir::State::status={home}/state/status"),
            format!("Dir::Cache={home}/cache"),
            format!("APT::Architecture={debian}"),
            format!("APT::Architectures={debian}"),
        ];
        let apt = Program::parse("apt-get --quiet");
        let apt = options
            .iter()
            .fold(apt, |apt, option| apt.arg("-o").arg(option));
        command.split(' ').fold(apt, Program::arg)
    };
    apt("update").run()?;
    let install = apt("--yes --download-only --no-install-recommends install");
    let install = install.arg(format!("{DEBIANS}-minimal"));
    install.arg(format!("lib{DEBIANS}-stdlib")).run()?;
    // Under another name until everything is there.
    let part = fresh(home.join("part"))?;
    for entry in fs::read_dir(home.join("cache/archives"))? {
        let file = entry?.path();
        if file.extension().is_some_and(|end| end == "deb") {
            let extract = Program::parse("dpkg-deb --extract");
            let extract = extract.arg(file.display().to_string());
            extract.arg(part.display().to_string()).run()?;
        }
    }
    fs::rename(part, &root)?;
    Ok(root)
}
