//! `cargo xtask install --prefix DIR`: the C library as a distribution lays it out.
//!
//! By hand, because cargo-c takes minutes to build, writes no CMake package, and knows neither another linker nor an older glibc, which
//! the packages of a release need. Its settings in orbgate-capi's manifest are for people who use cargo-c.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::kit::outcome::{StepResult, step};
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
        let header = Path::new(header);
        put_file(
            header,
            &include.join(header.file_name().unwrap_or_default()),
        )?;
    }
    built.put_static(&folder.join(STATIC))?;
    let shared = format!("liborbgate.so.{ABI}");
    put_file(&built.shared(), &folder.join(&shared))?;
    for (target, name) in [(shared.as_str(), SONAME), (SONAME, "liborbgate.so")] {
        let link = Program::parse("ln -s -f -n").arg(target);
        link.arg(folder.join(name)).run()?;
    }
    strip(&built.strip, &folder.join(&shared))?;
    packages(project, &folder, lib, &shared, &built.system)
}

/// The files by which pkg-config and CMake find the library.
fn packages(project: &Project, folder: &Path, lib: &str, shared: &str, system: &str) -> Result<()> {
    let version = &project.core()?.version;
    // From pkgconfig/ back to the prefix.
    let up = vec![".."; lib.split('/').count().saturating_add(1)].join("/");
    // CMake takes the system's libraries as a list.
    let list = system.replace("-l", "").replace(' ', ";");
    for (name, system) in [
        ("pkgconfig/orbgate.pc", system),
        ("cmake/orbgate/orbgateConfig.cmake", &list),
        ("cmake/orbgate/orbgateConfigVersion.cmake", ""),
    ] {
        let path = folder.join(name);
        let file = path.file_name().unwrap_or_default().display();
        let template = fs::read_to_string(format!("bindings/c/install/{file}.in"))?;
        let words = [
            ("@LIB@", lib),
            ("@UP@", &up),
            ("@VERSION@", &version.to_string()),
            ("@MAJOR@", &version.major.to_string()),
            ("@MINOR@", &version.minor.to_string()),
            ("@SHARED@", shared),
            ("@SONAME@", SONAME),
            ("@SYSTEM_LIBRARIES@", system),
        ];
        println!("{}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, fill(&template, &words))?;
    }
    Ok(())
}

/// A template with its words replaced.
pub(crate) fn fill(template: &str, words: &[(&str, &str)]) -> String {
    let replace = |text: String, (word, value): &(&str, &str)| text.replace(word, value);
    words.iter().fold(template.to_owned(), replace)
}

/// The step `install`: programs build from a prefix that has been moved, in every way there is.
pub(crate) fn check(project: &Project) -> Result<StepResult> {
    let checked = step(|| programs(project))?;
    match checked {
        StepResult::Passed => go::conform_with_shared(project, &home(project).join("moved")),
        skipped @ StepResult::Skipped(_) => Ok(skipped),
    }
}

fn home(project: &Project) -> PathBuf {
    project.target.join("xtask").join("install")
}

fn programs(project: &Project) -> Result<()> {
    setup::apt("pkg-config", "pkg-config")?.needed()?;
    setup::apt("cmake", "cmake")?.needed()?;
    set_up_compilers()?.needed()?;
    let home = home(project);
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
    // As a package of static libraries has it: the linker has no other choice.
    let alone = home.join("static");
    Program::parse("cp -r").args([&moved, &alone]).run()?;
    for name in ["liborbgate.so", SONAME, &format!("liborbgate.so.{ABI}")] {
        fs::remove_file(alone.join("lib").join(name))?;
    }
    for (prefix, linking) in [(&moved, Linking::Shared), (&alone, Linking::Static)] {
        for (compiler, language) in [(Compiler::C, "c"), (Compiler::Cpp, "cpp")] {
            let example = format!("bindings/{language}/example");
            let build = home.join(format!("{language}-{}", linking.name()));
            let by_hand = build.with_extension("out");
            let flags = pkg_config(prefix, linking)?;
            let compile = compiler
                .program()
                .arg(format!("{example}/authorize.{language}"));
            let compile = compile.args(flags.split_whitespace());
            let search = format!("-Wl,-rpath,{}", prefix.join("lib").display());
            compile.arg(search).path("-o", &by_hand).run()?;
            with_cmake(&moved, linking, &example, &build)?;
            for program in [by_hand, build.join("authorize")] {
                linking.check(&program)?;
                check_example(&program)?;
            }
        }
    }
    Ok(())
}

fn pkg_config(prefix: &Path, linking: Linking) -> Result<String> {
    let path = prefix.join("lib/pkgconfig").display().to_string();
    let query = Program::parse("pkg-config --cflags --libs").env("PKG_CONFIG_PATH", path);
    let query = query.args((linking == Linking::Static).then_some("--static"));
    let query = query.arg("orbgate");
    println!("$ {query}");
    query.read()
}

fn with_cmake(prefix: &Path, linking: Linking, example: &str, build: &Path) -> Result<()> {
    let configure = Program::parse("cmake -S").arg(example).path("-B", build);
    configure
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
        .args((linking == Linking::Static).then_some("-DSTATIC=ON"))
        .run()?;
    Program::parse("cmake --build").arg(build).run()
}
