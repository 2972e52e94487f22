//! `cargo xtask go`: what the Go package carries and git does not have, the engine as WebAssembly and as a C library with its header.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::kit::outcome::{StepResult, missing, step};
use crate::kit::project::Project;
use crate::language::library::{Built, HEADER, Profile};
use crate::language::native::Compiler;
use crate::language::wasm;

/// The package's own folder, and none below it: `go mod vendor` copies only the folder that has the code.
const PACKAGE: &str = "bindings/go/orbgate";

/// Makes both and says how large they are.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        for made in [
            wasm::build(project)?,
            build_library(project, Profile::Release)?,
        ] {
            let file = made.map_err(missing)?;
            let size = fs::metadata(&file)?.len();
            let name = file.file_name().unwrap_or_default();
            println!("{PACKAGE}/{}: {size} bytes", name.display());
        }
        Ok(())
    })
}

/// Go's name of this machine's processor, unless the package has no library for it.
pub(crate) fn processor() -> Option<&'static str> {
    match ARCH {
        "x86_64" => Some("amd64"),
        "aarch64" => Some("arm64"),
        _ => None,
    }
}

/// The package's library for this machine, or what is missing to build it.
pub(crate) fn build_library(
    project: &Project,
    profile: Profile,
) -> Result<Result<PathBuf, String>> {
    let Some(processor) = processor().filter(|_| cfg!(target_os = "linux")) else {
        let what = "the Go package has the C library for Linux on amd64 and arm64 alone";
        return Ok(Err(what.to_owned()));
    };
    if let StepResult::Skipped(what) = Compiler::C.set_up()? {
        return Ok(Err(what));
    }
    let built = Built::of(project, profile)?;
    put(&built, &project.root.join(PACKAGE), processor).map(Ok)
}

/// Puts a library for a processor, by Go's name, and the header into the package's folder, or a copy of it. Gives the library.
pub(crate) fn put(built: &Built, package: &Path, processor: &str) -> Result<PathBuf> {
    let header = package.join("orbgate.h");
    fs::copy(HEADER, &header).with_context(|| header.display().to_string())?;
    let library = package.join(format!("liborbgate_linux_{processor}.a"));
    built.put_static(&library)?;
    Ok(library)
}

#[cfg(test)]
mod tests {
    use crate::language::library::SYSTEM_LIBRARIES;

    /// What Rust says that the library needs: Go's linker adds the C library, and the unwinder has the name that is there for
    /// programs that are all static, too.
    #[test]
    fn the_package_links_what_the_library_needs() {
        let code = include_str!("../../../../bindings/go/orbgate/link_static.go");
        let needed = SYSTEM_LIBRARIES.replace("-lgcc_s", "-lgcc_eh");
        let needed = needed.strip_suffix(" -lc").unwrap();
        assert!(code.contains(&format!("#cgo LDFLAGS: {needed}\n")));
    }
}
