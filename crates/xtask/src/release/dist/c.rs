//! The C library: an archive for each platform, which is a prefix that may be unpacked anywhere.

use std::path::Path;

use anyhow::Result;

use super::artefact::Artefact;
use super::platform::{Arch, Libc, Platform};
use super::release::{Release, put, put_licences};
use super::trial::Clean;
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
        let readme = release.project.root.join("bindings/c/README.md");
        put(&readme, &root, "README.md")?;
        let archive = release.folder("c")?.join(format!("{name}.tar.gz"));
        release.tar(&stage, &name, &archive)?;
        artefacts.push(Artefact::new(archive, "orbgate-capi", [platform.target()]));
    }
    Ok(artefacts)
}

fn name(release: &Release<'_>, platform: Platform) -> String {
    format!("liborbgate-{}-{}", release.version, platform.name())
}

/// From each archive, the first examples and the cases of C and C++, with both libraries.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    for platform in release.platforms() {
        let name = name(release, platform);
        let archive = release.dist.join("c").join(format!("{name}.tar.gz"));
        clean.unpack(&archive, "c")?;
        check(
            release,
            clean,
            platform,
            &clean.home.join("c").join(name),
            "lib",
        )?;
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
    let compilers = compilers(release, platform);
    let languages = [
        ("c", "c", &compilers.c, "-std=c11"),
        ("cpp", "cpp", &compilers.cpp, "-std=c++17"),
    ];
    for (language, block, compiler, standard) in languages {
        let readme = clean.sources.join(language).join("README.md");
        let first = clean.home.join(format!("first.{language}"));
        clean.write(&first, &clean.first_block(&readme, block)?)?;
        let runner = clean.sources.join(language).join("conformance");
        let runner = runner.join(format!("conformance.{language}"));
        for linking in compilers.linkings {
            let build = |source: &Path| -> Result<std::path::PathBuf> {
                let program = source.with_extension(format!("{}-{linking:?}", platform.name()));
                let flags = pkg_config(clean, prefix, lib, *linking)?;
                let compile = clean.program(compiler).arg(standard);
                let compile = compile.arg(source.display().to_string());
                let compile = match linking {
                    Linking::Shared => compile,
                    Linking::Archive => compile.arg("-l:liborbgate.a"),
                    Linking::Whole => compile.arg("-static"),
                };
                let compile = flags
                    .iter()
                    .fold(compile, |compile, flag| compile.arg(flag));
                compile.path("-o", &program).run()?;
                Ok(program)
            };
            let run = |program: &Path| {
                let library = format!("LD_LIBRARY_PATH={}", prefix.join(lib).display());
                let run = clean.emulated(platform.arch, &library);
                run.arg(program.display().to_string())
            };
            clean.prints(&run(&build(&first)?), "allowed, and consumes orbs\n")?;
            clean.conforms(run(&build(&runner)?))?;
        }
    }
    Ok(())
}

/// The compilers for a platform on this machine, and how they link.
struct Compilers {
    c: String,
    cpp: String,
    linkings: &'static [Linking],
}

fn compilers(release: &Release<'_>, platform: Platform) -> Compilers {
    let (c, cpp, linkings): (_, _, &[_]) = match platform.libc {
        // Debian's compiler for musl has glibc's unwinder. Zig's has musl's, for every processor.
        Libc::Musl => {
            let python = release.tools().join("bin").join("python");
            let zig = |language: &str| {
                let target = platform.arch.name();
                // It builds musl when it is first asked to, and keeps it.
                format!(
                    "env ZIG_GLOBAL_CACHE_DIR={} {} -m ziglang {language} -target {target}-linux-musl",
                    release.home.join("zig").display(),
                    python.display()
                )
            };
            (zig("cc"), zig("c++"), &[Linking::Whole])
        }
        Libc::Gnu if platform.arch == Arch::HOST => {
            let both = &[Linking::Shared, Linking::Archive];
            ("cc".to_owned(), "c++".to_owned(), both)
        }
        Libc::Gnu => {
            let both = &[Linking::Shared, Linking::Archive];
            let compiler = |name: &str| format!("{}-{name}", platform.name());
            (compiler("gcc"), compiler("g++"), both)
        }
    };
    Compilers { c, cpp, linkings }
}

fn pkg_config(clean: &Clean, prefix: &Path, lib: &str, linking: Linking) -> Result<Vec<String>> {
    let folder = prefix.join(lib).join("pkgconfig");
    let query = clean.program("pkg-config --cflags --libs orbgate");
    let query = query.arg(format!("--with-path={}", folder.display()));
    let query = match linking {
        Linking::Shared => query,
        Linking::Archive | Linking::Whole => query.arg("--static"),
    };
    let flags = query.read()?;
    let flags = flags.split_whitespace().map(str::to_owned);
    Ok(match linking {
        Linking::Shared => flags.collect(),
        // The archive is named by its file.
        Linking::Archive => flags.filter(|flag| flag != "-lorbgate").collect(),
        Linking::Whole => flags.collect(),
    })
}
