//! Debian's and rpm's packages: the library `liborbgate1`, named by its soname, what programs build with, and the command.
//!
//! By the distributions' own tools, which take the commit's time for now by themselves.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::artefact::Artefact;
use super::platform::{Arch, GLIBC, Libc};
use super::release::{Release, fresh, put_licences};
use super::trial::Clean;
use super::{c, command};
use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::setup;
use crate::language::library::SONAME;
use crate::release::install;

/// A package, as Debian has it.
struct Package {
    name: &'static str,
    section: &'static str,
    summary: &'static str,
    depends: String,
}

const LIBRARY: &str = "liborbgate1";
const DEVELOPMENT: &str = "liborbgate-dev";
const COMMAND: &str = "orbgate";

const ABOUT: &str = "Orbgate answers which scope a request needs, whether its token may make the call, \
    whether it consumes orbs, and why.";

fn packages(release: &Release<'_>) -> [Package; 3] {
    let version = &release.version;
    [
        Package {
            name: LIBRARY,
            section: "libs",
            summary: "Scope and orb policy engine: shared library",
            depends: format!("libc6 (>= {GLIBC})"),
        },
        Package {
            name: DEVELOPMENT,
            section: "libdevel",
            summary: "Scope and orb policy engine: headers and static library",
            depends: format!("{LIBRARY} (= {version})"),
        },
        Package {
            name: COMMAND,
            section: "utils",
            summary: "Scope and orb policy engine: the command",
            depends: String::new(),
        },
    ]
}

pub(super) fn set_up() -> Result<StepResult> {
    for (program, package) in [("dpkg-deb", "dpkg"), ("rpmbuild", "rpm"), ("cpio", "cpio")] {
        if let skipped @ StepResult::Skipped(_) = setup::apt(program, package)? {
            return Ok(skipped);
        }
    }
    Ok(StepResult::Passed)
}

pub(super) fn build_deb(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let mut artefacts = Vec::new();
    for arch in release.arches.iter().copied() {
        let lib = format!("lib/{}-linux-gnu", arch.name());
        let stage = roots(release, arch, &lib)?;
        for package in packages(release) {
            let root = stage.join(package.name);
            control(release, arch, &package, &root)?;
            let (version, debian) = (&release.version, arch.debian());
            let file = format!("{}_{version}_{debian}.deb", package.name);
            let file = release.folder("deb")?.join(file);
            let build = Program::parse("dpkg-deb --root-owner-group -Zxz --build");
            let build = build.arg(root.display().to_string());
            release.dated(build.arg(file.display().to_string())).run()?;
            artefacts.push(artefact(file, package.name, arch));
        }
    }
    Ok(artefacts)
}

/// The files of each package below a root of its own.
fn roots(release: &Release<'_>, arch: Arch, lib: &str) -> Result<std::path::PathBuf> {
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
        put_licences(
            release.project,
            &prefix.join("share").join("doc").join(name),
        )?;
    }
    // Whatever mask this runs under.
    let mode = Program::parse("chmod -R u=rwX,go=rX");
    mode.arg(stage.display().to_string()).run()?;
    Ok(stage)
}

/// The library's soname moves on by 1 with the ABI, as `ORBGATE_ABI_MAJOR` does: it is in the package's name.
fn control(release: &Release<'_>, arch: Arch, package: &Package, root: &Path) -> Result<()> {
    let folder = root.join("DEBIAN");
    let kib = Program::parse("du --summarize --apparent-size --block-size=1024");
    let kib = kib.arg(root.display().to_string()).read()?;
    let kib = kib.split_whitespace().next().unwrap_or_default();
    let depends = match package.depends.as_str() {
        "" => String::new(),
        depends => format!("Depends: {depends}\n"),
    };
    let text = format!(
        "Package: {}\nVersion: {}\nArchitecture: {}\nSection: {}\nPriority: optional\n\
        Maintainer: The Orbgate project <orbgate@users.noreply.github.com>\n\
        Homepage: https://github.com/orbgate/orbgate\nInstalled-Size: {kib}\n{depends}\
        Description: {}\n {ABOUT}\n",
        package.name,
        release.version,
        arch.debian(),
        package.section,
        package.summary,
    );
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("control"), text)?;
    if package.name == LIBRARY {
        fs::write(folder.join("triggers"), "activate-noawait ldconfig\n")?;
        let shlibs = format!("liborbgate 1 {LIBRARY} (>= {})\n", release.version);
        fs::write(folder.join("shlibs"), shlibs)?;
    }
    Ok(())
}

fn artefact(file: std::path::PathBuf, package: &str, arch: Arch) -> Artefact {
    match package {
        COMMAND => Artefact::new(file, "orbgate-cli", [arch.with(Libc::Musl).target()]),
        _ => Artefact::new(file, "orbgate-capi", [arch.with(Libc::Gnu).target()]),
    }
}

pub(super) fn build_rpm(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let mut artefacts = Vec::new();
    for arch in release.arches.iter().copied() {
        let stage = roots(release, arch, "lib64")?;
        let top = fresh(release.home.join("rpm"))?;
        let file = top.join("orbgate.spec");
        fs::write(&file, spec(release, &stage)?)?;
        let build = Program::parse("rpmbuild -bb --quiet");
        let build = [
            format!("_topdir {}", top.display()),
            "_buildhost orbgate".to_owned(),
            "use_source_date_epoch_as_buildtime 1".to_owned(),
            "clamp_mtime_to_source_date_epoch 1".to_owned(),
            "_binary_payload w9.xzdio".to_owned(),
            // What is packed is done: nothing is stripped, compressed or byte-compiled here.
            "__os_install_post %{nil}".to_owned(),
            "debug_package %{nil}".to_owned(),
            "_build_id_links none".to_owned(),
        ]
        .into_iter()
        .fold(build, |build, define| build.arg("--define").arg(define));
        let build = build.arg("--target").arg(format!("{}-linux", arch.name()));
        let build = build.arg(file.display().to_string());
        release.dated(build).run()?;
        for package in [LIBRARY, "liborbgate-devel", COMMAND] {
            let name = format!("{package}-{}-1.{}.rpm", release.version, arch.name());
            let built = top.join("RPMS").join(arch.name()).join(&name);
            ensure!(built.exists(), "rpmbuild made no {name}");
            let file = release.folder("rpm")?.join(name);
            fs::copy(&built, &file)?;
            artefacts.push(artefact(file, package, arch));
        }
    }
    Ok(artefacts)
}

/// One source for the three packages, whose files are there.
fn spec(release: &Release<'_>, stage: &Path) -> Result<String> {
    let [library, development, command] = packages(release);
    let mut text = format!(
        "Name: {COMMAND}\nVersion: {version}\nRelease: 1\nSummary: {}\nLicense: MIT OR Apache-2.0\n\
        URL: https://github.com/orbgate/orbgate\n%description\n{ABOUT}\n\
        %package -n {LIBRARY}\nSummary: {}\n%description -n {LIBRARY}\n{ABOUT}\n\
        %post -n {LIBRARY} -p /sbin/ldconfig\n%postun -n {LIBRARY} -p /sbin/ldconfig\n\
        %package -n liborbgate-devel\nSummary: {}\nRequires: {LIBRARY} = {version}\n\
        %description -n liborbgate-devel\n{ABOUT}\n%install\n",
        command.summary,
        library.summary,
        development.summary,
        version = release.version,
    );
    for (name, rpm) in [
        (LIBRARY, "-n liborbgate1"),
        (DEVELOPMENT, "-n liborbgate-devel"),
        (COMMAND, ""),
    ] {
        let root = stage.join(name);
        let list = stage.join(format!("{name}.files"));
        let find = Program::parse("find . ( -type f -o -type l ) -printf /%P\\n");
        let files = find.within(&root).read()?;
        let mut files: Vec<_> = files.lines().collect();
        files.sort_unstable();
        fs::write(&list, files.join("\n"))?;
        let install = format!("cp -a {}/. %{{buildroot}}/\n", root.display());
        text = text.replace("%install\n", &format!("%install\n{install}"));
        text.push_str(&format!("%files {rpm} -f {}\n", list.display()));
    }
    Ok(text)
}

/// From the packages, unpacked into a root of their own, programs build and the command decides.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean, kind: &str) -> Result<()> {
    for arch in release.arches.iter().copied() {
        let root = fresh(clean.home.join(kind).join(arch.name()))?;
        let end = match kind {
            "deb" => format!("_{}.deb", arch.debian()),
            _ => format!(".{}.rpm", arch.name()),
        };
        for entry in fs::read_dir(release.dist.join(kind))? {
            let file = entry?.path();
            let file = file.display();
            if file.to_string().ends_with(&end) {
                let unpack = match kind {
                    "deb" => clean
                        .program("dpkg-deb --extract")
                        .arg(file.to_string())
                        .arg("."),
                    _ => {
                        let pipe = format!(
                            "rpm2cpio '{file}' | cpio --extract --quiet --make-directories"
                        );
                        clean.program("sh -c").arg(pipe)
                    }
                };
                unpack.within(&root).run()?;
            }
        }
        let lib = match kind {
            "deb" => format!("lib/{}-linux-gnu", arch.name()),
            _ => "lib64".to_owned(),
        };
        let prefix = root.join("usr");
        c::check(release, clean, arch.with(Libc::Gnu), &prefix, &lib)?;
        let readme = release.project.root.join("crates/orbgate-cli/README.md");
        let command = prefix.join("bin").join("orbgate");
        command::check(clean, arch, &command, &readme)?;
    }
    Ok(())
}
