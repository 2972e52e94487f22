//! The C library as users get it, built for a platform.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;

/// The shared library's name for programs, with the ABI's first number: it stays while old clients work.
pub(crate) const SONAME: &str = "liborbgate.so.1";

/// What the static library needs of the system on Linux. The compiler is asked each time; this is what it is
/// known to answer.
pub(crate) const SYSTEM_LIBRARIES: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// Builds the command `orbgate`, with the features that the step `tests` builds it with.
pub(crate) const COMMAND: &str = "cargo test --no-run --workspace --all-features --test command";

/// A built `liborbgate`.
#[derive(Debug)]
pub(crate) struct Library {
    /// Where the shared and the static library are, and nothing else of their kind.
    pub(crate) directory: PathBuf,
}

/// How it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As the workspace's own tests are: one build for the tests of every language.
    Tests,
    /// As users get it.
    Release,
}

impl Library {
    /// The library as users get it, except for the profile.
    pub(crate) fn build(project: &Project, profile: Profile) -> Result<Self> {
        let _alone = lock(project, "native")?;
        Self::put(project, "plain", &Built::of(project, profile)?)
    }

    /// The same, with the function that panics on purpose.
    pub(crate) fn build_that_panics(project: &Project) -> Result<Self> {
        let _alone = lock(project, "native")?;
        let built = Built::variant(project, Profile::Tests, " --features test-panic")?;
        Self::put(project, "panics", &built)
    }

    /// Puts what was built where no later build replaces it.
    fn put(project: &Project, name: &str, built: &Built) -> Result<Self> {
        let directory = project.target.join("xtask").join("native").join(name);
        fs::create_dir_all(&directory)?;
        for file in [shared(), STATIC.to_owned()] {
            replace(&built.directory.join(&file), &directory.join(&file))?;
        }
        // Programs that are linked with it look for this name.
        replace(&directory.join(shared()), &directory.join(SONAME))?;
        Ok(Self { directory })
    }
}

/// Keeps a step of the other lane from building the same thing, perhaps with other features, before it is copied.
pub(crate) fn lock(project: &Project, name: &str) -> Result<File> {
    let home = project.target.join("xtask").join(name);
    fs::create_dir_all(&home)?;
    let lock = File::create(home.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Copies a file. A program that has the old one open keeps it: if it changed in place, the program would crash.
fn replace(file: &Path, path: &Path) -> Result<()> {
    let new = path.with_extension("new");
    fs::copy(file, &new)?;
    fs::rename(&new, path)?;
    Ok(())
}

/// The static library's file.
pub(crate) const STATIC: &str = "liborbgate.a";

/// The shared library's file.
pub(crate) fn shared() -> String {
    format!("{DLL_PREFIX}orbgate{DLL_SUFFIX}")
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
    /// Builds it for this machine.
    pub(crate) fn of(project: &Project, profile: Profile) -> Result<Self> {
        Self::variant(project, profile, "")
    }

    fn variant(project: &Project, profile: Profile, features: &str) -> Result<Self> {
        let (option, folder) = match profile {
            Profile::Tests => ("", "debug"),
            Profile::Release => (" --profile published", "published"),
        };
        let cargo = format!("cargo rustc -p orbgate-capi --lib{option}{features}");
        let directory = project.target.join(folder);
        Self::by(Program::parse(&cargo), directory, "strip".to_owned())
    }

    /// Builds with a command that takes options of rustc after it, into this folder.
    pub(crate) fn by(cargo: Program, directory: PathBuf, strip: String) -> Result<Self> {
        let build = cargo.arg("--").arg("--print=native-static-libs");
        let build = match cfg!(target_os = "linux") {
            true => build.arg(format!("-Clink-arg=-Wl,-soname,{SONAME}")),
            false => build,
        };
        println!("$ {build}");
        let output = build.output()?;
        ensure!(output.success, "`{build}` failed:\n{}", output.stderr);
        let system = system_libraries(&output.stderr).context("the compiler did not name the system's libraries")?;
        Ok(Self { directory, system, strip })
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

/// The libraries of the note `native-static-libs: …`.
fn system_libraries(output: &str) -> Option<String> {
    let (_, libraries) = output.rsplit_once("native-static-libs: ")?;
    Some(libraries.lines().next()?.trim().to_owned())
}

/// Copies a file and says so.
pub(crate) fn put_file(file: &Path, path: &Path) -> Result<()> {
    println!("{}", path.display());
    fs::copy(file, path).with_context(|| format!("{} to {}", file.display(), path.display()))?;
    Ok(())
}

/// Takes the debug information out: it is most of the static library, and of no use to its user.
pub(crate) fn strip(program: &str, library: &Path) -> Result<()> {
    let strip = Program::parse(program).arg("--strip-debug");
    match Program::parse(program).arg("--version").succeeds() {
        true => strip.arg(library.display().to_string()).run(),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{SONAME, SYSTEM_LIBRARIES, system_libraries};

    #[test]
    fn the_compiler_names_the_systems_libraries() {
        let output = format!("note: link against\n\nnote: native-static-libs: {SYSTEM_LIBRARIES}\n\n");
        assert_eq!(system_libraries(&output).unwrap(), SYSTEM_LIBRARIES);
        assert_eq!(system_libraries("Finished"), None);
    }

    /// The soname is that of the ABI, here, in cargo-c's settings and in the header.
    #[test]
    fn the_soname_is_the_abis() {
        let header = include_str!("../../../../bindings/c/include/orbgate.h");
        let stated = |name: &str| {
            let (_, rest) = header.split_once(&format!("#define {name} ")).unwrap();
            rest.lines().next().unwrap()
        };
        let (major, minor) = (stated("ORBGATE_ABI_MAJOR"), stated("ORBGATE_ABI_MINOR"));
        assert_eq!(SONAME, format!("liborbgate.so.{major}"));
        let manifest = include_str!("../../../orbgate-capi/Cargo.toml");
        let version = format!("version = \"{major}.{minor}.0\" # that of the ABI");
        assert!(manifest.contains(&version), "{version}");
    }
}
