//! The Go module as a proxy serves it, and what its users do with it: `go get` and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::go::MODULE;
use crate::guide;
use crate::program::Program;
use crate::project::Project;
use crate::test::StepResult;

/// What the first program of the guide prints.
const ANSWER: &str = "allowed, and consumes orbs\n";

/// Writes the files of a module proxy below a folder: `go get` with `GOPROXY=file://FOLDER` has the module from there. The same
/// sources give the same bytes. The WebAssembly module must be there. Gives the files, the archive first.
pub(crate) fn write_proxy(project: &Project, folder: &Path) -> Result<Vec<PathBuf>> {
    let version = version(project)?;
    let source = project.root.join("bindings").join("go");
    ensure!(
        source.join("orbgate").join("orbgate.wasm").exists(),
        "bindings/go has no WebAssembly module: cargo xtask wasm"
    );
    let place = folder.join(MODULE).join("@v");
    fs::create_dir_all(&place)?;
    fs::write(place.join("list"), format!("{version}\n"))?;
    let info = format!("{{\"Version\":\"{version}\"}}\n");
    fs::write(place.join(format!("{version}.info")), info)?;
    let module = fs::read(source.join("go.mod"))?;
    fs::write(place.join(format!("{version}.mod")), module)?;
    let program = project.root.join("crates/xtask/src/go_module.go");
    Program::parse("GOWORK=off CGO_ENABLED=0 go run")
        .arg(program.display().to_string())
        .arg(source.display().to_string())
        .arg(format!("{MODULE}@{version}"))
        .arg(place.join(format!("{version}.zip")).display().to_string())
        .run()?;
    let ends = [".zip", ".mod", ".info"].map(|end| place.join(format!("{version}{end}")));
    Ok(ends.into_iter().chain([place.join("list")]).collect())
}

/// The version as Go writes it.
fn version(project: &Project) -> Result<String> {
    Ok(format!("v{}", project.core()?.version))
}

/// Installs the module where there is neither Rust nor a C compiler nor a checkout, and runs the guide's first program and the cases.
pub(crate) fn test(project: &Project) -> Result<StepResult> {
    let home = project.target.join("xtask").join("go-module");
    if home.exists() {
        // Go makes what it has downloaded read-only.
        Program::parse("chmod -R u+w")
            .arg(home.display().to_string())
            .run()?;
        fs::remove_dir_all(&home)?;
    }
    let proxy = home.join("proxy");
    write_proxy(project, &proxy)?;
    install(project, &proxy, &home)?;
    Ok(StepResult::Passed)
}

/// The same from a proxy that is there.
pub(crate) fn install(project: &Project, proxy: &Path, home: &Path) -> Result<()> {
    let user = User::new(project, proxy, home)?;
    let guide = fs::read_to_string(project.root.join("bindings/go/README.md"))?;
    let programs = guide::blocks(&guide, "go");
    let program = programs.first().context("the guide has no program")?;
    fs::write(user.module.join("main.go"), program)?;
    user.go(&["mod", "init", "example.com/first"])?;
    // As the guide says it: a line that leaves something to do fails here.
    let lines = guide::blocks(&guide, "sh");
    let get = lines
        .first()
        .and_then(|line| line.trim().strip_prefix("go "));
    let get = get.context("the guide does not begin with `go get`")?;
    user.go(&get.split(' ').collect::<Vec<_>>())?;
    let answer = user.go(&["run", "."])?;
    ensure!(answer == ANSWER, "the first program printed {answer:?}");
    let cases = project.root.join("policy/cases").display().to_string();
    let runner = format!("{MODULE}/conformance");
    let ran = user.go(&["run", &runner, &cases])?;
    let ran = ran.lines().last().unwrap_or_default();
    ensure!(ran.starts_with("ran "), "the cases ended with `{ran}`");
    println!("installed from a module proxy: {ran}");
    Ok(())
}

/// Somebody who has Go and nothing else.
struct User {
    home: PathBuf,
    module: PathBuf,
    /// The folder of the program `go`.
    path: String,
    proxy: String,
}

impl User {
    fn new(project: &Project, proxy: &Path, home: &Path) -> Result<Self> {
        let module = home.join("module");
        fs::create_dir_all(&module)?;
        let read = |name: &str| -> Result<String> {
            let value = Program::parse("go env").arg(name).within(&project.root);
            Ok(value.read()?.trim().to_owned())
        };
        let path = format!("{}/bin", read("GOROOT")?);
        for tool in ["cargo", "rustc", "gcc", "cc", "clang"] {
            ensure!(!Path::new(&path).join(tool).exists(), "{path} has {tool}");
        }
        Ok(Self {
            home: home.to_owned(),
            module,
            path,
            // Ours from the folder, and what it needs from where Go has it.
            proxy: format!("file://{},{}", proxy.display(), read("GOPROXY")?),
        })
    }

    /// Runs Go with an environment of its own, and gives what it prints.
    fn go(&self, arguments: &[&str]) -> Result<String> {
        let go = Program::at(&Path::new(&self.path).join("go"));
        let go = arguments.iter().copied().fold(go, Program::arg);
        let go = go.within(&self.module);
        println!("$ {go}");
        let home = |name: &str| self.home.join(name);
        let output = go
            .command()?
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", home("home"))
            .env("GOPATH", home("gopath"))
            .env("GOMODCACHE", home("modules"))
            .env("GOCACHE", home("cache"))
            .env("GOPROXY", &self.proxy)
            // The module is not published, so no database knows its digest.
            .env("GONOSUMDB", MODULE)
            .env("GOTOOLCHAIN", "local")
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{go}` failed:\n{said}");
        Ok(String::from_utf8(output.stdout)?)
    }
}
