//! Debian's and rpm's packages: the library `liborbgate1`, named by its soname, what programs build with, and the command.
//!
//! By the distributions' own tools, which take the commit's time for now by themselves. nfpm and cargo-deb write no `shlibs`, by which
//! Debian's packages that link the library find their dependency.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::artefact::Artefact;
use super::platform::{Arch, GLIBC, Libc};
use super::release::{Release, fresh, put_licences};
use super::trial::Clean;
use super::{c, command};
use crate::kit::program::Program;
use crate::kit::setup;
use crate::language::library::SONAME;
use crate::release::install;

/// The library's soname moves on by 1 with the ABI, as `ORBGATE_ABI_MAJOR` does: it is in the package's name.
const LIBRARY: &str = "liborbgate1";
const DEVELOPMENT: &str = "liborbgate-dev";
const COMMAND: &str = "orbgate";

const CONTROL: &str = include_str!("control.in");
const SPEC: &str = include_str!("orbgate.spec.in");

pub(super) fn set_up() -> Result<()> {
    for (program, package) in [("dpkg-deb", "dpkg"), ("rpmbuild", "rpm"), ("cpio", "cpio")] {
        setup::apt(program, package)?.needed()?;
    }
    Ok(())
}

/// Packs for each processor. The packer gives each file with the name of its package.
pub(super) fn build<F>(release: &Release<'_>, pack: F) -> Result<Vec<Artefact>>
where
    F: Fn(&Release<'_>, Arch) -> Result<Vec<(PathBuf, &'static str)>>,
{
    let mut artefacts = Vec::new();
    for arch in release.arches.iter().copied() {
        for (file, package) in pack(release, arch)? {
            let (package, libc) = match package {
                COMMAND => ("orbgate-cli", Libc::Musl),
                _ => ("orbgate-capi", Libc::Gnu),
            };
            artefacts.push(Artefact::new(file, package, [arch.with(libc).target()]));
        }
    }
    Ok(artefacts)
}

pub(super) fn pack_deb(release: &Release<'_>, arch: Arch) -> Result<Vec<(PathBuf, &'static str)>> {
    let stage = roots(release, arch, &format!("lib/{}-linux-gnu", arch.name()))?;
    let version = &release.version;
    let mut files = Vec::new();
    for (package, section, summary, depends) in [
        (
            LIBRARY,
            "libs",
            "shared library",
            format!("Depends: libc6 (>= {GLIBC})\n"),
        ),
        (
            DEVELOPMENT,
            "libdevel",
            "headers and static library",
            format!("Depends: {LIBRARY} (= {version})\n"),
        ),
        (COMMAND, "utils", "the command", String::new()),
    ] {
        let root = stage.join(package);
        let folder = root.join("DEBIAN");
        let kib = Program::parse("du --summarize --apparent-size --block-size=1024");
        let kib = kib.arg(&root).read()?;
        let words = [
            ("@NAME@", package),
            ("@VERSION@", version),
            ("@ARCHITECTURE@", arch.debian()),
            ("@SECTION@", section),
            ("@KIB@", kib.split_whitespace().next().unwrap_or_default()),
            (
                "@SUMMARY@",
                &format!("Scope and orb policy engine: {summary}"),
            ),
            ("@DEPENDS@\n", &depends),
        ];
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("control"), install::fill(CONTROL, &words))?;
        if package == LIBRARY {
            fs::write(folder.join("triggers"), "activate-noawait ldconfig\n")?;
            let shlibs = format!("liborbgate 1 {LIBRARY} (>= {version})\n");
            fs::write(folder.join("shlibs"), shlibs)?;
        }
        let file = release.folder("deb")?;
        let file = file.join(format!("{package}_{version}_{}.deb", arch.debian()));
        let build = Program::parse("dpkg-deb --root-owner-group -Zxz --build");
        release.dated(build.arg(&root).arg(&file)).run()?;
        files.push((file, package));
    }
    Ok(files)
}

/// The files of each package below a root of its own.
fn roots(release: &Release<'_>, arch: Arch, lib: &str) -> Result<PathBuf> {
    let stage = release.stage("linux")?;
    let [library, development, command] =
        [LIBRARY, DEVELOPMENT, COMMAND].map(|name| stage.join(name).join("usr"));
    let built = release.libraries(arch.with(Libc::Gnu))?;
    install::lay_out(release.project, &development, lib, &built)?;
    let (from, to) = (development.join(lib), library.join(lib));
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from)? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with(SONAME) {
            fs::rename(from.join(&name), to.join(&name))?;
        }
    }
    command::lay_out(release, arch, &command)?;
    for (name, prefix) in [
        (LIBRARY, library),
        (DEVELOPMENT, development),
        (COMMAND, command),
    ] {
        put_licences(release.project, &prefix.join("share/doc").join(name))?;
    }
    // Under any mask.
    Program::parse("chmod -R u=rwX,go=rX").arg(&stage).run()?;
    Ok(stage)
}

pub(super) fn pack_rpm(release: &Release<'_>, arch: Arch) -> Result<Vec<(PathBuf, &'static str)>> {
    let stage = roots(release, arch, "lib64")?;
    for name in [LIBRARY, DEVELOPMENT, COMMAND] {
        let find = Program::parse("find . ( -type f -o -type l ) -printf /%P\\n");
        let files = find.within(&stage.join(name)).read()?;
        let mut files: Vec<_> = files.lines().collect();
        files.sort_unstable();
        fs::write(stage.join(format!("{name}.files")), files.join("\n"))?;
    }
    let top = fresh(release.home.join("rpm"))?;
    let spec = top.join("orbgate.spec");
    let at = stage.display().to_string();
    let text = install::fill(SPEC, &[("@VERSION@", &release.version), ("@STAGE@", &at)]);
    fs::write(&spec, text)?;
    let build = Program::parse("rpmbuild -bb --quiet --define");
    let build = build.arg(format!("_topdir {}", top.display()));
    let build = build.arg("--target").arg(format!("{}-linux", arch.name()));
    release.dated(build.arg(&spec)).run()?;
    let mut files = Vec::new();
    for package in [LIBRARY, "liborbgate-devel", COMMAND] {
        let name = format!("{package}-{}-1.{}.rpm", release.version, arch.name());
        let file = release.folder("rpm")?.join(&name);
        fs::copy(top.join("RPMS").join(arch.name()).join(&name), &file).context(name)?;
        files.push((file, package));
    }
    Ok(files)
}

/// From the packages, unpacked into a root of their own, programs build and the command decides.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean, kind: &str) -> Result<()> {
    for arch in release.arches.iter().copied() {
        let root = fresh(clean.home.join(kind).join(arch.name()))?;
        let (end, lib, unpack) = match kind {
            "deb" => {
                let lib = format!("lib/{}-linux-gnu", arch.name());
                (
                    format!("_{}.deb", arch.debian()),
                    lib,
                    "dpkg-deb --extract \"$0\" .",
                )
            }
            _ => {
                let unpack = "rpm2cpio \"$0\" | cpio --extract --quiet --make-directories";
                (format!(".{}.rpm", arch.name()), "lib64".to_owned(), unpack)
            }
        };
        for entry in fs::read_dir(release.dist.join(kind))? {
            let file = entry?.path();
            if file.display().to_string().ends_with(&end) {
                let unpack = clean.program("sh -c").arg(unpack).arg(file);
                unpack.within(&root).run()?;
            }
        }
        let prefix = root.join("usr");
        c::check(release, clean, arch.with(Libc::Gnu), &prefix, &lib)?;
        let readme = release.project.root.join("crates/orbgate-cli/README.md");
        command::check(clean, arch, &prefix.join("bin/orbgate"), &readme)?;
    }
    Ok(())
}
