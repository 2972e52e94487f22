//! `cargo xtask python`: the Python package, built once and tested as users have it, installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::outcome::{StepResult, missing, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::kit::skipped;
use crate::language::cases::conform;
use crate::language::java;
use crate::language::library::Profile;

/// The minor versions of Python 3 that the package is for; newer ones are found, too.
const MINORS: core::ops::RangeInclusive<u32> = 10..=15;

/// The file of the `orbgate` command.
const COMMAND: &str = if cfg!(windows) {
    "orbgate.exe"
} else {
    "orbgate"
};

/// The package's runner of the cases.
const CONFORMANCE: &str = "conformance/conformance.py";

/// What a Python says of itself: its implementation, version, executable and whether it has no lock.
const PROBE: &str = "import sys, sysconfig as c; print(sys.implementation.name, *sys.version_info[:2], \
    c.get_config_var('Py_GIL_DISABLED') or 0, sys.executable)";

/// The package's tests, in every Python of the machine.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        let build = Build::new(project, Profile::Release)?;
        let java = java::for_spark();
        let browser = setup::apt("chromium", "chromium")?;
        let newest = build.newest();
        // As the workspace's own tests build it.
        Program::parse("cargo build --workspace --all-features --bin orbgate").run()?;
        for version in build.pythons.keys() {
            let installed = build.install(version)?;
            if Some(version) == newest {
                installed.test_everything(&build, java.as_deref(), &browser)?;
                let runner = build.package.join(CONFORMANCE);
                conform("python", installed.python().arg(runner))?;
                installed.check_memory(&build)?;
                installed.check_types(&build)?;
            } else {
                // What comes only with the newest is not skipped here but tested there.
                let tests = installed.tests(&build, "not once")?;
                tests.env(skipped::VARIABLE, "").run()?;
            }
        }
        build.say_what_was_tested();
        let without = "the tests with Spark: Java 17 or 21 is missing";
        java.map_or(Err(missing(without.to_owned())), |_| browser.needed())
    })
}

/// The program of `cargo xtask bench --bindings`.
pub(crate) fn benchmark(project: &Project) -> Result<(&'static str, Program)> {
    Ok((
        "python",
        script(project, Profile::Release, "bench/bench.py")?,
    ))
}

/// The package's runner of the cases.
pub(crate) fn runner(project: &Project) -> Result<Program> {
    script(project, Profile::Tests, CONFORMANCE)
}

/// A script that takes one more argument, with the package installed in the newest Python.
fn script(project: &Project, profile: Profile, path: &str) -> Result<Program> {
    let build = Build::new(project, profile)?;
    let newest = build.newest().context("no Python")?;
    let python = build.install(newest)?.python();
    Ok(python.arg(build.package.join(path)))
}

/// The wheel, and where it can be installed.
struct Build {
    /// Where environments are made.
    home: PathBuf,
    /// The programs that build and install.
    tools: PathBuf,
    /// The package's sources.
    package: PathBuf,
    pythons: BTreeMap<Version, PathBuf>,
    wheel: PathBuf,
    /// The `orbgate` command, to which the package's answers are held.
    command: PathBuf,
}

impl Build {
    /// Sets up what is missing and builds the wheel; or says what could not be set up.
    fn new(project: &Project, profile: Profile) -> Result<Self> {
        let home = project.target.join("xtask").join("python");
        let package = project.root.join("bindings").join("python");
        let tools = programs(&home.join("tools"));
        if !makes_environments(&home, &pythons()) {
            setup::apt("python3 -m ensurepip", "python3 python3-venv")?;
        }
        let pythons = pythons();
        if pythons.is_empty() || !makes_environments(&home, &pythons) {
            let what = "no Python from 3.10 on with `venv`, neither on the path nor among pyenv's";
            return Err(missing(what.to_owned()));
        }
        let pip = program(&tools, "pip").arg("install").arg("--quiet");
        pip.path("-r", &package.join("tools.txt")).run()?;
        let wheel = wheel(project, profile, &home, &package, &tools)?;
        Ok(Self {
            home,
            tools,
            package,
            pythons,
            wheel,
            command: project.target.join("debug").join(COMMAND),
        })
    }

    fn newest(&self) -> Option<&Version> {
        self.pythons.keys().next_back()
    }

    /// Makes a new environment with the wheel and nothing else, and imports it there.
    fn install(&self, version: &Version) -> Result<Installed> {
        let python = self.pythons.get(version).context("no such Python")?;
        let environment = self.home.join(version.to_string());
        let make = program(&self.tools, "uv").words("venv --quiet --clear");
        let make = make.path("--python", python);
        make.arg(environment.display().to_string()).run()?;
        let programs = programs(&environment);
        let installed = Installed {
            python: programs.join("python"),
            programs,
        };
        let install = installed.install(self).arg("--no-deps");
        install.arg(self.wheel.display().to_string()).run()?;
        let import =
            "import orbgate; print('imported', orbgate.__version__, orbgate.Policy.external())";
        installed.python().arg("-c").arg(import).run()?;
        Ok(installed)
    }

    fn say_what_was_tested(&self) {
        let said = |versions: Vec<String>| versions.join(", ");
        let tested = self.pythons.keys().map(Version::to_string).collect();
        println!("tested in Python {}", said(tested));
        let with_lock = MINORS.map(|minor| (minor, false));
        let without = (14..=15).map(|minor| (minor, true));
        let missing = with_lock
            .chain(without)
            .map(|(minor, free_threaded)| Version {
                minor,
                free_threaded,
            });
        let missing = missing.filter(|version| !self.pythons.contains_key(version));
        let missing = missing.map(|version| version.to_string()).collect();
        println!("not here, so not tested: Python {}", said(missing));
    }
}

/// A version of CPython 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    minor: u32,
    free_threaded: bool,
}

impl core::fmt::Display for Version {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "3.{}{}",
            self.minor,
            if self.free_threaded { "t" } else { "" }
        )
    }
}

/// The Pythons of the machine, one for each version: on the path, and those of pyenv, which uv does not find.
fn pythons() -> BTreeMap<Version, PathBuf> {
    let on_path = MINORS.rev().map(|minor| format!("python3.{minor}"));
    let mut candidates: Vec<_> = on_path.chain(["python3".to_owned()]).collect();
    let home = std::env::home_dir().unwrap_or_default();
    let pyenv = fs::read_dir(home.join(".pyenv").join("versions"));
    for version in pyenv.into_iter().flatten().flatten() {
        let python = version.path().join("bin").join("python");
        candidates.push(python.display().to_string());
    }
    let found = candidates.into_iter().filter_map(|candidate| {
        let probe = Program::parse("").arg(candidate).arg("-c").arg(PROBE);
        version(&probe.output().ok()?.stdout)
    });
    let mut pythons = BTreeMap::new();
    for (version, path) in found {
        pythons.entry(version).or_insert(path);
    }
    pythons
}

/// Their executables, the oldest version first.
pub(crate) fn executables() -> Vec<PathBuf> {
    pythons().into_values().collect()
}

/// Reads the answer to [`PROBE`], if the package is for that Python.
fn version(answer: &str) -> Option<(Version, PathBuf)> {
    let mut words = answer.trim().splitn(5, ' ');
    let (implementation, major) = (words.next()?, words.next()?);
    let (minor, free_threaded, path) = (words.next()?, words.next()?, words.next()?);
    let version = Version {
        minor: minor.parse().ok()?,
        free_threaded: free_threaded == "1",
    };
    // The wheel is for the stable interface, which Pythons without a lock do not have yet.
    let ours = implementation == "cpython"
        && major == "3"
        && version.minor >= *MINORS.start()
        && !version.free_threaded;
    ours.then(|| (version, path.into()))
}

/// Whether there is an environment for the programs that build and install, or one of these can make it.
fn makes_environments(home: &Path, pythons: &BTreeMap<Version, PathBuf>) -> bool {
    let tools = home.join("tools");
    let makes = |python: &PathBuf| {
        let make = Program::parse("").arg(python.display().to_string());
        make.arg("-m").path("venv", &tools).succeeds()
    };
    program(&programs(&tools), "pip")
        .arg("--version")
        .succeeds()
        || pythons.values().rev().any(makes)
}

/// Where an environment has its programs.
fn programs(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

fn program(directory: &Path, name: &str) -> Program {
    Program::parse("").arg(directory.join(name).display().to_string())
}

/// Builds the wheel in the target directory of all other builds: that of a release from the source archive, which shows that it can be.
fn wheel(
    project: &Project,
    profile: Profile,
    home: &Path,
    package: &Path,
    tools: &Path,
) -> Result<PathBuf> {
    let wheels = home.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let options = match profile {
        Profile::Tests => "build --profile dev",
        Profile::Release => {
            clean(project)?;
            "build --profile published --sdist"
        }
    };
    let build = program(tools, "maturin")
        .words(options)
        .path("--out", &wheels);
    let build = build.path("--target-dir", &project.target).within(package);
    build.run()?;
    let built: Vec<_> = fs::read_dir(&wheels)?.collect::<Result<_, _>>()?;
    let mut built = built.into_iter().map(|file| file.path());
    let wheel = built.find(|file| file.extension().is_some_and(|end| end == "whl"));
    wheel.context("maturin built no wheel")
}

/// Forgets what an earlier archive gave: all files of all archives have one time, so cargo would take it for fresh.
fn clean(project: &Project) -> Result<()> {
    let clean = Program::parse("cargo clean --quiet --profile published -p orbgate-python");
    let names = project.published().map(|package| package.name.as_str());
    names
        .fold(clean, |clean, name| clean.arg("-p").arg(name))
        .run()
}

/// An environment with the wheel installed.
struct Installed {
    python: PathBuf,
    programs: PathBuf,
}

impl Installed {
    fn python(&self) -> Program {
        Program::parse("PYTHONDONTWRITEBYTECODE=1").arg(self.python.display().to_string())
    }

    fn install(&self, build: &Build) -> Program {
        let install = program(&build.tools, "uv")
            .arg("pip")
            .arg("install")
            .arg("--quiet");
        install.path("--python", &self.python)
    }

    /// All of the package's tests; those with Spark where there is a Java for it, those with a browser where there is one.
    fn test_everything(
        &self,
        build: &Build,
        java: Option<&Path>,
        browser: &StepResult,
    ) -> Result<()> {
        let needs = build.package.join("tests").join("requirements-once.txt");
        // Spark comes as a source archive, which holds what is compiled for Java.
        let install = self.install(build);
        let install = install.words("--only-binary :all: --no-binary pyspark");
        install.path("-r", &needs).run()?;
        let marked = match browser {
            StepResult::Passed => "",
            StepResult::Skipped(_) => "not browser",
        };
        let tests = self.tests(build, marked)?;
        let tests = match java {
            Some(home) => tests.env("JAVA_HOME", home.display().to_string()),
            None => tests.arg("--ignore=tests/test_spark.py"),
        };
        tests.run()
    }

    /// Arrow data crosses to the native module and back under valgrind, which sees every access outside its bounds and
    /// every leak. What Python and pyarrow do among themselves is theirs.
    fn check_memory(&self, build: &Build) -> Result<()> {
        if let StepResult::Skipped(what) = setup::apt("valgrind", "valgrind")? {
            return skipped::note(&format!("Python's Arrow code under valgrind: {what}"));
        }
        let found = build.home.join("valgrind.xml");
        let valgrind = "PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system valgrind --quiet --fair-sched=yes \
                        --leak-check=full --show-leak-kinds=definite --num-callers=40 --xml=yes";
        let valgrind = Program::parse(valgrind).arg(format!("--xml-file={}", found.display()));
        let program = build.package.join("tests").join("arrow_memory.py");
        let run = valgrind.arg(self.python.display().to_string());
        run.arg(program.display().to_string()).run()?;
        let found = fs::read_to_string(&found)?;
        let ours: Vec<_> = found
            .split("<error>")
            .skip(1)
            .filter(|error| is_ours(error))
            .collect();
        ensure!(ours.is_empty(), "valgrind:\n{}", ours.join("\n"));
        Ok(())
    }

    /// The package's tests with these marks and the examples of its documentation.
    fn tests(&self, build: &Build, marked: &str) -> Result<Program> {
        let needs = build.package.join("tests").join("requirements.txt");
        let install = self.install(build).words("--only-binary :all:");
        install.path("-r", &needs).run()?;
        let pytest =
            "-m pytest --quiet -p no:cacheprovider --doctest-modules --pyargs orbgate tests";
        let pytest = self.python().words(pytest).arg("-m").arg(marked);
        let pytest = pytest.env("ORBGATE_COMMAND", build.command.display().to_string());
        Ok(pytest.within(&build.package))
    }

    /// Compares the stubs with the module, and checks the types of package, tests and runner.
    fn check_types(&self, build: &Build) -> Result<()> {
        let package = &build.package;
        let install = self.install(build);
        install.path("-r", &package.join("types.txt")).run()?;
        let stubtest = self.python().words("-m mypy.stubtest orbgate --allowlist");
        let allowed = package.join("stubtest-allowlist.txt");
        stubtest.arg(allowed.display().to_string()).run()?;
        // In a folder without sources, mypy sees the installed package.
        let mypy = || {
            self.python()
                .words("-m mypy --strict --cache-dir=/dev/null")
        };
        mypy().words("-p orbgate").within(&self.programs).run()?;
        mypy()
            .words("tests conformance example bench")
            .within(package)
            .run()?;
        // With `--verifytypes` it looks for packages through the path alone.
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.programs.display());
        let pyright = || program(&self.programs, "pyright").env("PATH", &path);
        pyright()
            .words("--ignoreexternal --verifytypes orbgate")
            .within(&self.programs)
            .run()?;
        pyright()
            .words("tests conformance example bench")
            .within(package)
            .run()
    }
}

/// Whether what valgrind found has to do with the native module. What a module makes once, when it is imported, it keeps.
fn is_ours(error: &str) -> bool {
    let is_kept = error.contains("<kind>Leak_") && error.contains("<fn>PyModule_ExecDef</fn>");
    error.contains("/orbgate/_native.") && !is_kept
}

#[cfg(test)]
mod tests {
    use super::{Version, is_ours, version};

    #[test]
    fn what_valgrind_finds_of_others_is_theirs() {
        let error = |kind: &str, module: &str, function: &str| {
            let frame = format!("<obj>/lib/{module}</obj><fn>{function}</fn>");
            is_ours(&format!(
                "<kind>{kind}</kind><frame>{frame}</frame></error>"
            ))
        };
        assert!(error(
            "InvalidRead",
            "orbgate/_native.abi3.so",
            "PyModule_ExecDef"
        ));
        assert!(error(
            "Leak_DefinitelyLost",
            "orbgate/_native.abi3.so",
            "decide_table"
        ));
        assert!(!error(
            "Leak_DefinitelyLost",
            "orbgate/_native.abi3.so",
            "PyModule_ExecDef"
        ));
        assert!(!error("InvalidRead", "pyarrow/libarrow.so", "read"));
    }

    #[test]
    fn a_python_says_what_it_is() {
        let (found, path) = version("cpython 3 12 0 /a place/python3.12\n").unwrap();
        assert_eq!(
            found,
            Version {
                minor: 12,
                free_threaded: false
            }
        );
        assert_eq!(path.to_str(), Some("/a place/python3.12"));
    }

    #[test]
    fn other_pythons_are_left_alone() {
        for answer in [
            "cpython 3 9 0 /p",
            "cpython 2 12 0 /p",
            "pypy 3 11 0 /p",
            "cpython 3 14 1 /p",
            "",
        ] {
            assert_eq!(version(answer), None, "{answer}");
        }
    }
}
