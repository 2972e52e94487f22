//! The C library as users get it: built for a platform, and in a program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::native::STATIC;

/// The ABI's version, which names the shared library: it stays while old clients work.
pub(crate) const ABI: &str = "1.2.0";
pub(crate) const SONAME: &str = "liborbgate.so.1";

pub(crate) const HEADER: &str = "bindings/c/include/orbgate.h";

/// What the static library needs of the system on Linux. The compiler is asked each time; this is what it is
/// known to answer.
pub(crate) const SYSTEM_LIBRARIES: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

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
        let manifest = include_str!("../../../orbgate-capi/Cargo.toml");
        assert!(manifest.contains(&format!("version = \"{ABI}\" # that of the ABI")));
        let header = include_str!("../../../../bindings/c/include/orbgate.h");
        assert!(header.contains(&format!("#define ORBGATE_ABI_MAJOR {major}\n")));
        assert!(header.contains(&format!("#define ORBGATE_ABI_MINOR {minor}\n")));
    }
}
