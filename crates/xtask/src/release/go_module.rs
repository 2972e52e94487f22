//! The Go module as a proxy serves it, and the step `go-module`: what its users do with it, `go get` and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::go::{self, MODULE};
use crate::language::go_engines;
use crate::release::go_user::{Native, Users};

/// Writes the files of a module proxy below a folder, the module's own being in another: `go get` with `GOPROXY=file://FOLDER` has
/// the module from there. The same files give the same bytes. Gives what it has written, the archive first.
pub(crate) fn write_proxy(project: &Project, source: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    for made in ["orbgate.wasm", "orbgate.h"] {
        let there = source.join("orbgate").join(made).exists();
        ensure!(there, "bindings/go has no {made}: cargo xtask go");
    }
    let version = version(project)?;
    let archive = archive(folder, &version);
    let place = archive.parent().context("an archive without a folder")?;
    fs::create_dir_all(place)?;
    fs::write(place.join("list"), format!("{version}\n"))?;
    let info = format!("{{\"Version\":\"{version}\"}}\n");
    fs::write(place.join(format!("{version}.info")), info)?;
    let module = fs::read(source.join("go.mod"))?;
    fs::write(place.join(format!("{version}.mod")), module)?;
    let program = project.root.join("crates/xtask/src/release/go_module.go");
    Program::parse("GOWORK=off CGO_ENABLED=0 go run")
        .arg(program.display().to_string())
        .arg(source.display().to_string())
        .arg(format!("{MODULE}@{version}"))
        .arg(archive.display().to_string())
        .run()?;
    let ends = [".mod", ".info"].map(|end| place.join(format!("{version}{end}")));
    let list = place.join("list");
    Ok([archive].into_iter().chain(ends).chain([list]).collect())
}

/// Where a proxy's folder has the archive of a version.
pub(crate) fn archive(folder: &Path, version: &str) -> PathBuf {
    let place = folder.join(MODULE).join("@v");
    place.join(format!("{version}.zip"))
}

/// The version as Go writes it.
fn version(project: &Project) -> Result<String> {
    Ok(format!("v{}", project.core()?.version))
}

/// The step: makes a proxy of the module as it is here, with this machine's library, and tries it.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    if let skipped @ StepResult::Skipped(_) = go::set_up(project)? {
        return Ok(skipped);
    }
    let home = project.target.join("xtask").join("go-module");
    if home.exists() {
        writable(&home)?;
        fs::remove_dir_all(&home)?;
    }
    let proxy = home.join("proxy");
    let files = write_proxy(project, &project.root.join("bindings/go"), &proxy)?;
    let archive = files.first().context("no archive")?;
    println!(
        "the module's archive: {} bytes",
        fs::metadata(archive)?.len()
    );
    let users = Users::new(project, &proxy, &home)?;
    users.without_compiler()?;
    if let Some(processor) = go_engines::processor() {
        users.with_compiler(&Native::own(processor))?;
    }
    Ok(StepResult::Passed)
}

/// Go makes what it has downloaded read-only.
pub(crate) fn writable(home: &Path) -> Result<()> {
    let chmod = Program::parse("chmod -R u+w");
    chmod.arg(home.display().to_string()).run()
}
