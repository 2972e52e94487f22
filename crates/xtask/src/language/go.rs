//! The step `go`: the Go package over each of its engines, WebAssembly and the C library; and its conformance runners.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::kit::guide;
use crate::kit::outcome::{StepResult, missing, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::conform;
use crate::language::go_engines;
use crate::language::library::{Linking, Profile};
use crate::language::native::Compiler;
use crate::language::wasm;

pub(crate) const MODULE: &str = "github.com/orbgate/orbgate/bindings/go";

/// An installed shared library instead of the static one that the package carries.
const SHARED: &str = "-tags=orbgate_cgo,orbgate_shared";

/// Systems and processors that programs are built for without a C compiler: one that wazero compiles for, each system of note, and
/// one whose bytes are the other way around.
const OTHERS: [(&str, &str); 5] = [
    ("linux", "arm64"),
    ("darwin", "arm64"),
    ("windows", "amd64"),
    ("freebsd", "amd64"),
    ("linux", "s390x"),
];

/// What decides in the package.
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
    /// Differs with the C library. Go does not look at it, and would keep what it has linked with another one.
    link: String,
}

/// The step.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        for engine in [Engine::Wasm, Engine::Cgo] {
            Go::set_up(project, engine, Profile::Tests)?.test()?;
        }
        Ok(())
    })
}

/// The cases, with a shared library that is installed below a prefix.
pub(crate) fn conform_with_shared(project: &Project, prefix: &Path) -> Result<StepResult> {
    let go = match Go::find(project, Engine::Cgo) {
        Ok(go) => go,
        Err(missing) => return Ok(StepResult::Skipped(missing)),
    };
    let lib = prefix.join("lib");
    let program = go.home.join("shared");
    go.go("build")
        .arg(SHARED)
        .path("-o", &program)
        .arg("./conformance")
        .env(
            "PKG_CONFIG_PATH",
            lib.join("pkgconfig").display().to_string(),
        )
        .run()?;
    Linking::Shared.check(&program)?;
    let run = Program::at(&program).env("LD_LIBRARY_PATH", lib.display().to_string());
    conform("go, with an installed library", run)?;
    Ok(StepResult::Passed)
}

/// Whether there is Go.
pub(crate) fn ready(project: &Project) -> Result<StepResult> {
    let go = Go::find(project, Engine::Wasm);
    Ok(go.map_or_else(StepResult::Skipped, |_| StepResult::Passed))
}

/// What `cargo xtask conformance go` and `go-cgo` run.
pub(crate) fn runner(project: &Project, engine: Engine) -> Result<Program> {
    Go::set_up(project, engine, Profile::Tests)?.build("conformance", engine.name())
}

/// The programs of `cargo xtask bench --bindings`.
pub(crate) fn benchmarks(project: &Project) -> Result<Vec<(&'static str, Program)>> {
    let ways = [("go", Engine::Wasm), ("go-cgo", Engine::Cgo)].into_iter();
    let programs = ways.map(|(language, engine)| {
        let go = Go::set_up(project, engine, Profile::Release)?;
        let name = format!("bench-{}", engine.name());
        Ok((language, go.build("bench", &name)?))
    });
    programs.collect()
}

impl Engine {
    const fn name(self) -> &'static str {
        match self {
            Self::Wasm => "wasm",
            Self::Cgo => "cgo",
        }
    }

    /// What a build says for it.
    const fn tags(self) -> &'static str {
        match self {
            Self::Wasm => "-tags=",
            Self::Cgo => "-tags=orbgate_cgo",
        }
    }
}

impl Go {
    /// Go alone, unless it is missing.
    fn find(project: &Project, engine: Engine) -> Result<Self, String> {
        let go = Self {
            engine,
            module: project.root.join("bindings").join("go"),
            home: project.target.join("xtask").join("go"),
            link: String::new(),
        };
        // In the module's folder, so that a Go that is older than it asks for is one that fails.
        match go.go("version").succeeds() && go.go("list -m").succeeds() {
            true => Ok(go),
            false => Err("Go 1.24 or newer is missing: https://go.dev/dl".to_owned()),
        }
    }

    /// What is needed.
    fn set_up(project: &Project, engine: Engine, profile: Profile) -> Result<Self> {
        let go = Self::find(project, engine).map_err(missing)?;
        if engine == Engine::Wasm {
            return wasm::build(project)?.map(|_| go).map_err(missing);
        }
        let library = go_engines::build_library(project, profile)?.map_err(missing)?;
        let sum = Program::parse("sha256sum").arg(library.display().to_string());
        let sum = sum.read()?;
        let digest = sum.split(' ').next().unwrap_or_default();
        // Sets a variable that is not there, so it changes what Go compares and nothing else.
        let link = format!("-ldflags=-X={MODULE}/orbgate.library={digest}");
        Ok(Self { link, ..go })
    }

    /// A command of Go in the package's folder.
    fn go(&self, command: &str) -> Program {
        let cgo = match self.engine {
            Engine::Wasm => "0",
            Engine::Cgo => "1",
        };
        Program::parse(&format!("GOWORK=off go {command}"))
            .env("CGO_ENABLED", cgo)
            .within(&self.module)
    }

    /// One that builds, with the engine.
    fn with_engine(&self, command: &str) -> Program {
        let build = self.go(command).arg(self.engine.tags());
        match self.engine {
            Engine::Wasm => build,
            Engine::Cgo => build.arg(&self.link),
        }
    }

    fn test(&self) -> Result<()> {
        let unformatted = Program::parse("gofmt -l .").within(&self.module).read()?;
        ensure!(unformatted.is_empty(), "not formatted:\n{unformatted}");
        self.with_engine("vet").arg("./...").run()?;
        // Each benchmark runs once, for the answers that it checks.
        let test = self.with_engine("test -bench=. -benchtime=1x");
        test.arg("./...").run()?;
        if Compiler::C.set_up()? == StepResult::Passed {
            // The package alone: net/http under the race detector takes longer to compile than all the rest.
            let race = self.with_engine("test -race").env("CGO_ENABLED", "1");
            race.arg("./orbgate").run()?;
        }
        self.guide()?;
        match self.engine {
            Engine::Wasm => {
                conform("go", self.build("conformance", "wasm")?)?;
                self.elsewhere()
            }
            Engine::Cgo => self.linked(),
        }
    }

    /// Builds for other systems and processors than this machine's.
    fn elsewhere(&self) -> Result<()> {
        OTHERS.iter().try_for_each(|(system, processor)| {
            let build = self.with_engine("build").env("GOOS", *system);
            build.env("GOARCH", *processor).arg("./...").run()
        })
    }

    /// The cases; the program has the library in it.
    fn linked(&self) -> Result<()> {
        let runner = self.build("conformance", Linking::Static.name())?;
        Linking::Static.check(&self.home.join(Linking::Static.name()))?;
        conform("go-cgo", runner)
    }

    /// Builds a command of the module under a name.
    fn build(&self, command: &str, name: &str) -> Result<Program> {
        let program = self.home.join(name);
        let build = self.with_engine("build").path("-o", &program);
        build.arg(format!("./{command}")).run()?;
        Ok(Program::at(&program))
    }

    /// Every program in the guide builds and runs, in a module made as the guide says.
    fn guide(&self) -> Result<()> {
        let text = fs::read_to_string(self.module.join("README.md"))?;
        let programs = guide::blocks(&text, "go");
        let count = programs.len();
        ensure!(count == 4, "the guide has {count} programs");
        let home = self.home.join("guide");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        for (number, program) in programs.iter().enumerate() {
            let folder = home.join(number.to_string());
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("main.go"), program)?;
        }
        let go = |command: &str| self.go(command).within(&home);
        go("mod init guide").run()?;
        let replace = format!("-replace={MODULE}={}", self.module.display());
        go("mod edit").arg(replace).run()?;
        go("mod tidy").run()?;
        for number in 0..count {
            let run = self.with_engine("run").within(&home);
            run.arg(format!("./{number}")).run()?;
        }
        Ok(())
    }
}
