//! What users of the Go package do, where there is Go and, of all other programs, those that they need: no Rust, no pkg-config, no
//! checkout.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::guide;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::cases::{CASES, count_cases, run_cases};
use crate::language::go::MODULE;

/// What the first program of the guide prints.
const ANSWER: &str = "allowed, and consumes orbs\n";

/// Where Go looks for the repository.
pub(crate) const REPOSITORY: &str = "https://github.com/orbgate/orbgate";

/// A processor that the module has a library for.
#[derive(Debug)]
pub(crate) struct Native {
    /// Go's name.
    processor: &'static str,
    /// What the names of its compiler and linker begin with.
    prefix: String,
    /// What runs its programs, words separated by spaces.
    emulator: String,
}

impl Native {
    /// This machine's processor.
    pub(crate) const fn own(processor: &'static str) -> Self {
        Self {
            processor,
            prefix: String::new(),
            emulator: String::new(),
        }
    }

    /// Another processor, by its name on Linux.
    pub(crate) fn other(processor: &'static str, name: &str) -> Self {
        Self {
            processor,
            prefix: format!("{name}-linux-gnu-"),
            emulator: format!("qemu-{name} -L /usr/{name}-linux-gnu"),
        }
    }

    const fn is_own(&self) -> bool {
        self.prefix.is_empty()
    }

    /// The variables that a user types before `go build`.
    fn variables(&self) -> String {
        match self.is_own() {
            true => String::new(),
            false => format!(
                "CC={}gcc CGO_ENABLED=1 GOARCH={} ",
                self.prefix, self.processor
            ),
        }
    }
}

/// Several users. They share only what Go has built.
#[derive(Debug)]
pub(crate) struct Users<'a> {
    project: &'a Project,
    home: &'a Path,
    guide: String,
    /// The folder of the program `go`.
    go: PathBuf,
    /// Where Go has modules from: ours, then others.
    proxy: String,
}

impl<'a> Users<'a> {
    /// Users who get the module from a proxy's folder. Their own folders are below `home`.
    pub(crate) fn new(project: &'a Project, proxy: &Path, home: &'a Path) -> Result<Self> {
        let read = |name: &str| -> Result<String> {
            let value = Program::parse("go env").arg(name).within(&project.root);
            Ok(value.read()?.trim().to_owned())
        };
        let go = Path::new(&read("GOROOT")?).join("bin");
        for tool in ["cargo", "rustc", "gcc", "cc", "clang", "pkg-config"] {
            ensure!(!go.join(tool).exists(), "{} has {tool}", go.display());
        }
        let others = read("GOPROXY")?;
        Ok(Self {
            project,
            home,
            guide: fs::read_to_string(project.root.join("bindings/go/README.md"))?,
            go,
            proxy: format!("file://{},{others}", proxy.display()),
        })
    }

    /// Somebody with Go and nothing else gets the module, and runs the guide's first program and the cases.
    pub(crate) fn without_compiler(&self) -> Result<()> {
        // The module is not published, so no database knows its digest.
        let user = self.user(
            "go",
            &[],
            &[("GOPROXY", &self.proxy), ("GONOSUMDB", MODULE)],
        )?;
        self.begin(&user)?;
        answers(&user.types("go run ."))?;
        self.conforms(user.types(&format!("go run {MODULE}/conformance")))
    }

    /// The same with a C compiler and the library that is linked into the program; with the modules in a folder `vendor`, too.
    pub(crate) fn with_compiler(&self, native: &Native) -> Result<()> {
        let tools = ["gcc", "as", "ld"].map(|name| format!("{}{name}", native.prefix));
        let emulator = native.emulator.split(' ').next();
        let emulator = emulator.filter(|name| !name.is_empty());
        let programs: Vec<_> = tools
            .into_iter()
            .chain(emulator.map(str::to_owned))
            .collect();
        let variables = [("GOPROXY", self.proxy.as_str()), ("GONOSUMDB", MODULE)];
        let user = self.user(native.processor, &programs, &variables)?;
        self.begin(&user)?;
        let variables = native.variables();
        let build = format!("{variables}go build -tags orbgate_cgo");
        // The guide's other processor is arm64.
        ensure!(
            self.guide.contains(&format!("\n{build} .")) || native.processor == "amd64",
            "the guide has no line `{build} .`"
        );
        let run = |program: &str| {
            let words = format!("{} {}/{program}", native.emulator, user.module.display());
            user.types(words.trim())
        };
        user.types(&format!("{build} .")).run()?;
        answers(&run("first"))?;
        let all = format!("{build} -o conformance {MODULE}/conformance");
        user.types(&all).run()?;
        self.conforms(run("conformance"))?;
        if native.is_own() {
            user.types("go mod vendor").run()?;
            user.types(&format!("{build} -o vendored .")).run()?;
            answers(&run("vendored"))?;
        }
        Ok(())
    }

    /// A new module with the guide's first program, and `go get` as the guide has it: a line that leaves something to do fails here.
    fn begin(&self, user: &User) -> Result<()> {
        let programs = guide::blocks(&self.guide, "go");
        let program = programs.first().context("the guide has no program")?;
        fs::write(user.module.join("main.go"), program)?;
        user.types("go mod init example.com/first").run()?;
        let lines = guide::blocks(&self.guide, "sh");
        let get = lines.first().map_or("", |line| line.trim());
        ensure!(get.starts_with("go get "), "the guide begins with `{get}`");
        user.types(get).run()
    }

    fn conforms(&self, runner: Program) -> Result<()> {
        let cases = self.project.root.join(CASES);
        let ran = run_cases(&runner.arg(cases.display().to_string()))?;
        ensure!(ran == count_cases(&cases)?, "ran only {ran} cases");
        Ok(())
    }

    fn user(&self, name: &str, programs: &[String], variables: &[(&str, &str)]) -> Result<User> {
        let home = self.home.join(name);
        let (module, bin) = (home.join("module"), home.join("bin"));
        fs::create_dir_all(&module)?;
        fs::create_dir_all(&bin)?;
        for program in programs {
            symlink(found(program)?, bin.join(program))?;
        }
        let mut environment = vec![
            format!("PATH={}:{}", self.go.display(), bin.display()),
            format!("HOME={}", home.display()),
            format!("GOPATH={}", home.join("gopath").display()),
            format!("GOCACHE={}", self.home.join("cache").display()),
            "GOTOOLCHAIN=local".to_owned(),
        ];
        let variables = variables.iter();
        environment.extend(variables.map(|(name, value)| format!("{name}={value}")));
        Ok(User {
            module,
            environment,
        })
    }
}

/// Where a program is.
fn found(program: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    let file = files.find(|file| file.exists());
    file.with_context(|| format!("`{program}` is missing"))
}

/// Fails if the first program prints anything else.
fn answers(program: &Program) -> Result<()> {
    println!("$ {program}");
    let answer = program.read()?;
    ensure!(answer == ANSWER, "the first program printed {answer:?}");
    print!("{answer}");
    Ok(())
}

/// One of them.
struct User {
    module: PathBuf,
    /// All variables.
    environment: Vec<String>,
}

impl User {
    /// What this user types in the module's folder, variables before the program.
    fn types(&self, line: &str) -> Program {
        let environment = Program::parse("env -i").within(&self.module);
        let words = line.split_whitespace().map(str::to_owned);
        let words = self.environment.iter().cloned().chain(words);
        environment.args(words)
    }
}
