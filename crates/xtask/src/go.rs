//! The step `go`: the Go package over the installed library, linked both ways; and its conformance runner.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::conformance::Runner;
use crate::install::{self, Linking};
use crate::native::Compiler;
use crate::program::Program;
use crate::project::Project;
use crate::setup;
use crate::test::StepResult;

const MODULE: &str = "github.com/orbgate/orbgate/bindings/go";

/// Linking the shared library instead of the static one.
const SHARED: &str = "-tags=orbgate_shared";

/// Go, and the library as users install it.
struct Go {
    module: PathBuf,
    home: PathBuf,
    prefix: PathBuf,
}

/// The step.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    match Go::set_up(project)? {
        Ok(go) => go.test().map(|()| StepResult::Passed),
        Err(missing) => Ok(StepResult::Skipped(missing)),
    }
}

/// What `cargo xtask conformance go` runs.
pub(crate) fn runner(project: &Project) -> Result<Runner> {
    Ok(match Go::set_up(project)? {
        Ok(go) => Runner::Ready(go.build("conformance", "static", &[])?),
        Err(missing) => Runner::Missing(missing),
    })
}

/// The program of `cargo xtask bench --bindings`, unless a tool is missing.
pub(crate) fn benchmark(project: &Project) -> Result<Option<(&'static str, Program)>> {
    Ok(match Go::set_up(project)? {
        Ok(go) => Some(("go", go.build("bench", "bench", &[])?)),
        Err(missing) => {
            println!("go: skipped: {missing}");
            None
        }
    })
}

impl Go {
    /// What is needed, or what of it is missing.
    fn set_up(project: &Project) -> Result<Result<Self, String>> {
        if !cfg!(target_os = "linux") {
            return Ok(Err(
                "`cargo xtask install` knows only Linux's layout".to_owned()
            ));
        }
        let home = project.target.join("xtask").join("go");
        let go = Self {
            module: project.root.join("bindings").join("go"),
            prefix: home.join("prefix"),
            home,
        };
        // In the module's folder, so that a Go that is older than it asks for is one that fails.
        if !go.go("version").succeeds() || !go.go("list -m").succeeds() {
            let what = "Go 1.24 or newer is missing: https://go.dev/dl";
            return Ok(Err(what.to_owned()));
        }
        for outcome in [
            Compiler::C.set_up()?,
            setup::apt("pkg-config", "pkg-config")?,
        ] {
            if let StepResult::Skipped(what) = outcome {
                return Ok(Err(what));
            }
        }
        install::install(project, &go.prefix)?;
        Ok(Ok(go))
    }

    /// A command of Go in the package's folder.
    fn go(&self, command: &str) -> Program {
        let lib = self.prefix.join("lib");
        Program::parse(&format!("CGO_ENABLED=1 GOWORK=off go {command}"))
            .env(
                "PKG_CONFIG_PATH",
                lib.join("pkgconfig").display().to_string(),
            )
            .env("LD_LIBRARY_PATH", lib.display().to_string())
            .within(&self.module)
    }

    fn test(&self) -> Result<()> {
        let unformatted = Program::parse("gofmt -l .").within(&self.module).read()?;
        ensure!(unformatted.is_empty(), "not formatted:\n{unformatted}");
        self.go("vet ./...").run()?;
        // Each benchmark runs once, for the answers that it checks.
        self.go("test -bench=. -benchtime=1x ./...").run()?;
        // The package alone: net/http under the race detector takes longer to compile than all the rest.
        self.go("test -race ./orbgate").run()?;
        self.guide()?;
        for (linking, options) in [
            (Linking::Static, [].as_slice()),
            (Linking::Shared, &[SHARED]),
        ] {
            let runner = self.build("conformance", linking.name(), options)?;
            linking.check(&self.home.join(linking.name()))?;
            runner.arg("policy/cases").run()?;
        }
        Ok(())
    }

    /// Builds a command of the module under a name.
    fn build(&self, command: &str, name: &str, options: &[&str]) -> Result<Program> {
        let program = self.home.join(name);
        let build = options.iter().copied().fold(self.go("build"), Program::arg);
        let command = format!("./{command}");
        build.path("-o", &program).arg(command).run()?;
        let lib = self.prefix.join("lib").display().to_string();
        Ok(Program::at(&program).env("LD_LIBRARY_PATH", lib))
    }

    /// Every program in the guide builds and runs, in a module made as the guide says.
    fn guide(&self) -> Result<()> {
        let text = fs::read_to_string(self.module.join("README.md"))?;
        let programs: Vec<_> = text.split("```go\n").skip(1).collect();
        let count = programs.len();
        ensure!(count == 4, "the guide has {count} programs");
        let home = self.home.join("guide");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        for (number, program) in programs.into_iter().enumerate() {
            let folder = home.join(number.to_string());
            fs::create_dir_all(&folder)?;
            let source = program.split("```").next().unwrap_or_default();
            fs::write(folder.join("main.go"), source)?;
        }
        let go = |command: &str| self.go(command).within(&home);
        go("mod init guide").run()?;
        let replace = format!("-replace={MODULE}={}", self.module.display());
        go("mod edit").arg(replace).run()?;
        go("mod tidy").run()?;
        for number in 0..count {
            go("run").arg(format!("./{number}")).run()?;
        }
        Ok(())
    }
}
