//! The step `go`: tests the Go package with each of its engines, WebAssembly and the C library. `cargo xtask go` builds
//! the engines, which git doesn't contain.
//!
//! Go has no runner of tasks: what is more than `go test` is a row of [`Go::test`].

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::cases::conform;
use crate::language::library::{self, Built, Profile, SONAME};
use crate::language::native::Compiler;
use crate::language::wasm;

pub(crate) const MODULE: &str = "github.com/orbgate/orbgate/bindings/go";

/// The package's own folder without subfolders: `go mod vendor` copies only the folder with the code.
const PACKAGE: &str = "bindings/go/orbgate";

/// Builds for other systems and processors need no C compiler. These two differ most from Linux on amd64: another
/// system, and a big-endian processor, for which wazero interprets.
const MOST_UNLIKE: [(&str, &str); 2] = [("windows", "amd64"), ("linux", "s390x")];

/// The others that many use.
const OTHERS: [(&str, &str); 3] = [("linux", "arm64"), ("darwin", "arm64"), ("freebsd", "amd64")];

/// The engine of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The module that the package carries.
    Wasm,
    /// The C library.
    Cgo,
}

/// Go, and what the engine needs.
struct Go {
    engine: Engine,
    module: PathBuf,
    home: PathBuf,
    /// Differs for each build of the C library, which Go ignores when it decides whether to link again.
    link: String,
}

/// The step.
pub(crate) fn run(project: &Project) -> Result<()> {
    for engine in [Engine::Wasm, Engine::Cgo] {
        Go::set_up(project, engine, Profile::Tests)?.test()?;
    }
    Ok(())
}

/// The package over the C library under the race detector, and over WebAssembly for other systems.
pub(crate) fn race(project: &Project) -> Result<()> {
    Go::set_up(project, Engine::Cgo, Profile::Tests)?.race()?;
    Go::set_up(project, Engine::Wasm, Profile::Tests)?.build_for(&OTHERS)
}

/// Runs the cases with a shared library installed below a prefix, instead of the package's static one.
pub(crate) fn conform_with_shared(project: &Project, prefix: &Path) -> Result<()> {
    let go = Go::find(project, Engine::Cgo)?;
    let lib = prefix.join("lib").display().to_string();
    let program = go.home.join("shared");
    let build = go.go("build -tags=orbgate_cgo,orbgate_shared");
    let build = build.env("PKG_CONFIG_PATH", format!("{lib}/pkgconfig"));
    build.path("-o", &program).arg("./conformance").run()?;
    ensure!(has_shared(&program)?, "not linked with the library");
    let run = Program::at(&program).env("LD_LIBRARY_PATH", lib);
    conform("go", run)
}

/// Fails if Go isn't installed.
pub(crate) fn ready(project: &Project) -> Result<()> {
    Go::find(project, Engine::Wasm).map(|_| ())
}

/// A command of the package: what answers the cases, or what measures, which takes one more argument.
pub(crate) fn program(project: &Project, engine: Engine, profile: Profile, command: &str) -> Result<Program> {
    let go = Go::set_up(project, engine, profile)?;
    go.build(command).map(|program| Program::at(&program))
}

/// `cargo xtask go`: builds both engines and prints their sizes.
pub(crate) fn engines(project: &Project) -> Result<()> {
    wasm::build(project)?;
    let library = build_library(project, Profile::Release)?;
    for file in [&project.root.join(PACKAGE).join("orbgate.wasm"), &library] {
        println!("{}: {} bytes", file.display(), fs::metadata(file)?.len());
    }
    Ok(())
}

/// The package's library for this machine, and the header.
fn build_library(project: &Project, profile: Profile) -> Result<PathBuf> {
    let processor = match std::env::consts::ARCH {
        "x86_64" if cfg!(target_os = "linux") => "amd64",
        "aarch64" if cfg!(target_os = "linux") => "arm64",
        _ => bail!("the Go package has the C library for Linux on amd64 and arm64 alone"),
    };
    Compiler::C.set_up()?;
    let package = project.root.join(PACKAGE);
    fs::copy("bindings/c/include/orbgate.h", package.join("orbgate.h"))?;
    let library = package.join(format!("liborbgate_linux_{processor}.a"));
    let _alone = library::lock(project, "native")?;
    Built::of(project, profile)?.put_static(&library)?;
    Ok(library)
}

/// Whether a program loads the shared library at startup.
fn has_shared(program: &Path) -> Result<bool> {
    let dynamic = Program::parse("readelf --dynamic --wide").arg(program);
    Ok(dynamic.read()?.contains(&format!("[{SONAME}]")))
}

impl Go {
    /// Only Go. Runs in the module's folder, so that a Go older than the module requires fails.
    fn find(project: &Project, engine: Engine) -> Result<Self> {
        let go = Self {
            engine,
            module: project.root.join("bindings").join("go"),
            home: project.target.join("xtask").join("go"),
            link: String::new(),
        };
        ensure!(go.go("list -m").succeeds(), "Go 1.24 or newer is missing: https://go.dev/dl");
        Ok(go)
    }

    /// Go and the engine.
    fn set_up(project: &Project, engine: Engine, profile: Profile) -> Result<Self> {
        let go = Self::find(project, engine)?;
        if engine == Engine::Wasm {
            return wasm::build(project).map(|_| go);
        }
        let library = build_library(project, profile)?;
        let sum = Program::parse("sha256sum").arg(library).read()?;
        let digest = sum.split(' ').next().unwrap_or_default();
        // Sets a variable that doesn't exist, so it affects only Go's comparison.
        let link = format!("-ldflags=-X={MODULE}/orbgate.library={digest}");
        Ok(Self { link, ..go })
    }

    /// A command of Go in the package's folder.
    fn go(&self, command: &str) -> Program {
        self.set(Program::parse("go").words(command))
    }

    /// A command that builds with the engine.
    fn with_engine(&self, command: &str) -> Program {
        self.with(Program::parse("go").words(command))
    }

    fn set(&self, program: Program) -> Program {
        let cgo = match self.engine {
            Engine::Wasm => "0",
            Engine::Cgo => "1",
        };
        let program = program.env("GOWORK", "off").env("CGO_ENABLED", cgo);
        program.within(&self.module)
    }

    fn with(&self, program: Program) -> Program {
        match self.engine {
            Engine::Wasm => self.set(program),
            Engine::Cgo => self.set(program).arg("-tags=orbgate_cgo").arg(&self.link),
        }
    }

    fn test(&self) -> Result<()> {
        let unformatted = Program::parse("gofmt -l .").within(&self.module).read()?;
        ensure!(unformatted.is_empty(), "not formatted:\n{unformatted}");
        self.with_engine("vet").arg("./...").run()?;
        self.with_engine("test").arg("./...").run()?;
        if self.engine == Engine::Wasm {
            self.race()?;
        }
        // A separate module, because the package depends on no framework.
        let recipes = self.with_engine("test").arg(".");
        recipes.within(&self.module.join("recipes")).run()?;
        setup::apt("curl", "curl")?;
        let guide = Program::parse("./guide.sh").arg(self.home.join("guide"));
        self.with(guide).run()?;
        let runner = self.build("conformance")?;
        if self.engine == Engine::Cgo {
            ensure!(!has_shared(&runner)?, "the program has no library in it");
            return conform("go", Program::at(&runner));
        }
        conform("go", Program::at(&runner))?;
        self.build_for(&MOST_UNLIKE)
    }

    fn build_for(&self, others: &[(&str, &str)]) -> Result<()> {
        others.iter().try_for_each(|(system, processor)| {
            let build = self.with_engine("build").env("GOOS", *system);
            build.env("GOARCH", *processor).arg("./...").run()
        })
    }

    /// The race detector needs C. In `test --all`, it checks the engine whose pool is written in
    /// Go.
    fn race(&self) -> Result<()> {
        Compiler::C.set_up()?;
        let race = self.with_engine("test -race").env("CGO_ENABLED", "1");
        race.args(["./orbgate", "./orbgate/gate"]).run()
    }

    /// Builds a command of the module.
    fn build(&self, command: &str) -> Result<PathBuf> {
        let program = self.home.join(format!("{command}-{:?}", self.engine));
        let build = self.with_engine("build").path("-o", &program);
        build.arg(format!("./{command}")).run()?;
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use crate::language::library::SYSTEM_LIBRARIES;

    /// The system libraries that Rust reports for the library. Go's linker adds the C library, and the unwinder has the
    /// name that also exists for fully static programs.
    #[test]
    fn the_package_links_what_the_library_needs() {
        let code = include_str!("../../../../bindings/go/orbgate/link_static.go");
        let needed = SYSTEM_LIBRARIES.replace("-lgcc_s", "-lgcc_eh");
        let needed = needed.strip_suffix(" -lc").unwrap();
        assert!(code.contains(&format!("#cgo LDFLAGS: {needed}\n")));
    }
}
