//! `cargo xtask test python`: the Python package, built once and tested as users have it, installed. The sessions are nox's, in
//! `bindings/python/noxfile.py`; here is what finds the Pythons and sets up nox.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::{setup, skipped};
use crate::language::cases::conform;
use crate::language::java;
use crate::language::library::{COMMAND, Profile};

/// What answers the cases.
pub(crate) const CONFORMANCE: &str = "conformance/conformance.py";

/// A Python that the package is for says its minor version and where it is. The wheel is for the stable interface, which
/// Pythons without a lock do not have yet.
const PROBE: &str = "import sys, sysconfig as c; ok = sys.implementation.name == 'cpython' and sys.version_info >= (3, 10) and \
    not c.get_config_var('Py_GIL_DISABLED'); print(sys.version_info[1], sys.executable) if ok else exit(1)";

/// All but the package's long tests in the newest Python of the machine, and those of the native module in the others.
pub(crate) fn run(project: &Project) -> Result<()> {
    let nox = Nox::set_up(project)?;
    for (program, name) in [("valgrind", "valgrind"), ("minisign -v", "minisign")] {
        if let Err(what) = setup::apt(program, name) {
            skipped::note(&format!("Python's tests with {name}: {what}"))?;
        }
    }
    // The package's answers are held to the command's, and the tutorial runs the gateway.
    Program::parse(COMMAND).words("--test gateway").run()?;
    let command = project.target.join("debug").join("orbgate");
    let command = command.with_extension(std::env::consts::EXE_EXTENSION);
    nox.wheel(project, Profile::Tests)?;
    nox.session("tests").run()?;
    let everything = nox.session("everything");
    let everything = everything.env("ORBGATE_COMMAND", command.display().to_string());
    let everything = everything.arg("--").arg("-m=not published and not long");
    everything.run()?;
    conform("python", nox.python("everything", CONFORMANCE))
}

/// The wheel of a release: all tests in every Python but the newest, the oldest frameworks, size, speed, and the long tests.
pub(crate) fn others(project: &Project) -> Result<()> {
    let nox = Nox::set_up(project)?;
    setup::apt("chromium", "chromium")?;
    // The report's test shows a page in each of these.
    let fonts = "fc-list -q 'Liberation Sans' && fc-list -q 'DejaVu Sans'";
    let fonts = Program::parse("sh crates/xtask/src/kit/apt.sh").arg(fonts);
    let _ = fonts.words("fontconfig fonts-liberation fonts-dejavu-core").run();
    let without = "the tests with Spark: Java 17 or 21 is missing";
    let java = java::for_spark().context(without)?;
    nox.wheel(project, Profile::Release)?;
    nox.session("tests oldest long").words("-- every").env("JAVA_HOME", java.display().to_string()).run()
}

/// A script of the package, with the package installed in the newest Python.
pub(crate) fn script(project: &Project, profile: Profile, path: &str) -> Result<Program> {
    let nox = Nox::set_up(project)?;
    nox.wheel(project, profile)?;
    nox.session("installed").run()?;
    Ok(nox.python("installed", path))
}

/// The Pythons of the machine that the package is for, one of each version, the oldest first: on the path, and pyenv's.
pub(crate) fn executables() -> Vec<PathBuf> {
    let pyenv = std::env::home_dir().unwrap_or_default().join(".pyenv/versions");
    let pyenv = fs::read_dir(pyenv).into_iter().flatten().flatten();
    let pyenv = pyenv.map(|version| version.path().join("bin").join("python"));
    let on_path = (10..=15).map(|minor| PathBuf::from(format!("python3.{minor}")));
    let mut versions = BTreeMap::new();
    for python in on_path.chain(pyenv).chain(["python3".into()]) {
        let answer = Program::at(&python).arg("-c").arg(PROBE).read();
        if let Some((minor, path)) = answer.unwrap_or_default().trim().split_once(' ') {
            let minor: u32 = minor.parse().unwrap_or_default();
            versions.entry(minor).or_insert_with(|| path.into());
        }
    }
    versions.into_values().collect()
}

/// Nox, and maturin and uv, in an environment of their own.
struct Nox {
    /// Where environments are made.
    home: PathBuf,
    /// The package's sources.
    package: PathBuf,
    /// Where programs are looked for: first the tools, then the Pythons.
    path: String,
}

impl Nox {
    fn set_up(project: &Project) -> Result<Self> {
        setup::apt("python3 -m ensurepip", "python3 python3-venv")?;
        let pythons = executables();
        let newest = pythons.last().context("no Python from 3.10 on")?;
        let home = project.target.join("xtask").join("python");
        let package = project.root.join("bindings").join("python");
        let tools = home.join("tools");
        if !Program::at(&programs(&tools).join("pip")).arg("--version").succeeds() {
            let venv = Program::at(newest).words("-m venv --clear");
            venv.arg(&tools).run()?;
        }
        let pip = Program::at(&programs(&tools).join("pip")).words("install --quiet");
        pip.path("-r", &package.join("tools.txt")).run()?;
        let folders = pythons.iter().filter_map(|python| python.parent());
        let folders = [programs(&tools)].into_iter().chain(folders.map(Path::to_owned));
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&usual)))?;
        let path = path.to_string_lossy().into_owned();
        Ok(Self { home, package, path })
    }

    /// These sessions, in new environments.
    fn session(&self, names: &str) -> Program {
        let nox = Program::at(&programs(&self.home.join("tools")).join("nox"));
        let nox = nox.env("PATH", &self.path).within(&self.package);
        let nox = nox.path("--envdir", &self.home.join("envs"));
        nox.words("--session").words(names)
    }

    /// Builds the wheel.
    fn wheel(&self, project: &Project, profile: Profile) -> Result<()> {
        if profile == Profile::Tests {
            return self.session("wheel -- --profile dev").run();
        }
        // All files of all archives have one time, so cargo would take what an earlier archive gave for fresh.
        let clean = Program::parse("cargo clean --quiet --profile published -p orbgate-python");
        let names = project.published().map(|package| package.name.as_str());
        let clean = names.fold(clean, |clean, name| clean.arg("-p").arg(name));
        clean.run()?;
        self.session("wheel").run()
    }

    /// A script of the package in the environment of a session.
    fn python(&self, session: &str, path: &str) -> Program {
        let python = programs(&self.home.join("envs").join(session)).join("python");
        let python = Program::at(&python).env("PYTHONDONTWRITEBYTECODE", "1");
        python.arg(self.package.join(path))
    }
}

/// Where an environment has its programs.
fn programs(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}
