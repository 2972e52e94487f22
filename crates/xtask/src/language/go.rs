//! The step `go`: the Go package over each of its engines, WebAssembly and the C library; and its conformance runners.
//!
//! Go has no runner of tasks: what is more than `go test` is a row of [`Go::test`].

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

/// The cases, with a shared library that is installed below a prefix, instead of the static one that the package carries.
pub(crate) fn conform_with_shared(project: &Project, prefix: &Path) -> Result<StepResult> {
    step(|| {
        let go = Go::find(project, Engine::Cgo)?;
        let lib = prefix.join("lib").display().to_string();
        let program = go.home.join("shared");
        let build = go.go("build -tags=orbgate_cgo,orbgate_shared ./conformance");
        let build = build.env("PKG_CONFIG_PATH", format!("{lib}/pkgconfig"));
        build.path("-o", &program).run()?;
        Linking::Shared.check(&program)?;
        let run = Program::at(&program).env("LD_LIBRARY_PATH", lib);
        conform("go, with an installed library", run)
    })
}

/// Whether there is Go.
pub(crate) fn ready(project: &Project) -> Result<StepResult> {
    step(|| Go::find(project, Engine::Wasm).map(|_| ()))
}

/// A command of the package that takes one more argument: the runner of the cases, or what measures.
pub(crate) fn program(
    project: &Project,
    engine: Engine,
    profile: Profile,
    command: &str,
) -> Result<Program> {
    let go = Go::set_up(project, engine, profile)?;
    go.build(command).map(|program| Program::at(&program))
}

impl Go {
    /// Go alone. In the module's folder, so that a Go that is older than it asks for is one that fails.
    fn find(project: &Project, engine: Engine) -> Result<Self> {
        let go = Self {
            engine,
            module: project.root.join("bindings").join("go"),
            home: project.target.join("xtask").join("go"),
            link: String::new(),
        };
        match go.go("list -m").succeeds() {
            true => Ok(go),
            false => {
                let what = "Go 1.24 or newer is missing: https://go.dev/dl";
                Err(missing(what.to_owned()))
            }
        }
    }

    /// What is needed.
    fn set_up(project: &Project, engine: Engine, profile: Profile) -> Result<Self> {
        let go = Self::find(project, engine)?;
        if engine == Engine::Wasm {
            return wasm::build(project)?.map(|_| go).map_err(missing);
        }
        let library = go_engines::build_library(project, profile)?.map_err(missing)?;
        let sum = Program::parse("sha256sum").arg(library).read()?;
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
        let go = Program::parse(&format!("GOWORK=off CGO_ENABLED={cgo} go {command}"));
        go.within(&self.module)
    }

    /// One that builds, with the engine.
    fn with_engine(&self, command: &str) -> Program {
        match self.engine {
            Engine::Wasm => self.go(command),
            Engine::Cgo => self.go(command).arg("-tags=orbgate_cgo").arg(&self.link),
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
        let runner = self.build("conformance")?;
        if self.engine == Engine::Cgo {
            Linking::Static.check(&runner)?;
            return conform("go-cgo", Program::at(&runner));
        }
        conform("go", Program::at(&runner))?;
        OTHERS.iter().try_for_each(|(system, processor)| {
            let build = self.with_engine("build").env("GOOS", *system);
            build.env("GOARCH", *processor).arg("./...").run()
        })
    }

    /// Builds a command of the module.
    fn build(&self, command: &str) -> Result<PathBuf> {
        let program = self.home.join(format!("{command}-{:?}", self.engine));
        let build = self.with_engine("build").path("-o", &program);
        build.arg(format!("./{command}")).run()?;
        Ok(program)
    }

    /// Every program in the guide builds and runs, in a module made as the guide says.
    fn guide(&self) -> Result<()> {
        let text = fs::read_to_string(self.module.join("README.md"))?;
        let programs = guide::blocks(&text, "go");
        ensure!(programs.len() == 4, "{} programs", programs.len());
        let home = self.home.join("guide");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        for (number, program) in programs.iter().enumerate() {
            let folder = home.join(number.to_string());
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("main.go"), program)?;
        }
        self.go("mod init guide").within(&home).run()?;
        let replace = format!("-replace={MODULE}={}", self.module.display());
        let edit = self.go("mod edit").within(&home);
        edit.arg(replace).run()?;
        self.go("mod tidy").within(&home).run()?;
        for number in 0..programs.len() {
            let run = self.with_engine("run").within(&home);
            run.arg(format!("./{number}")).run()?;
        }
        Ok(())
    }
}
