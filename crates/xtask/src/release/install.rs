//! `cargo xtask install --prefix DIR`: the C library as a distribution lays it out, without cargo-c.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::c::{check_example, set_up_compilers};
use crate::language::go;
use crate::language::library::STATIC;
use crate::language::library::{
    ABI, Built, HEADER, Linking, SONAME, SYSTEM_LIBRARIES, put_file, strip,
};
use crate::language::native::Compiler;

const HEADERS: [&str; 2] = [HEADER, "bindings/cpp/include/orbgate.hpp"];

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

fn install(project: &Project, prefix: &Path) -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        "only Linux's layout is known here; elsewhere build with `cargo build --profile published -p orbgate-capi`"
    );
    lay_out(project, prefix, "lib", &Built::here(project)?)
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

fn link(target: &str, path: &Path) -> Result<()> {
    let link = Program::parse("ln -s -f -n").arg(target);
    link.arg(path.display().to_string()).run()
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
    lay_out(project, &first, "lib", &Built::unoptimised(project)?)?;
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
    go::conform_with_shared(project, &moved)
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
