"""The tests of the package, installed as its users have it. `cargo xtask test python` sets up what this needs and runs it.

By hand, in this folder: `pip install -r tools.txt`, `nox -s wheel`, then `nox -s tests-3.12` or `nox -s everything`.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import nox

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14", "3.15"]
HERE = [version for version in PYTHONS if shutil.which(f"python{version}")]
NEWEST, OLDEST = (HERE[-1], HERE[0]) if HERE else (PYTHONS[0], PYTHONS[0])
OLDEST_FRAMEWORKS = "fastapi==0.116.0", "starlette==0.40.0", "flask==3.0.0", "werkzeug==3.0.0", "django==4.2", "djangorestframework==3.15.2", "uvicorn==0.30.0"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", "../../target")).resolve()
WHEELS = TARGET / "xtask" / "python" / "wheels"
CHECKED = "tests", "conformance", "example", "bench"
# All tests, and the examples in docstrings.
EVERY = "--doctest-modules", "--pyargs", "orbgate", "tests"
# Tests of the native module, of tables and of imports: their results can depend on the version of Python.
NATIVE = [f"tests/test_{name}.py" for name in ("package", "decide", "table", "frames", "errors", "safety", "versions")]

# What uv keeps goes with the target folder. In a user's own cache it would stay, with pyspark 1.9 GB; of a registry that forbids keeping, for each run.
os.environ.setdefault("UV_CACHE_DIR", str(TARGET / "xtask" / "python" / "uv"))
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
# The Pythons of the machine, and no others.
nox.options.download_python = "never"


@nox.session(venv_backend="none")
def wheel(session: nox.Session) -> None:
    """Builds it from the source archive, as of a release, or as these arguments of maturin's say."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    options = session.posargs or ["--profile", "published", "--sdist"]
    session.run("maturin", "build", *options, "--out", WHEELS, "--target-dir", TARGET, external=True)


@nox.session(python=NEWEST)
def installed(session: nox.Session) -> None:
    """An environment with the wheel and nothing else."""
    wheel, *_ = WHEELS.glob("*.whl")
    session.install("--no-deps", "--reinstall", wheel)
    session.run("python", "-c", "import orbgate; print('imported', orbgate.__version__, orbgate.Policy.external())")


def pytest(session: nox.Session, *options: str, tests: Sequence[str] = EVERY, **environment: str) -> None:
    """These tests: on all cores, and then one by one those that compare times."""
    session.install("--only-binary", ":all:", "-r", "tests/requirements.txt")
    tests = "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *tests
    marks = " and ".join(option.removeprefix("-m=") for option in options if option.startswith("-m=") and option != "-m=")
    others = [option for option in options if not option.startswith("-m=")]
    # Pytest ends with 5 if it finds no test: perhaps none with these marks has to run alone.
    for marked, cores, passed in ("not alone", ["--numprocesses=auto"], [0]), ("alone", [], [0, 5]):
        marked = f"{marked} and ({marks})" if marks else marked
        variables = {"PYTHONDONTWRITEBYTECODE": "1", **environment}
        session.run("python", *tests, *cores, "-m", marked, *others, env=variables, success_codes=passed)


@nox.session(python=[version for version in PYTHONS if version != NEWEST])
def tests(session: nox.Session) -> None:
    """The native module's tests, or with `-- every` all; packages that only the newest Python has are tested there."""
    installed(session)
    marks, chosen = ("not once", EVERY) if session.posargs else ("not once and not published", NATIVE)
    pytest(session, f"-m={marks}", tests=chosen, ORBGATE_SKIPPED="")


@nox.session(python=NEWEST)
def long(session: nox.Session) -> None:
    """What only the wheel of a release shows, its size and its speed. Tests that take long: pages in Chromium, Spark, memory over long logs,
    thousands of times."""
    environment(session)
    pytest(session, "-m=published or long")


@nox.session(python=OLDEST)
def oldest(session: nox.Session) -> None:
    """Frameworks in the oldest versions that the gate is for, in the oldest Python; `everything` has the newest of both."""
    installed(session)
    session.install("--only-binary", ":all:", "pytest>=8", *OLDEST_FRAMEWORKS)
    files = [f"tests/test_gate_{name}.py" for name in ("frameworks", "dispatch", "django")]
    tests = "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *files
    session.run("python", *tests, env={"PYTHONDONTWRITEBYTECODE": "1"})


@nox.session(python=NEWEST)
def everything(session: nox.Session) -> None:
    """Types first, because they take seconds; then all tests, with these options of pytest's, and memory."""
    environment(session)
    types(session)
    pytest(session, *session.posargs)
    if shutil.which("valgrind"):
        memory(session)


def environment(session: nox.Session) -> None:
    """What tests need that run in one Python."""
    installed(session)
    # Spark comes as a source archive, which holds what is compiled for Java.
    session.install("--only-binary", ":all:", "--no-binary", "pyspark", "-r", "tests/requirements-once.txt")
    if shutil.which("npm"):
        session.run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", "tests/axe", external=True)


def memory(session: nox.Session) -> None:
    """Arrow data crosses to the native module and back under valgrind, which sees every access outside its bounds and every leak.
    What Python and pyarrow do among themselves is theirs, and what a module makes once, when it is imported, it keeps."""
    report = Path(session.create_tmp()) / "valgrind.xml"
    valgrind = "valgrind --quiet --fair-sched=yes --leak-check=full --show-leak-kinds=definite --num-callers=40 --xml=yes"
    plain = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONMALLOC": "malloc", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    python = Path(session.bin) / "python"
    session.run(*valgrind.split(), f"--xml-file={report}", python, "tests/arrow_memory.py", env=plain, external=True)
    for error in report.read_text().split("<error>")[1:]:
        is_kept = "<kind>Leak_" in error and "<fn>PyModule_ExecDef</fn>" in error
        if "/orbgate/_native." in error and not is_kept:
            session.error(error)


def types(session: nox.Session) -> None:
    """The stubs against the module; the types of package, tests, runner, example and benchmark."""
    session.install("--only-binary", ":all:", "-r", "tests/requirements.txt", "-r", "types.txt")
    session.run("python", "-m", "mypy.stubtest", "orbgate", "--allowlist", "stubtest-allowlist.txt")
    # One cache for the sources and the installed package, which import the same libraries.
    mypy = "python", "-m", "mypy", "--strict", f"--cache-dir={session.create_tmp()}/mypy"
    session.run(*mypy, *CHECKED)
    session.run("pyright", *CHECKED)
    # In a folder without sources, mypy and pyright see the installed package.
    with session.chdir(session.bin):
        session.run(*mypy, "-p", "orbgate")
        session.run("pyright", "--ignoreexternal", "--verifytypes", "orbgate")
