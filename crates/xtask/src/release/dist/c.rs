//! The C library: an archive for each platform, which is a prefix that may be unpacked anywhere.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::artefact::Artefact;
use super::platform::{Arch, Libc, Platform};
use super::release::{Release, put, put_licences};
use super::trial::{Clean, FIRST, copy};
use crate::release::install;

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let mut artefacts = Vec::new();
    for platform in release.platforms() {
        let name = name(release, platform);
        let stage = release.stage("c")?;
        let root = stage.join(&name);
        let built = release.libraries(platform)?;
        install::lay_out(release.project, &root, "lib", &built)?;
        put_licences(release.project, &root)?;
        let sources = release.project.root.join("bindings/c");
        put(&sources.join("README.md"), &root, "README.md")?;
        copy(&sources.join("example"), &root.join("example"))?;
        let archive = release.folder("c")?.join(format!("{name}.tar.gz"));
        release.tar(&stage, &name, &archive)?;
        artefacts.push(Artefact::new(archive, "orbgate-capi", [platform.target()]));
    }
    Ok(artefacts)
}

fn name(release: &Release<'_>, platform: Platform) -> String {
    format!("liborbgate-{}-{}", release.version, platform.name())
}

/// From each archive: its own example, and the first programs and the cases of C and C++.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    for platform in release.platforms() {
        let name = name(release, platform);
        let archive = release.dist.join("c").join(format!("{name}.tar.gz"));
        clean.unpack(&archive, "c")?;
        let prefix = clean.home.join("c").join(name);
        check(release, clean, platform, &prefix, "lib")?;
    }
    Ok(())
}

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linking {
    Shared,
    /// With `liborbgate.a`, and with the system's libraries as they come.
    Archive,
    /// With everything in one file.
    Whole,
}

/// Programs build with the library of a prefix, and run.
pub(super) fn check(
    release: &Release<'_>,
    clean: &Clean,
    platform: Platform,
    prefix: &Path,
    lib: &str,
) -> Result<()> {
    let linkings: &[_] = match platform.libc {
        Libc::Musl => &[Linking::Whole],
        Libc::Gnu => &[Linking::Shared, Linking::Archive],
    };
    let run = |program: PathBuf| {
        let library = format!("LD_LIBRARY_PATH={}", prefix.join(lib).display());
        clean.emulated(platform.arch, &library).arg(program)
    };
    let example = prefix.join("example/authorize.c");
    for linking in linkings.iter().copied() {
        let build = |language: &str, source: &Path| -> Result<PathBuf> {
            let program = clean
                .home
                .join(format!("{language}-{linking:?}-{}", platform.name()));
            let compile = clean.program(&compiler(release, platform, language));
            let compile = compile.arg(source);
            let compile = match linking {
                Linking::Shared => compile,
                Linking::Archive => compile.arg("-l:liborbgate.a"),
                Linking::Whole => compile.arg("-static"),
            };
            let flags = pkg_config(clean, &prefix.join(lib), linking)?;
            compile.args(flags).path("-o", &program).run()?;
            Ok(program)
        };
        for language in ["c", "cpp"] {
            let sources = clean.sources.join(language);
            let first = clean.home.join(format!("first.{language}"));
            clean.write_first(&sources.join("README.md"), language, &first)?;
            clean.prints(&run(build(language, &first)?), FIRST)?;
            let runner = sources
                .join("conformance")
                .join(format!("conformance.{language}"));
            clean.conforms(run(build(language, &runner)?))?;
        }
        if example.exists() {
            let asked =
                run(build("c", &example)?).words("PUT /api/v1/external/orbs user read:orbs");
            let refused =
                "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nAllow: GET\r\n\r\n";
            clean.prints(&asked, refused)?;
        }
    }
    Ok(())
}

/// The compiler for a platform on this machine.
fn compiler(release: &Release<'_>, platform: Platform, language: &str) -> String {
    let (zig, gcc, standard) = match language {
        "c" => ("cc", "gcc", "-std=c11"),
        _ => ("c++", "g++", "-std=c++17"),
    };
    let compiler = match platform.libc {
        // Debian's compiler for musl has glibc's unwinder. Zig's has musl's, for every processor. It builds musl when it is first asked
        // to, and keeps it.
        Libc::Musl => format!(
            "env ZIG_GLOBAL_CACHE_DIR={} {} -m ziglang {zig} -target {}-linux-musl",
            release.home.join("zig").display(),
            release.tools().join("bin/python").display(),
            platform.arch.name(),
        ),
        Libc::Gnu if platform.arch == Arch::HOST => zig.to_owned(),
        Libc::Gnu => format!("{}-{gcc}", platform.name()),
    };
    format!("{compiler} {standard}")
}

fn pkg_config(clean: &Clean, folder: &Path, linking: Linking) -> Result<Vec<String>> {
    let query = clean.program("pkg-config --cflags --libs orbgate");
    let query = query.arg(format!(
        "--with-path={}",
        folder.join("pkgconfig").display()
    ));
    let query = match linking {
        Linking::Shared => query,
        Linking::Archive | Linking::Whole => query.arg("--static"),
    };
    let flags = query.read()?;
    let flags = flags.split_whitespace();
    // The archive is named by its file.
    let flags = flags.filter(|flag| linking != Linking::Archive || *flag != "-lorbgate");
    Ok(flags.map(str::to_owned).collect())
}
