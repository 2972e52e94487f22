//! `cargo xtask install --prefix DIR`: the C library as a distribution lays it out, without cargo-c.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::c::{check_example, set_up_compilers};
use crate::native::{Compiler, STATIC};
use crate::program::Program;
use crate::project::Project;
use crate::setup;
use crate::test::StepResult;

/// The ABI's version, which names the shared library: it stays while old clients work.
const ABI: &str = "1.2.0";
pub(crate) const SONAME: &str = "liborbgate.so.1";

pub(crate) const HEADER: &str = "bindings/c/include/orbgate.h";

const HEADERS: [&str; 2] = [HEADER, "bindings/cpp/include/orbgate.hpp"];

/// What the static library needs of the system on Linux. The compiler is asked each time; this is what it is
/// known to answer.
pub(crate) const SYSTEM_LIBRARIES: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The folder that gets include/ and lib/, as in /usr/local
    #[arg(long)]
    prefix: PathBuf,
}

impl Install {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        install(project, &self.prefix)?;
        let prefix = self.prefix.display();
        println!("installed; to build against it:");
        println!("  export PKG_CONFIG_PATH={prefix}/lib/pkgconfig");
        println!("  cc program.c $(pkg-config --cflags --libs orbgate) -o program");
        println!(
            "  cmake -DCMAKE_PREFIX_PATH={prefix} …    # find_package(orbgate CONFIG REQUIRED)"
        );
        println!("and for the loader to find it:");
        println!(
            "  ldconfig    # or, where it does not look there: export LD_LIBRARY_PATH={prefix}/lib"
        );
        Ok(())
    }
}

pub(crate) fn install(project: &Project, prefix: &Path) -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        "only Linux's layout is known here; elsewhere build with `cargo build --release -p orbgate-capi`"
    );
    lay_out(project, prefix, "lib", &Built::here(project)?)
}

/// The libraries as they were built for one platform.
#[derive(Debug)]
pub(crate) struct Built {
    /// The folder of the shared and the static library.
    pub(crate) directory: PathBuf,
    /// What the static library needs of the system.
    pub(crate) system: String,
    /// The `strip` that knows the platform.
    pub(crate) strip: String,
}

impl Built {
    /// Builds the release for this machine.
    pub(crate) fn here(project: &Project) -> Result<Self> {
        let cargo = Program::parse("cargo rustc --release -p orbgate-capi --lib");
        let directory = project.target.join("release");
        Self::by(cargo, directory, "strip".to_owned())
    }

    /// Builds with a command that takes options of rustc behind it, into this folder.
    pub(crate) fn by(cargo: Program, directory: PathBuf, strip: String) -> Result<Self> {
        let build = cargo
            .arg("--")
            .arg(format!("-Clink-arg=-Wl,-soname,{SONAME}"))
            .arg("--print=native-static-libs");
        println!("$ {build}");
        let output = build.output()?;
        ensure!(output.success, "`{build}` failed:\n{}", output.stderr);
        let system = system_libraries(&output.stderr)
            .context("the compiler did not name the system's libraries")?;
        Ok(Self {
            directory,
            system,
            strip,
        })
    }

    /// The shared library.
    pub(crate) fn shared(&self) -> PathBuf {
        self.directory.join("liborbgate.so")
    }

    /// Puts the static library to a path, without its debug information.
    pub(crate) fn put_static(&self, path: &Path) -> Result<()> {
        put_file(&self.directory.join(STATIC), path)?;
        strip(&self.strip, path)
    }
}

/// Puts headers and libraries under a prefix, the libraries into its folder `lib`, which may be a deeper one.
pub(crate) fn lay_out(project: &Project, prefix: &Path, lib: &str, built: &Built) -> Result<()> {
    let (include, folder) = (prefix.join("include"), prefix.join(lib));
    for directory in [&include, &folder] {
        fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    }
    for header in HEADERS {
        copy(Path::new(header), &include)?;
    }
    built.put_static(&folder.join(STATIC))?;
    let shared = format!("liborbgate.so.{ABI}");
    put_file(&built.shared(), &folder.join(&shared))?;
    link(&shared, &folder.join(SONAME))?;
    link(SONAME, &folder.join("liborbgate.so"))?;
    strip(&built.strip, &folder.join(&shared))?;
    packages(project, &folder, lib, &shared, &built.system)
}

/// The libraries of the note `native-static-libs: …`.
fn system_libraries(output: &str) -> Option<String> {
    let (_, libraries) = output.rsplit_once("native-static-libs: ")?;
    Some(libraries.lines().next()?.trim().to_owned())
}

/// The files by which pkg-config and CMake find the library.
fn packages(project: &Project, folder: &Path, lib: &str, shared: &str, system: &str) -> Result<()> {
    let core = project.core()?;
    let version = core.version.to_string();
    let mut parts = version.split('.');
    let mut part = || parts.next().unwrap_or_default();
    let (major, minor) = (part(), part());
    // From pkgconfig/ back to the prefix.
    let up = vec![".."; lib.split('/').count().saturating_add(1)].join("/");
    let words = [
        ("@LIB@", lib),
        ("@UP@", &up),
        ("@VERSION@", version.as_str()),
        ("@MAJOR@", major),
        ("@MINOR@", minor),
        ("@SHARED@", shared),
        ("@SONAME@", SONAME),
        ("@SYSTEM_LIBRARIES@", system),
    ];
    for (directory, name) in [
        ("pkgconfig", "orbgate.pc"),
        ("cmake/orbgate", "orbgateConfig.cmake"),
        ("cmake/orbgate", "orbgateConfigVersion.cmake"),
    ] {
        let template = fs::read_to_string(format!("bindings/c/install/{name}.in"))?;
        let fill = |text: String, (word, value): (&str, &str)| text.replace(word, value);
        let text = words.into_iter().fold(template, fill);
        let directory = folder.join(directory);
        fs::create_dir_all(&directory)?;
        // CMake takes the system's libraries as a list.
        let text = match name.ends_with(".cmake") {
            true => text.replace(system, &system.replace("-l", "").replace(' ', ";")),
            false => text,
        };
        write(&directory.join(name), &text)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    println!("{}", path.display());
    fs::write(path, text).with_context(|| path.display().to_string())
}

fn copy(file: &Path, directory: &Path) -> Result<()> {
    put_file(file, &directory.join(file.file_name().unwrap_or_default()))
}

fn put_file(file: &Path, path: &Path) -> Result<()> {
    println!("{}", path.display());
    fs::copy(file, path).with_context(|| format!("{} to {}", file.display(), path.display()))?;
    Ok(())
}

fn link(target: &str, path: &Path) -> Result<()> {
    let link = Program::parse("ln -s -f -n").arg(target);
    link.arg(path.display().to_string()).run()
}

/// Takes the debug information out: it is most of the static library, and of no use to its user.
fn strip(program: &str, library: &Path) -> Result<()> {
    let strip = Program::parse(program).arg("--strip-debug");
    match Program::parse(program).arg("--version").succeeds() {
        true => strip.arg(library.display().to_string()).run(),
        false => Ok(()),
    }
}

/// The step `install`: programs build from a prefix that has been moved, in every way there is.
pub(crate) fn check(project: &Project) -> Result<StepResult> {
    for tool in ["pkg-config", "cmake"] {
        if let skipped @ StepResult::Skipped(_) = setup::apt(tool, tool)? {
            return Ok(skipped);
        }
    }
    if let skipped @ StepResult::Skipped(_) = set_up_compilers()? {
        return Ok(skipped);
    }
    let home = project.target.join("xtask").join("install");
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    let (first, moved) = (home.join("first"), home.join("moved"));
    install(project, &first)?;
    let system = fs::read_to_string(first.join("lib/pkgconfig/orbgate.pc"))?;
    let pinned = format!("Libs.private: {SYSTEM_LIBRARIES}\n");
    ensure!(
        system.ends_with(&pinned),
        "other system libraries than are known:\n{system}"
    );
    fs::rename(&first, &moved)?;
    let alone = home.join("static");
    copy_without_shared(&moved, &alone)?;

    for (prefix, linking) in [(&moved, Linking::Shared), (&alone, Linking::Static)] {
        for (compiler, language, source) in [
            (Compiler::C, "c", "authorize.c"),
            (Compiler::Cpp, "cpp", "authorize.cpp"),
        ] {
            let example = format!("bindings/{language}/example");
            let name = format!("{language}-{}", linking.name());
            let program = home.join("pkg-config").join(&name);
            with_pkg_config(
                prefix,
                linking,
                compiler,
                &format!("{example}/{source}"),
                &program,
            )?;
            linking.check(&program)?;
            check_example(&program)?;
            let program = with_cmake(&moved, linking, &example, &home.join("cmake").join(&name))?;
            linking.check(&program)?;
            check_example(&program)?;
        }
    }
    Ok(StepResult::Passed)
}

/// A prefix as a package of static libraries has it: the linker has no other choice.
fn copy_without_shared(prefix: &Path, copy: &Path) -> Result<()> {
    fs::create_dir_all(copy)?;
    Program::parse("cp -r")
        .arg(format!("{}/.", prefix.display()))
        .arg(copy.display().to_string())
        .run()?;
    for name in ["liborbgate.so", SONAME, &format!("liborbgate.so.{ABI}")] {
        fs::remove_file(copy.join("lib").join(name))?;
    }
    Ok(())
}

fn with_pkg_config(
    prefix: &Path,
    linking: Linking,
    compiler: Compiler,
    source: &str,
    program: &Path,
) -> Result<()> {
    let path = prefix.join("lib").join("pkgconfig");
    let query = Program::parse(&format!("PKG_CONFIG_PATH={}", path.display()));
    let query = ["pkg-config", "--cflags", "--libs"]
        .into_iter()
        .fold(query, Program::arg);
    let query = match linking {
        Linking::Static => query.arg("--static"),
        Linking::Shared => query,
    };
    let query = query.arg("orbgate");
    println!("$ {query}");
    let flags = query.read()?;
    let command = flags
        .split_whitespace()
        .fold(compiler.program().arg(source), Program::arg);
    if let Some(parent) = program.parent() {
        fs::create_dir_all(parent)?;
    }
    command
        .arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()))
        .path("-o", program)
        .run()
}

fn with_cmake(prefix: &Path, linking: Linking, example: &str, build: &Path) -> Result<PathBuf> {
    let is_static = match linking {
        Linking::Static => "ON",
        Linking::Shared => "OFF",
    };
    let configure = Program::parse("cmake -S").arg(example).path("-B", build);
    configure
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
        .arg(format!("-DSTATIC={is_static}"))
        .run()?;
    Program::parse("cmake --build")
        .arg(build.display().to_string())
        .run()?;
    Ok(build.join("authorize"))
}

/// Which of the two libraries a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linking {
    Static,
    Shared,
}

impl Linking {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Shared => "shared",
        }
    }

    /// Fails where a program has the other one.
    pub(crate) fn check(self, program: &Path) -> Result<()> {
        let dynamic = Program::parse("readelf --dynamic --wide").arg(program.display().to_string());
        let found = match dynamic.read()?.contains(&format!("[{SONAME}]")) {
            true => Self::Shared,
            false => Self::Static,
        };
        let (program, found) = (program.display(), found.name());
        ensure!(found == self.name(), "{program} has the {found} library");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ABI, SONAME, SYSTEM_LIBRARIES, system_libraries};

    #[test]
    fn the_compiler_names_the_systems_libraries() {
        let output =
            format!("note: link against\n\nnote: native-static-libs: {SYSTEM_LIBRARIES}\n\n");
        assert_eq!(system_libraries(&output).unwrap(), SYSTEM_LIBRARIES);
        assert_eq!(system_libraries("Finished"), None);
    }

    /// The soname is that of the ABI, here, in cargo-c's settings and in the header.
    #[test]
    fn the_soname_is_the_abis() {
        let (major, rest) = ABI.split_once('.').unwrap();
        let minor = rest.strip_suffix(".0").unwrap();
        assert_eq!(SONAME, format!("liborbgate.so.{major}"));
        let manifest = include_str!("../../orbgate-capi/Cargo.toml");
        assert!(manifest.contains(&format!("version = \"{ABI}\" # that of the ABI")));
        let header = include_str!("../../../bindings/c/include/orbgate.h");
        assert!(header.contains(&format!("#define ORBGATE_ABI_MAJOR {major}\n")));
        assert!(header.contains(&format!("#define ORBGATE_ABI_MINOR {minor}\n")));
    }
}
