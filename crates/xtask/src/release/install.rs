//! `cargo xtask install --prefix DIR`: the C library as a distribution lays it out.
//!
//! By a script, because cargo-c takes minutes to build, writes no CMake package, and knows neither another linker nor an older glibc, which
//! the packages of a release need. Its settings in orbgate-capi's manifest are for people who use cargo-c.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::c::{check_example, set_up_compilers};
use crate::language::java::Kits;
use crate::language::library::{Built, Profile, STATIC, SYSTEM_LIBRARIES, put_file, strip};
use crate::language::{go, node};

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The folder that gets include/ and lib/, as in /usr/local
    #[arg(long)]
    prefix: PathBuf,
}

impl Install {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        ensure!(
            cfg!(target_os = "linux"),
            "only Linux's layout is known here; elsewhere build with `cargo build --profile published -p orbgate-capi`"
        );
        install(project, &Built::of(project, Profile::Release)?, &self.prefix)?;
        let prefix = fs::canonicalize(&self.prefix)?;
        let prefix = prefix.display();
        println!("installed; to build against it and to load it:");
        println!("  export PKG_CONFIG_PATH={prefix}/lib/pkgconfig LD_LIBRARY_PATH={prefix}/lib");
        println!("  cmake -DCMAKE_PREFIX_PATH={prefix} …    # find_package(orbgate CONFIG REQUIRED)");
        println!("if the loader searches {prefix}/lib, `ldconfig` instead of LD_LIBRARY_PATH");
        Ok(())
    }
}

fn home(project: &Project) -> PathBuf {
    project.target.join("xtask").join("install")
}

fn install(project: &Project, built: &Built, prefix: &Path) -> Result<()> {
    let folder = home(project).join("built");
    put(built, &folder)?;
    let script = Program::parse("bash bindings/c/install/install.sh");
    script.arg(&folder).arg(prefix).run()
}

/// Puts what was built where the script finds it: the libraries, without debug information, and what the static one needs.
pub(crate) fn put(built: &Built, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    built.put_static(&folder.join(STATIC))?;
    let shared = folder.join("liborbgate.so");
    put_file(&built.shared(), &shared)?;
    strip(&built.strip, &shared)?;
    fs::write(folder.join("system-libraries"), &built.system)?;
    Ok(())
}

/// The step `install`: programs build from a prefix that has been moved, in every way there is.
pub(crate) fn check(project: &Project) -> Result<()> {
    programs(project)?;
    let home = home(project);
    let moved = home.join("moved");
    go::conform_with_shared(project, &moved)?;
    node::ready()?;
    Kits::find()?;
    Program::parse("sh bindings/cpp/example/set_up.sh").read()?;
    Program::parse("bash dist/try/clone.sh").arg(moved).arg(home.join("clone")).run()
}

fn programs(project: &Project) -> Result<()> {
    setup::apt("pkg-config", "pkg-config")?;
    setup::apt("cmake", "cmake")?;
    set_up_compilers()?;
    let home = home(project);
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    let (first, moved) = (home.join("first"), home.join("moved"));
    install(project, &Built::of(project, Profile::Tests)?, &first)?;
    let system = fs::read_to_string(first.join("lib/pkgconfig/orbgate.pc"))?;
    let pinned = format!("Libs.private: {SYSTEM_LIBRARIES}\n");
    ensure!(system.ends_with(&pinned), "other system libraries than are known:\n{system}");
    fs::rename(&first, &moved)?;
    // As a package of static libraries has it: the linker has no other choice.
    let alone = home.join("alone");
    Program::parse("cp -r").args([&moved, &alone]).run()?;
    let shared = Program::parse("find").arg(alone.join("lib"));
    shared.words("-name liborbgate.so* -delete").run()?;
    let programs = home.join("programs");
    fs::create_dir_all(&programs)?;
    for (prefix, linkings) in [(&moved, "shared static"), (&alone, "alone")] {
        let script = Program::parse("bash dist/try/library.sh").arg(prefix);
        let script = script.arg("lib").arg(&programs);
        script.env("LINKINGS", linkings).run()?;
    }
    for entry in fs::read_dir(&programs)? {
        let program = entry?.path();
        if program.display().to_string().contains("authorize") {
            check_example(&program)?;
        }
    }
    Ok(())
}
